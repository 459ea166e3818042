"""Who wants to see a run's progress: the terminal, when the run is in the same process."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Shows how far each stage is."""

    def expect(self, stage: str, total: int) -> None:
        """A stage begins with this much to do."""

    def advance(self, stage: str, done: int) -> None:
        """A stage did this much more."""


class _Nobody:
    def expect(self, stage: str, total: int) -> None:
        pass

    def advance(self, stage: str, done: int) -> None:
        pass


_listener: Listener = _Nobody()


def listen(listener: Listener) -> None:
    """Send the progress of runs in this process to `listener`."""
    global _listener  # noqa: PLW0603 - one terminal a process
    _listener = listener


def expect(stage: str, total: int) -> None:
    """A stage begins with this much to do."""
    _listener.expect(stage, total)


def advance(stage: str, done: int) -> None:
    """A stage did this much more."""
    _listener.advance(stage, done)
