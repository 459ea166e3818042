"""A `ChunkFilter` in the engine's words.

The in-process engine and the server's client use the same vocabulary under two module names;
`Vocabulary` names the few classes needed, so that the translation is written once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any  # the two engines' classes share no base type

from askbook.models import ChunkFilter


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The engine's own classes for conditions."""

    filter: Callable[..., Any]
    field: Callable[..., Any]
    value: Callable[..., Any]
    any: Callable[..., Any]
    range: Callable[..., Any]


def to_engine(where: ChunkFilter, words: Vocabulary) -> Any | None:  # noqa: ANN401
    """The engine's filter, or None where nothing is restricted."""
    must = _matches(where, words) + _any_of(where, words) + _ranges(where, words)
    return words.filter(must=must) if must else None


def _matches(where: ChunkFilter, words: Vocabulary) -> list[Any]:
    exact = {
        "book_id": where.book_id,
        "module": where.module,
        "lesson": where.lesson,
        "layer": where.layer,
        "parent_doc_id": where.parent_doc_id,
        "difficulty": where.difficulty,
        "source_file": where.source_file,
        "chapter_id": where.chapter_id,
    }
    return [
        words.field(key=key, match=words.value(value=value))
        for key, value in exact.items()
        if value is not None
    ]


def _any_of(where: ChunkFilter, words: Vocabulary) -> list[Any]:
    choices = {
        "proficiency_level": where.proficiency_levels,
        "tags": where.tags,
        "embedded_hash": where.embedded_hashes,
    }
    return [
        words.field(key=key, match=words.any(any=list(values)))
        for key, values in choices.items()
        if values
    ]


def _ranges(where: ChunkFilter, words: Vocabulary) -> list[Any]:
    ranges: list[tuple[str, dict[str, int | None]]] = []
    if where.max_hardware_tier is not None:
        ranges.append(("hardware_tier", {"lte": where.max_hardware_tier}))
    if where.chapter_min is not None or where.chapter_max is not None:
        ranges.append(("chapter", {"gte": where.chapter_min, "lte": where.chapter_max}))
    if where.overlaps is not None:
        start, end = where.overlaps
        ranges.append(("start_char_offset", {"lt": end}))
        ranges.append(("end_char_offset", {"gt": start}))
    return [words.field(key=key, range=words.range(**bounds)) for key, bounds in ranges]
