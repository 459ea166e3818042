"""The blocks of a page, by a CommonMark parser, with exact offsets into its readable text."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from askbook.book.clean import Cleaned
from askbook.book.headings import Anchors
from askbook.book.html import PARSER, flattened
from askbook.book.offsets import Offsets


class Kind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    ITEM = "list item"
    FENCE = "code fence"
    CODE = "indented code"
    TABLE = "table"
    QUOTE = "quote"
    MATH = "math"
    HTML = "HTML"
    FOOTNOTE = "footnote"
    RULE = "rule"
    OTHER = "link definitions"  # what the parser is silent about


@dataclass(slots=True)
class Block:
    """A block and all up to the next one: lines `start` to `end`; `stop` is its own end."""

    kind: Kind
    start: int
    stop: int
    end: int = 0
    level: int = 0  # of a heading
    label: str = ""  # of a footnote's definition
    refs: tuple[str, ...] = ()  # labels of the footnotes it refers to


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that opens a section of the page."""

    start: int
    level: int
    title: str
    anchor: str


@dataclass(slots=True)
class Page:
    """The blocks of a page, which together are its whole text, and its headings."""

    text: str
    offsets: Offsets
    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)


_BLANK_LINES: Final = re.compile(r"(?:[ \t]*+\n)*+")
KINDS: Final = {
    "Paragraph": Kind.PARAGRAPH,
    "HtmlBlock": Kind.HTML,
    "Heading": Kind.HEADING,
    "BlockQuote": Kind.QUOTE,
    "List": Kind.LIST,
    "Item": Kind.ITEM,
    "Table": Kind.TABLE,
    "FootnoteDefinition": Kind.FOOTNOTE,
}


def parse(cleaned: Cleaned) -> Page:
    """Parse readable Markdown into blocks; every character belongs to exactly one."""
    reader = _Reader()
    reader.read(flattened(cleaned.text))
    offsets = Offsets(cleaned.text)
    page = Page(cleaned.text, offsets)
    page.blocks = _blocks(cleaned.text, reader.found, offsets)
    page.headings = _headings(reader.headings, offsets, cleaned.ids)
    return page


class _Reader:
    """Reads the parser's events once; keeps the outermost blocks and all headings."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self.headings: list[tuple[int, int, int, list[str], bool]] = []

    def read(self, text: str) -> None:  # noqa: C901 - one loop over a million events
        """Go through all events; most are inline and of no interest, so they are passed first."""
        depth = 0
        title: list[str] | None = None  # of the heading that is being read
        reads_inline = has_marks = "[^" in text or "$$" in text
        for event, span in PARSER.events_with_range(text, merge_text=True):
            if isinstance(event, str):
                if event == "Rule" and depth == 0:
                    self.found.append(Block(Kind.RULE, span["start"], span["end"]))
            elif "Text" in event:
                if title is not None:
                    title.append(event["Text"])
            elif "Start" in event:
                depth += 1
                opening = event["Start"]
                if depth == 1:
                    self._open(opening, span["start"], span["end"])
                if isinstance(opening, dict) and "Heading" in opening:
                    level = int(opening["Heading"]["level"][1])
                    title, reads_inline = [], True
                    self.headings.append((span["start"], span["end"], level, title, depth == 1))
            elif "End" in event:
                depth -= 1
                if title is not None and "Heading" in event["End"]:
                    title, reads_inline = None, has_marks
            elif reads_inline:
                self._inline(event, title, span["start"], span["end"])

    def _open(self, opening: object, start: int, end: int) -> None:
        name = str(next(iter(opening))) if isinstance(opening, dict) else str(opening)
        kind = KINDS.get(name)
        block = Block(kind or Kind.OTHER, start, end)
        if isinstance(opening, dict):
            if name == "CodeBlock":
                block.kind = Kind.CODE if opening[name] == "Indented" else Kind.FENCE
            elif kind is Kind.HEADING:
                block.level = int(opening[name]["level"][1])
            elif kind is Kind.FOOTNOTE:
                block.label = opening[name]
        self.found.append(block)

    def _inline(
        self, event: Mapping[str, object], title: list[str] | None, start: int, end: int
    ) -> None:
        if title is not None:
            words = event.get("Code") or event.get("InlineMath") or ""
            title.append(str(words))
        if self.found and start < self.found[-1].stop:
            block = self.found[-1]
            if "FootnoteReference" in event:
                block.refs = (*block.refs, str(event["FootnoteReference"]))
            elif "DisplayMath" in event and start == block.start and end >= block.stop - 1:
                block.kind = Kind.MATH


def _blocks(text: str, found: list[Block], offsets: Offsets) -> list[Block]:
    """Give each block its lines, and the text between blocks a place."""
    starts = offsets.to_points([block.start for block in found])
    stops = offsets.to_points([block.stop for block in found])
    blocks: list[Block] = []
    for block, start, stop in zip(found, starts, stops, strict=True):
        block.start = text.rfind("\n", blocks[-1].start if blocks else 0, start) + 1
        block.stop = stop
        if blocks and block.start <= blocks[-1].start:
            blocks[-1].stop = max(blocks[-1].stop, stop)  # two blocks that share a line
            continue
        blocks.append(block)
    return list(_fill_gaps(text, blocks))


def _fill_gaps(text: str, blocks: list[Block]) -> Iterator[Block]:
    if not blocks or text[: blocks[0].start].strip():
        blocks.insert(0, Block(Kind.OTHER, 0, 0))
    blocks[0].start = 0
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        block.end = after.start if after else len(text)
        has_more = block.kind is not Kind.OTHER and not text[block.stop : block.end].isspace()
        if has_more and block.stop < block.end:
            stop = text.find("\n", max(block.stop - 1, block.start)) + 1
            blanks = _BLANK_LINES.match(text, stop)
            stop = blanks.end() if blanks else stop
            if 0 < stop < block.end:
                yield Block(
                    block.kind, block.start, block.stop, stop, block.level, block.label, block.refs
                )
                yield Block(Kind.OTHER, stop, block.end, block.end)
                continue
        yield block


def _headings(
    found: list[tuple[int, int, int, list[str], bool]],
    offsets: Offsets,
    ids: list[tuple[int, str]],
) -> list[Heading]:
    starts = offsets.to_points([start for start, *_ in found])
    ends = offsets.to_points([end for _, end, *_ in found])
    anchors = Anchors()
    headings: list[Heading] = []
    for (_, _, level, parts, is_section), start, end in zip(found, starts, ends, strict=True):
        title = " ".join("".join(parts).split())
        anchor = anchors.add(title, _id_in(ids, start, end))
        if is_section:
            headings.append(Heading(start, level, title, anchor))
    return headings


def _id_in(ids: list[tuple[int, str]], start: int, end: int) -> str | None:
    at = bisect.bisect_left(ids, (start, ""))
    return ids[at][1] if at < len(ids) and ids[at][0] <= end else None
