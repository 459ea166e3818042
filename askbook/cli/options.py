"""What several commands share: settings, the book's name, JSON."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, is_dataclass
from datetime import datetime
from pathlib import Path

import click

from askbook.errors import WrongUse
from askbook.models import ChunkFilter
from askbook.settings import Settings, load_settings
from askbook.wiring import Parts

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
book_id_option = click.option("--book-id", help="Which book; only needed when there are several.")


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, default=_plain, ensure_ascii=False, indent=2))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def settings_with(**changes: object) -> Settings:
    """The settings, with what the command line overrides; child processes see the same."""
    for name, value in changes.items():
        if value is not None:
            os.environ[f"ASKBOOK_{name.upper()}"] = str(value)
    return load_settings()


def name_for(book_dir: Path) -> str:
    """A book's id made from its folder's name."""
    slug = re.sub(r"[^a-z0-9._-]+", "-", book_dir.resolve().name.lower()).strip("-._")
    if not slug:
        raise WrongUse(f"No book id can be made from the folder name {book_dir}: give --book-id.")
    return slug[:100]


def chosen_book(parts: Parts, book_id: str | None) -> str:
    """The book a question goes to: the one named, else the default one, else the only one."""
    books = parts.index.facets("book_id", ChunkFilter())
    if not books:
        raise WrongUse("Nothing is indexed yet. Run `askbook ingest BOOK_DIR` first.")
    wanted = book_id or (parts.settings.book_id if parts.settings.book_id in books else None)
    if wanted is None and len(books) == 1:
        return next(iter(books))
    if wanted not in books:
        known = ", ".join(sorted(books))
        problem = f"There is no book {wanted!r}." if wanted else "There are several books."
        raise WrongUse(f"{problem} Choose one with --book-id: {known}")
    return wanted
