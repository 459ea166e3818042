"""Serve the API with uvicorn: one process, or several on the same port."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import sys
import threading
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any  # uvicorn's options

import psutil
import uvicorn
from litestar import Litestar
from uvicorn.supervisors import Multiprocess

from askbook.settings import Settings, load_settings


def serve(settings: Settings) -> None:
    """Listen until stopped; running answers are finished first.

    Several processes read the settings themselves, from the environment.
    """
    if settings.workers == 1:
        uvicorn.run(make_worker(settings), **options(settings))
        return
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _metrics_folder(settings)
    config = uvicorn.Config(
        "api.server:make_worker", factory=True, workers=settings.workers, **options(settings)
    )
    _Workers(config, [config.bind_socket()]).run()


class _Workers(Multiprocess):
    """uvicorn's worker processes, and the one that starts them and lets go of the port first.

    As long as it held the port, new connections would wait in vain for workers that finish.
    """

    def terminate_all(self) -> None:
        """Stop."""
        for listening in self.sockets:
            listening.close()
        super().terminate_all()


def make_worker(settings: Settings | None = None) -> Litestar:
    """The application of one process."""
    from api.app import create_app
    from api.logs import write_json_lines

    _forget_dead_workers()
    write_json_lines()
    return create_app(settings or load_settings())


def new_loop() -> asyncio.AbstractEventLoop:
    """The event loop of one process.

    uvicorn asks for it before it takes over the signals, so this is where a process learns to
    end by itself: uvicorn raises SIGTERM again when it is done, and a process that dies of it
    runs nothing at its exit and leaves the embedded PostgreSQL behind.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    return asyncio.new_event_loop()


def _follow(parent: int) -> None:
    """Stop when the process that started this one is gone, however it went."""
    wait([parent])
    os.kill(os.getpid(), signal.SIGTERM)


def options(settings: Settings) -> dict[str, Any]:
    """What uvicorn is told."""
    return {
        "host": settings.host,
        "port": settings.port,
        "loop": "api.server:new_loop",
        "log_config": None,
        "access_log": False,  # api.logs writes one line per request
        "server_header": False,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": settings.shutdown_s,
    }


def _metrics_folder(settings: Settings) -> str:
    """Where the processes put their counts for each other; empty at every start."""
    folder = settings.home / f"metrics-{settings.port}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return str(folder.resolve())


def _forget_dead_workers() -> None:
    """Take the running answers of a worker that was killed out of the metrics."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    for gauge in Path(folder).glob("gauge_live*_*.db") if folder else ():
        if not psutil.pid_exists(int(gauge.stem.rpartition("_")[2])):
            gauge.unlink(missing_ok=True)
