"""Choosing where to cut: from the top of the page down, at the best border each time.

A part of the page that is too long is cut at its best border: the highest heading there is,
then a border between blocks. Which of equally good ones is taken depends on a hash of the text
that follows it, not on how much text comes before. So an edit moves the cuts around it and
leaves all others where they were.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import zlib
from typing import Final

from askbook.book.parse import Kind
from askbook.book.split import Rank
from askbook.book.tokens import count_tokens
from askbook.book.units import Unit
from askbook.models import ChunkSettings

_HASHED: Final = 80  # characters after a border that decide between equals
_LEAD: Final = 32  # tokens kept free after a heading that is cut from what follows it


class Packer:
    """Cuts a list of units into ranges, one for each chunk."""

    def __init__(self, text: str, units: list[Unit], settings: ChunkSettings) -> None:
        self._text = text
        self._units = units
        self._cost = [0, *itertools.accumulate(unit.cost for unit in units)]
        added = {part for unit in units for part in (unit.opener, unit.closer) if part}
        self._around = {part: count_tokens(part) + 1 for part in added}
        self._max = settings.max_tokens
        self._min = settings.min_tokens
        self._target = settings.target_tokens
        self._soft = min(settings.target_tokens * 5 // 4, self._max - settings.overlap_tokens)

    @functools.cached_property
    def _order(self) -> list[int]:
        """Return what orders borders from worst to best: their rank, then their hash."""
        ends = [*(unit.start for unit in self._units[1:]), len(self._text)]
        return [
            (unit.rank << 32) + _hash(self._text[unit.start : min(end, unit.start + _HASHED)])
            for unit, end in zip(self._units, ends, strict=True)
        ]

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
        inside = self._cost[end] - self._cost[start]
        if not self._around:
            return inside
        closer = self._units[end].closer if end < len(self._units) else ""
        return inside + self._around.get(self._units[start].opener, 0) + self._around.get(closer, 0)

    def _cut(self, start: int, end: int) -> int | None:
        total = self.cost(start, end)
        if total <= self._soft or end - start < 2:  # noqa: PLR2004 - one unit has no border
            return None
        # A wide margin gives more even chunks but lets an edit move the cuts beside it.
        cut = self._best_between(start, end, max(self._target // 3, self._min))
        if cut is not None or total <= self._max:
            return cut
        return self._any(start, end)

    def _best_between(self, start: int, end: int, margin: int) -> int | None:
        first = bisect.bisect_left(self._cost, self._cost[start] + margin, start + 1, end)
        last = bisect.bisect_right(self._cost, self._cost[end] - margin, first, end)
        if first >= last:
            return None
        among = self._order[first:last]
        highest = max(among)
        best = first + among.index(highest)
        if among.count(highest) > 1:  # the same text again and again: halve it
            same = [at for at, order in enumerate(among, first) if order == highest]
            best = same[len(same) // 2]
        return best if self._units[best].rank >= Rank.WORD else None

    def _any(self, start: int, end: int) -> int | None:
        """Return the border nearest to the middle, of the least bad sort there is."""
        ranks = [unit.rank for unit in self._units[start + 1 : end]]
        best = min(max(ranks), Rank.WORD)
        if best <= Rank.NEVER:
            return None
        middle = (self._cost[start] + self._cost[end]) / 2
        borders = (at for at, rank in enumerate(ranks, start + 1) if rank >= best)
        return min(borders, key=lambda at: abs(self._cost[at] - middle))

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


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8"))
