"""Fitted numbers, per embedding model: cosines of two models do not mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from askbook.asking.relevance import Calibration, Signals

# By `python -m evaluation.calibration` on the dev half of the sample book's golden set.
CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    "all-MiniLM-L6-v2-int8": Calibration(
        bias=-14.69,
        weights=Signals(
            quote=4.6, lead=15.37, kept=3.38, reach=1.07, known=1.36, focus=0.71, fits=5.3
        ),
        threshold=0.357,
    ),
}
_BY_WORDS: Final = Calibration(
    bias=-8.12,
    weights=Signals(quote=0.0, lead=0.0, kept=0.0, reach=3.34, known=1.21, focus=0.96, fits=5.33),
    threshold=0.485,
)


def calibration_of(model: str) -> Calibration:
    """The calibration of a model; one that goes by words alone where none was measured."""
    return CALIBRATIONS.get(model, _BY_WORDS)
