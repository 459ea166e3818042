"""`POST /api/ask` and `/api/ask/stream` (seed 002): a question in, a cited answer out."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import Body
from litestar.response import Stream
from pydantic import BaseModel, Field, StringConstraints

from api import sse
from api.auth import Caller
from api.chat import HistoryMessage
from api.errors import problems
from api.fields import Asked, BookId, CleanText
from api.questions import Reception
from askbook.models import Answer, ChunkFilter, Message, Question
from askbook.models import Citation as Cited
from askbook.settings import Settings

_QUESTION_PROBLEMS = problems(400, 401, 413, 422, 429, 503)


class AskRequest(Asked):
    """A question to the book."""

    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=3, max_length=1000), CleanText
    ] = Field(description="The reader's question, 3 to 1,000 characters.")
    top_k: int = Field(5, ge=1, le=20, description="Passages to answer from.")
    book_id: BookId | None = Field(None, description="Which book; the server's own if left out.")
    selected_text: Annotated[str, StringConstraints(max_length=5000), CleanText] | None = Field(
        None, description="Text that the reader selected; then this alone is the context."
    )
    conversation_history: list[HistoryMessage] | None = Field(
        None, max_length=10, description="Earlier messages, oldest first."
    )

    def to_question(self, default_book: str) -> Question:
        """What the chain is asked."""
        history = (each for each in self.conversation_history or [] if each.content.strip())
        return Question(
            self.question,
            ChunkFilter(book_id=self.book_id or default_book),
            self.top_k,
            history=tuple(Message(each.role, each.content) for each in history),
            selected_text=(self.selected_text or "").strip() or None,
        )


class Citation(BaseModel):
    """Where a sentence of the answer stands in the book."""

    chapter: str = Field(description="Chapter id, e.g. module-1-ros2/chapter-2-nodes.")
    chapter_title: str = Field(description="Title of the page.")
    source_file: str = Field(description="File, relative to the book's folder.")
    excerpt: str = Field(max_length=200, description="The cited words.")
    section: str | None = Field(description="Nearest heading.")
    anchor: str | None = Field(description="That heading's id in the rendered page.")
    start_char_offset: int = Field(description="Start of the passage in the file, code points.")
    end_char_offset: int = Field(description="End of the passage in the file, code points.")
    chunk_id: str = Field(description="The chunk it stands in, for /api/chunks.")


class RAGResponse(BaseModel):
    """An answer, or a refusal: then no citations and confidence 0."""

    answer: str = Field(description="Markdown; [1] marks the first citation.")
    citations: list[Citation] = Field(description="In order of their numbers in the answer.")
    confidence: float = Field(ge=0.0, le=1.0, description="0 for refusals.")


class StreamChunk(BaseModel):
    """One event of the stream; the last one has done = true."""

    content: str = Field(description="Part of the answer; empty in the last event.")
    done: bool = Field(default=False, description="True in the last event only.")
    citations: list[Citation] | None = Field(None, description="Only in the last event.")
    confidence: float | None = Field(None, description="Only in the last event.")
    error: str | None = Field(None, description="Only in the last event, where we failed.")


_ASKED = Body(
    examples=[
        Example(
            summary="A question",
            value={"question": "What is a topic's reliability policy?", "top_k": 5},
        )
    ]
)


@post("/api/ask", status_code=200, responses=_QUESTION_PROBLEMS)
async def ask(
    data: Annotated[AskRequest, _ASKED],
    caller: NamedDependency[Caller],
    reception: NamedDependency[Reception],
) -> Response[RAGResponse]:
    """Answer a question from the book, with citations."""
    ticket = await reception.admit("ask", caller)
    answer = await reception.answer(ticket, data.to_question(reception.book_id))
    return Response(_response(answer), headers=ticket.headers)


@post(
    "/api/ask/stream",
    status_code=200,
    responses={
        200: sse.documented(StreamChunk),
        **_QUESTION_PROBLEMS,
    },
)
async def ask_stream(
    data: Annotated[AskRequest, _ASKED],
    caller: NamedDependency[Caller],
    reception: NamedDependency[Reception],
    settings: NamedDependency[Settings],
) -> Stream:
    """The same as server-sent events, each sentence as soon as it passed its check."""
    ticket = await reception.admit("ask", caller)
    events = reception.stream(ticket, data.to_question(reception.book_id))
    return sse.respond(events, _Events(), ticket, settings.heartbeat_s)


class _Events:
    """Seed 002's `StreamChunk`."""

    def piece(self, text: str) -> str:
        return StreamChunk(content=text).model_dump_json(exclude_none=True)

    def last(self, answer: Answer) -> str:
        told = _response(answer)
        return StreamChunk(
            content="", done=True, citations=told.citations, confidence=told.confidence
        ).model_dump_json(exclude_none=True)

    def failed(self, message: str) -> str:
        return StreamChunk(content="", done=True, error=message).model_dump_json(exclude_none=True)


def _response(answer: Answer) -> RAGResponse:
    return RAGResponse(
        answer=answer.answer,
        citations=[_citation(each) for each in answer.citations],
        confidence=answer.confidence,
    )


def _citation(cited: Cited) -> Citation:
    return Citation(
        chapter=cited.chapter_id,
        chapter_title=cited.chapter_title,
        source_file=cited.source_file,
        excerpt=cited.excerpt,
        section=cited.section,
        anchor=cited.anchor,
        start_char_offset=cited.start_char_offset,
        end_char_offset=cited.end_char_offset,
        chunk_id=cited.chunk_id,
    )
