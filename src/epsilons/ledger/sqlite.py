"""A ledger in one file, by the database that comes with Python."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from epsilons.errors import LedgerError
from epsilons.ledger.schema import TABLES
from epsilons.ledger.store import PATIENCE, Row, Store

__all__ = ["SQLite"]

CACHE: Final = 200_000
"""Kibibytes of the file that are held in memory."""


class SQLite(Store):
    """One file. A commit is on the disk before it is one: synchronous=FULL.

    Args:
        path: of the file.
        fresh: whether it is to be made.

    Raises:
        LedgerError: the file is not there, or is there already.
        StorageError: it cannot be opened.
    """

    def __init__(self, path: Path, *, fresh: bool) -> None:
        if fresh:
            _make(path)
        elif not path.is_file():
            raise LedgerError(
                f"where={str(path)!r} does not exist. ep.Ledger.create({str(path)!r}) makes a "
                "ledger."
            )
        self._path = path
        self._closed = False
        self._connection = self._told(self._connected)

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = -{CACHE}")
        return connection

    def make(self) -> None:
        """Make the tables."""
        words = {"integer": "INTEGER", "bytes": "BLOB", "strict": "STRICT"}
        words["clustered"] = "WITHOUT ROWID, STRICT"
        for table in TABLES:
            self.run(table.format(**words))

    def has_tables(self) -> bool:
        """Whether this is the file of a ledger."""
        sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'ledger'"
        return bool(self.rows(sql)[0][0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self._closed = True

    def _begin(self, *, write: bool) -> None:
        if self._closed:
            self._connection = self._connected()
            self._closed = False
        self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def _end(self, word: str) -> None:
        if self._connection.in_transaction:
            self._connection.execute(word)

    def _execute(self, sql: str, values: Row) -> Any:
        return self._connection.execute(sql, values)

    def _many(self, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
        self._connection.executemany(sql, rows)

    def _wanted(self) -> None:
        self._connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS wanted (place INTEGER PRIMARY KEY, person BLOB)"
        )
        self._connection.execute("DELETE FROM wanted")

    def _says(self) -> tuple[type[Exception], type[Exception]]:
        return sqlite3.IntegrityError, sqlite3.Error


def _make(path: Path) -> None:
    """Make a new file that its owner alone may read: a ledger is as secret as the data.

    Raises:
        LedgerError: there is one already, or it cannot be made.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        problem = "already exists: open it with ep.Ledger(where), or begin in a new file."
    except OSError:
        problem = "cannot be created: does its folder exist, and is it writable?"
    else:
        return
    raise LedgerError(f"where={str(path)!r} {problem}")
