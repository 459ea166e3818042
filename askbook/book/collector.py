"""Python's cycle collector, paused while a very long page is cut."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_LONG: Final = 1_000_000  # characters; shorter pages are done before a full collection is due

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def paused_for(characters: int) -> Iterator[None]:
    """Pause for a page of more than a million characters, in any number of threads at once.

    The parts of a page form no cycles, so there is nothing to find; but full collections over
    hundreds of thousands of them took a sixth of the time, and made time grow faster than size.
    """
    global _pauses, _was_enabled  # noqa: PLW0603 - the collector is one for the whole process
    if characters <= _LONG:
        yield
        return
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()
