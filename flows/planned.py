"""The first two stages as a run does them: survey and plan as checkpoints, and their counts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from askbook.index.compatible import check_model
from askbook.models import ChunkFilter
from flows.checkpoints import Checkpoints
from flows.diff import Plan
from flows.embed import EmbedCounts
from flows.gate_process import SURVEYS
from flows.planning import plan_from, survey
from flows.run import Report, RunSpec
from flows.tables import lessons_to_table, plan_to_table, survey_from_table, survey_to_table
from flows.upsert import Published

# Files a shard: few enough to bound memory, many enough that a shard's gates, which cost as much
# for ten rows as for a thousand, stay a small part of the work.
SHARD_FILES = 128


@dataclass(frozen=True, slots=True)
class Planned:
    """Where a run's plan lies, and what is small enough to pass on."""

    checkpoints: Checkpoints
    shards: tuple[str, ...]
    files: dict[str, int]
    to_index: int
    chunks_before: int
    is_empty: bool


def write_survey(spec: RunSpec) -> Checkpoints:
    """Stage 1: what the folder holds. One run a book at a time."""
    checkpoints = Checkpoints(f"{spec.settings.checkpoint_root}/{SURVEYS}/{spec.book_id}")
    checkpoints.write("files", survey_to_table(survey(spec)))
    return checkpoints


def write_plan(spec: RunSpec, surveyed: Checkpoints) -> Planned:
    """Stage 2: the plan, and the lessons of each shard."""
    plan = plan_from(spec, survey_from_table(surveyed.read("files")))
    if plan.to_index:
        _check_model(spec)
    checkpoints = Checkpoints(
        f"{spec.settings.checkpoint_root}/{spec.book_id}/{_fingerprint(spec, plan)}"
    )
    lessons = [step.lesson for step in plan.to_index if step.lesson is not None]
    shards = []
    for start in range(0, len(lessons), SHARD_FILES):
        shards.append(f"{start // SHARD_FILES:04d}")
        table = lessons_to_table(lessons[start : start + SHARD_FILES])
        checkpoints.write(f"files-{shards[-1]}", table)
    checkpoints.write("plan", plan_to_table(plan))
    before = sum(step.known.chunk_count for step in plan.steps if step.known)
    return Planned(checkpoints, tuple(shards), plan.counts, len(lessons), before, plan.is_empty)


def _check_model(spec: RunSpec) -> None:
    """Refuse a model that the index cannot take beside other books', before a text is paid for."""
    index, embedder = spec.parts.index, spec.parts.embedder
    current = next((version for version in index.versions() if version.current), None)
    if current is None or current.embedding_model == embedder.model:
        return
    if set(index.facets("book_id", ChunkFilter())) - {spec.book_id}:
        check_model(current, embedder.model, embedder.dimensions)


def note_plan(report: Report, surveyed: Checkpoints, planned: Planned) -> None:
    """Put the plan's counts and the quarantined files into the run's report."""
    report.files = planned.files
    report.chunks["total"] = planned.chunks_before
    found = survey_from_table(surveyed.read("files"))
    report.quarantined = [asdict(each) for each in found.quarantined]


def note_result(
    spec: RunSpec, report: Report, published: Published, counts: Sequence[EmbedCounts]
) -> None:
    """Put what was published, embedded and paid into the run's report."""
    tokens = sum(each.tokens for each in counts)
    report.index_version = published.version
    report.chunks = {
        "total": published.total,
        "created": published.created,
        "deleted": published.deleted,
        "embedded": sum(each.embedded for each in counts),
        "reused": sum(each.reused for each in counts),
    }
    price = spec.parts.embedder.limits.usd_per_million_tokens
    report.cost = {"tokens": tokens, "usd": round(tokens * price / 1e6, 6)}


def _fingerprint(spec: RunSpec, plan: Plan) -> str:
    """The same for two runs that do exactly the same work."""
    embedder = spec.parts.embedder
    work = [spec.chunker, embedder.model, str(embedder.dimensions), spec.mode.value]
    for step in plan.steps:
        if step.lesson is not None:
            lesson = step.lesson
            work += [step.action, step.source_file, lesson.source_file_hash, lesson.location]
        else:
            work += [step.action, step.source_file]
    return hashlib.sha256("\0".join(work).encode()).hexdigest()[:16]
