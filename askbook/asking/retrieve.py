"""Find the passages that may answer a question."""

from __future__ import annotations

import anyio.to_thread

from askbook.models import ChunkFilter, Hit
from askbook.ports import Embedder, VectorIndex


async def retrieve(
    question: str,
    where: ChunkFilter,
    *,
    embedder: Embedder,
    index: VectorIndex,
    limit: int,
    prefetch: int,
) -> list[Hit]:
    """Chunks by dense and BM25 search together, best first."""
    vector = await embedder.embed_query(question)
    return await anyio.to_thread.run_sync(
        lambda: index.search(vector, question, where, limit, prefetch)
    )


def relevant(hits: list[Hit], floor: float) -> list[Hit]:
    """The hits, or none at all where even the best has nothing to do with the question."""
    return hits if any(hit.similarity >= floor for hit in hits) else []
