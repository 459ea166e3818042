"""`POST /api/chat` (seed 000): a question, a selection or both, with the browser's own history."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import Body
from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from api.auth import Caller
from api.errors import problems
from api.fields import Asked, BookId, CleanText
from api.questions import Reception
from askbook.book.tokens import count_tokens
from askbook.models import Answer, ChunkFilter, Message, Question

_MAX_TOKENS = 1000
_SNIPPET = 200


class HistoryMessage(Asked):
    """One earlier message, as the browser keeps it."""

    role: Literal["user", "assistant"] = Field(description="Who said it.")
    content: Annotated[str, CleanText] = Field(description="What was said.")
    timestamp: str | None = Field(None, max_length=64, description="When; not used.")
    mode: Literal["rag", "selected_text"] | None = Field(None, description="Not used.")


class ChatQuery(Asked):
    """A question about the book or about a selected text."""

    selected_text: Annotated[str, StringConstraints(max_length=5000), CleanText] | None = Field(
        None, description="Text that the reader selected; then this alone is the context."
    )
    query: (
        Annotated[
            str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000), CleanText
        ]
        | None
    ) = Field(
        None,
        validate_default=True,
        description="The question, at most 4,000 characters and 1,000 tokens. It may be left out "
        "when selected_text is given: the selection is then explained.",
    )
    conversation_history: list[HistoryMessage] | None = Field(
        None, max_length=10, description="Earlier messages, oldest first."
    )
    book_id: BookId | None = Field(None, description="Which book; the server's own if left out.")

    @field_validator("query")
    @classmethod
    def _fits(cls, query: str | None, info: ValidationInfo) -> str | None:
        if query is None and info.data.get("selected_text", "") is None:
            raise ValueError("Give a query, or a selected_text to explain")
        if query is not None and (tokens := count_tokens(query)) > _MAX_TOKENS:
            raise ValueError(f"Query exceeds {_MAX_TOKENS} tokens ({tokens} tokens)")
        return query

    @field_validator("conversation_history")
    @classmethod
    def _without_empty(cls, history: list[HistoryMessage] | None) -> list[HistoryMessage] | None:
        return [each for each in history or [] if each.content.strip()]

    @field_validator("selected_text")
    @classmethod
    def _blank_is_none(cls, selected: str | None) -> str | None:
        return selected if selected and selected.strip() else None

    def to_question(self, default_book: str) -> Question:
        """What the chain is asked."""
        return Question(
            self.query or "",
            ChunkFilter(book_id=self.book_id or default_book),
            history=tuple(Message(m.role, m.content) for m in self.conversation_history or []),
            selected_text=self.selected_text,
        )


class SourceChunk(BaseModel):
    """Where a sentence of the answer stands in the book."""

    chapter: str = Field(description="Title of the page.")
    section: str | None = Field(description="Nearest heading.")
    snippet: str = Field(max_length=_SNIPPET, description="The cited words.")
    source_file: str = Field(description="File, relative to the book's folder.")
    anchor: str | None = Field(description="That heading's id in the rendered page.")
    start_char_offset: int = Field(description="Start of the passage in the file, code points.")
    end_char_offset: int = Field(description="End of the passage in the file, code points.")
    chunk_id: str = Field(description="The chunk it stands in, for /api/chunks.")


class ChatResponse(BaseModel):
    """An answer, or a refusal: then no source chunks."""

    response: str = Field(min_length=1, description="Markdown; [1] marks the first source chunk.")
    source_chunks: list[SourceChunk] = Field(description="In order of their numbers.")
    mode: Literal["rag", "selected_text"] = Field(description="What the answer was made from.")
    timestamp: str = Field(description="When it was made, ISO 8601 in UTC.")


_ASKED = Body(
    examples=[
        Example(
            summary="With history",
            value={
                "query": "What are the advantages of hydraulic actuators over electric motors?",
                "selected_text": None,
                "conversation_history": [
                    {"role": "user", "content": "What is an actuator?"},
                    {"role": "assistant", "content": "A device that turns energy into motion."},
                ],
            },
        )
    ]
)


@post("/api/chat", status_code=200, responses=problems(400, 401, 413, 422, 429, 503))
async def chat(
    data: Annotated[ChatQuery, _ASKED],
    caller: NamedDependency[Caller],
    reception: NamedDependency[Reception],
) -> Response[ChatResponse]:
    """Answer with the browser's own conversation, from the book or from a selection."""
    ticket = await reception.admit("chat", caller)
    answer = await reception.answer(ticket, data.to_question(reception.book_id))
    return Response(_response(answer), headers=ticket.headers)


def _response(answer: Answer) -> ChatResponse:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return ChatResponse(
        response=answer.answer,
        source_chunks=[
            SourceChunk(
                chapter=each.chapter_title,
                section=each.section,
                snippet=each.excerpt[:_SNIPPET],
                source_file=each.source_file,
                anchor=each.anchor,
                start_char_offset=each.start_char_offset,
                end_char_offset=each.end_char_offset,
                chunk_id=each.chunk_id,
            )
            for each in answer.citations
        ],
        mode=answer.mode,
        timestamp=now,
    )
