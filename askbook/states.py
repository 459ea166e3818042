"""The state of every file of a book, derived by comparing what is indexed with the folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from askbook.book.walk import Globs, walk
from askbook.errors import UnreadableFile
from askbook.store.contents import Page

State = Literal["unindexed", "indexed", "stale"]


@dataclass(frozen=True, slots=True)
class FileState:
    """One file: as it lies in the folder, as it is indexed, or both."""

    file_path: str
    state: State
    exists: bool  # in the book's folder
    page: Page | None  # as it is indexed


def states_of(book_dir: Path, pages: Sequence[Page], globs: Globs) -> list[FileState]:
    """Every file of the folder and every indexed one, by path."""
    found = {name for name in walk(book_dir, globs) if not isinstance(name, UnreadableFile)}
    indexed = {page.file_path: page for page in pages}
    return [
        _state(book_dir, name, indexed.get(name), exists=name in found)
        for name in sorted(found | set(indexed))
    ]


def _state(book_dir: Path, name: str, page: Page | None, *, exists: bool) -> FileState:
    if page is None:
        return FileState(name, "unindexed", exists, None)
    is_same = exists and hash_of(book_dir / name) == page.content_hash
    return FileState(name, "indexed" if is_same else "stale", exists, page)


def hash_of(path: Path) -> str | None:
    """SHA-256 of a file's bytes, remembered until the file changes; None where it is unreadable."""
    try:
        info = path.stat()
        return _hash(path, info.st_mtime_ns, info.st_size)
    except OSError:
        return None


@lru_cache(maxsize=20_000)
def _hash(path: Path, _changed: int, _size: int) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
