"""The readable Markdown of a page, and the way back from each character to the source."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from typing import Final

from askbook.book.directives import Marks
from askbook.book.html import mark_markdown
from askbook.book.mdx import mark_mdx

_REST_IS_BLANK: Final = re.compile(r"[ \t]*+(?:\n|\Z)")
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*+\n)++")


@dataclass(slots=True)
class Cleaned:
    """Readable text; `whole` ranges and heading `ids` are given as offsets into it."""

    text: str
    whole: list[tuple[int, int]] = field(default_factory=list)
    ids: list[tuple[int, str]] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)  # of each copied piece, in `text`
    _origins: list[int] = field(default_factory=list)  # of the same piece, in the page
    _returns: list[int] = field(default_factory=list)  # newlines of the page that were CR LF

    _leads: dict[int, int] = field(default_factory=dict)
    _trails: dict[int, int] = field(default_factory=dict)

    def place(self, marks: Marks, returns: list[int]) -> None:
        """Take over, as offsets into `text`, what was marked in the page."""
        self._returns, self._leads, self._trails = returns, marks.leads, marks.trails
        offset = self._clean_offset
        self.whole = [(offset(start), offset(end)) for start, end in sorted(marks.whole)]
        self.ids = [(offset(at), name) for at, name in sorted(marks.ids)]

    def source_offset(self, offset: int) -> int:
        """Return where the character at `offset` stands in the source."""
        return self._with_returns(self._page_offset(offset))

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of `text[start:end]` in the source.

        Words kept from inside a tag, such as a tab's label, stand for the whole tag.
        """
        first, last = self._page_offset(start), self._page_offset(end - 1) + 1
        first, last = self._leads.get(first, first), self._trails.get(last, last)
        return self._with_returns(first), self._with_returns(last - 1) + 1

    def _page_offset(self, offset: int) -> int:
        at = bisect.bisect_right(self._starts, offset) - 1
        return self._origins[at] + offset - self._starts[at] if at >= 0 else offset

    def _with_returns(self, page: int) -> int:
        return page + bisect.bisect_left(self._returns, page)

    def _clean_offset(self, page: int) -> int:
        at = bisect.bisect_right(self._origins, page) - 1
        if at < 0:
            return 0
        offset = self._starts[at] + page - self._origins[at]
        end = self._starts[at + 1] if at + 1 < len(self._starts) else len(self.text)
        return min(offset, end)


def clean(source: str, body_start: int, source_file: str) -> Cleaned:
    """Return what readers see of the body; every line ends with a newline alone."""
    page, returns = _unify_line_ends(source)
    start = body_start - (source.count("\r\n", 0, body_start) if returns else 0)
    marks = _find_marks(page, start, source_file)
    cleaned = _apply(page, start, marks)
    cleaned.place(marks, returns)
    return cleaned


def _unify_line_ends(source: str) -> tuple[str, list[int]]:
    if "\r" not in source:
        return source, []
    returns = [found.start() - n for n, found in enumerate(re.finditer("\r\n", source))]
    return source.replace("\r\n", "\n").replace("\r", "\n"), returns


def _find_marks(page: str, start: int, source_file: str) -> Marks:
    is_mdx = source_file.lower().endswith(".mdx")
    marks = None if is_mdx else mark_markdown(page, start)
    return marks or mark_mdx(page, start, drops_expressions=is_mdx)


def _merge(cuts: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    merged: list[tuple[int, int, str]] = []
    for start, end, gap in sorted(cuts):
        if merged and start <= merged[-1][1]:
            first, last, before = merged[-1]
            both = (
                (before + gap) if "\n" in before + gap else " " if before and gap else before or gap
            )
            merged[-1] = (first, max(last, end), both)
        else:
            merged.append((start, end, gap))
    return merged


def _apply(page: str, start: int, marks: Marks) -> Cleaned:
    build = _Builder(page, start)
    for cut in _merge(marks.cuts):
        build.cut(*cut)
    return build.finish()


class _Builder:
    """Copies a page without its cuts. A line that loses all it had goes altogether."""

    def __init__(self, page: str, start: int) -> None:
        self.page = page
        self.at = start  # copied or cut up to here
        self.pieces: list[str] = []
        self.starts: list[int] = []
        self.origins: list[int] = []
        self.length = 0
        self.tail = ""  # the last two characters
        self.line_is_blank = True

    def cut(self, start: int, end: int, gap: str) -> None:
        """Copy up to `start` and leave out the rest up to `end`."""
        if end <= self.at:
            return
        start = max(start, self.at)
        newline = self.page.rfind("\n", self.at, start)
        line = newline + 1 if newline >= 0 else self.at
        is_blank = (newline >= 0 or self.line_is_blank) and not self.page[line:start].strip()
        rest = _REST_IS_BLANK.match(self.page, end) if is_blank and "\n" not in gap else None
        if rest:
            self._copy(line)
            self._drop_line(rest.end())
            return
        self._copy(start)
        self.line_is_blank = is_blank
        self.at = end
        self._fill(gap)

    def finish(self) -> Cleaned:
        """Copy the rest."""
        self._copy(len(self.page))
        return Cleaned("".join(self.pieces), _starts=self.starts, _origins=self.origins)

    def _copy(self, end: int) -> None:
        if end > self.at:
            self._append(self.page[self.at : end], self.at)
            self.at = end

    def _append(self, piece: str, origin: int) -> None:
        self.pieces.append(piece)
        self.starts.append(self.length)
        self.origins.append(origin)
        self.length += len(piece)
        self.tail = (self.tail + piece)[-2:]

    def _drop_line(self, end: int) -> None:
        self.line_is_blank = True
        if self.tail and self.tail != "\n\n" and self.page[end - 1] == "\n":
            self.at = max(self.at, end - 1)
            self._copy(end)
        self.at = max(self.at, end)
        if not self.tail or self.tail == "\n\n":
            blanks = _BLANK_LINES.match(self.page, self.at)
            self.at = blanks.end() if blanks else self.at

    def _fill(self, gap: str) -> None:
        gap = gap.replace("\0", "")
        if not gap or not self.tail or self.at >= len(self.page):
            return
        if "\n" in gap:
            self._append(gap, self.at)
            self._drop_line(self.at)
        elif not (self.tail[-1].isspace() or self.page[self.at].isspace()):
            self._append(gap, self.at)
