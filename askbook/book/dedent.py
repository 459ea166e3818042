"""In MDX, indentation inside a component is layout, not code: take it back."""

from __future__ import annotations

import bisect
import re
from typing import Final

from askbook.book.directives import Marks
from askbook.book.tags import Tag

_DEEPEST: Final = 400  # blanks before a component; beyond, nobody indented on purpose
_LINE: Final = re.compile(r"^([ \t]*)(?=[^\s])", re.MULTILINE)


def mark_indents(text: str, tags: list[Tag], fences: list[tuple[int, int]], marks: Marks) -> None:
    """Cut the indentation that a component's children have beyond the component's own."""
    outer_end = -1
    for tag in tags:
        if tag.partner and not tag.closes and tag.start >= outer_end:
            indent = _indent_before(text, tag.start)
            if indent is not None and "\n" in text[tag.end : tag.partner.start]:
                _Region(text, tags, fences, marks).dedent(tag, len(indent))
            outer_end = tag.partner.end


def starts_line(text: str, offset: int) -> bool:
    """Tell whether only blanks stand before `offset` in its line."""
    return _indent_before(text, offset) is not None


def _indent_before(text: str, start: int) -> str | None:
    """Return the blanks before `start` when nothing else is before it in its line."""
    line = text.rfind("\n", max(0, start - _DEEPEST), start) + 1
    if line == 0 and start > _DEEPEST:
        return None
    return text[line:start] if not text[line:start].strip() else None


class _Region:
    """The children of one outermost component."""

    def __init__(
        self, text: str, tags: list[Tag], fences: list[tuple[int, int]], marks: Marks
    ) -> None:
        self.text = text
        self.tags = tags
        self.fences = fences
        self.marks = marks

    def dedent(self, outer: Tag, own: int) -> None:
        """Cut from every line inside `outer` what is beyond its `own` indentation."""
        end = outer.partner.start if outer.partner else outer.end
        shift = _Shift(own)
        tag_at = bisect.bisect_right(self.tags, outer.start, key=lambda tag: tag.start)
        fence_at = bisect.bisect_right(self.fences, outer.start, key=lambda fence: fence[0])
        at = outer.end
        while (found := _LINE.search(self.text, at, end)) and found.start() < end:
            line, first = found.start(), found.end()
            at = first + 1
            while tag_at < len(self.tags) and self.tags[tag_at].end <= line:
                shift.follow(self.tags[tag_at])
                tag_at += 1
            if tag_at < len(self.tags) and self.tags[tag_at].start < line:
                continue  # inside a tag of several lines, which goes as a whole
            while fence_at < len(self.fences) and self.fences[fence_at][1] <= line:
                fence_at += 1
            in_fence = fence_at < len(self.fences) and self.fences[fence_at][0] < line
            is_tag = tag_at < len(self.tags) and self.tags[tag_at].start == first
            width = shift.of(first - line, fixed=in_fence, is_tag=is_tag)
            if width > 0:
                self.marks.cut(line, line + width)


class _Shift:
    """How far the children at each depth are moved to the left."""

    def __init__(self, own: int) -> None:
        self.own = own
        self.bases: list[int | None] = [None]

    def follow(self, tag: Tag) -> None:
        """Go into or out of a component."""
        if tag.partner and not tag.closes:
            self.bases.append(None)
        elif tag.partner and len(self.bases) > 1:
            self.bases.pop()

    def of(self, indent: int, *, fixed: bool, is_tag: bool) -> int:
        """Return how many blanks to cut from a line with this indentation."""
        base = self.bases[-1]
        if is_tag:
            return max(0, indent - self.own)
        if not fixed and (base is None or indent < base):
            base = self.bases[-1] = indent
        return max(0, min(indent, (base or 0) - self.own))
