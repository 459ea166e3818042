"""Vectors of different models never mix in one index."""

from __future__ import annotations

from askbook.errors import IndexFault
from askbook.models import IndexVersion


def check_model(version: IndexVersion, embedding_model: str, dimensions: int) -> None:
    """Raise unless new vectors of this model can stand beside those of `version`."""
    if (version.embedding_model, version.dimensions) != (embedding_model, dimensions):
        raise IndexFault(
            f"The index holds vectors of {version.embedding_model} ({version.dimensions}-d), "
            f"also of other books; vectors of {embedding_model} ({dimensions}-d) cannot stand "
            "beside them. Give this model an index of its own: set ASKBOOK_COLLECTION to a new "
            "name, or set ASKBOOK_EMBEDDER back."
        )
