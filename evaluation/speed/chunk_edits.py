"""How many chunk ids survive the edit of one paragraph in the middle of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import mean
from typing import Final

from askbook.book.chunk import chunk_lesson
from askbook.book.frontmatter import body_start
from askbook.book.presets import PRESETS
from askbook.models import Chunk, ChunkSettings, Lesson

_PARAGRAPH: Final = re.compile(r"(?<=\n\n)[A-Z][^\n<{`|]+(?:\n[A-Za-z][^\n]*)*(?=\n\n)")
_FENCE: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_ADDED: Final = (
    "A sentence that was not here before tells the reader what the planner does when a goal is "
    "lost. Another one says how long it waits, and that the arm then goes back to its rest."
)
_COLUMNS: Final = ("preset", "edit", "pages", "mean ids kept", "worst", "90 % kept", "all kept")
_FEWEST: Final = 4  # chunks a page must have for a share to mean anything


def report_edits(pages: list[tuple[str, Lesson]]) -> None:
    """Print the share of other ids that stay, for each preset and sort of edit."""
    print(f"\n| {' | '.join(_COLUMNS)} |\n{'|---' * len(_COLUMNS)}|")
    for name, settings in PRESETS.items():
        kept: dict[str, list[float]] = {}
        for text, lesson in pages:
            for edit, share in shares_kept(text, lesson, settings):
                kept.setdefault(edit, []).append(share)
        kept["all"] = [share for shares in kept.values() for share in shares]
        for edit, shares in kept.items():
            most, whole = (mean(share >= least for share in shares) for least in (0.9, 1))
            cells = f"{mean(shares):.1%} | {min(shares):.0%} | {most:.0%} | {whole:.0%}"
            print(f"| {name} | {edit} | {len(shares)} | {cells} |")


def shares_kept(text: str, lesson: Lesson, settings: ChunkSettings) -> Iterator[tuple[str, float]]:
    """Yield, for each sort of edit, the share of the other chunks that keep their ids."""
    chunks = chunk_lesson(text, lesson, settings)
    place = middle_paragraph(text) if len(chunks) >= _FEWEST else None
    if place is None:
        return
    others = [chunk for chunk in chunks if not _touches(chunk, *place)]
    for name, edited in edits(text, *place):
        ids = {chunk.id for chunk in chunk_lesson(edited, lesson, settings)}
        yield name, sum(chunk.id in ids for chunk in others) / max(1, len(others))


def middle_paragraph(text: str) -> tuple[int, int] | None:
    """Return the plain paragraph nearest to the middle of a page."""
    start = body_start(text)
    fences = [fence.span() for fence in _FENCE.finditer(text)]
    middle = (start + len(text)) // 2
    found = [
        paragraph.span()
        for paragraph in _PARAGRAPH.finditer(text, start)
        if not any(a < paragraph.start() < b for a, b in fences)
    ]
    return min(found, key=lambda span: abs(span[0] - middle), default=None)


def edits(text: str, start: int, end: int) -> list[tuple[str, str]]:
    """Return the page with its paragraph lengthened, shortened, doubled, deleted, reworded."""
    before, paragraph, after = text[:start], text[start:end], text[end:]
    return [
        ("lengthen", f"{before}{paragraph} {_ADDED}{after}"),
        ("shorten", f"{before}Much less is said here.{after}"),
        ("add", f"{before}{paragraph}\n\n{_ADDED}{after}"),
        ("delete", before.rstrip("\n") + "\n\n" + after.lstrip("\n")),
        ("reword", f"{before}Changed: {paragraph}{after}"),
    ]


def _touches(chunk: Chunk, start: int, end: int) -> bool:
    return chunk.start_char_offset < end and start < chunk.end_char_offset
