"""Whether a version on disk is still, byte for byte, what was published.

The engine finds few kinds of damage itself: a flipped bit in a vector gives wrong answers, not
an error. The engine's files are long and mostly holes, so a hole and zeros count as the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from askbook.index.extents import extents

FACTS = "version.json"
_BLOCK = 1 << 16
_ZEROS = bytes(_BLOCK)


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a version, by relative name."""
    return {each.relative_to(folder).as_posix(): _digest(each) for each in _files(folder)}


def damage(folder: Path, expected: dict[str, str]) -> str | None:
    """The first file that is not as published, and in what way; None where all are."""
    for name, digest in expected.items():
        try:
            found = _digest(folder / name)
        except OSError as error:
            return f"{name}: {error.strerror}"
        if found != digest:
            return f"{name} is not as it was published"
    return None


def allocated(folder: Path) -> int:
    """Bytes that the files below really take on the disk."""
    return sum(each.stat().st_blocks * 512 for each in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        # A name with a dot is a reader's temporary file.
        if not path.name.startswith(".") and path.name != FACTS and path.is_file():
            yield path


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        for start, block in _blocks(handle.fileno()):
            digest.update(start.to_bytes(8))
            digest.update(block)
        digest.update(os.fstat(handle.fileno()).st_size.to_bytes(8))
    return digest.hexdigest()


def _blocks(file: int) -> Iterator[tuple[int, bytes]]:
    """The blocks that are not all zeros, with their offsets."""
    after = 0  # the first block that was not looked at yet
    for start, end in extents(file):
        for at in range(max(after, start - start % _BLOCK), end, _BLOCK):
            block = os.pread(file, _BLOCK, at)
            if block != _ZEROS[: len(block)]:
                yield at, block
            after = at + _BLOCK
