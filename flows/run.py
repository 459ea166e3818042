"""What one ingest run is: its parameters, its lock, its job row, its report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from askbook.book.presets import PRESETS, chunker_fingerprint
from askbook.errors import AskbookError, DatabaseDown, RunRefused
from askbook.models import ChunkSettings, Mode
from askbook.settings import Settings
from askbook.store import jobs
from askbook.wiring import Parts


@lru_cache(maxsize=4)
def parts_for(settings: Settings) -> Parts:
    """This process's database, index and embedder: opened once, used by every task."""
    return Parts(settings)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The parameters of a run: small, picklable, the same in every process that works on it."""

    settings: Settings
    book_dir: Path
    book_id: str
    mode: Mode = Mode.INCREMENTAL
    force: bool = False

    @property
    def parts(self) -> Parts:
        """The parts that this run's settings name."""
        return parts_for(self.settings)

    @contextmanager
    def opening_database(self) -> Iterator[None]:
        """Load the driver and start PostgreSQL, both slow, while the block does other work."""
        opening = ThreadPoolExecutor(max_workers=1)
        opened = opening.submit(lambda: self.parts.database)
        try:
            yield
            opened.result()
        finally:
            opening.shutdown()

    @property
    def chunk_settings(self) -> ChunkSettings:
        """How this run cuts chunks."""
        return PRESETS[self.settings.chunk_preset]

    @property
    def chunker(self) -> str:
        """Fingerprint of how this run cuts chunks."""
        return chunker_fingerprint(self.chunk_settings)


@dataclass(slots=True)
class Report:
    """What a run did: the one object `askbook ingest --json` prints."""

    job_id: int
    book_id: str
    mode: str
    status: str = "running"
    files: dict[str, int] = field(default_factory=dict)
    chunks: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("total", "created", "deleted", "embedded", "reused"), 0
        )
    )
    seconds: dict[str, float] = field(default_factory=dict)
    index_version: str | None = None
    cost: dict[str, float] = field(default_factory=lambda: {"tokens": 0, "usd": 0.0})
    quarantined: list[dict[str, object]] = field(default_factory=list)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the block's wall time to the stage's seconds."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = self.seconds.get(stage, 0.0) + time.perf_counter() - started
            self.seconds[stage] = round(spent, 3)


@contextmanager
def job(spec: RunSpec) -> Iterator[Report]:
    """Hold the book's lock and keep the job row true, whatever ends the block."""
    database = spec.parts.database
    with database.hold_lock(f"askbook:ingest:{spec.book_id}") as got:
        if not got:
            raise RunRefused(
                f"Another ingest of {spec.book_id!r} is running. Wait for it, then try again."
            )
        with database.begin() as connection:
            jobs.abandon_running(connection, spec.book_id)
            job_id = jobs.start(connection, spec.book_id, spec.mode)
        report = Report(job_id=job_id, book_id=spec.book_id, mode=spec.mode.value)
        try:
            with report.timed("total"):
                yield report
        except BaseException as error:
            reason = str(error) if isinstance(error, AskbookError) else repr(error)
            # Without PostgreSQL the row stays "running"; the next run finds it so.
            with suppress(DatabaseDown), database.begin() as connection:
                jobs.fail(connection, job_id, reason)
            raise
