"""The one place where parts are put together. Runs on call, never at import."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from askbook.settings import Settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from anyio.from_thread import BlockingPortal

    from askbook.asking.chain import Asking
    from askbook.ports import Embedder, VectorIndex
    from askbook.store.database import Database


class Parts:
    """Everything a river needs, each part made when it is first asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._loop: AbstractContextManager[BlockingPortal]

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that the settings name."""
        from askbook.providers.registry import make_embedder

        return make_embedder(self.settings)

    @cached_property
    def index(self) -> VectorIndex:
        """The Qdrant server that the settings name, or the engine in process."""
        from askbook.index.schema import Layout

        settings = self.settings
        layout = Layout(
            quantized=settings.quantization == "int8",
            shards=settings.qdrant_shards,
            replicas=settings.qdrant_replicas,
            write_consistency=settings.qdrant_write_consistency,
        )
        if settings.qdrant_url is None:
            from askbook.index.edge import EdgeIndex

            folder = settings.home / "index" / settings.collection
            return EdgeIndex(folder, keep_versions=settings.keep_versions, layout=layout)

        from qdrant_client import QdrantClient

        from askbook.index.server import ServerIndex

        key = settings.qdrant_api_key
        client = QdrantClient(
            url=settings.qdrant_url, api_key=key.get_secret_value() if key else None
        )
        return ServerIndex(
            client, settings.collection, keep_versions=settings.keep_versions, layout=layout
        )

    @cached_property
    def database(self) -> Database:
        """The PostgreSQL that the settings name, or the one from the wheel; migrated."""
        from askbook.store.database import open_database

        url = self.settings.database_url
        return open_database(url.get_secret_value() if url else None, self.settings.home)

    @cached_property
    def portal(self) -> BlockingPortal:
        """One event loop for all threads: the providers' connections belong to it."""
        from anyio.from_thread import start_blocking_portal

        self._loop = start_blocking_portal()
        return self._loop.__enter__()

    @cached_property
    def asking(self) -> Asking:
        """The question's river, complete."""
        from askbook.asking.chain import Asking
        from askbook.providers.extractive import ExtractiveWriter
        from askbook.providers.registry import make_reranker, make_writer
        from askbook.providers.remembering import RememberingEmbedder

        embedder = RememberingEmbedder(self.embedder)
        writer = make_writer(self.settings, embedder)
        is_quoter = isinstance(writer, ExtractiveWriter)
        return Asking(
            embedder=embedder,
            index=self.index,
            writer=writer,
            quoter=writer if is_quoter else ExtractiveWriter(embedder),
            reranker=make_reranker(self.settings),
            settings=self.settings,
        )

    def close(self) -> None:
        """Give back what was opened."""
        if "database" in self.__dict__:
            self.database.close()
        if "portal" in self.__dict__:
            self._loop.__exit__(None, None, None)
