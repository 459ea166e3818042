"""`askbook restore`: all of a backup, or nothing of it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, text

from askbook.backup import archive, points, rows
from askbook.books import held_still, known_books
from askbook.errors import BackupError
from askbook.models import ChunkFilter
from askbook.store.database import SCHEMA_VERSION
from askbook.wiring import Parts


def check(path: Path) -> archive.Manifest:
    """Read every byte of a backup and say what it holds; changes nothing."""
    with archive.opened(path) as backup:
        return backup.manifest


def restore(
    parts: Parts, path: Path, *, force: bool = False
) -> tuple[archive.Manifest, str | None]:
    """Bring a backup back; returns what it held and the index version readers now see.

    The index is built aside and the rows are loaded in one transaction; readers see the one and
    the other only when both are whole. `force` replaces what is there.
    """
    with archive.opened(path) as backup:
        manifest = backup.manifest
        _check_revision(manifest, path)
        with held_still(parts, known_books(parts) | set(manifest.books)):
            if not force:
                _check_empty(parts)
            return manifest, _bring_back(parts, backup)


def _check_revision(manifest: archive.Manifest, path: Path) -> None:
    if manifest.schema_revision != SCHEMA_VERSION:
        raise BackupError(
            f"{path} was made with revision {manifest.schema_revision} of the tables (askbook "
            f"{manifest.askbook_version}); this askbook has {SCHEMA_VERSION}. Restore it with the "
            "askbook that made it; a newer one then brings the tables up to date by itself."
        )


def _check_empty(parts: Parts) -> None:
    with parts.database.begin() as connection:
        empty = rows.is_empty(connection)
    if not empty or parts.index.count(ChunkFilter()):
        raise BackupError(
            f"There is something at {parts.settings.home} already: books, runs or conversations. "
            "Restore into another ASKBOOK_HOME, or replace all of it with --force."
        )


def _bring_back(parts: Parts, backup: archive.Backup) -> str | None:
    manifest = backup.manifest
    model, dimensions = manifest.embedding_model, manifest.dimensions
    if model is None:  # nothing was indexed: a draft is only needed to hide what is here
        current = next((each for each in parts.index.versions() if each.current), None)
        if current is None:
            with parts.database.begin() as connection:
                _load_rows(parts, connection, backup)
            return None
        model, dimensions = current.embedding_model, current.dimensions
    with parts.index.build(embedding_model=model, dimensions=dimensions, empty=True) as draft:
        draft.upsert(points.load(backup.member("points.parquet")))
        held = draft.count(ChunkFilter())
        if held != manifest.points:
            raise BackupError(
                f"The index took {held} of the backup's {manifest.points} chunks. "
                "Nothing was restored."
            )
        with parts.database.begin() as connection:
            _load_rows(parts, connection, backup)
            return draft.publish()  # the last thing that can fail, before the commit


def _load_rows(parts: Parts, connection: Connection, backup: archive.Backup) -> None:
    rows.clear(connection)
    for table, expected in backup.manifest.rows.items():
        loaded = rows.load(connection, table, backup.member(f"rows/{table}.csv.zst"))
        if loaded != expected:
            raise BackupError(
                f"PostgreSQL took {loaded} of the {expected} rows of {table}. Nothing was restored."
            )
    connection.execute(
        text("UPDATE ingestion_state SET collection_name = :name"),
        {"name": parts.settings.collection},
    )
