"""One shard of the embedded engine: made, searched, counted, read."""

from __future__ import annotations

from pathlib import Path

import qdrant_edge as engine

from askbook.index import schema
from askbook.index.filters import Vocabulary, to_engine
from askbook.index.found import dense, hits
from askbook.models import ChunkFilter, Hit, StoredChunk, WordWeights
from askbook.ports import Vectors

WORDS = Vocabulary(
    filter=engine.Filter,
    field=engine.FieldCondition,
    value=engine.MatchValue,
    any=engine.MatchAny,
    range=engine.RangeFloat,
)


def create(path: Path, dimensions: int, layout: schema.Layout) -> engine.EdgeShard:
    """A shard in an empty folder, with the payload indexes; its write-ahead log is off.

    All of it is mapped, not copied: readers in several processes share the kernel's one copy
    (of 20,000 chunks each needed 62 MB for itself, now 4), and building needs a seventh less.
    """
    mapped = engine.Memory.Cached
    int8 = engine.ScalarQuantizationConfig(engine.ScalarType.Int8, memory=mapped)
    dense = engine.EdgeVectorParams(
        size=dimensions,
        distance=engine.Distance.Cosine,
        quantization_config=int8 if layout.quantized else None,
        memory=mapped,
    )
    sparse = engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf, memory=mapped)
    shard = engine.EdgeShard.create(
        str(path),
        engine.EdgeConfig(
            vectors={schema.DENSE: dense},
            sparse_vectors={schema.SPARSE: sparse},
            wal_enabled=False,
        ),
    )
    fields: list[tuple[str, engine.PayloadSchemaParams]] = [
        (schema.TENANT_FIELD, engine.KeywordIndexParams(is_tenant=True, memory=mapped)),
        *((name, engine.KeywordIndexParams(memory=mapped)) for name in schema.KEYWORD_FIELDS),
        *((name, engine.IntegerIndexParams(memory=mapped)) for name in schema.INTEGER_FIELDS),
    ]
    for name, kind in fields:
        shard.update(engine.UpdateOperation.create_field_index(name, kind))
    return shard


def search(  # noqa: PLR0917 - the arguments of `search`, and where
    shard: engine.EdgeShard,
    bm25: engine.Bm25,
    vector: Vectors,
    text: str,
    where: ChunkFilter,
    limit: int,
    prefetch: int,
) -> list[Hit]:
    """Dense and BM25 search fused by the engine (DBSF), best first."""
    condition = to_engine(where, WORDS)
    dense = engine.Query.Nearest(vector.tolist(), using=schema.DENSE)
    sparse = engine.Query.Nearest(bm25.embed_query(text), using=schema.SPARSE)
    found = shard.query(
        engine.QueryRequest(
            limit=limit,
            prefetches=[
                engine.Prefetch(limit=prefetch, query=dense, filter=condition),
                engine.Prefetch(limit=prefetch, query=sparse, filter=condition),
            ],
            query=engine.Fusion.Dbsf(),  # type: ignore[arg-type]  # the stub forgot its parent
            with_payload=True,
            with_vector=[schema.DENSE],
        )
    )
    return hits(found, vector)


def count(shard: engine.EdgeShard, where: ChunkFilter) -> int:
    """Exact number of points that fit."""
    return shard.count(engine.CountRequest(exact=True, filter=to_engine(where, WORDS)))


def facets(shard: engine.EdgeShard, key: str, where: ChunkFilter) -> dict[str, int]:
    """How many points carry each value of an indexed keyword field."""
    condition = to_engine(where, WORDS)
    limit = schema.MOST_FACETS
    hits = shard.facet(engine.FacetRequest(key, limit=limit, exact=True, filter=condition))
    return {str(hit.value): hit.count for hit in hits}


def stored(record: engine.Record) -> StoredChunk:
    """A point as the engine keeps it, in our own words."""
    vector = dense(record.vector) or None
    sparse = record.vector.get(schema.SPARSE) if isinstance(record.vector, dict) else None
    words = (
        WordWeights(sparse.indices, sparse.values)
        if isinstance(sparse, engine.SparseVector)
        else None
    )
    return StoredChunk(str(record.id), record.payload or {}, vector, words)
