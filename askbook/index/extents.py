"""The parts of a sparse file that hold data: the engine's files are long and mostly holes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator


def extents(file: int) -> Iterator[tuple[int, int]]:
    """Byte ranges [start, end) with data, in order, of an open file's descriptor."""
    end, size = 0, os.fstat(file).st_size
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole up to the end
                return
            raise
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end
