"""Token counts of any part of a page, from encoding it once (see `tokens` for why)."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from askbook.book.offsets import Offsets
from askbook.book.tokens import count_tokens, token_starts

# Between two words the tokenizer always cuts before the space.
_BETWEEN_WORDS: Final = re.compile(r"(?<=[A-Za-z]) (?=[A-Za-z])")
_TAIL: Final = 160  # characters before an end in which such a place is looked for


class Counts:
    """Counts tokens of parts of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offsets = Offsets(text)
        self._starts = token_starts(text)

    def before(self, offsets: list[int]) -> list[int]:
        """Return, for starts of non-blank lines, how many tokens come before them."""
        found: list[int] = np.searchsorted(self._starts, self._offsets.to_bytes(offsets)).tolist()
        return found

    def exact(self, start: int, end: int) -> int:
        """Return the tokens of `text[start:end]`, exactly; both ends are not blank."""
        if start and self._text[start - 1] != "\n":
            return count_tokens(self._text[start:end])
        tail = start
        for found in _BETWEEN_WORDS.finditer(self._text, max(start, end - _TAIL), end):
            tail = found.start()
        if tail == start:
            tail = max(start, self._text.rfind("\n", start, end - 1) + 1)
        first, last = self.before([start, tail])
        return last - first + count_tokens(self._text[tail:end])
