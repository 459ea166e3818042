"""Feature hashing: no model, no cost. For benchmarks and machines without the model file."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from math import log1p

import numpy as np

from askbook.ports import BatchLimits, Vectors

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Words hashed to signed dimensions. Finds the same words, not the same meaning."""

    model = "hashing-256"
    dimensions = 256
    limits = BatchLimits()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order."""
        return np.stack([self._embed(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return self._embed(text)

    def _embed(self, text: str) -> Vectors:
        vector = np.zeros(self.dimensions, dtype=np.float32)
        for word, times in Counter(_WORD.findall(text.lower())).items():
            code = zlib.crc32(word.encode())
            vector[code % self.dimensions] += (1 if code & 0x80000000 else -1) * log1p(times)
        length = np.linalg.norm(vector)
        if length == 0:  # no words at all, or words that cancel out: any fixed direction will do
            vector[0] = 1.0
            return vector
        return vector / length
