"""`POST /api/search` (seed 004): passages only, no answer."""

from __future__ import annotations

from typing import Annotated, Literal

from litestar import post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import Body
from pydantic import BaseModel, Field, StringConstraints

from api.errors import problems
from api.fields import Asked, BookId, CleanText, Id, Name, Number
from askbook.models import ChunkFilter, Hit
from askbook.wiring import Parts

Level = Literal["A1", "A2", "B1", "B2", "C1", "C2"]


class SearchQuery(Asked):
    """What to look for, and where; every given filter must hold."""

    text: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=3, max_length=1000), CleanText
    ] = Field(description="What to look for, 3 to 1,000 characters.")
    book_id: BookId | None = Field(None, description="Which book; the server's own if left out.")
    hardware_tier_filter: int = Field(1, ge=1, le=4, description="This hardware tier or lower.")
    module_filter: Name | None = Field(None, description="Only this module, e.g. ros2.")
    chapter_min: Number | None = Field(None, description="First chapter, inclusive.")
    chapter_max: Number | None = Field(None, description="Last chapter, inclusive.")
    lesson_filter: Number | None = Field(None, description="Only lessons with this number.")
    proficiency_levels: list[Level] | None = Field(
        None, max_length=6, description="Any of these levels."
    )
    layer_filter: Literal["L1", "L2", "L3", "L4"] | None = Field(
        None, description="Only this teaching layer."
    )
    parent_doc_id: Id | None = Field(None, description="Only chunks of this lesson.")
    limit: int = Field(5, ge=1, le=20, description="Most results wanted.")

    def where(self, default_book: str) -> ChunkFilter:
        """The filters, as the index takes them."""
        return ChunkFilter(
            book_id=self.book_id or default_book,
            max_hardware_tier=self.hardware_tier_filter,
            module=self.module_filter,
            chapter_min=self.chapter_min,
            chapter_max=self.chapter_max,
            lesson=self.lesson_filter,
            proficiency_levels=tuple(self.proficiency_levels or ()),
            layer=self.layer_filter,
            parent_doc_id=str(self.parent_doc_id) if self.parent_doc_id else None,
        )


class SearchResult(BaseModel):
    """A found chunk."""

    text: str = Field(description="The chunk.")
    score: float = Field(ge=0.0, le=1.0, description="Dense and BM25 search fused; orders results.")
    source_file: str = Field(description="File, relative to the book's folder.")
    section_title: str | None = Field(description="Nearest heading.")
    module: str = Field(description="Module name.")
    chapter: int = Field(description="Chapter number.")
    lesson: int = Field(description="Lesson number.")
    hardware_tier: int = Field(description="Lowest hardware tier it is for.")
    proficiency_level: str = Field(description="A1 to C2.")
    layer: str = Field(description="L1 to L4.")
    chunk_index: int = Field(description="Position in the lesson, from 0.")
    total_chunks: int = Field(description="Chunks of the lesson.")
    parent_doc_id: str | None = Field(description="The lesson, for /api/lessons.")
    prev_chunk_id: str | None = Field(description="The chunk before it.")
    next_chunk_id: str | None = Field(description="The chunk after it.")
    content_hash: str | None = Field(description="SHA-256 of the text.")
    chunk_id: str = Field(description="Its id, for /api/chunks.")
    similarity: float = Field(description="Cosine of question and chunk.")
    chapter_title: str = Field(description="Title of the page.")
    section_id: str | None = Field(description="The heading's id in the rendered page.")
    start_char_offset: int = Field(description="Start of the chunk in the file, code points.")
    end_char_offset: int = Field(description="End of the chunk in the file, code points.")


class SearchResponse(BaseModel):
    """What was found, best first."""

    query: str = Field(description="What was looked for.")
    results: list[SearchResult] = Field(description="Best first.")
    total_found: int = Field(description="Chunks of the book that fit the filters.")
    hardware_tier_filter: int = Field(description="The filter that was applied.")
    module_filter: str | None = Field(description="The filter that was applied.")
    book_id: str = Field(description="The book that was searched.")


_ASKED = Body(
    examples=[
        Example(
            summary="One module",
            value={"text": "quality of service", "module_filter": "ros2", "limit": 3},
        )
    ]
)


@post("/api/search", status_code=200, responses=problems(400, 413, 422, 503))
async def search(
    data: Annotated[SearchQuery, _ASKED], parts: NamedDependency[Parts]
) -> SearchResponse:
    """Find passages; not counted as a question, and works without PostgreSQL."""
    where = data.where(parts.settings.book_id)
    hits = await parts.asking.search(data.text, where, data.limit)
    return SearchResponse(
        query=data.text,
        results=[_result(hit) for hit in hits],
        total_found=parts.index.count(where),
        hardware_tier_filter=data.hardware_tier_filter,
        module_filter=data.module_filter,
        book_id=str(where.book_id),
    )


def _result(hit: Hit) -> SearchResult:
    facts = {name: hit.payload.get(name) for name in SearchResult.model_fields}
    facts |= {"chunk_id": hit.id, "score": hit.score, "similarity": hit.similarity}
    return SearchResult.model_validate(facts)
