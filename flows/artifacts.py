"""What an operator sees of a run in the Prefect UI: plan, gates, quarantine, counts, timings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.context import FlowRunContext

from flows.expectations import GateFailed, GateResult
from flows.planning import Planned
from flows.run import Report

_SHOWN = 200  # files listed in an artifact


def plan(planned: Planned) -> None:
    """The files by action, and the first of those that change."""
    table = planned.checkpoints.read("plan", ["action", "source_file", "reason"])
    rows = [row for row in table.to_pylist() if row["action"] != "unchanged"]
    counts = ", ".join(f"{count} {action}" for action, count in planned.files.items() if count)
    create_table_artifact(
        key="plan", table=rows[:_SHOWN], description=f"{counts}; {len(rows)} files change"
    )


@contextmanager
def shown(report: Report, gates: list[GateResult]) -> Iterator[None]:
    """Show gates, quarantine and counts when the block ends, also when a gate stops it."""
    try:
        yield
    except GateFailed as error:
        gates.append(error.result)
        raise
    finally:
        if FlowRunContext.get() is not None:
            create_markdown_artifact(key="gates", markdown=_gates(gates))
            create_markdown_artifact(key="report", markdown=_report(report))
            if report.quarantined:
                create_table_artifact(key="quarantine", table=report.quarantined[:_SHOWN])


def _gates(gates: Sequence[GateResult]) -> str:
    failed = [each for each in gates if not each.passed]
    lines = ["| gate | rows | expectations | result |", "|---|---|---|---|"]
    lines += [
        f"| {each.gate} | {each.checked} | {each.expectations} "
        f"| {'passed' if each.passed else '**failed**'} |"
        for each in gates
    ]
    return "\n".join(lines) + "\n\n" + "\n\n".join(each.markdown() for each in failed)


def _report(report: Report) -> str:
    sections = {"files": report.files, "chunks": report.chunks, "seconds": report.seconds}
    lines = [f"**{report.book_id}** ({report.mode}), job {report.job_id}: {report.status}", ""]
    lines += [f"index version {report.index_version or 'unchanged'}", ""]
    for title, values in sections.items():
        lines += [f"| {title} | |", "|---|---|"]
        lines += [f"| {name} | {value} |" for name, value in values.items()] + [""]
    lines.append(f"{report.cost['tokens']} tokens embedded, about {report.cost['usd']} USD")
    return "\n".join(lines)
