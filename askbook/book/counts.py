"""Token counts of any part of a page, from encoding it once (see `tokens` for why)."""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from typing import Final

import numpy as np

from askbook.book.offsets import Offsets
from askbook.book.tokens import IntArray, count_repeated, count_tokens, token_starts

# Between two words the tokenizer always cuts before the space.
_BETWEEN_WORDS: Final = re.compile(r"(?<=[A-Za-z]) (?=[A-Za-z])")
# The signs after a last word are one piece for the tokenizer, with the newlines that follow.
_LAST_MARKS: Final = re.compile(r"(?<=[A-Za-z0-9]) ?[!-/:-@\[-`{-~]*\Z")
_NEAR_END: Final = 16  # characters in which these signs are looked for
_NEAR: Final = 160  # characters from an end within which such a place is looked for
_SLACK: Final = 2  # tokens by which a part may cost more on its own than in its place


class Counts:
    """Counts tokens of parts of one text."""

    def __init__(self, text: str, offsets: Offsets) -> None:
        self._text = text
        self._offsets = offsets
        self._starts, self._seams = token_starts(text)
        self._view = self._starts.data  # the fastest to bisect

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
        text = self._text
        if self._seams and self._has_seam(start, end):
            return count_repeated(text[start:end])
        head, beyond = start, 0
        if start and text[start - 1] != "\n":
            found = _BETWEEN_WORDS.search(text, start + 1, min(start + _NEAR, end))
            if not found:
                return count_repeated(text[start:end])
            head = found.start()
            beyond = count_tokens(text[start:head])
        tail = self._tail(head, end)
        return self._before(tail) - self._before(head) + beyond + count_repeated(text[tail:end])

    def _before(self, offset: int) -> int:
        return bisect.bisect_left(self._view, self._offsets.to_byte(offset))

    def _has_seam(self, start: int, end: int) -> bool:
        at = bisect.bisect_right(self._seams, start)
        return at < len(self._seams) and self._seams[at] < end

    def _tail(self, start: int, end: int) -> int:
        """Return the last place before `end` where a token surely starts.

        What follows the end may have joined the last tokens, so these are counted again.
        """
        text = self._text
        if end == len(text) or text[end].isspace():
            marks = _LAST_MARKS.search(text, max(start, end - _NEAR_END), end)
            if marks:
                return marks.start()
        at, stop = end - 1, max(start + 1, end - _NEAR)
        while (at := text.rfind(" ", stop, at)) >= 0:
            if _BETWEEN_WORDS.match(text, at, end):
                return at
        return max(start, text.rfind("\n", start, end - 1) + 1)

    @functools.cached_property
    def points(self) -> IntArray:
        """Code-point offsets at which tokens start."""
        return self._offsets.all_to_points(self._starts)
