"""`:::` admonitions and the custom ids of headings, found line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

_COLONS: Final = re.compile(r"^([ \t>]*+)(:{3,})(?!:)([^\n]*)$", re.MULTILINE)
_OPENING: Final = re.compile(
    r"[ \t]*(?:[A-Za-z][\w-]*)?[ \t]*(?:\[(?P<label>[^\n]*)\])?[ \t]*(?:\{[^}\n]*\})?"
    r"[ \t]*(?P<title>[^\n]*?)[ \t]*"
)
_CUSTOM_ID: Final = re.compile(r"[ \t]*\{#([^{}\n]+)\}[ \t]*#*[ \t]*$", re.MULTILINE)
_ATX: Final = re.compile(r"[ \t>]*#{1,6}[ \t]")
_SETEXT: Final = re.compile(r"\n {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)")


@dataclass(slots=True)
class Marks:
    """What is not for readers in a page, and what must stay together; offsets into the page."""

    cuts: list[tuple[int, int, str]] = field(default_factory=list)  # start, end, what to put there
    whole: list[tuple[int, int]] = field(default_factory=list)
    ids: list[tuple[int, str]] = field(default_factory=list)
    leads: dict[int, int] = field(default_factory=dict)  # kept words -> start of their markup
    trails: dict[int, int] = field(default_factory=dict)  # end of kept words -> of their markup

    def keep(self, words: tuple[int, int], markup: tuple[int, int], gap: str = "") -> None:
        """Drop markup around words inside it; whoever takes the words takes the markup's place."""
        self.cut(markup[0], words[0], gap and " ")
        self.cut(words[1], markup[1], gap)
        self.leads[words[0]] = markup[0]
        self.trails[words[1]] = markup[1]

    def cut(self, start: int, end: int, gap: str = "") -> None:
        """Drop `text[start:end]`."""
        if start < end:
            self.cuts.append((start, end, gap))


def mark_admonitions(text: str, start: int, marks: Marks, is_code: Callable[[int], bool]) -> None:
    """Cut the `:::` lines down to their titles and keep each admonition whole."""
    if ":::" not in text:
        return
    stack: list[tuple[int, int]] = []  # number of colons, where the admonition starts
    for found in _COLONS.finditer(text, start):
        if is_code(found.start(2)):
            continue
        if found[3].strip():
            _open(found, marks, stack)
        else:
            _close(found, marks, stack)


def _open(found: re.Match[str], marks: Marks, stack: list[tuple[int, int]]) -> None:
    parts = _OPENING.fullmatch(found.string, found.start(3), found.end(3))
    if not parts:
        return
    stack.append((len(found[2]), found.start()))
    title = parts.span("label") if parts["label"] else parts.span("title")
    if title[0] == title[1]:
        marks.cut(found.start(2), found.end())
    else:
        marks.keep(title, (found.start(2), found.end()))


def _close(found: re.Match[str], marks: Marks, stack: list[tuple[int, int]]) -> None:
    colons = len(found[2])
    marks.cut(found.start(2), found.end())
    if stack and stack[-1][0] <= colons:  # a longer fence never closes on fewer colons
        marks.whole.append((stack.pop()[1], found.end()))


def mark_custom_ids(text: str, start: int, marks: Marks, is_code: Callable[[int], bool]) -> None:
    """Cut `{#id}` from the ends of headings and remember it."""
    if "{#" not in text:
        return
    for found in _id_candidates(text, start):
        line = text.rfind("\n", 0, found.start()) + 1
        is_heading = _ATX.match(text, line) or _SETEXT.match(text, found.end())
        if is_heading and not is_code(found.start()):
            marks.cut(found.start(), found.end())
            marks.ids.append((found.start(), found[1].strip()))


def _id_candidates(text: str, start: int) -> Iterator[re.Match[str]]:
    at = text.find("{#", start)
    while at >= 0:
        blanks = at
        while blanks > start and text[blanks - 1] in " \t":
            blanks -= 1
        if found := _CUSTOM_ID.match(text, blanks):
            yield found
        at = text.find("{#", at + 2)
