"""Stage 5: build the next version of the index, verify it by reading it back, publish it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any  # rows of a checkpoint

import pyarrow as pa

from askbook.models import Action, ChunkFilter, IndexPoint, Mode
from askbook.ports import IndexDraft
from flows.checkpoints import Checkpoints
from flows.run import RunSpec
from flows.tables import INDEX, PlannedFile, plan_from_table, rows_of

_KEPT = (Action.UNCHANGED, Action.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Published:
    """What a run put into the index."""

    version: str
    created: int
    deleted: int
    total: int


def upsert(
    spec: RunSpec,
    checkpoints: Checkpoints,
    parts: Sequence[str],
    gate: Callable[[pa.Table, IndexDraft | None], object],
) -> Published:
    """Write all chunks of the run, remove what they replace, publish: all of it or nothing.

    `gate` gets the draft's chunk counts per file, expected and found, and the draft itself where
    it was built anew, and raises to stop.
    """
    plan = plan_from_table(checkpoints.read("plan"))
    before = {chunk_id for file in plan for chunk_id in file.known_chunk_ids}
    kept = {file for file in plan if file.action in _KEPT}
    kept_ids = {chunk_id for file in kept for chunk_id in file.known_chunk_ids}
    embedder = spec.parts.embedder
    anew = spec.mode is Mode.RECREATE or _model_changed(plan, embedder.model)
    expected = {} if anew else {file.source_file: len(file.known_chunk_ids) for file in kept}
    now_held: set[str] = set()
    with spec.parts.index.build(
        embedding_model=embedder.model,
        dimensions=embedder.dimensions,
        without_book=spec.book_id if anew else None,
    ) as draft:
        for part in parts:
            for source_file, ids in _upsert_part(spec, checkpoints, part, draft).items():
                now_held.update(ids)
                expected[source_file] = len(ids)
        stale = before - now_held - kept_ids
        draft.delete(sorted(stale))
        gate(_read_back(spec, draft, expected), draft if anew else None)
        version = draft.publish()
    return Published(version, len(now_held - before), len(stale), sum(expected.values()))


def _model_changed(plan: Sequence[PlannedFile], model: str) -> bool:
    return any(file.known_embedding_model not in {None, model} for file in plan)


def _upsert_part(
    spec: RunSpec, checkpoints: Checkpoints, part: str, draft: IndexDraft
) -> dict[str, list[str]]:
    """Write one shard; returns its chunk ids per file."""
    records = checkpoints.read(part).to_pylist()
    draft.upsert(_points(spec, records, _vectors(checkpoints, part)))
    ids: dict[str, list[str]] = {}
    for record in records:
        ids.setdefault(record["source_file"], []).append(record["id"])
    return ids


def _read_back(spec: RunSpec, draft: IndexDraft, expected: dict[str, int]) -> pa.Table:
    """Chunks per file of this book, as expected and as the draft holds them."""
    found = draft.facets("source_file", ChunkFilter(book_id=spec.book_id))
    names = sorted(name for name, count in expected.items() if count) + sorted(
        set(found) - set(expected)
    )
    columns = [
        names,
        [expected.get(name, 0) for name in names],
        [found.get(name, 0) for name in names],
    ]
    arrays = [pa.array(c, type=f.type) for c, f in zip(columns, INDEX, strict=True)]
    return pa.Table.from_arrays(arrays, schema=INDEX)


def _vectors(checkpoints: Checkpoints, part: str) -> dict[str, tuple[list[float], datetime]]:
    prefix = f"vectors-{part.removeprefix('chunks-')}-"
    columns = ["embedded_hash", "vector", "embedded_at"]
    return {
        key: (vector, embedded_at)
        for table in checkpoints.read_all(prefix, columns)
        for key, vector, embedded_at in rows_of(table, columns)
    }


def _points(
    spec: RunSpec,
    records: Sequence[dict[str, Any]],
    vectors: dict[str, tuple[list[float], datetime]],
) -> Iterator[IndexPoint]:
    """Points with their payload; a chunk that was there before keeps its time of creation."""
    now = datetime.now(UTC).isoformat()
    stored = spec.parts.index.retrieve([record["id"] for record in records])
    before: dict[str, dict[str, Any]] = {each.id: each.payload for each in stored}
    for record in records:
        vector, embedded_at = vectors[record["embedded_hash"]]
        old = before.get(record["id"], {})
        payload = {k: v for k, v in record.items() if k not in {"id", "embedded_text"}}
        payload |= {
            "embedding_model": spec.parts.embedder.model,
            "embedded_at": old.get("embedded_at", embedded_at.isoformat()),
            "chunker": spec.chunker,
            "version": old.get("version", 0) + 1,
            "created_at": old.get("created_at", now),
            "updated_at": now,
        }
        yield IndexPoint(record["id"], vector, record["embedded_text"], payload)
