"""Check an answer, sentence by sentence, against the passages it was made from.

A sentence passes when every [Source N] in it is a source that was really given, and one of
those sources holds its words. What does not pass never reaches the reader.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from askbook.models import Source

MARKER = re.compile(r"\[Source (\d+)\]")
_SENTENCE = re.compile(r".+?(?:\[Source \d+\]\s*)+|.+$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Checked:
    """One sentence of an answer and what was found about it."""

    text: str  # without its markers
    sources: tuple[Source, ...]
    reason: str | None  # why it is withheld; None when it passed


def ground(answer: str, sources: Sequence[Source]) -> list[Checked]:
    """Every marked sentence of an answer, checked."""
    by_number = {source.number: source for source in sources}
    return [_check(match.group(0), by_number) for match in _SENTENCE.finditer(answer.strip())]


def _check(sentence: str, sources: dict[int, Source]) -> Checked:
    numbers = [int(number) for number in MARKER.findall(sentence)]
    text = MARKER.sub("", sentence).strip()
    cited = tuple(sources[number] for number in numbers if number in sources)
    if not numbers:
        return Checked(text, (), "names no source")
    if len(cited) < len(numbers):
        return Checked(text, cited, "names a source that was not given")
    if not any(_folded(text) in _folded(source.text) for source in cited):
        return Checked(text, cited, "is not in the words of the source it names")
    return Checked(text, cited, None)


def _folded(text: str) -> str:
    """White space folded and quote marks at line starts dropped: wording, not layout."""
    lines = (line.lstrip("> ") for line in text.splitlines())
    return " ".join(" ".join(lines).split())
