"""Search over HTTP next to the same chain called in a bare loop, in one run.

    python -m evaluation.speed.api [--clients 200] [--workers 2] [--seconds 10]

Needs the sample book in the published index (`askbook ingest`). `askbook serve` runs with so
many worker processes; so many asyncio clients ask one question after the other. The bare loop
runs in as many processes, one question after the other in each, before and after; the mean
counts, so that a busy moment of the machine shows. Both get the same questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

import anyio
import httpx

from askbook.models import ChunkFilter
from askbook.settings import load_settings
from askbook.wiring import Parts

_GOLDEN = Path("data/benchmarks/physical-ai-robotics/questions.jsonl")
_LIMIT = 5
_STARTUP_SECONDS = 120


def _questions() -> list[str]:
    lines = _GOLDEN.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines if line.strip()]


def _bare(seconds: float, ready: multiprocessing.Barrier, out: multiprocessing.Queue[int]) -> None:  # type: ignore[valid-type]
    """One process that searches in a loop; puts how often it did."""

    async def loop() -> int:
        parts = Parts(load_settings())
        where = ChunkFilter(book_id=parts.settings.book_id, max_hardware_tier=1)
        questions = _questions()
        for text in questions:
            await parts.asking.search(text, where, _LIMIT)
        ready.wait()  # type: ignore[attr-defined]
        end = time.perf_counter() + seconds
        done = 0
        while time.perf_counter() < end:
            await parts.asking.search(questions[done % len(questions)], where, _LIMIT)
            done += 1
        return done

    out.put(anyio.run(loop))


def bare_throughput(workers: int, seconds: float) -> float:
    """Searches a second of bare loops in so many processes."""
    context = multiprocessing.get_context("spawn")
    ready, out = context.Barrier(workers), context.Queue()
    processes = [context.Process(target=_bare, args=(seconds, ready, out)) for _ in range(workers)]
    for process in processes:
        process.start()
    total = sum(out.get() for _ in processes)
    for process in processes:
        process.join()
    return float(total) / seconds


@contextmanager
def _served(workers: int) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "askbook.cli", "serve", "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--workers", str(workers)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ},
    )
    base = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + _STARTUP_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if httpx.get(f"{base}/ready", timeout=5).is_success:
                    break
            except httpx.TransportError:
                time.sleep(0.2)
        yield base
    finally:
        process.terminate()
        process.wait()


async def _client(base: str, first: int, end: float, taken: list[float]) -> int:
    """One reader on a plain socket: cheap, so that the clients do not slow the server down."""
    host, port = base.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    questions = _QUESTIONS
    errors = 0
    at = first
    while time.perf_counter() < end:
        body = json.dumps({"text": questions[at % len(questions)], "limit": _LIMIT}).encode()
        head = f"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"  # noqa: E501
        started = time.perf_counter()
        writer.write(head.encode() + body)
        reply = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(reply.split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        taken.append(time.perf_counter() - started)
        errors += not reply.startswith(b"http/1.1 200")
        at += 1
    writer.close()
    return errors


_QUESTIONS: list[str] = []


async def http(base: str, clients: int, seconds: float) -> tuple[list[float], int]:
    """Seconds of every search, and how many failed, by so many clients at once."""
    _QUESTIONS[:] = _questions()
    warm: list[float] = []
    soon = time.perf_counter() + 3
    await asyncio.gather(*(_client(base, 7 * n, soon, warm) for n in range(clients)))
    taken: list[float] = []
    end = time.perf_counter() + seconds
    errors = await asyncio.gather(*(_client(base, 7 * n, end, taken) for n in range(clients)))
    return taken, sum(errors)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--clients", type=int, default=200)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--seconds", type=float, default=10.0)
    given = options.parse_args()
    before = bare_throughput(given.workers, given.seconds)
    with _served(given.workers) as base:
        taken, errors = asyncio.run(http(base, given.clients, given.seconds))
    after = bare_throughput(given.workers, given.seconds)
    bare = (before + after) / 2
    cuts = quantiles(taken, n=100)
    rate = len(taken) / given.seconds
    print("| search | value |\n|---|---|")
    print(f"| bare loop, {given.workers} processes | {before:.0f} and {after:.0f} a second |")
    print(f"| HTTP, {given.workers} workers, {given.clients} clients | {rate:.0f} a second |")
    print(f"| share of the bare loop | {rate / bare:.0%} |")
    print(f"| p50 | {cuts[49] * 1000:.0f} ms |")
    print(f"| p99 | {cuts[98] * 1000:.0f} ms ({cuts[98] / cuts[49]:.1f} × p50) |")
    print(f"| errors | {errors} of {len(taken)} |")


if __name__ == "__main__":
    main()
