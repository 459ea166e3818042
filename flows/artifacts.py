"""What an operator sees of a run in the Prefect UI: plan, gates, quarantine, counts, timings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from prefect import get_run_logger
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from flows.expectations import GateFailed, GateResult, write_data_docs
from flows.planning import Planned
from flows.run import Report, RunSpec

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
def shown(spec: RunSpec, report: Report, gates: list[GateResult]) -> Iterator[None]:
    """Show gates, quarantine and counts when the block ends, also when a gate stops it.

    The gates' results are also kept as a page under `<home>/gates`.
    """
    try:
        yield
    except GateFailed as error:
        gates.append(error.result)
        raise
    finally:
        folder = spec.settings.home / "gates" / f"job-{report.job_id}"
        page = write_data_docs(gates, folder)
        get_run_logger().info("The gates' results are kept in %s", page)
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
    sections: dict[str, dict[str, int] | dict[str, float]] = {
        "files": report.files,
        "chunks": report.chunks,
        "seconds": report.seconds,
    }
    lines = [f"**{report.book_id}** ({report.mode}), job {report.job_id}: {report.status}", ""]
    lines += [f"index version {report.index_version or 'unchanged'}", ""]
    for title, values in sections.items():
        lines += [f"| {title} | |", "|---|---|"]
        lines += [f"| {name} | {value} |" for name, value in values.items()] + [""]
    lines.append(f"{report.cost['tokens']} tokens embedded, about {report.cost['usd']} USD")
    return "\n".join(lines)
