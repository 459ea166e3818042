"""Names in settings become parts; what is missing is said before anything is sent."""

import sys
from types import ModuleType

import anyio
import numpy as np
import pytest

from askbook.errors import ProviderUnavailable, SettingsError
from askbook.providers.circuit import GuardedReranker, GuardedWriter
from askbook.providers.cohere import CohereEmbedder
from askbook.providers.hashing import HashingEmbedder
from askbook.providers.openai import OpenAIEmbedder
from askbook.providers.prices import PRICES
from askbook.providers.registry import make_embedder, make_reranker, make_writer
from askbook.settings import Settings

LOCAL = "http://127.0.0.1:9/v1"


def test_by_default_nothing_needs_a_network():
    settings = Settings()
    assert make_writer(settings, HashingEmbedder()).name == "extractive"
    assert make_reranker(settings) is None
    assert settings.on_writer_failure == "extractive"
    assert settings.on_reranker_failure == "skip"


def test_parts_that_can_be_away_are_guarded(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x\n")
    monkeypatch.setenv("COHERE_API_KEY", "co-x")
    settings = Settings(writer="openai", reranker="cohere")
    writer, reranker = make_writer(settings, HashingEmbedder()), make_reranker(settings)
    assert isinstance(writer, GuardedWriter)
    assert isinstance(reranker, GuardedReranker)
    assert (writer.name, reranker.name) == ("gpt-4o-mini", "rerank-v3.5")
    assert writer.circuit.state.state == reranker.circuit.state.state == "closed"


def test_openai_needs_a_key_and_says_what_else_to_do():
    with pytest.raises(SettingsError, match=r"set OPENAI_API_KEY, or .*ASKBOOK_WRITER=extractive"):
        make_writer(Settings(writer="openai"), HashingEmbedder())
    with pytest.raises(SettingsError, match=r"set OPENAI_API_KEY, or .*ASKBOOK_EMBEDDER=minilm"):
        make_embedder(Settings(embedder="openai"))


def test_a_server_of_ones_own_needs_none(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    settings = Settings(writer="openai", writer_model="qwen", embedder="openai")
    assert make_writer(settings, HashingEmbedder()).name == "qwen"
    assert make_embedder(settings).dimensions == 1536


def test_cohere_needs_a_key_too():
    with pytest.raises(SettingsError, match="set COHERE_API_KEY, or set ASKBOOK_RERANKER=none"):
        make_reranker(Settings(reranker="cohere"))


@pytest.mark.parametrize("key", ["sk-…", "two words", " "])
def test_what_cannot_be_a_key_is_refused_and_not_shown(monkeypatch, key):
    monkeypatch.setenv("COHERE_API_KEY", key)
    with pytest.raises(SettingsError, match="COHERE_API_KEY is not a key") as caught:
        make_reranker(Settings(reranker="cohere"))
    assert key.strip() == "" or key not in str(caught.value)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SettingsError, match=r"ASKBOOK_RERANKER='best' .*: none, cohere"):
        make_reranker(Settings(reranker="best"))


@pytest.mark.parametrize("embedder", [CohereEmbedder, OpenAIEmbedder])
def test_prices_stand_in_one_place(embedder):
    assert embedder.limits.usd_per_million_tokens == PRICES[embedder.model] > 0


class TextEmbedding:
    """The part of fastembed that is used."""

    failing = False

    def __init__(self, model_name, cache_dir):
        if self.failing:
            raise ValueError("Could not load model from any source.")

    @staticmethod
    def list_supported_models():
        return [{"model": "BAAI/bge-small-en-v1.5", "dim": 3}, {"model": "other/one", "dim": 4}]

    def passage_embed(self, texts):
        yield from (np.array([3.0, 4.0, 0.0]) for _ in texts)

    def query_embed(self, query):
        yield np.array([0.0, 0.0, 2.0])


@pytest.fixture
def fastembed(monkeypatch):
    library = ModuleType("fastembed")
    library.TextEmbedding = type("TextEmbedding", (TextEmbedding,), {})
    monkeypatch.setitem(sys.modules, "fastembed", library)
    return library


def test_fastembed_reads_its_dimensions_from_the_model_list(fastembed):
    embedder = make_embedder(Settings(embedder="fastembed"))
    assert embedder.model == "fastembed:BAAI/bge-small-en-v1.5"
    assert embedder.dimensions == 3
    assert (
        anyio.run(embedder.embed_passages, ["a", "b"]).tolist()
        == [pytest.approx([0.6, 0.8, 0.0])] * 2
    )
    assert anyio.run(embedder.embed_query, "q").tolist() == [0.0, 0.0, 1.0]


def test_a_model_that_fastembed_does_not_have_is_a_wrong_setting(fastembed):
    with pytest.raises(SettingsError, match=r"'nobody/nothing' .*: BAAI/bge-small-en-v1.5, other"):
        make_embedder(Settings(embedder="fastembed", fastembed_model="nobody/nothing"))


def test_a_model_that_cannot_be_downloaded_may_be_there_later(fastembed):
    embedder = make_embedder(Settings(embedder="fastembed"))
    fastembed.TextEmbedding.failing = True
    with pytest.raises(ProviderUnavailable, match="needs a network"):
        anyio.run(embedder.embed_query, "q")
    fastembed.TextEmbedding.failing = False
    assert anyio.run(embedder.embed_query, "q").shape == (3,)


def test_without_the_extra_the_user_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(SettingsError, match="pip install 'askbook\\[fastembed\\]'"):
        make_embedder(Settings(embedder="fastembed"))
