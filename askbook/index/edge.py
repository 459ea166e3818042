"""The Qdrant engine in process (Qdrant Edge), with published versions.

Published versions are made with the write-ahead log off, so that any number of processes can
open one. Opening rewrites a few files with the same bytes; nothing else ever touches them.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import qdrant_edge as engine

from askbook.errors import IndexFault
from askbook.index import integrity, schema, space
from askbook.index.compatible import check_model
from askbook.index.filters import Vocabulary, to_engine
from askbook.index.versions import VersionFolder
from askbook.models import ChunkFilter, Hit, IndexPoint, IndexVersion, StoredChunk, WordWeights
from askbook.ports import Vectors

WORDS = Vocabulary(
    filter=engine.Filter,
    field=engine.FieldCondition,
    value=engine.MatchValue,
    any=engine.MatchAny,
    range=engine.RangeFloat,
)
_EVERYTHING = ChunkFilter()
_PLAIN = schema.Layout()
_log = logging.getLogger("askbook.index")


@dataclass(frozen=True, slots=True)
class _Opened:
    """A version in use. Kept alive by the searches that still run on it."""

    name: str
    shard: engine.EdgeShard


class EdgeIndex:
    """A collection in a folder, readable by many processes, published by one at a time."""

    def __init__(
        self, folder: Path, *, keep_versions: int = 3, layout: schema.Layout = _PLAIN
    ) -> None:
        self._layout = layout
        self._folder = VersionFolder(folder)
        self._keep = keep_versions
        self._bm25 = engine.Bm25()
        self._opened: _Opened | None = None
        self._seen: tuple[int, int] | None = None
        self._problem: str | None = None
        self._opening = threading.Lock()

    def search(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> list[Hit]:
        """Dense and BM25 search fused by the engine (DBSF), best first."""
        shard = self._shard()
        if shard is None:
            return []
        return _search(shard, self._bm25, vector, text, where, limit, prefetch)

    def retrieve(self, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredChunk]:
        """The chunks with these ids; unknown ids are left out."""
        shard = self._shard()
        if shard is None or not ids:
            return []
        records = shard.retrieve(list(ids), True, [schema.DENSE] if with_vectors else False)  # noqa: FBT003
        return [_stored(record) for record in records]

    def scroll(
        self, where: ChunkFilter, *, with_vectors: bool = False, with_words: bool = False
    ) -> Iterator[StoredChunk]:
        """Every chunk that fits, page by page."""
        wanted = schema.vectors_wanted(with_vectors=with_vectors, with_words=with_words)
        shard = self._shard()
        offset = None
        while shard is not None:
            records, offset = shard.scroll(
                engine.ScrollRequest(
                    offset=offset,
                    limit=schema.SCROLL_PAGE,
                    filter=to_engine(where, WORDS),
                    with_payload=True,
                    with_vector=wanted,
                )
            )
            yield from map(_stored, records)
            if offset is None:
                return

    def count(self, where: ChunkFilter) -> int:
        """Exact number of chunks that fit."""
        shard = self._shard()
        return 0 if shard is None else _count(shard, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many chunks carry each value of an indexed keyword field."""
        shard = self._shard()
        return {} if shard is None else _facets(shard, key, where)

    def versions(self) -> list[IndexVersion]:
        """Every version kept, newest first."""
        kept = []
        for name in reversed(self._folder.names()):
            with suppress(IndexFault):  # nobody can be sent there; `problem` tells of it
                kept.append(self._folder.describe(name))
        return kept

    def problem(self) -> str | None:
        """Why readers do not see the published version, if they do not."""
        try:
            self._shard()
        except IndexFault as error:
            return str(error)
        return self._problem

    def rollback(self, name: str | None = None) -> str:
        """Send readers back to `name`, or to the version before the current one."""
        with self._folder.lock():
            if name is None:
                current = self._folder.current() or ""
                older = [each for each in self._folder.names() if each < current]
                if not older:
                    raise IndexFault("There is no older index version to go back to.")
                name = older[-1]
            self._folder.point_to(name)
        return name

    @contextmanager
    def build(
        self,
        *,
        embedding_model: str,
        dimensions: int,
        without_book: str | None = None,
        empty: bool = False,
    ) -> Iterator[EdgeDraft]:
        """A draft of the current version, under the collection's lock until it is published."""
        with self._folder.lock():
            base = None if empty else self._base(embedding_model, dimensions, without_book)
            path = self._folder.new_draft(base)
            draft = EdgeDraft(
                self._folder,
                path,
                embedding_model=embedding_model,
                dimensions=dimensions,
                made=None if base is not None else self._layout,
                bm25=self._bm25,
            )
            try:
                if base is not None and without_book is not None:
                    draft.delete_book(without_book)
                yield draft
            finally:
                draft.close()
                shutil.rmtree(path, ignore_errors=True)
            self._folder.prune(self._keep)

    def _base(self, embedding_model: str, dimensions: int, without_book: str | None) -> str | None:
        """The version to start from; none where nothing of it could stay."""
        name = self._folder.current()
        if name is None:
            return None
        if without_book is not None and set(self.facets("book_id", _EVERYTHING)) <= {without_book}:
            return None
        if damage := self._folder.damage(name):  # a copy would be taken for whole
            raise IndexFault(_told(name, damage))
        check_model(self._folder.describe(name), embedding_model, dimensions)
        space.require(
            self._folder.root, integrity.allocated(self._folder.path(name)), "a copy of the index"
        )
        return name

    def _shard(self) -> engine.EdgeShard | None:
        """The current version, reopened when CURRENT was swung since the last call."""
        seen = self._folder.signature()
        if seen != self._seen:
            with self._opening:
                self._reopen(seen)
        return self._opened.shard if self._opened else None

    def _reopen(self, seen: tuple[int, int] | None) -> None:
        for _ in range(10):  # a version may be pruned between reading its name and opening it
            name = self._folder.current()
            self._problem = None
            if name is None:
                self._opened = None
            elif self._opened is None or self._opened.name != name:
                try:
                    self._opened = self._load(name)
                except IndexFault as error:
                    if self._folder.current() != name:
                        continue
                    self._opened = self._opened or self._load_older(name, error)
                    self._problem = f"{error} Readers are served {self._opened.name}."
                    _log.error("%s", self._problem)
            self._seen = seen
            return

    def _load(self, name: str) -> _Opened:
        """Check a version to the last byte and open it."""
        if damage := self._folder.damage(name):
            raise IndexFault(_told(name, damage))
        try:
            return _Opened(name, engine.EdgeShard.load(str(self._folder.path(name))))
        except Exception as error:  # the engine raises bare Exceptions
            raise IndexFault(_told(name, str(error))) from error

    def _load_older(self, name: str, fault: IndexFault) -> _Opened:
        """The newest whole version before a damaged one; the fault itself where there is none."""
        for older in reversed([each for each in self._folder.names() if each < name]):
            with suppress(IndexFault):
                return self._load(older)
        raise fault


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
            engine.EdgeShard.load(str(path)) if made is None else _create(path, dimensions, made)
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
        return _search(self._open, self._bm25, vector, text, where, limit, prefetch)

    def count(self, where: ChunkFilter) -> int:
        """Exact number of points the draft holds."""
        return _count(self._open, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many points of the draft carry each value of an indexed keyword field."""
        return _facets(self._open, key, where)

    def publish(self) -> str:
        """Flush, close, rename, swing CURRENT; returns the version's name."""
        space.require(self._path, integrity.allocated(self._path), "putting the index in order")
        self._open.optimize()
        points = _count(self._open, _EVERYTHING)
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


def _told(name: str, damage: str) -> str:
    return (
        f"Index version {name} is damaged: {damage}. `askbook rollback` goes back to the version "
        "before it, `askbook ingest` then brings newer files in again; or restore a backup."
    )


def _create(path: Path, dimensions: int, layout: schema.Layout) -> engine.EdgeShard:
    int8 = engine.ScalarQuantizationConfig(engine.ScalarType.Int8, memory=engine.Memory.Cached)
    dense = engine.EdgeVectorParams(
        size=dimensions,
        distance=engine.Distance.Cosine,
        quantization_config=int8 if layout.quantized else None,
    )
    sparse = engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)
    shard = engine.EdgeShard.create(
        str(path),
        engine.EdgeConfig(
            vectors={schema.DENSE: dense},
            sparse_vectors={schema.SPARSE: sparse},
            wal_enabled=False,
        ),
    )
    fields: list[tuple[str, engine.PayloadSchemaType | engine.PayloadSchemaParams]] = [
        (schema.TENANT_FIELD, engine.KeywordIndexParams(is_tenant=True)),
        *((name, engine.PayloadSchemaType.Keyword) for name in schema.KEYWORD_FIELDS),
        *((name, engine.PayloadSchemaType.Integer) for name in schema.INTEGER_FIELDS),
    ]
    for name, kind in fields:
        shard.update(engine.UpdateOperation.create_field_index(name, kind))
    return shard


def _search(  # noqa: PLR0917 - the arguments of `search`, and where
    shard: engine.EdgeShard,
    bm25: engine.Bm25,
    vector: Vectors,
    text: str,
    where: ChunkFilter,
    limit: int,
    prefetch: int,
) -> list[Hit]:
    condition = to_engine(where, WORDS)
    dense = engine.Query.Nearest(vector.tolist(), using=schema.DENSE)
    sparse = engine.Query.Nearest(bm25.embed_query(text), using=schema.SPARSE)
    found = shard.query(
        engine.QueryRequest(
            limit=limit,
            prefetches=[
                engine.Prefetch(limit=prefetch, query=dense, filter=condition),
                engine.Prefetch(limit=prefetch, query=sparse, filter=condition),
            ],
            query=engine.Fusion.Dbsf(),  # type: ignore[arg-type]  # the stub forgot its parent
            with_payload=True,
            with_vector=[schema.DENSE],
        )
    )
    return [
        Hit(
            id=str(point.id),
            score=min(max(point.score / 2, 0.0), 1.0),  # DBSF adds two scores of about 0 to 1
            similarity=float(np.dot(_dense(point.vector), vector)),
            payload=point.payload or {},
        )
        for point in found
    ]


def _count(shard: engine.EdgeShard, where: ChunkFilter) -> int:
    return shard.count(engine.CountRequest(exact=True, filter=to_engine(where, WORDS)))


def _facets(shard: engine.EdgeShard, key: str, where: ChunkFilter) -> dict[str, int]:
    condition = to_engine(where, WORDS)
    limit = schema.MOST_FACETS
    hits = shard.facet(engine.FacetRequest(key, limit=limit, exact=True, filter=condition))
    return {str(hit.value): hit.count for hit in hits}


def _dense(vector: object) -> list[float]:
    return vector.get(schema.DENSE, []) if isinstance(vector, dict) else []


def _stored(record: engine.Record) -> StoredChunk:
    vector = _dense(record.vector) or None
    sparse = record.vector.get(schema.SPARSE) if isinstance(record.vector, dict) else None
    words = (
        WordWeights(sparse.indices, sparse.values)
        if isinstance(sparse, engine.SparseVector)
        else None
    )
    return StoredChunk(str(record.id), record.payload or {}, vector, words)
