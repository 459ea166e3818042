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

Qrels = Mapping[str, Mapping[str, int]]  # query → document → relevance
Ranking = Sequence[str]  # documents, best first
Span = tuple[int, int]  # code points [start, end)
Floats = NDArray[np.float64]

MEASURES = (
    nDCG @ 10, RR @ 10, AP, R @ 5, R @ 10, R @ 100, P @ 5, Success @ 1, Success @ 5,
)  # fmt: skip
RESAMPLES = 10_000
SEED = 20_240


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
    draws = np.random.default_rng(seed).integers(len(sample), size=(resamples, len(sample)))
    low, high = np.quantile(sample[draws].mean(axis=1), [0.025, 0.975])
    return Interval(float(sample.mean()), float(low), float(high))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Run B against run A on the same queries; `p` is two-sided."""

    difference: float  # mean of B minus mean of A
    p: float
    wins: int
    ties: int
    losses: int


def compare(
    a: Mapping[str, float],
    b: Mapping[str, float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Return a paired permutation test (random sign flips) and wins, ties and losses of B."""
    if a.keys() != b.keys():
        raise ValueError("Two runs can only be compared on the same queries.")
    gains = np.array([b[query] - a[query] for query in a], dtype=np.float64)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(resamples, len(gains)))
    observed = abs(gains.sum())
    extreme = int(np.sum(np.abs(signs @ gains) >= observed - 1e-12))
    return Comparison(
        difference=float(gains.mean()) if len(gains) else 0.0,
        p=(extreme + 1) / (resamples + 1),  # the observed order is one of the permutations
        wins=int(np.sum(gains > 0)),
        ties=int(np.sum(gains == 0)),
        losses=int(np.sum(gains < 0)),
    )


@dataclass(frozen=True, slots=True)
class SpanScore:
    """How well retrieved spans cover the gold ones, in characters."""

    recall: float
    precision: float
    iou: float


def span_score(retrieved: Iterable[Span], gold: Iterable[Span]) -> SpanScore:
    """Return recall, precision and IoU as Chroma's evaluation computes them: in characters.

    Its paper says tokens, its code counts code points of the corpus, and so does this. Gold is
    the union of the gold spans. What is retrieved twice (overlapping chunks) is found once, but
    weighs twice in the denominators of precision and IoU.
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
