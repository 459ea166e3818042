"""Choosing where to cut: from the top of the page down, at the best border each time.

A part of the page that is too long is cut at its best border: the highest heading there is,
then a border between blocks. Which of equally good ones is taken depends on a hash of the text
that follows it, not on how much text comes before. So an edit moves the cuts around it and
leaves all others where they were.
"""

from __future__ import annotations

import functools
import zlib
from typing import Final

import numpy as np

from askbook.book.parse import Kind
from askbook.book.split import Rank
from askbook.book.tokens import IntArray, count_tokens
from askbook.book.units import Unit
from askbook.models import ChunkSettings

_HASHED: Final = 80  # characters after a border that decide between equals
_LEAD: Final = 32  # tokens kept free after a heading that is cut from what follows it


class Packer:
    """Cuts a list of units into ranges, one for each chunk."""

    def __init__(self, text: str, units: list[Unit], settings: ChunkSettings) -> None:
        self._cost = np.cumsum([0, *(unit.cost for unit in units)])
        self._rank = np.array([unit.rank for unit in units], dtype=np.int64)
        self._text = text
        added = {part for unit in units for part in (unit.opener, unit.closer) if part}
        around = {part: count_tokens(part) + 1 for part in added}
        self._opener = [around.get(unit.opener, 0) for unit in units]
        self._closer = [*(around.get(unit.closer, 0) for unit in units), 0]
        self._units = units
        self._max = settings.max_tokens
        self._min = settings.min_tokens
        self._target = settings.target_tokens
        self._soft = min(settings.target_tokens * 5 // 4, self._max - settings.overlap_tokens)

    @functools.cached_property
    def _order(self) -> IntArray:
        """Return what orders borders from worst to best: their rank, then their hash."""
        hashes = np.array(_hashes(self._text, self._units), dtype=np.int64)
        return (self._rank << 32) + hashes

    def ranges(self) -> list[tuple[int, int]]:
        """Return ranges of units that need at most the maximum and are not tiny."""
        ranges: list[tuple[int, int]] = []
        todo = [(0, len(self._units))] if self._units else []
        while todo:
            start, end = todo.pop()
            cut = self._cut(start, end)
            if cut is None:
                ranges.append((start, end))
            else:
                todo += (cut, end), (start, cut)
        return self._join_tiny(ranges)

    def cost(self, start: int, end: int) -> int:
        """Return the tokens of a chunk of these units; a little more than it really has."""
        inside = int(self._cost[end] - self._cost[start])
        return inside + self._opener[start] + self._closer_at(start, end)

    def _closer_at(self, start: int, end: int) -> int:
        return self._closer[end] if end > start else 0

    def _cut(self, start: int, end: int) -> int | None:
        total = self.cost(start, end)
        if total <= self._soft or end - start < 2:  # noqa: PLR2004 - one unit has no border
            return None
        margin = self._target * 2 // 5 if total <= 3 * self._soft // 2 else self._target * 3 // 5
        cut = self._best_between(start, end, max(margin, self._min), Rank.WORD)
        if cut is not None or total <= self._max:
            return cut
        return self._any(start, end)

    def _best_between(self, start: int, end: int, margin: int, lowest: int) -> int | None:
        first = int(np.searchsorted(self._cost, self._cost[start] + margin, side="left"))
        last = int(np.searchsorted(self._cost, self._cost[end] - margin, side="right"))
        first, last = max(first, start + 1), min(last, end)
        if first >= last:
            return None
        best = first + int(np.argmax(self._order[first:last]))
        return best if self._rank[best] >= lowest else None

    def _any(self, start: int, end: int) -> int | None:
        """Return the border nearest to the middle, of the least bad sort there is."""
        ranks = self._rank[start + 1 : end]
        for allowed in (ranks >= Rank.WORD, ranks >= Rank.INSIDE_WHOLE):
            borders = np.flatnonzero(allowed) + start + 1
            if len(borders):
                borders = borders if ranks.max() >= Rank.WORD else self._of_best_rank(borders)
                middle = (self._cost[start] + self._cost[end]) / 2
                return int(borders[np.argmin(np.abs(self._cost[borders] - middle))])
        return None

    def _of_best_rank(self, borders: IntArray) -> IntArray:
        ranks = self._rank[borders]
        best: IntArray = borders[ranks == ranks.max()]
        return best

    def _join_tiny(self, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
        joined: list[tuple[int, int]] = []
        for start, end in ranges:
            if joined and self._belong(joined[-1], (start, end)):
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
        return joined

    def _belong(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        is_tiny = min(self.cost(*before), self.cost(*after)) < self._min
        room = self._max - (_LEAD if self._ends_with_heading(after[1]) else 0)
        return is_tiny and self.cost(before[0], after[1]) <= room

    def _ends_with_heading(self, end: int) -> bool:
        return end < len(self._units) and self._units[end - 1].kind is Kind.HEADING


def _hashes(text: str, units: list[Unit]) -> list[int]:
    ends = [*(unit.start for unit in units[1:]), len(text)]
    return [
        zlib.crc32(text[unit.start : min(end, unit.start + _HASHED)].encode())
        for unit, end in zip(units, ends, strict=True)
    ]
