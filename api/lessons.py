"""Reading: a chunk with its neighbours, a lesson's chunks in order, a lesson's source text."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

import anyio.to_thread
from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from pydantic import BaseModel, Field

from api.books import heads_of, in_reading_order
from api.errors import Refused, problems
from askbook.book.source import check_size, decode
from askbook.errors import UnreadableFile
from askbook.models import ChunkFilter, StoredChunk
from askbook.ports import VectorIndex
from askbook.states import hash_of
from askbook.store import contents, documents
from askbook.wiring import Parts

_NO_CHUNK = "There is no such chunk in the published index."
_NO_LESSON = "There is no such lesson in the published index."
_NO_SOURCE = "The lesson's file is not there any more."
_SUFFIXES = {".md", ".mdx"}


class ChunkOut(BaseModel):
    """A chunk with everything the index knows of it (seed 004)."""

    id: str = Field(description="Id made from place and content.")
    text: str = Field(description="The chunk.")
    book_id: str = Field(description="Id of the book.")
    module: str = Field(description="Module name.")
    chapter: int = Field(description="Chapter number.")
    lesson: int = Field(description="Lesson number.")
    chapter_id: str = Field(description="Chapter, e.g. module-1-ros2/chapter-2-nodes.")
    chapter_title: str = Field(description="Title of the page.")
    section_title: str | None = Field(description="Nearest heading.")
    section_id: str | None = Field(description="The heading's id in the rendered page.")
    hardware_tier: int = Field(description="Lowest hardware tier it is for.")
    proficiency_level: str = Field(description="A1 to C2.")
    layer: str = Field(description="L1 to L4.")
    difficulty: str | None = Field(None, description="beginner, intermediate or advanced.")
    tags: list[str] = Field(description="Topics of the page.")
    source_file: str = Field(description="File, relative to the book's folder.")
    parent_doc_id: str = Field(description="The lesson.")
    chunk_index: int = Field(description="Position in the lesson, from 0.")
    total_chunks: int = Field(description="Chunks of the lesson.")
    prev_chunk_id: str | None = Field(None, description="The chunk before it.")
    next_chunk_id: str | None = Field(None, description="The chunk after it.")
    start_char_offset: int = Field(description="Start in the file, code points.")
    end_char_offset: int = Field(description="End in the file, code points.")
    page_number: int | None = Field(None, description="Page, where the book has pages.")
    content_hash: str = Field(description="SHA-256 of the text.")
    source_file_hash: str = Field(description="SHA-256 of the file.")
    word_count: int = Field(description="Words.")
    token_count: int = Field(description="cl100k_base tokens.")
    char_count: int = Field(description="Characters.")
    version: int = Field(1, description="Version of the chunk.")
    embedding_model: str | None = Field(None, description="Model of its vector.")
    embedded_at: datetime | None = Field(None, description="When it was embedded.")
    created_at: datetime | None = Field(None, description="When it was first indexed.")
    updated_at: datetime | None = Field(None, description="When it was last indexed.")


class ChunkWithNeighbours(BaseModel):
    """A chunk and the chunks around it, in reading order."""

    chunk: ChunkOut = Field(description="The chunk that was asked for.")
    before: list[ChunkOut] = Field(description="Those before it, in reading order.")
    after: list[ChunkOut] = Field(description="Those after it, in reading order.")


class LessonOut(BaseModel):
    """A lesson: all its chunks in order."""

    parent_doc_id: str = Field(description="Id of the lesson.")
    book_id: str = Field(description="Id of the book.")
    source_file: str = Field(description="File, relative to the book's folder.")
    title: str = Field(description="Title of the page.")
    chunks: list[ChunkOut] = Field(description="In reading order.")


class LessonLink(BaseModel):
    """Another lesson of the book."""

    parent_doc_id: str = Field(description="Id of the lesson.")
    title: str = Field(description="Title of the page.")
    source_file: str = Field(description="File, relative to the book's folder.")


class LessonSource(BaseModel):
    """The decoded source text of a lesson; all offsets of citations count into it."""

    parent_doc_id: str = Field(description="Id of the lesson.")
    book_id: str = Field(description="Id of the book.")
    source_file: str = Field(description="File, relative to the book's folder.")
    title: str = Field(description="Title of the page.")
    text: str = Field(description="The file's text, frontmatter and all.")
    state: Literal["indexed", "stale"] = Field(
        description="stale: the file changed since it was indexed, so offsets may be off."
    )
    previous: LessonLink | None = Field(description="The lesson before it in the book.")
    next: LessonLink | None = Field(description="The lesson after it in the book.")


_Few = QueryParameter(ge=0, le=20, description="Neighbours wanted on this side.")


@get("/api/chunks/{chunk_id:uuid}", responses=problems(404, 422, 503))
async def read_chunk(
    chunk_id: FromPath[UUID],
    parts: NamedDependency[Parts],
    before: Annotated[int, _Few] = 0,
    after: Annotated[int, _Few] = 0,
) -> ChunkWithNeighbours:
    """A chunk and its neighbours along the chain."""
    return await anyio.to_thread.run_sync(_chunk, parts.index, str(chunk_id), before, after)


@get("/api/lessons/{parent_doc_id:uuid}", responses=problems(404, 503))
async def read_lesson(parent_doc_id: FromPath[UUID], parts: NamedDependency[Parts]) -> LessonOut:
    """All chunks of a lesson in order."""
    return await anyio.to_thread.run_sync(_lesson, parts.index, str(parent_doc_id))


@get("/api/lessons/{parent_doc_id:uuid}/source", responses=problems(404, 503))
async def read_source(parent_doc_id: FromPath[UUID], parts: NamedDependency[Parts]) -> LessonSource:
    """The source text of a lesson, with the lessons before and after it."""
    return await anyio.to_thread.run_sync(_source, parts, str(parent_doc_id))


def _chunk(index: VectorIndex, chunk_id: str, before: int, after: int) -> ChunkWithNeighbours:
    found = index.retrieve([chunk_id])
    if not found:
        raise Refused(HTTPStatus.NOT_FOUND, _NO_CHUNK)
    return ChunkWithNeighbours(
        chunk=_out(found[0]),
        before=[_out(c) for c in reversed(_along(index, found[0], "prev_chunk_id", before))],
        after=[_out(c) for c in _along(index, found[0], "next_chunk_id", after)],
    )


def _along(index: VectorIndex, chunk: StoredChunk, link: str, steps: int) -> list[StoredChunk]:
    walked: list[StoredChunk] = []
    while len(walked) < steps and (following := chunk.payload.get(link)):
        found = index.retrieve([str(following)])
        if not found:  # the index was swung meanwhile
            break
        chunk = found[0]
        walked.append(chunk)
    return walked


def _lesson(index: VectorIndex, parent_doc_id: str) -> LessonOut:
    chunks = [_out(chunk) for chunk in index.scroll(ChunkFilter(parent_doc_id=parent_doc_id))]
    if not chunks:
        raise Refused(HTTPStatus.NOT_FOUND, _NO_LESSON)
    chunks.sort(key=lambda chunk: chunk.chunk_index)
    first = chunks[0]
    return LessonOut(
        parent_doc_id=parent_doc_id,
        book_id=first.book_id,
        source_file=first.source_file,
        title=first.chapter_title,
        chunks=chunks,
    )


def _out(chunk: StoredChunk) -> ChunkOut:
    known = {name: chunk.payload[name] for name in ChunkOut.model_fields if name in chunk.payload}
    return ChunkOut.model_validate({**known, "id": chunk.id})


def _source(parts: Parts, parent_doc_id: str) -> LessonSource:
    with parts.database.begin() as connection:
        pages = contents.pages(connection)
        folders = {book.book_id: book.book_dir for book in documents.books(connection)}
    page = next((each for each in pages if each.parent_doc_id == parent_doc_id), None)
    if page is None or page.book_id not in folders:
        raise Refused(HTTPStatus.NOT_FOUND, _NO_LESSON)
    path = _safe_path(Path(folders[page.book_id]), page.file_path)
    ordered = in_reading_order([each for each in pages if each.book_id == page.book_id])
    at = ordered.index(page)
    near = ordered[max(at - 1, 0) : at + 2]
    links = {
        each.parent_doc_id: LessonLink(
            parent_doc_id=each.parent_doc_id,
            title=head.title,
            source_file=each.file_path,
        )
        for each, head in zip(near, heads_of(near, parts.index).values(), strict=True)
    }
    return LessonSource(
        parent_doc_id=parent_doc_id,
        book_id=page.book_id,
        source_file=page.file_path,
        title=links[parent_doc_id].title,
        text=_text(path, page.file_path, parts.settings.max_file_bytes),
        state="indexed" if hash_of(path) == page.content_hash else "stale",
        previous=links[ordered[at - 1].parent_doc_id] if at else None,
        next=links[ordered[at + 1].parent_doc_id] if at + 1 < len(ordered) else None,
    )


def _safe_path(book_dir: Path, name: str) -> Path:
    """The file of an indexed page; nothing outside of the book's folder, wherever links lead."""
    root = book_dir.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root) or path.suffix.lower() not in _SUFFIXES or not path.is_file():
        raise Refused(HTTPStatus.NOT_FOUND, _NO_SOURCE)
    return path


def _text(path: Path, name: str, limit: int) -> str:
    try:
        check_size(path.stat().st_size, name, limit)
        return decode(path.read_bytes(), name)
    except (OSError, UnreadableFile) as error:
        raise Refused(HTTPStatus.NOT_FOUND, _NO_SOURCE) from error
