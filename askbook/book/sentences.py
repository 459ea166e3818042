"""Where sentences and words start, for text that must be cut finer than its paragraphs."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from askbook.book.offsets import Offsets
from askbook.book.tokens import token_starts

_SENTENCE_END: Final = re.compile(
    r"(?:[.!?…]+[\"'”’»)\]*_]*\s+(?=[\"'“‘«(\[*_`]*[^\Wa-z_])|[。！？｡؟۔।]+[」』”’）]*\s*|[:;]\s*\n)"
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|fig|eq|sec|ch|no|vol|pp?|al|dr|mr|mrs|ms|prof|st|approx|resp)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_CODE_OR_MATH: Final = re.compile(r"(`++)(?!`)|\$\$")
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


def word_starts(text: str, step: int, limit: int) -> list[int]:
    """Return offsets that cut `text` between words into pieces of about `step` tokens.

    A word of more than `limit` tokens is cut inside, as nothing else can meet the maximum.
    """
    points = np.array(Offsets(text).to_points(token_starts(text).tolist()))
    words = np.array([found.end() for found in _BLANKS.finditer(text)], dtype=np.int64)
    counts = np.searchsorted(points, words)  # tokens before each word
    starts: list[int] = []
    at, done, word = 0, 0, 0
    while done + step < len(points) - 1:
        last = int(np.searchsorted(counts, done + step, side="right")) - 1
        word = max(last, word) if last >= word and counts[last] > done else word
        while word < len(words) and words[word] <= at:
            word += 1
        if word < len(words) and counts[word] - done <= limit:
            at, done = int(words[word]), int(counts[word])
        else:
            cut = int(points[done + step])
            at, done = (cut if cut > at else at + 1), done + step
        if at < len(text):
            starts.append(at)
    return starts
