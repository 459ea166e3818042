"""Runs as tables: for a terminal, for Markdown, and as the parts of the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.console import Console
from rich.table import Table as RichTable

from evaluation.compare import Compared, compared, warnings
from evaluation.metrics import Interval
from evaluation.outcome import Row
from evaluation.runs import Run, latencies

_HARDEST = 15
_WIDE = 160  # columns
HEADLINES = (
    "nDCG@10", "RR@10", "AP", "R@5", "R@10", "R@100", "P@5", "Success@1", "Success@5",
    "token_recall", "token_precision", "token_iou", "AUROC", "F1", "precision", "recall",
    "balanced_accuracy", "wrongly_withheld", "citation_precision", "citation_recall",
    "refusal_precision", "refusal_recall", "wrongly_refused", "answered_right", "ECE",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the heads of its columns, and rows of text."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(runs: Sequence[Run]) -> list[Table]:
    """Everything that is worth a table, in the order of interest."""
    made = [figures(runs), differences(runs), by_kind(runs), times(runs), costs(runs)]
    return [table for table in made if table.rows]


def figures(runs: Sequence[Run]) -> Table:
    """The figures that matter most, of every run, with their intervals; JSON has them all."""
    names = [name for name in HEADLINES if any(name in run.figures for run in runs)]
    rows = tuple((name, *(_figure(run.figures.get(name)) for run in runs)) for name in names)
    first = runs[0]
    split = f", {first.dataset.split}" if first.dataset.split else ""
    title = f"{first.dataset.name}{split}: {len(first.outcome.rows)} questions"
    return Table(title, ("measure (95 %)", *(run.label for run in runs)), rows)


def differences(runs: Sequence[Run]) -> Table:
    """The main measure of every run against the first."""
    main = runs[0].outcome.main
    rows = tuple(
        (run.label, *_difference(each))
        for run in runs[1:]
        for each in compared(runs[0], run, [main])
    )
    heads = ("condition", "difference (95 %)", "p", "won / tied / lost")
    return Table(f"{main} against {runs[0].label}", heads, rows)


def _difference(each: Compared) -> tuple[str, ...]:
    found = each.result
    return (
        f"{found.difference:+.4f} ({each.low:+.3f} to {each.high:+.3f})",
        f"{found.p:.4f}",
        f"{found.wins} / {found.ties} / {found.losses}",
    )


def against(a: Run, b: Run) -> Table:
    """Run B against run A, measure by measure."""
    rows = tuple(
        (each.measure, f"{each.a:.4f}", f"{each.b:.4f}", *_difference(each))
        for each in compared(a, b)
    )
    more = f" ({'; '.join(warnings(a, b))})" if warnings(a, b) else ""
    heads = ("measure", a.label, b.label, "difference (95 %)", "p", "won / tied / lost")
    return Table(f"{b.label} against {a.label}{more}", heads, rows)


def by_kind(runs: Sequence[Run]) -> Table:
    """The main measure for each kind of question, where there are several."""
    main = runs[0].outcome.main
    kinds = dict.fromkeys(row.kind for row in runs[0].outcome.rows)
    if len(kinds) < 2:  # noqa: PLR2004 - one kind is the table above
        return Table("", (), ())
    rows = []
    for kind in kinds:
        found = [[r.scores[main] for r in run.outcome.rows if _has(r, kind, main)] for run in runs]
        if found[0]:
            rows.append(
                (kind, str(len(found[0])), *(f"{fmean(v):.4f}" if v else "" for v in found))
            )
    return Table(f"{main} by kind", ("kind", "questions", *(r.label for r in runs)), tuple(rows))


def times(runs: Sequence[Run]) -> Table:
    """Milliseconds by stage."""
    by_stage: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        for stage, found in latencies(run.outcome.rows).items():
            by_stage[stage].append(f"{found['p50']:.2f} / {found['p95']:.2f} / {found['max']:.2f}")
    rows = tuple((stage, *told) for stage, told in by_stage.items() if len(told) == len(runs))
    return Table("Latency", ("ms: median / 95 % / longest", *(r.label for r in runs)), rows)


def costs(runs: Sequence[Run]) -> Table:
    """Tokens and USD."""
    names = list(dict.fromkeys(name for run in runs for name in run.outcome.cost))
    rows = tuple((name, *(f"{run.outcome.cost.get(name, 0):g}" for run in runs)) for name in names)
    return Table("Cost", ("", *(run.label for run in runs)), rows)


def hardest(run: Run) -> list[Row]:
    """The questions that did worst on the main measure."""
    main = run.outcome.main
    judged = [row for row in run.outcome.rows if main in row.scores]
    ordered = sorted(judged, key=lambda row: (row.scores[main], row.id))
    return [row for row in ordered[:_HARDEST] if row.scores[main] < 1]


def markdown(runs: Sequence[Run]) -> str:
    """All tables and the hardest questions, as Markdown."""
    lines = [f"# {runs[0].dataset.name}", ""]
    for table in tables(runs):
        lines += [f"## {table.title}", "", _line(table.heads), "|---" * len(table.heads) + "|"]
        lines += [*(_line(row) for row in table.rows), ""]
    lines += [f"## Hardest questions ({runs[0].label})", ""]
    for row in hardest(runs[0]):
        score = row.scores[runs[0].outcome.main]
        lines += [f"**{_cell(row.question)}** ({row.id}, {score:.3f})", ""]
        lines += [*(f"- wanted: {_cell(each)}" for each in row.wanted)]
        lines += [*(f"- {_cell(each)}" for each in row.found), ""]
    lines += ["## Runs", ""]
    lines += [
        f"- `{run.id}`: code {run.code['commit']}, data {run.dataset.sha256[:12]}" for run in runs
    ]
    notes = dict.fromkeys(note for run in runs for note in run.outcome.notes)
    return "\n".join([*lines, *(f"- {note}" for note in notes)]) + "\n"


def show(runs: Sequence[Run]) -> None:
    """The tables on a terminal."""
    console = _console()
    for table in tables(runs):
        show_table(table, console)
    for note in dict.fromkeys(note for run in runs for note in run.outcome.notes):
        console.print(note, style="yellow", markup=False, highlight=False)


def show_table(table: Table, console: Console | None = None) -> None:
    """One table on a terminal."""
    console = console or _console()
    drawn = RichTable(title=table.title, title_justify="left", title_style="bold")
    for at, head in enumerate(table.heads):
        drawn.add_column(head, justify="right" if at else "left")
    for row in table.rows:
        drawn.add_row(*row)
    console.print(drawn)


def _console() -> Console:
    """A pipe has no width: nothing is cut there."""
    seen = Console()
    return seen if seen.is_terminal else Console(width=_WIDE)


def _figure(value: Interval | None) -> str:
    if value is None:
        return ""
    is_point = value.low == value.high
    return f"{value.mean:.4f}" + ("" if is_point else f" ({value.low:.3f}–{value.high:.3f})")


def _has(row: Row, kind: str, measure: str) -> bool:
    return row.kind == kind and measure in row.scores


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
