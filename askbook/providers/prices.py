"""What embedding costs: list prices by model, for estimates. The only place they stand."""

from __future__ import annotations

from collections.abc import Mapping

PRICES: Mapping[str, float] = {  # USD per million tokens
    "all-MiniLM-L6-v2": 0.0,
    "embed-english-v3.0": 0.10,
    "text-embedding-3-small": 0.02,
}
