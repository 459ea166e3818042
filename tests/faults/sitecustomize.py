"""Put on PYTHONPATH by tests: a disaster at a named place of the process that reads it.

KILL_AT=flows.embed:embed:after               end this process, as `kill -9` would
STOP_POSTGRES_AT=flows.record:record:before   stop the embedded PostgreSQL, as a crash would
NO_MEMORY_AT=flows.upsert:upsert:before       from here on the kernel gives this process no more

The place is module:function:before or :after; a number behind it waits for that call.
"""

import functools
import importlib.abc
import importlib.util
import itertools
import os
import resource
import signal
import sys
import time
from pathlib import Path


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


def _stop_postgres():
    note = Path(os.environ["ASKBOOK_HOME"]) / "postgres" / "postmaster.pid"
    postmaster = int(note.read_text().split()[0])
    os.kill(postmaster, signal.SIGQUIT)  # what `pg_ctl stop -m immediate` sends
    while _is_alive(postmaster):
        time.sleep(0.01)


def _no_more_memory():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 4_000_000, resource.RLIM_INFINITY))


def _is_alive(pid):
    """And not only waiting to be reaped by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _disturbed(function, disaster, when, call):
    calls = itertools.count(1)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        now = next(calls) == call
        if now and when == "before":
            disaster()
        result = function(*args, **kwargs)
        if now and when == "after":
            disaster()
        return result

    return wrapper


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, disaster, module, name, when, call="1"):
        if module in sys.modules:
            raise ImportError(f"{module} is imported already: nothing would happen")
        self.module, self.name = module, name
        self.disturb = functools.partial(_disturbed, disaster=disaster, when=when, call=int(call))

    def find_spec(self, fullname, path, target=None):
        if fullname != self.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        execute = spec.loader.exec_module

        def exec_and_patch(module):
            execute(module)
            owner, _, attribute = self.name.rpartition(".")
            holder = getattr(module, owner) if owner else module
            setattr(holder, attribute, self.disturb(getattr(holder, attribute)))

        spec.loader.exec_module = exec_and_patch
        return spec


DISASTERS = {
    "KILL_AT": _die,
    "STOP_POSTGRES_AT": _stop_postgres,
    "NO_MEMORY_AT": _no_more_memory,
}
for variable, disaster in DISASTERS.items():
    if variable in os.environ:
        sys.meta_path.insert(0, _Finder(disaster, *os.environ[variable].split(":")))
