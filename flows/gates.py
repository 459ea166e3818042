"""The quality gates, run by a process of their own.

Great Expectations takes seconds to import. Its process is started when a run begins and imports
while the run reads the book; the stages then only send it the names of their checkpoints. It
ends with its owner, also when that is killed: its standard input closes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from functools import cache
from typing import Any  # the messages are JSON

import pyarrow as pa

from askbook.errors import RunRefused
from flows.checkpoints import Checkpoints
from flows.expectations import Failure, GateResult, GateSettings, require
from flows.run import RunSpec


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

    def check(self, question: dict[str, Any]) -> GateResult:
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
        told = json.loads(answer)
        if "error" in told:
            raise RunRefused(f"The {question['gate']} gate could not be tried: {told['error']}")
        failures = tuple(Failure(**failure) for failure in told.pop("failures"))
        return GateResult(**told, failures=failures)

    def wait_until_ready(self) -> None:
        """Return when a gate can be tried at once."""
        self.check({"gate": "index", "rows": [], "settings": {}})


@cache
def gatekeeper() -> Gatekeeper:
    """This process's gatekeeper; the first call starts it and returns at once."""
    return Gatekeeper()


def gate(spec: RunSpec, name: str, checkpoints: Checkpoints, part: str) -> GateResult:
    """Check one part; a failed gate stops the run with its rows shown."""
    question = {
        "gate": name,
        "part": part,
        "dimensions": spec.parts.embedder.dimensions,
        "settings": _thresholds(spec),
    }
    if checkpoints.folder.startswith("memory:"):  # another process cannot see it
        from flows.gatekeeper import answer

        return require(answer({**question, "folder": checkpoints.folder}))
    return require(gatekeeper().check({**question, "folder": checkpoints.folder}))


def index_gate(spec: RunSpec, counts: pa.Table) -> GateResult:
    """Check what the draft of the index holds, file by file, before it is published."""
    question = {"gate": "index", "rows": counts.to_pylist(), "settings": _thresholds(spec)}
    return require(gatekeeper().check(question))


def _thresholds(spec: RunSpec) -> dict[str, Any]:
    settings = spec.settings
    return {
        "max_quarantined_share": settings.max_quarantined_share,
        "min_tokens_median": settings.min_tokens_median,
        "max_tokens": spec.chunk_settings.max_tokens,
        "max_duplicate_share": settings.max_duplicate_share,
    }


__all__ = ["GateResult", "GateSettings", "gate", "gatekeeper", "index_gate"]
