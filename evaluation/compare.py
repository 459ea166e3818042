"""Two runs side by side, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from askbook.errors import WrongUse
from askbook.golden.comparing import Comparison, compare
from evaluation.metrics import bootstrap
from evaluation.runs import Run


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of both runs, on the questions that both asked."""

    measure: str
    a: float
    b: float
    low: float  # 95 % of the difference
    high: float
    result: Comparison


def compared(a: Run, b: Run, measures: Sequence[str] | None = None) -> list[Compared]:
    """The measures that both runs have, or some of them; B against A."""
    made = []
    for measure in measures or a.outcome.measures:
        before, after = a.outcome.values(measure), b.outcome.values(measure)
        shared = [key for key in before if key in after]
        if shared:
            made.append(
                _one(measure, {k: before[k] for k in shared}, {k: after[k] for k in shared})
            )
    if not made:
        raise WrongUse(f"{a.id} and {b.id} share no question and no measure: nothing to compare.")
    return made


def warnings(a: Run, b: Run) -> list[str]:
    """Why a comparison may mean less than it seems."""
    told = []
    if a.dataset.sha256 != b.dataset.sha256:
        told.append("the data sets differ: only questions with the same id are compared")
    if a.dataset.split != b.dataset.split:
        told.append(f"the splits differ: {a.dataset.split} and {b.dataset.split}")
    if a.code["sha256"] != b.code["sha256"]:
        told.append(f"the code differs: {a.code['commit']} and {b.code['commit']}")
    return told


def flat(a: Run, b: Run) -> dict[str, object]:
    """The object that `askbook eval compare --json` prints."""
    measures = {
        each.measure: {"a": each.a, "b": each.b, "low": each.low, "high": each.high}
        | asdict(each.result)
        for each in compared(a, b)
    }
    return {"a": a.id, "b": b.id, **measures, "notes": warnings(a, b)}


def _one(measure: str, a: dict[str, float], b: dict[str, float]) -> Compared:
    spread = bootstrap([b[key] - a[key] for key in a])
    mean_a, mean_b = sum(a.values()) / len(a), sum(b.values()) / len(b)
    return Compared(measure, mean_a, mean_b, spread.low, spread.high, compare(a, b))
