"""Whether a version on disk is still, byte for byte, what was published.

The engine finds few kinds of damage itself: a flipped bit in a vector gives wrong answers, not
an error. The engine's files are long and mostly holes, so a hole and zeros count as the same.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

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
    start, size = 0, os.fstat(file).st_size
    while start < size:
        try:
            data = os.lseek(file, start, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole up to the end
                return
            raise
        end = os.lseek(file, data, os.SEEK_HOLE)
        start = data - data % _BLOCK
        while start < end:
            block = os.pread(file, _BLOCK, start)
            if block != _ZEROS[: len(block)]:
                yield start, block
            start += _BLOCK
