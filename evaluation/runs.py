"""Runs that are kept: figures as JSON, rows as Parquet, with all it takes to repeat them.

<home>/evaluations/<run id>/run.json       figures, condition, settings, code, hash of the data set
<home>/evaluations/<run id>/rows.parquet   one row per question
<home>/evaluations/vectors.sqlite          vectors, embedded once for all runs
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any  # run.json is JSON

from askbook import __version__
from askbook.errors import DatasetError, WrongUse
from askbook.settings import Settings
from evaluation.metrics import SEED, Bin, Interval
from evaluation.outcome import Outcome, Row

_SOURCES = ("askbook", "evaluation")
_IRRELEVANT = {"home", "host", "port", "golden_dir", "book_dir"}  # settings that change no score


@dataclass(frozen=True, slots=True)
class Dataset:
    """What was measured on."""

    name: str
    layout: str  # beir, golden, spans or grounding
    path: str
    sha256: str
    split: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One data set measured under one condition."""

    id: str
    created_at: str
    dataset: Dataset
    condition: Mapping[str, object]
    label: str  # the condition in few words
    settings: Mapping[str, object]
    code: Mapping[str, str | None]
    seconds: float
    outcome: Outcome
    figures: Mapping[str, Interval]

    @property
    def key(self) -> str:
        """The same for runs that must give the same scores."""
        return key_of(
            self.dataset, self.condition, settings=self.settings, code=self.code["sha256"]
        )

    def flat(self) -> dict[str, object]:
        """The object that `askbook eval --json` prints: metric names as keys."""
        outcome = self.outcome
        return {
            **{name: round(each.mean, 6) for name, each in self.figures.items()},
            "queries": len(outcome.rows),
            "dataset": asdict(self.dataset),
            "condition": dict(self.condition),
            "intervals": {
                name: [round(each.low, 6), round(each.high, 6)]
                for name, each in self.figures.items()
                if each.low < each.high
            },
            "latency_ms": latencies(outcome.rows),
            "cost": dict(outcome.cost),
            "notes": list(outcome.notes),
            "seed": SEED,
            "code": dict(self.code),
            "run": self.id,
        }


def key_of(
    dataset: Dataset,
    condition: Mapping[str, object],
    *,
    settings: Mapping[str, object],
    code: str | None,
) -> str:
    """Names whatever scores depend on."""
    parts = [dataset.sha256, dataset.layout, dataset.split, dict(condition)]
    relevant = {name: value for name, value in settings.items() if name not in _IRRELEVANT}
    text = json.dumps([*parts, relevant, code], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def make_run(
    dataset: Dataset,
    outcome: Outcome,
    *,
    condition: Mapping[str, object],
    label: str,
    settings: Settings,
    seconds: float,
) -> Run:
    """A run with everything that is needed to repeat it."""
    now = datetime.now(UTC)
    slug = "".join(c if c.isalnum() else "-" for c in f"{dataset.name}-{label}")
    return Run(
        id=f"{now:%Y%m%d-%H%M%S-%f}-{slug}-{uuid.uuid4().hex[:4]}",
        created_at=now.isoformat(timespec="seconds"),
        dataset=dataset,
        condition=condition,
        label=label,
        settings=plain_settings(settings),
        code=code_version(),
        seconds=round(seconds, 2),
        outcome=outcome,
        figures=outcome.figures(),
    )


def plain_settings(settings: Settings) -> dict[str, object]:
    """The settings as JSON, without anything secret or any address."""
    private = {
        name
        for name in type(settings).model_fields
        if name.endswith(("_key", "_url", "secret", "token"))
    }
    plain: dict[str, object] = settings.model_dump(mode="json", exclude=private)
    return plain


@cache
def code_version() -> dict[str, str | None]:
    """Version, hash of the sources, and the commit where there is one."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in _SOURCES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return {
        "version": __version__,
        "sha256": digest.hexdigest(),
        "commit": _commit(root),
        "python": platform.python_version(),
    }


def _commit(root: Path) -> str | None:
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],  # noqa: S607 - the user's git
            cwd=root, capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def latencies(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Milliseconds by stage: median, 95th percentile, longest."""
    import numpy as np

    stages = dict.fromkeys(stage for row in rows for stage in row.seconds)
    found = {}
    for stage in stages:
        times = [row.seconds[stage] * 1000 for row in rows if stage in row.seconds]
        middle, high, top = np.percentile(times, [50, 95, 100])
        found[stage] = {
            "p50": round(float(middle), 3), "p95": round(float(high), 3),
            "max": round(float(top), 3),
        }  # fmt: skip
    return found


class RunFolder:
    """All runs of one home."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "evaluations"

    def save(self, run: Run) -> Path:
        """Write a run aside and rename it in: it is there whole or not at all."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.folder.mkdir(parents=True, exist_ok=True)
        aside = self.folder / f".{run.id}"
        aside.mkdir()
        outcome = run.outcome
        facts: dict[str, Any] = {
            **{name: getattr(run, name) for name in ("id", "created_at", "label", "seconds")},
            "key": run.key,
            "dataset": asdict(run.dataset),
            "condition": dict(run.condition),
            "settings": dict(run.settings),
            "code": dict(run.code),
            "seed": SEED,
            "figures": {name: asdict(each) for name, each in run.figures.items()},
            "latency_ms": latencies(outcome.rows),
            "main": outcome.main,
            "overall": dict(outcome.overall),
            "intervals": {name: list(each) for name, each in outcome.intervals.items()},
            "curve": {str(k): name for k, name in outcome.curve.items()},
            "reliability": [asdict(each) for each in outcome.reliability],
            "cost": dict(outcome.cost),
            "notes": list(outcome.notes),
        }
        text = json.dumps(facts, ensure_ascii=False, indent=2)
        (aside / "run.json").write_text(text + "\n", encoding="utf-8")
        pq.write_table(
            pa.Table.from_pylist([_flat_row(row, outcome) for row in outcome.rows]),
            aside / "rows.parquet",
        )
        return aside.rename(self.folder / run.id)

    def names(self) -> list[str]:
        """Ids of all runs, oldest first."""
        if not self.folder.is_dir():
            return []
        kept = (path.parent.name for path in self.folder.glob("*/run.json"))
        return sorted(name for name in kept if not name.startswith("."))

    def load(self, name: str) -> Run:
        """A run by its id, the start of it, or its path."""
        path = Path(name)
        if not (path / "run.json").is_file():
            fitting = [each for each in self.names() if each.startswith(name)]
            if len(fitting) != 1:
                known = ", ".join(self.names()[-5:]) or "none"
                what = "Several runs start" if fitting else "No run starts"
                raise WrongUse(f"{what} with {name!r}. The last ones: {known}")
            path = self.folder / fitting[0]
        return _read(path)

    def done(self, key: str) -> Run | None:
        """The newest run that must have the same scores, if there is one."""
        for name in reversed(self.names()):
            facts = json.loads((self.folder / name / "run.json").read_text(encoding="utf-8"))
            if facts.get("key") == key:
                return self.load(name)
        return None


def _flat_row(row: Row, outcome: Outcome) -> dict[str, object]:
    """A row for Parquet: a column per measure and per stage."""
    return {
        "id": row.id,
        "question": row.question,
        "kind": row.kind,
        "wanted": list(row.wanted),
        "found": list(row.found),
        "confidence": row.confidence,
        "is_right": row.is_right,
        **{f"score:{name}": row.scores.get(name) for name in outcome.measures},
        **{f"seconds:{name}": row.seconds.get(name) for name in outcome.stages},
    }


def _read(path: Path) -> Run:
    import pyarrow.parquet as pq

    try:
        facts = json.loads((path / "run.json").read_text(encoding="utf-8"))
        rows = [_row(each) for each in pq.read_table(path / "rows.parquet").to_pylist()]
        outcome = Outcome(
            rows=tuple(rows),
            main=facts["main"],
            overall=facts["overall"],
            intervals={name: (low, high) for name, (low, high) in facts["intervals"].items()},
            curve={int(k): name for k, name in facts["curve"].items()},
            reliability=[Bin(**each) for each in facts["reliability"]],
            cost=facts["cost"],
            notes=tuple(facts["notes"]),
        )
        return Run(
            **{name: facts[name] for name in ("id", "created_at", "condition", "label")},
            **{name: facts[name] for name in ("settings", "code", "seconds")},
            dataset=Dataset(**facts["dataset"]),
            outcome=outcome,
            figures={name: Interval(**each) for name, each in facts["figures"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{path}: is no run that can be read ({error}); run it again") from error


def _row(record: dict[str, Any]) -> Row:
    def of(prefix: str) -> dict[str, float]:
        start = f"{prefix}:"
        named = {k.removeprefix(start): v for k, v in record.items() if k.startswith(start)}
        return {name: value for name, value in named.items() if value is not None}

    return Row(
        id=record["id"],
        question=record["question"],
        scores=of("score"),
        seconds=of("seconds"),
        wanted=tuple(record["wanted"]),
        found=tuple(record["found"]),
        kind=record["kind"],
        confidence=record["confidence"],
        is_right=record["is_right"],
    )
