"""Real parts for every test; every test has an ASKBOOK_HOME of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path[:0] = [
    str(Path(__file__).parent),
    str(Path(__file__).parent / "integration"),
    str(Path(__file__).parent / "unit" / "flows"),
]

from library import Library
from running import ROOT, Installation, answers, environment, start_prefect_server, wait_for

from askbook.settings import load_settings
from flows.environment import prepare_prefect

# Machines are shared and slow at times: how long an example takes says nothing.
settings.register_profile("askbook", deadline=None)
settings.load_profile("askbook")

_SERVER = pytest.StashKey[subprocess.Popen[bytes]]()
_ADDRESS = "TEST_PREFECT_API_URL"
SAMPLE_BOOK = ROOT / "data" / "books" / "physical-ai-robotics"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's own environment and `.env` must not change what tests see."""
    for name in list(os.environ):
        if name.startswith(("ASKBOOK_", "OPENAI_", "COHERE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASKBOOK_HOME", str(tmp_path / "home"))


def pytest_configure(config: pytest.Config) -> None:
    """One Prefect server for all worker processes, starting up while the first tests run."""
    if not hasattr(config, "workerinput"):
        home = Path(tempfile.mkdtemp(prefix="askbook-prefect-"))
        config.stash[_SERVER], os.environ[_ADDRESS] = start_prefect_server(home)


def pytest_unconfigure(config: pytest.Config) -> None:
    if (server := config.stash.get(_SERVER, None)) is not None:
        server.terminate()
        server.wait()


@pytest.fixture(scope="session")
def prefect_api() -> str:
    """The running Prefect server's address."""
    address = os.environ[_ADDRESS]
    wait_for(lambda: answers(f"{address}/health"), "the Prefect server")
    return address


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


@pytest.fixture
def library(book: Path, monkeypatch: pytest.MonkeyPatch, prefect_api: str) -> Iterator[Library]:
    """A fresh home and an editable book, with the free embedder, in this process."""
    os.environ["PREFECT_API_URL"] = prefect_api  # Prefect reads it once, at its import
    monkeypatch.setenv("ASKBOOK_EMBEDDER", "hashing")
    prepare_prefect(load_settings())
    made = Library(book, monkeypatch)
    yield made
    made.parts.close()
