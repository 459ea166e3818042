"""The page of a run's gates that is kept with the run: one file, nothing loaded from elsewhere."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from flows.expectations.results import Failure, GateResult

_KEPT_RUNS = 100
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gates of the run: {verdict}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem }}
table {{ border-collapse: collapse; margin: .5rem 0 1.5rem; width: 100% }}
th, td {{ border: 1px solid #ccc; padding: .25rem .5rem; text-align: left; vertical-align: top }}
td {{ overflow-wrap: anywhere }}
.passed {{ color: #17692e }}
.failed {{ color: #a11d1d; font-weight: 600 }}
</style>
</head>
<body>
<h1>Gates of the run: <span class="{verdict}">{verdict}</span></h1>
{overview}
{failures}
</body>
</html>
"""


def write_data_docs(results: Sequence[GateResult], folder: Path) -> Path:
    """Write `gates.html` into the run's folder, aside and renamed; returns its path.

    Beside it the folders of the last hundred runs are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runs = sorted(folder.parent.glob("job-*"), key=lambda each: int(each.name[4:]))
    for old in runs[:-_KEPT_RUNS]:
        shutil.rmtree(old, ignore_errors=True)
    path = folder / "gates.html"
    aside = folder / f"gates.html.{uuid.uuid4().hex[:8]}.tmp"
    aside.write_text(_page(results), encoding="utf-8")
    return aside.replace(path)


def _page(results: Sequence[GateResult]) -> str:
    rows = (
        [each.gate, each.checked, each.expectations, len(each.failures), _verdict(each.passed)]
        for each in results
    )
    return PAGE.format(
        verdict=_verdict(all(each.passed for each in results)),
        overview=_table(["gate", "rows", "expectations", "failed", "verdict"], rows),
        failures="\n".join(
            _failure(result.gate, failure) for result in results for failure in result.failures
        ),
    )


def _verdict(passed: bool) -> str:  # noqa: FBT001 - the only thing it is about
    return "passed" if passed else "failed"


def _failure(gate: str, failure: Failure) -> str:
    names = list(dict.fromkeys(name for row in failure.rows for name in row))
    rows = ([row.get(name) for name in names] for row in failure.rows)
    return (
        f"<h2>{escape(gate)}: {escape(failure.expectation)}</h2>\n"
        f"<p>Observed: {escape(failure.observed)}</p>\n{_table(names, rows) if names else ''}"
    )


def _table(names: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return f"<table>\n<tr>{head}</tr>\n{body}\n</table>"


def _cell(value: object) -> str:
    return "–" if value is None else escape(str(value))
