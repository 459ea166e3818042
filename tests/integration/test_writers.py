"""The writer: the official client against a local server in the real wire format."""

import contextlib

import anyio
import anyio.to_thread
import pytest
import stamina
from wire import (
    DONE,
    FINISH,
    FIRST,
    PATIENCE,
    USAGE,
    Events,
    Trouble,
    chunk,
    delta,
    event,
    in_turn,
    openai_error,
    openai_stream,
    serving,
)

from askbook.errors import ProviderError, ProviderUnavailable
from askbook.models import Message, Prompt, Usage
from askbook.providers.openai_writer import OpenAIWriter

KEY = "sk-proj-very-secret"
PROMPT = Prompt(
    "What is a topic?",
    (),
    messages=(
        Message("system", "Answer from the sources."),
        Message("user", "What is a node?"),
        Message("assistant", "A process."),
        Message("user", "What is a topic?"),
    ),
    max_tokens=77,
)
ANSWER = ["A topic", " is a", " named bus."]
GOOD = (200, {}, openai_stream(*ANSWER))


@pytest.fixture(autouse=True)
def _no_waiting():
    with stamina.set_testing(True, attempts=3):
        yield


def writer_to(wire, timeout: float = PATIENCE) -> OpenAIWriter:
    return OpenAIWriter("gpt-4o-mini", KEY, base_url=f"{wire.address}/v1", timeout=timeout)


def write(writer, usage=None, prompt=PROMPT, pieces=None) -> list[str]:
    """Everything the writer writes; what came before an error is left in `pieces`."""
    pieces = [] if pieces is None else pieces

    async def read() -> None:
        async for piece in writer.write(prompt, usage or Usage()):
            pieces.append(piece)

    anyio.run(read)
    return pieces


def events(*steps) -> tuple:
    return 200, {}, Events(steps)


def test_the_answer_comes_in_pieces_and_its_tokens_are_counted():
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    with serving(lambda _: GOOD) as wire:
        assert write(writer_to(wire), usage) == ANSWER
    assert usage == Usage(prompt_tokens=1 + 19, completion_tokens=1 + 10)


def test_what_is_asked_is_what_every_server_of_the_kind_understands():
    with serving(lambda _: GOOD) as wire:
        write(writer_to(wire))
    ((path, body),) = wire.requests
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": m.role, "content": m.content} for m in PROMPT.messages],
        "temperature": 0,
        "max_tokens": 77,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert wire.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_server_of_ones_own_needs_no_key():
    with serving(lambda _: GOOD) as wire:
        assert write(OpenAIWriter("any", None, base_url=f"{wire.address}/v1")) == ANSWER


@pytest.mark.parametrize(
    "steps",
    [
        [FIRST, *map(delta, ANSWER), FINISH, DONE],
        [FIRST, *map(delta, ANSWER), FINISH],  # not even a [DONE]
        [b": ping\n\n", FIRST, chunk(), *map(delta, ANSWER), delta(finish="length"), DONE],
        [event({"choices": [{"delta": {"content": "".join(ANSWER)}, "finish_reason": "stop"}]})],
    ],
    ids=["no usage", "no end mark", "pings and empty choices", "only what is needed"],
)
def test_other_servers_may_say_less(steps):
    usage = Usage()
    with serving(lambda _: events(*steps)) as wire:
        assert "".join(write(writer_to(wire), usage)) == "".join(ANSWER)
    # The server did not count: "A| topic| is| a| named| bus|." and the four messages.
    assert usage == Usage(prompt_tokens=5 + 5 + 3 + 5, completion_tokens=7)


def test_usage_that_counts_up_in_every_chunk_is_not_added_up():
    counting = [
        event(
            {
                "choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": n},
            }
        )
        for n in (1, 2, 3)
    ]
    usage = Usage()
    with serving(lambda _: events(*counting, DONE)) as wire:
        write(writer_to(wire), usage)
    assert usage == Usage(3, 3)


def test_an_answer_of_no_words_is_no_error():
    with serving(lambda _: events(FIRST, FINISH, USAGE, DONE)) as wire:
        assert write(writer_to(wire)) == []


BUSY = openai_error("Rate limit reached for gpt-4o-mini", "requests", "rate_limit_exceeded")


@pytest.mark.parametrize(
    "failed",
    [
        (500, {}, openai_error("The server had an error")),
        (503, {}, b"<html>upstream connect error</html>"),
        (429, {"Retry-After": "0"}, BUSY),
        events(Trouble.DROP),
        events(FIRST, Trouble.DROP),
        events(FIRST),
        events(event(openai_error("overloaded"))),
    ],
    ids=["500", "503", "429", "dropped", "dropped early", "ended early", "error event"],
)
def test_what_fails_before_the_first_piece_is_tried_again(failed):
    with serving(in_turn(failed, failed, GOOD)) as wire:
        assert write(writer_to(wire)) == ANSWER
    assert len(wire.requests) == 3


def test_a_server_that_stays_busy_is_given_up():
    with (
        serving(lambda _: (503, {}, openai_error("overloaded"))) as wire,
        pytest.raises(ProviderUnavailable, match=r"answered 503: .*overloaded"),
    ):
        write(writer_to(wire))
    assert len(wire.requests) == 3


def test_a_server_that_asks_for_minutes_is_not_waited_for():
    with (
        serving(lambda _: (429, {"Retry-After": "120"}, BUSY)) as wire,
        pytest.raises(ProviderUnavailable, match="Rate limit") as caught,
    ):
        write(writer_to(wire))
    assert caught.value.retry_after == 120.0
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    ("steps", "kind", "complaint"),
    [
        ([Trouble.DROP], ProviderUnavailable, "cannot be reached"),
        ([], ProviderUnavailable, "stopped in the middle"),
        ([event(openai_error("out of memory"))], ProviderUnavailable, "out of memory"),
        (
            [event(openai_error("the context is full", "invalid_request_error"))],
            ProviderError,
            "the context is full",
        ),
        ([event({"error": {"code": 400, "message": "no"}})], ProviderError, "answered 400: no"),
        ([event(b'{"choices": [{"del')], ProviderError, "not OpenAI's protocol"),
        ([event(b"\xff\xfe")], ProviderError, "not OpenAI's protocol"),
        ([event({"choices": "many"})], ProviderError, "not OpenAI's protocol"),
        ([event({"choices": [{"delta": {"content": 7}}]})], ProviderError, "not OpenAI's"),
        ([delta(finish="content_filter")], ProviderError, "withheld"),
    ],
)
def test_what_goes_wrong_after_the_first_piece_is_an_error_and_not_tried_again(
    steps, kind, complaint
):
    pieces: list[str] = []
    with (
        serving(lambda _: events(FIRST, delta("A topic"), *steps)) as wire,
        pytest.raises(kind, match=complaint) as caught,
    ):
        write(writer_to(wire), pieces=pieces)
    assert pieces == ["A topic"]
    assert len(wire.requests) == 1
    assert type(caught.value) is kind


def test_a_server_that_never_begins_is_given_up_and_hung_up_on():
    with (
        serving(lambda _: events(FIRST, Trouble.STALL)) as wire,
        pytest.raises(ProviderUnavailable, match=r"wrote nothing for 1 s"),
    ):
        write(writer_to(wire, timeout=1.0))
    assert wire.hung_up.wait(PATIENCE)
    assert len(wire.requests) == 1  # the reader has waited long enough


def test_a_server_that_falls_silent_is_given_up_and_hung_up_on():
    pieces: list[str] = []

    async def read(writer) -> None:
        async for piece in writer.write(PROMPT, Usage()):
            pieces.append(piece)
            writer._timeout = 0.1  # only now: a slow machine must not end the test early

    with (
        serving(lambda _: events(FIRST, delta("A topic"), Trouble.STALL)) as wire,
        pytest.raises(ProviderUnavailable, match=r"wrote nothing for 0.1 s"),
    ):
        anyio.run(read, writer_to(wire))
    assert pieces == ["A topic"]
    assert wire.hung_up.wait(PATIENCE)


def test_a_refused_key_is_terminal_and_never_shown():
    refusal = openai_error(f"Incorrect API key provided: {KEY}.", "invalid_request_error")
    with (
        serving(lambda _: (401, {}, refusal)) as wire,
        pytest.raises(ProviderError, match="Check the API key") as caught,
    ):
        write(writer_to(wire))
    assert len(wire.requests) == 1
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_reader_who_leaves_stops_the_server():
    usage = Usage()

    async def read_a_little(writer) -> None:
        async with contextlib.aclosing(writer.write(PROMPT, usage)) as pieces:
            assert await anext(pieces) == "A topic"

    with serving(lambda _: events(FIRST, delta("A topic"), Trouble.STALL)) as wire:
        anyio.run(read_a_little, writer_to(wire))
        assert wire.hung_up.wait(PATIENCE)
    assert usage.completion_tokens == 2  # paid for all the same


@pytest.mark.parametrize("said", [[], [FIRST, delta("A topic")]], ids=["at first", "half-way"])
def test_cancelling_stops_the_server(said):
    async def cancel_when_it_stalls(wire) -> None:
        async def read() -> None:
            async for _ in writer_to(wire).write(PROMPT, Usage()):
                pass

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.to_thread.run_sync(wire.stalled.wait, PATIENCE)
            tasks.cancel_scope.cancel()

    with serving(lambda _: events(*said, Trouble.STALL)) as wire:
        anyio.run(cancel_when_it_stalls, wire)
        assert wire.hung_up.wait(PATIENCE)
