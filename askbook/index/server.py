"""A Qdrant server or cluster: the public name is an alias, versions are collections behind it.

An incremental draft writes to the live collection (new points first, stale ones deleted after,
which is the caller's order); one `without_book` is a collection of its own until the alias swings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import qdrant_edge
from qdrant_client import QdrantClient, models

from askbook.errors import IndexFault
from askbook.index import schema
from askbook.index import server_collection as collection
from askbook.index.compatible import check_model
from askbook.index.filters import to_engine
from askbook.index.server_collection import WORDS, server_errors
from askbook.index.server_draft import ServerDraft
from askbook.models import ChunkFilter, Hit, IndexVersion, StoredChunk
from askbook.ports import Vectors

_EVERYTHING = ChunkFilter()
_PLAIN = schema.Layout()
_INT8 = models.ScalarQuantization(
    scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
)


class ServerIndex:
    """A collection on a Qdrant server, under its public alias."""

    def __init__(
        self,
        client: QdrantClient,
        alias: str,
        *,
        keep_versions: int = 3,
        layout: schema.Layout = _PLAIN,
    ) -> None:
        self._client = client
        self._layout = layout
        self._alias = alias
        self._keep = keep_versions
        self._bm25 = qdrant_edge.Bm25()

    def search(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> list[Hit]:
        """Dense and BM25 search fused by the server (DBSF), best first."""
        if self._current() is None:
            return []
        return collection.search(
            self._client, self._alias, self._bm25, vector, text, where, limit, prefetch
        )

    def retrieve(self, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredChunk]:
        """The chunks with these ids; unknown ids are left out."""
        if not ids or self._current() is None:
            return []
        with server_errors():
            records = self._client.retrieve(
                self._alias,
                list(ids),
                with_payload=True,
                with_vectors=[schema.DENSE] if with_vectors else False,
            )
        return [collection.stored(record) for record in records]

    def scroll(
        self, where: ChunkFilter, *, with_vectors: bool = False, with_words: bool = False
    ) -> Iterator[StoredChunk]:
        """Every chunk that fits, page by page."""
        wanted = schema.vectors_wanted(with_vectors=with_vectors, with_words=with_words)
        if self._current() is None:
            return
        offset = None
        while True:
            with server_errors():
                records, offset = self._client.scroll(
                    self._alias,
                    scroll_filter=to_engine(where, WORDS),
                    limit=schema.SCROLL_PAGE,
                    offset=offset,
                    with_payload=True,
                    with_vectors=wanted,
                )
            yield from map(collection.stored, records)
            if offset is None:
                return

    def count(self, where: ChunkFilter) -> int:
        """Exact number of chunks that fit."""
        current = self._current()
        return 0 if current is None else collection.count(self._client, current, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many chunks carry each value of an indexed keyword field."""
        current = self._current()
        return {} if current is None else collection.facets(self._client, current, key, where)

    def versions(self) -> list[IndexVersion]:
        """Every collection behind the public name, newest first."""
        current = self._current()
        return [self._describe(name, current) for name in reversed(self._names())]

    def problem(self) -> str | None:
        """Why readers do not see the published version: the server sees to that itself."""
        return None

    def rollback(self, name: str | None = None) -> str:
        """Point the alias back to `name`, or to the collection before the current one."""
        names, current = self._names(), self._current() or ""
        if name is None:
            older = [each for each in names if each < current]
            if not older:
                raise IndexFault("There is no older index version to go back to.")
            name = older[-1]
        if name not in names:
            raise IndexFault(
                f"There is no index version {name!r}; there are: {', '.join(names) or 'none'}"
            )
        self._point_to(name)
        return name

    @contextmanager
    def build(
        self,
        *,
        embedding_model: str,
        dimensions: int,
        without_book: str | None = None,
        empty: bool = False,
    ) -> Iterator[ServerDraft]:
        """A draft on the live collection, or on a new one aside (built anew, or the first)."""
        current = self._current()
        anew = empty or without_book is not None
        others = set() if empty else set(self.facets("book_id", _EVERYTHING)) - {without_book}
        if current is not None and (others or not anew):
            check_model(self._describe(current, current), embedding_model, dimensions)
        if current is not None and not anew:
            yield ServerDraft(self._client, current, dimensions, self._bm25, lambda: None)
            return
        name = self._create(embedding_model, dimensions)
        try:
            if current is not None:
                self._carry_over(current, name, sorted(others))
            yield ServerDraft(
                self._client, name, dimensions, self._bm25, lambda: self._point_to(name)
            )
        finally:
            if self._current() != name:
                self._client.delete_collection(name)
        self._prune()

    def _carry_over(self, source: str, target: str, books: Sequence[str]) -> None:
        """Copy other books' points, vectors and all, into a collection built aside."""
        for book_id in books:
            offset = None
            while True:
                records, offset = self._client.scroll(
                    source,
                    scroll_filter=to_engine(ChunkFilter(book_id=book_id), WORDS),
                    limit=schema.SCROLL_PAGE,
                    offset=offset,
                    with_payload=True,
                    with_vectors=True,
                )
                points = [
                    models.PointStruct(id=r.id, vector=r.vector or {}, payload=r.payload)
                    for r in records
                ]
                if points:
                    self._client.upsert(target, points, wait=True)
                if offset is None:
                    break

    def _current(self) -> str | None:
        with server_errors():
            aliases = self._client.get_aliases().aliases
        return next((a.collection_name for a in aliases if a.alias_name == self._alias), None)

    def _names(self) -> list[str]:
        prefix = f"{self._alias}__v"
        with server_errors():
            collections = self._client.get_collections().collections
        return sorted(c.name for c in collections if c.name.startswith(prefix))

    def _describe(self, name: str, current: str | None) -> IndexVersion:
        with server_errors():
            facts = self._client.get_collection(name).config.metadata or {}
        return IndexVersion(
            name=name,
            created_at=datetime.fromisoformat(facts["created_at"]),
            points=collection.count(self._client, name, _EVERYTHING),
            current=name == current,
            embedding_model=facts["embedding_model"],
            dimensions=facts["dimensions"],
        )

    def _create(self, embedding_model: str, dimensions: int) -> str:
        taken = [int(name.rpartition("v")[2]) for name in self._names()]
        name = f"{self._alias}__v{max(taken, default=0) + 1:06d}"
        with server_errors():
            self._client.create_collection(
                name,
                vectors_config={
                    schema.DENSE: models.VectorParams(
                        size=dimensions, distance=models.Distance.COSINE
                    )
                },
                sparse_vectors_config={
                    schema.SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)
                },
                quantization_config=_INT8 if self._layout.quantized else None,
                shard_number=self._layout.shards,
                replication_factor=self._layout.replicas,
                write_consistency_factor=self._layout.write_consistency,
                metadata={
                    "created_at": datetime.now(UTC).isoformat(),
                    "embedding_model": embedding_model,
                    "dimensions": dimensions,
                },
            )
            self._create_payload_indexes(name)
        return name

    def _create_payload_indexes(self, name: str) -> None:
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        self._client.create_payload_index(name, schema.TENANT_FIELD, tenant)
        for field in schema.KEYWORD_FIELDS:
            self._client.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD)
        for field in schema.INTEGER_FIELDS:
            self._client.create_payload_index(name, field, models.PayloadSchemaType.INTEGER)

    def _point_to(self, name: str) -> None:
        """Swing the alias: removal and creation in one call, which the server applies as one."""
        create = models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=name, alias_name=self._alias)
        )
        remove = models.DeleteAliasOperation(
            delete_alias=models.DeleteAlias(alias_name=self._alias)
        )
        with server_errors():
            self._client.update_collection_aliases(
                [remove, create] if self._current() is not None else [create]
            )

    def _prune(self) -> None:
        current = self._current()
        for name in self._names()[: -self._keep]:
            if name != current:
                self._client.delete_collection(name)
