"""Any model of the fastembed library, an extra: models are downloaded at their first use."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

import anyio.to_thread
import numpy as np

from askbook.errors import ProviderUnavailable, SettingsError
from askbook.ports import BatchLimits, Vectors
from askbook.providers.answers import checked_vectors


class _Model(Protocol):
    def passage_embed(self, texts: Iterable[str]) -> Iterable[Sequence[float]]: ...

    def query_embed(self, query: str) -> Iterable[Sequence[float]]: ...


class FastembedEmbedder:
    """Runs here, on onnxruntime. `cache` is where downloaded models are kept."""

    limits = BatchLimits()

    def __init__(self, name: str, cache: Path) -> None:
        self._name = name
        self._cache = cache
        self._library = _library()
        self._loading = threading.Lock()
        self.model = f"fastembed:{name}"
        self.dimensions = self._described_dimensions()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order."""
        return await anyio.to_thread.run_sync(self._passages, list(texts))

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return await anyio.to_thread.run_sync(self._query, text)

    def _passages(self, texts: list[str]) -> Vectors:
        rows = list(self._loaded().passage_embed(texts))
        return checked_vectors(self.model, rows, count=len(texts), dimensions=self.dimensions)

    def _query(self, text: str) -> Vectors:
        rows = list(self._loaded().query_embed(text))
        return np.asarray(checked_vectors(self.model, rows, count=1, dimensions=self.dimensions)[0])

    def _described_dimensions(self) -> int:
        """From the library's list of models; nothing is downloaded for it."""
        models = self._library.TextEmbedding.list_supported_models()
        sizes = {str(model["model"]).lower(): int(model["dim"]) for model in models}
        if self._name.lower() not in sizes:
            raise SettingsError(
                f"ASKBOOK_FASTEMBED_MODEL={self._name!r} is not known to fastembed. Its models: "
                + ", ".join(sorted(str(model["model"]) for model in models))
            )
        return sizes[self._name.lower()]

    def _loaded(self) -> _Model:
        with self._loading:
            return self._text_embedding

    @cached_property
    def _text_embedding(self) -> _Model:
        try:
            model: _Model = self._library.TextEmbedding(self._name, cache_dir=str(self._cache))
        except Exception as error:  # downloads fail in many ways, each with a class of its own
            raise ProviderUnavailable(
                f"The model {self._name} could not be loaded: {error} "
                "It is downloaded at its first use, which needs a network."
            ) from error
        return model


def _library() -> ModuleType:
    try:
        return import_module("fastembed")
    except ImportError as error:
        raise SettingsError(
            "ASKBOOK_EMBEDDER=fastembed needs an extra package: pip install 'askbook[fastembed]'"
        ) from error
