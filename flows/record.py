"""Stage 6: tell PostgreSQL what the published index holds. Only after it is verified."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy import Connection

from askbook.models import Action, Document, Lesson
from askbook.store import documents, jobs
from flows.checkpoints import Checkpoints, prune
from flows.repair import Finding, reconcile_book
from flows.run import Report, RunSpec
from flows.tables import lessons_from_table, plan_from_table, rows_of


def record(spec: RunSpec, checkpoints: Checkpoints, parts: Sequence[str], report: Report) -> None:
    """Documents, the book's state and the job row, in one transaction; then the checkpoint."""
    now = datetime.now(UTC)
    indexed = [
        _document(spec, lesson, ids, now)
        for part in parts
        for lesson, ids in _shard(checkpoints, part)
    ]
    gone = [
        file.known_file_path or file.source_file
        for file in plan_from_table(checkpoints.read("plan"))
        if file.action in {Action.DELETED, Action.MOVED}
    ]
    report.status = "completed"
    with spec.parts.database.begin() as connection:
        jobs.check_ours(connection, report.job_id)
        documents.forget(connection, spec.book_id, gone)
        documents.save(connection, indexed)
        _note_run(spec, connection, now)
        jobs.complete(connection, report.job_id, asdict(report))
    checkpoints.mark_complete()
    prune(checkpoints, spec.settings.keep_checkpoints)


def settle(spec: RunSpec, report: Report) -> list[Finding]:
    """After a run that broke off, make PostgreSQL say what the index really holds.

    A run that was killed between publishing and recording leaves chunks that nobody knows of.
    """
    with spec.parts.database.begin() as connection:
        if jobs.ended_well(connection, spec.book_id, before=report.job_id):
            return []
    found = reconcile_book(spec.parts, spec.book_id)
    if found:
        with spec.parts.database.begin() as connection:
            _note_run(spec, connection, datetime.now(UTC))
    return found


def _note_run(spec: RunSpec, connection: Connection, now: datetime) -> None:
    documents.update_state(
        connection,
        book_id=spec.book_id,
        collection=spec.settings.collection,
        book_dir=str(spec.book_dir.resolve()),
        mode=spec.mode,
        at=now,
    )


def _shard(checkpoints: Checkpoints, part: str) -> list[tuple[Lesson, list[str]]]:
    """One shard's lessons with the ids of their chunks, in order."""
    ids: dict[str, list[str]] = defaultdict(list)
    columns = ["source_file", "id"]
    for source_file, chunk_id in rows_of(checkpoints.read(part, columns), columns):
        ids[source_file].append(chunk_id)
    lessons = lessons_from_table(checkpoints.read(part.replace("chunks-", "files-")))
    return [(lesson, ids[lesson.source_file]) for lesson in lessons]


def _document(spec: RunSpec, lesson: Lesson, ids: list[str], now: datetime) -> Document:
    return Document(
        book_id=spec.book_id,
        file_path=lesson.source_file,
        content_hash=lesson.source_file_hash,
        chunk_ids=tuple(ids),
        module=lesson.module,
        chapter=lesson.chapter,
        lesson=lesson.lesson,
        location=lesson.location,
        embedding_model=spec.parts.embedder.model,
        chunker=spec.chunker,
        last_indexed_at=now,
    )
