"""Stage 5: build the next version of the index, verify it by counting, publish it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from askbook.errors import IndexFault
from askbook.models import Action, ChunkFilter, IndexPoint, Mode
from askbook.ports import IndexDraft
from flows.checkpoints import Checkpoints
from flows.diff import Plan
from flows.run import RunSpec


@dataclass(frozen=True, slots=True)
class Published:
    """What a run put into the index."""

    version: str
    created: int
    deleted: int
    total: int
    ids_by_file: dict[str, list[str]]


def upsert(spec: RunSpec, plan: Plan, checkpoints: Checkpoints, parts: Sequence[str]) -> Published:
    """Write all chunks of the run, remove what they replace, publish: all of it or nothing."""
    embedder, book = spec.parts.embedder, ChunkFilter(book_id=spec.book_id)
    anew = spec.mode is Mode.RECREATE or _model_changed(plan, embedder.model)
    before = {chunk_id for step in plan.steps if step.known for chunk_id in step.known.chunk_ids}
    kept = {
        chunk_id
        for step in plan.of(Action.UNCHANGED, Action.QUARANTINED)
        if step.known
        for chunk_id in step.known.chunk_ids
    }
    ids_by_file: dict[str, list[str]] = {}
    with spec.parts.index.build(
        embedding_model=embedder.model,
        dimensions=embedder.dimensions,
        without_book=spec.book_id if anew else None,
    ) as draft:
        for part in parts:
            _upsert_part(spec, checkpoints, part, draft, ids_by_file)
        now_held = {each for ids in ids_by_file.values() for each in ids}
        stale = before - now_held - kept
        draft.delete(sorted(stale))
        total = draft.count(book)
        _verify(total, expected=len(now_held | (set() if anew else kept)))
        version = draft.publish()
    return Published(version, len(now_held - before), len(stale), total, ids_by_file)


def _model_changed(plan: Plan, model: str) -> bool:
    return any(s.known is not None and s.known.embedding_model != model for s in plan.to_index)


def _upsert_part(
    spec: RunSpec,
    checkpoints: Checkpoints,
    part: str,
    draft: IndexDraft,
    ids_by_file: dict[str, list[str]],
) -> None:
    records = checkpoints.read(part).to_pylist()
    for record in records:
        ids_by_file.setdefault(record["source_file"], []).append(record["id"])
    draft.upsert(_points(spec, records, _vectors(checkpoints, part)))


def _vectors(checkpoints: Checkpoints, part: str) -> dict[str, tuple[list[float], datetime]]:
    shard = part.removeprefix("chunks-")
    return {
        row["embedded_hash"]: (row["vector"], row["embedded_at"])
        for table in checkpoints.read_all(f"vectors-{shard}-")
        for row in table.to_pylist()
    }


def _points(
    spec: RunSpec,
    records: Sequence[dict[str, object]],
    vectors: dict[str, tuple[list[float], datetime]],
) -> Iterator[IndexPoint]:
    """Points with their payload; a chunk that was there before keeps its time of creation."""
    now = datetime.now(UTC).isoformat()
    model = spec.parts.embedder.model
    chunker = spec.chunker
    stored = spec.parts.index.retrieve([str(record["id"]) for record in records])
    before = {each.id: each.payload for each in stored}
    for record in records:
        vector, embedded_at = vectors[str(record["embedded_hash"])]
        payload = {k: v for k, v in record.items() if k not in {"id", "embedded_text"}}
        old = before.get(str(record["id"]), {})
        payload |= {
            "embedding_model": model,
            "embedded_at": old.get("embedded_at", embedded_at.isoformat()),
            "chunker": chunker,
            "version": int(str(old.get("version", 0))) + 1,
            "created_at": old.get("created_at", now),
            "updated_at": now,
        }
        yield IndexPoint(str(record["id"]), vector, str(record["embedded_text"]), payload)


def _verify(found: int, *, expected: int) -> None:
    if found != expected:
        raise IndexFault(
            f"The new index version holds {found} chunks of this book instead of {expected}. "
            "It was not published. Run `askbook ingest --mode recreate`."
        )
