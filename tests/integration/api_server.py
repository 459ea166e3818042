"""A real server on a real port in this process, a writer that takes orders, and tokens."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
import httpx
import jwt
import uvicorn
from litestar import Litestar
from running import free_port, wait_for

from askbook.asking.chain import Asking
from askbook.models import Prompt, Usage
from askbook.providers.extractive import ExtractiveWriter


def token_for(subject: str, secret: object, *, algorithm: str = "HS256", lasts: int = 60, **claims):
    now = int(time.time())
    body = {"sub": subject, "iat": now - 5, "exp": now + lasts, **claims}
    return jwt.encode(body, secret, algorithm=algorithm)


@dataclass
class ObedientWriter:
    """Says one sentence of the first source, then waits for the word, or fails."""

    name: str = "obedient"
    may_end: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None
    stopped: int = 0  # writings that were closed before their end

    async def write(self, prompt: Prompt, usage: Usage) -> AsyncGenerator[str, None]:
        usage.prompt_tokens += 7
        usage.completion_tokens += 3
        first = prompt.sources[0].text.split("\n\n")[-1].split(". ")[0].rstrip(".")
        done = False
        try:
            if self.error is not None:
                raise self.error
            yield f"{first}. [Source 1]\n\nAgain"  # a sentence is over when the next begins
            while not self.may_end.is_set():  # noqa: ASYNC110 - set by another thread
                await anyio.sleep(0.01)
            yield f": {first}. [Source 1]"
            done = True
        finally:
            self.stopped += not done


def give_writer(app: Litestar, writer: ObedientWriter, **changes: object) -> None:
    """Let this writer answer in a running app."""
    parts = app.state.parts
    parts.__dict__["asking"] = Asking(
        embedder=parts.embedder,
        index=parts.index,
        writer=writer,
        quoter=ExtractiveWriter(parts.embedder),
        reranker=None,
        settings=parts.settings.model_copy(update=changes),
    )


@dataclass
class Running:
    """A served app."""

    app: Litestar
    server: uvicorn.Server
    client: httpx.Client


@contextmanager
def served(app: Litestar) -> Iterator[Running]:
    """Serve an app with uvicorn on a port of its own, as `askbook serve` does."""
    port = free_port()
    config = uvicorn.Config(
        app, port=port, log_config=None, access_log=False, timeout_graceful_shutdown=60
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_for(lambda: server.started, "the server")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield Running(app, server, client)
    finally:
        server.should_exit = True
        thread.join()


def events_of(response: httpx.Response) -> list[dict]:
    """The JSON of every `data:` line; comments are left out."""
    lines = response.text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
