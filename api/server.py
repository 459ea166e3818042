"""Serve the API with uvicorn: one process, or several on the same port."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from typing import Any  # uvicorn's options

from litestar import Litestar

from askbook.settings import Settings, load_settings


def serve(settings: Settings) -> None:
    """Listen until stopped; running answers are finished first.

    Several processes read the settings themselves, from the environment.
    """
    import uvicorn

    # uvicorn raises the signal again when it is done; without this the process would end at once
    # and leave the embedded PostgreSQL behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if settings.workers == 1:
        uvicorn.run(make_worker(settings), **_options(settings))
        return
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _metrics_folder(settings)
    uvicorn.run(
        "api.server:make_worker", factory=True, workers=settings.workers, **_options(settings)
    )


def make_worker(settings: Settings | None = None) -> Litestar:
    """The application of one process."""
    from api.app import create_app
    from api.logs import write_json_lines

    write_json_lines()
    return create_app(settings or load_settings())


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
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
