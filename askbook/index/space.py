"""Is there room on the disk? Asked before the engine writes.

The engine maps its files into memory. When the disk is full, the kernel ends the process that
writes there (SIGBUS) and no message is left: so a draft stops while some room is left.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from askbook.errors import StorageFull

SPARE = 64 << 20  # bytes that stay free: more than the engine takes between two looks
_MB = 1e6


def require(folder: Path, needed: int, what: str) -> None:
    """Raise unless `needed` bytes and some more are free where `folder` lies."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise StorageFull(
            f"The disk of {folder} is nearly full: {free / _MB:.0f} MB are free, "
            f"{what} needs {(needed + SPARE) / _MB:.0f} MB. Free some and run again: "
            "readers see what they saw before, and what was embedded is kept."
        )
