"""A writer that only quotes: the book's own sentences that come closest to the question."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np

from askbook.asking.sentences import quotable_sentences
from askbook.models import Prompt
from askbook.ports import Embedder, Vectors

_SENTENCES = 3  # an answer's length: short enough to read, long enough to explain
_CANDIDATES = 40  # sentences embedded a question, best words first: bounds the time
_WORD = re.compile(r"\w+")
_CLOSE_ENOUGH = 0.75  # share of the best sentence's score that the others must reach
_TOO_ALIKE = 0.9  # cosine above which two sentences say the same


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    source: int
    position: int
    overlap: float  # share of the question's words it holds


class ExtractiveWriter:
    """Needs no language model and invents nothing."""

    name = "extractive"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """Up to three sentences, best source first, each with its [Source N]."""
        candidates = sorted(_candidates(prompt), key=lambda c: -c.overlap)[:_CANDIDATES]
        if not candidates:
            return
        question = await self._embedder.embed_query(prompt.question)
        vectors = await self._embedder.embed_passages([c.text for c in candidates])
        overlaps = np.array([c.overlap for c in candidates], dtype=np.float32)
        scores = vectors @ question + 0.3 * overlaps
        chosen = [candidates[i] for i in _pick(scores, vectors)]
        for candidate in sorted(chosen, key=lambda c: (c.source, c.position)):
            yield f"{candidate.text} [Source {candidate.source}] "


def _candidates(prompt: Prompt) -> list[_Candidate]:
    words = {word for word in _WORD.findall(prompt.question.lower()) if len(word) > 2}  # noqa: PLR2004
    return [
        _Candidate(sentence, source.number, position, _overlap(sentence, words))
        for source in prompt.sources
        for position, sentence in enumerate(quotable_sentences(source.text))
    ]


def _overlap(sentence: str, words: set[str]) -> float:
    found = words & set(_WORD.findall(sentence.lower()))
    return len(found) / len(words) if words else 0.0


def _pick(scores: Vectors, vectors: Vectors) -> list[int]:
    """Indices of the best sentences that do not repeat each other."""
    best = float(scores.max())
    chosen: list[int] = []
    for index in np.argsort(-scores):
        if len(chosen) == _SENTENCES or scores[index] < _CLOSE_ENOUGH * best:
            break
        if all(float(vectors[index] @ vectors[other]) < _TOO_ALIKE for other in chosen):
            chosen.append(int(index))
    return chosen
