"""OpenAI's protocol through the official client, and its embedder: text-embedding-3-small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
from openai import (
    APIConnectionError,
    APIError,
    APIResponseValidationError,
    APIStatusError,
    AsyncOpenAI,
)

from askbook.errors import AskbookError, ProviderError
from askbook.ports import BatchLimits, Vectors
from askbook.providers.answers import checked_vectors, failure, retry_after
from askbook.providers.prices import PRICES

_NO_KEY = "none"  # the client insists on one; servers of one's own mostly do not look at it


class OpenAIServer:
    """One server that speaks OpenAI's protocol; its errors become those of `askbook.errors`."""

    def __init__(self, api_key: str | None, base_url: str | None, timeout: float | None) -> None:
        self.name = f"The server at {_host(base_url)}" if base_url else "OpenAI"
        self._secret = api_key
        self.client = AsyncOpenAI(
            api_key=api_key or _NO_KEY, base_url=base_url, timeout=timeout, max_retries=0
        )

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Around every call. Causes are dropped: they hold the request, and with it the key."""
        try:
            yield
        except APIStatusError as error:
            wait = retry_after(error.response.headers)
            raise self._failure(error.status_code, error.message, wait) from None
        except APIConnectionError as error:
            raise self._failure(None, error.message) from None
        except (APIResponseValidationError, ValueError):  # not JSON, not UTF-8, not the fields
            raise ProviderError(f"{self.name} answered what is not OpenAI's protocol.") from None
        except APIError as error:  # sent as an event, after the server had answered 200
            raise self._failure(_status(error), error.message) from None

    def _failure(self, status: int | None, message: str, wait: float | None = None) -> AskbookError:
        return failure(self.name, status, message, wait, secret=self._secret)


class OpenAIEmbedder:
    """Works with any server that speaks OpenAI's protocol. 1536 dimensions."""

    model = "text-embedding-3-small"
    dimensions = 1536
    limits = BatchLimits(
        texts=2048, tokens=300_000, concurrency=4, usd_per_million_tokens=PRICES[model]
    )

    def __init__(
        self, api_key: str | None, *, base_url: str | None = None, timeout: float = 30.0
    ) -> None:
        self._server = OpenAIServer(api_key, base_url, timeout)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order; at most 2,048 texts and 300,000 tokens a call."""
        with self._server.explained():
            reply = await self._server.client.embeddings.create(
                model=self.model, input=list(texts), encoding_format="float"
            )
        rows = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        return checked_vectors(
            self._server.name, rows, count=len(texts), dimensions=self.dimensions
        )

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return np.asarray((await self.embed_passages([text]))[0])


def _status(error: APIError) -> int:
    """Of an error without one: what the server would have answered, had it known in time."""
    if error.code and error.code.isdecimal():
        return int(error.code)
    return 400 if error.type == "invalid_request_error" else 500


def _host(base_url: str) -> str:
    """Host and port only: an address may hold a password."""
    parts = urlsplit(base_url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
