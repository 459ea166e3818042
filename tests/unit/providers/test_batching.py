"""Batches within the provider's limits; retries of transient errors only."""

import anyio
import anyio.lowlevel
import numpy as np
import pytest
import stamina
from hypothesis import given
from hypothesis import strategies as st

from askbook.book.tokens import count_tokens
from askbook.errors import ProviderError, ProviderUnavailable
from askbook.ports import BatchLimits
from askbook.providers.answers import checked_vectors, failure, retry_after
from askbook.providers.batching import Rate, batches, embed_in_batches


@given(st.lists(st.text(max_size=30)), st.integers(1, 5), st.none() | st.integers(1, 20))
def test_batches_keep_order_lose_nothing_and_respect_the_limits(texts, most, tokens):
    made = list(batches(texts, BatchLimits(texts=most, tokens=tokens)))
    assert [text for batch in made for text in batch] == texts
    for batch in made:
        assert 1 <= len(batch) <= most
        assert tokens is None or len(batch) == 1 or sum(map(count_tokens, batch)) <= tokens


class Flaky:
    """An embedder that fails a few times before it answers."""

    model = "flaky"
    dimensions = 2

    def __init__(self, *errors: Exception, limits: BatchLimits | None = None) -> None:
        self.limits = limits or BatchLimits()
        self.errors = list(errors)
        self.calls = 0
        self.running = self.most_running = 0

    async def embed_passages(self, texts):
        self.calls += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        for _ in range(10):  # let the others start
            await anyio.lowlevel.checkpoint()
        self.running -= 1
        if self.errors:
            raise self.errors.pop(0)
        return np.ones((len(texts), 2), dtype=np.float32)


def embed_all(embedder, texts) -> list[str]:
    """Run to the end; returns the texts that were delivered."""
    done: list[str] = []
    anyio.run(embed_in_batches, embedder, texts, lambda batch, vectors: done.extend(batch))
    return done


@pytest.fixture(autouse=True)
def _no_waiting():
    with stamina.set_testing(True, attempts=6):
        yield


def test_transient_errors_are_retried():
    embedder = Flaky(ProviderUnavailable("busy"), ProviderUnavailable("busy", retry_after=0.0))
    assert embed_all(embedder, ["a"]) == ["a"]
    assert embedder.calls == 3


def test_terminal_errors_are_not():
    embedder = Flaky(ProviderError("wrong key"))
    with pytest.raises(ProviderError, match="wrong key"):
        embed_all(embedder, ["a"])
    assert embedder.calls == 1


def test_a_provider_that_stays_away_is_given_up():
    embedder = Flaky(*[ProviderUnavailable("busy")] * 50)
    with pytest.raises(ProviderUnavailable):
        embed_all(embedder, ["a"])
    assert embedder.calls == 6


def test_several_calls_run_at_a_time_but_not_more_than_allowed():
    embedder = Flaky(limits=BatchLimits(texts=1, concurrency=3))
    texts = [str(n) for n in range(20)]
    assert sorted(embed_all(embedder, texts)) == sorted(texts)
    assert embedder.most_running == 3


def test_a_failure_stops_the_rest_but_what_is_under_way_is_paid_for_and_kept():
    class Uneven(Flaky):
        async def embed_passages(self, texts):
            if texts == ["refused"]:
                self.calls += 1
                raise ProviderError("wrong key")
            return await super().embed_passages(texts)

    embedder = Uneven(limits=BatchLimits(texts=1, concurrency=2))
    done: list[str] = []
    texts = ["under way", "refused", *(str(n) for n in range(20))]
    with pytest.raises(ProviderError, match="wrong key"):
        anyio.run(embed_in_batches, embedder, texts, lambda batch, _: done.extend(batch))
    assert done == ["under way"]
    assert embedder.calls == 2


def test_a_call_that_waits_for_its_turn_is_not_begun_after_a_failure():
    limits = BatchLimits(texts=1, concurrency=2, inputs_per_minute=1200)
    embedder = Flaky(ProviderError("wrong key"), limits=limits)
    embedder.model = "slow-rate"  # a rate is kept per model
    with pytest.raises(ProviderError, match="wrong key"):
        embed_all(embedder, ["refused", "waits 50 ms"])
    assert embedder.calls == 1


def test_a_rate_spreads_inputs_over_the_minute():
    now = 100.0
    rate = Rate(per_minute=120, clock=lambda: now)  # one input every half second
    assert rate.reserve(10) == 0.0
    assert rate.reserve(4) == 5.0
    now = 106.0
    assert rate.reserve(1) == 1.0
    assert Rate(per_minute=None).reserve(10_000) == 0.0


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (None, ProviderUnavailable),
        (429, ProviderUnavailable),
        (500, ProviderUnavailable),
        (503, ProviderUnavailable),
        (400, ProviderError),
        (401, ProviderError),
        (404, ProviderError),
    ],
)
def test_only_some_statuses_are_worth_a_retry(status, kind):
    assert type(failure("Cohere", status, "why")) is kind


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("soon", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header, seconds):
    assert retry_after({"Retry-After": header}) == seconds


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([[1.0, 0.0], [1.0]], "vector of 1 numbers"),
        ([[1.0, 0.0], [float("nan"), 1.0]], "NaN"),
        ([[1.0, 0.0], [0.0, 0.0]], "zero"),
    ],
)
def test_a_wrong_answer_is_an_error_before_anything_is_written(rows, complaint):
    with pytest.raises(ProviderError, match=complaint):
        checked_vectors("Cohere", rows, count=2, dimensions=2)


def test_vectors_are_brought_to_unit_length():
    vectors = checked_vectors("Cohere", [[3.0, 4.0]], count=1, dimensions=2)
    assert vectors.tolist() == [pytest.approx([0.6, 0.8])]
