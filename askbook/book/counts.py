"""Token counts of any part of a page, from encoding it once (see `tokens` for why)."""

from __future__ import annotations

import functools
import itertools
from typing import Final

import numpy as np

from askbook.book.offsets import Offsets
from askbook.book.tokens import IntArray, token_starts

_SLACK: Final = 2  # tokens by which a part may cost more on its own than in its place


class Counts:
    """Counts tokens of parts of one text."""

    def __init__(self, text: str, offsets: Offsets) -> None:
        self._text = text
        self._offsets = offsets
        self._starts = token_starts(text)

    def before(self, offsets: list[int]) -> list[int]:
        """Return how many tokens come before each offset; exact at starts of non-blank lines."""
        found: list[int] = np.searchsorted(self._starts, self._offsets.to_bytes(offsets)).tolist()
        return found

    def about(self, start: int, end: int) -> int:
        """Return the tokens of `text[start:end]`, or slightly more; cheap."""
        first, last = self.before([start, end])
        return last - first + self._slack(start)

    def _slack(self, start: int) -> int:
        return 0 if start == 0 or self._text[start - 1] == "\n" else _SLACK

    def parts(self, borders: list[int]) -> list[tuple[int, int, int]]:
        """Return start, end and about the tokens of each part between these borders."""
        before = self.before(borders)
        return [
            (start, end, after - first + self._slack(start))
            for (start, end), (first, after) in zip(
                itertools.pairwise(borders), itertools.pairwise(before), strict=True
            )
        ]

    @functools.cached_property
    def points(self) -> IntArray:
        """Code-point offsets at which tokens start."""
        return self._offsets.all_to_points(self._starts)
