"""The question's river: retrieve → answer → ground → reply. Every door calls this."""

from __future__ import annotations

from askbook.asking.ground import ground
from askbook.asking.reply import NOTHING_FOUND, refusal, reply
from askbook.asking.retrieve import relevant, retrieve
from askbook.models import Answer, ChunkFilter, Hit, Prompt, Source
from askbook.ports import Embedder, VectorIndex, Writer
from askbook.settings import Settings


class Asking:
    """Answers questions from the published index."""

    def __init__(
        self, *, embedder: Embedder, index: VectorIndex, writer: Writer, settings: Settings
    ) -> None:
        self._embedder = embedder
        self._index = index
        self._writer = writer
        self._settings = settings

    async def search(self, question: str, where: ChunkFilter, limit: int) -> list[Hit]:
        """Passages only, best first."""
        return await retrieve(
            question,
            where,
            embedder=self._embedder,
            index=self._index,
            limit=limit,
            prefetch=self._settings.prefetch,
        )

    async def ask(self, question: str, where: ChunkFilter, top_k: int | None = None) -> Answer:
        """A cited answer in the book's words, or a refusal where the book has none."""
        hits = await self.search(question, where, top_k or self._settings.top_k)
        hits = relevant(hits, self._embedder.relevance_floor)
        if not hits:
            return refusal(NOTHING_FOUND, self.parts)
        sources = tuple(Source(number, hit) for number, hit in enumerate(hits, start=1))
        pieces = [piece async for piece in self._writer.write(Prompt(question, sources))]
        return reply(ground("".join(pieces), sources), self.parts)

    @property
    def parts(self) -> dict[str, str | None]:
        """Which parts made the answer."""
        return {"embedder": self._embedder.model, "reranker": None, "writer": self._writer.name}
