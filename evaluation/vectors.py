"""Vectors that are embedded once and kept in a file, by model and exact text."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import anyio
import numpy as np

from askbook.ports import Embedder, Vectors
from evaluation.watching import watched

_ASKED = 500  # keys looked up at once


class CachedVectors:
    """An embedder whose vectors outlive the run."""

    def __init__(self, embedder: Embedder, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.embedder = embedder
        self._file = file
        with closing(sqlite3.connect(file, timeout=60)) as database, database:
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, v BLOB)")

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.embedder.model

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self.embedder.dimensions

    @property
    def is_free(self) -> bool:
        """Whether embedding costs nothing but time."""
        return self.embedder.limits.usd_per_million_tokens == 0

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per passage, in order."""
        return self._vectors("passage", texts, self.embedder.embed_passages)

    def queries(self, texts: Sequence[str]) -> tuple[Vectors, list[float] | None]:
        """Return one vector per question and the seconds each took.

        A free model is asked again every time, so that its time is known; a paid one is not.
        """
        if not self.is_free:
            return self._vectors("query", texts, self._embed_queries), None
        return anyio.run(self._timed, texts)

    async def _timed(self, texts: Sequence[str]) -> tuple[Vectors, list[float]]:
        rows, seconds = [], []
        for text in texts:
            started = time.perf_counter()
            rows.append(await self.embedder.embed_query(text))
            seconds.append(time.perf_counter() - started)
        return np.stack(rows), seconds

    async def _embed_queries(self, batch: Sequence[str]) -> Vectors:
        return np.stack([await self.embedder.embed_query(text) for text in batch])

    def _vectors(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Awaitable[Vectors]]
    ) -> Vectors:
        keys = [self._key(kind, text) for text in texts]
        with closing(sqlite3.connect(self._file, timeout=60)) as database:
            known = _known(database, keys)
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            batches = list(_batches(list(new), self.embedder.limits.texts))
            for batch in watched(batches, f"embed {len(new)} texts"):
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


def _known(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for batch in _batches(list(dict.fromkeys(keys)), _ASKED):
        marks = ",".join("?" * len(batch))
        rows = database.execute(f"SELECT key, v FROM vectors WHERE key IN ({marks})", batch)  # noqa: S608 - marks
        found.update(rows.fetchall())
    return found


def _batches(keys: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
