"""From the parser's byte offsets to code points and back, for one text, in linear time."""

from __future__ import annotations

import numpy as np

from askbook.book.tokens import IntArray


class Offsets:
    """Converts between UTF-8 byte offsets and code-point offsets of one text."""

    def __init__(self, text: str) -> None:
        self._starts: IntArray | None = None  # byte offset of every code point, and the end
        if not text.isascii():
            raw = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
            starts = np.flatnonzero((raw & 0xC0) != 0x80)  # noqa: PLR2004 - a continuation byte
            self._starts = np.append(starts, len(raw)).astype(np.int64)

    def to_points(self, offsets: list[int]) -> list[int]:
        """Return code-point offsets for byte offsets."""
        if self._starts is None:
            return offsets
        found: list[int] = np.searchsorted(self._starts, np.array(offsets, dtype=np.int64)).tolist()
        return found

    def to_bytes(self, offsets: list[int]) -> IntArray:
        """Return byte offsets for code-point offsets."""
        points = np.array(offsets, dtype=np.int64)
        return points if self._starts is None else self._starts[points]
