"""How likely it is that the found passages answer the question: confidence, and refusal.

One number serves both. It is a logistic function of a few signals, fitted and checked on the
sample book's golden set (`evaluation/calibration.py`; figures in docs/evaluation.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final

from askbook.asking.evidence import prepare
from askbook.asking.quotes import Ranked
from askbook.models import Hit

CONSIDERED: Final = 30  # hits that are looked at; words that none of them has are missing
_TOP: Final = 5  # hits that an answer is likely made from
_NEXT: Final = 10  # hits whose cosines are compared
_NAME: Final = re.compile(r"[^\W_]+(?:[-_./][^\W_]+)*")
_IS_NAMED: Final = re.compile(r"[A-Z0-9_]")


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known before anything is written; more is better."""

    quote: float  # best sentence: cosine with the question, and a share for its words
    similarity: float  # best cosine of question and passage
    lead: float  # by how much that is above the passages that came next
    reach: float  # share of the question's words, rare ones count more, in the best passages
    names: float  # share of the names and numbers in the question that the best passages have


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic function of the signals, and the probability below which askbook refuses."""

    bias: float
    weights: Signals
    threshold: float

    def probability(self, signals: Signals) -> float:
        """Chance that an answer from these passages is right."""
        pairs = zip(astuple(self.weights), astuple(signals), strict=True)
        return 1 / (1 + math.exp(-self.bias - sum(weight * value for weight, value in pairs)))


def signals(question: str, hits: Sequence[Hit], quotes: Sequence[Ranked]) -> Signals:
    """Measure what was found against the question; `hits` and `quotes` best first."""
    if not hits:
        return Signals(0.0, 0.0, 0.0, 0.0, 0.0)
    wanted = prepare(question).content
    held = [prepare(_words(hit)).content for hit in hits[:CONSIDERED]]
    rarity = {word: _rarity(word, held) for word in wanted}
    best = frozenset[str]().union(*held[:_TOP])
    cosines = sorted((hit.similarity for hit in hits), reverse=True)[:_NEXT]
    named = [prepare(name).content for name in names_in(question)]
    return Signals(
        quote=quotes[0].score if quotes else 0.0,
        similarity=cosines[0],
        lead=cosines[0] - sum(cosines) / len(cosines),
        reach=sum(rarity[word] for word in wanted & best) / (sum(rarity.values()) or 1.0),
        names=sum(name <= best for name in named) / len(named) if named else 1.0,
    )


def names_in(question: str) -> list[str]:
    """Names, numbers and identifiers: PX4, tf2_ros, MoveIt, Jetson; not a sentence's first word."""
    return [
        found[0]
        for found in _NAME.finditer(question)
        if _IS_NAMED.search(found[0][1:]) or (found[0][0].isupper() and not _opens(question, found))
    ]


def _opens(question: str, found: re.Match[str]) -> bool:
    return (
        not question[: found.start()].rstrip() or question[: found.start()].rstrip()[-1] in ".?!:"
    )


def _words(hit: Hit) -> str:
    titles = (hit.payload.get("chapter_title"), hit.payload.get("section_title"))
    return "\n".join([*(str(title) for title in titles if title), str(hit.payload["text"])])


def _rarity(word: str, held: Sequence[frozenset[str]]) -> float:
    """A word that few of the passages have says more about the question."""
    return math.log(1 + (len(held) + 1) / (0.5 + sum(word in words for words in held)))
