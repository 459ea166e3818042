"""PostgreSQL's tables as CSV, written and read by its own COPY: every type comes back exactly."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, cast

import psycopg
import pyarrow as pa
from psycopg import sql
from sqlalchemy import Connection, inspect, text

_PIECE = 1 << 16
_OPTIONS = sql.SQL("(FORMAT csv, HEADER match)")


def tables(connection: Connection) -> list[str]:
    """All tables but Alembic's own, referenced ones before those that refer to them."""
    ordered = inspect(connection).get_sorted_table_and_fkc_names()
    return [name for name, _ in ordered if name not in {None, "alembic_version"}]


def is_empty(connection: Connection) -> bool:
    """Whether no table holds a row."""
    return not any(
        connection.scalar(text(f'SELECT EXISTS (SELECT 1 FROM "{name}")'))  # noqa: S608 - ours
        for name in tables(connection)
    )


def save(connection: Connection, folder: Path) -> dict[str, int]:
    """Write every table as it is in this transaction; returns the number of rows of each."""
    folder.mkdir()
    connection.execute(text("SET LOCAL timezone TO 'UTC'"))
    connection.execute(text("SET LOCAL datestyle TO 'ISO, YMD'"))
    names = tables(connection)
    return {name: _save(connection, name, folder / f"{name}.csv.zst") for name in names}


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    """The driver's own connection, in the same transaction: SQLAlchemy knows no COPY."""
    return cast("psycopg.Connection[Any]", connection.connection.driver_connection)


def _save(connection: Connection, table: str, path: Path) -> int:
    statement = sql.SQL("COPY {} TO STDOUT (FORMAT csv, HEADER true)").format(sql.Identifier(table))
    with _driver(connection).cursor() as cursor:
        with pa.CompressedOutputStream(str(path), "zstd") as target, cursor.copy(statement) as copy:
            for piece in copy:
                target.write(piece)
        return int(cursor.rowcount)


def clear(connection: Connection) -> None:
    """Remove every row of every table."""
    names = ", ".join(f'"{name}"' for name in tables(connection))
    connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))


def load(connection: Connection, table: str, member: IO[bytes]) -> int:
    """Add the rows of one table; returns how many, and leaves its counter behind the last."""
    statement = sql.SQL("COPY {} FROM STDIN {}").format(sql.Identifier(table), _OPTIONS)
    connection.execute(text("SET LOCAL datestyle TO 'ISO, YMD'"))
    with _driver(connection).cursor() as cursor:
        with pa.CompressedInputStream(member, "zstd") as source, cursor.copy(statement) as copy:
            while piece := source.read(_PIECE):
                copy.write(piece)
        loaded = int(cursor.rowcount)
    for column in inspect(connection).get_columns(table):
        if column.get("identity"):
            _advance(connection, table, column["name"])
    return loaded


def _advance(connection: Connection, table: str, column: str) -> None:
    highest = f'(SELECT max("{column}") FROM "{table}")'  # noqa: S608 - names from the catalogue
    connection.execute(
        text(f"SELECT setval(pg_get_serial_sequence(:t, :c), {highest}) WHERE {highest} > 0"),
        {"t": table, "c": column},
    )
