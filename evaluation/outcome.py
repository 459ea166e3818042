"""What a benchmark found out: a row per question, and the figures they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.metrics import Bin, Interval, bootstrap


@dataclass(frozen=True, slots=True)
class Row:
    """One question: what was wanted, what came instead, and what that is worth."""

    id: str
    question: str
    scores: Mapping[str, float]
    seconds: Mapping[str, float] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()
    found: tuple[str, ...] = ()  # the first few, best first; a ✓ marks what was wanted
    kind: str = ""  # of the question, where there are several
    confidence: float | None = None
    is_right: bool | None = None  # whether the answer cites what was wanted


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything one run measured."""

    rows: tuple[Row, ...]
    main: str  # the measure that runs are compared by
    overall: Mapping[str, float] = field(default_factory=dict)  # figures that are no means of rows
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of those, 95 %
    curve: Mapping[int, str] = field(default_factory=dict)  # depth → measure, for the drawing
    reliability: Sequence[Bin] = ()
    cost: Mapping[str, float] = field(default_factory=dict)  # tokens and USD
    notes: tuple[str, ...] = ()

    def values(self, measure: str) -> dict[str, float]:
        """A measure for every question that has it."""
        return {row.id: row.scores[measure] for row in self.rows if measure in row.scores}

    @property
    def measures(self) -> list[str]:
        """Names of the measures that are means over questions, in order."""
        return list(dict.fromkeys(name for row in self.rows for name in row.scores))

    def figures(self) -> dict[str, Interval]:
        """Every figure with its 95 % interval, where there is one."""
        found = {name: bootstrap(list(self.values(name).values())) for name in self.measures}
        for name, value in self.overall.items():
            low, high = self.intervals.get(name, (value, value))
            found[name] = Interval(value, low, high)
        return found

    @property
    def stages(self) -> list[str]:
        """Stages that were timed, in order."""
        return list(dict.fromkeys(stage for row in self.rows for stage in row.seconds))
