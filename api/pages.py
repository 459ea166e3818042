"""The reader, the widget and the operator's page: a few static files under a strict policy."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

FOLDER: Final = Path(__file__).parent / "web"
_MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ts": "text/plain; charset=utf-8",
}
_PAGES: Final = {"": "index.html", "status": "status.html"}

# Nothing is loaded from elsewhere, nothing inline runs, nobody may frame these pages.
_POLICY: Final = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
)
_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Content-Security-Policy": "; ".join(_POLICY),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cache-Control": "no-cache",  # asked for every time, sent only when changed
        "Vary": "Accept-Encoding",
    }
)


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is sent."""

    body: bytes
    packed: bytes
    tag: str
    media_type: str


def _read(path: Path) -> _File:
    body = path.read_bytes()
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:20]}"'
    return _File(body, gzip.compress(body, mtime=0), tag, _MEDIA_TYPES[path.suffix])


_files: dict[tuple[str, int], _File] = {}


def _find(name: str) -> _File:
    """The file by its name alone: nothing outside of the folder has one."""
    path = FOLDER / _PAGES.get(name, name)
    known = {each.name for each in FOLDER.iterdir() if each.suffix in _MEDIA_TYPES}
    if path.name not in known or path.parent != FOLDER:
        raise NotFoundException(f"There is no page {name!r}.")
    changed = path.stat().st_mtime_ns  # a developer's edit shows at the next reload
    if (path.name, changed) not in _files:
        _files[path.name, changed] = _read(path)
    return _files[path.name, changed]


@get(["/", "/{name:str}"], include_in_schema=False, sync_to_thread=False)
def page(request: Request, name: FromPath[str] = "") -> Response[bytes]:  # type: ignore[type-arg]
    """A page, a script or a style sheet."""
    file = _find(name)
    headers = {**_HEADERS, "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(b"", status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            file.packed,
            media_type=file.media_type,
            headers={**headers, "Content-Encoding": "gzip"},
        )
    return Response(file.body, media_type=file.media_type, headers=headers)
