"""Libraries that another library imports for things not used here, loaded when they are."""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Lazily(MetaPathFinder):
    """Finds the named modules as others would, but runs them at their first use."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = set(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target  # importlib's signature
        if fullname not in self._names:
            return None
        self._names.remove(fullname)  # the search below asks every finder again
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


class _Nowhere(MetaPathFinder):
    """Says that a library is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        del path, target  # importlib's signature
        if fullname == self._name:
            raise ModuleNotFoundError(fullname)


def load_lazily(*names: str) -> None:
    """Make these modules cost nothing to import until something of them is used."""
    sys.meta_path.insert(0, _Lazily(names))


def do_without(name: str) -> None:
    """Make a library that others can do without look as if it were not installed."""
    sys.meta_path.insert(0, _Nowhere(name))


def convert_without_pandas() -> None:
    """Keep pyarrow from importing pandas (0.4 s) to make columns of lists; `to_pandas` still does.

    At its first conversion pyarrow looks for pandas, to know a Series when it sees one. Here it
    does so while there is none.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    nowhere = _Nowhere("pandas")
    sys.meta_path.insert(0, nowhere)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(nowhere)


def collect_rarely() -> None:
    """Let many more objects come to life before the garbage collector looks for dead ones.

    What an import makes stays alive. By default the collector runs hundreds of times meanwhile,
    which takes a fifth of the import of Great Expectations.
    """
    gc.set_threshold(100_000, *gc.get_threshold()[1:])
