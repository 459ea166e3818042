"""What an engine found, in our own words; both engines answer with points of one shape."""

from __future__ import annotations

from typing import Any, Protocol  # engines give ids, vectors and payloads types of their own

import numpy as np

from askbook.index import schema
from askbook.models import Hit
from askbook.ports import Vectors


class Scored(Protocol):
    """A point with its fused score."""

    @property
    def id(self) -> Any: ...  # noqa: ANN401, D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def vector(self) -> Any: ...  # noqa: ANN401, D102
    @property
    def payload(self) -> dict[str, Any] | None: ...  # noqa: D102


def hit(point: Scored, query: Vectors) -> Hit:
    """A found chunk; DBSF adds two scores of about 0 to 1, which are brought to one."""
    return Hit(
        id=str(point.id),
        score=min(max(point.score / 2, 0.0), 1.0),
        similarity=float(np.dot(dense(point.vector), query)),
        payload=point.payload or {},
    )


def dense(vector: object) -> list[float]:
    """The dense one of a point's named vectors; empty where it was not asked for."""
    return vector.get(schema.DENSE, []) if isinstance(vector, dict) else []
