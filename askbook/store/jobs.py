"""Every ingest run, whichever way it was started: queued → running → completed | failed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any  # a report is whatever JSON the run wrote
from uuid import UUID

from sqlalchemy import Connection, func, insert, select, update

from askbook.errors import RunRefused
from askbook.models import Mode
from askbook.store.tables import ingestion_jobs as jobs

_ERROR_LENGTH = 4000


@dataclass(frozen=True, slots=True)
class Job:
    """One run: seed 004's fields, and the run's own report."""

    job_id: int
    book_id: str
    mode: str
    status: str
    files_processed: int
    files_skipped: int
    chunks_created: int
    chunks_deleted: int
    started_at: datetime | None
    completed_at: datetime | None
    duration_seconds: float | None
    error_message: str | None
    report: dict[str, Any]
    queued_at: datetime | None = None  # when it was asked for over HTTP
    flow_run_id: UUID | None = None  # the Prefect run that was started for it


def queue(connection: Connection, book_id: str, mode: Mode) -> int:
    """A job that a flow will take up when it starts; returns its id."""
    return int(
        connection.execute(
            insert(jobs)
            .values(book_id=book_id, mode=mode.value, status="queued", queued_at=func.now())
            .returning(jobs.c.job_id)
        ).scalar_one()
    )


def note_flow_run(connection: Connection, job_id: int, flow_run_id: UUID) -> None:
    """Tie a queued job to the Prefect run that will do it."""
    connection.execute(update(jobs).where(jobs.c.job_id == job_id).values(flow_run_id=flow_run_id))


def active(connection: Connection, book_id: str) -> list[Job]:
    """Jobs of a book that are not over, newest first."""
    query = select(jobs).where(jobs.c.book_id == book_id, jobs.c.status.in_(["queued", "running"]))
    rows = connection.execute(query.order_by(jobs.c.job_id.desc()))
    return [Job(**row._mapping) for row in rows]  # noqa: SLF001


def get(connection: Connection, job_id: int) -> Job | None:
    """One job."""
    row = connection.execute(select(jobs).where(jobs.c.job_id == job_id)).one_or_none()
    return Job(**row._mapping) if row else None  # noqa: SLF001


def start(connection: Connection, book_id: str, mode: Mode) -> int:
    """A running job: the oldest one queued for this, or a new one; returns its id."""
    queued = (
        select(jobs.c.job_id)
        .where(jobs.c.book_id == book_id, jobs.c.mode == mode.value, jobs.c.status == "queued")
        .order_by(jobs.c.job_id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    taken = connection.scalar(
        update(jobs)
        .where(jobs.c.job_id == queued)
        .values(status="running", started_at=func.now())
        .returning(jobs.c.job_id)
    )
    if taken is not None:
        return int(taken)
    return int(
        connection.execute(
            insert(jobs)
            .values(book_id=book_id, mode=mode.value, status="running", started_at=func.now())
            .returning(jobs.c.job_id)
        ).scalar_one()
    )


def complete(connection: Connection, job_id: int, report: dict[str, Any]) -> None:
    """The run did what it was asked to; counts come from its report."""
    files, chunks = report["files"], report["chunks"]
    connection.execute(
        update(jobs)
        .where(jobs.c.job_id == job_id)
        .values(
            status="completed",
            files_processed=files["new"] + files["modified"] + files["moved"],
            files_skipped=files["unchanged"] + files["quarantined"],
            chunks_created=chunks["created"],
            chunks_deleted=chunks["deleted"],
            report=report,
            **_ended(),
        )
    )


def check_ours(connection: Connection, job_id: int) -> None:
    """Stop a run whose lock was lost with PostgreSQL's connection and whose work another took."""
    status = connection.scalar(
        select(jobs.c.status).where(jobs.c.job_id == job_id).with_for_update()
    )
    if status != "running":
        raise RunRefused(
            f"Job {job_id} lost its lock and another run took over. Nothing was published by it."
        )


def ended_well(connection: Connection, book_id: str, *, before: int | None = None) -> bool:
    """Whether the book's last run, or the last one before a job, left no doubt behind."""
    query = select(jobs.c.status).where(jobs.c.book_id == book_id)
    if before is not None:
        query = query.where(jobs.c.job_id < before)
    status = connection.scalar(query.order_by(jobs.c.job_id.desc()).limit(1))
    return status in {None, "completed"}


def fail(connection: Connection, job_id: int, reason: str) -> None:
    """The run stopped; the reason is for the operator."""
    connection.execute(
        update(jobs)
        .where(jobs.c.job_id == job_id)
        .values(status="failed", error_message=reason[:_ERROR_LENGTH], **_ended())
    )


def abandon_running(connection: Connection, book_id: str) -> None:
    """Jobs of runs that were killed. Call while holding the book's lock: nobody else runs."""
    connection.execute(
        update(jobs)
        .where(jobs.c.book_id == book_id, jobs.c.status == "running")
        .values(
            status="failed",
            error_message="The run ended without a word (killed?). The next run goes on from it.",
            **_ended(),
        )
    )


def recent(connection: Connection, *, book_id: str | None = None, limit: int = 20) -> list[Job]:
    """The last jobs, newest first."""
    query = select(jobs).order_by(jobs.c.job_id.desc()).limit(limit)
    if book_id is not None:
        query = query.where(jobs.c.book_id == book_id)
    return [Job(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001


def _ended() -> dict[str, Any]:
    seconds = func.extract("epoch", func.clock_timestamp() - jobs.c.started_at)
    return {"completed_at": func.clock_timestamp(), "duration_seconds": seconds}
