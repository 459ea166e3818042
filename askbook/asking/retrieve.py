"""Find the passages that may answer a question."""

from __future__ import annotations

import re
from typing import Final

import anyio.to_thread

from askbook.models import ChunkFilter, Hit
from askbook.ports import Embedder, Searchable

_WORD: Final = re.compile(r"\w+")
_SAME: Final = 0.9  # share of words in common above which one of two passages is enough
_SPARE: Final = 5  # hits fetched beyond the limit, to fill the places of repeated ones


async def retrieve(
    question: str,
    where: ChunkFilter,
    *,
    embedder: Embedder,
    index: Searchable,
    limit: int,
    prefetch: int,
) -> list[Hit]:
    """Chunks by dense and BM25 search together, best first, none that repeats a better one."""
    vector = await embedder.embed_query(question)
    hits = await anyio.to_thread.run_sync(
        lambda: index.search(vector, question, where, limit + _SPARE, prefetch)
    )
    return collapse(hits)[:limit]


def collapse(hits: list[Hit]) -> list[Hit]:
    """Leave out what says nearly the same as a better hit: templates, copied notes, overlaps."""
    kept: list[Hit] = []
    seen: list[frozenset[str]] = []
    for hit in hits:
        words = frozenset(_WORD.findall(str(hit.payload["text"]).lower()))
        if not any(_repeats(words, other) for other in seen):
            kept.append(hit)
            seen.append(words)
    return kept


def _repeats(words: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(words), len(other)) < _SAME * max(len(words), len(other)):
        return False
    return len(words & other) >= _SAME * max(len(words | other), 1)
