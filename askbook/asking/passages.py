"""The numbered sources of an answer: the best hits, lesson by lesson, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from askbook.models import Hit, Source, StoredChunk
from askbook.ports import VectorIndex


def number(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """Sources numbered from 1: the lesson with the best hit first, its passages as they stand."""
    lessons: dict[object, list[Hit]] = {}
    for hit in hits:
        lessons.setdefault(_lesson(hit), []).append(hit)
    ordered = (hit for lesson in lessons.values() for hit in sorted(lesson, key=_place))
    return tuple(Source(index, hit) for index, hit in enumerate(ordered, start=1))


def with_neighbours(hits: list[Hit], index: VectorIndex, around: int) -> list[Hit]:
    """The hits, and after them the passages next to the first `around` of them.

    A neighbour keeps the scores of the hit that brought it, so that it never outranks it.
    """
    known = {hit.id for hit in hits}
    wanted: dict[str, Hit] = {}
    for hit in hits[:around]:
        for key in ("prev_chunk_id", "next_chunk_id"):
            neighbour = hit.payload.get(key)
            if neighbour and neighbour not in known:
                wanted.setdefault(str(neighbour), hit)
    found = index.retrieve(list(wanted)) if wanted else []
    return [*hits, *_as_hits(found, wanted)]


def _as_hits(found: Iterable[StoredChunk], wanted: dict[str, Hit]) -> list[Hit]:
    return [
        Hit(chunk.id, wanted[chunk.id].score, wanted[chunk.id].similarity, chunk.payload)
        for chunk in found
    ]


def _lesson(hit: Hit) -> object:
    return hit.payload["book_id"], hit.payload["source_file"]


def _place(hit: Hit) -> int:
    return int(str(hit.payload["chunk_index"]))
