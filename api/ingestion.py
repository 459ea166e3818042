"""Ingestion jobs over HTTP (seed 004), for the admin: start the Prefect deployment, follow it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal  # a report is whatever JSON the run wrote
from uuid import UUID

import anyio.to_thread
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, QueryParameter
from pydantic import BaseModel, Field

from api.auth import admin_guard
from api.errors import Refused, problems
from api.fields import Asked, BookId
from api.prefect import Prefect
from askbook.models import Mode
from askbook.store import documents, jobs
from askbook.wiring import Parts

_PATIENCE: Final = timedelta(minutes=1)  # for a job that was never handed to Prefect
_LOST: Final = "It was never handed to Prefect. Start it again."


class IngestRequest(Asked):
    """Which book to index again, and how."""

    book_id: BookId | None = Field(None, description="Which book; the server's own if left out.")
    mode: Literal["incremental", "full", "recreate"] = Field(
        "incremental", description="What changed; every file again; or the whole index anew."
    )
    force: bool = Field(
        default=False, description="Go on although more files vanished than the guard allows."
    )


class JobProgress(BaseModel):
    """How far a running job is."""

    percent: float = Field(ge=0, le=100, description="0 to 100.")
    description: str = Field(description="What is done, counted.")


class IngestionJob(BaseModel):
    """One run, whichever way it was started."""

    job_id: int = Field(description="Number of the job.")
    book_id: str = Field(description="Book being ingested.")
    mode: Literal["incremental", "full", "recreate"] = Field(description="How.")
    status: Literal["queued", "running", "completed", "failed"] = Field(description="How it is.")
    files_processed: int = Field(description="Files that were indexed.")
    files_skipped: int = Field(description="Files that were unchanged or quarantined.")
    chunks_created: int = Field(description="New chunks.")
    chunks_deleted: int = Field(description="Chunks that are gone.")
    started_at: datetime | None = Field(description="When it began to run.")
    completed_at: datetime | None = Field(description="When it ended.")
    duration_seconds: int | None = Field(description="How long it ran.")
    error_message: str | None = Field(description="Why it failed.")
    queued_at: datetime | None = Field(description="When it was asked for over HTTP.")
    flow_run_id: UUID | None = Field(description="Its run in Prefect, where HTTP started it.")
    progress: JobProgress | None = Field(description="While it runs.")
    report: dict[str, Any] = Field(description="What the run wrote: files, chunks, seconds, cost.")


class Jobs(BaseModel):
    """The last jobs."""

    jobs: list[IngestionJob] = Field(description="Newest first.")
    prefect_pages: str | None = Field(description="Address of Prefect's own pages, if known.")


_ASKED = Body(examples=[Example(summary="What changed", value={"mode": "incremental"})])


@post(
    "/api/ingest",
    status_code=202,
    guards=[admin_guard],
    responses=problems(400, 401, 403, 404, 409, 413, 422, 503),
)
async def start_ingest(
    data: Annotated[IngestRequest, _ASKED],
    parts: NamedDependency[Parts],
    prefect: NamedDependency[Prefect],
) -> Response[IngestionJob]:
    """Start an ingest through the Prefect deployment; the job says how it goes."""
    book_id = data.book_id or parts.settings.book_id
    book_dir = await anyio.to_thread.run_sync(_folder_of, parts, book_id)
    await _refuse_second(parts, prefect, book_id)
    deployment = await prefect.ingest_deployment()
    job_id = await anyio.to_thread.run_sync(_queue, parts, book_id, Mode(data.mode))
    parameters = {
        "book_dir": book_dir, "book_id": book_id, "mode": data.mode, "force": data.force,
    }  # fmt: skip
    try:
        flow_run_id = await prefect.start(deployment, parameters)
    except Refused as error:
        await anyio.to_thread.run_sync(_fail, parts, job_id, error.detail)
        raise
    await anyio.to_thread.run_sync(_tie, parts, job_id, flow_run_id)
    job = await _job(parts, prefect, job_id)
    return Response(job, headers={"Location": f"/api/ingest/jobs/{job_id}"})


@get("/api/ingest/jobs", guards=[admin_guard], responses=problems(401, 403, 422, 503))
async def list_jobs(
    parts: NamedDependency[Parts],
    prefect: NamedDependency[Prefect],
    book_id: Annotated[
        str | None, QueryParameter(max_length=100, description="Only this book.")
    ] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=100, description="Most jobs wanted.")] = 20,
) -> Jobs:
    """The last jobs, newest first."""
    found = await anyio.to_thread.run_sync(_recent, parts, book_id, limit)
    return Jobs(jobs=[_out(job, None) for job in found], prefect_pages=prefect.pages)


@get("/api/ingest/jobs/{job_id:int}", guards=[admin_guard], responses=problems(401, 403, 404, 503))
async def read_job(
    job_id: FromPath[int], parts: NamedDependency[Parts], prefect: NamedDependency[Prefect]
) -> IngestionJob:
    """One job, with its progress while it runs."""
    return await _job(parts, prefect, job_id)


async def _job(parts: Parts, prefect: Prefect, job_id: int) -> IngestionJob:
    job = await anyio.to_thread.run_sync(_read, parts, job_id)
    if await _is_over(parts, prefect, job):
        job = await anyio.to_thread.run_sync(_read, parts, job_id)
    progress: JobProgress | None = None
    if job.status == "running" and job.flow_run_id is not None:
        try:
            shown = await prefect.progress_of(job.flow_run_id)
        except Refused:
            shown = None  # the job is still worth showing without it
        if shown is not None:
            progress = JobProgress(percent=shown.percent, description=shown.description)
    return _out(job, progress)


async def _refuse_second(parts: Parts, prefect: Prefect, book_id: str) -> None:
    for job in await anyio.to_thread.run_sync(_active, parts, book_id):
        if not await _is_over(parts, prefect, job):
            raise Refused(
                HTTPStatus.CONFLICT,
                f"Job {job.job_id} of {book_id!r} is {job.status}. Wait for it, then try again.",
                {"Location": f"/api/ingest/jobs/{job.job_id}"},
            )


async def _is_over(parts: Parts, prefect: Prefect, job: jobs.Job) -> bool:
    """Whether a job that looks alive is dead: then it is marked as failed."""
    if job.status not in {"queued", "running"}:
        return False
    if job.flow_run_id is not None:
        try:
            reason = await prefect.failure_of(job.flow_run_id)
        except Refused:
            return False
    elif job.status == "queued":
        waited = datetime.now(UTC) - (job.queued_at or datetime.now(UTC))
        reason = _LOST if waited > _PATIENCE else None
    else:
        return not await anyio.to_thread.run_sync(_is_locked, parts, job.book_id)
    if reason is not None:
        await anyio.to_thread.run_sync(_fail, parts, job.job_id, reason)
    return reason is not None


def _folder_of(parts: Parts, book_id: str) -> str:
    """Only folders that an operator chose: over HTTP nobody names one."""
    with parts.database.begin() as connection:
        known = {book.book_id: book.book_dir for book in documents.books(connection)}
    if book_id in known:
        return known[book_id]
    if book_id == parts.settings.book_id:
        return str(parts.settings.book_dir.resolve())
    raise Refused(
        HTTPStatus.NOT_FOUND,
        f"The book {book_id!r} is not known. Ingest it once with `askbook ingest`.",
    )


def _queue(parts: Parts, book_id: str, mode: Mode) -> int:
    database = parts.database
    with database.hold_lock(f"askbook:queue:{book_id}") as got, database.begin() as connection:
        waiting = [job for job in jobs.active(connection, book_id) if job.status == "queued"]
        if got and not waiting:
            return jobs.queue(connection, book_id, mode)
    raise Refused(HTTPStatus.CONFLICT, f"Another job of {book_id!r} was started just now.")


def _tie(parts: Parts, job_id: int, flow_run_id: UUID) -> None:
    with parts.database.begin() as connection:
        jobs.note_flow_run(connection, job_id, flow_run_id)


def _fail(parts: Parts, job_id: int, reason: str) -> None:
    with parts.database.begin() as connection:
        jobs.fail(connection, job_id, reason)


def _active(parts: Parts, book_id: str) -> list[jobs.Job]:
    with parts.database.begin() as connection:
        return jobs.active(connection, book_id)


def _recent(parts: Parts, book_id: str | None, limit: int) -> list[jobs.Job]:
    with parts.database.begin() as connection:
        return jobs.recent(connection, book_id=book_id, limit=limit)


def _read(parts: Parts, job_id: int) -> jobs.Job:
    with parts.database.begin() as connection:
        job = jobs.get(connection, job_id) if job_id < 2**31 else None
    if job is None:
        raise Refused(HTTPStatus.NOT_FOUND, f"There is no job {job_id}.")
    return job


def _is_locked(parts: Parts, book_id: str) -> bool:
    """Whether a run holds the book's lock, as every run does."""
    with parts.database.hold_lock(f"askbook:ingest:{book_id}") as got:
        return not got


def _out(job: jobs.Job, progress: JobProgress | None) -> IngestionJob:
    seconds = job.duration_seconds
    return IngestionJob(
        job_id=job.job_id,
        book_id=job.book_id,
        mode=job.mode,
        status=job.status,
        files_processed=job.files_processed,
        files_skipped=job.files_skipped,
        chunks_created=job.chunks_created,
        chunks_deleted=job.chunks_deleted,
        started_at=job.started_at,
        completed_at=job.completed_at,
        duration_seconds=None if seconds is None else round(seconds),
        error_message=job.error_message,
        queued_at=job.queued_at,
        flow_run_id=job.flow_run_id,
        progress=progress,
        report=job.report,
    )
