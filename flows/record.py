"""Stage 6: tell PostgreSQL what the published index holds. Only after it is verified."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from askbook.models import Action, Document
from askbook.store import documents, jobs
from flows.diff import Plan
from flows.run import Report, RunSpec


def record(spec: RunSpec, plan: Plan, ids_by_file: dict[str, list[str]], report: Report) -> None:
    """Documents, the book's state and the job row, in one transaction."""
    now = datetime.now(UTC)
    report.status = "completed"
    with spec.parts.database.begin() as connection:
        gone = [s.source_file for s in plan.of(Action.DELETED)]
        gone += [s.known.file_path for s in plan.of(Action.MOVED) if s.known]
        documents.forget(connection, spec.book_id, gone)
        documents.save(connection, _indexed(spec, plan, ids_by_file, now))
        if not plan.is_empty:
            documents.update_state(
                connection,
                book_id=spec.book_id,
                collection=spec.settings.collection,
                book_dir=str(spec.book_dir.resolve()),
                mode=spec.mode,
                at=now,
            )
        jobs.complete(connection, report.job_id, asdict(report))


def _indexed(
    spec: RunSpec, plan: Plan, ids_by_file: dict[str, list[str]], now: datetime
) -> list[Document]:
    model = spec.parts.embedder.model
    chunker = spec.chunker
    return [
        Document(
            book_id=spec.book_id,
            file_path=step.source_file,
            content_hash=step.lesson.source_file_hash,
            chunk_ids=tuple(ids_by_file.get(step.source_file, ())),
            module=step.lesson.module,
            chapter=step.lesson.chapter,
            lesson=step.lesson.lesson,
            location=step.lesson.location,
            embedding_model=model,
            chunker=chunker,
            last_indexed_at=now,
        )
        for step in plan.to_index
        if step.lesson is not None
    ]
