"""Which books there are, and keeping them as they are for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from askbook.errors import RunRefused
from askbook.models import ChunkFilter
from askbook.store import documents
from askbook.wiring import Parts


def known_books(parts: Parts) -> set[str]:
    """Ids of the books that PostgreSQL or the index knows."""
    with parts.database.begin() as connection:
        recorded = {book.book_id for book in documents.books(connection)}
    return recorded | set(parts.index.facets("book_id", ChunkFilter()))


@contextmanager
def held_still(parts: Parts, books: set[str]) -> Iterator[None]:
    """No ingest of these books runs meanwhile; refuses where one does."""
    with ExitStack() as locks:
        for book_id in sorted(books):
            if not locks.enter_context(parts.database.hold_lock(f"askbook:ingest:{book_id}")):
                raise RunRefused(
                    f"An ingest of {book_id!r} is running. Wait for it, then try again."
                )
        yield
