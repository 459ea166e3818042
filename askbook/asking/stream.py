"""Cut a growing answer into sentences, each as soon as it is complete, markers included."""

from __future__ import annotations

import re
from typing import Final

_MARKER: Final = re.compile(
    r"\[\s*sources?\s+(\d+(?:\s*(?:,|and|&|;)\s*(?:sources?\s+)?\d+)*)\s*\]", re.IGNORECASE
)
_WITH_BLANKS: Final = re.compile(r"[ \t]*" + _MARKER.pattern, re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+")
_LONGEST_NUMBER: Final = 4  # digits; a longer one is no source of ours
_BORDER: Final = re.compile(
    r"(?:[.!?…]+[\"'”’)*_`]*|[。！？]+|(?<=\S)(?=[ \t]*\n))"  # a sentence or a line ends
    r"(?P<markers>(?:[ \t]*\[\s*[Ss]ources?\b[^\]\n]{0,60}\][.,;]?)*)"
    r"(?:\s*\n\s*|\s+(?=[^\sa-z]))"
    r"(?=[^\s\[|]|\[(?!\s*[Ss]ources?\b)[^\]\n]+\])"  # a table goes on with its next row
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|fig|eq|no|approx|Dr|Mr|Mrs|Prof))\.$"
)
_LONGEST: Final = 2000  # characters; a writer that never ends a sentence is cut off there


class SentenceStream:
    """Takes pieces as a writer sends them; gives sentences."""

    def __init__(self) -> None:
        self._buffer = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that this piece completes."""
        self._buffer += piece
        sentences: list[str] = []
        at = 0
        for found in _BORDER.finditer(self._buffer):
            before = self._buffer[at : found.end()]
            is_code = before.count("```") % 2
            if is_code or _ABBREVIATION.search(self._buffer[: found.start() + 1][-12:]):
                continue
            sentences.append(before)
            at = found.end()
        self._buffer = self._buffer[at:]
        if len(self._buffer) > _LONGEST:
            sentences.append(self._buffer)
            self._buffer = ""
        return sentences

    def finish(self) -> list[str]:
        """What is left, as the last sentence."""
        rest, self._buffer = self._buffer, ""
        return [rest] if rest.strip() else []


def markers(sentence: str) -> list[int]:
    """The numbers of the sources a sentence names, in order, each once."""
    found = (n for group in _MARKER.findall(sentence) for n in _NUMBER.findall(group))
    return list(dict.fromkeys(int(n[:_LONGEST_NUMBER]) for n in found))


def without_markers(sentence: str) -> str:
    """The sentence as a reader gets it; the blanks before a marker go with it, no others do."""
    return _WITH_BLANKS.sub("", sentence).strip()
