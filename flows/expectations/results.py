"""What a gate expects at most or at least, and what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from askbook.errors import RunRefused

FAILURES_IN_MESSAGE = 5
ROWS_IN_MESSAGE = 2


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The thresholds of all gates."""

    max_quarantined_share: float = 0.5  # of the files
    min_tokens_median: int = 20  # of the chunks of a table; only where it has 20 or more
    max_tokens: int = 1024  # of one chunk
    max_duplicate_share: float = 0.5  # chunks whose text occurs more than once; 20 or more


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed expectation."""

    expectation: str  # e.g. "expect_column_values_to_be_unique(id)"
    observed: str  # what was found instead, or how many rows failed
    rows: list[dict[str, object]]  # at most 5 of them, their values at most 80 characters


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one gate found in one table."""

    gate: str  # files, plan, chunks, embeddings or index
    checked: int  # rows
    expectations: int
    failures: tuple[Failure, ...]

    @property
    def passed(self) -> bool:
        """Whether every expectation holds."""
        return not self.failures

    def summary(self) -> str:
        """One line for logs."""
        if self.passed:
            return f"{self.gate} gate passed: {self.expectations} expectations, {self.checked} rows"
        what = "; ".join(f"{each.expectation}: {each.observed}" for each in self.failures)
        return (
            f"{self.gate} gate failed: {len(self.failures)} of {self.expectations} expectations, "
            f"{self.checked} rows: {what}"
        )

    def markdown(self) -> str:
        """A heading, and a table of what failed."""
        verdict = f"{len(self.failures)} failed" if self.failures else "all hold"
        asked = f"{self.expectations} expectations on {self.checked} rows"
        lines = [f"### {self.gate}", "", f"{asked}: {verdict}."]
        if self.failures:
            lines += ["", "| expectation | observed | sample rows |", "|---|---|---|"]
            lines += [_markdown_row(failure) for failure in self.failures]
        return "\n".join(lines) + "\n"


class GateFailed(RunRefused):
    """The data between two stages is not what it must be; `result` has the details."""

    def __init__(self, result: GateResult) -> None:
        self.result = result
        super().__init__(_message(result))

    def __reduce__(self) -> tuple[Callable[[GateResult], GateFailed], tuple[GateResult]]:
        return GateFailed, (self.result,)  # it travels between the processes of a run


def require(result: GateResult) -> GateResult:
    """Let a good table through; raise GateFailed for any other."""
    if not result.passed:
        raise GateFailed(result)
    return result


def row_text(row: dict[str, object]) -> str:
    """A sample row on one line."""
    return ", ".join(f"{name}={value!r}" for name, value in row.items())


def _message(result: GateResult) -> str:
    asked = f"{result.expectations} expectations on {result.checked} rows"
    lines = [f"The {result.gate} gate failed: {len(result.failures)} of {asked}."]
    for failure in result.failures[:FAILURES_IN_MESSAGE]:
        lines.append(f"- {failure.expectation}: {failure.observed}")
        lines += [f"    {row_text(row)}" for row in failure.rows[:ROWS_IN_MESSAGE]]
    more = len(result.failures) - FAILURES_IN_MESSAGE
    if more > 0:
        lines.append(f"- and {more} more")
    lines.append("Mend what the rows show and run again; the gates' limits are settings.")
    return "\n".join(lines)


def _markdown_row(failure: Failure) -> str:
    rows = "<br>".join(_cell(row_text(row)) for row in failure.rows)
    return f"| {_cell(failure.expectation)} | {_cell(failure.observed)} | {rows} |"


def _cell(value: str) -> str:
    """Text that neither ends the cell nor becomes markup."""
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")
    for sign in "\\`*_|[]":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped
