"""What can be quoted of a passage: paragraphs, lists, tables and code, no sentence cut.

Whole paragraphs and not single sentences: on the golden set the best paragraph held the labelled
words for 6 questions in 10, the best sentence for 4 (docs/asking.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from askbook.asking.words import prepare, unlinked
from askbook.book.sentences import sentence_starts
from askbook.models import Source
from askbook.ports import Embedder, Vectors

_FENCE: Final = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_SKIPPED: Final = re.compile(r"^\s*(?:#{1,6}\s|:::|<|!\[|\[\^[^\]]+\]:|-{3,}\s*$|={3,}\s*$)")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_QUOTE: Final = re.compile(r"^\s*(?:>\s?)+")
_CALLOUT: Final = re.compile(r"^\s*\[!\w+\]\s*$")
_CANDIDATES: Final = 16  # quotes embedded a question: 40 answered no better (docs/asking.md)
_BY_WORDS: Final = 0.2  # weight of the question's words next to the cosine
_BY_TITLE: Final = 0.5  # what one of these words counts that only the section's title has
_MIN_WORDS: Final = 4
_LONG: Final = 90  # words of a paragraph that is quoted whole
_SHORT: Final = 40  # words of a paragraph that may introduce a table
_WINDOW: Final = 3  # sentences that are quoted of a longer one
_MOST_WORDS: Final = 120  # of a list, table or code block; longer ones are for the lesson itself


@dataclass(frozen=True, slots=True)
class Quote:
    """Some lines of a passage that make sense together, and how they are written out."""

    lines: tuple[str, ...]  # each gets its own marker; a fence or table is one of them
    position: int  # order in the passage

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A quote of one source and how well it fits a question."""

    quote: Quote
    source: Source
    match: float  # cosine with the question, and a share for its words
    vector: Vectors

    @property
    def score(self) -> float:
        """What quotes are ordered by: the match, and how well the whole passage was found."""
        return self.match + (self.source.hit.score if self.source.hit else 0.0)


async def rank_quotes(
    question: str, sources: Sequence[Source], embedder: Embedder
) -> tuple[Ranked, ...]:
    """The quotes of all sources, best first; of many, those with most of the question's words.

    Among those with as many, the ones from the passages that are closest to the question.
    """
    wanted = prepare(question).content
    found = [
        (_overlap(quote, source, wanted), quote, source)
        for source in sources
        for quote in quotes_of(source.text) or [Quote((source.text.strip(),), 0)]
    ]
    found = sorted(found, key=lambda each: (each[0], _closeness(each[2])), reverse=True)
    found = found[:_CANDIDATES]
    if not found:
        return ()
    vector = await embedder.embed_query(question)
    vectors = await embedder.embed_passages([quote.text for _, quote, _ in found])
    ranked = [
        Ranked(quote, source, float(own @ vector) + _BY_WORDS * overlap, own)
        for (overlap, quote, source), own in zip(found, vectors, strict=True)
    ]
    return tuple(sorted(ranked, key=lambda each: -each.score))


def _overlap(quote: Quote, source: Source, wanted: frozenset[str]) -> float:
    """Share of the question's words in a quote, and in the title above it."""
    words = prepare(quote.text).content
    title = prepare(str(source.payload.get("section_title") or "")).content - words
    return (len(words & wanted) + _BY_TITLE * len(title & wanted)) / max(len(wanted), 1)


def _closeness(source: Source) -> float:
    return source.hit.similarity if source.hit else 0.0


@dataclass(slots=True)
class _Block:
    kind: str  # prose, item, code or table
    text: str


def quotes_of(passage: str) -> list[Quote]:
    """Everything quotable, in reading order; what a sentence introduces comes with it."""
    quotes: list[Quote] = []
    before: _Block | None = None  # the last prose, which may introduce what follows it
    blocks = list(_blocks(passage))
    at = 0
    while at < len(blocks):
        block = blocks[at]
        if block.kind == "prose":
            quotes += _windows(block.text, len(quotes))
            before, at = block, at + 1
            continue
        end = at + 1
        while block.kind == "item" and end < len(blocks) and blocks[end].kind == "item":
            end += 1
        group = [each.text for each in blocks[at:end]]
        quotes += _group(block.kind, group, _introduction(before, block.kind), len(quotes))
        before, at = None, end
    return quotes


def _windows(paragraph: str, first: int) -> Iterator[Quote]:
    """The whole paragraph; of a long one, three sentences at a time."""
    starts = [0, *sentence_starts(paragraph), len(paragraph)]
    pieces = tuple(paragraph[a:b].strip() for a, b in pairwise(starts))
    size = len(pieces) if len(paragraph.split()) <= _LONG else _WINDOW
    for at in range(0, max(len(pieces) - 1, 1), max(size - 1, 1)):
        lines = pieces[at : at + size]
        if sum(len(line.split()) for line in lines) >= _MIN_WORDS and not _is_open(lines):
            yield Quote(lines, first + at)
        if at + size >= len(pieces):
            break


def _is_open(lines: tuple[str, ...]) -> bool:
    """Whether what matters is still to come: after a colon, or after a lone question."""
    return lines[-1].endswith(":") or (len(lines) == 1 and lines[0].endswith("?"))


def _group(kind: str, texts: list[str], introduction: str | None, first: int) -> Iterator[Quote]:
    """A list, table or code block with the sentence that introduces it."""
    lead = (introduction,) if introduction else ()
    words = sum(len(text.split()) for text in texts)
    if words <= _MOST_WORDS and (lead or kind != "item"):
        marked = tuple(f"- {text}" for text in texts) if kind == "item" else tuple(texts)
        yield Quote((*lead, *marked), first)
    if kind == "item":
        for at, text in enumerate(texts):
            if len(text.split()) >= _MIN_WORDS:
                yield Quote((text,), first + at)


def _introduction(before: _Block | None, kind: str) -> str | None:
    """The sentence that announces what follows; before a table, a short paragraph does."""
    if before is None:
        return None
    if kind == "table" and len(before.text.split()) <= _SHORT:
        return before.text
    starts = [0, *sentence_starts(before.text)]
    last = before.text[starts[-1] :].strip()
    return last if last.endswith(":") else None


def _blocks(passage: str) -> Iterator[_Block]:
    """Paragraphs on one line each, list items, whole tables and whole fences."""
    lines = passage.splitlines()
    at = 0
    prose: list[str] = []
    kind = "prose"
    while at < len(lines):
        line = _QUOTE.sub("", lines[at])
        starts_block = _FENCE.match(line) or line.lstrip().startswith("|")
        item = _ITEM.match(line)
        if prose and (starts_block or item or not line.strip() or _SKIPPED.match(line)):
            yield _Block(kind, unlinked(" ".join(prose)))
            prose, kind = [], "prose"
        if starts_block:
            end = _end_of(lines, at)
            yield _Block(
                "table" if line.lstrip().startswith("|") else "code", _joined(lines[at:end])
            )
            at = end
            continue
        if item:
            kind = "item"
            prose.append(line[item.end() :].strip())
        elif line.strip() and not _SKIPPED.match(line) and not _CALLOUT.match(line):
            prose.append(line.strip())
        at += 1
    if prose:
        yield _Block(kind, unlinked(" ".join(prose)))


def _end_of(lines: list[str], at: int) -> int:
    """Where the fence or table that starts at a line ends."""
    fence = _FENCE.match(_QUOTE.sub("", lines[at]))
    end = at + 1
    if fence:
        while end < len(lines) and not _QUOTE.sub("", lines[end]).strip().startswith(fence[1]):
            end += 1
        return min(end + 1, len(lines))
    while end < len(lines) and _QUOTE.sub("", lines[end]).lstrip().startswith("|"):
        end += 1
    return end


def _joined(lines: list[str]) -> str:
    return "\n".join(_QUOTE.sub("", line).rstrip() for line in lines)
