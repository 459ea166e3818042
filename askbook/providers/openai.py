"""OpenAI's text-embedding-3-small through the official client. 1536 dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openai import APIConnectionError, APIStatusError, AsyncOpenAI

from askbook.ports import BatchLimits, Vectors
from askbook.providers.answers import checked_vectors, failure, retry_after


class OpenAIEmbedder:
    """Works with any server that speaks OpenAI's protocol."""

    model = "text-embedding-3-small"
    dimensions = 1536
    relevance_floor = 0.2  # a guess, not measured yet
    limits = BatchLimits(texts=2048, tokens=300_000, concurrency=4, usd_per_million_tokens=0.02)

    def __init__(self, api_key: str, *, base_url: str | None = None, timeout: float = 30.0) -> None:
        self._client = AsyncOpenAI(
            api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0
        )

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order; at most 2,048 texts and 300,000 tokens a call."""
        try:
            reply = await self._client.embeddings.create(
                model=self.model, input=list(texts), encoding_format="float"
            )
        except APIStatusError as error:
            wait = retry_after(error.response.headers)
            raise failure("OpenAI", error.status_code, error.message, wait) from error
        except APIConnectionError as error:
            raise failure("OpenAI", None, str(error)) from error
        rows = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        return checked_vectors("OpenAI", rows, count=len(texts), dimensions=self.dimensions)

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return np.asarray((await self.embed_passages([text]))[0])
