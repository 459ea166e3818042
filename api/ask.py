"""`POST /api/ask` (seed 002): a question in, a cited answer out."""

from __future__ import annotations

from typing import Annotated

from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from askbook.models import Answer, ChunkFilter, Question


class AskRequest(BaseModel):
    """A question to the book."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=3, max_length=1000)
    ] = Field(description="The reader's question, 3 to 1,000 characters.")
    top_k: int = Field(5, ge=1, le=20, description="Passages to answer from.")


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


class RAGResponse(BaseModel):
    """An answer, or a refusal: then no citations and confidence 0."""

    answer: str = Field(description="Markdown; [1] marks the first citation.")
    citations: list[Citation] = Field(description="In order of their numbers in the answer.")
    confidence: float = Field(ge=0.0, le=1.0, description="0 for refusals.")


@post("/api/ask", status_code=200)
async def ask(data: JSONBody[AskRequest], state: State) -> RAGResponse:
    """Answer a question from the book, with citations."""
    where = ChunkFilter(book_id=state.settings.book_id)
    question = Question(data.question, where, data.top_k)
    return _response(await state.parts.asking.ask(question))


def _response(answer: Answer) -> RAGResponse:
    return RAGResponse(
        answer=answer.answer,
        citations=[
            Citation(
                chapter=each.chapter_id,
                chapter_title=each.chapter_title,
                source_file=each.source_file,
                excerpt=each.excerpt,
                section=each.section,
                anchor=each.anchor,
                start_char_offset=each.start_char_offset,
                end_char_offset=each.end_char_offset,
            )
            for each in answer.citations
        ],
        confidence=answer.confidence,
    )
