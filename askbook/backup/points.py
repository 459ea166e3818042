"""The index as Parquet: through the port, so that any engine can save and any can restore."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any  # payloads are JSON

import pyarrow as pa
import pyarrow.parquet as pq

from askbook.models import IndexPoint, StoredChunk, WordWeights

_BATCH = 2048  # points held in memory at a time


def _schema(dimensions: int) -> pa.Schema:
    return pa.schema(
        [
            ("id", pa.string()),
            ("vector", pa.list_(pa.float32(), dimensions)),
            ("word_indices", pa.list_(pa.uint32())),
            ("word_weights", pa.list_(pa.float32())),
            ("payload", pa.string()),  # JSON: a restored payload is the same to the last key
        ]
    )


def save(chunks: Iterable[StoredChunk], dimensions: int, path: Path) -> int:
    """Write all chunks, which come with vectors and words; returns how many there were."""
    schema = _schema(dimensions)
    total = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        left = iter(chunks)
        while batch := list(islice(left, _BATCH)):
            writer.write_table(pa.Table.from_pylist([_row(chunk) for chunk in batch], schema))
            total += len(batch)
    return total


def load(member: IO[bytes]) -> Iterator[IndexPoint]:
    """The points as they were saved."""
    for batch in pq.ParquetFile(member).iter_batches(_BATCH):
        for row in batch.to_pylist():
            words = WordWeights(row["word_indices"], row["word_weights"])
            yield IndexPoint(row["id"], row["vector"], "", json.loads(row["payload"]), words)


def _row(chunk: StoredChunk) -> dict[str, Any]:
    return {
        "id": chunk.id,
        "vector": chunk.vector,
        "word_indices": chunk.words.indices if chunk.words else [],
        "word_weights": chunk.words.values if chunk.words else [],
        "payload": json.dumps(chunk.payload, ensure_ascii=False),
    }
