"""Is the process alive, and which of its parts answer?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeVar

import anyio
import anyio.to_thread
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from pydantic import BaseModel, Field
from sqlalchemy import text

from api.prefect import Prefect
from askbook.errors import AskbookError
from askbook.models import ChunkFilter
from askbook.wiring import Parts

T = TypeVar("T")
_PATIENCE: Final = 3.0  # seconds a part has to answer


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = Field(description="Always ok.")


class Dependency(BaseModel):
    """One part."""

    status: Literal["ok", "down", "unused"] = Field(description="How it is.")
    detail: str | None = Field(None, description="What it is, or what is missing.")


class Readiness(BaseModel):
    """What works. 200 while search works; then PostgreSQL may still be down (degraded)."""

    status: Literal["ready", "degraded", "unready"] = Field(description="All of it in one word.")
    book_id: str = Field(description="The book that is asked where a request names none.")
    chunks: int = Field(description="Its chunks in the published index.")
    index_version: str | None = Field(description="The published version.")
    dependencies: dict[str, Dependency] = Field(
        description="index, postgresql, embedder, writer, reranker, prefect."
    )


@get("/health", sync_to_thread=False)
def health() -> Health:
    """The process answers."""
    return Health(status="ok")


@get(
    "/ready",
    responses={
        503: ResponseSpec(
            Readiness, description="The book is not indexed.", generate_examples=False
        )
    },
)
async def ready(
    parts: NamedDependency[Parts], prefect: NamedDependency[Prefect]
) -> Response[Readiness]:
    """Which parts answer: 200, or 503 where the book is not indexed or cannot be read."""
    nothing: tuple[int, str | None] = (0, None)
    chunks, version = await _within(lambda: _index(parts), nothing)
    index = Dependency(
        status="ok" if chunks else "down", detail=None if chunks else "The book is not indexed."
    )
    postgresql = await _within(lambda: _postgresql(parts), Dependency(status="down"))
    dependencies = {
        "index": index,
        "postgresql": postgresql,
        **{
            role: Dependency(status="ok" if name else "unused", detail=name)
            for role, name in parts.asking.parts.items()
        },
        "prefect": await _prefect(prefect),
    }
    works = postgresql.status == "ok"
    state: Literal["ready", "degraded", "unready"]
    state = "unready" if not chunks else "ready" if works else "degraded"
    body = Readiness(
        status=state,
        book_id=parts.settings.book_id,
        chunks=chunks,
        index_version=version,
        dependencies=dependencies,
    )
    return Response(body, status_code=200 if chunks else 503)


async def _within(look: Callable[[], T], otherwise: T) -> T:
    """What a part says, or `otherwise` when it fails or takes too long."""
    with anyio.move_on_after(_PATIENCE):
        try:
            return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
        except AskbookError:
            return otherwise
    return otherwise


def _index(parts: Parts) -> tuple[int, str | None]:
    chunks = parts.index.count(ChunkFilter(book_id=parts.settings.book_id))
    return chunks, next((v.name for v in parts.index.versions() if v.current), None)


def _postgresql(parts: Parts) -> Dependency:
    with parts.database.begin() as connection:
        connection.execute(text("SELECT 1"))
    return Dependency(status="ok")


async def _prefect(prefect: Prefect) -> Dependency:
    if prefect.address is None:
        return Dependency(status="unused", detail="None is configured.")
    with anyio.move_on_after(_PATIENCE):
        if await prefect.answers():
            return Dependency(status="ok")
    return Dependency(status="down")
