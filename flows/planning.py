"""What does the folder hold, what is to be done? Without Prefect, and without Parquet.

`askbook ingest` asks this first: on an unchanged book it answers without starting Prefect.
"""

from __future__ import annotations

from dataclasses import asdict

from askbook.book.walk import Globs
from askbook.store import documents, jobs
from flows.diff import Plan, diff, guard_deletions
from flows.discover import Survey, discover
from flows.run import Report, RunSpec, job


def plan_now(spec: RunSpec) -> Plan:
    """Read the folder and compare it with what is indexed. Changes nothing."""
    with spec.opening_database():
        found = survey(spec)
    return plan_from(spec, found)


def survey(spec: RunSpec) -> Survey:
    """Walk, hash and locate every file of the book."""
    return discover(
        spec.book_dir,
        spec.book_id,
        globs=Globs(spec.settings.include, spec.settings.exclude),
        max_bytes=spec.settings.max_file_bytes,
    )


def plan_from(spec: RunSpec, found: Survey) -> Plan:
    """The plan for a folder that was read; raises where the deletion guard would stop a run."""
    with spec.parts.database.begin() as connection:
        known = documents.of_book(connection, spec.book_id)
    plan = diff(
        found,
        known,
        mode=spec.mode,
        embedding_model=spec.parts.embedder.model,
        chunker=spec.chunker,
    )
    if not spec.force:
        guard_deletions(plan, known=len(known), max_share=spec.settings.max_deleted_share)
    return plan


def nothing_to_do(spec: RunSpec, plan: Plan) -> bool:
    """Whether the plan is empty and can be trusted: a run that broke off may have published."""
    if not plan.is_empty:
        return False
    with spec.parts.database.begin() as connection:
        return jobs.ended_well(connection, spec.book_id)


def record_nothing_to_do(spec: RunSpec, plan: Plan) -> Report:
    """The whole run for an unchanged book: a job row that says so."""
    with job(spec) as report:
        report.files = plan.counts
        report.quarantined = [asdict(each) for each in plan.quarantined]
        report.chunks["total"] = sum(s.known.chunk_count for s in plan.steps if s.known)
        record_nothing(spec, report)
    return report


def record_nothing(spec: RunSpec, report: Report) -> None:
    """The end of a run that had nothing to do: only its job row."""
    report.status = "completed"
    with spec.parts.database.begin() as connection:
        jobs.complete(connection, report.job_id, asdict(report))
