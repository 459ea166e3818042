"""One collection on a Qdrant server: searched, counted, read; and what its errors mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import qdrant_edge
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from askbook.errors import IndexDown, IndexFault
from askbook.index import schema
from askbook.index.filters import Vocabulary, to_engine
from askbook.index.found import dense, hits
from askbook.models import ChunkFilter, Hit, StoredChunk, WordWeights
from askbook.ports import Vectors

WORDS = Vocabulary(
    filter=models.Filter,
    field=models.FieldCondition,
    value=models.MatchValue,
    any=models.MatchAny,
    range=models.Range,
)


@contextmanager
def server_errors() -> Iterator[None]:
    """The client's errors in our own words; only a server that is away may be retried."""
    try:
        yield
    except (ResponseHandlingException, httpx.TransportError) as error:
        raise IndexDown(f"The Qdrant server does not answer: {error}") from error
    except UnexpectedResponse as error:
        raise IndexFault(f"The Qdrant server refused: {error}") from error


def search(  # noqa: PLR0917 - the arguments of `search`, and where
    client: QdrantClient,
    name: str,
    bm25: qdrant_edge.Bm25,
    vector: Vectors,
    text: str,
    where: ChunkFilter,
    limit: int,
    prefetch: int,
) -> list[Hit]:
    """Dense and BM25 search fused by the server (DBSF), best first."""
    condition = to_engine(where, WORDS)
    words = sparse(bm25.embed_query(text))
    dense = vector.tolist()
    with server_errors():
        found = client.query_points(
            name,
            prefetch=[
                models.Prefetch(query=dense, using=schema.DENSE, limit=prefetch, filter=condition),
                models.Prefetch(query=words, using=schema.SPARSE, limit=prefetch, filter=condition),
            ],
            query=models.FusionQuery(fusion=models.Fusion.DBSF),
            limit=limit,
            with_payload=True,
            with_vectors=[schema.DENSE],
        )
    return hits(found.points, vector)


def count(client: QdrantClient, name: str, where: ChunkFilter) -> int:
    """Exact number of points that fit."""
    with server_errors():
        return client.count(name, count_filter=to_engine(where, WORDS), exact=True).count


def facets(client: QdrantClient, name: str, key: str, where: ChunkFilter) -> dict[str, int]:
    """How many points carry each value of an indexed keyword field."""
    condition = to_engine(where, WORDS)
    with server_errors():
        found = client.facet(
            name, key=key, facet_filter=condition, limit=schema.MOST_FACETS, exact=True
        )
    return {str(hit.value): hit.count for hit in found.hits}


def sparse(vector: qdrant_edge.SparseVector | WordWeights) -> models.SparseVector:
    """Word weights as the client sends them."""
    return models.SparseVector(indices=vector.indices, values=vector.values)


def stored(record: models.Record) -> StoredChunk:
    """A point as the server keeps it, in our own words."""
    vector = dense(record.vector) or None
    held = record.vector.get(schema.SPARSE) if isinstance(record.vector, dict) else None
    words = None
    if isinstance(held, models.SparseVector):
        words = WordWeights(held.indices, held.values)
    return StoredChunk(str(record.id), record.payload or {}, vector, words)
