"""Cohere's reranker: the official client against a local server in the real wire format."""

import anyio
import anyio.to_thread
import pytest
import stamina
from wire import PATIENCE, Events, Trouble, cohere_ranking, in_turn, serving

from askbook.errors import ProviderError, ProviderUnavailable
from askbook.providers.cohere import CohereReranker

KEY = "very-secret"
PASSAGES = ["a", "b", "c"]
GOOD = (200, {}, cohere_ranking({0: 0.2, 1: 0.9, 2: 0.4}))


@pytest.fixture(autouse=True)
def _no_waiting():
    with stamina.set_testing(True, attempts=2):
        yield


def rerank(wire, passages=PASSAGES, timeout: float = PATIENCE) -> list[float]:
    reranker = CohereReranker("rerank-v3.5", KEY, base_url=wire.address, timeout=timeout)
    return anyio.run(reranker.rerank, "a question", passages)


def test_scores_come_back_in_the_order_of_the_passages():
    with serving(lambda _: GOOD) as wire:
        assert rerank(wire) == [0.2, 0.9, 0.4]
    ((path, body),) = wire.requests
    assert path == "/v2/rerank"
    assert body == {
        "model": "rerank-v3.5",
        "query": "a question",
        "documents": PASSAGES,
        "top_n": 3,
    }
    assert wire.headers[0]["authorization"] == f"Bearer {KEY}"


def test_nothing_to_rerank_is_not_sent():
    with serving(lambda _: GOOD) as wire:
        assert rerank(wire, []) == []
    assert wire.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        cohere_ranking({0: 0.2, 1: 0.9}),
        cohere_ranking({0: 0.2, 1: 0.9, 3: 0.4}),
        cohere_ranking({-1: 0.2, 0: 0.9, 1: 0.4}),
        cohere_ranking({0: 0.2, 1: 0.9, 2: 0.4, 3: 0.1}),
        {"results": [{"index": 0, "relevance_score": 0.5}] * 3},
        cohere_ranking({0: 0.2, 1: 7.5, 2: 0.4}),
        cohere_ranking({0: 0.2, 1: float("nan"), 2: 0.4}),
        {"results": [{"index": 0}, {"index": 1}, {"index": 2}]},
        {"results": None},
        {"id": "x"},
        [],
        b"not json",
    ],
    ids=str,
)
def test_an_answer_that_does_not_fit_is_an_error_and_not_tried_again(reply):
    with serving(lambda _: (200, {}, reply)) as wire, pytest.raises(ProviderError, match="Cohere"):
        rerank(wire)
    assert len(wire.requests) == 1


BUSY = {"id": "5f3c", "message": "Please wait and try again later"}


@pytest.mark.parametrize(
    "failed",
    [
        (500, {}, {"message": "internal server error"}),
        (503, {}, b"upstream connect error"),
        (429, {"Retry-After": "0"}, BUSY),
        (200, {}, Events([Trouble.DROP])),
    ],
    ids=["500", "503", "429", "dropped"],
)
def test_transient_errors_are_retried_once(failed):
    with serving(in_turn(failed, GOOD)) as wire:
        assert rerank(wire) == [0.2, 0.9, 0.4]
    with serving(lambda _: failed) as wire, pytest.raises(ProviderUnavailable):
        rerank(wire)
    assert len(wire.requests) == 2


def test_a_wait_longer_than_a_reader_has_is_not_waited_for():
    with (
        serving(lambda _: (429, {"Retry-After": "30"}, BUSY)) as wire,
        pytest.raises(ProviderUnavailable, match="try again later") as caught,
    ):
        rerank(wire)
    assert caught.value.retry_after == 30.0
    assert len(wire.requests) == 1


def test_a_refused_key_is_terminal_and_never_shown():
    refusal = {"id": "5f3c", "message": f"invalid api token: {KEY}"}
    with (
        serving(lambda _: (401, {}, refusal)) as wire,
        pytest.raises(ProviderError, match="Check the API key") as caught,
    ):
        rerank(wire)
    assert len(wire.requests) == 1
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_silent_server_is_given_up_and_hung_up_on():
    with (
        serving(lambda _: (200, {}, Events([Trouble.STALL]))) as wire,
        pytest.raises(ProviderUnavailable, match="did not rerank within 1 s"),
    ):
        rerank(wire, timeout=1.0)
    assert wire.hung_up.wait(PATIENCE)
    assert len(wire.requests) == 1


def test_cancelling_hangs_up():
    async def cancel_when_it_stalls(wire) -> None:
        reranker = CohereReranker("rerank-v3.5", KEY, base_url=wire.address, timeout=PATIENCE)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reranker.rerank, "a question", PASSAGES)
            await anyio.to_thread.run_sync(wire.stalled.wait, PATIENCE)
            tasks.cancel_scope.cancel()

    with serving(lambda _: (200, {}, Events([Trouble.STALL]))) as wire:
        anyio.run(cancel_when_it_stalls, wire)
        assert wire.hung_up.wait(PATIENCE)
