"""Stage 1: walk the book, hash every file, read its frontmatter, locate it.

A file that cannot be read, parsed or located is quarantined: reported with its reason, left as
it was last indexed. One bad file never stops a book.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from askbook.book.frontmatter import read_frontmatter
from askbook.book.locate import is_left_out, locate, resolve_collisions
from askbook.book.source import check_size, decode
from askbook.book.walk import Globs, walk
from askbook.errors import BookError, UnreadableFile
from askbook.models import Lesson

_SETTLED_SECONDS = 2.0  # coarser than the clock of any file system
_REMEMBERED = 2_000  # lessons; longer books are read again rather than held in memory


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A file that is left alone, and why."""

    source_file: str
    reason: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything the book's folder holds now."""

    lessons: tuple[Lesson, ...]
    quarantined: tuple[Quarantined, ...]


def discover(book_dir: Path, book_id: str, *, globs: Globs, max_bytes: int) -> Survey:
    """Every lesson of the book, by path. Holds one file at a time; reads what may have changed."""
    _check_folder(book_dir)
    lessons: list[Lesson] = []
    quarantined: list[Quarantined] = []
    for found in walk(book_dir, globs):
        try:
            if isinstance(found, UnreadableFile):
                raise found
            path = book_dir / found
            if (seen := _signature(path)) is not None:
                lesson = _read_once(path, found, book_id, max_bytes, seen)
            else:
                lesson = read_lesson(path, found, book_id, max_bytes=max_bytes)
        except UnreadableFile as error:
            quarantined.append(Quarantined(error.source_file, error.reason, error.line))
        else:
            if lesson is not None:
                lessons.append(lesson)
    if not lessons and not quarantined:
        raise BookError(f"{book_dir} holds no .md or .mdx files: nothing to index.")
    return Survey(tuple(resolve_collisions(lessons)), tuple(quarantined))


def read_bytes(path: Path, name: str, max_bytes: int) -> bytes:
    """The file's bytes; what stands in the way becomes a reason for quarantine."""
    try:
        check_size(path.stat().st_size, name, max_bytes)
        return path.read_bytes()
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); check the file and its permissions"
        raise UnreadableFile(name, reason) from error


def read_lesson(path: Path, name: str, book_id: str, *, max_bytes: int) -> Lesson | None:
    """The located file, or None for drafts and other files that are not part of the book."""
    raw = read_bytes(path, name, max_bytes)
    text = decode(raw, name)
    frontmatter = read_frontmatter(text, name)
    if is_left_out(name, frontmatter):
        return None
    return locate(name, text, frontmatter, book_id, hashlib.sha256(raw).hexdigest())


def _signature(path: Path) -> tuple[int, ...] | None:
    """What changes whenever the file does; None while it may change again within the same tick."""
    try:
        info = path.stat()
    except OSError:
        return None
    if time.time() - info.st_ctime < _SETTLED_SECONDS:
        return None
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


@lru_cache(maxsize=_REMEMBERED)
def _read_once(
    path: Path, name: str, book_id: str, max_bytes: int, _seen: tuple[int, ...]
) -> Lesson | None:
    """What `read_lesson` returns, remembered: a run looks twice, `askbook watch` at every save."""
    return read_lesson(path, name, book_id, max_bytes=max_bytes)


def _check_folder(book_dir: Path) -> None:
    if not book_dir.exists():
        raise BookError(f"There is no folder {book_dir}. Give the path of a book's folder.")
    if not book_dir.is_dir():
        raise BookError(f"{book_dir} is a file. Give the folder that holds the book's files.")
