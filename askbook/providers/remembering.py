"""An embedder that does not embed the same text twice: readers ask about the same passages."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from askbook.ports import BatchLimits, Embedder, Vectors

_MOST: Final = 20_000  # vectors kept, the latest used ones: 30 MB at 384 dimensions


class RememberingEmbedder:
    """Keeps the vectors of the texts it saw last, for questions; ingesting has its own reuse."""

    def __init__(self, embedder: Embedder, most: int = _MOST) -> None:
        self._embedder = embedder
        self._most = most
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Name and variant of the model."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._embedder.dimensions

    @property
    def limits(self) -> BatchLimits:
        """How much `embed_passages` takes at once."""
        return self._embedder.limits

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question; questions are rarely asked twice."""
        return await self._embedder.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text; only those not seen lately go to the embedder."""
        found = self._recall(texts)
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        for start in range(0, len(missing), self.limits.texts):
            batch = missing[start : start + self.limits.texts]
            vectors = await self._embedder.embed_passages(batch)
            found.update(zip(batch, vectors, strict=True))
        self._keep({text: found[text] for text in missing})
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([found[text] for text in texts])

    def _recall(self, texts: Sequence[str]) -> dict[str, Vectors]:
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
            for text in found:
                self._known.move_to_end(text)
        return found

    def _keep(self, vectors: dict[str, Vectors]) -> None:
        with self._lock:
            self._known.update(vectors)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
