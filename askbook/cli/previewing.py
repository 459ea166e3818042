"""`askbook chunks`: how a file is cut, before anything is indexed."""

from __future__ import annotations

from pathlib import Path

import click

from askbook.cli.options import json_option, print_json, settings_with
from askbook.errors import WrongUse
from askbook.models import Chunk


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--book-id", help="Name of the book [default: ASKBOOK_BOOK_ID].")
@json_option
def chunks(file: Path, book_id: str | None, *, as_json: bool) -> None:
    """Show how FILE is cut into chunks."""
    settings = settings_with()
    if not file.is_file():
        raise WrongUse(f"There is no file {file}.")

    from askbook.book.chunk import PRESETS, chunk_lesson
    from askbook.book.source import decode
    from askbook.payload import to_record
    from flows.discover import read_lesson

    name = _name_in_book(file)
    book = book_id or settings.book_id
    lesson = read_lesson(file, name, book, max_bytes=int(settings.max_file_mb * 1e6))
    if lesson is None:
        raise WrongUse(f"{file} is a draft or starts with `_`: it is not part of the book.")
    text = decode(file.read_bytes(), name)
    cut = chunk_lesson(text, lesson, PRESETS[settings.chunk_preset])
    if as_json:
        print_json([to_record(each) for each in cut])
    else:
        for each in cut:
            _show(each)


def _name_in_book(file: Path) -> str:
    """The path from the module folder on, where there is one: it says where the lesson stands."""
    parts = file.resolve().parts
    start = next((i for i, part in enumerate(parts) if part.startswith("module-")), -1)
    return Path(*parts[start:]).as_posix() if start >= 0 else file.name


def _show(chunk: Chunk) -> None:
    path = " › ".join(chunk.heading_path) or chunk.lesson.chapter_title
    click.secho(
        f"── {chunk.chunk_index + 1}/{chunk.total_chunks}  {path}  "
        f"({chunk.token_count} tokens, {chunk.start_char_offset}–{chunk.end_char_offset})",
        bold=True,
    )
    click.echo(chunk.text + "\n")
