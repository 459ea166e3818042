"""A part that keeps failing is left alone for a while: circuit breakers around ports."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Literal

from askbook.errors import ProviderUnavailable, TerminalError, TransientError
from askbook.models import Prompt, Usage
from askbook.ports import Reranker, Writer

_TRIAL_WAIT = 1.0  # seconds to suggest to those who come while one call tries the part


@dataclass(frozen=True, slots=True)
class CircuitState:
    """What readiness shows of a part."""

    state: Literal["closed", "open", "half-open"]
    seconds_left: float  # of the cool-down; 0 unless open
    failures: int  # in a row


@dataclass(slots=True)
class Call:
    """One admitted call; `reached` is set once the part is known to work."""

    round: int
    reached: bool = False


class Circuit:
    """Closed until `failures` transient errors in a row; then open for `cool_down` seconds.

    After that one call at a time may try. Errors that are not transient mean that the part
    is there; a call given up half-way means nothing. Calls admitted before the circuit opened
    or closed no longer count: they speak of the past.
    """

    def __init__(
        self,
        name: str,
        *,
        failures: int = 3,
        cool_down: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._most = failures
        self._cool_down = cool_down
        self._clock = clock
        self._lock = threading.Lock()  # the API and the flows have event loops of their own
        self._failures = 0
        self._open_until: float | None = None
        self._trying = False
        self._round = 0

    @property
    def state(self) -> CircuitState:
        """Closed, open with the seconds left, or half-open: the next call or this one tries."""
        with self._lock:
            left = self._seconds_left()
            if self._open_until is None:
                return CircuitState("closed", 0.0, self._failures)
            return CircuitState("open" if left else "half-open", left, self._failures)

    @contextmanager
    def call(self) -> Iterator[Call]:
        """Around one call; refuses at once while the part is left alone."""
        call = self._admit()
        try:
            yield call
        except TransientError:
            self._ended(call, "failed")
            raise
        except TerminalError:
            self._ended(call, "reached")
            raise
        except BaseException:  # cancelled, closed early, or a fault of our own
            self._ended(call, "reached" if call.reached else "given up")
            raise
        self._ended(call, "reached")

    def _admit(self) -> Call:
        with self._lock:
            if self._open_until is None:
                return Call(self._round)
            left = self._seconds_left()
            if left or self._trying:
                raise ProviderUnavailable(
                    f"{self.name} failed {self._failures} times in a row and is left alone"
                    + (f" for {left:.0f} more seconds." if left else " while one call tries it."),
                    left or _TRIAL_WAIT,
                )
            self._trying = True
            return Call(self._round)

    def _ended(self, call: Call, how: Literal["reached", "failed", "given up"]) -> None:
        with self._lock:
            if call.round != self._round:
                return
            self._trying = False
            if how == "reached":
                self._round += self._open_until is not None
                self._failures, self._open_until = 0, None
            elif how == "failed":
                self._failures += 1
                if self._failures >= self._most:
                    self._open_until = self._clock() + self._cool_down
                    self._round += 1

    def _seconds_left(self) -> float:
        return max((self._open_until or 0.0) - self._clock(), 0.0)


class GuardedWriter:
    """A writer behind a circuit."""

    def __init__(self, writer: Writer, circuit: Circuit) -> None:
        self._writer = writer
        self.circuit = circuit

    @property
    def name(self) -> str:
        """Which writer this is."""
        return self._writer.name

    async def write(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str, None]:
        """The answer in pieces; raises ProviderUnavailable at once while the circuit is open."""
        with self.circuit.call() as call:
            async with aclosing(self._writer.write(prompt, usage)) as pieces:
                async for piece in pieces:
                    call.reached = True
                    yield piece


class GuardedReranker:
    """A reranker behind a circuit."""

    def __init__(self, reranker: Reranker, circuit: Circuit) -> None:
        self._reranker = reranker
        self.circuit = circuit

    @property
    def name(self) -> str:
        """Which reranker this is."""
        return self._reranker.name

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """Scores in order; raises ProviderUnavailable at once while the circuit is open."""
        with self.circuit.call():
            return await self._reranker.rerank(query, passages)
