"""Many texts through one embedder: batches within its limits, retry of transient errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import stamina

from askbook.book.tokens import count_tokens
from askbook.errors import ProviderUnavailable
from askbook.ports import BatchLimits, Embedder, Vectors

_ATTEMPTS = 6


def batches(texts: Sequence[str], limits: BatchLimits) -> Iterator[list[str]]:
    """Runs of texts, in order, each within what the provider takes in one call."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = count_tokens(text) if limits.tokens else 0
        too_many = limits.tokens is not None and tokens + size > limits.tokens
        if batch and (len(batch) == limits.texts or too_many):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch


async def embed_batch(embedder: Embedder, batch: list[str]) -> Vectors:
    """The vectors of one batch; a transient failure is retried, others raise at once."""
    async for attempt in stamina.retry_context(
        on=_wait, attempts=_ATTEMPTS, timeout=None, wait_initial=0.5, wait_max=30.0
    ):
        with attempt:
            vectors = await embedder.embed_passages(batch)
    return vectors


def _wait(error: Exception) -> bool | float:
    """Whether to retry; a provider that says how long to wait is obeyed."""
    if not isinstance(error, ProviderUnavailable):
        return False
    return error.retry_after if error.retry_after is not None else True
