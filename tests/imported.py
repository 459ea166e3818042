"""The process that has imported the big libraries and forks: see forks.py."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from forks import Request
from running import answers, wait_for

from askbook.settings import load_settings
from flows.environment import prepare_prefect

BIG = (
    "alembic.command",
    "great_expectations",
    "litestar",
    "prefect",
    "prefect.flow_engine",
    "prefect.task_engine",
    "psycopg",
    "pyarrow.parquet",
    "qdrant_edge",
    "scipy.stats",
    "sqlalchemy.dialects.postgresql",
    "uvicorn",
)
FAULTS = Path(__file__).parent / "faults" / "sitecustomize.py"


def serve(address: str) -> tuple[Request, list[int]] | None:
    """Fork for every request until standard input closes; returns in each fork what to run."""
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    running: dict[int, socket.socket] = {}
    door = socket.socket(socket.AF_UNIX)
    door.bind(f"{address}.new")
    door.listen(100)
    Path(f"{address}.new").rename(address)  # once it is there, it answers
    while sys.stdin not in (ready := select.select([door, ended, sys.stdin], [], [])[0]):
        if ended in ready:
            os.read(ended, 1000)
            tell_of_ends(running)
        if door in ready:
            guest, _ = door.accept()
            request, files = Request.receive(guest)
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (door, guest, *running.values()):
                    each.close()
                return request, files
            running[pid] = guest
            with suppress(BrokenPipeError):  # it may have gone
                guest.sendall(pid.to_bytes(4))
            for file in files:
                os.close(file)
    return None


def tell_of_ends(running: dict[int, socket.socket]) -> None:
    """Give everybody who waits for a fork that has ended its status."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            pid, status = ended
            with running.pop(pid) as guest, suppress(BrokenPipeError):  # it may have gone
                guest.sendall(status.to_bytes(4))


def become(request: Request, files: list[int], python: str) -> None:
    """Be the process that was asked for, to its end."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    sys.executable, sys.path[0], sys.argv = python, request.folder, request.arguments
    code: object = 1
    try:
        if str(FAULTS.parent) in os.environ.get("PYTHONPATH", ""):
            runpy.run_path(str(FAULTS))
        runpy.run_module(request.arguments[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - Python shows all others at the end
        traceback.print_exc()
    # What Python does at its end, but for taking all those libraries apart.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def main(address: str, python: str) -> None:
    settings = load_settings()
    wait_for(lambda: answers(f"{settings.prefect_api_url}/health"), "the Prefect server")
    prepare_prefect(settings)
    for name in BIG:
        importlib.import_module(name)
    gc.freeze()  # forks need not look through all this for garbage
    if (asked := serve(address)) is not None:
        become(*asked, python)


if __name__ == "__main__":
    main(*sys.argv[1:])
