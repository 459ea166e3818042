"""`askbook ask`: an answer that streams to the terminal, with its places in the book."""

from __future__ import annotations

from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import UUID

import anyio
import click

from askbook.cli.filters import filter_options
from askbook.cli.options import (
    book_id_option,
    chosen_book,
    json_option,
    print_json,
    settings_with,
)
from askbook.errors import AskbookError, WrongUse
from askbook.models import Answer, ChunkFilter, Citation, Question, Released
from askbook.wiring import Parts

MIN_QUERY = 3  # characters
_LONGEST_SELECTION = 5000  # characters
_NEW = "new"


@click.command()
@click.argument("question", required=False, default="")
@book_id_option
@filter_options
@click.option("--selected-text", help="Answer from this text alone, as a reader selected it.")
@click.option("--session", help="Go on with this conversation; `new` starts one.")
@json_option
def ask(
    *,
    question: str,
    book_id: str | None,
    where: ChunkFilter,
    selected_text: str | None,
    session: str | None,
    as_json: bool,
) -> None:
    """Answer QUESTION from the book, with citations."""
    if len(question.strip()) < MIN_QUERY and not selected_text:
        raise click.BadParameter("at least 3 characters are needed", param_hint="QUESTION")
    if selected_text and len(selected_text) > _LONGEST_SELECTION:
        raise click.BadParameter("at most 5,000 characters", param_hint="--selected-text")
    parts = Parts(settings_with())
    where = replace(where, book_id=chosen_book(parts, book_id))
    asked = Question(question.strip(), where, selected_text=selected_text)
    conversation = _Conversation(parts, session) if session else None
    if conversation:
        asked = replace(asked, history=conversation.history)
    answer = anyio.run(partial(_answer, parts, asked, is_shown=not as_json))
    if conversation:
        conversation.remember(question, answer)
    if as_json:
        session_id = {"session_id": str(conversation.id)} if conversation else {}
        print_json(answer if not session_id else _plain(answer) | session_id)
    elif conversation and session == _NEW:
        click.echo(f"session: {conversation.id}", err=True)


class _Conversation:
    """A stored conversation that this question belongs to."""

    def __init__(self, parts: Parts, given: str) -> None:
        from askbook.store import sessions

        self._database = parts.database
        with self._database.begin() as connection:
            if given == _NEW:
                self.id = sessions.start(connection).id
            else:
                self.id = _session_id(given)
                if sessions.find(connection, self.id) is None:
                    raise WrongUse(f"There is no session {given}. Start one with --session new.")
            self.history = sessions.context(connection, self.id)

    def remember(self, question: str, answer: Answer) -> None:
        """Store the question and its answer."""
        from askbook.asking.selected import EXPLAIN
        from askbook.store import sessions

        with self._database.begin() as connection:
            sessions.remember(connection, self.id, question.strip() or EXPLAIN, answer)


def _session_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError:
        raise WrongUse(f"{given!r} is no session id. Start one with --session new.") from None


async def _answer(parts: Parts, question: Question, *, is_shown: bool) -> Answer:
    """Ask; print every sentence as soon as it passed its check."""
    has_begun = False
    async with aclosing(parts.asking.stream(question)) as events:
        async for event in events:
            if isinstance(event, Released):
                has_begun = True
                if is_shown:
                    click.echo(event.text, nl=False)
                continue
            if is_shown:
                click.echo("" if has_begun else event.answer)
                _show_places(event, parts, question.where.book_id)
            return event
    raise AssertionError  # a stream always ends with its answer


def show_answer(answer: Answer, parts: Parts, book_id: str) -> None:
    """The answer and its numbered citations, for a terminal."""
    click.echo(answer.answer)
    _show_places(answer, parts, book_id)


def _show_places(answer: Answer, parts: Parts, book_id: str | None) -> None:
    book_dir = _folder_of(parts, book_id) if answer.citations else parts.settings.book_dir
    for number, citation in enumerate(answer.citations, start=1):
        click.echo(f"  [{number}] {_place(citation, book_dir)}")
    for note in answer.notes:
        click.secho(note, dim=True)
    if answer.withheld:
        count = len(answer.withheld)
        click.secho(f"{count} unsupported sentence{'s' * (count > 1)} withheld.", dim=True)


def _folder_of(parts: Parts, book_id: str | None) -> Path:
    """Where the book was ingested from; the default folder where PostgreSQL cannot say."""
    from askbook.store import documents

    with suppress(AskbookError), parts.database.begin() as connection:
        known = {book.book_id: Path(book.book_dir) for book in documents.books(connection)}
        return known.get(book_id or "", parts.settings.book_dir)
    return parts.settings.book_dir


def _place(citation: Citation, book_dir: Path) -> str:
    titles = dict.fromkeys(filter(None, [citation.chapter_title, citation.section]))
    where = " › ".join(titles)
    anchor = f"#{citation.anchor}" if citation.anchor else ""
    line = _line(book_dir / citation.source_file, citation.start_char_offset)
    return f"{where}  ({citation.source_file}{f':{line}' if line else ''}{anchor})"


def _line(path: Path, offset: int) -> int | None:
    """The line of an offset, where the file is at hand; the index may know other folders."""
    try:
        return path.read_bytes().decode("utf-8")[:offset].count("\n") + 1
    except (OSError, UnicodeDecodeError):
        return None


def _plain(answer: Answer) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(answer)
