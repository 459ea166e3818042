"""Real processes, timed from outside: wall time, CPU time, and memory at its peak."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_LOOK_SECONDS = 0.25  # between two looks at a running process: each costs milliseconds
_PATIENCE_SECONDS = 120
_STOP_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Ran:
    """One process with its children, from its start to its end.

    Memory is what they hold themselves; pages of mapped files, which the kernel may drop at any
    time, are not counted.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float
    output: str


def run(command: Sequence[str], environment: Mapping[str, str]) -> Ran:
    """Run to the end; a process that fails ends the measurement with its own words."""
    started, cpu_started = time.perf_counter(), _cpu_of_ended_children()
    with subprocess.Popen(  # noqa: S603 - commands of this package
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        watched = _Watched(process.pid)
        while True:
            try:
                output, errors = process.communicate(timeout=_LOOK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                watched.look()
        seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors}")
    cpu_seconds = _cpu_of_ended_children() - cpu_started + watched.cpu_of_children
    return Ran(seconds, cpu_seconds, watched.peak / 1e6, output)


def _cpu_of_ended_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Watched:
    """Adds up what a process and its children use. What happens between two looks is not seen."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._cpu: dict[int, float] = {}
        self.peak = 0

    def look(self) -> None:
        now = 0
        with suppress(psutil.NoSuchProcess):
            now = _own_memory(self._process)
            for child in self._process.children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    used = child.cpu_times()
                    self._cpu[child.pid] = used.user + used.system
                    now += _own_memory(child)
        self.peak = max(self.peak, now)

    @property
    def cpu_of_children(self) -> float:
        return sum(self._cpu.values())


def _own_memory(process: psutil.Process) -> int:
    used = process.memory_info()
    return int(used.rss - used.shared)


@contextmanager
def background(
    command: Sequence[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs while the block does, its words in a file."""
    with log.open("wb") as words:
        process = subprocess.Popen(  # noqa: S603 - commands of this package
            command, env=environment, stdout=words, stderr=words
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def prefect_server(home: Path) -> Iterator[str]:
    """A Prefect server of its own; yields its API's address once it answers."""
    home.mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    environment = {
        **clean_environment(),
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    address = f"http://127.0.0.1:{port}/api"
    with background([sys.executable, "-m", *command], environment, home / "server.log"):
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _answers(f"{address}/health"):
            if time.monotonic() > deadline:
                raise SystemExit(f"Prefect does not start; see {home / 'server.log'}")
            time.sleep(0.2)
        yield address


def clean_environment() -> dict[str, str]:
    """The environment without anybody's settings."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("ASKBOOK_", "PREFECT_"))}


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - our own address
            return True
    except (urllib.error.URLError, OSError):
        return False
