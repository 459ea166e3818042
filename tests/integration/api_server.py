"""A real server on a real port in this process, a writer that takes orders, and tokens."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import jwt
import uvicorn
from litestar import Litestar
from running import free_port, wait_for

from api.server import options
from askbook.asking.chain import Asking
from askbook.models import Prompt, Usage
from askbook.providers.extractive import ExtractiveWriter


def token_for(subject: str, secret: object, *, algorithm: str = "HS256", lasts: int = 60, **claims):
    now = int(time.time())
    body = {"sub": subject, "iat": now - 5, "exp": now + lasts, **claims}
    return jwt.encode(body, secret, algorithm=algorithm)


class Word:
    """Given once by any thread; waited for on any event loop."""

    def __init__(self) -> None:
        self._given = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def set(self) -> None:
        self._given = True
        for loop, event in self._waiting:
            loop.call_soon_threadsafe(event.set)

    async def wait(self) -> None:
        event = asyncio.Event()
        self._waiting.append((asyncio.get_running_loop(), event))
        if not self._given:
            await event.wait()


@dataclass
class ObedientWriter:
    """Says one sentence of the first source, then waits for the word, or fails."""

    name: str = "obedient"
    may_end: Word = field(default_factory=Word)
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
            await self.may_end.wait()
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
    loop: asyncio.AbstractEventLoop
    client: httpx.Client


@contextmanager
def served(app: Litestar) -> Iterator[Running]:
    """Serve an app with uvicorn on a port of its own, as `askbook serve` does."""
    told = {**options(app.state.settings), "port": free_port(), "timeout_graceful_shutdown": 60}
    server = uvicorn.Server(uvicorn.Config(app, **told))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(server.serve(),))
    thread.start()
    try:
        wait_for(lambda: server.started, "the server")
        with httpx.Client(base_url=f"http://127.0.0.1:{told['port']}", timeout=60) as client:
            yield Running(app, server, loop, client)
    finally:
        server.should_exit = True
        thread.join()
        loop.close()


def events_of(response: httpx.Response) -> list[dict]:
    """The JSON of every `data:` line; comments are left out."""
    lines = response.text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
