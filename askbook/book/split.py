"""Where a block that is longer than the maximum may be cut, and what each part then needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

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


_FENCE: Final = re.compile(r"([ \t>]*)((?:[-*+]|\d{1,9}[.)])?[ \t]*)(`{3,}|~{3,})([^\n]*)\n")
_LONGEST_INFO: Final = 80  # characters of a fence's first line that are repeated
_QUOTE: Final = re.compile(r"[ \t]*>[ \t>]*")
_WORDS_IN_A_PIECE: Final = 8  # pieces of words are about this part of the limit


def split_block(text: str, start: int, end: int, kind: Kind, limit: int) -> list[Piece]:
    """Return the parts of `text[start:end]`; none needs more than `limit` tokens."""
    body = text[start:end]
    if kind is Kind.TABLE:
        pieces = list(_rows(body, limit))
    elif kind in (Kind.LIST, Kind.QUOTE, Kind.FOOTNOTE, Kind.ITEM):
        pieces = list(_container(body, block_tree(body), 0, len(body), limit, 0))
    else:
        pieces = list(_leaf(body, kind, limit))
    return [Piece(p.start + start, p.rank, p.opener, p.closer) for p in pieces if p.start > 0]


def _leaf(body: str, kind: Kind, limit: int) -> Iterator[Piece]:
    if kind is Kind.FENCE:
        return _lines(body, limit)
    if kind is Kind.TABLE:
        return _rows(body, limit)
    if kind in (Kind.CODE, Kind.OTHER):
        return _plain_lines(body, limit, 0)
    return _prose(body, limit)


def _container(
    body: str, nodes: list[Node], start: int, end: int, limit: int, depth: int
) -> Iterator[Piece]:
    """Cut between children; inside a child only when it is too long itself."""
    starts = sorted({start, *(node.start for node in nodes if start < node.start < end)})
    by_start: dict[int, Node] = {}
    for node in nodes:
        by_start.setdefault(node.start, node)
    for at, stop in zip(starts, [*starts[1:], end], strict=True):
        node = by_start.get(at)
        rank = Rank.ITEM if depth == 0 or (node and node.kind is Kind.ITEM) else Rank.INNER
        yield Piece(at, max(Rank.LINE, rank - depth // 2))
        if count_tokens(body[at:stop]) <= limit:
            continue
        if node and node.children:
            inner = _container(body, node.children, at, stop, limit, depth + 1)
        else:
            kind = node.kind if node else Kind.PARAGRAPH
            inner = (_moved(piece, at) for piece in _leaf(body[at:stop], kind, limit))
        yield from (piece for piece in inner if piece.start > at)


def _moved(piece: Piece, by: int) -> Piece:
    return Piece(piece.start + by, piece.rank, piece.opener, piece.closer)


def _lines(body: str, limit: int) -> Iterator[Piece]:
    """Cut a fence between lines; every part gets the opening and the closing line."""
    found = _FENCE.match(body)
    if not found:
        yield from _prose(body, limit)
        return
    lead = found[1] + " " * len(found[2])
    opener = f"{lead}{found[3]}{found[4][:_LONGEST_INFO]}\n"
    closer = f"{lead}{found[3]}"
    room = max(8, limit - count_tokens(opener) - count_tokens(closer) - 1)
    last = body.rstrip().rfind("\n") + 1
    is_closed = body[last:].strip(" \t>\n").startswith(found[3])
    stop = last if is_closed else len(body)
    for piece in _plain_lines(body[:stop], room, found.end()):
        yield Piece(piece.start, piece.rank, opener, closer)


def _plain_lines(body: str, limit: int, start: int) -> Iterator[Piece]:
    """Cut between lines from the second on, preferably after a blank one."""
    at, was_blank, is_first = start, False, True
    for line in body[start:].splitlines(keepends=True):
        is_blank = not line.strip()
        if not is_first and not is_blank:
            yield Piece(at, Rank.LINE + was_blank)
        if len(line) > limit and count_tokens(line) > limit:
            yield from (_moved(piece, at) for piece in _words(line, limit))
        at += len(line)
        is_first, was_blank = is_first and is_blank, is_blank


def _rows(body: str, limit: int) -> Iterator[Piece]:
    """Cut a table between rows; every part gets the header."""
    lines = body.splitlines(keepends=True)
    header = "".join(lines[:2])
    cost = count_tokens(header)
    if cost > limit // 2:
        header, cost = "", 0
    at = len(lines[0]) + len(lines[1]) if len(lines) > 1 else len(body)
    if not header:
        yield from _words(body[:at], limit)
    for number, line in enumerate(lines[2:]):
        if number > 0 and line.strip():
            yield Piece(at, Rank.LINE, header)
        if len(line) > limit - cost and count_tokens(line) > limit - cost:
            yield from (Piece(p.start + at, p.rank, header) for p in _words(line, limit - cost))
        at += len(line)


def _prose(body: str, limit: int) -> Iterator[Piece]:
    """Cut between sentences, inside one only where it is too long itself."""
    quote = _QUOTE.match(body)
    opener = quote[0] if quote else ""
    starts = [0, *sentence_starts(body)]
    room = max(8, limit - count_tokens(opener))
    for at, stop in zip(starts, [*starts[1:], len(body)], strict=True):
        starts_line = at == 0 or body[at - 1] == "\n"
        yield Piece(at, Rank.SENTENCE, "" if starts_line else opener)
        if stop - at > room and count_tokens(body[at:stop]) > room:
            for piece in _words(body[at:stop], room):
                yield Piece(piece.start + at, piece.rank, opener)


def _words(text: str, limit: int) -> Iterator[Piece]:
    step = max(1, limit // _WORDS_IN_A_PIECE)
    return (Piece(at, Rank.WORD) for at in word_starts(text, step, limit))
