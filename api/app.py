"""The API: doors in, errors out, the parts opened once per process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio.to_thread
from litestar import Litestar
from litestar.config.cors import CORSConfig
from litestar.datastructures import State
from litestar.di import Provide
from litestar.plugins.pydantic import PydanticPlugin

from api import (
    ask,
    books,
    chat,
    health,
    ingestion,
    lessons,
    openapi,
    pages,
    query,
    search,
    sessions,
    versions,
)
from api.auth import ADMIN_HEADER, SESSION_HEADER, Verifier, provide_caller
from api.errors import EXCEPTION_HANDLERS
from api.logs import REQUEST_ID_HEADER, RequestLog
from api.metrics import REQUESTS, Metrics
from api.prefect import Prefect
from api.questions import Reception
from askbook.errors import TransientError
from askbook.settings import Settings
from askbook.wiring import Parts

LARGEST_BODY: Final = 64_000  # bytes
_HEADERS_OUT: Final = [
    "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
    "Location", "Retry-After", REQUEST_ID_HEADER, SESSION_HEADER,
]  # fmt: skip
_DOORS: Final = [
    chat.chat,
    ask.ask,
    ask.ask_stream,
    query.query,
    query.query_stream,
    search.search,
    lessons.read_chunk,
    lessons.read_lesson,
    lessons.read_source,
    books.list_books,
    books.list_documents,
    sessions.read_session,
    sessions.end_session,
    ingestion.start_ingest,
    ingestion.list_jobs,
    ingestion.read_job,
    versions.list_versions,
    versions.roll_back,
    health.health,
    health.ready,
]


def create_app(settings: Settings) -> Litestar:
    """The whole API as an ASGI application."""
    return Litestar(
        route_handlers=[*_DOORS, Metrics, pages.page],
        lifespan=[_open_parts],
        exception_handlers=EXCEPTION_HANDLERS,
        state=State({"settings": settings, "verifier": Verifier(settings)}),
        dependencies={
            "caller": Provide(provide_caller),
            "parts": Provide(_provide_parts, sync_to_thread=False),
            "reception": Provide(_provide_reception, sync_to_thread=False),
            "prefect": Provide(_provide_prefect, sync_to_thread=False),
            "settings": Provide(_provide_settings, sync_to_thread=False),
        },
        middleware=[RequestLog(), REQUESTS.middleware],
        cors_config=_cors(settings),
        request_max_body_size=LARGEST_BODY,
        logging_config=None,  # the process that serves decides where logs go
        openapi_config=openapi.config(),
        plugins=[PydanticPlugin(validate_strict=True)],
    )


@asynccontextmanager
async def _open_parts(app: Litestar) -> AsyncIterator[None]:
    """Open what every request needs, once; a reader should not wait for a model to load."""
    parts = Parts(app.state.settings)
    app.state.parts = parts
    app.state.reception = Reception(parts)
    app.state.prefect = Prefect(parts.settings)
    await anyio.to_thread.run_sync(lambda: parts.asking)
    with suppress(TransientError):  # the book can be read without an embedder of others
        await parts.embedder.embed_query("warm up")
    with suppress(TransientError):  # search works without PostgreSQL, and it may come back
        await anyio.to_thread.run_sync(lambda: parts.database)
    yield
    await app.state.prefect.close()
    parts.close()


def _cors(settings: Settings) -> CORSConfig | None:
    if not settings.cors_origins:
        return None
    return CORSConfig(
        allow_origins=list(settings.cors_origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=[
            "Authorization",
            "Content-Type",
            ADMIN_HEADER,
            SESSION_HEADER,
            REQUEST_ID_HEADER,
        ],
        expose_headers=_HEADERS_OUT,
        allow_credentials="*" not in settings.cors_origins,
    )


def _provide_parts(state: State) -> Parts:
    parts: Parts = state.parts
    return parts


def _provide_reception(state: State) -> Reception:
    reception: Reception = state.reception
    return reception


def _provide_prefect(state: State) -> Prefect:
    prefect: Prefect = state.prefect
    return prefect


def _provide_settings(state: State) -> Settings:
    settings: Settings = state.settings
    return settings
