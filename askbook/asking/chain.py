"""The question's river: find → answer → ground → reply. Every door calls this."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from askbook.asking.answer import Answering
from askbook.asking.calibrations import calibration_of
from askbook.asking.find import Finder, Found
from askbook.asking.prompt import build_prompt
from askbook.asking.relevance import UNSURE, Calibration, Signals, measure
from askbook.asking.reply import CLOSEST, NOTHING_FOUND, NOTHING_SUPPORTED, Reply
from askbook.asking.selected import EXPLAIN
from askbook.models import Answer, ChunkFilter, Hit, Question, Released, Usage
from askbook.ports import Embedder, Reranker, VectorIndex, Writer
from askbook.settings import Settings


@dataclass(slots=True)
class _Run:
    """What becomes of one question."""

    mode: str
    parts: dict[str, str | None]
    usage: Usage = field(default_factory=Usage)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        """Book the time since the last stage."""
        now = time.perf_counter()
        self.seconds[stage] = now - self.started
        self.started = now


class Asking:
    """Answers questions from the published index."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        index: VectorIndex,
        writer: Writer,
        quoter: Writer,
        reranker: Reranker | None,
        settings: Settings,
        calibration: Calibration | None = None,
    ) -> None:
        """`quoter` needs no service: it answers where `writer` fails, if the settings say so.

        `calibration` stands in for the one that belongs to the embedding model.
        """
        self._calibration = calibration or calibration_of(embedder.model)
        self._embedder = embedder
        self._writer = writer
        self._quoter = quoter
        self._reranker = reranker
        self._settings = settings
        rewriter = writer if writer.name != quoter.name else None
        self._finder = Finder(
            embedder=embedder,
            index=index,
            reranker=reranker,
            rewriter=rewriter,
            settings=settings,
        )

    async def signals(self, question: Question) -> Signals:
        """What refusal and confidence are decided by, for calibrating them."""
        found = await self._finder.find(question, Usage())
        return await measure(found.query, found.hits, found.sources, self._embedder)

    async def search(self, query: str, where: ChunkFilter, limit: int) -> list[Hit]:
        """Passages only, best first."""
        return await self._finder.search(query, where, limit)

    async def ask(self, question: Question) -> Answer:
        """A cited answer, or a refusal where the book has none."""
        async with aclosing(self.stream(question)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise AssertionError  # a stream always ends with its answer

    async def stream(self, question: Question) -> AsyncGenerator[Released | Answer, None]:
        """Checked sentences as they come; the whole answer, or a refusal, comes last."""
        if not question.text.strip():
            question = replace(question, text=EXPLAIN)
        run = _Run("selected_text" if question.selected_text else "rag", dict(self.parts))
        found = await self._find(question, run)
        confidence = await self._confidence(question, found)
        if not found.sources or confidence < self._threshold(question):
            yield self._refusal(NOTHING_FOUND, run)
            return
        prompt = build_prompt(question, found.sources, self._settings.prompt_tokens)
        answering = Answering(self._writer, self._fallback, self._embedder, prompt.sources)
        reply = Reply()
        is_strict = self._settings.grounding == "strict"
        async with aclosing(answering.sentences(prompt, run.usage)) as sentences:
            async for checked in sentences:
                text = reply.add(checked)
                if text and not is_strict:
                    yield Released(text)
        run.lap("answer")
        run.parts["writer"] = answering.written_by
        run.notes += answering.notes
        if reply.text and is_strict and not reply.withheld:
            yield Released(reply.text)
        yield self._answer(reply, run, confidence, declined=answering.declined)

    async def _find(self, question: Question, run: _Run) -> Found:
        if question.selected_text:
            found = await self._finder.find_selected(question)
        else:
            found = await self._finder.find(question, run.usage)
        run.lap("find")
        run.notes += found.notes
        run.parts["reranker"] = found.reranked_by
        return found

    def _answer(self, reply: Reply, run: _Run, confidence: float, *, declined: bool) -> Answer:
        failed_strict = self._settings.grounding == "strict" and reply.withheld
        if not reply.text or failed_strict:
            why = NOTHING_FOUND if declined and not failed_strict else NOTHING_SUPPORTED
            return replace(self._refusal(why, run), withheld=tuple(reply.withheld))
        if run.mode == "rag" and confidence < UNSURE:
            run.notes.append(CLOSEST)
        support = sum(reply.supports) / len(reply.supports)
        is_cited = bool(reply.citations)  # a selection from elsewhere has no place to point at
        return Answer(
            answer=reply.text,
            citations=tuple(reply.citations),
            confidence=round(confidence * support, 3) if is_cited else 0.0,
            refused=False,
            mode=run.mode,
            withheld=tuple(reply.withheld),
            parts=run.parts,
            notes=tuple(run.notes),
            usage=run.usage,
            seconds=run.seconds,
        )

    def _refusal(self, sentence: str, run: _Run) -> Answer:
        return Answer(
            sentence,
            (),
            0.0,
            refused=True,
            mode=run.mode,
            parts=run.parts,
            notes=tuple(run.notes),
            usage=run.usage,
            seconds=run.seconds,
        )

    async def _confidence(self, question: Question, found: Found) -> float:
        if question.selected_text:
            return 1.0 if found.hits else 0.0
        embedder = self._embedder if self._calibration.needs_vectors else None
        return self._calibration.probability(
            await measure(found.query, found.hits, found.sources, embedder)
        )

    def _threshold(self, question: Question) -> float:
        """A reader who points at a place wants to hear what stands there."""
        if question.selected_text or question.where.overlaps:
            return 0.0
        chosen = self._settings.refuse_below
        return self._calibration.threshold if chosen is None else chosen

    @property
    def _fallback(self) -> Writer | None:
        wants = self._settings.on_writer_failure == "extractive"
        return self._quoter if wants and self._writer is not self._quoter else None

    @property
    def parts(self) -> dict[str, str | None]:
        """Which parts answer."""
        return {
            "embedder": self._embedder.model,
            "reranker": self._reranker.name if self._reranker else None,
            "writer": self._writer.name,
        }
