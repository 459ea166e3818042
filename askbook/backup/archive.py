"""The file of a backup: a plain tar, of which no byte can change unnoticed.

    points.parquet               the index: ids, vectors, word weights, payloads
    rows/<table>.csv.zst         PostgreSQL's rows, as COPY writes them
    manifest.json                what it is, and the SHA-256 of every member above
    backup.sha256                the SHA-256 of everything before this member

`tar xf`, `zstd -d` and any Parquet reader open it without askbook.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO

from askbook.errors import BackupError

FORMAT = 1
_MANIFEST = "manifest.json"
_SEAL = "backup.sha256"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds; refused where it does not fit the askbook that reads it."""

    askbook_version: str
    schema_revision: str
    created_at: str
    collection: str
    index_version: str | None
    embedding_model: str | None  # None where nothing was indexed
    dimensions: int
    points: int
    books: list[str]
    rows: dict[str, int]  # by table, in an order that respects foreign keys
    sha256: dict[str, str]  # by member
    format: int = FORMAT


@contextmanager
def members_aside(path: Path) -> Iterator[Path]:
    """A folder next to `path` for the members, gone with the block."""
    folder = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below, by relative name."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    return {each.relative_to(folder).as_posix(): _hash(each) for each in files}


def seal(folder: Path, manifest: Manifest, path: Path) -> None:
    """Make the one file of the members; it appears whole, or not at all, readable by its owner."""
    packed = folder.with_name(f"{folder.name}.tar")
    told = json.dumps(asdict(manifest), indent=2, ensure_ascii=False).encode()
    try:
        descriptor = os.open(packed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w+b") as handle:
            with tarfile.open(fileobj=handle, mode="w", format=tarfile.PAX_FORMAT) as tar:
                for name in manifest.sha256:
                    tar.add(folder / name, name, filter=_anonymous)
                    (folder / name).unlink()  # at no time twice on the disk
                tar.addfile(_entry(_MANIFEST, len(told)), io.BytesIO(told))
                end = tar.offset
            handle.truncate(end)  # the seal brings the tar's end
            handle.seek(0)
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
            handle.seek(end)
            handle.write(_sealing(digest))
            handle.flush()
            os.fsync(handle.fileno())
        packed.replace(path)
    finally:
        packed.unlink(missing_ok=True)


@contextmanager
def opened(path: Path) -> Iterator[Backup]:
    """A backup that was checked to the last byte; raises where anything is wrong with it."""
    with ExitStack() as stack:
        try:
            handle = stack.enter_context(path.open("rb"))
            _check_seal(handle, path)
            backup = _checked(stack.enter_context(tarfile.open(fileobj=handle)), path)
        except OSError as error:
            raise BackupError(f"{path} cannot be read: {error.strerror or error}") from error
        except (tarfile.TarError, KeyError, ValueError) as error:
            raise BackupError(f"{path} is not a backup made by askbook ({error}).") from error
        yield backup


@dataclass(frozen=True, slots=True)
class Backup:
    """A checked backup, open for reading; nothing is ever unpacked to the disk."""

    manifest: Manifest
    _tar: tarfile.TarFile

    def member(self, name: str) -> IO[bytes]:
        """One member's bytes, seekable."""
        return _member(self._tar, name)


def _check_seal(handle: IO[bytes], path: Path) -> None:
    """The file must end with the seal that its other bytes make."""
    tail = len(_sealing("0" * 64))
    left = handle.seek(0, os.SEEK_END) - tail
    digest = hashlib.sha256()
    handle.seek(0)
    while left > 0 and (piece := handle.read(min(left, _PIECE))):
        digest.update(piece)
        left -= len(piece)
    if left < 0 or handle.read() != _sealing(digest.hexdigest()):
        raise BackupError(
            f"{path} is damaged, cut short, or not a backup made by askbook: its bytes do not fit "
            "the SHA-256 at its end. Nothing was restored. Use another copy."
        )
    handle.seek(0)


def _checked(tar: tarfile.TarFile, path: Path) -> Backup:
    """Read the manifest and hold every member against it."""
    told = json.load(_member(tar, _MANIFEST))
    if told.get("format") != FORMAT:
        raise BackupError(
            f"{path} has format {told.get('format')}; this askbook reads format {FORMAT}. "
            f"It was made by askbook {told.get('askbook_version', '?')}: restore it with that."
        )
    manifest = Manifest(**{each.name: told[each.name] for each in fields(Manifest)})
    for name, expected in manifest.sha256.items():
        if hashlib.file_digest(_member(tar, name), "sha256").hexdigest() != expected:  # type: ignore[arg-type]
            raise BackupError(f"{path}: the member {name} is not the one its manifest names.")
    return Backup(manifest, tar)


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    found = tar.extractfile(name)
    if found is None:
        raise BackupError(f"The backup's member {name} is not a file.")
    return found


def _sealing(digest: str) -> bytes:
    """The last bytes of every backup, a function of all the others."""
    text = f"{digest}\n".encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(_entry(_SEAL, len(text)), io.BytesIO(text))
    return packed.getvalue()


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Who made it, and when by this machine's clock, is nobody's business."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _hash(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
