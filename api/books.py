"""`GET /api/books` and `GET /api/documents`: what is indexed, in order and by file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal

import anyio.to_thread
from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from pydantic import BaseModel, Field

from api.errors import problems
from askbook.book.walk import Globs
from askbook.ports import VectorIndex
from askbook.states import FileState, states_of
from askbook.store import contents, documents
from askbook.store.contents import Page
from askbook.wiring import Parts


class LessonEntry(BaseModel):
    """One page of the book."""

    title: str = Field(description="Title of the page.")
    parent_doc_id: str = Field(description="Its id, for /api/lessons.")
    source_file: str = Field(description="File, relative to the book's folder.")
    order: int = Field(description="Its place in the book, from 0.")
    lesson: int = Field(description="Lesson number; 0 for an overview.")
    chunk_count: int = Field(description="Chunks it was cut into.")


class ChapterEntry(BaseModel):
    """One chapter and its pages in reading order."""

    chapter: int = Field(description="Chapter number; 0 for pages outside of chapters.")
    chapter_id: str = Field(description="Its folder, or the page where there is none.")
    title: str = Field(description="Title of its overview, or its name.")
    lessons: list[LessonEntry] = Field(description="In reading order.")


class ModuleEntry(BaseModel):
    """One module and its chapters in reading order."""

    module: str = Field(description="Name of the module, for filters.")
    title: str = Field(description="Title of its overview, or its name.")
    chapters: list[ChapterEntry] = Field(description="In reading order.")


class BookEntry(BaseModel):
    """One indexed book with its table of contents."""

    book_id: str = Field(description="Id of the book.")
    title: str = Field(description="Title of its first page.")
    collection_name: str = Field(description="The index it is in.")
    total_chunks: int = Field(description="Chunks of all its pages.")
    documents: int = Field(description="Pages.")
    last_full_ingest: datetime | None = Field(description="When all of it was last indexed.")
    last_incremental_update: datetime | None = Field(description="When changes were last indexed.")
    modules: list[ModuleEntry] = Field(description="In reading order.")


class Books(BaseModel):
    """Every indexed book."""

    books: list[BookEntry] = Field(description="By id.")


class DocumentEntry(BaseModel):
    """One file of a book."""

    book_id: str = Field(description="Id of the book.")
    file_path: str = Field(description="Relative to the book's folder.")
    state: Literal["unindexed", "indexed", "stale"] = Field(
        description="stale: the file changed or is gone since it was indexed."
    )
    exists: bool = Field(description="Whether the file is in the book's folder.")
    content_hash: str | None = Field(description="SHA-256 of the file as it was indexed.")
    last_indexed_at: datetime | None = Field(description="When it was indexed.")
    chunk_count: int = Field(description="Chunks in the index.")
    module: str | None = Field(description="Module name.")
    chapter: int | None = Field(description="Chapter number.")
    lesson: int | None = Field(description="Lesson number.")
    parent_doc_id: str | None = Field(description="Its id, for /api/lessons.")


class Documents(BaseModel):
    """Files of the books with their state."""

    documents: list[DocumentEntry] = Field(description="By book and path; one page of them.")
    total: int = Field(description="How many fit, on all pages.")
    states: dict[str, int] = Field(description="How many files are in which state.")


@get("/api/books", responses=problems(503))
async def list_books(parts: NamedDependency[Parts]) -> Books:
    """The indexed books with modules, chapters and lessons."""
    return await anyio.to_thread.run_sync(_books, parts)


@get("/api/documents", responses=problems(422, 503))
async def list_documents(
    parts: NamedDependency[Parts],
    book_id: Annotated[
        str | None, QueryParameter(max_length=100, description="Only this book.")
    ] = None,
    document_state: Annotated[
        Literal["unindexed", "indexed", "stale"] | None,
        QueryParameter(name="state", description="Only files in this state."),
    ] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=1000, description="Most files wanted.")] = 100,
    offset: Annotated[
        int, QueryParameter(ge=0, le=10_000_000, description="Files to leave out at the start.")
    ] = 0,
) -> Documents:
    """Files of the books; their state is found by comparing with the folder, never stored."""
    found = await anyio.to_thread.run_sync(_documents, parts, book_id)
    shown = [each for each in found if document_state in {None, each.state}]
    counts = Counter(each.state for each in found)
    return Documents(
        documents=shown[offset : offset + limit],
        total=len(shown),
        states={name: counts[name] for name in ("unindexed", "indexed", "stale")},
    )


def _books(parts: Parts) -> Books:
    with parts.database.begin() as connection:
        books = documents.books(connection)
        pages = contents.pages(connection)
    by_book = {name: list(each) for name, each in groupby(pages, key=lambda page: page.book_id)}
    return Books(books=[_book(b, by_book.get(b.book_id, []), parts.index) for b in books])


def _book(book: documents.Book, pages: Sequence[Page], index: VectorIndex) -> BookEntry:
    ordered = in_reading_order(pages)
    heads = heads_of(ordered, index)
    modules = [
        _module(module, list(each), heads)
        for module, each in groupby(enumerate(ordered), key=lambda pair: pair[1].module)
    ]
    return BookEntry(
        book_id=book.book_id,
        title=heads[ordered[0].parent_doc_id].title if ordered else book.book_id,
        collection_name=book.collection_name,
        total_chunks=book.total_chunks,
        documents=len(ordered),
        last_full_ingest=book.last_full_ingest,
        last_incremental_update=book.last_incremental_update,
        modules=modules,
    )


class Head(BaseModel):
    """What the first chunk of a page says of it."""

    title: str
    chapter_id: str


def heads_of(pages: Sequence[Page], index: VectorIndex) -> dict[str, Head]:
    """Title and chapter of every page, by its id."""
    ids = [page.first_chunk_id for page in pages if page.first_chunk_id]
    found = {chunk.id: chunk.payload for chunk in index.retrieve(ids)}
    return {page.parent_doc_id: _head(page, found.get(page.first_chunk_id or "")) for page in pages}


def _head(page: Page, payload: dict[str, object] | None) -> Head:
    path = Path(page.file_path)
    if payload is None:
        return Head(title=path.stem, chapter_id=str(path.parent))
    return Head(title=str(payload["chapter_title"]), chapter_id=str(payload["chapter_id"]))


def in_reading_order(pages: Sequence[Page]) -> list[Page]:
    """By path as a person counts: chapter-10 after chapter-9, an overview before its lessons."""
    return sorted(pages, key=lambda page: _place(page.file_path))


_OVERVIEWS = {"readme", "index", "_index"}
_DIGITS = re.compile(r"(\d+)")


def _place(file_path: str) -> list[tuple[int, list[tuple[int, int, str]]]]:
    *folders, name = file_path.split("/")
    stem = Path(name).stem.lower()
    last = (0, []) if stem in _OVERVIEWS else (1, _counted(name))
    return [*((1, _counted(folder)) for folder in folders), last]


def _counted(name: str) -> list[tuple[int, int, str]]:
    parts = _DIGITS.split(name.lower())
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part]


def _module(name: str, pages: list[tuple[int, Page]], heads: dict[str, Head]) -> ModuleEntry:
    chapters = [
        _chapter(chapter_id, list(each), heads)
        for chapter_id, each in groupby(
            pages, key=lambda pair: heads[pair[1].parent_doc_id].chapter_id
        )
    ]
    overview = next((p for _, p in pages if p.chapter == 0 and p.lesson == 0), None)
    title = heads[overview.parent_doc_id].title if overview else name
    return ModuleEntry(module=name, title=title, chapters=chapters)


def _chapter(name: str, pages: list[tuple[int, Page]], heads: dict[str, Head]) -> ChapterEntry:
    overview = next((p for _, p in pages if p.lesson == 0), pages[0][1])
    return ChapterEntry(
        chapter=overview.chapter,
        chapter_id=name,
        title=heads[overview.parent_doc_id].title,
        lessons=[
            LessonEntry(
                title=heads[page.parent_doc_id].title,
                parent_doc_id=page.parent_doc_id,
                source_file=page.file_path,
                order=order,
                lesson=page.lesson,
                chunk_count=page.chunk_count,
            )
            for order, page in pages
        ],
    )


def _documents(parts: Parts, book_id: str | None) -> list[DocumentEntry]:
    with parts.database.begin() as connection:
        books = [b for b in documents.books(connection) if book_id in {None, b.book_id}]
        pages = {book.book_id: contents.pages(connection, book.book_id) for book in books}
    globs = Globs(parts.settings.include, parts.settings.exclude)
    return [
        _document(book.book_id, each)
        for book in books
        for each in states_of(Path(book.book_dir), pages[book.book_id], globs)
    ]


def _document(book_id: str, file: FileState) -> DocumentEntry:
    page = file.page
    return DocumentEntry(
        book_id=book_id,
        file_path=file.file_path,
        state=file.state,
        exists=file.exists,
        content_hash=page and page.content_hash,
        last_indexed_at=page and page.last_indexed_at,
        chunk_count=page.chunk_count if page else 0,
        module=page and page.module,
        chapter=page and page.chapter,
        lesson=page and page.lesson,
        parent_doc_id=page and page.parent_doc_id,
    )
