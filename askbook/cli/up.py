"""`askbook up`: Prefect server, a worker with the deployments, and the API, together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import click
import psutil

from askbook.cli.options import settings_with
from askbook.cli.serving import check_port
from askbook.errors import TerminalError
from askbook.settings import Settings

_STARTUP_SECONDS = 120
_STOP_SECONDS = 10
_QUERY_SECONDS = "2"  # between two looks of the worker for new runs; Prefect's own is 10
_POOL = "askbook"
_WORKER = "worker"


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the API [default: 8000].")
@click.option("--prefect-port", type=click.IntRange(1, 65535), default=4200, show_default=True)
def up(port: int | None, prefect_port: int) -> None:
    """Start Prefect (server and worker) and the API; Ctrl-C stops them all."""
    settings = settings_with(port=port)
    check_port(settings.host, settings.port)
    check_port("127.0.0.1", prefect_port)
    signal.signal(signal.SIGTERM, _interrupt)
    with _children(settings) as children, _announced(settings, prefect_port) as environment:
        _start_prefect(children, environment, prefect_port)
        _deploy(environment)
        children.start("api", [sys.executable, "-m", "askbook.cli", "serve"], environment)
        children.start(_WORKER, _prefect("worker", "start", "--pool", _POOL), environment)
        click.echo(f"Prefect UI  http://127.0.0.1:{prefect_port}")
        click.echo(f"API         http://{settings.host}:{settings.port}")
        click.echo("Ctrl-C stops everything.")
        children.wait()


class _Children:
    """The processes that live and end together; their words go to files under HOME."""

    def __init__(self, settings: Settings) -> None:
        self._logs = settings.home / "logs"
        self._logs.mkdir(parents=True, exist_ok=True)
        self._patience = settings.shutdown_s + _STOP_SECONDS  # the API may finish its answers
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        with self.log(name).open("wb") as output:
            self._running[name] = subprocess.Popen(  # noqa: S603 - our own commands
                command, env=environment, stdout=output, stderr=subprocess.STDOUT
            )

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def ended(self) -> str | None:
        """Name of a process that is not running any more."""
        return next((n for n, child in self._running.items() if child.poll() is not None), None)

    def wait(self) -> None:
        """Until one ends by itself, which is an error, or the user stops us."""
        while (name := self.ended()) is None:
            time.sleep(0.5)
        raise TerminalError(f"The {name} process ended. Its last words are in {self.log(name)}")

    def stop(self) -> None:
        """The last one first: runs can still tell Prefect how they ended, the API outlives them."""
        for name, child in reversed(self._running.items()):
            if child.poll() is None:
                process = psutil.Process(child.pid)
                family = process.children(recursive=True)
                if name == _WORKER:  # alone, it takes half a minute to end, with nothing to do
                    _end(family, _STOP_SECONDS)
                    process.kill()
                else:
                    _end([process], self._patience)
                    _end(family, _STOP_SECONDS)
            child.wait()


def _end(processes: Sequence[psutil.Process], seconds: float) -> None:
    """Ask them to end, and end those that do not."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    for process in psutil.wait_procs(processes, seconds)[1]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@contextmanager
def _children(settings: Settings) -> Iterator[_Children]:
    children = _Children(settings)
    try:
        yield children
    except KeyboardInterrupt:
        click.echo("\nStopping.")
    finally:
        children.stop()


@contextmanager
def _announced(settings: Settings, prefect_port: int) -> Iterator[dict[str, str]]:
    """Tell other commands of this home where Prefect listens, while it does."""
    from flows.environment import UP_FILE, prepare_prefect

    address = f"http://127.0.0.1:{prefect_port}/api"
    os.environ["PREFECT_API_URL"] = address
    os.environ.setdefault("PREFECT_WORKER_QUERY_SECONDS", _QUERY_SECONDS)
    prepare_prefect(settings)
    note = settings.home / UP_FILE
    note.write_text(json.dumps({"prefect_api_url": address}), encoding="utf-8")
    try:
        yield dict(os.environ)
    finally:
        note.unlink(missing_ok=True)


def _start_prefect(children: _Children, environment: dict[str, str], port: int) -> None:
    command = _prefect("server", "start", "--host", "127.0.0.1", "--port", str(port))
    children.start("prefect-server", command, environment)
    import httpx

    deadline = time.monotonic() + _STARTUP_SECONDS
    while time.monotonic() < deadline and children.ended() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/api/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    log = children.log("prefect-server")
    raise TerminalError(f"The Prefect server does not start. Its last words are in {log}")


def _deploy(environment: dict[str, str]) -> None:
    """Create the work pool and the deployments of prefect.yaml."""
    for command in (
        _prefect("work-pool", "create", _POOL, "--type", "process", "--overwrite"),
        _prefect("--no-prompt", "deploy", "--all"),
    ):
        done = subprocess.run(  # noqa: S603 - our own commands
            command, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise TerminalError(f"{' '.join(command[2:])} failed:\n{done.stdout}{done.stderr}")


def _prefect(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
