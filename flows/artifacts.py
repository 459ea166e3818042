"""What an operator sees of a run in the Prefect UI: progress, plan, gates, quarantine, report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, zip_longest
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from flows import progress
from flows.expectations import GateFailed, GateResult, write_data_docs
from flows.planned import Planned
from flows.run import Report, RunSpec

_SHOWN = 200  # files listed in an artifact
_WEIGHTS = {progress.CUT: 0.2, progress.EMBEDDED: 0.7}  # of the bar; the rest is publishing


class Progress:
    """The artifact `progress`: a bar for the run, with what is counted as its description."""

    def __init__(self) -> None:
        self._expected: dict[str, int] = {}
        self._done: Counter[str] = Counter()
        self._artifact: UUID | None = None
        self._sent: tuple[float, str] | None = None

    def expect(self, what: str, total: int) -> None:
        """So much of this is to be done."""
        self._expected[what] = total

    def advance(self, what: str, done: int) -> None:
        """So much more of it is done."""
        self._done[what] += done

    def refresh(self) -> None:
        """Send what has changed since the last time. Only for the flow's own thread."""
        share = sum(
            weight * min(self._done[what] / max(self._expected[what], 1), 1.0)
            for what, weight in _WEIGHTS.items()
            if what in self._expected
        )
        self._send(
            round(share * 100, 1),
            ", ".join(f"{self._done[w]} of {total} {w}" for w, total in self._expected.items()),
        )

    def finish(self, report: Report) -> None:
        """The run is over: all of it is done, or it stopped where it stands."""
        if report.status == "completed":
            self._send(100.0, f"job {report.job_id} of {report.book_id}: completed")

    def _send(self, percent: float, told: str) -> None:
        if (percent, told) == self._sent:
            return
        self._sent = percent, told
        if self._artifact is None:
            made = create_progress_artifact(key="progress", progress=percent, description=told)
            self._artifact = made if isinstance(made, UUID) else None
        else:
            update_progress_artifact(self._artifact, progress=percent, description=told)


def plan(planned: Planned) -> None:
    """The files by action, and the first of those that change."""
    table = planned.checkpoints.read("plan", ["action", "reason", "source_file"])
    rows = [row for row in table.to_pylist() if row["action"] != "unchanged"]
    counts = ", ".join(f"{count} {action}" for action, count in planned.files.items() if count)
    get_run_logger().info("The plan: %s", counts)
    more = f"; the first {_SHOWN} of {len(rows)} are shown" if len(rows) > _SHOWN else ""
    create_table_artifact(key="plan", table=rows[:_SHOWN], description=counts + more)


@contextmanager
def shown(spec: RunSpec, report: Report, gates: list[GateResult]) -> Iterator[Progress]:
    """Show gates, quarantine and counts when the block ends, also when a gate stops it.

    The gates' results are also kept as a page under `<home>/gates`.
    """
    bar = Progress()
    try:
        with progress.listening(bar):
            yield bar
    except BaseException as error:
        report.status = "failed"
        if isinstance(error, GateFailed):
            gates.append(error.result)
        raise
    finally:
        bar.finish(report)
        folder = spec.settings.home / "gates" / f"job-{report.job_id}"
        page = write_data_docs(gates, folder)
        get_run_logger().info("The gates' results are kept in %s", page)
        create_markdown_artifact(
            key="gates", markdown=_gates(gates), description=_gates_line(gates)
        )
        create_markdown_artifact(
            key="report", markdown=_report(report), description=_report_line(report)
        )
        if report.quarantined:
            create_table_artifact(
                key="quarantine",
                table=report.quarantined[:_SHOWN],
                description=f"{len(report.quarantined)} left as last indexed: mend and run again",
            )


def _gates(gates: Sequence[GateResult]) -> str:
    """A line a gate: its shards together; what failed comes below."""
    lines = ["| gate | tables | rows | expectations | result |", "|---|---|---|---|---|"]
    for gate, results in groupby(gates, key=lambda each: each.gate):
        seen = list(results)
        rows, asked = sum(each.checked for each in seen), sum(each.expectations for each in seen)
        verdict = "passed" if all(each.passed for each in seen) else "**failed**"
        lines.append(f"| {gate} | {len(seen)} | {rows} | {asked} | {verdict} |")
    failed = [each.markdown() for each in gates if not each.passed]
    return "\n".join(lines) + "\n\n" + "\n\n".join(failed)


def _gates_line(gates: Sequence[GateResult]) -> str:
    failed = {each.gate for each in gates if not each.passed}
    return f"failed: {', '.join(sorted(failed))}" if failed else "all gates passed"


def _report_line(report: Report) -> str:
    version = f", published as {report.index_version}" if report.index_version else ""
    seconds = sum(report.seconds.values())
    told = f"job {report.job_id} of {report.book_id}: {report.status}{version}"
    return f"{told} after {seconds:.1f} s"


def _report(report: Report) -> str:
    """Files, chunks and seconds side by side, so that they fit on a screen."""
    columns = [list(values.items()) for values in (report.files, report.chunks, report.seconds)]
    lines = [f"**{report.book_id}** ({report.mode}), job {report.job_id}: {report.status}", ""]
    lines += [f"index version {report.index_version or 'unchanged'}", ""]
    lines += ["| files | | chunks | | seconds | |", "|---|---:|---|---:|---|---:|"]
    for row in zip_longest(*columns, fillvalue=("", "")):
        lines.append("| " + " | ".join(f"{name} | {value}" for name, value in row) + " |")
    lines += ["", f"{report.cost['tokens']} tokens embedded, about {report.cost['usd']} USD"]
    return "\n".join(lines)
