"""`askbook search` and `askbook ask`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio
import click

from askbook.cli.options import (
    book_id_option,
    chosen_book,
    json_option,
    print_json,
    settings_with,
)
from askbook.models import Answer, ChunkFilter, Hit
from askbook.wiring import Parts

if TYPE_CHECKING:
    from askbook.models import Citation

_MIN_QUERY = 3
_RESULT_FIELDS = (
    "text",
    "source_file",
    "section_title",
    "module",
    "chapter",
    "lesson",
    "hardware_tier",
    "proficiency_level",
    "layer",
    "chunk_index",
    "total_chunks",
    "parent_doc_id",
    "prev_chunk_id",
    "next_chunk_id",
    "content_hash",
)


@click.command()
@click.argument("query")
@book_id_option
@click.option("--limit", type=click.IntRange(1, 20), default=5, show_default=True)
@click.option("--module", help="Only this module.")
@click.option("--tier", type=click.IntRange(1, 4), default=4, help="This hardware tier or lower.")
@json_option
def search(
    query: str, book_id: str | None, limit: int, module: str | None, tier: int, *, as_json: bool
) -> None:
    """Find passages for QUERY."""
    if len(query.strip()) < _MIN_QUERY:
        raise click.BadParameter("at least 3 characters are needed", param_hint="QUERY")
    parts = Parts(settings_with())
    book = chosen_book(parts, book_id)
    where = ChunkFilter(book_id=book, module=module, max_hardware_tier=tier)
    hits = anyio.run(partial(parts.asking.search, query, where, limit))
    if as_json:
        print_json(
            {
                "query": query,
                "results": [_result(hit) for hit in hits],
                "total_found": parts.index.count(where),
                "hardware_tier_filter": tier,
                "module_filter": module,
                "book_id": book,
            }
        )
        return
    for number, hit in enumerate(hits, start=1):
        _show_hit(number, hit)
    if not hits:
        click.echo("Nothing found.")


@click.command()
@click.argument("question")
@book_id_option
@json_option
def ask(question: str, book_id: str | None, *, as_json: bool) -> None:
    """Answer QUESTION from the book, with citations."""
    if len(question.strip()) < _MIN_QUERY:
        raise click.BadParameter("at least 3 characters are needed", param_hint="QUESTION")
    parts = Parts(settings_with())
    where = ChunkFilter(book_id=chosen_book(parts, book_id))
    answer = anyio.run(partial(parts.asking.ask, question, where))
    if as_json:
        print_json(answer)
    else:
        show_answer(answer)


def show_answer(answer: Answer) -> None:
    """The answer and its numbered citations, for a terminal."""
    click.echo(answer.answer)
    for number, citation in enumerate(answer.citations, start=1):
        click.echo(f"  [{number}] {_place(citation)}")


def _place(citation: Citation) -> str:
    where = " › ".join(filter(None, [citation.chapter_title, citation.section]))
    anchor = f"#{citation.anchor}" if citation.anchor else ""
    return f"{where}  ({citation.source_file}{anchor})"


def _result(hit: Hit) -> dict[str, object]:
    return {"score": round(hit.score, 4)} | {name: hit.payload.get(name) for name in _RESULT_FIELDS}


def _show_hit(number: int, hit: Hit) -> None:
    titles = [hit.payload["chapter_title"], hit.payload["section_title"]]
    place = " › ".join(str(title) for title in titles if title)
    click.secho(f"{number}. {place}  {hit.score:.2f}", bold=True)
    click.echo(f"   {hit.payload['source_file']}#{hit.payload['section_id'] or ''}")
    click.echo(f"   {' '.join(str(hit.payload['text']).split())[:200]}")
