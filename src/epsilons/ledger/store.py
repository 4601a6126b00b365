"""What a ledger asks of a database: transactions, statements, rows, and many rows at once.

One protocol for all of them. A write is a transaction that no other write of the same ledger runs
beside; a read sees one moment. Whatever a database says when it fails may show an id or a balance:
it is caught here and never passed on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from epsilons.errors import PrivacyError, StorageError
from epsilons.types import Integers

__all__ = ["Row", "Store"]

T = TypeVar("T")

Row: TypeAlias = tuple[Any, ...]

PATIENCE: Final = 60.0
"""Seconds that one write waits for another."""

CHUNK: Final = 50_000
"""Rows that are taken at a time."""


class Store(ABC):
    """A database that holds one ledger.

    Attributes:
        watch: told before and after every step, by tests that kill at each.
    """

    watch: Callable[[str], None] = staticmethod(lambda _: None)

    @abstractmethod
    def make(self) -> None:
        """Make the tables, within a write."""

    @abstractmethod
    def has_tables(self) -> bool:
        """Whether there are tables of a ledger."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def _begin(self, *, write: bool) -> None:
        """Begin a transaction: the one place at which a lost database is opened again."""

    @abstractmethod
    def _end(self, word: str) -> None:
        """COMMIT or ROLLBACK."""

    @abstractmethod
    def _execute(self, sql: str, values: Row) -> Any:
        """Run a statement; a cursor."""

    def _stream(self, sql: str, values: Row) -> Any:
        """Run a query of very many rows; a cursor that does not fetch them all at once."""
        return self._execute(sql, values)

    @abstractmethod
    def _many(self, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
        """Insert many rows."""

    @abstractmethod
    def _wanted(self) -> None:
        """Make the temporary table of this connection that ids are looked up from, and empty it."""

    @abstractmethod
    def _says(self) -> tuple[type[Exception], type[Exception]]:
        """What the database raises where a row breaks a rule, and wherever it fails."""

    def _told(self, run: Callable[[], T]) -> T:
        """Run, and catch what the database says: `_lost` and `_broken` are raised instead.

        They have neither a cause nor a context.
        """
        broken, failed = self._says()
        try:
            return run()
        except broken:
            failure: Exception = self._broken()
        except failed as problem:
            failure = self._lost(problem)
        # Out here, so that what the database said is neither its cause nor its context.
        raise failure

    def write(self) -> AbstractContextManager[None]:
        """A transaction, alone in this ledger: all of it, or nothing."""
        return self._transaction(write=True)

    def read(self) -> AbstractContextManager[None]:
        """A transaction that sees one moment, and changes nothing that stays."""
        return self._transaction(write=False)

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[None]:
        self._step("begin", lambda: self._begin(write=write))
        try:
            yield
        except BaseException:
            self._give_up()
            raise
        try:
            self._step("commit" if write else "end", lambda: self._end("COMMIT"))
        except BaseException:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Undo what a transaction did; a database that is gone undoes it by itself."""
        try:
            self._told(lambda: self._end("ROLLBACK"))
        except StorageError:
            self.close()

    def _step(self, name: str, run: Callable[[], Any]) -> Any:
        self.watch(f"before {name}")
        found = self._told(run)
        self.watch(f"after {name}")
        return found

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement that changes rows; how many it changed."""
        name = " ".join(sql.split()[:3])
        return int(self._step(name, lambda: self._execute(sql, values)).rowcount)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """All rows of a small query."""
        name = " ".join(sql.split()[:2])
        return list(self._step(name, lambda: self._execute(sql, values).fetchall()))

    def one(self, sql: str, *values: Any) -> Row | None:
        """The first row of a query, if there is one."""
        found = self.rows(sql, *values)
        return found[0] if found else None

    def batches(self, sql: str, *values: Any) -> Iterator[list[Row]]:
        """The rows of a large query, some at a time."""
        cursor = self._step("select many", lambda: self._stream(sql, values))
        while True:
            found = self._told(lambda: list(cursor.fetchmany(CHUNK)))
            if not found:
                self._told(cursor.close)
                return
            yield found

    def integers(self, width: int, sql: str, *values: Any) -> Integers:
        """The rows of a large query of integers, as an array of so many columns."""
        parts = [np.array(batch, dtype=np.int64) for batch in self.batches(sql, *values)]
        return np.concatenate(parts) if parts else np.empty((0, width), dtype=np.int64)

    def insert(self, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
        """Insert many rows."""
        self._step(f"insert {table}", lambda: self._many(table, columns, rows))

    def look_up(self, ids: Iterable[list[bytes]]) -> None:
        """Put ids into the temporary table `wanted`, each with its place."""
        self._step("wanted", self._wanted)
        each = (one for batch in ids for one in batch)
        self.insert("wanted", ("place", "person"), enumerate(each))

    @staticmethod
    def _lost(problem: BaseException) -> StorageError:
        return StorageError(
            f"The database of the ledger failed ({type(problem).__name__}: locked, full, or "
            "unreachable). Nothing was released. Once it answers, ask again under the same name: "
            "whatever was settled comes back as it was, and nothing is charged twice."
        )

    @staticmethod
    def _broken() -> PrivacyError:
        return PrivacyError(
            "The ledger refused a charge, because an account would be overdrawn. Nothing was "
            "drawn. Run ledger.check()."
        )
