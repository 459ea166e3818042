"""All benchmarks in one run, one report: Markdown, JSON and plots in docs/benchmarks/.

    python -m evaluation.speed.report [--only chunkers library …] [--into FOLDER]

Each part is a program of its own that prints Markdown. They run one after the other, so that none
disturbs another; a part that fails is named in the report and the others go on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evaluation.speed.plots import bars

Row = dict[str, str]
_ROOT = Path(__file__).parents[2]
_ROW = re.compile(r"^\|(.*)\|\s*$")
_RULE = re.compile(r"^\|[-| :]+\|\s*$")
_NUMBER = re.compile(r"-?[\d,]*\.?\d+")
_HOW = (
    "`make bench`, {date}, {machine}. Figures within one part are of one run on the same texts and "
    "compare with each other; seconds do not compare with those of another machine. How to read "
    "them: [README.md](README.md)."
)


@dataclass(frozen=True, slots=True)
class Part:
    """One benchmark: a program, and how its first table is drawn."""

    title: str
    command: tuple[str, ...]
    plot: tuple[str, Callable[[list[Row]], dict[str, dict[str, float]]]] | None = None
    libraries: str = ""  # a folder of libraries that only this part may see


@dataclass(slots=True)
class Ran:
    """What a part printed, and its tables."""

    name: str
    title: str
    command: str
    seconds: float
    failed: bool
    markdown: str
    tables: list[list[Row]] = field(default_factory=list)


def read_tables(markdown: str) -> list[list[Row]]:
    """Every Markdown table, as rows by column name."""
    tables: list[list[Row]] = []
    columns: list[str] = []
    before = ""
    for line in markdown.splitlines():
        if _RULE.match(line) and _ROW.match(before):
            columns = _cells(before)
            tables.append([])
        elif columns and _ROW.match(line):
            tables[-1].append(dict(zip(columns, _cells(line), strict=False)))
        else:
            columns = []
        before = line
    return tables


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(cell: str) -> float:
    """The first number in a cell."""
    found = _NUMBER.search(cell)
    if not found:
        raise ValueError(f"no number in {cell!r}")
    return float(found[0].replace(",", ""))


def _speeds(rows: list[Row]) -> dict[str, dict[str, float]]:
    """MB/s of each chunker, by size."""
    series: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.get("chunks"):
            of_size = series.setdefault(f"at most {row['max tokens']} tokens", {})
            of_size[row["chunker"]] = number(row["MB/s"])
    return series


def _phases(rows: list[Row]) -> dict[str, dict[str, float]]:
    """CPU seconds of each library, by phase."""
    phases = ("cold", "unchanged", "edit", "delete")
    return {row[""]: {phase: number(row[phase]) for phase in phases} for row in rows}


def _latencies(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Milliseconds of a search, by the size of the library."""
    (medians,) = (row for row in rows if row[""] == "search p50 ms")
    return {"median of a search": {k: number(v) for k, v in medians.items() if k}}


def parts(corpora: str, chunkers: str, peers: str) -> dict[str, Part]:
    """All parts, in the order in which they run."""
    module = "evaluation.speed."
    return {
        "chunkers": Part(
            "Chunkers",
            (f"{module}chunking", corpora),
            ("MB/s (more is better)", _speeds),
            chunkers,
        ),
        "ingest": Part("Ingest against its floors and targets", (f"{module}ingest",)),
        "peers": Part(
            "Ingest next to other libraries",
            (f"{module}against", "--peers", peers),
            ("CPU seconds by phase (less is better)", _phases),
        ),
        "asking": Part("Asking against the embedder and the engine", (f"{module}asking",)),
        "api": Part("Search over HTTP against the bare chain", (f"{module}api",)),
        "library": Part(
            "A library that grows a hundredfold",
            (f"{module}library", "--chunks", "1000", "10000", "100000"),
            ("milliseconds a search (less is better)", _latencies),
        ),
    }


def run(name: str, part: Part) -> Ran:
    """Run one part to its end; what it prints is shown at once and kept."""
    print(f"\n## {part.title}\n", flush=True)
    started, said = time.perf_counter(), []
    with subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, "-m", *part.command],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
        env={**os.environ, **({"PYTHONPATH": part.libraries} if part.libraries else {})},
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            said.append(line)
    markdown = "".join(said).strip()
    return Ran(
        name,
        part.title,
        "python -m " + " ".join(part.command),
        round(time.perf_counter() - started, 1),
        process.returncode != 0,
        markdown,
        read_tables(markdown),
    )


def write(into: Path, ran: Sequence[Ran], known: dict[str, Part]) -> None:
    """The report of these parts; plots of other parts stay."""
    into.mkdir(parents=True, exist_ok=True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    lines = [
        "# Benchmarks",
        "",
        _HOW.format(date=time.strftime("%Y-%m-%d"), machine=machine),
    ]
    for each in ran:
        lines += ["", f"## {each.title}", "", f"`{each.command}`, {each.seconds:.0f} s", ""]
        if each.failed:
            lines += ["**This part failed.**", ""]
        lines += [re.sub(r"^(#+ )", r"##\1", each.markdown, flags=re.MULTILINE)]
        plot = known[each.name].plot
        if plot and each.tables and not each.failed:
            title, series = plot
            (into / f"{each.name}.svg").write_text(bars(title, series(each.tables[0])), "utf-8")
            lines += ["", f"![{title}]({each.name}.svg)"]
    (into / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figures = {"date": time.strftime("%Y-%m-%d"), "machine": machine}
    kept = [{k: v for k, v in asdict(each).items() if k != "markdown"} for each in ran]
    told = json.dumps({**figures, "parts": kept}, indent=1, ensure_ascii=False)
    (into / "report.json").write_text(told + "\n", encoding="utf-8")


def main() -> None:
    """Run the parts and write the report; the exit code says whether all of them ran."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpora", default="data/books")
    parser.add_argument("--chunkers", default=".venv/peers", help="folder with other chunkers")
    parser.add_argument("--peers", default=".venv/bench-peers/bin/python")
    parser.add_argument("--only", nargs="+", choices=[*parts("", "", "")])
    parser.add_argument("--into", type=Path, default=_ROOT / "docs" / "benchmarks")
    options = parser.parse_args()
    known = parts(options.corpora, options.chunkers, options.peers)
    ran: list[Ran] = []
    for name in options.only or known:
        ran.append(run(name, known[name]))
        write(options.into, ran, known)  # after each: a run of twenty minutes may be broken off
    sys.exit(any(each.failed for each in ran))


if __name__ == "__main__":
    main()
