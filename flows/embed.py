"""Stage 4: a vector for every chunk of one shard, made only where none is known yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from askbook.book.tokens import count_tokens
from askbook.models import ChunkFilter
from askbook.ports import Vectors
from askbook.providers.batching import embed_in_batches
from flows import progress
from flows.checkpoints import Checkpoints
from flows.run import RunSpec
from flows.tables import rows_of, vectors_schema

_LOOKUP = 256  # hashes a lookup in the index
EMBEDDED, REUSED = "embedded", "reused"


@dataclass(frozen=True, slots=True)
class EmbedCounts:
    """What one shard needed: vectors made and taken over, tokens sent to the embedder."""

    embedded: int
    reused: int
    tokens: int


def embed(spec: RunSpec, checkpoints: Checkpoints, chunks_part: str) -> EmbedCounts:
    """Write the vectors of one chunks part.

    Every batch is a part of its own, so that a killed run never pays for a batch twice.
    """
    shard = chunks_part.removeprefix("chunks-")
    texts = checkpoints.read(chunks_part, ["embedded_hash", "embedded_text"])
    wanted = dict(rows_of(texts, ["embedded_hash", "embedded_text"]))
    sink = _Sink(checkpoints, shard, spec.parts.embedder.dimensions)
    made = sink.cross_off(wanted)
    made[REUSED] += _reuse_from_index(spec, wanted, sink)
    made[REUSED] += _reuse_from_unfinished(checkpoints, wanted, sink)
    progress.advance(progress.EMBEDDED, texts.num_rows - len(wanted))
    tokens = sum(count_tokens(text) for text in wanted.values())
    made[EMBEDDED] += len(wanted)
    if wanted:
        _embed_missing(spec, wanted, sink)
    return EmbedCounts(made[EMBEDDED], made[REUSED], tokens)


def _embed_missing(spec: RunSpec, wanted: dict[str, str], sink: _Sink) -> None:
    by_text = {text: key for key, text in wanted.items()}

    def keep(batch: list[str], vectors: Vectors) -> None:
        sink.write([by_text[text] for text in batch], vectors, EMBEDDED)
        progress.advance(progress.EMBEDDED, len(batch))

    spec.parts.portal.call(embed_in_batches, spec.parts.embedder, list(by_text), keep)


class _Sink:
    """Writes one shard's vectors, part after part; knows those of an earlier, killed run."""

    def __init__(self, checkpoints: Checkpoints, shard: str, dimensions: int) -> None:
        self._checkpoints = checkpoints
        self._prefix = f"vectors-{shard}-"
        self._schema = vectors_schema(dimensions)
        left = checkpoints.usable_parts(self._prefix)
        self._next = int(left[-1].removeprefix(self._prefix)) + 1 if left else 0

    def cross_off(self, wanted: dict[str, str]) -> dict[str, int]:
        """Take what is already written out of `wanted`; returns how many, by origin."""
        made = {EMBEDDED: 0, REUSED: 0}
        for table in self._checkpoints.read_all(self._prefix, ["embedded_hash", "origin"]):
            for key, origin in rows_of(table, ["embedded_hash", "origin"]):
                if wanted.pop(key, None) is not None:
                    made[origin] += 1
        return made

    def write(
        self, keys: Sequence[str], vectors: Vectors | Sequence[list[float]], origin: str
    ) -> None:
        """One more part."""
        now = datetime.now(UTC)
        columns = [list(keys), list(vectors), [now] * len(keys), [origin] * len(keys)]
        arrays = [pa.array(c, type=f.type) for c, f in zip(columns, self._schema, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        self._checkpoints.write(f"{self._prefix}{self._next:04d}", table)
        self._next += 1


def _reuse_from_index(spec: RunSpec, wanted: dict[str, str], sink: _Sink) -> int:
    """Take vectors of exactly these texts from the published index, and cross them off."""
    found: dict[str, list[float]] = {}
    keys = list(wanted)
    for start in range(0, len(keys), _LOOKUP):
        where = ChunkFilter(embedded_hashes=tuple(keys[start : start + _LOOKUP]))
        for stored in spec.parts.index.scroll(where, with_vectors=True):
            if stored.vector is not None:
                found[str(stored.payload["embedded_hash"])] = stored.vector
    return _take(found, wanted, sink)


def _reuse_from_unfinished(checkpoints: Checkpoints, wanted: dict[str, str], sink: _Sink) -> int:
    """Take vectors that a run which never ended has already paid for."""
    found: dict[str, list[float]] = {}
    for run in checkpoints.siblings() if wanted else ():
        if run.is_complete:
            continue
        for part in run.usable_parts("vectors-"):
            keys = run.read(part, ["embedded_hash"])["embedded_hash"].to_pylist()
            if not wanted.keys().isdisjoint(keys):
                rows = rows_of(run.read(part), ["embedded_hash", "vector"])
                found |= {key: vector for key, vector in rows if key in wanted}
    return _take(found, wanted, sink)


def _take(found: dict[str, list[float]], wanted: dict[str, str], sink: _Sink) -> int:
    if found:
        sink.write(list(found), list(found.values()), REUSED)
        for key in found:
            del wanted[key]
    return len(found)
