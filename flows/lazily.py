"""Libraries that another library imports for things not used here, loaded when they are."""

from __future__ import annotations

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


def load_lazily(*names: str) -> None:
    """Make these modules cost nothing to import until something of them is used."""
    sys.meta_path.insert(0, _Lazily(names))
