"""Cohere and OpenAI: the official clients against a local server in the real wire format."""

import anyio
import numpy as np
import pytest
from wire import cohere_reply, openai_reply, serving

from askbook.errors import ProviderError, ProviderUnavailable
from askbook.providers.cohere import CohereEmbedder
from askbook.providers.openai import OpenAIEmbedder

CASES = [(CohereEmbedder, cohere_reply, 1024), (OpenAIEmbedder, openai_reply, 1536)]
by_provider = pytest.mark.parametrize(
    ("make", "reply", "dimensions"), CASES, ids=["cohere", "openai"]
)


@by_provider
def test_vectors_come_back_in_order_and_with_unit_length(make, reply, dimensions):
    with serving(lambda body: (200, {}, reply(body))) as wire:
        vectors = anyio.run(make("key", base_url=wire.address).embed_passages, ["a", "b", "c"])
    assert vectors.shape == (3, dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])
    ratios = vectors[:, 1] / vectors[:, 0]  # the server wrote each text's position here
    assert ratios == pytest.approx([0, 1, 2])


def test_cohere_is_told_passages_from_questions():
    with serving(lambda body: (200, {}, cohere_reply(body))) as wire:
        embedder = CohereEmbedder("key", base_url=wire.address)
        anyio.run(embedder.embed_passages, ["a passage"])
        anyio.run(CohereEmbedder("key", base_url=wire.address).embed_query, "a question")
    (path, passage), (_, question) = wire.requests
    assert path == "/v2/embed"
    assert passage["input_type"] == "search_document"
    assert question["input_type"] == "search_query"
    assert passage["model"] == "embed-english-v3.0"
    assert passage["embedding_types"] == ["float"]


@by_provider
def test_429_is_transient_and_says_how_long_to_wait(make, reply, dimensions):
    with (
        serving(lambda _: (429, {"Retry-After": "3"}, {"message": "slow down"})) as wire,
        pytest.raises(ProviderUnavailable) as caught,
    ):
        anyio.run(make("key", base_url=wire.address).embed_passages, ["a"])
    assert caught.value.retry_after == 3.0
    assert len(wire.requests) == 1  # retries are ours, not the client's


@by_provider
def test_a_refused_key_is_terminal(make, reply, dimensions):
    with (
        serving(lambda _: (401, {}, {"message": "invalid api token"})) as wire,
        pytest.raises(ProviderError, match="Check the API key"),
    ):
        anyio.run(make("key", base_url=wire.address).embed_passages, ["a"])


@by_provider
def test_a_server_that_is_away_is_transient(make, reply, dimensions):
    with serving(lambda _: (200, {}, {})) as wire:
        address = wire.address
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        anyio.run(make("key", base_url=address).embed_passages, ["a"])


@by_provider
def test_vectors_of_the_wrong_length_are_an_error(make, reply, dimensions):
    with (
        serving(lambda body: (200, {}, reply(body, 8))) as wire,
        pytest.raises(ProviderError, match=f"expected {dimensions}"),
    ):
        anyio.run(make("key", base_url=wire.address).embed_passages, ["a"])
