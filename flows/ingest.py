"""The flow of a file: discover → diff → chunk → embed → upsert → record.

    askbook ingest BOOK_DIR --book-id NAME        from the command line
    prefect deployment run ingest/ingest          from a Prefect server with a worker

The body is the picture above, one call per stage. Stages pass the names of Parquet checkpoints,
never the data.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import flow, task, unmapped
from prefect.task_runners import ThreadPoolTaskRunner

from askbook.models import Lesson, Mode
from askbook.settings import load_settings
from flows import progress
from flows.checkpoints import Checkpoints
from flows.chunk import chunk
from flows.diff import Plan
from flows.discover import Survey
from flows.embed import embed
from flows.planning import checkpoints_of, note_plan, plan_from, survey
from flows.record import record
from flows.run import Report, RunSpec, job
from flows.upsert import Published, upsert

SHARD_FILES = 32  # files a shard: small enough to bound memory, large enough to be worth a task


@task(name="discover")
def discover_files(spec: RunSpec) -> Survey:
    """Walk, hash and locate every file of the book."""
    return survey(spec)


@task(name="diff")
def make_plan(spec: RunSpec, found: Survey) -> Plan:
    """Compare the folder with what is indexed, and stop if too much of it vanished."""
    return plan_from(spec, found)


@task(name="chunk")
def chunk_shard(spec: RunSpec, checkpoints: Checkpoints, shard: int, lessons: list[Lesson]) -> str:
    """Cut one shard of files."""
    part = chunk(spec, checkpoints, shard, lessons)
    progress.advance("chunk", len(lessons))
    return part


@task(name="embed")
def embed_shard(spec: RunSpec, checkpoints: Checkpoints, part: str) -> dict[str, int]:
    """A vector for every chunk of one shard."""
    counts = embed(spec, checkpoints, part)
    progress.advance("embed", 1)
    return counts


@task(name="upsert")
def publish(spec: RunSpec, plan: Plan, checkpoints: Checkpoints, parts: list[str]) -> Published:
    """Build, verify and publish the next version of the index."""
    return upsert(spec, plan, checkpoints, parts)


@task(name="record")
def record_run(
    spec: RunSpec, plan: Plan, ids_by_file: dict[str, list[str]], report: Report
) -> None:
    """Tell PostgreSQL what the published index holds."""
    record(spec, plan, ids_by_file, report)


@flow(
    name="ingest",
    flow_run_name="{book_id}-{mode}",
    task_runner=ThreadPoolTaskRunner(max_workers=2),  # type: ignore[arg-type]
    validate_parameters=True,
)
def ingest(
    book_dir: str, book_id: str, mode: Mode = Mode.INCREMENTAL, *, force: bool = False
) -> dict[str, Any]:
    """Index what changed in a book.

    Args:
        book_dir: Folder of the book's .md and .mdx files.
        book_id: Name of the book in the index.
        mode: incremental (what changed), full (every file again) or recreate (build it anew).
        force: Go on although more files vanished than the guard allows.
    """
    spec = RunSpec(load_settings(), Path(book_dir), book_id, mode, force)
    with job(spec) as report:
        with report.timed("discover"):
            found = discover_files(spec)
        with report.timed("diff"):
            plan = make_plan(spec, found)
        note_plan(report, plan)
        ids_by_file: dict[str, list[str]] = {}
        if not plan.is_empty:
            ids_by_file = _index(spec, plan, report)
        with report.timed("record"):
            record_run(spec, plan, ids_by_file, report)
    return asdict(report)


def _index(spec: RunSpec, plan: Plan, report: Report) -> dict[str, list[str]]:
    """Chunk, embed and publish the planned files; returns the chunk ids of each."""
    checkpoints = checkpoints_of(spec, plan)
    lessons = [step.lesson for step in plan.to_index if step.lesson is not None]
    shards = [lessons[i : i + SHARD_FILES] for i in range(0, len(lessons), SHARD_FILES)]
    progress.expect("chunk", len(lessons))
    progress.expect("embed", len(shards))
    with report.timed("chunk"):
        cut = chunk_shard.map(
            unmapped(spec), unmapped(checkpoints), list(range(len(shards))), shards
        )
        parts = cut.result()
    with report.timed("embed"):
        counts = embed_shard.map(unmapped(spec), unmapped(checkpoints), parts).result()
    with report.timed("upsert"):
        published = publish(spec, plan, checkpoints, parts)
    report.index_version = published.version
    report.chunks = {
        "total": published.total,
        "created": published.created,
        "deleted": published.deleted,
        "embedded": sum(each["embedded"] for each in counts),
        "reused": sum(each["reused"] for each in counts),
    }
    return published.ids_by_file
