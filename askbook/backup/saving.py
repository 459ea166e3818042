"""`askbook backup`: the published index and PostgreSQL's rows, of one moment, into one file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text

from askbook import __version__
from askbook.backup import archive, points, rows
from askbook.books import held_still, known_books
from askbook.errors import BackupError
from askbook.models import ChunkFilter, StoredChunk
from askbook.store.database import SCHEMA_VERSION
from askbook.wiring import Parts

# Of a book that is first ingested while the backup is made, nothing is in it, in either part.
_OF_OTHER_BOOKS = "SELECT book_id FROM ingestion_state WHERE NOT book_id = ANY(:books)"


def save(parts: Parts, path: Path, *, force: bool = False) -> archive.Manifest:
    """Write a backup to `path`; refuses while an ingest runs."""
    if path.exists() and not force:
        raise BackupError(f"{path} is there already. Choose another name, or use --force.")
    try:
        with archive.members_aside(path) as folder:
            books = known_books(parts)
            with held_still(parts, books):
                manifest = _members(parts, sorted(books), folder)
            archive.seal(folder, manifest, path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}") from error
    return manifest


def _members(parts: Parts, books: list[str], folder: Path) -> archive.Manifest:
    version = next((each for each in parts.index.versions() if each.current), None)
    dimensions = version.dimensions if version else 0
    held = points.save(_chunks(parts, books), dimensions, folder / "points.parquet")
    with parts.database.begin() as connection:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        newer = connection.scalars(text(_OF_OTHER_BOOKS), {"books": books}).all()
        if newer:
            raise BackupError(f"{newer[0]!r} was ingested meanwhile. Run the backup again.")
        counts = rows.save(connection, folder / "rows")
    return archive.Manifest(
        askbook_version=__version__,
        schema_revision=SCHEMA_VERSION,
        created_at=datetime.now(UTC).isoformat(),
        collection=parts.settings.collection,
        index_version=version.name if version else None,
        embedding_model=version.embedding_model if version else None,
        dimensions=dimensions,
        points=held,
        books=books,
        rows=counts,
        sha256=archive.hashes(folder),
    )


def _chunks(parts: Parts, books: list[str]) -> Iterator[StoredChunk]:
    for book_id in books:
        yield from parts.index.scroll(
            ChunkFilter(book_id=book_id), with_vectors=True, with_words=True
        )
