"""Which files belong to the book: suffixes, globs, hidden and `_` folders, links.

Links are followed while they stay inside the book. A link out of it, a circle, or a folder that
cannot be listed becomes a problem with a reason, never a silent gap.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from askbook.errors import UnreadableFile

SUFFIXES = {".md", ".mdx"}


@dataclass(frozen=True, slots=True)
class Globs:
    """Patterns as in .gitignore, relative to the book's folder; no `include`: everything."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def takes(self, name: str) -> bool:
        """Whether a file of this relative path is part of the book."""
        if self.include and not GitIgnoreSpec.from_lines(self.include).match_file(name):
            return False
        return not GitIgnoreSpec.from_lines(self.exclude).match_file(name)


def newest_change(book_dir: Path) -> float:
    """When a file or folder of the book was last written, added or removed: seconds, 0 if none."""
    newest = 0.0
    for folder, folders, files in os.walk(book_dir):
        folders[:] = [name for name in folders if not _is_left_out(name)]
        for name in (folder, *(os.path.join(folder, name) for name in files)):  # noqa: PTH118 - fast
            with suppress(OSError):
                newest = max(newest, os.stat(name).st_mtime)  # noqa: PTH116 - fast
    return newest


def walk(book_dir: Path, globs: Globs) -> Iterator[str | UnreadableFile]:
    """Relative paths of the book's files, sorted; what stands in the way comes as an error."""
    root = book_dir.resolve()
    yield from _walk(book_dir, "", root, frozenset({root}), globs)


def _walk(
    folder: Path, prefix: str, root: Path, above: frozenset[Path], globs: Globs
) -> Iterator[str | UnreadableFile]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield UnreadableFile(prefix.rstrip("/"), f"the folder cannot be listed ({error.strerror})")
        return
    for entry in entries:
        name = prefix + entry.name
        if _is_left_out(entry.name):
            continue
        try:
            yield from _entry(entry, name, root, above, globs)
        except UnreadableFile as error:
            yield error
        except OSError as error:  # a link to itself, a file that goes while we look
            yield UnreadableFile(name, f"it cannot be looked at ({error.strerror}); mend or remove")


def _is_left_out(name: str) -> bool:
    return name.startswith((".", "_")) or name == "node_modules"


def _entry(
    entry: os.DirEntry[str], name: str, root: Path, above: frozenset[Path], globs: Globs
) -> Iterator[str | UnreadableFile]:
    is_page = Path(entry.name).suffix.lower() in SUFFIXES
    if not (is_page and entry.is_file()) and not entry.is_dir():
        if is_page and entry.is_symlink():
            raise UnreadableFile(name, "the link points nowhere; mend or remove it")
        return
    if not name.isprintable():
        shown = name.encode("utf-8", "backslashreplace").decode()
        raise UnreadableFile(shown, "the name is not printable text; rename it")
    real = Path(entry.path).resolve() if entry.is_symlink() else None
    if real is not None and not real.is_relative_to(root):
        raise UnreadableFile(name, "the link leads out of the book; copy what it points to")
    if entry.is_dir():
        here = real or Path(entry.path).resolve()
        if here in above:
            raise UnreadableFile(name, "the link leads back to a folder above it: a circle")
        yield from _walk(Path(entry.path), f"{name}/", root, above | {here}, globs)
    elif globs.takes(name):
        yield name
