"""Is a sentence of an answer supported by the passages it cites?

In this order: a sentence without a source fails; one copied word for word passes; a quotation,
number, unit or sign that the passages contradict fails; all else is weighed by a logistic model
of shared words and, for embedding models it was fitted with, of cosine similarity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp
from typing import Final

import numpy as np

from askbook.asking.evidence import Features, features, rank, unfaithful_quote
from askbook.asking.quantities import wrong_number
from askbook.asking.signs import contradicted
from askbook.asking.words import CLOSERS, EMPHASIS, Text, normal, prepare, unlinked
from askbook.book.sentences import sentence_starts
from askbook.ports import Embedder, Vectors

SHORTLIST: Final = 3  # places per sentence that are embedded; more did not help
_LINE_MARK: Final = re.compile(r"^\s*(?:>\s?)*(?:(?:[-*+]|\d+[.)]|#{1,6})\s+)?")
_WRAPPED: Final = 50  # characters: a line as long as this may go on in the next one
_ENDS: Final = ".!?:;…。！？؟۔।|"


@dataclass(frozen=True, slots=True)
class Support:
    """How well a sentence is supported. It may be shown where `reason` is None."""

    score: float  # 0 to 1: the probability that a reader would call it supported
    reason: str | None  # what failed
    evidence: str | None  # the sentence or two of the passages that match best


@dataclass(frozen=True, slots=True)
class Model:
    """Logistic weights on `Features` and "cosine", and the score from which a sentence passes."""

    weights: Mapping[str, float]
    bias: float
    threshold: float

    def score(self, features: Features, cosine: float) -> float:
        """The probability of support."""
        values = {name: getattr(features, name, cosine) for name in self.weights}
        total = sum(weight * values[name] for name, weight in self.weights.items())
        return 1 / (1 + exp(-(self.bias + total)))


# Fitted by `python -m evaluation.grounding SALAD WICE --fit` on the answers of SALAD that saw
# their passages and on WiCE together: logistic regression, L2 = 3 on standardised features.
# Thresholds give the best F1 on that part of SALAD. Figures out of fold: docs/grounding.md.
LEXICAL: Final = Model(
    {
        "word_recall": 0.633,
        "local_recall": 3.338,
        "bigram_recall": 1.392,
        "longest_run": 1.793,
        "names_missing": -3.446,
        "numbers_missing": -2.617,
    },
    bias=-2.340,
    threshold=0.488,
)
# Cosines of one model mean nothing for another: a model not named here is not asked for any.
MODELS: Final[Mapping[str, Model]] = {
    "all-MiniLM-L6-v2-int8": Model(
        {
            "word_recall": 1.127,
            "local_recall": 2.244,
            "bigram_recall": 0.612,
            "longest_run": 2.416,
            "names_missing": -3.082,
            "numbers_missing": -2.635,
            "cosine": 3.184,
        },
        bias=-4.202,
        threshold=0.567,
    ),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence and all that can be said of it without a model."""

    sentence: Text
    features: Features
    shortlist: tuple[Text, ...]  # places to embed, best first
    passed: bool  # word for word in a passage
    fault: str | None  # what no score can mend

    @property
    def decided(self) -> bool:
        """Whether no score is needed."""
        return self.passed or self.fault is not None


async def score_sentences(
    sentences: Sequence[str], passages: Sequence[str], embedder: Embedder
) -> list[Support]:
    """One verdict per sentence, in order, all against the same passages.

    Sentences come without their markers. Only what is undecided is embedded, and only once.
    """
    model = MODELS.get(embedder.model, LEXICAL)
    cases = [examine(sentence, passages) for sentence in sentences]
    asked = [case for case in cases if not case.decided] if "cosine" in model.weights else []
    cosines = iter(await similarities(asked, embedder))
    return [
        _support(case, model, next(cosines) if asked and not case.decided else 0.0)
        for case in cases
    ]


def _support(case: Case, model: Model, cosine: float) -> Support:
    best = case.shortlist[0].raw if case.shortlist else None
    if case.decided:
        return Support(float(case.passed), case.fault, best)
    score = model.score(case.features, cosine)
    return Support(score, None if score >= model.threshold else _weakness(case), best)


def _weakness(case: Case) -> str:
    """Why a score is low, in the order of what a reader can check fastest."""
    missing = case.features.missing
    if missing.names:
        return f"the name {missing.names[0]} is not in the source it names"
    if missing.numbers:
        return f"the number {missing.numbers[0]} is not in the source it names"
    if missing.words:
        return f"its source does not speak of: {', '.join(missing.words[:3])}"
    return "its source has these words, but in no one place"


def examine(text: str, passages: Sequence[str]) -> Case:
    """Compare a sentence with the passages it cites, without any model."""
    sentence = prepare(text)
    texts = [prepare(passage) for passage in passages]
    places = [place for passage in passages for place in places_of(passage)]
    ranked = rank(sentence, places)
    passed = any(is_verbatim(text, passage) for passage in passages)
    return Case(
        sentence,
        features(sentence, texts, ranked[0] if ranked else None),
        tuple(ranked[:SHORTLIST]),
        passed,
        None if passed else _fault(sentence, passages, places),
    )


def _fault(sentence: Text, passages: Sequence[str], places: Sequence[Text]) -> str | None:
    if not passages:
        return "names no source"
    if quote := unfaithful_quote(sentence.raw, passages):
        return f"{quote} is not so in the source it names"
    if wrong := wrong_number(sentence.raw, passages):
        return wrong
    if contradicted(sentence, places):
        return "the source it names says the opposite"
    return None


async def similarities(cases: Sequence[Case], embedder: Embedder) -> list[float]:
    """The highest cosine between each sentence and its shortlist; every text is embedded once."""
    texts = {text.raw for case in cases for text in (case.sentence, *case.shortlist)}
    rows = {text: row for row, text in enumerate(sorted(texts))}
    vectors = await _embed(sorted(texts), embedder)
    return [
        max(
            (
                float(vectors[rows[case.sentence.raw]] @ vectors[rows[p.raw]])
                for p in case.shortlist
            ),
            default=0.0,
        )
        for case in cases
    ]


async def _embed(texts: list[str], embedder: Embedder) -> Vectors:
    size = embedder.limits.texts
    batches = [texts[at : at + size] for at in range(0, len(texts), size)]
    vectors = [await embedder.embed_passages(batch) for batch in batches]
    return np.concatenate(vectors) if vectors else np.zeros((0, embedder.dimensions), np.float32)


@lru_cache(maxsize=256)
def places_of(passage: str) -> tuple[Text, ...]:
    """Every sentence, and every two in a row: what one sentence of an answer may rest on."""
    found = sentences_of(passage)
    return tuple(prepare(text) for text in (*found, *(f"{a} {b}" for a, b in pairwise(found))))


def sentences_of(passage: str) -> list[str]:
    """A passage's sentences, list items, table rows and headings, in reading order."""
    found: list[str] = []
    for block in _blocks(passage):
        starts = [0, *sentence_starts(block), len(block)]
        pieces = (block[a:b].strip() for a, b in pairwise(starts))
        found += [piece for piece in pieces if any(map(str.isalnum, piece))]
    return found


def _blocks(passage: str) -> Iterator[str]:
    """Lines, put together again where prose was only wrapped."""
    block = ""
    for raw in passage.splitlines():
        mark = _LINE_MARK.match(raw)
        line = raw[mark.end() :].strip() if mark else raw.strip()
        begins = bool(mark and mark[0].strip()) or line.startswith(("|", "```", "~~~", ":::"))
        if block and line and not begins and len(block) >= _WRAPPED and block[-1] not in _ENDS:
            block += " " + line
            continue
        if block:
            yield block
        block = line
    if block:
        yield block


def is_verbatim(sentence: str, passage: str) -> bool:
    """Whether a passage holds the sentence word for word, as a sentence and not inside one.

    White space, list and quote marks, emphasis and the last full stop make no difference; a link
    of the passage may have become its words, but the sentence may bring none of its own.
    """
    wanted, _ = _folded(sentence)
    wanted = wanted.rstrip(_ENDS + " ")
    if not any(map(str.isalnum, wanted)):
        return False
    return _stands_in(wanted, passage) or _stands_in(wanted, unlinked(passage))


def _stands_in(wanted: str, passage: str) -> bool:
    text, lines = _folded(passage)
    at = text.find(wanted)
    while at >= 0:
        before, after = text[:at].rstrip(CLOSERS + "([{"), text[at + len(wanted) :]
        starts = not before or before[-1] in _ENDS or at in lines
        ends = not after.strip(CLOSERS) or after.lstrip(CLOSERS)[0] in _ENDS
        if starts and (ends or at + len(wanted) + 1 in lines):
            return True
        at = text.find(wanted, at + 1)
    return False


@lru_cache(maxsize=256)
def _folded(text: str) -> tuple[str, frozenset[int]]:
    """The text on one line without layout, and where its lines started."""
    folded = ""
    starts: set[int] = set()
    for raw in normal(text).splitlines():
        mark = _LINE_MARK.match(raw)
        line = " ".join(EMPHASIS.sub("", raw[mark.end() :] if mark else raw).split())
        if line:
            folded += " " if folded else ""
            starts.add(len(folded))
            folded += line
    return folded, frozenset(starts)
