"""How likely it is that the found passages answer the question: confidence, and refusal.

One number serves both. It is a logistic function of a few signals, fitted and checked on the
sample book's golden set (`evaluation/calibration.py`; figures in docs/asking.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final

from askbook.asking.asked import answer_test, focus_of, names_in
from askbook.asking.quotes import rank_quotes
from askbook.asking.support import places_of
from askbook.asking.words import Text, prepare
from askbook.models import Hit, Source
from askbook.ports import Embedder

UNSURE: Final = 0.6  # confidence below which fewer than half of the answers were right
CONSIDERED: Final = 30  # hits that are looked at; words that none of them has are missing
_TOP: Final = 5  # hits that an answer is likely made from
_NEXT: Final = 10  # hits whose cosines are compared
_WORD: Final = re.compile(r"[\w'-]+")


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known before anything is written; more is better."""

    quote: float  # best quote: cosine with the question, and a share for its words
    lead: float  # by how much the best passage's cosine is above those that came next
    kept: float  # cosine of the question with itself, without the words the passages lack
    reach: float  # share of the question's words, rare ones count more, in the best passages
    known: float  # 1 where every name and number in the question was found, else 0
    focus: float  # share of what is asked for in the best one or two sentences
    fits: float  # 1 where what can hold the answer covers the question as well as the rest does


NOTHING: Final = Signals(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic function of the signals, and the probability below which askbook refuses."""

    bias: float
    weights: Signals
    threshold: float

    @property
    def needs_vectors(self) -> bool:
        """Whether anything must be embedded for it."""
        return any((self.weights.quote, self.weights.kept))

    def probability(self, signals: Signals) -> float:
        """Chance that an answer from these passages is right."""
        pairs = zip(astuple(self.weights), astuple(signals), strict=True)
        return 1 / (1 + math.exp(-self.bias - sum(weight * value for weight, value in pairs)))


async def measure(
    question: str, hits: Sequence[Hit], sources: Sequence[Source], embedder: Embedder | None
) -> Signals:
    """What was found, `hits` best first, against the question; by words alone without embedder."""
    if not hits:
        return NOTHING
    held = [prepare(_words(hit)).content for hit in hits[:CONSIDERED]]
    best = frozenset[str]().union(*held[:_TOP])
    rarity = {word: _rarity(word, held) for word in prepare(question).content | focus_of(question)}
    places = [place for hit in hits[:_TOP] for place in places_of(str(hit.payload["text"]))]
    cosines = sorted((hit.similarity for hit in hits), reverse=True)[:_NEXT]
    quotes = await rank_quotes(question, sources, embedder) if embedder else ()
    return Signals(
        quote=max((quote.match for quote in quotes), default=0.0),
        lead=cosines[0] - sum(cosines) / len(cosines),
        kept=await _kept(question, best, embedder) if embedder else 0.0,
        reach=_share(prepare(question).content, best, rarity),
        known=float(all(_is_held(name, held) for name in names_in(question))),
        focus=max(
            (_share(focus_of(question), place.content, rarity) for place in places), default=0.0
        ),
        fits=_fit(question, places, rarity),
    )


async def _kept(question: str, held: frozenset[str], embedder: Embedder) -> float:
    """How much of its meaning a question keeps without the words that no passage has."""
    left = _WORD.sub(lambda word: word[0] if _is_known(word[0], held) else "", question)
    if left == question:
        return 1.0
    if not _WORD.search(left):
        return 0.0
    whole = await embedder.embed_query(question)
    return float(whole @ await embedder.embed_query(" ".join(left.split())))


def _is_known(word: str, held: frozenset[str]) -> bool:
    content = prepare(word).content
    return not content or bool(content & held)


def _is_held(name: str, held: Sequence[frozenset[str]]) -> bool:
    """Whether all parts of a name occur, wherever that may be."""
    return prepare(name).content <= frozenset[str]().union(*held)


def _fit(question: str, places: Sequence[Text], rarity: dict[str, float]) -> float:
    """Coverage by the places that can hold such an answer, next to the best coverage of all."""
    can_answer = answer_test(question)
    if can_answer is None:
        return 1.0
    wanted = prepare(question).content
    shares = [(_share(wanted, place.content, rarity), place) for place in places]
    most = max((share for share, _ in shares), default=0.0)
    fitting = max((share for share, place in shares if can_answer(place.raw)), default=0.0)
    return fitting / most if most else 0.0


def _share(wanted: frozenset[str], held: frozenset[str], rarity: dict[str, float]) -> float:
    """Share of the wanted words that are held, each counted by its rarity; 1 where none are."""
    whole = sum(rarity[word] for word in wanted)
    return sum(rarity[word] for word in wanted & held) / whole if whole else 1.0


def _words(hit: Hit) -> str:
    titles = (hit.payload.get("chapter_title"), hit.payload.get("section_title"))
    return "\n".join([*(str(title) for title in titles if title), str(hit.payload["text"])])


def _rarity(word: str, held: Sequence[frozenset[str]]) -> float:
    """A word that few of the passages have says more about the question."""
    return math.log(1 + (len(held) + 1) / (0.5 + sum(word in words for words in held)))
