"""A bar chart as SVG, without a library."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_COLOURS = ("#2f6f4f", "#c77d2b", "#4a6fa5", "#8c4a6f", "#777777")
_WIDTH, _BAR, _GAP, _LEFT = 760, 16, 26, 90


def bars(title: str, series: Mapping[str, Mapping[str, float]]) -> str:
    """One group per key, one bar per series, each with its number beside it."""
    groups = list(next(iter(series.values())))
    most = max(value for each in series.values() for value in each.values()) or 1.0
    height = 60 + len(groups) * (len(series) * _BAR + _GAP) + len(series) * 20
    size = f'viewBox="0 0 {_WIDTH} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="24" font-size="15">{escape(title)}</text>',
    ]
    y = 44
    for group in groups:
        parts.append(f'<text x="10" y="{y + 12}">{escape(group)}</text>')
        for colour, values in zip(_COLOURS, series.values(), strict=False):
            width = values[group] / most * (_WIDTH - _LEFT - 80)
            parts.append(
                f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR - 3}" '
                f'fill="{colour}"/><text x="{_LEFT + width + 5:.1f}" y="{y + 11}">'
                f"{values[group]:.2f}</text>"
            )
            y += _BAR
        y += _GAP
    for colour, name in zip(_COLOURS, series, strict=False):
        parts.append(
            f'<rect x="{_LEFT}" y="{y - 10}" width="10" height="10" fill="{colour}"/>'
            f'<text x="{_LEFT + 16}" y="{y}">{escape(name)}</text>'
        )
        y += 20
    return "\n".join([*parts, "</svg>", ""])
