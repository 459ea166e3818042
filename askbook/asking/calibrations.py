"""Fitted numbers, per embedding model: cosines of two models do not mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from askbook.asking.relevance import Calibration, Signals

# By `python -m evaluation.calibration` on the dev half of the sample book's golden set.
CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    "all-MiniLM-L6-v2-int8": Calibration(
        bias=-14.32,
        weights=Signals(
            quote=3.93, lead=15.81, kept=4.32, reach=1.27, known=1.28, focus=0.72, fits=5.3
        ),
        threshold=0.412,
    ),
}
_BY_WORDS: Final = Calibration(
    bias=-8.28,
    weights=Signals(quote=0.0, lead=0.0, kept=0.0, reach=3.67, known=1.22, focus=0.96, fits=5.34),
    threshold=0.484,
)


def calibration_of(model: str) -> Calibration:
    """The calibration of a model; one that goes by words alone where none was measured."""
    return CALIBRATIONS.get(model, _BY_WORDS)
