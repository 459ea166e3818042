"""PostgreSQL and the index brought back into agreement.

The index is the truth about what readers find. A file whose chunks are whole there is recorded
as indexed, exactly as the index holds it; a file whose chunks are not whole is removed from both,
so that the next ingest sees it as new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askbook.books import held_still, known_books
from askbook.index.inventory import HeldFile, files_in
from askbook.models import Document
from askbook.rollback import restate
from askbook.store import documents
from askbook.wiring import Parts


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement about one file."""

    book_id: str
    source_file: str
    problem: str


def reconcile(parts: Parts, book_id: str | None = None, *, repair: bool = True) -> list[Finding]:
    """Compare PostgreSQL and the index both ways; mend what differs unless told not to."""
    books = {book_id} if book_id else known_books(parts)
    findings: list[Finding] = []
    with held_still(parts, books):
        for each in sorted(books):
            findings += reconcile_book(parts, each, repair=repair)
    return findings


def reconcile_book(parts: Parts, book_id: str, *, repair: bool = True) -> list[Finding]:
    """The same for one book whose lock the caller holds."""
    held = files_in(parts.index, book_id)
    with parts.database.begin() as connection:
        known = documents.of_book(connection, book_id)
        total = documents.total_of(connection, book_id)
    found = _compare(book_id, known, held)
    if total is not None and total != sum(document.chunk_count for document in known):
        found.append(Finding(book_id, "", "the book's total is not the sum of its files"))
    if found and repair:
        _repair(parts, book_id, held)
    return found


def _compare(book_id: str, known: Sequence[Document], held: Sequence[HeldFile]) -> list[Finding]:
    in_index = {file.document.file_path: file for file in held}
    problems: list[tuple[str, str]] = []
    for document in known:
        file = in_index.get(document.file_path)
        if file is None:
            if document.chunk_count:
                problems.append((document.file_path, "recorded, but not in the index"))
        elif set(file.document.chunk_ids) != set(document.chunk_ids):
            problems.append((document.file_path, "recorded with other chunks than the index holds"))
        elif file.document.content_hash != document.content_hash:
            problems.append((document.file_path, "recorded with another content hash"))
    recorded = {document.file_path for document in known}
    problems += [
        (path, "in the index, but not recorded") for path in in_index if path not in recorded
    ]
    problems += [(path, file.defect) for path, file in in_index.items() if file.defect]
    return [Finding(book_id, path, problem) for path, problem in sorted(problems)]


def _repair(parts: Parts, book_id: str, held: Sequence[HeldFile]) -> None:
    broken = [file for file in held if file.defect]
    if broken:
        version = next(v for v in parts.index.versions() if v.current)
        with parts.index.build(
            embedding_model=version.embedding_model, dimensions=version.dimensions
        ) as draft:
            draft.delete([chunk for file in broken for chunk in file.document.chunk_ids])
            draft.publish()
    restate(parts, book_id, [file.document for file in held if not file.defect])
