"""The quality gates as the stages see them: name a checkpoint, get its result or stop the run."""

from __future__ import annotations

from typing import Any  # the messages are JSON

import pyarrow as pa

from flows.checkpoints import Checkpoints
from flows.expectations import Failure, GateResult, require
from flows.gate_process import gatekeeper
from flows.run import RunSpec


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
    return require(_ask({**question, "folder": checkpoints.folder}))


def index_gate(spec: RunSpec, counts: pa.Table) -> GateResult:
    """Check what the draft of the index holds, file by file, before it is published."""
    question = {"gate": "index", "rows": counts.to_pylist(), "settings": _thresholds(spec)}
    return require(_ask(question))


def _ask(question: dict[str, Any]) -> GateResult:
    told = gatekeeper().ask(question)
    failures = tuple(Failure(**failure) for failure in told.pop("failures"))
    return GateResult(**told, failures=failures)


def _thresholds(spec: RunSpec) -> dict[str, Any]:
    settings = spec.settings
    return {
        "max_quarantined_share": settings.max_quarantined_share,
        "min_tokens_median": settings.min_tokens_median,
        "max_tokens": spec.chunk_settings.max_tokens,
        "max_duplicate_share": settings.max_duplicate_share,
    }
