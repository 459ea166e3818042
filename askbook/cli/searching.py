"""`askbook search`: passages only."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import anyio
import click

from askbook.cli.asking import MIN_QUERY
from askbook.cli.filters import filter_options
from askbook.cli.options import (
    book_id_option,
    chosen_book,
    json_option,
    print_json,
    settings_with,
)
from askbook.models import ChunkFilter, Hit
from askbook.wiring import Parts

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
@filter_options
@json_option
def search(
    *, query: str, book_id: str | None, limit: int, where: ChunkFilter, as_json: bool
) -> None:
    """Find passages for QUERY."""
    if len(query.strip()) < MIN_QUERY:
        raise click.BadParameter("at least 3 characters are needed", param_hint="QUERY")
    parts = Parts(settings_with())
    where = replace(where, book_id=chosen_book(parts, book_id))
    hits = anyio.run(partial(parts.asking.search, query, where, limit))
    if as_json:
        print_json(
            {
                "query": query,
                "results": [_result(hit) for hit in hits],
                "total_found": parts.index.count(where),
                "hardware_tier_filter": where.max_hardware_tier or 4,
                "module_filter": where.module,
                "book_id": where.book_id,
            }
        )
        return
    for number, hit in enumerate(hits, start=1):
        _show_hit(number, hit)
    if not hits:
        click.echo("Nothing found.")


def _result(hit: Hit) -> dict[str, object]:
    return {"score": round(hit.score, 4)} | {name: hit.payload.get(name) for name in _RESULT_FIELDS}


def _show_hit(number: int, hit: Hit) -> None:
    titles = [hit.payload["chapter_title"], hit.payload["section_title"]]
    place = " › ".join(str(title) for title in titles if title)
    click.secho(f"{number}. {place}  {hit.score:.2f}", bold=True)
    click.echo(f"   {hit.payload['source_file']}#{hit.payload['section_id'] or ''}")
    click.echo(f"   {' '.join(str(hit.payload['text']).split())[:200]}")
