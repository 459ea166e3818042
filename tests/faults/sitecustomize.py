"""Put on PYTHONPATH by tests: kills the process at a named place, as `kill -9` would.

KILL_AT=flows.embed:embed:after     when that function has returned for the first time
KILL_AT=flows.record:record:before  when it is about to be called
"""

import functools
import importlib.abc
import importlib.util
import os
import signal
import sys


def _deadly(function, when):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapper


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, module, name, when):
        self.module, self.name, self.when = module, name, when

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
            setattr(holder, attribute, _deadly(getattr(holder, attribute), self.when))

        spec.loader.exec_module = exec_and_patch
        return spec


if "KILL_AT" in os.environ:
    sys.meta_path.insert(0, _Finder(*os.environ["KILL_AT"].split(":")))
