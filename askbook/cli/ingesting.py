"""`askbook ingest`: index what changed in a book."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from askbook.cli.options import json_option, name_for, print_json, settings_with
from askbook.models import Action, Mode

if TYPE_CHECKING:
    from flows.diff import Plan
    from flows.estimate import Estimate
    from flows.run import RunSpec

_SHOWN_ACTIONS = (Action.NEW, Action.MODIFIED, Action.MOVED, Action.DELETED)
_SHOWN_FILES = 20


@click.command()
@click.argument("book_dir", required=False, type=click.Path(path_type=Path))
@click.option("--book-id", help="Name of the book in the index [default: the folder's name].")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.INCREMENTAL.value,
    show_default=True,
    help="What changed, every file again, or a new index.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--force", is_flag=True, help="Go on although many known files vanished.")
@json_option
def ingest(
    book_dir: Path | None,
    book_id: str | None,
    mode: str,
    *,
    dry_run: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Index what changed in BOOK_DIR [default: ASKBOOK_BOOK_DIR]."""
    settings = settings_with()
    name = book_id or (name_for(book_dir) if book_dir else settings.book_id)
    if not dry_run:
        from flows.gate_process import call_early

        call_early(settings, book_dir or settings.book_dir, name)

    from flows.planning import nothing_to_do, plan_now, record_nothing_to_do
    from flows.run import RunSpec

    spec = RunSpec(settings, book_dir or settings.book_dir, name, Mode(mode), force)
    plan = plan_now(spec)
    if dry_run:
        from flows.estimate import estimate

        _show_plan(plan, estimate(spec, plan), as_json=as_json)
        return
    report: dict[str, Any]
    if nothing_to_do(spec, plan):
        from dataclasses import asdict

        report = asdict(record_nothing_to_do(spec, plan))
    else:
        report = _run_flow(spec, quiet=as_json or not sys.stderr.isatty())
    if as_json:
        print_json(report)
    else:
        _show_report(report)


def _run_flow(spec: RunSpec, *, quiet: bool) -> dict[str, Any]:
    """The Prefect flow in this process; its own errors come out as they are."""
    from flows.environment import prepare_prefect
    from flows.gate_process import gatekeeper
    from flows.lazily import collect_rarely, convert_without_pandas

    collect_rarely()
    gatekeeper()  # Great Expectations and Prefect are slow to import: side by side
    prepare_prefect(spec.settings)
    convert_without_pandas()
    if not quiet:
        from askbook.cli.bars import show_progress

        show_progress()
    from flows.ingest import ingest as flow

    result: dict[str, Any] = flow(
        book_dir=str(spec.book_dir.resolve()),
        book_id=spec.book_id,
        mode=spec.mode,
        force=spec.force,
    )
    return result


def _show_plan(plan: Plan, cost: Estimate, *, as_json: bool) -> None:
    if as_json:
        steps = [
            {"action": s.action.value, "source_file": s.source_file, "reason": s.reason}
            for s in plan.steps
            if s.action is not Action.UNCHANGED
        ]
        print_json({"files": plan.counts, "estimate": cost, "steps": steps})
        return
    click.echo(_counts(plan.counts))
    changes = plan.of(*_SHOWN_ACTIONS)
    for step in changes[:_SHOWN_FILES]:
        click.echo(f"  {step.action.value:<9} {step.source_file}  ({step.reason})")
        for line in cost.first_lines.get(step.source_file, []):
            click.echo(f"            + {line}")
    if len(changes) > _SHOWN_FILES:
        click.echo(f"  … and {len(changes) - _SHOWN_FILES} more")
    prices = ", ".join(f"{model} ${usd:.4f}" for model, usd in cost.usd.items())
    click.echo(f"chunks: {cost.embed} to embed ({cost.tokens} tokens), {cost.reuse} to reuse")
    click.echo(f"estimated cost: {prices}")
    _show_quarantined(
        [
            {"source_file": q.source_file, "reason": q.reason, "line": q.line}
            for q in plan.quarantined
        ]
    )


def _show_report(report: dict[str, Any]) -> None:
    chunks = report["chunks"]
    click.echo(f"{report['book_id']}: {_counts(report['files'])}")
    click.echo(
        f"chunks: {chunks['total']} in all, {chunks['created']} created, "
        f"{chunks['deleted']} deleted, {chunks['embedded']} embedded, {chunks['reused']} reused"
    )
    if report["index_version"]:
        click.echo(f"published as {report['index_version']} in {report['seconds']['total']:.1f} s")
    _show_quarantined(report["quarantined"])


def _counts(files: dict[str, int]) -> str:
    told = [f"{count} {action}" for action, count in files.items() if count]
    return ", ".join(told) or "no files"


def _show_quarantined(quarantined: list[dict[str, Any]]) -> None:
    for each in quarantined:
        where = f"{each['source_file']}:{each['line']}" if each["line"] else each["source_file"]
        click.echo(f"  quarantined {where}: {each['reason']}", err=True)
