"""Small drawings in SVG, for a page that needs nothing else. Colours come from the page's CSS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from evaluation.metrics import Bin, Interval

WIDTH = 720
_LEFT = 150  # room for names
_RIGHT = 24
_ROW = 16  # a run's line
_GAP = 12  # between groups of runs


@dataclass(frozen=True, slots=True)
class Series:
    """One run in a drawing."""

    name: str
    values: Mapping[str, Interval]


def dots(series: Sequence[Series], names: Sequence[str]) -> str:
    """Figures between 0 and 1 as dots, their 95 % intervals as lines, runs below each other."""
    height = len(names) * (len(series) * _ROW + _GAP) + 30
    parts = [_grid(height - 24)]
    y = 8
    for name in names:
        parts.append(_text(_LEFT - 10, y + len(series) * _ROW / 2 + 4, name, "end"))
        for number, run in enumerate(series):
            y += _ROW
            if (value := run.values.get(name)) is not None:
                parts.append(_dot(number, y - _ROW / 2, run.name, name, value))
        y += _GAP
    return _svg(height, parts)


def curves(lines: Mapping[str, Mapping[int, float]]) -> str:
    """A share by depth, a line per run; depths stand evenly apart."""
    height, bottom, top = 300, 262, 12
    depths = sorted({depth for line in lines.values() for depth in line})
    step = (WIDTH - 60 - _RIGHT) / max(len(depths) - 1, 1)
    xs = {depth: 60 + at * step for at, depth in enumerate(depths)}
    lowest = min((share for line in lines.values() for share in line.values()), default=0.0)
    floor = min(int(lowest * 5) / 5, 0.8)
    parts = [_levels(top, bottom, 60, floor=floor)]
    parts += [_text(x, bottom + 18, str(depth), "middle") for depth, x in xs.items()]
    parts.append(_text(60 + (WIDTH - 60 - _RIGHT) / 2, bottom + 34, "passages looked at", "middle"))
    for number, (name, line) in enumerate(lines.items()):
        points = [
            (xs[depth], bottom - (share - floor) / (1 - floor) * (bottom - top))
            for depth, share in line.items()
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line c{number % 8}" points="{path}"/>')
        for (x, y), (depth, share) in zip(points, line.items(), strict=True):
            tip = escape(f"{name}: {share:.3f} at {depth}")
            parts.append(
                f'<circle class="dot c{number % 8}" cx="{x:.1f}" cy="{y:.1f}" r="3.5">'
                f"<title>{tip}</title></circle>"
            )
    return _svg(height + 4, parts)


def calibration(bins: Sequence[Bin]) -> str:
    """How often answers of a confidence were right; on the diagonal, confidence is honest."""
    size, left, top = 280, 60, 34  # room for a number above the highest bubble
    bottom = top + size
    most = max((each.count for each in bins), default=1)
    parts = [_levels(top, bottom, left, left + size)]
    parts.append(f'<line class="ideal" x1="{left}" y1="{bottom}" x2="{left + size}" y2="{top}"/>')
    for each in bins:
        x, y = left + each.confidence * size, bottom - each.right * size
        radius = 4 + 10 * (each.count / most) ** 0.5
        tip = f"{each.count} answers: confidence {each.confidence:.2f}, right {each.right:.2f}"
        parts.append(
            f'<circle class="bubble" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
            f"<title>{escape(tip)}</title></circle>"
        )
        parts.append(_text(x, y - radius - 4, str(each.count), "middle"))
    parts += [
        _text(left + share * size, bottom + 18, f"{share:.1f}", "middle")
        for share in (0.0, 0.5, 1.0)
    ]
    parts.append(_text(left + size / 2, bottom + 36, "confidence", "middle"))
    parts.append(_text(left + size + 16, top + 16, "up: share of right answers"))
    parts.append(_text(left + size + 16, top + 34, "numbers: answers in the bin"))
    return _svg(bottom + 46, parts)


def bars(runs: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Milliseconds by stage: the bar ends at the median, the line at the 95th percentile."""
    stages = list(dict.fromkeys(stage for run in runs.values() for stage in run))
    longest = max((t["p95"] for run in runs.values() for t in run.values()), default=1) or 1
    scale = (WIDTH - _LEFT - 150) / longest
    parts, y = [], 6
    for stage in stages:
        parts.append(_text(_LEFT - 10, y + len(runs) * _ROW / 2 + 4, stage, "end"))
        for number, (name, run) in enumerate(runs.items()):
            if (times := run.get(stage)) is not None:
                middle, high = times["p50"] * scale, times["p95"] * scale
                told = f"{times['p50']:.1f} ms, 95 %: {times['p95']:.1f}"
                parts.append(
                    f'<rect class="bar c{number % 8}" x="{_LEFT}" y="{y + 3}" width="{middle:.1f}" '
                    f'height="{_ROW - 6}"><title>{escape(f"{name}: {told}")}</title></rect>'
                    f'<line class="whisker c{number % 8}" x1="{_LEFT + middle:.1f}" y1="{y + 8}" '
                    f'x2="{_LEFT + high:.1f}" y2="{y + 8}"/>'
                )
                parts.append(_text(_LEFT + high + 6, y + 12, told, kind="small"))
            y += _ROW
        y += _GAP
    return _svg(y, parts)


def _dot(number: int, y: float, run: str, measure: str, value: Interval) -> str:
    low, mean, high = (_x(v) for v in (value.low, value.mean, value.high))
    tip = f"{run}: {measure} {value.mean:.4f} ({value.low:.3f}–{value.high:.3f})"
    return (
        f'<line class="whisker c{number % 8}" x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>'
        f'<circle class="dot c{number % 8}" cx="{mean:.1f}" cy="{y}" r="4.5">'
        f"<title>{escape(tip)}</title></circle>"
    )


def _x(share: float) -> float:
    return _LEFT + min(max(share, 0.0), 1.0) * (WIDTH - _LEFT - _RIGHT)


def _grid(bottom: float) -> str:
    marks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    lines = (
        f'<line class="grid" x1="{_x(m):.1f}" y1="0" x2="{_x(m):.1f}" y2="{bottom}"/>'
        for m in marks
    )
    return "".join(lines) + "".join(_text(_x(m), bottom + 16, f"{m:.1f}", "middle") for m in marks)


def _levels(
    top: float, bottom: float, left: float, right: float = WIDTH - _RIGHT, floor: float = 0.0
) -> str:
    parts = []
    for share in (mark / 10 for mark in range(round(floor * 10), 11, 1 if floor else 2)):
        y = bottom - (share - floor) / (1 - floor) * (bottom - top)
        parts.append(f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        parts.append(_text(left - 8, y + 4, f"{share:.1f}", "end"))
    return "".join(parts)


def _text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} class="{kind}">{escape(words)}</text>'


def _svg(height: float, parts: Sequence[str]) -> str:
    body = "".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" role="img">{body}</svg>'
