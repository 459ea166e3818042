"""Where a block that is longer than the maximum may be cut, and what each part then needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from askbook.book.counts import Counts
from askbook.book.parse import Kind
from askbook.book.sentences import sentence_starts, word_starts
from askbook.book.tokens import count_tokens
from askbook.book.tree import Node, block_tree


class Rank(IntEnum):
    """How good a place is to cut, from worst to best. Headings are SECTION and above."""

    NEVER = -1
    INSIDE_WHOLE = 0  # only when nothing else can meet the maximum
    AFTER_HEADING = 1
    BEFORE_TABLE = 2
    WORD = 3
    SENTENCE = 4
    LINE = 5
    INNER = 6
    ITEM = 7
    INTRODUCED = 8  # after a paragraph that ends with a colon
    BLOCK = 9
    RULE = 10
    SECTION = 11  # a level-6 heading; a level-1 heading is SECTION + 5


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block. `opener` and `closer` go around it when it is cut off here."""

    start: int
    rank: int
    opener: str = ""  # before a chunk that starts here
    closer: str = ""  # after a chunk that ends here


_FENCE: Final = re.compile(
    r"([ \t>]*+)((?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+)(`{3,}+|~{3,}+)([^\n]*+)\n"
)
_LONGEST_MARK: Final = 80  # characters of a fence's marks, or of what follows, that are repeated
_LINE: Final = re.compile(r"[^\n]*+\n|[^\n]++")
_QUOTE: Final = re.compile(r"[ \t]{0,40}>[ \t>]*+")
_WORDS_IN_A_PIECE: Final = 8  # pieces of words are about this part of the limit
_CONTAINERS: Final = {Kind.LIST, Kind.QUOTE, Kind.FOOTNOTE, Kind.ITEM}


def split_block(  # noqa: PLR0917 - a span, what it is, and what it must meet
    text: str, start: int, end: int, kind: Kind, limit: int, counts: Counts
) -> list[Piece]:
    """Return the later parts of `text[start:end]`; none needs more than `limit` tokens."""
    cutter = _Cutter(text, counts)
    if kind in _CONTAINERS:
        nodes = [_shift(node, start) for node in block_tree(text[start:end])]
        pieces = cutter.container(nodes, start, end, limit, 0)
    else:
        pieces = cutter.leaf(kind, start, end, limit)
    return [piece for piece in pieces if piece.start > start]


def _shift(node: Node, by: int) -> Node:
    stack = [node]
    while stack:
        inner = stack.pop()
        inner.start, inner.stop = inner.start + by, inner.stop + by
        stack += inner.children
    return node


class _Cutter:
    """Cuts blocks of one page; all offsets are into the page."""

    def __init__(self, text: str, counts: Counts) -> None:
        self.text = text
        self.counts = counts

    def leaf(self, kind: Kind, start: int, end: int, limit: int) -> Iterator[Piece]:
        """Cut a block that has no blocks inside."""
        if kind is Kind.FENCE:
            return self._fence(start, end, limit)
        if kind is Kind.TABLE:
            return self._table(start, end, limit)
        if kind in (Kind.CODE, Kind.OTHER):
            return self._lines(start, end, limit)
        return self._prose(start, end, limit)

    def container(
        self, nodes: list[Node], start: int, end: int, limit: int, depth: int
    ) -> Iterator[Piece]:
        """Cut between children; inside a child only when it is too long itself."""
        todo = [(nodes, start, end, depth)]
        while todo:
            nodes, start, end, depth = todo.pop()
            by_start = {node.start: node for node in reversed(nodes)}
            starts = sorted({start, *(at for at in by_start if start < at < end)})
            inner: list[tuple[list[Node], int, int, int]] = []
            for at, stop, cost in self.counts.parts([*starts, end]):
                node = by_start.get(at)
                yield Piece(at, _container_rank(node, depth))
                if cost <= limit:
                    continue
                if node and node.children:
                    inner.append((node.children, at, stop, depth + 1))
                else:
                    kind = node.kind if node else Kind.PARAGRAPH
                    yield from self.leaf(kind, at, stop, limit)
            todo += reversed(inner)

    def _fence(self, start: int, end: int, limit: int) -> Iterator[Piece]:
        """Cut between lines; every part gets the opening and the closing line."""
        found = _FENCE.match(self.text, start, end)
        if not found or len(found[1] + found[2] + found[3]) > _LONGEST_MARK:
            yield from self._lines(start, end, limit)
            return
        lead = found[1] + " " * len(found[2])
        opener = f"{lead}{found[3]}{found[4][:_LONGEST_MARK]}\n"
        closer = f"{lead}{found[3]}"
        room = max(8, limit - count_tokens(opener) - count_tokens(closer) - 1)
        for piece in self._lines(found.end(), self._last_line(found, end), room):
            if piece.start > found.end():
                yield Piece(piece.start, piece.rank, opener, closer)

    def _last_line(self, fence: re.Match[str], end: int) -> int:
        """Return where the closing line starts; `end` when there is none."""
        stop = _rstrip(self.text, fence.end(), end)
        start = self.text.rfind("\n", fence.end() - 1, stop) + 1
        is_closing = self.text[start:stop].strip(" \t>").startswith(fence[3])
        return start if is_closing and start >= fence.end() else end

    def _lines(self, start: int, end: int, limit: int) -> Iterator[Piece]:
        """Cut between lines, preferably after a blank one."""
        at, was_blank = start, True
        for found in _LINE.finditer(self.text, start, end):
            at, stop = found.span()
            is_blank = found[0].isspace()
            if not is_blank and at > start:
                yield Piece(at, Rank.LINE + was_blank)
            if stop - at > limit and self.counts.about(at, stop) > limit:
                yield from self._words(at, stop, limit)
            was_blank = is_blank

    def _table(self, start: int, end: int, limit: int) -> Iterator[Piece]:
        """Cut between rows; every part gets the header."""
        lines = _LINE.finditer(self.text, start, end)
        body = start
        for line, _ in zip(lines, range(2), strict=False):
            body = line.end()
        header = self.text[start:body]
        cost = self.counts.about(start, body)
        if cost > limit // 2:
            yield from self._words(start, body, limit)
            header, cost = "", 0
        for piece in self._lines(body, end, limit - cost):
            yield Piece(piece.start, min(piece.rank, Rank.LINE), header)

    def _prose(self, start: int, end: int, limit: int) -> Iterator[Piece]:
        """Cut between sentences, inside one only where it is too long itself."""
        quote = _QUOTE.match(self.text, start, end)
        opener = quote[0] if quote and len(quote[0]) <= _LONGEST_MARK else ""
        room = max(8, limit - (count_tokens(opener) + 1 if opener else 0))
        later = [start + at for at in sentence_starts(self.text[start:end])]
        for at, stop, cost in self.counts.parts([start, *later, end]):
            yield Piece(at, Rank.SENTENCE, "" if self.text[at - 1 : at] == "\n" else opener)
            if cost > room:
                for piece in self._words(at, stop, room):
                    yield Piece(piece.start, piece.rank, opener)

    def _words(self, start: int, end: int, limit: int) -> Iterator[Piece]:
        step = max(1, limit // _WORDS_IN_A_PIECE)
        found = word_starts(self.text, start, end, self.counts.points, step, limit)
        return (Piece(at, Rank.WORD) for at in found)


def _container_rank(node: Node | None, depth: int) -> int:
    rank = Rank.ITEM if depth == 0 or (node and node.kind is Kind.ITEM) else Rank.INNER
    return max(Rank.LINE, rank - depth // 2)


def _rstrip(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
