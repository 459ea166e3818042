"""Prefect flows besides ingest: reconcile, purge, rebuild."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any  # reports are JSON

from prefect import flow
from prefect.artifacts import create_table_artifact

from askbook.models import Mode
from askbook.settings import load_settings
from askbook.store import sessions
from flows.ingest import ingest
from flows.repair import reconcile as compare
from flows.run import parts_for


@flow(name="reconcile")
def reconcile(book_id: str | None = None, *, repair: bool = True) -> list[dict[str, Any]]:
    """Compare PostgreSQL with the index, both ways, and mend what differs.

    Args:
        book_id: One book, or all of them when empty.
        repair: Mend what differs; otherwise only report it.
    """
    found = compare(parts_for(load_settings()), book_id, repair=repair)
    rows = [asdict(finding) for finding in found]
    told = f"{len(rows)} disagreements" if rows else "PostgreSQL and the index agree"
    create_table_artifact(key="reconcile", table=rows, description=told)
    return rows


@flow(name="purge")
def purge(days: int = 30) -> dict[str, int]:
    """Remove conversations that nobody continued.

    Args:
        days: Days without activity after which a session is removed.
    """
    with parts_for(load_settings()).database.begin() as connection:
        return sessions.purge(connection, days=days)


@flow(name="rebuild")
def rebuild(book_dir: str, book_id: str) -> dict[str, Any]:
    """Build a book's index anew, aside, and swing readers to it when its gates pass.

    Args:
        book_dir: Folder of the book's .md and .mdx files.
        book_id: Name of the book in the index.
    """
    report: dict[str, Any] = ingest(book_dir=book_dir, book_id=book_id, mode=Mode.RECREATE)
    return report
