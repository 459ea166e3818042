"""Which provider a name stands for, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pydantic import SecretStr

from askbook.errors import SettingsError
from askbook.ports import Embedder, Writer
from askbook.settings import Settings

Part = TypeVar("Part")


def make_embedder(settings: Settings) -> Embedder:
    """The embedder that `ASKBOOK_EMBEDDER` names."""
    return _choose(EMBEDDERS, settings.embedder, "ASKBOOK_EMBEDDER")(settings)


def make_writer(settings: Settings, embedder: Embedder) -> Writer:
    """The writer that `ASKBOOK_WRITER` names."""
    return _choose(WRITERS, settings.writer, "ASKBOOK_WRITER")(settings, embedder)


def _minilm(_settings: Settings) -> Embedder:
    from askbook.providers.minilm import MiniLM

    return MiniLM()


def _hashing(_settings: Settings) -> Embedder:
    from askbook.providers.hashing import HashingEmbedder

    return HashingEmbedder()


def _cohere(settings: Settings) -> Embedder:
    from askbook.providers.cohere import CohereEmbedder

    key = _needed(settings.cohere_api_key, "Cohere", "COHERE_API_KEY")
    return CohereEmbedder(key, base_url=settings.cohere_base_url)


def _openai(settings: Settings) -> Embedder:
    from askbook.providers.openai import OpenAIEmbedder

    key = _needed(settings.openai_api_key, "OpenAI", "OPENAI_API_KEY")
    return OpenAIEmbedder(key, base_url=settings.openai_base_url)


def _extractive(_settings: Settings, embedder: Embedder) -> Writer:
    from askbook.providers.extractive import ExtractiveWriter

    return ExtractiveWriter(embedder)


EMBEDDERS: Mapping[str, Callable[[Settings], Embedder]] = {
    "minilm": _minilm,
    "hashing": _hashing,
    "cohere": _cohere,
    "openai": _openai,
}
PRICES: Mapping[str, float] = {  # USD per million tokens, list prices, for estimates
    "all-MiniLM-L6-v2": 0.0,
    "embed-english-v3.0": 0.10,
    "text-embedding-3-small": 0.02,
}
WRITERS: Mapping[str, Callable[[Settings, Embedder], Writer]] = {
    "extractive": _extractive,
}


def _choose(registry: Mapping[str, Part], name: str, setting: str) -> Part:
    if name not in registry:
        known = ", ".join(registry)
        raise SettingsError(f"{setting}={name!r} is not known. Choose one of: {known}")
    return registry[name]


def _needed(key: SecretStr | None, provider: str, variable: str) -> str:
    if key is None:
        raise SettingsError(
            f"{provider} needs an API key: set {variable}, "
            "or choose a local model with ASKBOOK_EMBEDDER=minilm"
        )
    return key.get_secret_value()
