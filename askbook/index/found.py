"""What an engine found, in our own words; both engines answer with points of one shape."""

from __future__ import annotations

from collections.abc import Sequence
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


def hits(points: Sequence[Scored], query: Vectors) -> list[Hit]:
    """The found chunks; DBSF adds two scores of about 0 to 1, which are brought to one."""
    if not points:
        return []
    vectors = np.array([dense(point.vector) for point in points], dtype=np.float32)
    return [
        Hit(
            id=str(point.id),
            score=min(max(point.score / 2, 0.0), 1.0),
            similarity=similarity,
            payload=point.payload or {},
        )
        for point, similarity in zip(points, (vectors @ query).tolist(), strict=True)
    ]


def dense(vector: object) -> list[float]:
    """The dense one of a point's named vectors; empty where it was not asked for."""
    return vector.get(schema.DENSE, []) if isinstance(vector, dict) else []
