"""Two runs on the same questions: who is better, and is it more than chance?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
SEED = 20_240
_BLOCK = 500


@dataclass(frozen=True, slots=True)
class Comparison:
    """Run B against run A on the same queries; `p` is two-sided."""

    difference: float  # mean of B minus mean of A
    p: float
    wins: int
    ties: int
    losses: int


def blocks(resamples: int) -> Iterator[int]:
    """Resamples in parts: memory does not grow with their number."""
    for start in range(0, resamples, _BLOCK):
        yield min(_BLOCK, resamples - start)


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
    gains = np.array([b[query] - a[query] for query in sorted(a)], dtype=np.float64)
    random = np.random.default_rng(seed)
    observed = abs(gains.sum())
    extreme = 0
    for block in blocks(resamples):
        signs = random.choice([-1.0, 1.0], size=(block, len(gains)))
        extreme += int(np.sum(np.abs(signs @ gains) >= observed - 1e-12))
    return Comparison(
        difference=float(gains.mean()) if len(gains) else 0.0,
        p=(extreme + 1) / (resamples + 1),  # the observed order is one of the permutations
        wins=int(np.sum(gains > 0)),
        ties=int(np.sum(gains == 0)),
        losses=int(np.sum(gains < 0)),
    )
