"""The very words of a passage that a citation points at."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 200  # characters of an excerpt
_SHORTEST: Final = 20  # characters; "Deadline." alone tells a reader nothing
_WORD: Final = re.compile(r"\w+")
_BETWEEN: Final = (
    r"(?:\]\([^)\n]{0,200}\)|\[\^[^\]\s]{1,40}\]|[\W_]){1,40}?"  # a link's address too
)
_MARKS: Final = "*_`"  # of emphasis and code: both of a pair, or none
_CLOSERS: Final = ".!?…)\"'”’。！？" + _MARKS
_MOST_WORDS: Final = 60  # enough to fill an excerpt; bounds the search
_SENTENCE: Final = re.compile(r"[ \t]*\n?[ \t]*(?=\S)(?:(?!\n\s*\n)[\s\S])+?[.!?…](?=\s|$)")


def find_excerpt(passage: str, sentence: str | None) -> tuple[int, int]:
    """Where `sentence` stands in `passage`, whatever blanks, marks and emphasis are between.

    The span is at most 200 characters and ends between words; a very short sentence takes the
    next ones of its paragraph along. Where the sentence is not to be found, the span is the
    passage's beginning.
    """
    found = _search(passage, sentence) if sentence else None
    start, end = found or _beginning(passage)
    return start, _shortened(passage, start, _lengthened(passage, start, end))


def _search(passage: str, sentence: str) -> tuple[int, int] | None:
    words = _WORD.findall(sentence)
    if not words:
        return None
    pattern = _BETWEEN.join(map(re.escape, words[:_MOST_WORDS]))
    found = re.search(rf"(?<!\w){pattern}(?!\w)", passage, re.IGNORECASE)
    if not found:
        return None
    start, end = found.span()
    while start and passage[start - 1] in _MARKS:
        start -= 1
    while end < len(passage) and passage[end] in _CLOSERS:
        end += 1
    return start, end


def _lengthened(passage: str, start: int, end: int) -> int:
    while end - start < _SHORTEST:
        following = _SENTENCE.match(passage, end)
        if following is None or following.end() - start > LONGEST:
            break
        end = following.end()
    return end


def _beginning(passage: str) -> tuple[int, int]:
    """The passage without its heading lines."""
    at = 0
    for line in passage.splitlines(keepends=True):
        if line.strip() and not line.startswith("#"):
            return at, len(passage.rstrip())
        at += len(line)
    return 0, len(passage.rstrip())


def _shortened(passage: str, start: int, end: int) -> int:
    if end - start <= LONGEST:
        return end
    cut = passage.rfind(" ", start + 1, start + LONGEST + 1)
    return cut if cut > start else start + LONGEST
