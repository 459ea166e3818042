"""Fitted numbers, per embedding model: cosines of two models do not mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from askbook.asking.relevance import Calibration, Signals

# By `python -m evaluation.calibration` on the dev half of the sample book's golden set.
CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    "all-MiniLM-L6-v2-int8": Calibration(
        bias=-6.88,
        weights=Signals(quote=5.51, similarity=-2.36, lead=16.18, reach=1.59, names=1.95),
        threshold=0.368,
    ),
}
_BY_WORDS: Final = Calibration(
    bias=-2.05,
    weights=Signals(quote=0.0, similarity=0.0, lead=0.0, reach=3.14, names=0.9),
    threshold=0.525,
)


def calibration_of(model: str) -> Calibration:
    """The calibration of a model; one that goes by words alone where none was measured."""
    return CALIBRATIONS.get(model, _BY_WORDS)
