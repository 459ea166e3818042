"""Word an answer and check it while it is written; quote the book where the writer fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from askbook.asking.ground import Checked, Grounder
from askbook.asking.stream import SentenceStream
from askbook.errors import AskbookError
from askbook.models import Prompt, Source, Usage
from askbook.ports import Embedder, Writer

ENDS_EARLY: Final = "The answer ends early: the writer stopped answering."
QUOTED_INSTEAD: Final = "The book is quoted: the writer did not answer."


class Answering:
    """One answer on its way to a reader."""

    def __init__(
        self, writer: Writer, fallback: Writer | None, embedder: Embedder, sources: Sequence[Source]
    ) -> None:
        self._writer = writer
        self._fallback = fallback
        self._embedder = embedder
        self._sources = sources
        self._has_passed = False
        self.written_by = writer.name
        self.declined = False  # the writer said that the passages do not answer
        self.notes: list[str] = []

    async def sentences(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[Checked, None]:
        """Every sentence, checked, as soon as it is there; raises where nobody can answer."""
        try:
            async with aclosing(self._checked(self._writer, prompt, usage)) as checked:
                async for each in checked:
                    yield each
            return
        except AskbookError:
            if self._has_passed:
                self.notes.append(ENDS_EARLY)
                return
            if self._fallback is None:
                raise
        self.notes.append(QUOTED_INSTEAD)
        self.written_by = self._fallback.name
        async with aclosing(self._checked(self._fallback, prompt, usage)) as checked:
            async for each in checked:
                yield each

    async def _checked(
        self, writer: Writer, prompt: Prompt, usage: Usage
    ) -> AsyncGenerator[Checked, None]:
        grounder = Grounder(self._sources, self._embedder)
        stream = SentenceStream()
        async with aclosing(writer.write(prompt, usage)) as pieces:
            async for piece in pieces:
                for sentence in stream.feed(piece):
                    for each in await grounder.take(sentence):
                        yield self._seen(each)
                if grounder.is_lost:
                    return
        for sentence in stream.finish():
            for each in await grounder.take(sentence):
                yield self._seen(each)
        for each in grounder.finish():
            yield self._seen(each)
        self.declined = grounder.declined

    def _seen(self, checked: Checked) -> Checked:
        self._has_passed = self._has_passed or checked.reason is None
        return checked
