"""A version of the embedded index that is being built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import qdrant_edge as engine

from askbook.errors import IndexFault
from askbook.index import edge_shard as shards
from askbook.index import integrity, schema, space
from askbook.index.edge_shard import WORDS
from askbook.index.filters import to_engine
from askbook.index.versions import VersionFolder
from askbook.models import ChunkFilter, Hit, IndexPoint
from askbook.ports import Vectors


class EdgeDraft:
    """A version being built in a folder of its own."""

    def __init__(
        self,
        folder: VersionFolder,
        path: Path,
        *,
        embedding_model: str,
        dimensions: int,
        made: schema.Layout | None,
        bm25: engine.Bm25,
    ) -> None:
        self._folder = folder
        self._path = path
        self._model = embedding_model
        self._dimensions = dimensions
        self._bm25 = bm25
        self._shard: engine.EdgeShard | None = (
            engine.EdgeShard.load(str(path))
            if made is None
            else shards.create(path, dimensions, made)
        )

    def upsert(self, points: Iterable[IndexPoint]) -> None:
        """Add points, or replace those with the same id."""
        batch = []
        for point in points:
            batch.append(self._point(point))
            if len(batch) == schema.UPSERT_BATCH:
                self._write(batch)
                batch = []
        if batch:
            self._write(batch)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove points; ids that do not exist are no error."""
        if ids:
            self._open.update(engine.UpdateOperation.delete_points(list(ids)))

    def delete_book(self, book_id: str) -> None:
        """Remove every point of a book."""
        of_book = to_engine(ChunkFilter(book_id=book_id), WORDS) or engine.Filter()
        self._open.update(engine.UpdateOperation.delete_points_by_filter(of_book))

    def search(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> list[Hit]:
        """As readers would find it, were this draft published."""
        return shards.search(self._open, self._bm25, vector, text, where, limit, prefetch)

    def count(self, where: ChunkFilter) -> int:
        """Exact number of points the draft holds."""
        return shards.count(self._open, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many points of the draft carry each value of an indexed keyword field."""
        return shards.facets(self._open, key, where)

    def publish(self) -> str:
        """Flush, close, rename, swing CURRENT; returns the version's name."""
        space.require(self._path, integrity.allocated(self._path), "putting the index in order")
        self._open.optimize()
        points = shards.count(self._open, ChunkFilter())
        self._open.flush()
        self.close()
        # The first opening replays journals: do it here, so that published bytes stay the same.
        engine.EdgeShard.load(str(self._path)).close()
        return self._folder.publish(
            self._path,
            points=points,
            embedding_model=self._model,
            dimensions=self._dimensions,
        )

    def close(self) -> None:
        """Release the engine's files."""
        if self._shard is not None:
            self._shard.close()
            self._shard = None

    def _write(self, batch: list[engine.Point]) -> None:
        space.require(self._path, 0, "adding chunks")
        self._open.update(engine.UpdateOperation.upsert_points(batch))

    @property
    def _open(self) -> engine.EdgeShard:
        if self._shard is None:
            raise IndexFault("This draft is already published.")
        return self._shard

    def _point(self, point: IndexPoint) -> engine.Point:
        if len(point.vector) != self._dimensions:
            raise IndexFault(
                f"Chunk {point.id} has a vector of {len(point.vector)} numbers; "
                f"{self._model} makes {self._dimensions}."
            )
        sparse = (
            self._bm25.embed_document(point.lexical_text)
            if point.words is None
            else engine.SparseVector(point.words.indices, point.words.values)
        )
        vectors: dict[str, engine.NamedVector] = {schema.DENSE: point.vector, schema.SPARSE: sparse}
        return engine.Point(point.id, vectors, dict(point.payload))
