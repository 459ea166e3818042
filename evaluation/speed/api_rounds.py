"""Bare loops and HTTP clients to measure search with; `evaluation.speed.api` reports."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import psutil

from askbook.golden.questions import load_golden
from askbook.models import ChunkFilter
from askbook.settings import load_settings
from askbook.wiring import Parts
from evaluation.speed.processes import background

_GOLDEN = Path("data/benchmarks/physical-ai-robotics/questions.jsonl")
_LIMIT = 5
_STARTUP_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Round:
    """One measurement: searches and processor time, of the searching processes and the clients."""

    searches: int
    seconds: float
    cpu_seconds: float
    client_cpu_seconds: float = 0.0
    errors: int = 0
    latencies: tuple[float, ...] = ()

    @property
    def rate(self) -> float:
        """Searches a second."""
        return self.searches / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Processor time for one search."""
        return self.cpu_seconds / self.searches * 1000


def questions() -> list[str]:
    """The questions of the sample book's golden set."""
    return [each.question for each in load_golden(_GOLDEN).questions]


def _search_when_told(orders: Connection) -> None:
    """One process: searches for so many seconds, so many at once, as often as it is told to."""

    async def loop() -> None:
        parts = Parts(load_settings())
        where = ChunkFilter(book_id=parts.settings.book_id, max_hardware_tier=1)
        asked = questions()
        done = 0

        async def until(end: float) -> None:
            nonlocal done
            while time.perf_counter() < end:
                await parts.asking.search(asked[done % len(asked)], where, _LIMIT)
                done += 1

        await until(time.perf_counter() + 1)
        orders.send(None)
        while (order := await anyio.to_thread.run_sync(orders.recv)) is not None:
            seconds, at_once = order
            done, started, cpu = 0, time.perf_counter(), time.process_time()
            async with anyio.create_task_group() as group:
                for _ in range(at_once):
                    group.start_soon(until, started + seconds)
            took = time.perf_counter() - started
            orders.send(Round(done, took, time.process_time() - cpu))

    anyio.run(loop)


class BareLoops:
    """Processes that search without a server in front."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._ends: list[Connection] = []
        for _ in range(workers):
            ours, theirs = context.Pipe()
            context.Process(target=_search_when_told, args=(theirs,), daemon=True).start()
            self._ends.append(ours)
        for end in self._ends:
            end.recv()  # warm

    def measure(self, seconds: float, at_once: int) -> Round:
        """All of them, together."""
        for end in self._ends:
            end.send((seconds, at_once))
        told: list[Round] = [end.recv() for end in self._ends]
        return Round(
            sum(each.searches for each in told),
            max(each.seconds for each in told),
            sum(each.cpu_seconds for each in told),
        )

    def close(self) -> None:
        """Let them end."""
        for end in self._ends:
            end.send(None)


@contextmanager
def served(workers: int) -> Iterator[tuple[int, list[psutil.Process]]]:
    """A running `askbook serve`: its port and its processes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "askbook.cli", "serve", "--port", str(port)]
    log = load_settings().home / "bench-api.log"
    with background([*command, "--workers", str(workers)], os.environ, log) as process:
        deadline = time.monotonic() + _STARTUP_SECONDS
        while not _is_ready(port):
            if time.monotonic() > deadline or process.poll() is not None:
                raise SystemExit(f"The API does not start; see {log}")
            time.sleep(0.2)
        server = psutil.Process(process.pid)
        yield port, [server, *server.children(recursive=True)]


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/ready", timeout=5).is_success
    except httpx.TransportError:
        return False


def _requests() -> list[bytes]:
    bodies = [json.dumps({"text": text, "limit": _LIMIT}).encode() for text in questions()]
    head = "POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    return [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]


async def _ask(port: int, requests: Sequence[bytes], end: float, taken: list[float]) -> int:
    """One reader on a plain socket, cheap for the machine; returns how many replies were bad."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    errors = at = 0
    while time.perf_counter() < end:
        started = time.perf_counter()
        writer.write(requests[at % len(requests)])
        reply = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(reply.split(b"content-length:")[1].split(b"\r\n")[0]))
        taken.append(time.perf_counter() - started)
        errors += not reply.startswith(b"http/1.1 200")
        at += 1
    writer.close()
    return errors


def ask_together(
    port: int, processes: Sequence[psutil.Process], clients: int, seconds: float
) -> Round:
    """So many clients at once; each starts at another question."""
    requests = _requests()
    taken: list[float] = []

    async def all_clients() -> int:
        end = time.perf_counter() + seconds
        return sum(
            await asyncio.gather(
                *(
                    _ask(port, requests[n % len(requests) :] + requests, end, taken)
                    for n in range(clients)
                )
            )
        )

    started, own, theirs = time.perf_counter(), time.process_time(), _cpu_of(processes)
    errors = asyncio.run(all_clients())
    return Round(
        len(taken),
        time.perf_counter() - started,
        _cpu_of(processes) - theirs,
        time.process_time() - own,
        errors,
        tuple(taken),
    )


def _cpu_of(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in processes)
