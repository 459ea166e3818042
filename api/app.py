"""The API: doors in, errors out, the parts opened once per process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from litestar import Litestar
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.static_files import create_static_files_router

from api.ask import ask
from api.errors import EXCEPTION_HANDLERS
from api.health import health, ready
from askbook import __version__
from askbook.settings import Settings
from askbook.wiring import Parts


def create_app(settings: Settings) -> Litestar:
    """The whole API for one book, as an ASGI application."""

    @asynccontextmanager
    async def open_parts(app: Litestar) -> AsyncIterator[None]:
        parts = Parts(settings)
        app.state.parts = parts
        await parts.embedder.embed_query("warm up")  # the first reader should not wait for a model
        yield
        parts.close()

    web = create_static_files_router(
        path="/", directories=[Path(__file__).parent / "web"], html_mode=True
    )
    return Litestar(
        route_handlers=[ask, health, ready, web],
        lifespan=[open_parts],
        exception_handlers=EXCEPTION_HANDLERS,
        state=State({"settings": settings}),
        request_max_body_size=64_000,
        openapi_config=OpenAPIConfig(
            title="askbook",
            version=__version__,
            description="Cited answers from a book.",
            path="/schema",
            render_plugins=[JsonRenderPlugin(path="/")],  # the others load scripts from a CDN
        ),
    )
