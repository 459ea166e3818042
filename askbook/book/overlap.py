"""Where a chunk starts when it repeats the end of the one before."""

from __future__ import annotations

from askbook.book.parse import Kind
from askbook.book.render import Renderer
from askbook.book.sentences import sentence_starts
from askbook.book.tokens import count_tokens
from askbook.book.units import Unit


def overlap_start(
    renderer: Renderer, units: list[Unit], before: tuple[int, int], first: int, budget: int
) -> int | None:
    """Return where to start instead of at unit `first`: at most `budget` tokens earlier.

    None where nothing fits, where a section starts (it needs nothing from the one before),
    and where a fence or table was cut.
    """
    if units[first].kind is Kind.HEADING or units[first].opener:
        return None
    start, left = None, budget
    for index in range(first - 1, before[0], -1):
        unit = units[index]
        if unit.opener or unit.refs or unit.note or unit.cost > left:
            break
        start, left = unit.start, left - unit.cost
        if unit.kind is Kind.HEADING:
            return start
    if start is None:
        return _last_sentences(renderer, units[first - 1], units[first].start, budget)
    return start


def _last_sentences(renderer: Renderer, unit: Unit, end: int, budget: int) -> int | None:
    if unit.kind is not Kind.PARAGRAPH or unit.refs or unit.opener:
        return None
    paragraph = renderer.text[unit.start : end]
    best = None
    for start in reversed(sentence_starts(paragraph)):
        if count_tokens(paragraph[start:]) > budget:
            break
        best = unit.start + start
    return best
