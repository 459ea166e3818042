"""Check an answer, sentence by sentence, against the passages it was made from.

A sentence passes when every [Source N] behind it is a source that was really given, and those
sources carry what it says (`support`). Sentences without a marker wait for the next one that has
one, as writers put a marker behind two or three sentences at times; where none comes, they are
withheld. What does not pass never reaches the reader.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from askbook.asking.stream import markers, without_markers
from askbook.asking.support import Support, score_sentences
from askbook.asking.words import prepare
from askbook.models import Source
from askbook.ports import Embedder

NO_SOURCE: Final = "names no source"
WRONG_SOURCE: Final = "names a source that was not given"
REPEATED: Final = "says again what was said before"
_MOST_WAITING: Final = 3  # sentences that one marker may stand for
_PATIENCE: Final = 6  # withheld sentences in a row after which a writer is stopped
_DECLINED: Final = re.compile(
    r"\b(?:book|passages?|sources?|text)\b.{0,40}\b(?:do(?:es)? not|don't|doesn't)\b.{0,40}"
    r"\b(?:contain|provide|include|mention|cover|have|answer)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """One sentence of an answer and what was found about it."""

    text: str  # without its markers
    gap: str  # what stands between it and the next one: a blank or line breaks
    sources: tuple[Source, ...] = ()
    support: float = 0.0  # 0 to 1
    evidence: str | None = None  # the sentence of the sources that carries it best
    reason: str | None = None  # why it is withheld; None when it passed


class Grounder:
    """Checks the sentences of one answer in the order they come."""

    def __init__(self, sources: Sequence[Source], embedder: Embedder) -> None:
        self._sources = {source.number: source for source in sources}
        self._embedder = embedder
        self._waiting: list[tuple[str, str]] = []
        self._said: set[tuple[str, ...]] = set()
        self._withheld_in_a_row = 0
        self.declined = False  # the writer itself said that the passages do not answer

    @property
    def is_lost(self) -> bool:
        """Whether the writer rambles: nothing it said for a while could be shown."""
        return self._withheld_in_a_row >= _PATIENCE

    async def take(self, sentence: str) -> list[Checked]:
        """Check a sentence, and those that waited for its marker."""
        text, gap = without_markers(sentence), _gap(sentence)
        numbers = markers(sentence)
        if text:
            self._waiting.append((text, gap))
        if numbers:
            waiting, self._waiting = self._waiting, []
            return self._counted(await self._check(waiting, numbers))
        if "\n" in gap or len(self._waiting) > _MOST_WAITING:
            return self.finish()
        return []

    def finish(self) -> list[Checked]:
        """Withhold what still waits for a marker."""
        waiting, self._waiting = self._waiting, []
        self.declined = self.declined or any(_DECLINED.search(text) for text, _ in waiting)
        return self._counted([Checked(text, gap, reason=NO_SOURCE) for text, gap in waiting])

    async def _check(self, waiting: list[tuple[str, str]], numbers: list[int]) -> list[Checked]:
        cited = tuple(self._sources[n] for n in numbers if n in self._sources)
        if len(cited) < len(numbers):
            return [Checked(text, gap, cited, reason=WRONG_SOURCE) for text, gap in waiting]
        fresh = [(text, gap) for text, gap in waiting if self._is_new(text)]
        repeated = [
            Checked(text, gap, cited, reason=REPEATED)
            for text, gap in waiting
            if (text, gap) not in fresh
        ]
        passages = [source.text for source in cited]
        found = await score_sentences([text for text, _ in fresh], passages, self._embedder)
        return repeated + [
            _checked(text, gap, cited, support)
            for (text, gap), support in zip(fresh, found, strict=True)
        ]

    def _is_new(self, text: str) -> bool:
        words = prepare(text).words
        is_new = words not in self._said
        self._said.add(words)
        return is_new

    def _counted(self, checked: list[Checked]) -> list[Checked]:
        for each in checked:
            self._withheld_in_a_row = 0 if each.reason is None else self._withheld_in_a_row + 1
        return checked


def _checked(text: str, gap: str, cited: tuple[Source, ...], support: Support) -> Checked:
    return Checked(text, gap, cited, support.score, support.evidence, support.reason)


def _gap(sentence: str) -> str:
    """The white space behind a sentence: a blank, a line's or a paragraph's end."""
    end = sentence[len(sentence.rstrip()) :]
    return "\n" * min(end.count("\n"), 2) or " "
