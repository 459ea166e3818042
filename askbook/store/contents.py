"""The pages of the indexed books without their chunk ids: what a table of contents needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from askbook.book.identify import parent_id
from askbook.store.tables import document_metadata as documents


@dataclass(frozen=True, slots=True)
class Page:
    """One indexed file."""

    book_id: str
    file_path: str
    content_hash: str
    module: str
    chapter: int
    lesson: int
    parent_doc_id: str
    chunk_count: int
    first_chunk_id: str | None  # None: a page without readable text
    last_indexed_at: datetime


def pages(connection: Connection, book_id: str | None = None) -> list[Page]:
    """The indexed files of one book or of all, by book and path."""
    columns = documents.c
    query = select(
        columns.book_id,
        columns.file_path,
        columns.content_hash,
        columns.module,
        columns.chapter,
        columns.lesson,
        columns.location,
        columns.chunk_count,
        columns.chunk_ids[1].label("first_chunk_id"),
        columns.last_indexed_at,
    ).order_by(columns.book_id, columns.file_path)
    if book_id is not None:
        query = query.where(columns.book_id == book_id)
    return [
        Page(
            book_id=row.book_id,
            file_path=row.file_path,
            content_hash=row.content_hash,
            module=row.module,
            chapter=row.chapter,
            lesson=row.lesson,
            parent_doc_id=parent_id(row.book_id, row.location),
            chunk_count=row.chunk_count,
            first_chunk_id=None if row.first_chunk_id is None else str(row.first_chunk_id),
            last_indexed_at=row.last_indexed_at,
        )
        for row in connection.execute(query)
    ]
