"""Prefect flows besides ingest: reconcile, purge, rebuild, evaluate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any  # reports are JSON

from prefect import flow
from prefect.artifacts import create_table_artifact

from askbook.errors import TerminalError
from askbook.models import Mode
from askbook.settings import load_settings
from askbook.store import sessions
from flows import artifacts
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
def rebuild(book_dir: str, book_id: str, *, force: bool = False) -> dict[str, Any]:
    """Build a book's index anew, aside, and swing readers to it when its gates pass.

    Where the book has a golden set, the new index must not be significantly worse on it than the
    live one; the numbers are the artifact `promotion`.

    Args:
        book_dir: Folder of the book's .md and .mdx files.
        book_id: Name of the book in the index.
        force: Go on although many files vanished, or the new index is worse.
    """
    report: dict[str, Any] = ingest(
        book_dir=book_dir, book_id=book_id, mode=Mode.RECREATE, force=force
    )
    return report


@flow(name="evaluate")
def evaluate(book_dir: str, book_id: str) -> dict[str, Any]:
    """Ask the live index every question of the book's golden set, and keep what came of it.

    Args:
        book_dir: Folder of the book's .md and .mdx files.
        book_id: Name of the book in the index.
    """
    settings = load_settings()
    golden = settings.golden_dir / book_id
    page = settings.home / "evaluations" / f"{book_id}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    # A process of its own: benchmarks are no part of the flows, and their memory goes with them.
    command = [sys.executable, "-m", "askbook.cli", "eval", str(golden), "--live", "--json"]
    done = subprocess.run(  # noqa: S603 - our own command
        [*command, "--book", book_dir, "--report", str(page)],
        env={**os.environ, "ASKBOOK_BOOK_ID": book_id},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise TerminalError(f"The evaluation of {book_id} failed: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    artifacts.evaluation(found, page)
    return found
