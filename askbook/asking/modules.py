"""From a module's number, as readers say it, to its name, as the index knows it."""

from __future__ import annotations

import re
from typing import Final

from askbook.models import ChunkFilter
from askbook.ports import VectorIndex

_NUMBERED: Final = re.compile(r"module[-_ ]?0*(\d+)(?:[-_ /]|$)", re.IGNORECASE)


def module_numbered(index: VectorIndex, book_id: str, number: int) -> str:
    """The module with this number in its folder's name; a name that fits nothing if none has."""
    of_book = ChunkFilter(book_id=book_id)
    for chapter_id in sorted(index.facets("chapter_id", of_book)):
        found = _NUMBERED.match(chapter_id)
        if found and int(found[1]) == number:
            here = ChunkFilter(book_id=book_id, chapter_id=chapter_id)
            return str(next(iter(index.scroll(here))).payload["module"])
    return f"module-{number}"
