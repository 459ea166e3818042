"""A bar on a terminal while something takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

Item = TypeVar("Item")


def watched(items: Sequence[Item], what: str) -> Iterable[Item]:
    """The items; on a terminal, a bar on standard error counts them."""
    return track(
        items,
        description=what,
        console=Console(stderr=True),
        transient=True,
        disable=not items or not sys.stderr.isatty(),
    )
