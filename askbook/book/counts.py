"""Token counts of any part of a page, from encoding it once (see `tokens` for why)."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Final

import numpy as np

from askbook.book.offsets import Offsets
from askbook.book.tokens import IntArray, count_tokens, token_starts

# Between two words the tokenizer always cuts before the space.
_BETWEEN_WORDS: Final = re.compile(r"(?<=[A-Za-z]) (?=[A-Za-z])")
_NEAR: Final = 160  # characters from an end within which such a place is looked for
_SLACK: Final = 2  # tokens by which a part may cost more on its own than in its place


class Counts:
    """Counts tokens of parts of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offsets = Offsets(text)
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

    def exact(self, start: int, end: int) -> int:
        """Return the tokens of `text[start:end]`, exactly; both ends are not blank."""
        head, tail = start, self._tail(start, end)
        if start and self._text[start - 1] != "\n":
            found = _BETWEEN_WORDS.search(self._text, start + 1, min(start + _NEAR, tail + 1))
            if not found:
                return count_tokens(self._text[start:end])
            head = found.start()
        if tail < head:
            return count_tokens(self._text[start:end])
        first, last = self.before([head, tail])
        beyond = count_tokens(self._text[start:head]) if head > start else 0
        return last - first + beyond + count_tokens(self._text[tail:end])

    def _tail(self, start: int, end: int) -> int:
        """Return the last safe place before `end`: between two words, or a line's start."""
        text, at, stop = self._text, end - 1, max(start + 1, end - _NEAR)
        while (at := text.rfind(" ", stop, at)) >= 0:
            if _BETWEEN_WORDS.match(text, at, end):
                return at
        return max(start, text.rfind("\n", start, end - 1) + 1)

    @functools.cached_property
    def points(self) -> IntArray:
        """Code-point offsets at which tokens start."""
        return self._offsets.all_to_points(self._starts)
