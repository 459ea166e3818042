"""A part that keeps failing is left alone, then tried by one call."""

import contextlib

import anyio
import pytest

from askbook.errors import ProviderError, ProviderUnavailable
from askbook.models import Prompt, Usage
from askbook.providers.circuit import Circuit, CircuitState, GuardedReranker, GuardedWriter

PROMPT = Prompt("Why?", ())
BUSY = ProviderUnavailable("busy")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def circuit(clock) -> Circuit:
    return Circuit("The part", failures=3, cool_down=30.0, clock=clock)


def end(circuit, error: BaseException | None = None) -> None:
    """One call through the circuit that ends so."""
    with contextlib.suppress(*([type(error)] if error else [])), circuit.call():
        if error:
            raise error


def opened(circuit) -> Circuit:
    for _ in range(3):
        end(circuit, BUSY)
    return circuit


def refused(circuit) -> ProviderUnavailable:
    """The error of a call that is not let through."""
    with pytest.raises(ProviderUnavailable, match="left alone") as caught, circuit.call():
        pytest.fail("the call was let through")
    return caught.value


def test_a_few_failures_do_not_open_it(circuit):
    end(circuit, BUSY)
    end(circuit, BUSY)
    assert circuit.state == CircuitState("closed", 0.0, 2)
    end(circuit)
    assert circuit.state == CircuitState("closed", 0.0, 0)


def test_only_failures_in_a_row_count(circuit):
    for error in (BUSY, BUSY, None, BUSY, BUSY, ProviderError("wrong"), BUSY, BUSY):
        end(circuit, error)
    assert circuit.state.state == "closed"


def test_the_third_failure_in_a_row_opens_it_for_the_cool_down(circuit, clock):
    opened(circuit)
    assert circuit.state == CircuitState("open", 30.0, 3)
    clock.now += 12.0
    assert circuit.state == CircuitState("open", 18.0, 3)
    error = refused(circuit)
    assert str(error) == ("The part failed 3 times in a row and is left alone for 18 more seconds.")
    assert error.retry_after == 18.0


def test_after_the_cool_down_one_call_tries_and_closes_it(circuit, clock):
    opened(circuit)
    clock.now += 30.0
    assert circuit.state == CircuitState("half-open", 0.0, 3)
    with circuit.call():
        assert circuit.state.state == "half-open"
        assert refused(circuit).retry_after == 1.0  # the others do not try as well
        assert refused(circuit).retry_after == 1.0
    assert circuit.state == CircuitState("closed", 0.0, 0)
    end(circuit)


def test_a_trial_that_fails_opens_it_for_another_cool_down(circuit, clock):
    opened(circuit)
    clock.now += 31.0
    end(circuit, BUSY)
    assert circuit.state == CircuitState("open", 30.0, 4)
    refused(circuit)


def test_a_trial_that_is_refused_closes_it_for_the_part_is_there(circuit, clock):
    opened(circuit)
    clock.now += 31.0
    end(circuit, ProviderError("wrong key"))
    assert circuit.state.state == "closed"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), KeyError("a fault")])
def test_a_trial_that_is_given_up_leaves_it_to_the_next_call(circuit, clock, error):
    opened(circuit)
    clock.now += 31.0
    end(circuit, error)
    assert circuit.state.state == "half-open"
    end(circuit)
    assert circuit.state.state == "closed"


def test_calls_from_before_it_opened_no_longer_count(circuit, clock):
    with contextlib.suppress(ProviderUnavailable), circuit.call():
        with circuit.call():
            opened(circuit)
            clock.now += 10.0
        assert circuit.state == CircuitState("open", 20.0, 3)  # the inner one's success
        raise BUSY
    assert circuit.state == CircuitState("open", 20.0, 3)  # the outer one's failure


def test_a_late_failure_does_not_end_the_trial(circuit, clock):
    with contextlib.suppress(ProviderUnavailable), circuit.call():
        opened(circuit)
        clock.now += 31.0
        trial = circuit.call()
        trial.__enter__()
        raise BUSY
    assert circuit.state.state == "half-open"
    refused(circuit)
    trial.__exit__(None, None, None)
    assert circuit.state.state == "closed"


class Scripted:
    """A writer and reranker that fails when its script says so; notes when it is closed."""

    name = "scripted"

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = list(errors)
        self.calls = 0
        self.closed = 0

    def _next(self) -> None:
        self.calls += 1
        if self.errors and (error := self.errors.pop(0)):
            raise error

    async def write(self, prompt, usage):
        try:
            yield "some "
            self._next()
            yield "words"
        finally:
            self.closed += 1

    async def rerank(self, query, passages):
        self._next()
        return [0.5 for _ in passages]


async def written(writer) -> str:
    return "".join([piece async for piece in writer.write(PROMPT, Usage())])


def test_a_guarded_writer_that_fails_half_way_is_left_alone(circuit, clock):
    inner = Scripted(BUSY, BUSY, BUSY)
    writer = GuardedWriter(inner, circuit)
    for _ in range(3):
        with pytest.raises(ProviderUnavailable, match="busy"):
            anyio.run(written, writer)
    with pytest.raises(ProviderUnavailable, match="left alone"):
        anyio.run(written, writer)
    assert inner.calls == 3
    clock.now += 31.0
    assert anyio.run(written, writer) == "some words"
    assert writer.circuit.state.state == "closed"
    assert writer.name == "scripted"


def test_a_guarded_writer_closes_what_it_guards(circuit, clock):
    inner = Scripted()

    async def read_a_little() -> None:
        async with contextlib.aclosing(GuardedWriter(inner, circuit).write(PROMPT, Usage())) as it:
            await anext(it)
            assert inner.closed == 0
        assert inner.closed == 1

    opened(circuit)
    clock.now += 31.0
    anyio.run(read_a_little)
    assert circuit.state.state == "closed"  # it wrote: that is enough to know


def test_a_guarded_reranker_is_left_alone_too(circuit, clock):
    inner = Scripted(BUSY, BUSY, BUSY)
    reranker = GuardedReranker(inner, circuit)
    for _ in range(3):
        with pytest.raises(ProviderUnavailable, match="busy"):
            anyio.run(reranker.rerank, "q", ["a"])
    with pytest.raises(ProviderUnavailable, match="left alone"):
        anyio.run(reranker.rerank, "q", ["a"])
    assert inner.calls == 3
    clock.now += 31.0
    assert anyio.run(reranker.rerank, "q", ["a", "b"]) == [0.5, 0.5]
    assert reranker.name == "scripted"
