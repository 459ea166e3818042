"""What a run is worth: ranking by trec_eval's own code, spans, grounding, and how sure we are.

Ranking measures come from `ir_measures`. Of two documents with the same score, the one that was
found first counts as ranked higher. All randomness is seeded: the same run gives the same figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from ir_measures import AP, RR, P, R, Success, nDCG
from numpy.typing import ArrayLike, NDArray

from askbook.book.tokens import token_starts
from askbook.golden.comparing import RESAMPLES, SEED, Comparison, blocks, compare

Qrels = Mapping[str, Mapping[str, int]]  # query → document → relevance
Ranking = Sequence[str]  # documents, best first
Span = tuple[int, int]  # code points [start, end)
Floats = NDArray[np.float64]

_CONTINUES, _CONTINUES_MARK = 0b1100_0000, 0b1000_0000  # UTF-8: not the first byte of a character
CURVE = (1, 3, 5, 10, 20, 50, 100)  # depths at which recall is drawn
MEASURES = (
    nDCG @ 10, RR @ 10, AP, *(R @ k for k in CURVE), P @ 1, P @ 5, P @ 10,
    nDCG @ 5, nDCG @ 20, nDCG @ 100, RR, Success @ 1, Success @ 5, Success @ 10,
)  # fmt: skip
__all__ = [
    "CURVE",
    "MEASURES",
    "RESAMPLES",
    "SEED",
    "Bin",
    "Comparison",
    "Interval",
    "SpanScore",
    "TokenCount",
    "auroc",
    "best_f1",
    "bootstrap",
    "calibration_error",
    "compare",
    "f1",
    "means",
    "per_query",
    "reliability",
    "span_score",
]


def per_query(qrels: Qrels, run: Mapping[str, Ranking]) -> dict[str, dict[str, float]]:
    """Return each measure for each judged query; a query the run left out scores 0."""
    judged = [
        ir_measures.Qrel(query, document, relevance)
        for query, documents in qrels.items()
        for document, relevance in documents.items()
    ]
    scored = [
        ir_measures.ScoredDoc(query, document, -float(rank))
        for query, ranking in run.items()
        for rank, document in enumerate(dict.fromkeys(ranking))
    ]
    values = {str(measure): dict.fromkeys(qrels, 0.0) for measure in MEASURES}
    for each in ir_measures.iter_calc(MEASURES, judged, scored):
        values[str(each.measure)][each.query_id] = float(each.value)
    return values


def means(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the mean over queries of each measure."""
    return {name: float(np.mean(list(each.values()))) for name, each in values.items()}


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the 95 % confidence interval of it."""

    mean: float
    low: float
    high: float


def bootstrap(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """Return the percentile bootstrap interval of the mean over queries."""
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        raise ValueError("A mean of no queries is not defined.")
    random = np.random.default_rng(seed)
    drawn = [
        sample[random.integers(len(sample), size=(block, len(sample)))].mean(axis=1)
        for block in blocks(resamples)
    ]
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975])
    return Interval(float(sample.mean()), float(low), float(high))


@dataclass(frozen=True, slots=True)
class SpanScore:
    """How well retrieved spans cover the gold ones, in the spans' own unit."""

    recall: float
    precision: float
    iou: float


def span_score(retrieved: Iterable[Span], gold: Iterable[Span]) -> SpanScore:
    """Return recall, precision and IoU as Chroma's evaluation computes them.

    Gold is the union of the gold spans. What is retrieved twice (overlapping chunks) is found
    once, but weighs twice in the denominators of precision and IoU. Its paper says tokens, its
    code counts code points: `TokenCount` turns one into the other.
    """
    chunks, wanted = list(retrieved), _union(gold)
    found = _length(_union(_cut(chunks, wanted)))
    needed, read = _length(wanted), _length(chunks)
    missed = needed - found
    return SpanScore(
        recall=found / needed if needed else 0.0,
        precision=found / read if read else 0.0,
        iou=found / (read + missed) if read + missed else 0.0,
    )


class TokenCount:
    """A text's exact cl100k_base tokens: spans of code points become spans of tokens."""

    def __init__(self, text: str) -> None:
        self._starts = token_starts(text)  # in bytes
        units = np.frombuffer(text.encode(), dtype=np.uint8)
        starts = np.flatnonzero((units & _CONTINUES) != _CONTINUES_MARK)
        self._bytes = np.append(starts, len(units))  # where each code point starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    def span(self, start: int, end: int) -> Span:
        """The tokens that any part of [start, end) stands in."""
        first = int(np.searchsorted(self._starts, self._bytes[start], side="right")) - 1
        last = int(np.searchsorted(self._starts, self._bytes[end], side="left"))
        return first, max(first, last)


def _length(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def _cut(spans: Iterable[Span], inside: Sequence[Span]) -> list[Span]:
    """Return the parts of `spans` that lie in one of `inside`."""
    pairs = ((max(a, c), min(b, d)) for a, b in spans for c, d in inside)
    return [(start, end) for start, end in pairs if start < end]


def _union(spans: Iterable[Span]) -> list[Span]:
    """Return the same places, each once, in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def auroc(positive: ArrayLike, scores: ArrayLike) -> float:
    """Return the chance that a positive scores above a negative; a tie counts one half."""
    labels, values = np.asarray(positive, dtype=bool), np.asarray(scores, dtype=np.float64)
    yes, no = int(labels.sum()), int((~labels).sum())
    if not yes or not no:
        raise ValueError("AUROC needs at least one positive and one negative.")
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[inverse]  # tied values share their mean rank
    return float((ranks[labels].sum() - yes * (yes + 1) / 2) / (yes * no))


def f1(positive: ArrayLike, predicted: ArrayLike) -> float:
    """Return the harmonic mean of precision and recall; 0 where nothing is right."""
    labels, guesses = np.asarray(positive, dtype=bool), np.asarray(predicted, dtype=bool)
    right = int(np.sum(labels & guesses))
    everything = int(labels.sum() + guesses.sum())
    return 2 * right / everything if everything else 0.0


def best_f1(positive: ArrayLike, scores: ArrayLike) -> tuple[float, float]:
    """Return the best F1 and the threshold that gives it (predicted: score ≥ threshold)."""
    labels, values = np.asarray(positive, dtype=bool), np.asarray(scores, dtype=np.float64)
    choices = [(f1(labels, values >= cut), float(cut)) for cut in np.unique(values)]
    return max(choices, default=(0.0, float("inf")))


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about one confidence: how sure they were, and how often they were right."""

    low: float
    high: float
    count: int
    confidence: float
    right: float


def reliability(confidence: ArrayLike, right: ArrayLike, bins: int = 5) -> list[Bin]:
    """Return the bins of equal width that hold answers."""
    sure, truth = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    place = np.minimum((sure * bins).astype(int), bins - 1)
    return [
        Bin(at / bins, (at + 1) / bins, int(inside.sum()), float(sure[inside].mean()),
            float(truth[inside].mean()))
        for at in range(bins)
        if (inside := place == at).any()
    ]  # fmt: skip


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean gap between confidence and truth, weighted by answers (ECE)."""
    total = sum(each.count for each in bins)
    return sum(abs(b.confidence - b.right) * b.count for b in bins) / total if total else 0.0
