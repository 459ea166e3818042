"""`askbook chunks`: how a file or a folder is cut, before anything is indexed."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from askbook.cli.options import json_option, name_for, print_json, settings_with
from askbook.errors import UnreadableFile, WrongUse
from askbook.models import Chunk, Lesson
from askbook.settings import Settings

if TYPE_CHECKING:
    from askbook.book.units import Split


@dataclass(slots=True)
class _Cut:
    """One file, cut."""

    source_file: str
    text: str
    chunks: list[Chunk]
    splits: list[Split]


@dataclass(slots=True)
class _Summary:
    """What a folder's cut comes to."""

    files: int = 0
    quarantined: list[UnreadableFile] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, cut: _Cut) -> None:
        self.files += 1
        self.tokens += [chunk.token_count for chunk in cut.chunks]
        for split in cut.splits:
            line = cut.text.count("\n", 0, split.start_char_offset) + 1
            why = f"{split.tokens} tokens, the maximum is {split.max_tokens}"
            self.kinds[split.kind] += 1
            self.splits.append(f"{cut.source_file}:{line}: {split.kind} ({why})")


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--book-id", help="Name of the book [default: ASKBOOK_BOOK_ID, or the folder's].")
@json_option
def chunks(path: Path, book_id: str | None, *, as_json: bool) -> None:
    """Show how PATH, a file or a folder, is cut into chunks."""
    settings = settings_with()
    if not path.exists():
        raise WrongUse(f"There is no file {path}.")
    summary = _Summary()
    if path.is_dir():
        cuts = _cut_folder(path, book_id or name_for(path), settings, summary)
    else:
        cuts = iter([_cut_file(path, book_id or settings.book_id, settings)])
    if as_json:
        _print_all(cuts)
        return
    for cut in cuts:
        summary.add(cut)
        for chunk in cut.chunks:
            _show(chunk)
    if path.is_dir():
        _show_summary(summary)


def _cut_file(path: Path, book_id: str, settings: Settings) -> _Cut:
    from flows.discover import read_lesson

    name = _name_in_book(path)
    lesson = read_lesson(path, name, book_id, max_bytes=settings.max_file_bytes)
    if lesson is None:
        raise WrongUse(f"{path} is a draft or starts with `_`: it is not part of the book.")
    return _cut(path, lesson, settings)


def _cut_folder(
    folder: Path, book_id: str, settings: Settings, summary: _Summary
) -> Iterator[_Cut]:
    from askbook.book.walk import Globs
    from flows.discover import discover

    globs = Globs(settings.include, settings.exclude)
    survey = discover(folder, book_id, globs=globs, max_bytes=settings.max_file_bytes)
    summary.quarantined = [
        UnreadableFile(q.source_file, q.reason, q.line) for q in survey.quarantined
    ]
    for lesson in survey.lessons:
        yield _cut(folder / lesson.source_file, lesson, settings)


def _cut(path: Path, lesson: Lesson, settings: Settings) -> _Cut:
    from askbook.book.chunk import PRESETS, chunk_lesson_with_report
    from askbook.book.source import decode

    text = decode(path.read_bytes(), lesson.source_file)
    made, splits = chunk_lesson_with_report(text, lesson, PRESETS[settings.chunk_preset])
    return _Cut(lesson.source_file, text, made, splits)


def _name_in_book(file: Path) -> str:
    """The path from the module folder on, where there is one: it says where the lesson stands."""
    parts = file.resolve().parts
    start = next((i for i, part in enumerate(parts) if part.startswith("module-")), -1)
    return Path(*parts[start:]).as_posix() if start >= 0 else file.name


def _print_all(cuts: Iterator[_Cut]) -> None:
    from askbook.payload import to_record

    print_json([to_record(chunk) for cut in cuts for chunk in cut.chunks])


def _show(chunk: Chunk) -> None:
    path = " › ".join(chunk.heading_path) or chunk.lesson.chapter_title
    click.secho(
        f"── {chunk.lesson.source_file}  {chunk.chunk_index + 1}/{chunk.total_chunks}  {path}  "
        f"({chunk.token_count} tokens, {chunk.start_char_offset}–{chunk.end_char_offset})",
        bold=True,
    )
    click.echo(chunk.text + "\n")


def _show_summary(summary: _Summary) -> None:
    click.secho("── Summary", bold=True)
    click.echo(f"{summary.files} files, {len(summary.tokens)} chunks")
    if len(summary.tokens) > 1:
        cuts = statistics.quantiles(summary.tokens, n=20, method="inclusive")
        click.echo(
            f"tokens: min {min(summary.tokens)}, 5 % {cuts[0]:.0f}, median {cuts[9]:.0f}, "
            f"95 % {cuts[18]:.0f}, max {max(summary.tokens)}"
        )
    told = ", ".join(f"{n} × {kind}" for kind, n in summary.kinds.most_common()) or "none"
    click.echo(f"structures split because they are longer than a chunk: {told}")
    for line in summary.splits:
        click.echo(f"  {line}")
    for problem in summary.quarantined:
        click.echo(f"  quarantined {problem}", err=True)
