"""The filters of a search, as options of a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

from askbook.models import DIFFICULTIES, LAYERS, PROFICIENCY_LEVELS, ChunkFilter

_OPTIONS: Final = (
    click.option("--module", help="Only this module."),
    click.option("--tier", type=click.IntRange(1, 4), help="This hardware tier or lower."),
    click.option("--chapter", help="Only this chapter, or a range such as 3-5."),
    click.option("--lesson", type=click.IntRange(0), help="Only lessons with this number."),
    click.option(
        "--level", "levels", multiple=True, type=click.Choice(PROFICIENCY_LEVELS),
        help="Only this proficiency level; may be given several times.",
    ),
    click.option("--layer", type=click.Choice(LAYERS), help="Only this layer."),
    click.option("--difficulty", type=click.Choice(DIFFICULTIES), help="Only this difficulty."),
    click.option("--tag", "tags", multiple=True, help="Only with any of these tags."),
    click.option("--file", "source_file", help="Only this file, as it is named in the book."),
)  # fmt: skip


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the filter options; it gets them as one `where`, without a book."""

    @wraps(command)
    def with_where(**options: Any) -> None:  # noqa: ANN401 - click passes what was declared
        chapters = _chapters(options.pop("chapter"))
        where = ChunkFilter(
            module=options.pop("module"),
            max_hardware_tier=options.pop("tier"),
            chapter_min=chapters[0],
            chapter_max=chapters[1],
            lesson=options.pop("lesson"),
            proficiency_levels=options.pop("levels"),
            layer=options.pop("layer"),
            difficulty=options.pop("difficulty"),
            tags=options.pop("tags"),
            source_file=options.pop("source_file"),
        )
        command(where=where, **options)

    for option in reversed(_OPTIONS):
        with_where = option(with_where)
    return with_where


def _chapters(given: str | None) -> tuple[int | None, int | None]:
    if given is None:
        return None, None
    first, dash, last = given.partition("-")
    try:
        return int(first), int(last) if dash else int(first)
    except ValueError:
        raise click.BadParameter(
            f"{given!r} is neither a number nor a range such as 3-5", param_hint="--chapter"
        ) from None
