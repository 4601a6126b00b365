"""A ledger in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

from epsilons.errors import EpsilonsError, LedgerError
from epsilons.ledger.store import PATIENCE, TABLES, Row, Store
from epsilons.types import Integers

__all__ = ["SQLite"]

CACHE: Final = 200_000
"""Size of the page cache in KiB."""


THERE: Final = "already exists: open it with ep.Ledger(where), or begin in a new file."

CLEAN: Final = 1
"""The user_version of files in which erased data are overwritten; older files have 0."""


class SQLite(Store):
    """A database in one file. A commit returns when it is on disk; deleted data are overwritten.

    `synchronous=EXTRA` also syncs the folder after the journal is removed, because that removal is
    the commit. There is no write-ahead log: its files would keep erased data.

    Args:
        path: the path of the file.
        fresh: whether to create it.

    Raises:
        LedgerError: the file does not exist or, if `fresh`, the path is already in use.
        StorageError: it cannot be opened.
    """

    words: ClassVar[dict[str, str]] = {
        "integer": "INTEGER",
        "bytes": "BLOB",
        "strict": "STRICT",
        "accounts": "STRICT",
        "clustered": "WITHOUT ROWID, STRICT",
    }
    joined: ClassVar[str] = "group_concat({}, ' ')"
    hexed: ClassVar[str] = "hex({})"

    def __init__(self, path: Path, *, fresh: bool) -> None:
        super().__init__()
        if fresh:
            _make(path)
        elif not path.is_file():
            raise LedgerError(
                f"where={str(path)!r} does not exist. ep.Ledger.create({str(path)!r}) makes a "
                "ledger."
            )
        self._path = path
        self._clean = False
        with self.read():
            pass

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,  # `Store` gives a connection to one thread at a time
        )
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA cache_size = -{CACHE}")
        return connection

    def make(self) -> None:
        """Create the tables.

        Raises:
            LedgerError: the file is not empty.
        """
        if self.rows("SELECT count(*) FROM sqlite_master")[0][0]:
            raise LedgerError(f"where={str(self._path)!r} {THERE}")
        super().make()
        self.run(f"PRAGMA user_version = {CLEAN}")

    def has_tables(self) -> bool:
        """Whether this is the file of a ledger."""
        sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'ledger'"
        return bool(self.rows(sql)[0][0])

    def _begin(self, *, write: bool) -> None:
        connection = self._connection
        if write and not self._clean:
            self._wipe(connection)
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def _wipe(self, connection: sqlite3.Connection) -> None:
        """Overwrite erased data that earlier versions could leave readable in the file."""
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        ((tables,),) = connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' "
            "AND name IN ('ledger', 'accounts', 'releases', 'charges', 'changes', 'events')"
        ).fetchall()
        if version < CLEAN and tables == len(TABLES) - 1:
            if connection.execute("SELECT 1 FROM events WHERE kind = 'erased' LIMIT 1").fetchone():
                connection.execute("VACUUM")
            connection.execute(f"PRAGMA user_version = {CLEAN}")
        self._clean = True

    def _end(self, word: str) -> None:
        if self._connection.in_transaction:
            self._connection.execute(word)

    def _execute(self, sql: str, values: Row) -> Any:
        return self._connection.execute(sql, values)

    def _many(self, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
        self._connection.executemany(sql, rows)

    def _charges(self, release: int, pairs: Integers) -> None:
        # One statement that reads JSON takes half the time of a statement for each row.
        columns = pairs.T.tolist()
        rows = ",".join([f'"{account}":{amount}' for account, amount in zip(*columns, strict=True)])
        self._connection.execute(
            "INSERT INTO charges (release, account, amount) "
            "SELECT ?, CAST(key AS INTEGER), value FROM json_each(?)",
            (release, f"{{{rows}}}"),
        )

    def _failures(self) -> type[Exception]:
        return sqlite3.Error

    def _meant(self, problem: Exception) -> EpsilonsError | None:
        name = getattr(problem, "sqlite_errorname", "")
        if name == "SQLITE_NOTADB":
            return LedgerError(f"where={str(self._path)!r} is a file of another kind: no ledger.")
        return self._overdrawn() if name == "SQLITE_CONSTRAINT_CHECK" else None


def _make(path: Path) -> None:
    """Create a file that only its owner can read, because a ledger is as secret as the data.

    An existing file is accepted here: an empty file can remain from an interrupted attempt, and
    `make` refuses any other file. Syncing the folder makes the file survive a power failure.

    Raises:
        LedgerError: it cannot be created.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if not path.is_file():
            raise LedgerError(f"where={str(path)!r} {THERE}") from None
        if path.stat().st_size == 0:
            path.chmod(0o600)
    except OSError:
        raise LedgerError(
            f"where={str(path)!r} cannot be created: does its folder exist, and is it writable?"
        ) from None
    _sync(path.absolute().parent)


def _sync(folder: Path) -> None:
    """Sync the entries of a folder to disk, if the system supports it."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
