"""A collection that is being written, live or aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import qdrant_edge
from qdrant_client import QdrantClient, models

from askbook.errors import IndexFault
from askbook.index import schema
from askbook.index import server_collection as collection
from askbook.index.server_collection import server_errors
from askbook.models import ChunkFilter, Hit, IndexPoint
from askbook.ports import Vectors


class ServerDraft:
    """Writes to one collection; `publish` swings the alias where that is still to be done."""

    def __init__(
        self,
        client: QdrantClient,
        name: str,
        dimensions: int,
        bm25: qdrant_edge.Bm25,
        swing: Callable[[], None],
    ) -> None:
        self._client = client
        self._name = name
        self._dimensions = dimensions
        self._bm25 = bm25
        self._swing = swing

    def upsert(self, points: Iterable[IndexPoint]) -> None:
        """Add points, or replace those with the same id."""
        batch = []
        for point in points:
            batch.append(self._point(point))
            if len(batch) == schema.UPSERT_BATCH:
                self._send(batch)
                batch = []
        if batch:
            self._send(batch)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove points; ids that do not exist are no error."""
        if ids:
            with server_errors():
                self._client.delete(self._name, models.PointIdsList(points=list(ids)), wait=True)

    def search(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> list[Hit]:
        """As readers would find it, were this draft published."""
        return collection.search(
            self._client, self._name, self._bm25, vector, text, where, limit, prefetch
        )

    def count(self, where: ChunkFilter) -> int:
        """Exact number of points the collection holds."""
        return collection.count(self._client, self._name, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many points carry each value of an indexed keyword field."""
        return collection.facets(self._client, self._name, key, where)

    def publish(self) -> str:
        """Send readers to this collection; returns its name."""
        self._swing()
        return self._name

    def _send(self, batch: list[models.PointStruct]) -> None:
        with server_errors():
            self._client.upsert(self._name, batch, wait=True)

    def _point(self, point: IndexPoint) -> models.PointStruct:
        # A server may apply the valid half of a batch that it answers with 400: check before.
        if len(point.vector) != self._dimensions:
            raise IndexFault(
                f"Chunk {point.id} has a vector of {len(point.vector)} numbers; "
                f"this index takes {self._dimensions}."
            )
        sparse = collection.sparse(point.words or self._bm25.embed_document(point.lexical_text))
        return models.PointStruct(
            id=point.id,
            vector={schema.DENSE: point.vector, schema.SPARSE: sparse},
            payload=dict(point.payload),
        )
