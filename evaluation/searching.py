"""A temporary index, searched as readers search, or with another fusion to compare with."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
import qdrant_edge as engine

from askbook.asking.relevance import CONSIDERED
from askbook.index import schema
from askbook.index.edge import EdgeIndex
from askbook.index.edge_shard import WORDS
from askbook.index.filters import to_engine
from askbook.models import ChunkFilter, Hit, IndexPoint
from askbook.ports import Reranker, Vectors
from evaluation.passages import Passage
from evaluation.vectors import CachedVectors
from evaluation.watching import watched

_EVERYTHING = ChunkFilter()
_RRF = {"rrf": 2, "rrf60": 60}  # Qdrant's own k, and the one of the paper


class FusedIndex(EdgeIndex):
    """The product's index; searches fused in ways that the product does not offer."""

    def __init__(self, folder: Path, fusion: str) -> None:
        super().__init__(folder)
        self._fusion = fusion

    def search(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> list[Hit]:
        """Best first by the chosen fusion; `dbsf` is the product's own search."""
        shard = self._shard()
        if shard is None or self._fusion == "dbsf":
            return super().search(vector, text, where, limit, prefetch)
        # The engine orders equal scores as it likes, and ranks alone give many: all are fetched.
        request = self._request(vector, text, where, 2 * prefetch, prefetch)
        found = [
            Hit(str(point.id), point.score, _cosine(point.vector, vector), point.payload or {})
            for point in shard.query(request)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _request(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> engine.QueryRequest:
        condition = to_engine(where, WORDS)
        dense = engine.Query.Nearest(vector.tolist(), using=schema.DENSE)
        sparse = engine.Query.Nearest(self._bm25.embed_query(text), using=schema.SPARSE)
        if self._fusion in {"dense", "bm25"}:
            query = dense if self._fusion == "dense" else sparse
            return engine.QueryRequest(
                limit=limit,
                query=query,
                filter=condition,
                with_payload=True,
                with_vector=[schema.DENSE],
            )
        return engine.QueryRequest(
            limit=limit,
            prefetches=[
                engine.Prefetch(limit=prefetch, query=each, filter=condition)
                for each in (dense, sparse)
            ],
            query=engine.Fusion.Rrf(k=_RRF[self._fusion]),  # type: ignore[arg-type]  # stub's gap
            with_payload=True,
            with_vector=[schema.DENSE],
        )


@contextmanager
def built(
    points: Sequence[IndexPoint], model: str, dimensions: int, fusion: str
) -> Iterator[FusedIndex]:
    """An index of these points in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="askbook-eval-") as folder:
        index = FusedIndex(Path(folder) / "index", fusion)
        with index.build(embedding_model=model, dimensions=dimensions) as draft:
            draft.upsert(points)
            draft.publish()
        yield index


@contextmanager
def indexed(
    passages: Sequence[Passage], vectors: CachedVectors, fusion: str = "dbsf"
) -> Iterator[FusedIndex]:
    """An index of passages; a hit's payload tells its number."""
    rows = vectors.passages([passage.embedded_text for passage in passages])
    points = [
        IndexPoint(
            id=str(uuid.UUID(int=number)),
            vector=row.tolist(),
            lexical_text=passage.embedded_text,
            payload={"number": number},
        )
        for number, (passage, row) in enumerate(zip(passages, rows, strict=True))
    ]
    with built(points, vectors.model, vectors.dimensions, fusion) as index:
        yield index


@dataclass(frozen=True, slots=True)
class Searched:
    """What one query found, best first, and how long each stage took."""

    passages: list[Passage]
    seconds: dict[str, float]


def search(
    index: EdgeIndex,
    passages: Sequence[Passage],
    queries: Mapping[str, str],
    *,
    vectors: CachedVectors,
    prefetch: int,
    reranker: Reranker | None = None,
) -> dict[str, Searched]:
    """Return for each query all passages that fusion saw."""
    rows, embedding = vectors.queries(list(queries.values()))
    found: dict[str, Searched] = {}
    for at, (query, text) in enumerate(watched(list(queries.items()), "search")):
        seconds = {"embed": embedding[at]} if embedding else {}
        started = time.perf_counter()
        hits = index.search(rows[at], text, _EVERYTHING, 2 * prefetch, prefetch)
        seconds["search"] = time.perf_counter() - started
        best = [passages[_number(hit)] for hit in hits]
        if reranker is not None:
            started = time.perf_counter()
            best = anyio.run(reranked, reranker, text, best)
            seconds["rerank"] = time.perf_counter() - started
        found[query] = Searched(best, seconds)
    return found


async def reranked(reranker: Reranker, query: str, best: list[Passage]) -> list[Passage]:
    """The passages that the product would rerank, sorted anew; the rest follow."""
    head = best[:CONSIDERED]
    scores = await reranker.rerank(query, [each.embedded_text for each in head])
    order = sorted(range(len(head)), key=lambda at: -scores[at])
    return [head[at] for at in order] + best[CONSIDERED:]


def _cosine(stored: object, vector: Vectors) -> float:
    return float(np.dot(stored[schema.DENSE], vector)) if isinstance(stored, dict) else 0.0


def _number(hit: Hit) -> int:
    number = hit.payload["number"]
    if not isinstance(number, int):
        raise TypeError(f"Passage {hit.id} has lost its number.")
    return number
