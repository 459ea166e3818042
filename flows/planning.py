"""The first two stages together, without Prefect: what would a run do now?

`askbook ingest` asks this first: on an unchanged book it answers without starting Prefect.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict

from askbook.store import documents
from flows.checkpoints import Checkpoints
from flows.diff import Plan, diff, guard_deletions
from flows.discover import Survey, discover
from flows.record import record
from flows.run import Report, RunSpec, job
from flows.walk import Globs


def plan_now(spec: RunSpec) -> Plan:
    """Read the folder and compare it with what is indexed. Changes nothing."""
    return plan_from(spec, survey(spec))


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


def record_nothing_to_do(spec: RunSpec, plan: Plan) -> Report:
    """The whole run for an unchanged book: a job row that says so."""
    with job(spec) as report:
        note_plan(report, plan)
        record(spec, plan, {}, report)
    return report


def note_plan(report: Report, plan: Plan) -> None:
    """Put the plan's counts and its quarantined files into the run's report."""
    report.files = plan.counts
    report.quarantined = [asdict(each) for each in plan.quarantined]
    kept = plan.steps
    report.chunks["total"] = sum(step.known.chunk_count for step in kept if step.known)


def checkpoints_of(spec: RunSpec, plan: Plan) -> Checkpoints:
    """Where the run that does exactly this work keeps its checkpoints."""
    embedder = spec.parts.embedder
    work = [spec.chunker, embedder.model, str(embedder.dimensions), spec.mode.value]
    for step in plan.to_index:
        if step.lesson is not None:
            work += [step.source_file, step.lesson.source_file_hash, step.lesson.location]
    fingerprint = hashlib.sha256("\0".join(work).encode()).hexdigest()[:16]
    root = spec.settings.home.resolve() / "checkpoints"
    return Checkpoints(f"{root}/{spec.book_id}/{fingerprint}")
