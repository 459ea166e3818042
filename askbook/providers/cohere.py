"""Cohere through the official client: embed-english-v3.0 (1024 dimensions) and rerank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import anyio
import httpx
import numpy as np
import stamina
from cohere import AsyncClientV2
from cohere.core.api_error import ApiError
from cohere.core.parse_error import ParsingError
from pydantic import BaseModel, ConfigDict, Field

from askbook.errors import ProviderError, ProviderUnavailable
from askbook.ports import BatchLimits, Vectors
from askbook.providers.answers import checked_vectors, failure, retry_after, retry_within
from askbook.providers.prices import PRICES

_RERANK_ATTEMPTS = 2
_LONGEST_WAIT = 2.0  # seconds Cohere may ask for before a question goes on without it


class CohereEmbedder:
    """Passages and questions are told apart by Cohere's `input_type`."""

    model = "embed-english-v3.0"
    dimensions = 1024
    limits = BatchLimits(
        texts=96, inputs_per_minute=2000, concurrency=4, usd_per_million_tokens=PRICES[model]
    )

    def __init__(self, api_key: str, *, base_url: str | None = None, timeout: float = 30.0) -> None:
        self._secret = api_key
        self._client = AsyncClientV2(api_key, base_url=base_url, timeout=timeout, max_retries=0)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order; at most 96 texts a call."""
        return await self._embed(texts, "search_document")

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return np.asarray((await self._embed([text], "search_query"))[0])

    async def _embed(self, texts: Sequence[str], input_type: str) -> Vectors:
        with _explained(self._secret):
            reply = await self._client.embed(
                model=self.model,
                input_type=input_type,
                texts=list(texts),
                embedding_types=["float"],
                truncate="END",
            )
        rows = reply.embeddings.float_ or []
        return checked_vectors("Cohere", rows, count=len(texts), dimensions=self.dimensions)


class CohereReranker:
    """A cross-encoder as a service. `timeout` is for a question, its one retry included."""

    def __init__(
        self,
        model: str,
        api_key: str,
        *,
        base_url: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        self.name = model
        self._timeout = timeout
        self._secret = api_key
        # Time is kept in `rerank`, over all attempts; the client's own limit is for one read.
        self._client = AsyncClientV2(api_key, base_url=base_url, max_retries=0)

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score from 0 to 1 per passage, in the order they were given."""
        if not passages:
            return []
        try:
            with anyio.fail_after(self._timeout):
                return await self._with_retry(query, passages)
        except TimeoutError:
            raise ProviderUnavailable(
                f"Cohere did not rerank within {self._timeout:g} s."
            ) from None

    async def _with_retry(self, query: str, passages: Sequence[str]) -> list[float]:
        async for attempt in stamina.retry_context(
            on=retry_within(min(_LONGEST_WAIT, self._timeout)),
            attempts=_RERANK_ATTEMPTS,
            timeout=None,
            wait_initial=0.1,
            wait_jitter=0.1,
        ):
            with attempt:
                return await self._rerank(query, passages)
        raise AssertionError  # stamina returns or raises

    async def _rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        with _explained(self._secret):
            reply = await self._client.rerank(
                model=self.name, query=query, documents=list(passages), top_n=len(passages)
            )
            ranking = _Ranking.model_validate(reply)
        return _in_order(ranking, len(passages))


class _Part(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class _Rank(_Part):
    index: int
    relevance_score: float = Field(ge=0.0, le=1.0)  # refuses NaN as well


class _Ranking(_Part):
    results: list[_Rank]


def _in_order(ranking: _Ranking, count: int) -> list[float]:
    """Scores by the passages' own order. Every passage must have exactly one."""
    scores = {rank.index: rank.relevance_score for rank in ranking.results}
    if len(ranking.results) != count or scores.keys() != set(range(count)):
        found = sorted(rank.index for rank in ranking.results)
        raise ProviderError(f"Cohere scored the passages {found}, but was given 0 to {count - 1}.")
    return [scores[index] for index in range(count)]


@contextmanager
def _explained(secret: str) -> Iterator[None]:
    """Around every call. Causes are dropped: they hold the request, and with it the key."""
    try:
        yield
    except ApiError as error:
        wait = retry_after(error.headers or {})
        raise failure("Cohere", error.status_code, str(error.body), wait, secret=secret) from None
    except httpx.RequestError as error:
        message = str(error) or type(error).__name__
        raise failure("Cohere", None, message, secret=secret) from None
    except (ParsingError, ValueError, TypeError):  # the client builds its values unchecked
        raise ProviderError("Cohere answered what is not its protocol.") from None
