"""What an operator does besides ingesting: go back to an older version of the index."""

from __future__ import annotations

from contextlib import ExitStack

from askbook.errors import RunRefused
from askbook.index.inventory import documents_in
from askbook.models import ChunkFilter
from askbook.store import documents
from askbook.wiring import Parts


def rollback(parts: Parts, version: str | None = None) -> str:
    """Send readers to an older version, and make PostgreSQL say what that version holds.

    The next ingest then sees newer files as changed, as they are.
    """
    with parts.database.begin() as connection:
        books = {book.book_id for book in documents.books(connection)}
    with ExitStack() as locks:
        for book_id in sorted(books):
            _lock(locks, parts, book_id)
        name = parts.index.rollback(version)
        books |= set(parts.index.facets("book_id", ChunkFilter()))
        for book_id in sorted(books):
            _restate(parts, book_id)
    return name


def _lock(locks: ExitStack, parts: Parts, book_id: str) -> None:
    if not locks.enter_context(parts.database.hold_lock(f"askbook:ingest:{book_id}")):
        raise RunRefused(f"An ingest of {book_id!r} is running. Wait for it, then try again.")


def _restate(parts: Parts, book_id: str) -> None:
    """Make the documents of a book exactly those that the index holds."""
    held = documents_in(parts.index, book_id)
    with parts.database.begin() as connection:
        known = {document.file_path for document in documents.of_book(connection, book_id)}
        gone = known - {document.file_path for document in held}
        documents.forget(connection, book_id, sorted(gone))
        documents.save(connection, held)
        documents.update_total(connection, book_id)
