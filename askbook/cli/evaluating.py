"""`askbook eval`: offline benchmarks, stored, compared and reported.

eval DATASET …        measure a data set under one or several conditions
eval compare A B      two stored runs, question by question
eval matrix           every cell of evaluation/matrix.yaml against its expected score
eval runs             what is stored
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from askbook.cli.options import json_option, name_for, print_json, settings_with
from askbook.errors import WrongUse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.answering import Book
    from evaluation.matrix import Result
    from evaluation.runs import Run

_DEFAULT = "run"
_PATH = click.Path(path_type=Path)


class _Evaluation(click.Group):
    """`askbook eval DATASET` is `askbook eval run DATASET`; the other words are commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        wants_help = bool(args) and args[0] in {"-h", "--help"}
        if args and args[0] not in self.commands and not wants_help:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        measure = self.commands[_DEFAULT]
        with click.Context(measure, info_name=ctx.command_path) as inner:
            measure.format_help(inner, formatter)
        with formatter.section("Other commands"):
            others = [
                (n, c.get_short_help_str()) for n, c in self.commands.items() if n != _DEFAULT
            ]
            formatter.write_dl(others)


@click.group("eval", cls=_Evaluation, no_args_is_help=True)
def evaluate() -> None:
    """Measure retrieval, chunking, grounding and answers on data sets."""


report_option = click.option(
    "--report", type=_PATH, help="Write a page (.html) or a text (.md) with plots and tables."
)


@evaluate.command(_DEFAULT)
@click.argument("dataset", required=False, type=_PATH)
@click.option("--grounding", type=_PATH, help="A JSONL file of answers with labelled sentences.")
@click.option("--chunking", type=_PATH, help="A folder of corpora/ and questions.jsonl (spans).")
@click.option("--split", help="Only these questions [default: test where there is one, else all].")
@click.option(
    "--condition", "conditions", multiple=True, metavar="NAME=VALUE,…",
    help="Change embedder, chunk, fusion, rerank, prefetch or top; give several to compare them. "
    "`default` is what the settings say.",
)  # fmt: skip
@click.option(
    "--book", "book_dir", type=_PATH, help="The book of a golden set [default: BOOK_DIR]."
)
@click.option("--live", is_flag=True, help="Ask a golden set of the index that readers use now.")
@click.option("--search-only", is_flag=True, help="Golden set: only search, do not answer.")
@json_option
@report_option
def run(
    *,
    dataset: Path | None,
    grounding: Path | None,
    chunking: Path | None,
    split: str | None,
    conditions: tuple[str, ...],
    book_dir: Path | None,
    live: bool,
    search_only: bool,
    as_json: bool,
    report: Path | None,
) -> None:
    """Measure DATASET: a BEIR folder, a span folder, or a book's golden set.

    BEIR and span sets are indexed in a temporary index with the current settings; so is the book
    of a golden set, unless --live. Runs are kept under ASKBOOK_HOME/evaluations.
    """
    path, layout = _chosen(dataset, grounding, chunking)

    from evaluation.bench import GOLDEN, Bench, Task, layout_of
    from evaluation.conditions import Condition

    settings = settings_with()
    kind = layout or layout_of(path)
    _check(report, live=live, conditions=conditions, is_golden=kind == GOLDEN)
    task = Task(
        path,
        kind,
        split=split,
        book_dir=(book_dir or settings.book_dir) if kind == GOLDEN else None,
        book=_read_book if kind == GOLDEN else None,
        is_live=live,
        answers=not search_only,
    )
    base = Condition.of(settings)
    wanted = [base if text == "default" else base.parsed(text) for text in conditions] or [base]
    bench = Bench(settings)
    runs = [bench.run(task, each)[0] for each in wanted]
    _tell(runs, report, as_json=as_json)


@evaluate.command()
@click.argument("a")
@click.argument("b")
@json_option
@report_option
def compare(*, a: str, b: str, as_json: bool, report: Path | None) -> None:
    """Compare run B with run A: by id, the start of one, or a folder."""
    from evaluation.compare import flat, warnings
    from evaluation.runs import RunFolder

    _check(report)
    runs = RunFolder(settings_with().home)
    first, second = runs.load(a), runs.load(b)
    if report is not None:
        _write(report, [first, second])
    if as_json:
        print_json(flat(first, second))
        return
    from evaluation.report import against, show_table

    show_table(against(first, second))
    for each in warnings(first, second):
        click.echo(f"note: {each}", err=True)


@evaluate.command()
@click.option("--file", type=_PATH, help="Another matrix [default: evaluation/matrix.yaml].")
@click.option(
    "--datasets", "places", multiple=True, type=_PATH,
    help="Folders to look for data sets in, besides ASKBOOK_GOLDEN_DIR.",
)  # fmt: skip
@click.option("--only", multiple=True, help="Only cells of this data set or condition.")
@click.option("--again", is_flag=True, help="Measure anew what was measured before.")
@json_option
def matrix(
    *,
    file: Path | None,
    places: tuple[Path, ...],
    only: tuple[str, ...],
    again: bool,
    as_json: bool,
) -> None:
    """Measure every condition on every data set; exit 1 where a score is not as expected."""
    from evaluation.bench import GOLDEN, Bench, Task
    from evaluation.matrix import MATRIX, load_matrix, run_matrix

    settings = settings_with()
    cells = [
        cell
        for cell in load_matrix(file or MATRIX)
        if not only or {cell.dataset, cell.condition} & set(only)
    ]
    bench = Bench(settings)
    golden = Task(settings.golden_dir, GOLDEN, book_dir=settings.book_dir, book=_read_book)
    results = []
    looked = (*places, settings.golden_dir)
    for number, result in enumerate(run_matrix(cells, bench, looked, golden, again=again), start=1):
        results.append(result)
        if not as_json:
            click.echo(f"[{number}/{len(cells)}] {_told(result)}")
    if as_json:
        print_json({"cells": [_plain(result) for result in results]})
    if any(result.verdict == "FAIL" for result in results):
        sys.exit(1)


@evaluate.command("runs")
@json_option
def stored(*, as_json: bool) -> None:
    """List the stored runs, oldest first."""
    from evaluation.runs import RunFolder

    folder = RunFolder(settings_with().home)
    runs = [folder.load(name) for name in folder.names()]
    if as_json:
        print_json([{"run": run.id, **run.flat()} for run in runs])
        return
    for each in runs:
        main = each.outcome.main
        click.echo(f"{each.id}  {main} {each.figures[main].mean:.4f}")
    if not runs:
        click.echo("No run is stored yet. Start with `askbook eval DATASET`.")


def _chosen(
    dataset: Path | None, grounding: Path | None, chunking: Path | None
) -> tuple[Path, str | None]:
    given = [
        (path, layout)
        for path, layout in ((dataset, None), (grounding, "grounding"), (chunking, "spans"))
        if path is not None
    ]
    if len(given) != 1:
        raise WrongUse("Give one of DATASET, --grounding FILE and --chunking DIR.")
    return given[0]


def _check(
    report: Path | None,
    *,
    live: bool = False,
    conditions: Sequence[str] = (),
    is_golden: bool = True,
) -> None:
    """Say so before anything is measured for nothing."""
    if report is not None and report.suffix not in {".html", ".md"}:
        raise WrongUse(f"--report {report}: end its name with .html or .md")
    if report is not None and not report.absolute().parent.is_dir():
        raise WrongUse(f"--report {report}: there is no folder {report.absolute().parent}")
    if live and (conditions or not is_golden):
        raise WrongUse("--live asks a golden set of the index as it is: leave --condition out.")


def _tell(runs: Sequence[Run], report: Path | None, *, as_json: bool) -> None:
    if report is not None:
        _write(report, runs)
    if as_json:
        print_json(runs[0].flat() if len(runs) == 1 else {"runs": [run.flat() for run in runs]})
        return
    from evaluation.report import show

    show(runs)
    for each in runs:
        click.echo(f"run {each.id}  ({each.seconds:.1f} s)")


def _write(report: Path, runs: Sequence[Run]) -> None:
    if report.suffix == ".md":
        from evaluation.report import markdown as write
    else:
        from evaluation.page import page as write
    report.write_text(write(runs), encoding="utf-8")
    click.echo(f"wrote {report}", err=True)


def _read_book(folder: Path) -> Book:
    """The lessons of a book's folder, as ingesting finds them."""
    from askbook.book.walk import Globs
    from evaluation.answering import Book
    from flows.discover import discover

    settings = settings_with()
    is_default = folder.resolve() == settings.book_dir.resolve()
    name = settings.book_id if is_default else name_for(folder)
    globs = Globs(settings.include, settings.exclude)
    survey = discover(folder, name, globs=globs, max_bytes=settings.max_file_bytes)
    for each in survey.quarantined:
        click.echo(f"quarantined {each.source_file}: {each.reason}", err=True)
    return Book(folder, name, survey.lessons)


def _told(result: Result) -> str:
    cell, run = result.cell, result.run
    if run is None:
        return f"SKIP  {cell.dataset}  {cell.condition}: not found; give its folder with --datasets"
    shown = list(cell.expected) or [run.outcome.main]
    figures = ", ".join(f"{n} {run.figures[n].mean:.4f}" for n in shown if n in run.figures)
    misses = "; ".join(f"{n} expected {wanted:.4f}" for n, (wanted, _) in result.misses.items())
    more = f"  ({misses}, ± {cell.tolerance})" if misses else ""
    known = "  (stored)" if result.was_known else f"  ({run.seconds:.0f} s)"
    return f"{result.verdict:<5} {cell.dataset}  {cell.condition}: {figures}{more}{known}"


def _plain(result: Result) -> dict[str, object]:
    return {
        "dataset": result.cell.dataset,
        "condition": result.cell.condition,
        "verdict": result.verdict,
        "expected": dict(result.cell.expected),
        "found": {n: e.mean for n, e in result.run.figures.items()} if result.run else None,
        "run": result.run.id if result.run else None,
    }
