"""How well a book is found, answered, cited and refused, on its golden set.

The whole chain answers, as it does for readers: search, rerank, writer, grounding, refusal.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np

from askbook.asking.chain import Asking
from askbook.asking.follow_up import standalone
from askbook.asking.retrieve import retrieve
from askbook.book.chunk import chunk_lesson
from askbook.book.source import decode
from askbook.errors import DatasetError, WrongUse
from askbook.golden import questions as golden
from askbook.golden.scoring import Need, holds, name_of, needs_of, ranking, where_of
from askbook.models import Answer, Chunk, ChunkFilter, Hit, IndexPoint, Lesson, Question, Usage
from askbook.payload import embedded_hash, to_record
from askbook.ports import VectorIndex
from askbook.settings import Settings
from askbook.wiring import Parts
from evaluation.conditions import WHOLE, Condition, chunk_settings
from evaluation.metrics import CURVE, calibration_error, per_query, reliability
from evaluation.outcome import Outcome, Row
from evaluation.passages import Passage
from evaluation.retrieval import SHOWN, embedding_cost
from evaluation.searching import built
from evaluation.vectors import CachedVectors
from evaluation.watching import watched

_DEPTH = 100  # hits looked at for recall
_EXCERPT = 120  # characters of a passage in the report


@dataclass(frozen=True, slots=True)
class Book:
    """A book on disk, its lessons located."""

    folder: Path
    id: str
    lessons: Sequence[Lesson]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the questions are asked: an index with the book in it, and what goes with it."""

    parts: Parts
    book_id: str
    cost: Mapping[str, float]


@contextmanager
def temporary(
    book: Book, vectors: CachedVectors, condition: Condition, settings: Settings
) -> Iterator[Shelf]:
    """An index of the book as its files are now, gone afterwards."""
    if condition.chunk == WHOLE:
        raise WrongUse("chunk=whole is for BEIR sets; a book is asked in chunks")
    chunks = [chunk for lesson in book.lessons for chunk in _chunks(book, lesson, condition.chunk)]
    rows = vectors.passages([chunk.embedded_text for chunk in chunks])
    points = [_point(chunk, row.tolist(), vectors) for chunk, row in zip(chunks, rows, strict=True)]
    passages = [Passage(c.lesson.source_file, c.embedded_text, 0, 0) for c in chunks]
    with built(points, vectors.model, vectors.dimensions, condition.fusion) as index:
        parts = Parts(condition.settings(settings))
        parts.embedder, parts.index = vectors.embedder, index
        yield Shelf(parts, book.id, embedding_cost(passages, vectors))


def live(settings: Settings, book_id: str) -> Shelf:
    """The index that readers are asking now."""
    parts = Parts(settings)
    if not parts.index.count(ChunkFilter(book_id=book_id)):
        raise WrongUse(
            f"{book_id} is not indexed. Run `askbook ingest` first, or leave --live out."
        )
    return Shelf(parts, book_id, {})


def measure_book(
    file: Path, book_dir: Path, shelf: Shelf, *, split: str | None = None, answers: bool = True
) -> Outcome:
    """Ask every question of a golden set; `answers` False only searches."""
    loaded = golden.load_golden(file)
    located = golden.locate_labels(loaded, book_dir)
    asked = loaded.of_split(split) if split else loaded.questions
    if split and not asked:
        raise DatasetError(f"{file}: no question is of split {split!r}; use one of: dev, test")
    needs = {each.id: needs_of(each, located) for each in asked}
    if asked and not any(needs.values()):
        raise DatasetError(
            f"{file}: none of its labels is in the book {book_dir}; give the book with --book. "
            f"The first: {located.problems[0] if located.problems else 'no labels'}"
        )
    judge = _Judge(shelf, needs)
    rows = anyio.run(judge.rows, asked, answers)
    bins = reliability(*_confidences(rows))
    return Outcome(
        rows=tuple(rows),
        main="nDCG@10",
        overall={"ECE": calibration_error(bins)} if bins else {},
        curve={k: f"R@{k}" for k in CURVE},
        reliability=bins,
        cost={**shelf.cost, **judge.tokens},
        notes=tuple(f"left out: {problem}" for problem in located.problems),
    )


class _Judge:
    """Asks the questions one by one and looks what came of each."""

    def __init__(self, shelf: Shelf, needs: Mapping[str, tuple[Need, ...]]) -> None:
        self._parts = shelf.parts
        self._book_id = shelf.book_id
        self._needs = needs
        self._usage = Usage()

    @property
    def tokens(self) -> dict[str, float]:
        """What the writer was paid for."""
        return {
            "prompt_tokens": self._usage.prompt_tokens,
            "completion_tokens": self._usage.completion_tokens,
        }

    async def rows(self, asked: Sequence[golden.Question], answers: bool) -> list[Row]:  # noqa: FBT001 - anyio.run passes by place
        """One row per question that can be judged: labels that left the book are reported."""
        judged = [each for each in asked if self._needs[each.id] or not each.answers]
        hits = {
            each.id: await self._search(each)
            for each in watched(judged, "search")
            if each.answers and each.selected_text is None
        }
        scores = self._ranked(hits)
        if not answers:
            found = [each for each in judged if each.id in hits]
            return [self._row(each, hits[each.id], scores[each.id]) for each in found]
        return [
            await self._asked(each, hits.get(each.id, []), scores.get(each.id, {}))
            for each in watched(judged, "ask")
        ]

    async def _asked(
        self, question: golden.Question, hits: Sequence[Hit], scores: Mapping[str, float]
    ) -> Row:
        answer, seconds = await self._ask(question)
        all_scores = {**scores, **self._judged(question, answer)}
        return self._row(question, hits, all_scores, answer, seconds)

    async def _search(self, question: golden.Question) -> list[Hit]:
        settings, asking = self._parts.settings, self._parts
        query = await standalone(question.question, question.history, None, Usage())
        return await retrieve(
            query,
            where_of(question, self._book_id),
            embedder=asking.embedder,
            index=asking.index,
            limit=_DEPTH,
            prefetch=settings.prefetch,
        )

    def _ranked(self, hits: Mapping[str, Sequence[Hit]]) -> dict[str, dict[str, float]]:
        """The ranking measures of each question, of its needs instead of chunks."""
        wanted, run = {}, {}
        for key, found in hits.items():
            needs = self._needs[key]
            wanted[key] = {name_of(at): 1 for at in range(len(needs))}
            run[key] = ranking((hit.payload for hit in found), needs)
        values = per_query(wanted, run)
        return {key: {name: each[key] for name, each in values.items()} for key in hits}

    async def _ask(self, question: golden.Question) -> tuple[Answer, dict[str, float]]:
        asked = Question(
            question.question,
            where_of(question, self._book_id),
            history=question.history,
            selected_text=question.selected_text,
        )
        asking: Asking = self._parts.asking
        started = time.perf_counter()
        answer = await asking.ask(asked)
        seconds = {**answer.seconds, "total": time.perf_counter() - started}
        self._usage.prompt_tokens += answer.usage.prompt_tokens
        self._usage.completion_tokens += answer.usage.completion_tokens
        return answer, seconds

    def _judged(self, question: golden.Question, answer: Answer) -> dict[str, float]:
        """Each score stands only with the questions that it is about; its mean is the figure."""
        needs = self._needs[question.id]
        refused = float(answer.refused)
        scores = {"refusal_precision": float(not needs)} if answer.refused else {}
        if not needs:
            return scores | {"refusal_recall": refused}
        cited = _cited(self._parts.index, answer)
        if cited:
            right = [any(holds(each, s) for need in needs for s in need) for each in cited]
            scores["citation_precision"] = float(np.mean(right))
        met = [any(holds(each, span) for each in cited for span in need) for need in needs]
        if not answer.refused:
            scores["answered_right"] = float(any(met))
        return scores | {"citation_recall": float(np.mean(met)), "wrongly_refused": refused}

    def _row(
        self,
        question: golden.Question,
        hits: Sequence[Hit],
        scores: Mapping[str, float],
        answer: Answer | None = None,
        seconds: Mapping[str, float] | None = None,
    ) -> Row:
        spans = [span for need in self._needs[question.id] for span in need]
        is_answered = answer is not None and not answer.refused
        return Row(
            id=question.id,
            question=question.question,
            scores=scores,
            seconds=seconds or {},
            wanted=tuple(f"{span.file}: {_short(span.text)}" for span in spans),
            found=tuple(
                f"{'✓' if any(holds(hit.payload, s) for s in spans) else '·'} "
                f"{hit.payload['source_file']}: {_short(str(hit.payload['text']))}"
                for hit in hits[:SHOWN]
            ),
            kind=question.kind,
            confidence=answer.confidence if answer and is_answered and answer.citations else None,
            is_right=scores.get("answered_right") == 1 if is_answered else None,
        )


def _confidences(rows: Sequence[Row]) -> tuple[list[float], list[bool]]:
    told = [(row.confidence, row.is_right is True) for row in rows if row.confidence is not None]
    return [sure for sure, _ in told], [right for _, right in told]


def _cited(index: VectorIndex, answer: Answer) -> list[dict[str, object]]:
    ids = [citation.chunk_id for citation in answer.citations]
    return [chunk.payload for chunk in index.retrieve(ids)]


def _chunks(book: Book, lesson: Lesson, size: str) -> list[Chunk]:
    text = decode((book.folder / lesson.source_file).read_bytes(), lesson.source_file)
    return chunk_lesson(text, lesson, chunk_settings(size))


def _point(chunk: Chunk, vector: list[float], vectors: CachedVectors) -> IndexPoint:
    record = {name: value for name, value in to_record(chunk).items() if name != "id"}
    key = embedded_hash(chunk.embedded_text, vectors.model, vectors.dimensions)
    record |= {"embedding_model": vectors.model, "embedded_hash": key}
    return IndexPoint(chunk.id, vector, chunk.embedded_text, record)


def _short(text: str) -> str:
    return " ".join(text.split())[:_EXCERPT]
