"""Many texts through one embedder: batches, several at a time, within its rates; retries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import anyio
import stamina

from askbook.book.tokens import count_tokens
from askbook.errors import ProviderUnavailable
from askbook.ports import BatchLimits, Embedder, Vectors

_ATTEMPTS = 6
_MINUTE = 60.0


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


class Rate:
    """Spreads inputs over time, for all threads and loops of this process together."""

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds_each = _MINUTE / per_minute if per_minute else 0.0
        self._clock = clock
        self._free_at = 0.0
        self._lock = threading.Lock()

    def reserve(self, inputs: int) -> float:
        """Book these inputs; returns the seconds to wait before sending them."""
        with self._lock:
            now = self._clock()
            start = max(now, self._free_at)
            self._free_at = start + inputs * self._seconds_each
            return start - now


_rates: dict[str, Rate] = {}


async def embed_in_batches(
    embedder: Embedder, texts: Sequence[str], on_batch: Callable[[list[str], Vectors], None]
) -> None:
    """Embed all texts, several calls at a time; `on_batch` gets each batch as it is done.

    When one call fails for good no other is begun or retried, and its error is raised. Those
    under way are heard to their end: they are paid for, so `on_batch` gets them too.
    """
    rate = _rates.setdefault(embedder.model, Rate(embedder.limits.inputs_per_minute))
    slots = anyio.Semaphore(embedder.limits.concurrency)
    failures: list[Exception] = []

    def may_retry(error: Exception) -> bool | float:
        return False if failures else _wait(error)

    async def one(batch: list[str]) -> None:
        try:
            async for attempt in stamina.retry_context(
                on=may_retry, attempts=_ATTEMPTS, timeout=None, wait_initial=0.5, wait_max=30.0
            ):
                with attempt:
                    await anyio.sleep(rate.reserve(len(batch)))
                    if failures:
                        return
                    vectors = await embedder.embed_passages(batch)
            on_batch(batch, vectors)
        except Exception as error:  # noqa: BLE001 - raised below, when the others are done
            failures.append(error)
        finally:
            slots.release()

    async with anyio.create_task_group() as calls:
        for batch in batches(texts, embedder.limits):
            await slots.acquire()
            if failures:
                break
            calls.start_soon(one, batch)
    if failures:
        raise failures[0]


def _wait(error: Exception) -> bool | float:
    """Whether to retry; a provider that says how long to wait is obeyed."""
    if not isinstance(error, ProviderUnavailable):
        return False
    return error.retry_after if error.retry_after is not None else True
