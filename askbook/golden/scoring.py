"""How high in a search the labelled words of a golden question stand.

A question has one need, met by any of its labels, or one need per label where only all of them
together answer it. A ranking of needs instead of chunks means the same for every chunk size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log2
from typing import Final

from askbook.golden.questions import LabelSpan, Located, Question
from askbook.models import ChunkFilter

DEPTH: Final = 10
_MOSTLY: Final = 0.5  # of a label inside a chunk: then the chunk holds it

Need = tuple[LabelSpan, ...]  # any of these meets it
Payload = Mapping[str, object]


def needs_of(question: Question, located: Located) -> tuple[Need, ...]:
    """What must be found; nothing where the book no longer has what the labels name."""
    spans = located.spans.get(question.id, ())
    if not question.needs_all:
        return (spans,) if spans else ()
    return tuple((span,) for span in spans) if len(spans) == len(question.answers) else ()


def where_of(question: Question, book_id: str) -> ChunkFilter:
    """Which chunks the question may be answered from."""
    where = replace(question.filters or ChunkFilter(), book_id=book_id)
    if (marked := question.selection) is not None:
        where = replace(where, source_file=marked.source_file, overlaps=(marked.start, marked.end))
    return where


def holds(payload: Payload, span: LabelSpan) -> bool:
    """Whether a chunk holds a label: most of its place in the same file, or its very words."""
    same_file = payload.get("source_file") == span.file
    if same_file and payload.get("source_file_hash") == span.file_hash:
        start, end = int(str(payload["start_char_offset"])), int(str(payload["end_char_offset"]))
        inside = min(end, span.end) - max(start, span.start)
        if inside >= _MOSTLY * (span.end - span.start):
            return True
    return bool(span.text) and _plain(span.text) in _plain(str(payload.get("text", "")))


def ranking(found: Iterable[Payload], needs: Sequence[Need]) -> list[str]:
    """The found chunks, best first, as names: of the needs they are first to meet, or of none."""
    names: list[str] = []
    open_needs = dict(enumerate(needs))
    for rank, payload in enumerate(found):
        met = [key for key, need in open_needs.items() if any(holds(payload, s) for s in need)]
        for key in met:
            del open_needs[key]
        names += [name_of(key) for key in met] or [f"other-{rank}"]
    return names


def name_of(need: int) -> str:
    """What a need is called in a ranking."""
    return f"need-{need}"


def ndcg(names: Sequence[str], needs: Sequence[Need], depth: int = DEPTH) -> float:
    """NDCG of a ranking of needs: 1 where they come first, 0 where none is among `depth`."""
    wanted = {name_of(key) for key in range(len(needs))}
    gain = sum(1 / log2(2 + rank) for rank, name in enumerate(names[:depth]) if name in wanted)
    return gain / sum(1 / log2(2 + rank) for rank in range(min(len(needs), depth)))


def _plain(text: str) -> str:
    return " ".join(text.split())
