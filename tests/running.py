"""Real processes for tests: the command line, a Prefect server, the API."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx
import psutil
from forks import Fork, Request

ROOT = Path(__file__).parents[1]
FAULTS = ROOT / "tests" / "faults"  # a sitecustomize that kills the process at a named place
PATIENCE = 120  # seconds: these machines are shared and slow at times


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition: Callable[[], object], what: str) -> object:
    """Poll until the condition gives something; fail with a sentence when it never does."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE} s for {what}")


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.TransportError:
        return False


def workers_of(process: subprocess.Popen[str] | Fork) -> set[int]:
    """The worker processes of a running `askbook serve --workers N`."""
    children = psutil.Process(process.pid).children()
    return {child.pid for child in children if "spawn_main" in " ".join(child.cmdline())}


def holder_of(port: int, among: set[int]) -> int:
    """Which of these processes holds the other end of a connection from this port."""
    (holder,) = [
        pid
        for pid in among
        for held in psutil.Process(pid).net_connections("tcp")
        if held.raddr and held.raddr.port == port
    ]
    return holder


@dataclass(frozen=True)
class Served:
    """A running `askbook serve` and a client for it."""

    process: subprocess.Popen[str] | Fork
    client: httpx.Client


@dataclass(frozen=True)
class Installation:
    """One ASKBOOK_HOME and the environment its commands run in, each in a process of its own."""

    environment: dict[str, str]
    forks: str | None = None  # where to ask for a fork; without it Python starts anew

    @property
    def home(self) -> Path:
        return Path(self.environment["ASKBOOK_HOME"])

    def run(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """`askbook …`, to its end."""
        with self.start(*arguments, **environment) as process:
            said = process.communicate(timeout=PATIENCE * 2)
        return subprocess.CompletedProcess(arguments, process.returncode, *said)

    def json(self, *arguments: object, **environment: str):
        """What `askbook … --json` prints; fails with its error text when it fails."""
        done = self.run(*arguments, "--json", **environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def start(
        self, *arguments: object, output: IO[bytes] | None = None, **environment: str
    ) -> Iterator[subprocess.Popen[str] | Fork]:
        """`askbook …` in the background, ended with the block."""
        command = ["askbook.cli", *map(str, arguments)]
        settings = {**self.environment, **environment}
        process: subprocess.Popen[str] | Fork
        if self.forks:
            process = Fork(self.forks, Request(command, settings, str(ROOT)), output)
        else:
            to = output or subprocess.PIPE
            process = subprocess.Popen(
                [sys.executable, "-m", *command],
                stdout=to,
                stderr=to,
                text=True,
                cwd=ROOT,
                env=settings,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def api(self, *arguments: object, **environment: str) -> Iterator[Served]:
        """`askbook serve`, ended with the block."""
        port = free_port()
        self.home.mkdir(parents=True, exist_ok=True)
        log = self.home / f"api-{port}.log"  # not a pipe: a full one that nobody reads stops it
        with (
            log.open("w+b") as told,
            self.start("serve", "--port", port, *arguments, output=told, **environment) as process,
        ):
            base = f"http://127.0.0.1:{port}"

            def up() -> bool:
                assert process.poll() is None, log.read_text()
                return answers(f"{base}/health")

            wait_for(up, "the API")
            with httpx.Client(base_url=base, timeout=PATIENCE) as client:
                yield Served(process, client)


def environment(home: Path, **more: str) -> dict[str, str]:
    """The outside environment without anybody's settings."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASKBOOK_", "PREFECT_"))}
    many = {"ASKBOOK_ANONYMOUS_PER_HOUR": "1000000"}  # tests ask more than a reader may
    return {**clean, **many, "ASKBOOK_HOME": str(home), **more}


def start_prefect_server(home: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a Prefect server of its own and do not wait for it; returns its API's address."""
    port = free_port()
    settings = {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    }
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            stdout=log,
            stderr=log,
            env={**environment(home), **settings},
        )
    return process, f"http://127.0.0.1:{port}/api"
