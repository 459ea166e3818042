"""Texts in, a searchable index out: the chunker, embedder and engine that production uses."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np

from askbook.book.chunk import chunk_lesson
from askbook.book.presets import PRESETS
from askbook.index.edge import EdgeIndex
from askbook.models import Chunk, ChunkFilter, ChunkSettings, Hit, IndexPoint, Lesson
from askbook.ports import Embedder, Vectors

WHOLE = "whole"
_EVERYTHING = ChunkFilter()


@dataclass(frozen=True, slots=True)
class Text:
    """A document to be found: its title may be empty."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document as it is indexed: code points [start, end) of the document."""

    document: str
    embedded_text: str
    start: int
    end: int


def cut(texts: Iterable[Text], size: str) -> list[Passage]:
    """Return the passages of all texts: a preset's, those of N tokens (a number), or whole."""
    settings = None if size == WHOLE else settings_of(size)
    return [passage for text in texts for passage in _passages(text, settings)]


def settings_of(size: str) -> ChunkSettings:
    """Return a preset, or one of N tokens with the proportions of `compact`."""
    if size in PRESETS:
        return PRESETS[size]
    if not size.isdecimal() or int(size) < 1:
        raise ValueError(f"{size!r} is no chunk size; use {', '.join(PRESETS)}, {WHOLE} or tokens")
    tokens = int(size)
    return ChunkSettings(size, tokens, tokens * 32 // 25, tokens // 4)


def _passages(text: Text, settings: ChunkSettings | None) -> list[Passage]:
    chunks = chunk_lesson(text.text, _lesson(text), settings) if settings else []
    if not chunks:
        titled = f"{text.title}\n\n{text.text}" if text.title else text.text
        return [Passage(text.id, titled, 0, len(text.text))]
    return [_passage(text, chunk) for chunk in chunks]


def _passage(text: Text, chunk: Chunk) -> Passage:
    return Passage(text.id, chunk.embedded_text, chunk.start_char_offset, chunk.end_char_offset)


def _lesson(text: Text) -> Lesson:
    return Lesson(
        book_id="benchmark",
        source_file=text.id,
        source_file_hash="",
        module="",
        chapter=0,
        lesson=0,
        chapter_id=text.id,
        chapter_title=text.title,
        title_is_written=bool(text.title),
        location=text.id,
    )


class CachedVectors:
    """An embedder whose vectors are kept in a file, by model and exact text."""

    def __init__(self, embedder: Embedder, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._file = file
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, v BLOB)")

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._embedder.dimensions

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per passage, in order."""
        return self._vectors("passage", texts, self._embedder.embed_passages)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per question, in order."""

        async def embed(batch: Sequence[str]) -> Vectors:
            return np.stack([await self._embedder.embed_query(text) for text in batch])

        return self._vectors("query", texts, embed)

    def _vectors(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Awaitable[Vectors]]
    ) -> Vectors:
        keys = [self._key(kind, text) for text in texts]
        with closing(sqlite3.connect(self._file, timeout=60)) as database:
            known: dict[bytes, bytes] = dict(database.execute("SELECT key, v FROM vectors"))
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            for batch in _batches(list(new), self._embedder.limits.texts):
                rows = anyio.run(embed, [new[key] for key in batch])
                known |= {key: row.tobytes() for key, row in zip(batch, rows, strict=True)}
                with database:
                    database.executemany(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                        [(key, known[key]) for key in batch],
                    )
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256(f"{kind}\0{self.model}\0{text}".encode()).digest()


def _batches(keys: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


@contextmanager
def indexed(passages: Sequence[Passage], vectors: CachedVectors) -> Iterator[EdgeIndex]:
    """Index the passages in a folder that is gone afterwards; a hit's payload tells its number."""
    rows = vectors.passages([passage.embedded_text for passage in passages])
    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder) / "index")
        with index.build(embedding_model=vectors.model, dimensions=vectors.dimensions) as draft:
            draft.upsert(
                IndexPoint(
                    id=str(uuid.UUID(int=number)),
                    vector=row.tolist(),
                    lexical_text=passage.embedded_text,
                    payload={"number": number},
                )
                for number, (passage, row) in enumerate(zip(passages, rows, strict=True))
            )
            draft.publish()
        yield index


def search(
    index: EdgeIndex,
    passages: Sequence[Passage],
    queries: Mapping[str, str],
    vectors: CachedVectors,
    *,
    prefetch: int,
) -> dict[str, list[Passage]]:
    """Return for each query all passages that fusion saw, best first."""
    rows = vectors.queries(list(queries.values()))
    return {
        query: [
            passages[_number(hit)]
            for hit in index.search(row, text, _EVERYTHING, 2 * prefetch, prefetch)
        ]
        for row, (query, text) in zip(rows, queries.items(), strict=True)
    }


def _number(hit: Hit) -> int:
    number = hit.payload["number"]
    if not isinstance(number, int):
        raise TypeError(f"Passage {hit.id} has lost its number.")
    return number
