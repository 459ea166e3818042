"""What is indexed, file by file, and per book."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from askbook.models import Document, Mode
from askbook.store.tables import document_metadata as documents
from askbook.store.tables import ingestion_state as states


@dataclass(frozen=True, slots=True)
class Book:
    """One book and when it was last indexed."""

    book_id: str
    collection_name: str
    book_dir: str
    last_full_ingest: datetime | None
    last_incremental_update: datetime | None
    total_chunks: int


def of_book(connection: Connection, book_id: str) -> list[Document]:
    """Every indexed file of a book, by path."""
    rows = connection.execute(
        select(documents).where(documents.c.book_id == book_id).order_by(documents.c.file_path)
    )
    return [
        Document(
            book_id=row.book_id,
            file_path=row.file_path,
            content_hash=row.content_hash,
            chunk_ids=tuple(row.chunk_ids),
            module=row.module,
            chapter=row.chapter,
            lesson=row.lesson,
            location=row.location,
            embedding_model=row.embedding_model,
            chunker=row.chunker,
            last_indexed_at=row.last_indexed_at,
        )
        for row in rows
    ]


def save(connection: Connection, indexed: Iterable[Document]) -> None:
    """Remember these files as indexed."""
    rows = [
        {
            "book_id": document.book_id,
            "file_path": document.file_path,
            "content_hash": document.content_hash,
            "chunk_ids": list(document.chunk_ids),
            "chunk_count": document.chunk_count,
            "module": document.module,
            "chapter": document.chapter,
            "lesson": document.lesson,
            "location": document.location,
            "embedding_model": document.embedding_model,
            "chunker": document.chunker,
            "last_indexed_at": document.last_indexed_at,
        }
        for document in indexed
    ]
    if not rows:
        return
    statement = insert(documents)
    changed = {name: statement.excluded[name] for name in rows[0]}
    connection.execute(
        statement.on_conflict_do_update(index_elements=["book_id", "file_path"], set_=changed),
        rows,
    )


def forget(connection: Connection, book_id: str, paths: Sequence[str]) -> None:
    """These files are no longer indexed."""
    connection.execute(
        delete(documents).where(
            documents.c.book_id == book_id, documents.c.file_path.in_(list(paths))
        )
    )


def update_state(
    connection: Connection,
    *,
    book_id: str,
    collection: str,
    book_dir: str,
    mode: Mode,
    at: datetime,
) -> None:
    """Note a finished run."""
    kind = "last_incremental_update" if mode is Mode.INCREMENTAL else "last_full_ingest"
    values = {"collection_name": collection, "book_dir": book_dir, kind: at}
    statement = insert(states).values(book_id=book_id, total_chunks=0, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["book_id"], set_=values))
    update_total(connection, book_id)


def update_total(connection: Connection, book_id: str) -> None:
    """The total is always the sum over the book's documents."""
    total = select(func.coalesce(func.sum(documents.c.chunk_count), 0)).where(
        documents.c.book_id == book_id
    )
    connection.execute(
        update(states)
        .where(states.c.book_id == book_id)
        .values(total_chunks=total.scalar_subquery())
    )


def total_of(connection: Connection, book_id: str) -> int | None:
    """The book's recorded number of chunks, if the book is known."""
    return connection.scalar(select(states.c.total_chunks).where(states.c.book_id == book_id))


def books(connection: Connection) -> list[Book]:
    """Every book that was ever indexed, by id."""
    rows = connection.execute(select(states).order_by(states.c.book_id))
    return [Book(**row._mapping) for row in rows]  # noqa: SLF001 - SQLAlchemy's public name for it
