"""The process that runs the quality gates, seen from the run that owns it.

Great Expectations takes seconds to import, so it has a process of its own that imports while the
run reads the book; the stages then only send it the names of their checkpoints. It ends with its
owner, also when that is killed: its standard input closes. Nothing heavy is imported here:
`askbook ingest` starts the process as its first act.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any  # the messages are JSON

from askbook.book.walk import newest_change
from askbook.errors import RunRefused
from askbook.settings import Settings

SURVEYS = "_surveys"  # below the checkpoints: what the last run of each book found in its folder


class Gatekeeper:
    """One child process; one question at a time."""

    def __init__(self) -> None:
        self._talking = threading.Lock()
        self._child = subprocess.Popen(
            [sys.executable, "-m", "flows.gatekeeper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self._child.kill)  # it would end by itself, but only after its imports

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Ask for one gate; raises where the gate could not be tried."""
        if self._child.stdin is None or self._child.stdout is None:
            raise RunRefused("The process of the quality gates has no pipes.")
        with self._talking:
            try:
                self._child.stdin.write(json.dumps(question) + "\n")
                self._child.stdin.flush()
                answer = self._child.stdout.readline()
            except OSError:
                answer = ""
        if not answer:
            raise RunRefused("The process of the quality gates ended. Run again.")
        told: dict[str, Any] = json.loads(answer)
        if "error" in told:
            raise RunRefused(f"The {question['gate']} gate could not be tried: {told['error']}")
        return told

    def wait_until_ready(self) -> None:
        """Return when a gate can be tried at once."""
        self.ask({"gate": "index", "rows": [], "settings": {}})


@cache
def gatekeeper() -> Gatekeeper:
    """This process's gatekeeper; the first call starts it and returns at once."""
    return Gatekeeper()


def call_early(settings: Settings, book_dir: Path, book_id: str) -> None:
    """Start the gatekeeper at once if the folder changed since the last run read it.

    A guess by dates, in milliseconds, for what the survey will say after a second.
    """
    root = settings.checkpoint_root
    if "://" in root:
        return
    survey = Path(root, SURVEYS, book_id, "files.parquet")
    if not survey.exists() or newest_change(book_dir) > survey.stat().st_mtime:
        gatekeeper()
