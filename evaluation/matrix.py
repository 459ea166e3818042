"""Conditions × data sets with expected scores: OK or FAIL for every cell.

The file names data sets by their folders' names; they are looked for in the given folders, and
one that is nowhere is skipped, and said so. A cell whose data, condition, settings and code were
measured before is not measured again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from askbook.errors import DatasetError
from evaluation.bench import GOLDEN, Bench, Task, layout_of
from evaluation.conditions import Condition
from evaluation.runs import Run

MATRIX = Path(__file__).with_name("matrix.yaml")


@dataclass(frozen=True, slots=True)
class Cell:
    """One data set under one condition, and what is expected of it."""

    dataset: str
    condition: str
    changes: Mapping[str, object]
    expected: Mapping[str, float]
    tolerance: float
    split: str | None = None
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a cell. `run` is None where the data set is not here."""

    cell: Cell
    run: Run | None
    was_known: bool = False

    @property
    def misses(self) -> dict[str, tuple[float, float | None]]:
        """Measures off by more than the tolerance: expected, found."""
        if self.run is None:
            return {}
        found = {name: each.mean for name, each in self.run.figures.items()}
        return {
            name: (wanted, found.get(name))
            for name, wanted in self.cell.expected.items()
            if name not in found or abs(found[name] - wanted) > self.cell.tolerance
        }

    @property
    def verdict(self) -> str:
        """OK, FAIL or SKIP."""
        return "SKIP" if self.run is None else "FAIL" if self.misses else "OK"


def load_matrix(file: Path) -> list[Cell]:
    """Every cell of a matrix, in order; a mistake in the file is named."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DatasetError(
            f"{file}: cannot be read ({error}); see evaluation/matrix.yaml"
        ) from error
    if not isinstance(content, dict) or not {"conditions", "datasets"} <= content.keys():
        raise DatasetError(f"{file}: needs `conditions` and `datasets`; see evaluation/matrix.yaml")
    conditions: dict[str, dict[str, object]] = content["conditions"]
    cells = []
    for name, entry in content["datasets"].items():
        for condition, expected in entry["expected"].items():
            if condition not in conditions:
                known = ", ".join(conditions)
                raise DatasetError(
                    f"{file}: {name} expects something of {condition!r}, which is no condition; "
                    f"use one of: {known}"
                )
            cells.append(
                Cell(
                    dataset=name,
                    condition=condition,
                    changes=conditions[condition] or {},
                    expected={str(k): float(v) for k, v in (expected or {}).items()},
                    tolerance=float(entry.get("tolerance", content.get("tolerance", 0.005))),
                    split=entry.get("split"),
                    answers=bool(entry.get("answers", False)),
                )
            )
    return cells


def run_matrix(
    cells: Sequence[Cell], bench: Bench, places: Sequence[Path], tasks: Task, *, again: bool
) -> Iterator[Result]:
    """Measure the cells one by one. `tasks` carries what golden sets need."""
    for cell in cells:
        path = _found(cell.dataset, places)
        if path is None:
            yield Result(cell, None)
            continue
        layout = layout_of(path)
        is_golden = layout == GOLDEN
        task = Task(
            path,
            layout,
            split=cell.split,
            book_dir=tasks.book_dir if is_golden else None,
            book=tasks.book if is_golden else None,
            answers=cell.answers,
        )
        condition = Condition.of(bench.settings).changed(cell.changes)
        run, known = bench.run(task, condition, resume=not again)
        yield Result(cell, run, known)


def _found(name: str, places: Sequence[Path]) -> Path | None:
    return next((place / name for place in places if (place / name).exists()), None)
