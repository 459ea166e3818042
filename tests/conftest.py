"""Real parts for every test; every test has an ASKBOOK_HOME of its own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path[:0] = [
    str(Path(__file__).parent),
    str(Path(__file__).parent / "integration"),
    str(Path(__file__).parent / "unit" / "flows"),
]

from running import ROOT, Installation, environment, prefect_server

# Machines are shared and slow at times: how long an example takes says nothing.
settings.register_profile("askbook", deadline=None)
settings.load_profile("askbook")

SAMPLE_BOOK = ROOT / "data" / "books" / "physical-ai-robotics"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's own environment and `.env` must not change what tests see."""
    for name in list(os.environ):
        if name.startswith(("ASKBOOK_", "OPENAI_", "COHERE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASKBOOK_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="session")
def prefect_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Prefect server for all tests of this process: its start costs seconds."""
    with prefect_server(tmp_path_factory.mktemp("prefect")) as address:
        yield address


@pytest.fixture
def installation(tmp_path: Path, prefect_api: str) -> Installation:
    """A fresh home with the free embedder and a running Prefect server."""
    return Installation(
        environment(
            tmp_path / "home", ASKBOOK_EMBEDDER="hashing", ASKBOOK_PREFECT_API_URL=prefect_api
        )
    )


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A copy of one module of the sample book, to edit."""
    target = tmp_path / "book"
    shutil.copytree(SAMPLE_BOOK / "module-1-ros2", target / "module-1-ros2")
    return target


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory, prefect_api: str) -> Installation:
    """A home with module 1 of the sample book indexed; for tests that only read."""
    folder = tmp_path_factory.mktemp("indexed")
    shutil.copytree(SAMPLE_BOOK / "module-1-ros2", folder / "book" / "module-1-ros2")
    installation = Installation(
        environment(
            folder / "home", ASKBOOK_EMBEDDER="hashing", ASKBOOK_PREFECT_API_URL=prefect_api
        )
    )
    installation.json("ingest", folder / "book")
    return installation
