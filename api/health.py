"""Is the process alive, and is there a book to answer from?"""

from __future__ import annotations

from litestar import Response, get
from litestar.datastructures import State

from askbook.models import ChunkFilter
from askbook.wiring import Parts


@get("/health", sync_to_thread=False)
def health() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@get("/ready", sync_to_thread=True)
def ready(state: State) -> Response[dict[str, object]]:
    """Whether questions can be answered: 200, or 503 where the book is not indexed."""
    parts: Parts = state.parts
    chunks = parts.index.count(ChunkFilter(book_id=state.settings.book_id))
    version = next((v.name for v in parts.index.versions() if v.current), None)
    body: dict[str, object] = {
        "book_id": state.settings.book_id,
        "chunks": chunks,
        "index_version": version,
        "index_problem": parts.index.problem(),
    }
    return Response(body, status_code=200 if chunks else 503)
