"""Whoever can bring an index up to date with a folder, as a command to be timed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Contender:
    """One indexer: its command is run again after every change of the folder."""

    name: str
    command: Callable[[Path, Path], list[str]]  # of the book's folder and a folder to keep state in
    settings: Mapping[str, str]  # environment, besides what the benchmark sets


def _askbook(book: Path, _home: Path) -> list[str]:
    return [sys.executable, "-m", "askbook.cli", "ingest", str(book), "--json"]


ASKBOOK = Contender("askbook", _askbook, {"ASKBOOK_EMBEDDER": "hashing"})
ASKBOOK_MINILM = Contender("askbook, MiniLM", _askbook, {"ASKBOOK_EMBEDDER": "minilm"})
