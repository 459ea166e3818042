"""Send readers back to an older version of the index, and keep PostgreSQL true."""

from __future__ import annotations

from collections.abc import Sequence

from askbook.books import held_still, known_books
from askbook.index.inventory import files_in
from askbook.models import Document
from askbook.store import documents
from askbook.wiring import Parts


def rollback(parts: Parts, version: str | None = None) -> str:
    """Send readers to an older version, and make PostgreSQL say what that version holds.

    The next ingest then sees newer files as changed, as they are.
    """
    with held_still(parts, known_books(parts)):
        name = parts.index.rollback(version)
        for book_id in sorted(known_books(parts)):
            restate(parts, book_id, [held.document for held in files_in(parts.index, book_id)])
    return name


def restate(parts: Parts, book_id: str, held: Sequence[Document]) -> None:
    """Make the documents of a book exactly these."""
    with parts.database.begin() as connection:
        known = documents.of_book(connection, book_id)
        stay = {document.file_path for document in held}
        # A page without readable text has no chunks: only PostgreSQL can know it was indexed.
        gone = [d.file_path for d in known if d.file_path not in stay and d.chunk_count]
        documents.forget(connection, book_id, gone)
        documents.save(connection, held)
        documents.update_total(connection, book_id)
