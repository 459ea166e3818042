"""A small logistic regression: L2, Newton's method, weights for unequal classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_STEPS = 50
_STILL = 1e-9


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted model in the units of the given columns."""

    bias: float
    weights: Array

    def probability(self, columns: Array) -> Array:
        """Chance of the positive class, per row."""
        return np.asarray(1 / (1 + np.exp(-(columns @ self.weights + self.bias))))


def fit(columns: Array, positive: Array, *, l2: float = 1.0) -> Logistic:
    """Fit on standardized columns, so that `l2` treats them alike; returned in original units."""
    center, scale = columns.mean(axis=0), columns.std(axis=0) + 1e-12
    design = np.column_stack([np.ones(len(columns)), (columns - center) / scale])
    penalty = l2 * np.diag([0.0, *np.ones(columns.shape[1])])
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-(design @ found)))
        slope = design.T @ (chance - positive) + penalty @ found
        curve = (design.T * (chance * (1 - chance))) @ design + penalty
        step = np.linalg.solve(curve, slope)
        found -= step
        if float(np.abs(step).max()) < _STILL:
            break
    weights = found[1:] / scale
    return Logistic(float(found[0] - weights @ center), weights)
