"""Cohere's embed-english-v3.0 through the official client. 1024 dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import numpy as np
from cohere import AsyncClientV2
from cohere.core.api_error import ApiError

from askbook.errors import AskbookError
from askbook.ports import BatchLimits, Vectors
from askbook.providers.answers import checked_vectors, failure, retry_after


class CohereEmbedder:
    """Passages and questions are told apart by Cohere's `input_type`."""

    model = "embed-english-v3.0"
    dimensions = 1024
    relevance_floor = 0.3  # a guess, not measured yet
    limits = BatchLimits(
        texts=96, inputs_per_minute=2000, concurrency=4, usd_per_million_tokens=0.10
    )

    def __init__(self, api_key: str, *, base_url: str | None = None, timeout: float = 30.0) -> None:
        self._client = AsyncClientV2(api_key, base_url=base_url, timeout=timeout, max_retries=0)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order; at most 96 texts a call."""
        return await self._embed(texts, "search_document")

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return np.asarray((await self._embed([text], "search_query"))[0])

    async def _embed(self, texts: Sequence[str], input_type: str) -> Vectors:
        try:
            reply = await self._client.embed(
                model=self.model,
                input_type=input_type,
                texts=list(texts),
                embedding_types=["float"],
                truncate="END",
            )
        except ApiError as error:
            raise _explained(error) from error
        except httpx.TransportError as error:
            raise failure("Cohere", None, str(error) or type(error).__name__) from error
        rows = reply.embeddings.float_ or []
        return checked_vectors("Cohere", rows, count=len(texts), dimensions=self.dimensions)


def _explained(error: ApiError) -> AskbookError:
    return failure("Cohere", error.status_code, str(error.body), retry_after(error.headers or {}))
