"""From the parser's byte offsets to code points and back, for one text, in linear time."""

from __future__ import annotations

import numpy as np

from askbook.book.tokens import IntArray


class Offsets:
    """Converts between UTF-8 byte offsets and code-point offsets of one text."""

    def __init__(self, text: str) -> None:
        self._later: IntArray | None = None  # byte offsets of all but the first bytes of characters
        if not text.isascii():
            raw = np.frombuffer(text.encode("utf-8"), dtype=np.int8)
            self._later = np.flatnonzero(raw < -64)  # noqa: PLR2004 - 0x80 to 0xBF as signed bytes
            self._owners = self._later - np.arange(1, len(self._later) + 1)  # their characters

    def to_points(self, offsets: list[int]) -> list[int]:
        """Return code-point offsets for byte offsets."""
        if self._later is None:
            return offsets
        found: list[int] = self.all_to_points(np.array(offsets, dtype=np.int64)).tolist()
        return found

    def all_to_points(self, offsets: IntArray) -> IntArray:
        """Return code-point offsets for byte offsets, many at once."""
        return offsets if self._later is None else offsets - np.searchsorted(self._later, offsets)

    def to_bytes(self, offsets: list[int]) -> IntArray:
        """Return byte offsets for code-point offsets."""
        points = np.array(offsets, dtype=np.int64)
        return points if self._later is None else points + np.searchsorted(self._owners, points)
