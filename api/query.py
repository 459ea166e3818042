"""`POST /api/query` and `/api/query/stream` (seed 003): questions of a stored conversation."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

import anyio.to_thread
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import Body
from litestar.response import Stream
from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from api import sse
from api.auth import Caller
from api.errors import problems
from api.fields import Asked, BookId, CleanText, Id, Name, Selection
from api.markup import without_markup
from api.questions import Reception, Ticket
from api.sessions import TokenUsage
from askbook.asking.find import FILTERS_LEFT_NOTHING, SEARCHED_ALL
from askbook.asking.modules import module_numbered
from askbook.models import Answer, ChunkFilter, Question
from askbook.settings import Settings
from askbook.wiring import Parts

_PROBLEMS = problems(400, 401, 404, 413, 422, 429, 503)
_FILTER_NOTES = {FILTERS_LEFT_NOTHING, SEARCHED_ALL}


def _says_something(text: str) -> str:
    if not (cleaned := without_markup(text)):
        raise ValueError("nothing is left of the question without its markup")
    return cleaned


class QueryFilters(Asked):
    """Which part of the book to look in; all that are given must hold."""

    module: int | None = Field(None, ge=1, le=10, description="Number of the module.")
    difficulty: Literal["beginner", "intermediate", "advanced"] | None = Field(
        None, description="Difficulty of the lesson."
    )
    tags: list[Name] | None = Field(None, max_length=20, description="Any of these topics.")


class QueryRequest(Asked):
    """A question, in a conversation or to begin one."""

    query: Annotated[
        str, StringConstraints(min_length=1, max_length=500), AfterValidator(_says_something)
    ] = Field(description="The question, 1 to 500 characters; HTML tags are removed.")
    user_id: Id | None = Field(
        None, description="Not believed: only a bearer token says who somebody is."
    )
    session_id: Id | None = Field(
        None, description="The conversation to go on with; left out: a new one."
    )
    filters: QueryFilters | None = Field(None, description="Which part of the book to look in.")
    top_k: int = Field(5, ge=1, le=10, description="Passages to answer from.")
    book_id: BookId | None = Field(None, description="Which book; the server's own if left out.")
    selected_text: Annotated[str, StringConstraints(max_length=5000), CleanText] | None = Field(
        None, description="Text that the reader selected; then this alone is the context."
    )
    selection: Selection | None = Field(
        None, description="A range of the book; only passages that overlap it are used."
    )
    broaden: bool = Field(
        default=False, description="Look in the whole book where the filters leave nothing."
    )


class SourceCitation(BaseModel):
    """Where a sentence of the answer stands in the book."""

    chapter_id: str = Field(description="Chapter, e.g. module-1-ros2/chapter-2-nodes.")
    chapter_title: str = Field(description="Title of the page.")
    relevance_score: float = Field(ge=0.0, le=1.0, description="How well the passage fits.")
    excerpt: str = Field(max_length=1000, description="The cited words.")
    position: int = Field(ge=1, description="Its number in the answer, from 1.")
    section: str | None = Field(description="Nearest heading.")
    source_file: str = Field(description="File, relative to the book's folder.")
    anchor: str | None = Field(description="That heading's id in the rendered page.")
    start_char_offset: int = Field(description="Start of the passage in the file, code points.")
    end_char_offset: int = Field(description="End of the passage in the file, code points.")
    chunk_id: str = Field(description="The chunk it stands in, for /api/chunks.")


class _Told(BaseModel):
    """What both the whole answer and the last event of a stream say."""

    sources: list[SourceCitation] = Field(description="In order of their numbers in the answer.")
    confidence: float = Field(ge=0.0, le=1.0, description="0 for refusals.")
    session_id: UUID = Field(description="The conversation; send it along with the next question.")
    tokens_used: TokenUsage = Field(description="Tokens of the writer.")
    filter_message: str | None = Field(None, description="What became of the filters.")
    refused: bool = Field(description="Whether the book does not answer this.")
    withheld: int = Field(ge=0, description="Sentences that were not supported and left out.")
    notes: list[str] = Field(description="What a reader should know of how this was made.")
    parts: dict[str, str | None] = Field(description="Which embedder, reranker and writer.")


class QueryResponse(_Told):
    """An answer, or a refusal: then no sources and confidence 0."""

    answer: str = Field(description="Markdown; [1] marks the first source.")


class QueryStreamChunk(BaseModel):
    """One event of the stream; the last one has done = true."""

    chunk: str | None = Field(None, description="Part of the answer.")
    done: bool | None = Field(None, description="True in the last event only.")
    sources: list[SourceCitation] | None = Field(None, description="Only in the last event.")
    confidence: float | None = Field(None, description="Only in the last event.")
    tokens_used: TokenUsage | None = Field(None, description="Only in the last event.")
    session_id: UUID | None = Field(None, description="Only in the last event.")
    filter_message: str | None = Field(None, description="Only in the last event.")
    refused: bool | None = Field(None, description="Only in the last event.")
    withheld: int | None = Field(None, description="Only in the last event.")
    notes: list[str] | None = Field(None, description="Only in the last event.")
    parts: dict[str, str | None] | None = Field(None, description="Only in the last event.")
    error: str | None = Field(None, description="Only in the last event, where we failed.")


_ASKED = Body(
    examples=[
        Example(
            summary="With filters",
            value={
                "query": "How do quality of service settings decide who hears whom?",
                "filters": {"module": 1, "difficulty": "beginner", "tags": ["qos"]},
                "top_k": 5,
            },
        )
    ]
)


@post("/api/query", status_code=200, responses=_PROBLEMS)
async def query(
    data: Annotated[QueryRequest, _ASKED],
    caller: NamedDependency[Caller],
    reception: NamedDependency[Reception],
    parts: NamedDependency[Parts],
) -> Response[QueryResponse]:
    """Answer a question of a conversation, which is stored."""
    question = await _question(data, parts)
    ticket = await reception.admit_to_session(caller, data.session_id)
    answer = await reception.answer(ticket, question)
    told = QueryResponse(answer=answer.answer, **_told(answer, ticket))
    return Response(told, headers=ticket.headers, cookies=ticket.cookies)


@post(
    "/api/query/stream",
    status_code=200,
    responses={
        200: sse.documented(QueryStreamChunk),
        **_PROBLEMS,
    },
)
async def query_stream(
    data: Annotated[QueryRequest, _ASKED],
    caller: NamedDependency[Caller],
    reception: NamedDependency[Reception],
    parts: NamedDependency[Parts],
    settings: NamedDependency[Settings],
) -> Stream:
    """The same as server-sent events, each sentence as soon as it passed its check."""
    question = await _question(data, parts)
    ticket = await reception.admit_to_session(caller, data.session_id)
    events = reception.stream(ticket, question)
    return sse.respond(events, _Events(ticket), ticket, settings.heartbeat_s)


class _Events:
    """Seed 003's `StreamChunk`."""

    def __init__(self, ticket: Ticket) -> None:
        self._ticket = ticket

    def piece(self, text: str) -> str:
        return QueryStreamChunk(chunk=text).model_dump_json(exclude_none=True)

    def last(self, answer: Answer) -> str:
        told = QueryStreamChunk(done=True, **_told(answer, self._ticket))
        return told.model_dump_json(exclude_none=True)

    def failed(self, message: str) -> str:
        return QueryStreamChunk(error=message, done=True).model_dump_json(exclude_none=True)


async def _question(data: QueryRequest, parts: Parts) -> Question:
    where = await anyio.to_thread.run_sync(_where, data, parts)
    selected = data.selected_text if (data.selected_text or "").strip() else None
    return Question(data.query, where, data.top_k, selected_text=selected, broaden=data.broaden)


def _where(data: QueryRequest, parts: Parts) -> ChunkFilter:
    book_id = data.book_id or parts.settings.book_id
    if data.selection is not None:
        return data.selection.narrow(book_id)
    filters = data.filters or QueryFilters()
    number = filters.module
    return ChunkFilter(
        book_id=book_id,
        module=None if number is None else module_numbered(parts.index, book_id, number),
        difficulty=filters.difficulty,
        tags=tuple(filters.tags or ()),
    )


def _told(answer: Answer, ticket: Ticket) -> dict[str, object]:
    usage, session = answer.usage, ticket.session
    assert session is not None  # noqa: S101 - this door always has one
    return {
        "sources": [
            SourceCitation(
                chapter_id=each.chapter_id,
                chapter_title=each.chapter_title,
                relevance_score=min(max(each.score, 0.0), 1.0),
                excerpt=each.excerpt,
                position=position,
                section=each.section,
                source_file=each.source_file,
                anchor=each.anchor,
                start_char_offset=each.start_char_offset,
                end_char_offset=each.end_char_offset,
                chunk_id=each.chunk_id,
            )
            for position, each in enumerate(answer.citations, start=1)
        ],
        "confidence": answer.confidence,
        "session_id": session.id,
        "tokens_used": TokenUsage(
            input=usage.prompt_tokens,
            output=usage.completion_tokens,
            total=usage.prompt_tokens + usage.completion_tokens,
        ),
        "filter_message": next((note for note in answer.notes if note in _FILTER_NOTES), None),
        "refused": answer.refused,
        "withheld": len(answer.withheld),
        "notes": list(answer.notes),
        "parts": answer.parts,
    }
