"""A Qdrant server or cluster: the public name is an alias, versions are collections behind it.

An incremental draft writes to the live collection (new points first, stale ones deleted after,
which is the caller's order); a `fresh` draft is a collection of its own until the alias swings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx
import numpy as np
import qdrant_edge
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from askbook.errors import IndexDown, IndexFault
from askbook.index import schema
from askbook.index.compatible import check_model
from askbook.index.filters import Vocabulary, to_engine
from askbook.models import ChunkFilter, Hit, IndexPoint, IndexVersion, StoredChunk, WordWeights
from askbook.ports import Vectors

_WORDS = Vocabulary(
    filter=models.Filter,
    field=models.FieldCondition,
    value=models.MatchValue,
    any=models.MatchAny,
    range=models.Range,
)
_EVERYTHING = ChunkFilter()
_PLAIN = schema.Layout()
_INT8 = models.ScalarQuantization(
    scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
)


@contextmanager
def _server_errors() -> Iterator[None]:
    """The client's errors in our own words; only a server that is away may be retried."""
    try:
        yield
    except (ResponseHandlingException, httpx.TransportError) as error:
        raise IndexDown(f"The Qdrant server does not answer: {error}") from error
    except UnexpectedResponse as error:
        raise IndexFault(f"The Qdrant server refused: {error}") from error


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
        return _search(self._client, self._alias, self._bm25, vector, text, where, limit, prefetch)

    def retrieve(self, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredChunk]:
        """The chunks with these ids; unknown ids are left out."""
        if not ids or self._current() is None:
            return []
        with _server_errors():
            records = self._client.retrieve(
                self._alias,
                list(ids),
                with_payload=True,
                with_vectors=[schema.DENSE] if with_vectors else False,
            )
        return [_stored(record) for record in records]

    def scroll(
        self, where: ChunkFilter, *, with_vectors: bool = False, with_words: bool = False
    ) -> Iterator[StoredChunk]:
        """Every chunk that fits, page by page."""
        wanted = schema.vectors_wanted(with_vectors=with_vectors, with_words=with_words)
        if self._current() is None:
            return
        offset = None
        while True:
            with _server_errors():
                records, offset = self._client.scroll(
                    self._alias,
                    scroll_filter=to_engine(where, _WORDS),
                    limit=schema.SCROLL_PAGE,
                    offset=offset,
                    with_payload=True,
                    with_vectors=wanted,
                )
            yield from map(_stored, records)
            if offset is None:
                return

    def count(self, where: ChunkFilter) -> int:
        """Exact number of chunks that fit."""
        current = self._current()
        return 0 if current is None else _count(self._client, current, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many chunks carry each value of an indexed keyword field."""
        current = self._current()
        return {} if current is None else _facets(self._client, current, key, where)

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
                    scroll_filter=to_engine(ChunkFilter(book_id=book_id), _WORDS),
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
        with _server_errors():
            aliases = self._client.get_aliases().aliases
        return next((a.collection_name for a in aliases if a.alias_name == self._alias), None)

    def _names(self) -> list[str]:
        prefix = f"{self._alias}__v"
        with _server_errors():
            collections = self._client.get_collections().collections
        return sorted(c.name for c in collections if c.name.startswith(prefix))

    def _describe(self, name: str, current: str | None) -> IndexVersion:
        with _server_errors():
            facts = self._client.get_collection(name).config.metadata or {}
        return IndexVersion(
            name=name,
            created_at=datetime.fromisoformat(facts["created_at"]),
            points=_count(self._client, name, _EVERYTHING),
            current=name == current,
            embedding_model=facts["embedding_model"],
            dimensions=facts["dimensions"],
        )

    def _create(self, embedding_model: str, dimensions: int) -> str:
        taken = [int(name.rpartition("v")[2]) for name in self._names()]
        name = f"{self._alias}__v{max(taken, default=0) + 1:06d}"
        with _server_errors():
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
        with _server_errors():
            self._client.update_collection_aliases(
                [remove, create] if self._current() is not None else [create]
            )

    def _prune(self) -> None:
        current = self._current()
        for name in self._names()[: -self._keep]:
            if name != current:
                self._client.delete_collection(name)


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
            with _server_errors():
                self._client.delete(self._name, models.PointIdsList(points=list(ids)), wait=True)

    def search(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> list[Hit]:
        """As readers would find it, were this draft published."""
        return _search(self._client, self._name, self._bm25, vector, text, where, limit, prefetch)

    def count(self, where: ChunkFilter) -> int:
        """Exact number of points the collection holds."""
        return _count(self._client, self._name, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many points carry each value of an indexed keyword field."""
        return _facets(self._client, self._name, key, where)

    def publish(self) -> str:
        """Send readers to this collection; returns its name."""
        self._swing()
        return self._name

    def _send(self, batch: list[models.PointStruct]) -> None:
        with _server_errors():
            self._client.upsert(self._name, batch, wait=True)

    def _point(self, point: IndexPoint) -> models.PointStruct:
        # A server may apply the valid half of a batch that it answers with 400: check before.
        if len(point.vector) != self._dimensions:
            raise IndexFault(
                f"Chunk {point.id} has a vector of {len(point.vector)} numbers; "
                f"this index takes {self._dimensions}."
            )
        sparse = _sparse(point.words or self._bm25.embed_document(point.lexical_text))
        return models.PointStruct(
            id=point.id,
            vector={schema.DENSE: point.vector, schema.SPARSE: sparse},
            payload=dict(point.payload),
        )


def _search(  # noqa: PLR0917 - the arguments of `search`, and where
    client: QdrantClient,
    name: str,
    bm25: qdrant_edge.Bm25,
    vector: Vectors,
    text: str,
    where: ChunkFilter,
    limit: int,
    prefetch: int,
) -> list[Hit]:
    condition = to_engine(where, _WORDS)
    sparse = _sparse(bm25.embed_query(text))
    dense = vector.tolist()
    with _server_errors():
        found = client.query_points(
            name,
            prefetch=[
                models.Prefetch(query=dense, using=schema.DENSE, limit=prefetch, filter=condition),
                models.Prefetch(
                    query=sparse, using=schema.SPARSE, limit=prefetch, filter=condition
                ),
            ],
            query=models.FusionQuery(fusion=models.Fusion.DBSF),
            limit=limit,
            with_payload=True,
            with_vectors=[schema.DENSE],
        )
    return [
        Hit(
            id=str(point.id),
            score=min(max(point.score / 2, 0.0), 1.0),  # DBSF adds two scores of about 0 to 1
            similarity=float(np.dot(_dense(point.vector), vector)),
            payload=point.payload or {},
        )
        for point in found.points
    ]


def _count(client: QdrantClient, name: str, where: ChunkFilter) -> int:
    with _server_errors():
        return client.count(name, count_filter=to_engine(where, _WORDS), exact=True).count


def _facets(client: QdrantClient, name: str, key: str, where: ChunkFilter) -> dict[str, int]:
    condition = to_engine(where, _WORDS)
    with _server_errors():
        found = client.facet(
            name, key=key, facet_filter=condition, limit=schema.MOST_FACETS, exact=True
        )
    return {str(hit.value): hit.count for hit in found.hits}


def _sparse(vector: qdrant_edge.SparseVector | WordWeights) -> models.SparseVector:
    return models.SparseVector(indices=vector.indices, values=vector.values)


def _dense(vector: object) -> list[float]:
    return vector.get(schema.DENSE, []) if isinstance(vector, dict) else []


def _stored(record: models.Record) -> StoredChunk:
    vector = _dense(record.vector) or None
    sparse = record.vector.get(schema.SPARSE) if isinstance(record.vector, dict) else None
    words = (
        WordWeights(sparse.indices, sparse.values)
        if isinstance(sparse, models.SparseVector)
        else None
    )
    return StoredChunk(str(record.id), record.payload or {}, vector, words)
