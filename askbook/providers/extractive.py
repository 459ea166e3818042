"""A writer that only quotes: what the book itself says that comes closest to the question."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from askbook.asking.quotes import Ranked, rank_quotes
from askbook.models import Prompt, Usage
from askbook.ports import Embedder

_QUOTES: Final = 3  # an answer's length: short enough to read, long enough to explain
_WORDS: Final = 120  # and no more words than this, but for a single quote
_CLOSE_ENOUGH: Final = 0.2  # how far below the best quote's score the others may be
_TOO_ALIKE: Final = 0.9  # cosine above which two quotes say the same


class ExtractiveWriter:
    """Needs no language model and invents nothing."""

    name = "extractive"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def write(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str, None]:  # noqa: ARG002
        """Up to three quotes in reading order, every line with its [Source N]."""
        ranked = await rank_quotes(prompt.question, prompt.sources, self._embedder)
        for each in sorted(_pick(ranked), key=lambda r: (r.source.number, r.quote.position)):
            for line in each.quote.lines:
                yield _marked(line, each.source.number)
            yield "\n\n"


def _pick(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The best quotes that neither repeat each other nor are too much to read."""
    chosen: list[Ranked] = []
    words = 0
    for each in ranked:
        if len(chosen) == _QUOTES or each.score < ranked[0].score - _CLOSE_ENOUGH:
            break
        length = len(each.quote.text.split())
        is_new = not any(_repeats(each, other) for other in chosen)
        if is_new and (not chosen or words + length <= _WORDS):
            chosen.append(each)
            words += length
    return chosen


def _repeats(one: Ranked, other: Ranked) -> bool:
    """Whether two quotes share a line, as a list and its items do, or say the same."""
    lines, others = (
        {line.removeprefix("- ") for line in each.quote.lines} for each in (one, other)
    )
    return bool(lines & others) or float(one.vector @ other.vector) >= _TOO_ALIKE


def _marked(line: str, number: int) -> str:
    """A line with its marker; a list item, table or fence keeps its line to itself."""
    if line.startswith(("|", "```", "~~~")):
        return f"\n{line}\n[Source {number}]\n"
    if line.startswith("- "):
        return f"{line} [Source {number}]\n"
    return f"{line} [Source {number}]" + ("\n" if line.endswith(":") else " ")
