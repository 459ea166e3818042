"""The flow of a file: discover → diff → chunk → embed → upsert → record.

    askbook ingest BOOK_DIR --book-id NAME        from the command line
    prefect deployment run ingest/ingest          from a Prefect server with a worker

The body is the picture above, one call per stage. Stages pass the names of Parquet checkpoints,
never the data; every checkpoint passes a quality gate before the next stage reads it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any  # the report is JSON

import pyarrow as pa
from prefect import flow, get_run_logger, task, unmapped
from prefect.futures import PrefectFutureList, wait

from askbook.models import Mode
from askbook.ports import IndexDraft
from askbook.settings import load_settings
from askbook.store import jobs
from flows import artifacts, memory, progress
from flows.checkpoints import Checkpoints
from flows.chunk import chunk
from flows.embed import EmbedCounts, embed
from flows.expectations import GateResult
from flows.gate_process import gatekeeper
from flows.gates import gate, index_gate
from flows.planned import Planned, note_plan, note_result, write_plan, write_survey
from flows.planning import record_nothing
from flows.promotion import judge, require
from flows.record import record, settle
from flows.run import Report, RunSpec, job
from flows.upsert import Published, upsert
from flows.workers import workers

_REFRESH_SECONDS = 1.0  # between two looks at the progress


def _told(seen: GateResult) -> GateResult:
    """Write a line about a gate that was passed into the task's log."""
    get_run_logger().info(seen.summary())
    return seen


@task(name="discover", task_run_name="discover")
def discover_files(spec: RunSpec) -> tuple[Checkpoints, GateResult]:
    """Walk, hash and locate every file of the book."""
    surveyed = write_survey(spec)
    return surveyed, _told(gate(spec, "files", surveyed, "files"))


@task(name="diff", task_run_name="diff")
def make_plan(spec: RunSpec, surveyed: Checkpoints) -> tuple[Planned, GateResult]:
    """Compare the folder with what is indexed, and stop if too much of it vanished."""
    planned = write_plan(spec, surveyed)
    return planned, _told(gate(spec, "plan", planned.checkpoints, "plan"))


@task(name="chunk", task_run_name="chunk-{shard}")
def chunk_shard(spec: RunSpec, checkpoints: Checkpoints, shard: str) -> tuple[str, GateResult]:
    """Cut one shard of files."""
    part = chunk(spec, checkpoints, shard)
    return part, _told(gate(spec, "chunks", checkpoints, part))


def _embed_name(parameters: dict[str, Any]) -> str:
    return str(parameters["part"]).replace("chunks", "embed")


@task(name="embed", task_run_name=_embed_name)  # type: ignore[arg-type]  # a class, it thinks
def embed_shard(
    spec: RunSpec, checkpoints: Checkpoints, part: str
) -> tuple[EmbedCounts, GateResult]:
    """A vector for every chunk of one shard."""
    counts = embed(spec, checkpoints, part)
    return counts, _told(gate(spec, "embeddings", checkpoints, part))


@task(name="upsert", task_run_name="upsert")
def publish(
    spec: RunSpec, checkpoints: Checkpoints, parts: list[str], job_id: int
) -> tuple[Published, GateResult]:
    """Build, verify and publish the next version of the index."""
    seen: list[GateResult] = []

    def may_publish(counts: pa.Table, built_anew: IndexDraft | None) -> None:
        seen.append(index_gate(spec, counts))
        if built_anew is not None and (verdict := judge(spec, built_anew)) is not None:
            artifacts.promotion(verdict, force=spec.force)
            require(verdict, force=spec.force)
        with spec.parts.database.begin() as connection:
            jobs.check_ours(connection, job_id)

    published = upsert(spec, checkpoints, parts, may_publish)
    return published, _told(seen[0])


@task(name="record", task_run_name="record")
def record_run(spec: RunSpec, checkpoints: Checkpoints, parts: list[str], report: Report) -> None:
    """Tell PostgreSQL what the published index holds."""
    record(spec, checkpoints, parts, report)


@flow(name="ingest", flow_run_name="{book_id}-{mode}")
def ingest(
    book_dir: str, book_id: str, mode: Mode = Mode.INCREMENTAL, *, force: bool = False
) -> dict[str, Any]:
    """Index what changed in a book.

    Args:
        book_dir: Folder of the book's .md and .mdx files.
        book_id: Name of the book in the index.
        mode: incremental (what changed), full (every file again) or recreate (build it anew).
        force: Go on although more files vanished than the guard allows, or a new index is worse.
    """
    spec = RunSpec(load_settings().anchored(), Path(book_dir), book_id, mode, force)
    gatekeeper()  # starts to import while the book is read
    memory.give_back()
    gates: list[GateResult] = []
    with job(spec) as report, artifacts.shown(spec, report, gates) as shown:
        for found in settle(spec, report):
            get_run_logger().warning("Mended: %s: %s", found.source_file, found.problem)
        with report.timed("discover"):
            surveyed, seen = discover_files(spec)
            gates.append(seen)
        with report.timed("diff"):
            planned, seen = make_plan(spec, surveyed)
            gates.append(seen)
        note_plan(report, surveyed, planned)
        artifacts.plan(planned)
        if planned.is_empty:
            record_nothing(spec, report)
        else:
            _index(spec, planned, report, gates, shown)
    return asdict(report)


def _index(
    spec: RunSpec,
    planned: Planned,
    report: Report,
    gates: list[GateResult],
    shown: artifacts.Progress,
) -> None:
    """Chunk, embed, publish and record the planned files."""
    checkpoints = planned.checkpoints
    same = {"spec": unmapped(spec), "checkpoints": unmapped(checkpoints)}
    with workers(spec.settings) as runner:
        with report.timed("chunk"):
            progress.expect(progress.CUT, planned.to_index)
            cut = runner.map(chunk_shard, {**same, "shard": list(planned.shards)})
            parts = _collect(cut, gates, shown)
        with report.timed("embed"):
            progress.expect(progress.EMBEDDED, sum(seen.checked for _, seen in cut.result()))
            made = runner.map(embed_shard, {**same, "part": parts})
            counts = _collect(made, gates, shown)
    with report.timed("upsert"):
        published, seen = publish(spec, checkpoints, parts, report.job_id)
        gates.append(seen)
    note_result(spec, report, published, counts)
    with report.timed("record"):
        record_run(spec, checkpoints, parts, report)


def _collect(
    futures: PrefectFutureList[tuple[Any, GateResult]],
    gates: list[GateResult],
    shown: artifacts.Progress,
) -> list[Any]:
    """The shards' results in order; the progress artifact moves while they are made."""
    while wait(list(futures), timeout=_REFRESH_SECONDS).not_done:
        shown.refresh()
    shown.refresh()
    results = futures.result()
    gates += [seen for _, seen in results]
    return [value for value, _ in results]
