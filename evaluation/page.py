"""One HTML page about one or several runs: no file, font or script from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from evaluation import plots
from evaluation.outcome import Row
from evaluation.report import HEADLINES, Table, hardest, tables
from evaluation.runs import Run, latencies

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2024;--soft:#60656c;--line:#d9dce0;--back:#fff;--box:#f6f7f8}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa0a6;--line:#3c4043;--back:#16181b;
--box:#202327}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:0 auto;
max-width:860px;padding:24px 20px 80px}
h1{font-size:1.6em;margin:0 0 4px}h2{font-size:1.15em;margin:40px 0 8px}
.soft,.small{color:var(--soft)}.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9em;font-variant-numeric:tabular-nums}
th,td{padding:3px 14px 3px 0;border-bottom:1px solid var(--line);text-align:right;
white-space:nowrap}
th:first-child,td:first-child{text-align:left}th{font-weight:600;vertical-align:bottom}
svg{max-width:100%;height:auto;display:block;margin:8px 0}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg text.small{font-size:11px;fill:var(--soft)}
.grid{stroke:var(--line)}.ideal{stroke:var(--soft);stroke-dasharray:4 4}
.line{fill:none;stroke-width:2}.whisker{stroke-width:2}.bubble{fill:#0072b2;fill-opacity:.55}
.c0{--c:#0072b2}.c1{--c:#d55e00}.c2{--c:#009e73}.c3{--c:#cc79a7}.c4{--c:#e69f00}.c5{--c:#56b4e9}
.c6{--c:#8a7a00}.c7{--c:#7f7f7f}.line,.whisker{stroke:var(--c)}.dot,.bar{fill:var(--c)}
.key span{display:inline-block;margin-right:18px}.key i{display:inline-block;width:10px;height:10px;
border-radius:5px;background:var(--c);margin-right:6px}
details{background:var(--box);border-radius:6px;padding:8px 12px;margin:6px 0}
summary{cursor:pointer}details ul{margin:8px 0 4px;padding-left:20px;font-size:.92em}
li{overflow-wrap:anywhere}pre{background:var(--box);padding:12px;border-radius:6px;overflow-x:auto;
font-size:.82em}.hit{color:#008a5c}@media(prefers-color-scheme:dark){.hit{color:#4cc38a}}
"""


def page(runs: Sequence[Run]) -> str:
    """The whole page as text."""
    first = runs[0]
    split = f" ({first.dataset.split})" if first.dataset.split else ""
    told = (
        f"{len(first.outcome.rows)} questions · {first.created_at} · "
        f"data {first.dataset.sha256[:12]} · code {first.code['commit']}"
    )
    sections = [
        f"<h1>{escape(first.dataset.name + split)}</h1>",
        f'<p class="soft">{escape(told)}</p>',
        _key(runs),
        _section("Scores, with 95 % intervals", _scores(runs)),
        _section("Recall by depth", _curves(runs)),
        _section(f"Confidence and truth ({first.label})", _calibration(first)),
        _section("Latency by stage", _latency(runs)),
        *(_section(table.title, _table(table)) for table in tables(runs)),
        _section(f"Hardest questions ({first.label})", _hardest(first)),
        _section("Notes", _notes(runs)),
        _section("How to repeat this", _provenance(runs)),
    ]
    title = escape(f"askbook evaluation: {first.dataset.name}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(sections)}</body></html>\n"
    )


def _section(title: str, body: str) -> str:
    return f"<h2>{escape(title)}</h2>{body}" if body else ""


def _key(runs: Sequence[Run]) -> str:
    if len(runs) == 1:
        return f'<p class="soft">condition: {escape(runs[0].label)}</p>'
    names = (
        f'<span class="c{at % 8}"><i></i>{escape(run.label)}</span>' for at, run in enumerate(runs)
    )
    return f'<p class="key">{"".join(names)}</p>'


def _scores(runs: Sequence[Run]) -> str:
    names = [name for name in HEADLINES if name in runs[0].figures]
    return plots.dots([plots.Series(run.label, run.figures) for run in runs], names)


def _curves(runs: Sequence[Run]) -> str:
    lines = {
        run.label: {
            depth: run.figures[name].mean
            for depth, name in run.outcome.curve.items()
            if name in run.figures
        }
        for run in runs
    }
    return plots.curves(lines) if any(lines.values()) else ""


def _calibration(run: Run) -> str:
    return plots.calibration(run.outcome.reliability) if run.outcome.reliability else ""


def _latency(runs: Sequence[Run]) -> str:
    found = {run.label: latencies(run.outcome.rows) for run in runs}
    return plots.bars(found) if any(found.values()) else ""


def _table(table: Table) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return f'<div class="wide"><table><tr>{heads}</tr>{rows}</table></div>'


def _hardest(run: Run) -> str:
    return "".join(_question(row, run.outcome.main) for row in hardest(run))


def _question(row: Row, main: str) -> str:
    wanted = "".join(f"<li>{escape(each)}</li>" for each in row.wanted)
    found = "".join(
        f"<li{' class=hit' if each.startswith('✓') else ''}>{escape(each)}</li>"
        for each in row.found
    )
    told = f"{row.scores[main]:.3f}" + (f" · {row.kind}" if row.kind else "")
    return (
        f"<details><summary>{escape(row.question)} "
        f'<span class="soft">({escape(told)})</span></summary>'
        f"<div>wanted<ul>{wanted}</ul>found<ul>{found or '<li>nothing</li>'}</ul></div></details>"
    )


def _notes(runs: Sequence[Run]) -> str:
    notes = dict.fromkeys(note for run in runs for note in run.outcome.notes)
    return "<ul>" + "".join(f"<li>{escape(n)}</li>" for n in notes) + "</ul>" if notes else ""


def _provenance(runs: Sequence[Run]) -> str:
    facts = [
        {
            "run": run.id,
            "dataset": {"path": run.dataset.path, "sha256": run.dataset.sha256},
            "condition": dict(run.condition),
            "code": dict(run.code),
            "settings": dict(run.settings),
        }
        for run in runs
    ]
    told = json.dumps(facts, indent=1, ensure_ascii=False)
    return (
        f"<details><summary>settings, code and hashes</summary><pre>{escape(told)}</pre></details>"
    )
