"""Real parts for every test; every test has an ASKBOOK_HOME of its own."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

sys.path[:0] = [
    str(Path(__file__).parent),
    str(Path(__file__).parent / "integration"),
    str(Path(__file__).parent / "unit" / "flows"),
]

from forks import start_forking
from library import Library
from postgres import Databases, databases_in
from running import ROOT, Installation, answers, environment, start_prefect_server, wait_for

from askbook.settings import load_settings
from flows.environment import prepare_prefect

# Machines are shared and slow at times: how long an example takes says nothing.
settings.register_profile("askbook", deadline=None)
settings.load_profile("askbook")

_PREFECT = "TEST_PREFECT_API_URL"
_FORKS = "TEST_FORKS"
SAMPLE_BOOK = ROOT / "data" / "books" / "physical-ai-robotics"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's own environment and `.env` must not change what tests see."""
    for name in list(os.environ):
        if name.startswith(("ASKBOOK_", "OPENAI_", "COHERE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASKBOOK_HOME", str(tmp_path / "home"))


def pytest_configure(config: pytest.Config) -> None:
    """One Prefect server and one process to fork from for all worker processes.

    Both start up while the first tests run.
    """
    if not hasattr(config, "workerinput"):
        home = Path(tempfile.mkdtemp(prefix="askbook-tests-"))
        prefect, os.environ[_PREFECT] = start_prefect_server(home)
        settings = environment(home, ASKBOOK_PREFECT_API_URL=os.environ[_PREFECT])
        forks, os.environ[_FORKS] = start_forking(home, settings)
        # Registered before Prefect's own: it sends its last logs when this process ends.
        atexit.register(_end, forks, prefect)


def _end(*servers: subprocess.Popen[bytes]) -> None:
    for server in servers:
        server.terminate()
        server.wait()


@pytest.fixture(scope="session")
def prefect_api() -> str:
    """The running Prefect server's address."""
    address = os.environ[_PREFECT]
    wait_for(lambda: answers(f"{address}/health"), "the Prefect server")
    return address


@pytest.fixture(scope="session")
def installed(prefect_api: str) -> Callable[[Path], Installation]:
    """Commands for a home, with the free embedder and the running Prefect server."""
    forks = os.environ[_FORKS]
    wait_for(Path(forks).exists, "the process to fork from")

    def at(home: Path) -> Installation:
        settings = {"ASKBOOK_EMBEDDER": "hashing", "ASKBOOK_PREFECT_API_URL": prefect_api}
        return Installation(environment(home, **settings), forks)

    return at


@pytest.fixture
def installation(tmp_path: Path, installed: Callable[[Path], Installation]) -> Installation:
    """A fresh home with a PostgreSQL of its own, as an operator has it."""
    return installed(tmp_path / "home")


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """The PostgreSQL of this process's libraries."""
    with databases_in(tmp_path_factory.mktemp("databases")) as made:
        yield made


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A copy of one module of the sample book, to edit."""
    target = tmp_path / "book"
    shutil.copytree(SAMPLE_BOOK / "module-1-ros2", target / "module-1-ros2")
    return target


@pytest.fixture(scope="session")
def indexed_home(
    tmp_path_factory: pytest.TempPathFactory, installed: Callable[[Path], Installation]
) -> Installation:
    """A home with module 1 of the sample book indexed; for tests that only read."""
    folder = tmp_path_factory.mktemp("indexed")
    shutil.copytree(SAMPLE_BOOK / "module-1-ros2", folder / "book" / "module-1-ros2")
    installation = installed(folder / "home")
    installation.json("ingest", folder / "book")
    return installation


@pytest.fixture
def library(
    book: Path, monkeypatch: pytest.MonkeyPatch, prefect_api: str, databases: Databases
) -> Iterator[Library]:
    """A fresh home and an editable book, with the free embedder, in this process."""
    os.environ["PREFECT_API_URL"] = prefect_api  # Prefect reads it once, at its import
    monkeypatch.setenv("ASKBOOK_EMBEDDER", "hashing")
    prepare_prefect(load_settings())
    made = Library(book, monkeypatch, databases)
    yield made
    made.parts.close()


@pytest.fixture
def processes(library: Library, installed: Callable[[Path], Installation]) -> Installation:
    """Other processes of the same home as `library`."""
    settings = load_settings()
    home = installed(settings.home)
    address = {"ASKBOOK_DATABASE_URL": settings.database_url.get_secret_value()}
    return replace(home, environment=home.environment | address)
