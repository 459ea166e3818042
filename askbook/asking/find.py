"""Which passages a question is answered from: a selection, or what search and reranking find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio.to_thread

from askbook.asking import passages, selected
from askbook.asking.follow_up import standalone
from askbook.asking.relevance import CONSIDERED
from askbook.asking.retrieve import retrieve
from askbook.errors import AskbookError
from askbook.models import ChunkFilter, Hit, Question, Source, Usage
from askbook.ports import Embedder, Reranker, VectorIndex, Writer
from askbook.settings import Settings

FILTERS_LEFT_NOTHING: Final = "No passage of the book fits these filters."
SEARCHED_ALL: Final = "No passage of the book fits these filters; the whole book was searched."
SELECTION_NOT_FOUND: Final = "The selected text was not found in the book, so nothing is cited."
RERANKER_FAILED: Final = "The passages were not reranked: the reranker did not answer."


@dataclass(slots=True)
class Found:
    """What an answer may be made from."""

    query: str  # what was searched for
    hits: list[Hit] = field(default_factory=list)  # considered, best first
    sources: tuple[Source, ...] = ()
    notes: list[str] = field(default_factory=list)
    reranked_by: str | None = None


class Finder:
    """Finds passages in the published index."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        index: VectorIndex,
        reranker: Reranker | None,
        rewriter: Writer | None,
        settings: Settings,
    ) -> None:
        self._embedder = embedder
        self._index = index
        self._reranker = reranker
        self._rewriter = rewriter
        self._settings = settings

    async def search(self, query: str, where: ChunkFilter, limit: int) -> list[Hit]:
        """Passages only, best first; `where` is part of the engine's query."""
        return await retrieve(
            query,
            where,
            embedder=self._embedder,
            index=self._index,
            limit=limit,
            prefetch=self._settings.prefetch,
        )

    async def find(self, question: Question, usage: Usage) -> Found:
        """Passages for a question, the conversation before it considered."""
        query = await standalone(question.text, question.history, self._rewriter, usage)
        found = Found(query, await self.search(query, question.where, CONSIDERED))
        if not found.hits and question.where != _whole_book(question.where):
            found.notes.append(SEARCHED_ALL if question.broaden else FILTERS_LEFT_NOTHING)
            if question.broaden:
                found.hits = await self.search(query, _whole_book(question.where), CONSIDERED)
        await self._rerank(found)
        best = found.hits[: question.top_k or self._settings.top_k]
        near = await anyio.to_thread.run_sync(
            passages.with_neighbours, best, self._index, self._settings.neighbours
        )
        found.sources = passages.number(near)
        return found

    async def find_selected(self, question: Question) -> Found:
        """The selection itself, and the place in the book that it comes from."""
        text = question.selected_text or ""
        hits = await self.search(selected.search_text(text), question.where, CONSIDERED)
        found = Found(question.text, selected.locate(text, hits))
        found.sources = selected.sources_of(text, found.hits)
        if not found.hits:
            found.notes.append(SELECTION_NOT_FOUND)
        return found

    async def _rerank(self, found: Found) -> None:
        if self._reranker is None or not found.hits:
            return
        try:
            scores = await self._reranker.rerank(found.query, [_text(hit) for hit in found.hits])
        except AskbookError:
            if self._settings.on_reranker_failure == "unavailable":
                raise
            found.notes.append(RERANKER_FAILED)
            return
        found.hits = _sorted(found.hits, scores)
        found.reranked_by = self._reranker.name


def _sorted(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: -hit.score)


def _whole_book(where: ChunkFilter) -> ChunkFilter:
    return ChunkFilter(book_id=where.book_id)


def _text(hit: Hit) -> str:
    return str(hit.payload["text"])
