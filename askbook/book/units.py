"""The smallest parts of a page that a chunk is put together from, and the borders between."""

from __future__ import annotations

import bisect
import itertools
import re
from dataclasses import dataclass
from typing import Final

from askbook.book.counts import Counts
from askbook.book.notes import Notes, references
from askbook.book.parse import Block, Kind, Page
from askbook.book.split import Piece, Rank, split_block

_ATTRIBUTION: Final = re.compile(r"\s*(?:[—–―]|--?\s)\s*\S[^\n]{0,200}\n*\Z")
_NEAR_END: Final = 8  # characters in which a paragraph's last one is found
_BREAKABLE: Final = {Kind.PARAGRAPH, Kind.LIST, Kind.OTHER, Kind.HTML}


@dataclass(slots=True)
class Unit:
    """A part of the page from `start` to the next unit's start."""

    start: int
    cost: int  # tokens, with the footnotes it carries
    rank: int  # of the border before it
    kind: Kind
    opener: str = ""
    closer: str = ""
    refs: tuple[str, ...] = ()
    note: str = ""  # the label of a definition that goes to the chunks which refer to it


@dataclass(frozen=True, slots=True)
class Split:
    """A structure that had to be cut, and why."""

    kind: str
    start_char_offset: int
    tokens: int
    max_tokens: int

    @property
    def reason(self) -> str:
        """Say why, for people."""
        return (
            f"{self.kind} of {self.tokens:,} tokens, more than the maximum of {self.max_tokens:,}"
        )


class Units:
    """Cuts the blocks of one page into units."""

    def __init__(self, page: Page, counts: Counts, notes: Notes, max_tokens: int) -> None:
        self.page = page
        self.notes = notes
        self._counts = counts
        self.max = max_tokens
        self.units: list[Unit] = []
        self.splits: list[Split] = []
        starts = [block.start for block in page.blocks]
        before = counts.before([*starts, len(page.text)])
        self._costs = [after - first for first, after in itertools.pairwise(before)]
        self._headings = 0  # tokens of the headings right before

    def build(self, whole: list[tuple[int, int]]) -> list[Unit]:
        """Return the units; `whole` ranges are kept together where they fit."""
        for block, cost in zip(self.page.blocks, self._costs, strict=True):
            self._add(block, cost)
            self._headings = self._headings + cost if block.kind is Kind.HEADING else 0
        self._stay()
        before = [0, *itertools.accumulate(unit.cost for unit in self.units)]
        for start, end in whole:
            self._keep_whole(start, end, before)
        return self.units

    def _stay(self) -> None:
        """Leave the definitions that no chunk carries away where they are."""
        carried = set(self.notes.carried(ref for unit in self.units for ref in unit.refs))
        for unit in self.units:
            if unit.note and unit.note not in carried:
                unit.cost, unit.rank = self.notes.by_label[unit.note].tokens, Rank.BLOCK
                unit.note = ""

    def _add(self, block: Block, cost: int) -> None:
        rank = self._rank(block, cost)
        if block.kind is Kind.FOOTNOTE and self.notes.moves(block):
            rank = Rank.NEVER if self.units else rank
            self.units.append(Unit(block.start, 0, rank, block.kind, note=block.label))
            return
        full = cost + self.notes.cost(block.refs) if block.refs else cost
        room = self.max - (self._headings if block.kind in _BREAKABLE else 0)
        if full <= room:
            self.units.append(Unit(block.start, full, rank, block.kind, refs=block.refs))
        elif cost <= self.max and block.kind not in _BREAKABLE:
            self.units.append(Unit(block.start, cost, rank, block.kind))  # its notes stay behind
        else:
            self._split(block, cost, rank, room)

    def _rank(self, block: Block, cost: int) -> int:
        """Return how good it is to cut before this block."""
        before = self.units[-1] if self.units else None
        if before is not None and before.kind is Kind.HEADING:
            return Rank.AFTER_HEADING
        if before is None or block.kind is Kind.HEADING:
            return Rank.SECTION + 6 - block.level if block.level else Rank.BLOCK
        if before.kind is Kind.RULE:
            return Rank.RULE
        if self._belongs(before, block, cost):
            return Rank.BEFORE_TABLE
        return Rank.INTRODUCED if self._introduces(before, block) else Rank.BLOCK

    def _introduces(self, before: Unit, block: Block) -> bool:
        """Tell whether the paragraph before announces this block with a colon."""
        if before.kind is not Kind.PARAGRAPH:
            return False
        near = max(before.start, block.start - _NEAR_END)
        return self.page.text[near : block.start].rstrip().endswith((":", "："))

    def _belongs(self, before: Unit, block: Block, cost: int) -> bool:
        """Tell a table from its paragraph, or an attribution from its quote, apart from others."""
        if before.kind is Kind.PARAGRAPH and block.kind is Kind.TABLE:
            return before.cost + cost <= self.max
        return before.kind is Kind.QUOTE and self._is_attribution(block)

    def _is_attribution(self, block: Block) -> bool:
        text = self.page.text
        return block.kind in (Kind.PARAGRAPH, Kind.LIST) and bool(
            _ATTRIBUTION.match(text, block.start, block.end)
        )

    def _split(self, block: Block, cost: int, rank: int, room: int) -> None:
        if cost > self.max:
            self.splits.append(Split(block.kind.value, block.start, cost, self.max))
        room = max(room, self.max // 2)
        text = self.page.text
        parts = split_block(text, block.start, block.end, block.kind, room, self._counts)
        parts.sort(key=lambda piece: piece.start)
        pieces = [Piece(block.start, rank), *parts]
        costs = self._counts.parts([*(piece.start for piece in pieces), block.end])
        for piece, (start, end, own) in zip(pieces, costs, strict=True):
            refs = references(text[start:end]) if block.refs else ()
            full = own + self.notes.cost(refs)
            refs, full = (refs, full) if full <= self.max else ((), own)
            self.units.append(
                Unit(piece.start, full, piece.rank, block.kind, piece.opener, piece.closer, refs)
            )

    def _keep_whole(self, start: int, end: int, before: list[int]) -> None:
        first = bisect.bisect_left(self.units, start, key=lambda unit: unit.start)
        last = bisect.bisect_left(self.units, end, key=lambda unit: unit.start)
        cost = before[last] - before[first]
        if cost > self.max and last - first > 1:
            self.splits.append(Split("admonition or HTML block", start, cost, self.max))
            return
        for unit in self.units[first + 1 : last]:
            unit.rank = min(unit.rank, Rank.INSIDE_WHOLE)
