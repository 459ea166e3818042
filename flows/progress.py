"""Who wants to see how far a run is: the terminal, and Prefect's progress artifact."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

CUT, EMBEDDED = "files cut", "chunks embedded"  # what is counted


class Listener(Protocol):
    """Shows how far a run is. Called by the threads that do the work."""

    def expect(self, what: str, total: int) -> None:
        """So much of this is to be done."""

    def advance(self, what: str, done: int) -> None:
        """So much more of it is done."""


_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    """Send the progress of all runs of this process to `listener`."""
    _listeners.append(listener)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the progress of the runs inside the block to `listener`."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def expect(what: str, total: int) -> None:
    """So much of this is to be done."""
    for listener in _listeners:
        listener.expect(what, total)


def advance(what: str, done: int) -> None:
    """So much more of it is done."""
    for listener in _listeners:
        listener.advance(what, done)
