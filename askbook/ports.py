"""What the two rivers need from the outside, as small protocols.

Adapters live in `askbook/providers`, `askbook/index` and `askbook/store`; fakes in tests
implement the same protocols. Batching, retry and rate limits live outside the providers, once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askbook.models import ChunkFilter, Hit, IndexPoint, IndexVersion, Prompt, StoredChunk, Usage

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What a provider takes in one call and in one minute (None: no limit)."""

    texts: int = 64
    tokens: int | None = None
    inputs_per_minute: int | None = None
    concurrency: int = 1  # calls at a time
    usd_per_million_tokens: float = 0.0  # list price, for estimates


class Embedder(Protocol):
    """Turns text into unit vectors. Passages and questions are embedded differently."""

    @property
    def model(self) -> str:
        """Name and variant of the model: vectors of different names never mix."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    @property
    def limits(self) -> BatchLimits:
        """How much `embed_passages` takes at once."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order. Raises errors of `askbook.errors` only."""

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question (one dimension)."""


class Writer(Protocol):
    """Words an answer from numbered sources."""

    @property
    def name(self) -> str:
        """Which writer this is, for the reply's `parts`."""

    def write(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str, None]:
        """The answer in pieces, with [Source N] after every sentence; adds to `usage`.

        Closing the generator early stops the writing, wherever it happens.
        """


class Reranker(Protocol):
    """Looks at question and passage together, which a vector cannot."""

    @property
    def name(self) -> str:
        """Which reranker this is, for the reply's `parts`."""

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score per passage, in order; higher is more relevant, 0 to 1."""


class Searchable(Protocol):
    """Something that holds chunks and finds them again."""

    def search(
        self, vector: Vectors, text: str, where: ChunkFilter, limit: int, prefetch: int
    ) -> list[Hit]:
        """Dense and BM25 search fused by the engine, best first."""


class IndexDraft(Searchable, Protocol):
    """A version being built. Nobody else sees it before `publish`; it can be tried by searching."""

    def upsert(self, points: Iterable[IndexPoint]) -> None:
        """Add points, or replace those with the same id."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove points; ids that do not exist are no error."""

    def count(self, where: ChunkFilter) -> int:
        """Exact number of points the draft holds."""

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many points of the draft carry each value of an indexed keyword field."""

    def publish(self) -> str:
        """Send readers to this version, at once and as a whole; returns its name."""


class VectorIndex(Searchable, Protocol):
    """Where the book's chunks are found again. Reads always see one published version."""

    def build(
        self,
        *,
        embedding_model: str,
        dimensions: int,
        without_book: str | None = None,
        empty: bool = False,
    ) -> AbstractContextManager[IndexDraft]:
        """A draft: the current version, all of it but one book (to build that anew), or `empty`.

        Nothing of an embedded draft, or of one built anew, is seen before `publish`.
        Vectors of another model than the current one can only replace all books at once.
        """

    def retrieve(self, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredChunk]:
        """The chunks with these ids, in any order; unknown ids are left out."""

    def scroll(
        self, where: ChunkFilter, *, with_vectors: bool = False, with_words: bool = False
    ) -> Iterator[StoredChunk]:
        """Every chunk that fits, in any order, all of one version."""

    def count(self, where: ChunkFilter) -> int:
        """Exact number of chunks that fit."""

    def facets(self, key: str, where: ChunkFilter) -> dict[str, int]:
        """How many chunks carry each value of an indexed keyword field."""

    def versions(self) -> list[IndexVersion]:
        """Every version that readers could be sent to, newest first."""

    def problem(self) -> str | None:
        """Why readers do not see the published version, if they do not."""

    def rollback(self, name: str | None = None) -> str:
        """Send readers back to `name`, or to the version before the current one."""
