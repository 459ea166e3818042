"""Progress bars on a terminal."""

from __future__ import annotations

import atexit

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from flows import progress

_UNITS = {"chunk": "files cut", "embed": "shards embedded"}


class _Bars:
    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:>16}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(stderr=True),
        )
        self._tasks: dict[str, TaskID] = {}

    def expect(self, stage: str, total: int) -> None:
        self._progress.start()
        self._tasks[stage] = self._progress.add_task(_UNITS.get(stage, stage), total=total)

    def advance(self, stage: str, done: int) -> None:
        self._progress.advance(self._tasks[stage], done)
        if self._progress.finished:
            self._progress.stop()


def show_progress() -> None:
    """Draw the progress of runs in this process on standard error."""
    bars = _Bars()
    atexit.register(bars._progress.stop)  # noqa: SLF001 - a killed run must not leave a broken terminal
    progress.listen(bars)
