"""Server-sent events: checked sentences as they pass, signs of life, exactly one last event.

The work runs in a task of its own, so that a heartbeat never interrupts the writer. When the
reader goes away, that task is cancelled, and with it whatever writes the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final, Protocol

import anyio
from litestar.background_tasks import BackgroundTask
from litestar.openapi.datastructures import ResponseSpec
from litestar.response import Stream
from pydantic import BaseModel

from api.errors import spoken
from api.questions import Ticket
from askbook.models import Answer, Released

_HEARTBEAT: Final = b": still here\n\n"
_log = logging.getLogger("askbook.api")


class Wording(Protocol):
    """How one document words its events; each method returns JSON."""

    def piece(self, text: str) -> str:
        """A part of the answer."""

    def last(self, answer: Answer) -> str:
        """The end of an answer or a refusal."""

    def failed(self, message: str) -> str:
        """The end where something of ours failed."""


def documented(event: type[BaseModel]) -> ResponseSpec:
    """The OpenAPI of a stream of such events."""
    return ResponseSpec(
        event,
        description="Server-sent events: each `data:` line is one of these.",
        media_type="text/event-stream",
        generate_examples=False,
    )


def respond(
    events: AsyncGenerator[Released | Answer, None],
    wording: Wording,
    ticket: Ticket,
    heartbeat_s: float,
) -> Stream:
    """The response that sends these events."""
    running = _Running(_worded(events, wording), heartbeat_s)
    return Stream(
        running.lines(),
        media_type="text/event-stream",
        headers={
            **ticket.headers,
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",  # nginx would collect events otherwise
        },
        cookies=ticket.cookies,
        background=BackgroundTask(running.stop),  # also runs after a reader went away
    )


async def _worded(
    events: AsyncGenerator[Released | Answer, None], wording: Wording
) -> AsyncGenerator[str, None]:
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Released):
                    yield wording.piece(event.text)
                else:
                    if event.refused:
                        yield wording.piece(event.answer)
                    yield wording.last(event)
    except Exception as error:  # noqa: BLE001 - whatever it is, the stream ends with one event
        _log.exception("a stream failed")
        yield wording.failed(spoken(error))


class _Running:
    """An answer being made in a task of its own."""

    def __init__(self, frames: AsyncGenerator[str, None], heartbeat_s: float) -> None:
        self._frames = frames
        self._every = heartbeat_s
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(maxsize=1)
        self._task: asyncio.Task[None] | None = None

    async def lines(self) -> AsyncIterator[bytes]:
        """The bytes of the stream."""
        self._task = asyncio.create_task(self._work())
        while True:
            try:
                frame = await asyncio.wait_for(self._queue.get(), self._every)
            except TimeoutError:
                yield _HEARTBEAT
                continue
            if frame is None:
                return
            yield f"data: {frame}\n\n".encode()

    async def stop(self) -> None:
        """Cancel what still runs, and wait until it has ended."""
        if self._task is None:
            await self._frames.aclose()
            return
        self._task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({self._task})

    async def _work(self) -> None:
        async with aclosing(self._frames):
            async for frame in self._frames:
                await self._queue.put(frame)
        await self._queue.put(None)
