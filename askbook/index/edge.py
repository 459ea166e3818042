"""The Qdrant engine in process (Qdrant Edge), with published versions.

Published versions are made with the write-ahead log off, so that any number of processes can
open one. Opening rewrites a few files with the same bytes; nothing else ever touches them.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import qdrant_edge as engine

from askbook.errors import IndexFault
from askbook.index import edge_shard as shards
from askbook.index import integrity, schema, space
from askbook.index.compatible import check_model
from askbook.index.edge_draft import EdgeDraft
from askbook.index.edge_shard import WORDS
from askbook.index.filters import to_engine
from askbook.index.versions import VersionFolder
from askbook.models import ChunkFilter, Hit, IndexVersion, StoredChunk
from askbook.ports import Vectors

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
        return shards.search(shard, self._bm25, vector, text, where, limit, prefetch)

    def retrieve(self, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredChunk]:
        """The chunks with these ids; unknown ids are left out."""
        shard = self._shard()
        if shard is None or not ids:
            return []
        records = shard.retrieve(list(ids), True, [schema.DENSE] if with_vectors else False)  # noqa: FBT003
        return [shards.stored(record) for record in records]

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
            yield from map(shards.stored, records)
            if offset is None:
                return

    def count(self, where: ChunkFilter) -> int:
        """Exact number of chunks that fit."""
        shard = self._shard()
        return 0 if shard is None else shards.count(shard, where)

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many chunks carry each value of an indexed keyword field."""
        shard = self._shard()
        return {} if shard is None else shards.facets(shard, key, where)

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


def _told(name: str, damage: str) -> str:
    return (
        f"Index version {name} is damaged: {damage}. `askbook rollback` goes back to the version "
        "before it, `askbook ingest` then brings newer files in again; or restore a backup."
    )
