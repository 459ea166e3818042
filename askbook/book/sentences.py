"""Where sentences and words start, for text that must be cut finer than its paragraphs."""

from __future__ import annotations

import bisect
import re
import unicodedata
from typing import Final

import numpy as np

from askbook.book.tokens import IntArray

_SENTENCE_END: Final = re.compile(
    r"(?:[.!?…]+[\"'”’»)\]*_]*\s+(?=[\"'“‘«(\[*_`]*[^\Wa-z_])|[。！？｡؟۔।]+[」』”’）]*\s*|[:;]\s*\n)"
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|fig|eq|sec|ch|no|vol|pp?|al|dr|mr|mrs|ms|prof|st|approx|resp)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_CODE_OR_MATH: Final = re.compile(r"(`++)(?!`)|\$\$")
_LOOK_BACK: Final = 80  # characters in which a better place inside a word is looked for
_LOOK_AHEAD: Final = 16  # characters in which signs that join must end
_ZWJ: Final = "\u200d"  # makes one emoji of two
_BLANKS: Final = re.compile(r"\s+")


def sentence_starts(text: str) -> list[int]:
    """Return the offsets where sentences start, except the first; none inside code or math."""
    protected = _protected(text)
    starts: list[int] = []
    at = 0
    for found in _SENTENCE_END.finditer(text):
        start = found.end()
        while at < len(protected) and protected[at][1] <= found.start():
            at += 1
        inside = at < len(protected) and protected[at][0] < start
        before = text[max(0, found.start() - 12) : found.start() + 1]
        if start < len(text) and not inside and not _ABBREVIATION.search(before):
            starts.append(start)
    return starts


def _protected(text: str) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    unclosed: set[str] = set()
    at = 0
    while found := _CODE_OR_MATH.search(text, at):
        mark, at = found[0], found.end()
        end = -1 if mark in unclosed else text.find(mark, at)
        if end < 0:
            unclosed.add(mark)
            continue
        at = end + len(mark)
        ranges.append((found.start(), at))
    return ranges


def word_starts(  # noqa: PLR0917 - a span, its tokens, and two sizes
    text: str, start: int, end: int, points: IntArray, step: int, limit: int
) -> list[int]:
    """Return offsets that cut `text[start:end]` between words into pieces of about `step` tokens.

    `points` are where tokens start. A word of more than `limit` tokens is cut inside, as
    nothing else can meet the maximum.
    """
    tokens: list[int] = points[
        np.searchsorted(points, start) : np.searchsorted(points, end)
    ].tolist()
    starts: list[int] = []
    at, done = start, 0  # `done` tokens start before `at`
    while done + step < len(tokens):
        near = tokens[done + step]
        far = tokens[done + limit] if done + limit < len(tokens) else end
        at = (
            _last_word(text, at, near)
            or _next_word(text, near, far, end)
            or _inside_word(text, at, near)
        )
        done = bisect.bisect_left(tokens, at)
        if at < end:
            starts.append(at)
    return starts


def _last_word(text: str, start: int, near: int) -> int:
    """Return the last start of a word after `start` and not after `near`; 0 when there is none."""
    before = text[start : near + 1].rstrip()
    at = start + len(before) - len(before.rsplit(None, 1)[-1] if before else "")
    return at if at > start else 0


def _next_word(text: str, near: int, far: int, end: int) -> int:
    """Return the first start of a word, or the end, from `near` to `far`; 0 when there is none."""
    blank = _BLANKS.search(text, near, far)
    if not blank:
        return end if far == end else 0
    is_whole = blank.end() < far or far == end or not text[far].isspace()
    return blank.end() if is_whole else 0


def _inside_word(text: str, start: int, end: int) -> int:
    """Return where to cut a long word: after its last sign that is no letter, or at `end`."""
    end = min(max(end, start + 1), len(text) - 1)
    first = max(start + 1, end - _LOOK_BACK)
    for at in range(end, first, -1):
        if not (text[at - 1].isalnum() or _joins(text[at - 1]) or _joins(text[at])):
            return at
    near = (*range(end, first, -1), *range(end, min(end + _LOOK_AHEAD, len(text))))
    return next((at for at in near if not _joins(text[at]) and text[at - 1] != _ZWJ), end)


def _joins(sign: str) -> bool:
    """Tell vowel signs, accents and the joiners of emoji, which must stay with what is before."""
    return sign > "\u02ff" and unicodedata.category(sign) in ("Mn", "Mc", "Me", "Cf")
