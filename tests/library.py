"""One home and one book, ingested through the real flow in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from askbook.models import ChunkFilter, Mode
from askbook.settings import load_settings
from askbook.store import documents, jobs
from flows.repair import reconcile
from flows.run import parts_for


class Library:
    """One home and one book, ingested through the Prefect flow in this process."""

    def __init__(self, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.book = book
        self.set = lambda name, value: monkeypatch.setenv(f"ASKBOOK_{name}", str(value))

    def ingest(self, mode: Mode = Mode.INCREMENTAL, *, force: bool = False):
        from flows.ingest import ingest

        return ingest(book_dir=str(self.book), book_id="book", mode=mode, force=force)

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
        assert total == self.parts.index.count(ChunkFilter(book_id="book"))
        assert reconcile(self.parts, "book", repair=False) == []

    def edit(self, name: Path | str, old: str, new: str) -> None:
        path = self.book / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
