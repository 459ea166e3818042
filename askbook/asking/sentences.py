"""Sentences of a passage that can be quoted: prose and list items, not code, tables or headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_NOT_PROSE = re.compile(r"^\s*(#{1,6}\s|\||:::|\$\$|<|!\[|\[\^|-{3,}$|={3,}$)")
_LIST_MARK = re.compile(r"^\s*(?:>\s?)*(?:[-*+]|\d+[.)])\s+|^\s*(?:>\s?)+")
_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_`]*[A-Z0-9])")
_MIN_WORDS = 4


def quotable_sentences(passage: str) -> list[str]:
    """Whole sentences of the passage's prose, in reading order, on one line each."""
    return [
        sentence
        for paragraph in _paragraphs(passage)
        for sentence in split_sentences(paragraph)
        if len(sentence.split()) >= _MIN_WORDS and sentence[-1] in ".!?:*_)`\"'"
    ]


def split_sentences(paragraph: str) -> list[str]:
    """A paragraph cut behind full stops; white space is folded."""
    flat = " ".join(paragraph.split())
    pieces = _END.split(flat)
    return [piece.strip() for piece in pieces if piece and piece.strip()]


def _paragraphs(passage: str) -> Iterator[str]:
    """Runs of prose lines; a list item begins a new one, a fence is skipped whole."""
    lines: list[str] = []
    fence = ""
    for line in passage.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence):
                fence = ""
            continue
        if mark or not line.strip() or _NOT_PROSE.match(line) or _LIST_MARK.match(line):
            if lines:
                yield " ".join(lines)
            lines = []
        if mark:
            fence = mark.group(1)
        elif line.strip() and not _NOT_PROSE.match(line):
            lines.append(_LIST_MARK.sub("", line))
    if lines:
        yield " ".join(lines)
