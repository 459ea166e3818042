"""Stage 4: a vector for every chunk of one shard, made only where none is known yet."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import anyio
import numpy as np
import pyarrow as pa

from askbook.models import ChunkFilter
from askbook.providers.batching import batches, embed_batch
from flows.checkpoints import Checkpoints, vectors_schema
from flows.run import RunSpec

_LOOKUP = 256  # hashes a lookup in the index


def embed(spec: RunSpec, checkpoints: Checkpoints, chunks_part: str) -> dict[str, int]:
    """Write the vectors of one chunks part; returns how many were embedded and reused.

    Every batch is a part of its own, so that a killed run never pays for a batch twice.
    """
    shard = chunks_part.removeprefix("chunks-")
    table = checkpoints.read(chunks_part).select(["embedded_hash", "embedded_text"])
    wanted = dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
    done = list(checkpoints.read_all(f"vectors-{shard}-"))
    for vectors in done:
        for key in vectors["embedded_hash"].to_pylist():
            wanted.pop(key, None)
    sink = _Sink(checkpoints, shard, spec.parts.embedder.dimensions, parts=len(done))
    _reuse(spec, wanted, sink)
    anyio.run(_embed, spec, wanted, sink)
    return _origins(checkpoints, shard)


class _Sink:
    """Writes one shard's vectors, part after part."""

    def __init__(self, checkpoints: Checkpoints, shard: str, dimensions: int, parts: int) -> None:
        self._checkpoints = checkpoints
        self._shard = shard
        self._schema = vectors_schema(dimensions)
        self._parts = parts

    def write(self, keys: list[str], vectors: Iterable[object], origin: str) -> None:
        now = datetime.now(UTC)
        columns = [keys, list(vectors), [now] * len(keys), [origin] * len(keys)]
        table = pa.table(
            [pa.array(c, type=f.type) for c, f in zip(columns, self._schema, strict=True)],
            schema=self._schema,
        )
        self._checkpoints.write(f"vectors-{self._shard}-{self._parts:04d}", table)
        self._parts += 1


def _reuse(spec: RunSpec, wanted: dict[str, str], sink: _Sink) -> None:
    """Take vectors of exactly these texts from the index, and cross them off."""
    found: dict[str, list[float]] = {}
    keys = list(wanted)
    for start in range(0, len(keys), _LOOKUP):
        where = ChunkFilter(embedded_hashes=tuple(keys[start : start + _LOOKUP]))
        for stored in spec.parts.index.scroll(where, with_vectors=True):
            if stored.vector is not None:
                found[str(stored.payload["embedded_hash"])] = stored.vector
    if found:
        sink.write(list(found), found.values(), "reused")
        for key in found:
            del wanted[key]


async def _embed(spec: RunSpec, wanted: dict[str, str], sink: _Sink) -> None:
    embedder = spec.parts.embedder
    by_text = {text: key for key, text in wanted.items()}
    for batch in batches(list(by_text), embedder.limits):
        vectors = await embed_batch(embedder, batch)
        sink.write([by_text[text] for text in batch], np.asarray(vectors), "embedded")


def _origins(checkpoints: Checkpoints, shard: str) -> dict[str, int]:
    counts = {"embedded": 0, "reused": 0}
    for vectors in checkpoints.read_all(f"vectors-{shard}-"):
        for origin in vectors["origin"].to_pylist():
            counts[origin] += 1
    return counts
