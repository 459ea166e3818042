"""Which provider a name stands for, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pydantic import SecretStr

from askbook.errors import AskbookError, SettingsError
from askbook.ports import Embedder, Reranker, Writer
from askbook.settings import Settings

Part = TypeVar("Part")


def make_embedder(settings: Settings) -> Embedder:
    """The embedder that `ASKBOOK_EMBEDDER` names."""
    return _choose(EMBEDDERS, settings.embedder, "ASKBOOK_EMBEDDER")(settings)


def embedder_of_model(settings: Settings, model: str) -> Embedder | None:
    """An embedder whose vectors have this model's name; None where none can be made here."""
    for make in EMBEDDERS.values():
        try:
            embedder = make(settings)
        except AskbookError:  # no key, no extra, no file
            continue
        if embedder.model == model:
            return embedder
    return None


def make_writer(settings: Settings, embedder: Embedder) -> Writer:
    """The writer that `ASKBOOK_WRITER` names."""
    return _choose(WRITERS, settings.writer, "ASKBOOK_WRITER")(settings, embedder)


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker that `ASKBOOK_RERANKER` names, if any."""
    return _choose(RERANKERS, settings.reranker, "ASKBOOK_RERANKER")(settings)


def _minilm(_settings: Settings) -> Embedder:
    from askbook.providers.minilm import MiniLM

    return MiniLM()


def _hashing(_settings: Settings) -> Embedder:
    from askbook.providers.hashing import HashingEmbedder

    return HashingEmbedder()


def _cohere(settings: Settings) -> Embedder:
    from askbook.providers.cohere import CohereEmbedder

    key = _needed(settings.cohere_api_key, "Cohere", "COHERE_API_KEY", _LOCAL_EMBEDDER)
    return CohereEmbedder(key, base_url=settings.cohere_base_url)


def _openai(settings: Settings) -> Embedder:
    from askbook.providers.openai import OpenAIEmbedder

    key = _openai_key(settings, _LOCAL_EMBEDDER)
    return OpenAIEmbedder(key, base_url=settings.openai_base_url)


def _fastembed(settings: Settings) -> Embedder:
    from askbook.providers.fastembed import FastembedEmbedder

    return FastembedEmbedder(settings.fastembed_model, settings.home / "models")


def _extractive(_settings: Settings, embedder: Embedder) -> Writer:
    from askbook.providers.extractive import ExtractiveWriter

    return ExtractiveWriter(embedder)


def _openai_writer(settings: Settings, _embedder: Embedder) -> Writer:
    from askbook.providers.circuit import Circuit, GuardedWriter
    from askbook.providers.openai_writer import OpenAIWriter

    writer = OpenAIWriter(
        settings.writer_model,
        _openai_key(settings, "quote the book with ASKBOOK_WRITER=extractive"),
        base_url=settings.openai_base_url,
        timeout=settings.writer_timeout_s,
    )
    return GuardedWriter(writer, Circuit(f"The writer {writer.name}"))


def _no_reranker(_settings: Settings) -> None:
    return None


def _cohere_reranker(settings: Settings) -> Reranker:
    from askbook.providers.circuit import Circuit, GuardedReranker
    from askbook.providers.cohere import CohereReranker

    reranker = CohereReranker(
        settings.rerank_model,
        _needed(settings.cohere_api_key, "Cohere", "COHERE_API_KEY", "set ASKBOOK_RERANKER=none"),
        base_url=settings.cohere_base_url,
        timeout=settings.rerank_timeout_s,
    )
    return GuardedReranker(reranker, Circuit(f"The reranker {reranker.name}"))


EMBEDDERS: Mapping[str, Callable[[Settings], Embedder]] = {
    "minilm": _minilm,
    "hashing": _hashing,
    "cohere": _cohere,
    "openai": _openai,
    "fastembed": _fastembed,
}
WRITERS: Mapping[str, Callable[[Settings, Embedder], Writer]] = {
    "extractive": _extractive,
    "openai": _openai_writer,
}
RERANKERS: Mapping[str, Callable[[Settings], Reranker | None]] = {
    "none": _no_reranker,
    "cohere": _cohere_reranker,
}
_LOCAL_EMBEDDER = "choose a local model with ASKBOOK_EMBEDDER=minilm"


def _choose(registry: Mapping[str, Part], name: str, setting: str) -> Part:
    if name not in registry:
        known = ", ".join(registry)
        raise SettingsError(f"{setting}={name!r} is not known. Choose one of: {known}")
    return registry[name]


def _openai_key(settings: Settings, otherwise: str) -> str | None:
    """Needed by OpenAI itself; a server of one's own may do without."""
    if settings.openai_base_url is not None and settings.openai_api_key is None:
        return None
    return _needed(settings.openai_api_key, "OpenAI", "OPENAI_API_KEY", otherwise)


def _needed(key: SecretStr | None, provider: str, variable: str, otherwise: str) -> str:
    if key is None:
        raise SettingsError(f"{provider} needs an API key: set {variable}, or {otherwise}")
    found = key.get_secret_value().strip()  # files with a key in them tend to end in a newline
    if not (found and found.isascii() and found.isprintable()) or " " in found:
        raise SettingsError(f"{variable} is not a key: it holds characters that no key has")
    return found
