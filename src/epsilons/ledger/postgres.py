"""A ledger in PostgreSQL 15 or newer, to which several hosts can write."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from epsilons.errors import ColumnError, EpsilonsError, LedgerError, MissingExtraError
from epsilons.ledger.store import PATIENCE, Row, Store
from epsilons.types import Integers

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgreSQL", "is_address"]

ADDRESSES: Final = ("postgresql://", "postgres://")

OLDEST: Final = 150_000
"""The oldest supported server version, in PostgreSQL's numbering."""

FILLED: Final = 45
"""How full a page of accounts is at first, in percent. A second version of each account fits."""

FIELDS: Final = np.dtype(
    [("fields", ">i2")]
    + [(f"{part} {at}", kind) for at in range(3) for part, kind in (("size", ">i4"), ("of", ">i8"))]
)
"""A row of three integers in the binary format of COPY."""

MAKING: Final = 1_702_064_485
"""The first half of the key of the advisory lock under which a ledger is created."""


def is_address(where: object) -> bool:
    """Whether this is the address of a server, not a path."""
    return isinstance(where, str) and where.startswith(ADDRESSES)


class PostgreSQL(Store):
    """A database on a server. A commit returns only after the server has written it to disk.

    Args:
        address: in libpq's format; its search_path determines the schema of the tables.

    Raises:
        MissingExtraError: the extra `postgres` is not installed.
        LedgerError: the server is older than PostgreSQL 15, or runs with fsync off.
        StorageError: it cannot be reached.
    """

    words: ClassVar[dict[str, str]] = {
        "integer": "BIGINT",
        "bytes": "BYTEA",
        "strict": "",
        # A charge writes a new version of every account. If a page has room for both versions, the
        # new one needs no new entry in any index, and the next charge reuses the old one's room.
        "accounts": f"WITH (fillfactor = {FILLED})",
        "clustered": "",
    }
    longest: ClassVar[int | None] = 2_600
    joined: ClassVar[str] = "string_agg(CAST({} AS TEXT), ' ')"
    hexed: ClassVar[str] = "encode({}, 'hex')"

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address
        self._streams = itertools.count()
        with self.read():
            pass

    def _connected(self) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] = _driver().connect(self._address, autocommit=True)
        refused = None
        if connection.info.server_version < OLDEST:
            refused = "a ledger needs PostgreSQL 15 or newer."
        elif connection.execute("SHOW fsync").fetchall() != [("on",)]:
            refused = (
                "the server runs with fsync=off, so a power failure could undo charges whose "
                "answers are out. Set fsync=on there."
            )
        if refused is not None:
            connection.close()
            raise LedgerError(f"where: {refused}")
        connection.execute("SET synchronous_commit = on")
        connection.execute(f"SET lock_timeout = '{PATIENCE:.0f}s'")
        return connection

    def has_tables(self) -> bool:
        """Whether the schema of this connection contains a ledger."""
        # Query the catalog: lookups by name are cached, even if they found no table.
        sql = "SELECT count(*) FROM pg_class WHERE relname = 'ledger' AND pg_table_is_visible(oid)"
        return bool(self.rows(sql)[0][0])

    def _begin(self, *, write: bool) -> None:
        connection = self._connection
        if not write:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            return
        connection.execute("BEGIN")
        if connection.execute("SELECT to_regclass('ledger')").fetchall()[0][0] is not None:
            # The row of the ledger is its write lock: only one transaction at a time holds it.
            connection.execute("SELECT one FROM ledger FOR UPDATE")
        else:
            # There is no row yet: an advisory lock serializes processes that create the ledger.
            schema = "coalesce(current_schema(), '')"
            connection.execute(f"SELECT pg_advisory_xact_lock({MAKING}, hashtext({schema}))")

    def _end(self, word: str) -> None:
        self._connection.execute(word)

    def _execute(self, sql: str, values: Row) -> Any:
        text: Any = sql.replace("?", "%s")
        return self._connection.execute(text, values or None)

    def _stream(self, sql: str, values: Row) -> Any:
        text: Any = sql.replace("?", "%s")
        cursor = self._connection.cursor(name=f"stream {next(self._streams)}")
        return cursor.execute(text, values or None)

    def _many(self, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
        sql: Any = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(sql) as copy:
            for row in rows:
                copy.write_row(row)
        if table == "wanted":
            self._connection.execute("ANALYZE wanted")

    def _charges(self, release: int, pairs: Integers) -> None:
        rows = np.empty(len(pairs), FIELDS)
        rows["fields"] = 3
        for at, column in enumerate((release, *pairs.T)):
            rows[f"size {at}"], rows[f"of {at}"] = 8, column
        sql: Any = "COPY charges (release, account, amount) FROM STDIN (FORMAT binary)"
        with self._connection.cursor() as cursor, cursor.copy(sql) as copy:
            copy.write(b"PGCOPY\n\xff\r\n" + b"\0" * 9 + rows.tobytes() + b"\xff\xff")

    def _is_lost(self, connection: psycopg.Connection[Any]) -> bool:
        return connection.closed

    def _failures(self) -> type[Exception]:
        failures: type[Exception] = _driver().Error
        return failures

    def _meant(self, problem: Exception) -> EpsilonsError | None:
        errors = _driver().errors
        if isinstance(problem, errors.ProgramLimitExceeded):
            return ColumnError(
                f"person: an id is too long for PostgreSQL, which indexes {self.longest:,} bytes "
                "of text. Use shorter ids. Nothing was changed."
            )
        return self._overdrawn() if isinstance(problem, errors.CheckViolation) else None


def _driver() -> Any:
    """Import psycopg, the PostgreSQL driver.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError(
            "A ledger in PostgreSQL needs the extra `postgres`: run pip install '.[postgres]' in "
            "the folder of epsilons."
        ) from None
    return psycopg
