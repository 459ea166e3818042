"""What readers do not see in plain Markdown: comments and HTML tags, as CommonMark has them."""

from __future__ import annotations

import bisect
import re
from typing import Final

import pyromark

from askbook.book.directives import Marks, mark_admonitions, mark_custom_ids
from askbook.book.offsets import Offsets
from askbook.book.tags import SILENT, WHOLE, Tag, is_markup, pair, read_tag

PARSER: Final = pyromark.Markdown(
    options=pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_GFM
)
_NEEDS_CLEANING: Final = re.compile(r"<[A-Za-z/!]|^[ \t>]*:::|\{#|\{/\*", re.MULTILINE)
_PLAIN_FENCE: Final = re.compile(r"^```[\w-]*\n(?:(?!```)[^\n]*+\n)*+```[ \t]*$", re.MULTILINE)
_MDX_SIGN: Final = re.compile(r"<[A-Z][\w.]*(?:[\s/>]|\Z)|</[A-Z]")
_MDX_LINE: Final = re.compile(r"^(?:import\s[^\n]*?['\"]|[ \t]*</?[A-Z][\w.]*[\s/>])", re.MULTILINE)
_MDX_COMMENT: Final = re.compile(r"\{/\*")
_TAG_OR_COMMENT: Final = re.compile(r"<!--|<(?=[A-Za-z/])")

_LONG_PAGE: Final = 100_000  # characters; in shorter ones nothing is deep enough to be slow
_DEEP_NESTING: Final = re.compile(
    r"^[ \t]*+(?:(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])[ \t]?){100,}+", re.MULTILINE
)


def flattened(text: str) -> str:
    """Return text of the same length with quotes and lists in a hundred others made words.

    Half a million quotes in one line are no structure, and take a parser long to tell.
    """
    if len(text) < _LONG_PAGE:
        return text
    return _DEEP_NESTING.sub(lambda marks: "x" * len(marks[0]), text)


class Inside:
    """Tells whether an offset lies in one of some ranges."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]

    def __call__(self, offset: int) -> bool:
        """Tell whether `offset` lies in a range."""
        at = bisect.bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]


def mark_markdown(text: str, start: int) -> Marks | None:
    """Mark what goes from a Markdown page; None when it is written like MDX."""
    marks = Marks()
    prose = _without_fences(text, start)
    if not _NEEDS_CLEANING.search(prose):
        return marks
    if _MDX_LINE.search(prose):
        return None
    code, html = _code_and_html(text, start)
    if any(text[at] == "<" and _MDX_SIGN.match(text, at) for at, _ in html):
        return None
    is_code = Inside(code)
    _mark_html(text, html, marks)
    _mark_mdx_comments(text, start, marks, is_code)
    mark_admonitions(text, start, marks, is_code)
    mark_custom_ids(text, start, marks, is_code)
    return marks


def _without_fences(text: str, start: int) -> str:
    """Leave out the plain fences: most of what looks like markup is code."""
    return _PLAIN_FENCE.sub("", text[start:]) if "```" in text else text[start:]


def _code_and_html(text: str, start: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    body = text[start:]
    code: list[int] = []
    html: list[int] = []
    for event, span in PARSER.events_with_range(flattened(body), merge_text=True):
        if isinstance(event, str) or "Text" in event or "End" in event:
            continue  # three in four
        if "Code" in event or "InlineMath" in event or "DisplayMath" in event:
            code += span["start"], span["end"]
        elif "InlineHtml" in event:
            html += span["start"], span["end"]
        elif (opening := event.get("Start")) is not None:
            if opening == "HtmlBlock":
                html += span["start"], span["end"]
            elif isinstance(opening, dict) and "CodeBlock" in opening:
                code += span["start"], span["end"]
    offsets = Offsets(body)
    return _ranges(offsets.to_points(code), start), _ranges(offsets.to_points(html), start)


def _ranges(points: list[int], start: int) -> list[tuple[int, int]]:
    return [(a + start, b + start) for a, b in zip(points[::2], points[1::2], strict=True)]


def _mark_html(text: str, html: list[tuple[int, int]], marks: Marks) -> None:
    tags: list[Tag] = []
    for start, end in html:
        at, has_comments = start, True
        while found := _TAG_OR_COMMENT.search(text, at, end):
            at = found.end()
            if found[0] == "<!--":
                closing = text.find("-->", at, end) if has_comments else -1
                has_comments = closing >= 0
                if closing < 0:
                    continue  # an unclosed comment stays as text
                marks.cut(found.start(), closing + 3)
                _note_id(text[at:closing], found.start(), marks)
                at = closing + 3
            elif tag := read_tag(text, found.start(), _no_braces):
                tags.append(tag)
                at = tag.end
    mark_tags(tags, marks, in_mdx=False)


def mark_tags(tags: list[Tag], marks: Marks, *, in_mdx: bool) -> None:
    """Cut the tags that are markup, the content of silent ones, and keep tables whole."""
    pair(tags)
    silent_until = -1
    for tag in tags:
        if tag.start < silent_until or not is_markup(tag, in_mdx=in_mdx):
            continue
        closing = tag.partner if tag.partner and not tag.closes else None
        if tag.name == "pre" and not in_mdx:
            continue  # with its tags, the parser knows that no line in it is a heading
        if closing and tag.name in SILENT:
            marks.cut(tag.start, closing.end, " ")
            silent_until = closing.end
            continue
        if closing and tag.name in WHOLE:
            marks.whole.append((tag.start, closing.end))
        _cut_tag(tag, marks)


def _cut_tag(tag: Tag, marks: Marks) -> None:
    if not tag.readable or tag.readable[0] == tag.readable[1]:
        marks.cut(tag.start, tag.end, tag.gap)
        return
    # A label stands in its own line, an image's description among the words around it.
    gap = " " if tag.is_empty or tag.name == "img" else "\n\n"
    marks.keep(tag.readable, (tag.start, tag.end), gap)


def _mark_mdx_comments(text: str, start: int, marks: Marks, is_code: Inside) -> None:
    at = start
    while found := _MDX_COMMENT.search(text, at):
        end = text.find("*/}", found.end())
        if end < 0:
            return
        at = found.end()
        if not is_code(found.start()):
            marks.cut(found.start(), end + 3)
            _note_id(text[found.end() : end], found.start(), marks)
            at = end + 3


def _note_id(comment: str, at: int, marks: Marks) -> None:
    if len(comment) < 200 and (found := re.fullmatch(r"\s*#(\S+)\s*", comment)):  # noqa: PLR2004
        marks.ids.append((at, found[1]))


def note_id(comment: str, at: int, marks: Marks) -> None:
    """Remember `#id` when that is all a comment says: the custom id of a heading."""
    _note_id(comment, at, marks)


def _no_braces(_start: int) -> int:
    return -1
