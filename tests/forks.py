"""Real processes without the wait for their imports.

Prefect and Great Expectations take five seconds of CPU to import, more than most commands then
need. `imported.py` imports them once and forks for every command. A fork is a process like any
other: it has a pid, files and an end of its own, by `kill -9` too, and what is tested (askbook,
flows, api) it imports itself. Only the standard library is used here: forks start `stand_in`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True)
class Request:
    """What to run: the arguments of `python -m`, the environment and the folder."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str

    def send(self, address: str, files: list[int]) -> socket.socket:
        """Ask for a process with these files as its 0, 1 and 2; it is told of through the socket."""
        body = json.dumps(astuple(self)).encode()
        door = socket.socket(socket.AF_UNIX)
        door.connect(address)
        socket.send_fds(door, [len(body).to_bytes(4)], files)
        door.sendall(body)
        return door

    @classmethod
    def receive(cls, guest: socket.socket) -> tuple[Request, list[int]]:
        size, files, _, _ = socket.recv_fds(guest, 4, 3)
        return cls(*json.loads(_read(guest, int.from_bytes(size)))), files


def _read(guest: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        if not (more := guest.recv(size - len(found))):
            raise EOFError("the process that forks has ended")
        found += more
    return found


def _read_number(guest: socket.socket) -> int:
    return int.from_bytes(_read(guest, 4))


class Fork:
    """One command in a process of its own; the part of `subprocess.Popen` that tests use."""

    def __init__(self, address: str, request: Request, output: IO[bytes] | None = None) -> None:
        self.returncode: int | None = None
        # Not pipes: a full one that nobody reads stops the process.
        self._said = [output or tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115
        with Path(os.devnull).open("rb") as nothing:
            files = [file.fileno() for file in (nothing, *self._said)]
            self._door = request.send(address, files)
        self.pid = _read_number(self._door)

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._door], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._door.settimeout(timeout)
            self.returncode = os.waitstatus_to_exitcode(_read_number(self._door))
            self._door.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All that it said, once it has ended."""
        self.wait(timeout)
        out, err = (os.pread(file.fileno(), 10_000_000, 0).decode() for file in self._said)
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start_forking(folder: Path, environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], str]:
    """Start the process that forks and do not wait for it; returns its address.

    It ends with this process: its standard input closes.
    """
    address, python, tests = folder / "door", folder / "python", Path(__file__).parent
    python.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(tests)!r})\n"
        f"from forks import stand_in\nstand_in({str(address)!r})\n"
    )
    python.chmod(0o755)
    with (folder / "forks.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, tests / "imported.py", address, python],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=tests.parent,
            env=environment,
        )
    return process, str(address)


def stand_in(address: str) -> None:
    """Be the Python that a fork starts: `python -m …`, with the same files and the same end."""
    request = Request(sys.argv[2:], dict(os.environ), str(Path.cwd()))
    with request.send(address, [0, 1, 2]) as door:
        _pid = _read_number(door)
        code = os.waitstatus_to_exitcode(_read_number(door))
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)
