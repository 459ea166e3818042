"""One home and one book, ingested through the real flow in this process."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from postgres import Databases

from askbook.models import ChunkFilter, Mode
from askbook.settings import load_settings
from askbook.store import documents, jobs
from flows.repair import reconcile
from flows.run import parts_for

TIMES = {"created_at", "updated_at", "embedded_at"}
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class Library:
    """One home and one book, ingested through the Prefect flow in this process."""

    def __init__(self, book: Path, monkeypatch: pytest.MonkeyPatch, databases: Databases) -> None:
        self.book = book
        self.set = lambda name, value: monkeypatch.setenv(f"ASKBOOK_{name}", str(value))
        self._database_of: defaultdict[Path, str] = defaultdict(databases.fresh)
        self.live_in(load_settings().home)

    def live_in(self, home: Path) -> None:
        """Use this home and its database from now on."""
        self.set("HOME", home)
        self.set("DATABASE_URL", self._database_of[home])

    def ingest(self, mode: Mode = Mode.INCREMENTAL, *, force: bool = False):
        from flows.ingest import ingest

        report = ingest(book_dir=str(self.book), book_id="book", mode=mode, force=force)
        self.check_invariants()  # after every run that ends well
        return report

    @property
    def parts(self):
        return parts_for(load_settings())

    @property
    def texts(self) -> set[str]:
        return {
            str(c.payload["text"]) for c in self.parts.index.scroll(ChunkFilter(book_id="book"))
        }

    @property
    def version(self) -> str | None:
        return next((v.name for v in self.parts.index.versions() if v.current), None)

    @property
    def last_job(self) -> jobs.Job:
        with self.parts.database.begin() as connection:
            return jobs.recent(connection, limit=1)[0]

    def job_states(self) -> list[str]:
        """Newest first."""
        with self.parts.database.begin() as connection:
            return [job.status for job in jobs.recent(connection)]

    def documents(self):
        with self.parts.database.begin() as connection:
            return documents.of_book(connection, "book"), documents.total_of(connection, "book")

    def check_invariants(self) -> None:
        """Seed 004: totals are sums, recorded ids exist, the chain is whole, no orphans."""
        known, total = self.documents()
        assert total == sum(document.chunk_count for document in known)
        held = {each.id: each.payload for each in self.chunks}
        recorded = [chunk_id for document in known for chunk_id in document.chunk_ids]
        assert sorted(recorded) == sorted(held)  # all recorded ids exist, none else, none twice
        for document in known:
            ids = document.chunk_ids
            lesson = [held[chunk_id] for chunk_id in ids]
            assert [each["chunk_index"] for each in lesson] == list(range(len(ids)))
            assert [each["prev_chunk_id"] for each in lesson] == [None, *ids][: len(ids)]
            assert [each["next_chunk_id"] for each in lesson] == [*ids[1:], None][: len(ids)]
            assert {each["total_chunks"] for each in lesson} <= {len(ids)}
            assert {each["source_file"] for each in lesson} <= {document.file_path}
            assert {each["source_file_hash"] for each in lesson} <= {document.content_hash}
        assert reconcile(self.parts, "book", repair=False) == []

    @property
    def chunks(self):
        return list(self.parts.index.scroll(ChunkFilter(book_id="book"), with_vectors=True))

    def snapshot(self):
        """All of the index and of the state but times: two runs that did the same are equal."""
        index = {
            each.id: ({k: v for k, v in each.payload.items() if k not in TIMES}, each.vector)
            for each in self.chunks
        }
        known, total = self.documents()
        return index, [replace(d, last_indexed_at=NEVER) for d in known], total

    def edit(self, name: Path | str, old: str, new: str) -> None:
        path = self.book / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
