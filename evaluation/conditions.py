"""What a run is measured with: embedder × chunks × fusion × rerank, and how deep it looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Final

from askbook.book.presets import PRESETS
from askbook.errors import WrongUse
from askbook.models import ChunkSettings
from askbook.ports import Embedder
from askbook.providers.registry import EMBEDDERS, RERANKERS, make_embedder
from askbook.settings import Settings

WHOLE: Final = "whole"
WINDOWS: Final = "minilm-windows"  # MiniLM that reads long passages in windows; not in the product
FUSIONS: Final = ("dbsf", "rrf", "rrf60", "dense", "bm25")  # the product has the first alone


@dataclass(frozen=True, slots=True)
class Condition:
    """One column of the matrix. `Condition.of(settings)` is what readers get."""

    embedder: str = "minilm"
    chunk: str = "compact"  # a preset, a number of tokens, or "whole"
    fusion: str = "dbsf"
    rerank: str = "none"
    prefetch: int = 100
    top: int = 5  # chunks read, where spans are measured

    @classmethod
    def of(cls, settings: Settings) -> Condition:
        """The condition that the settings describe."""
        return cls(
            embedder=settings.embedder,
            chunk=settings.chunk_preset,
            rerank=settings.reranker,
            prefetch=settings.prefetch,
            top=settings.top_k,
        )

    def changed(self, changes: Mapping[str, object]) -> Condition:
        """This condition with other values; what makes no sense is refused by name."""
        known = {field.name: field.type for field in fields(self)}
        for name in changes:
            if name not in known:
                raise WrongUse(f"No condition is called {name!r}; use some of: {', '.join(known)}")
        values = {name: _typed(name, value, str(known[name])) for name, value in changes.items()}
        made: Condition = replace(self, **values)  # type: ignore[arg-type]
        made.check()
        return made

    def parsed(self, text: str) -> Condition:
        """This condition with what `fusion=rrf,chunk=standard` says."""
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
        for name, equals, _ in pairs:
            if not equals:
                raise WrongUse(f"{name!r} is no condition; write name=value, such as fusion=rrf")
        return self.changed({name.strip(): value.strip() for name, _, value in pairs})

    def check(self) -> None:
        """Refuse values that nothing stands for."""
        _one_of("embedder", self.embedder, (*EMBEDDERS, WINDOWS))
        _one_of("fusion", self.fusion, FUSIONS)
        _one_of("rerank", self.rerank, tuple(RERANKERS))
        if self.chunk != WHOLE:
            chunk_settings(self.chunk)
        if min(self.prefetch, self.top) < 1:
            raise WrongUse("prefetch and top must be at least 1")

    def settings(self, settings: Settings) -> Settings:
        """The product's settings under this condition."""
        changes = {
            "embedder": "minilm" if self.embedder == WINDOWS else self.embedder,
            "reranker": self.rerank,
            "prefetch": self.prefetch,
            "top_k": self.top,
        }
        return settings.model_copy(update=changes)

    def make_embedder(self, settings: Settings) -> Embedder:
        """The embedder of this condition."""
        if self.embedder == WINDOWS:
            from askbook.providers.minilm import MiniLM

            return MiniLM(windows=True)
        return make_embedder(self.settings(settings))

    def told(self, base: Condition | None = None) -> str:
        """What differs from `base`, in the words that `--condition` takes."""
        plain = asdict(base or Condition())
        differs = [f"{k}={v}" for k, v in asdict(self).items() if plain[k] != v]
        return ",".join(differs) or "default"


def chunk_settings(size: str) -> ChunkSettings:
    """Return a preset, or one of N tokens with the proportions of `compact`."""
    if size in PRESETS:
        return PRESETS[size]
    if not size.isdecimal() or int(size) < 1:
        raise WrongUse(f"{size!r} is no chunk size; use {', '.join(PRESETS)}, {WHOLE} or tokens")
    tokens = int(size)
    return ChunkSettings(size, tokens, tokens * 32 // 25, tokens // 4)


def _typed(name: str, value: object, kind: str) -> object:
    if kind == "str":
        return str(value)
    try:
        return int(str(value))
    except ValueError:
        raise WrongUse(f"{name}={value} is no whole number") from None


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise WrongUse(f"{name}={value} is not known; use one of: {', '.join(known)}")
