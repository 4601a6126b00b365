"""The database interface of a ledger: tables, statements and transactions, and the hash chain."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Final, TypeAlias, TypeVar
from weakref import WeakSet

import numpy as np

from epsilons.errors import EpsilonsError, LedgerError, PrivacyError, StorageError
from epsilons.types import Integers

__all__ = [
    "START",
    "TABLES",
    "VERSION",
    "Digest",
    "Row",
    "Store",
    "append",
    "head_of",
    "keyed_head",
    "link",
    "mark",
    "release_digest",
    "whole_numbers",
]


# The database interface: transactions, statements, rows, and bulk inserts.
#
# All databases follow one protocol. A write is a transaction that excludes every other write to the
# same ledger; a read sees one snapshot. A transaction belongs to the thread that began it, and has
# exclusive use of a connection until it ends. A forked process opens its own connections. A
# database's error message can contain an id or a balance, so it is caught here and never passed on.

T = TypeVar("T")

Row: TypeAlias = tuple[Any, ...]

PATIENCE: Final = 60.0
"""The longest time that a write waits for another write, in seconds."""

CHUNK: Final = 50_000
"""Rows per batch."""

KEPT: Final = 4
"""The largest number of idle connections that are kept open."""


class Store(ABC):
    """A database with one ledger. Threads can share it.

    Attributes:
        watch: called before and after every step; tests use it to kill the process at a step.
        words: the database's words for the types and options in `TABLES`.
        joined: the aggregate that joins the integers of a column as text.
        hexed: the expression for bytes in hexadecimal.
        longest: ids of up to this many bytes can always be stored; None if there is no limit.
    """

    watch: Callable[[str], None] = staticmethod(lambda _: None)
    words: ClassVar[dict[str, str]]
    joined: ClassVar[str]
    hexed: ClassVar[str]
    longest: ClassVar[int | None] = None

    def __init__(self) -> None:
        self._idle: deque[Any] = deque()
        self._own = threading.local()
        _STORES.add(self)

    def make(self) -> None:
        """Create the tables, within a write transaction."""
        for table in TABLES:
            self.run(table.format(**self.words))

    @abstractmethod
    def has_tables(self) -> bool:
        """Whether the tables of a ledger exist."""

    @abstractmethod
    def _connected(self) -> Any:
        """Open a connection."""

    @abstractmethod
    def _begin(self, *, write: bool) -> None:
        """Begin a transaction."""

    @abstractmethod
    def _end(self, word: str) -> None:
        """End a transaction: COMMIT or ROLLBACK."""

    def _is_lost(self, connection: Any) -> bool:  # noqa: ARG002
        """Whether a connection can no longer be used; one to a local file is never lost."""
        return False

    @abstractmethod
    def _execute(self, sql: str, values: Row) -> Any:
        """Run a statement; return a cursor."""

    def _stream(self, sql: str, values: Row) -> Any:
        """Run a large query; return a cursor that fetches rows in batches."""
        return self._execute(sql, values)

    @abstractmethod
    def _many(self, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
        """Insert many rows."""

    @abstractmethod
    def _charges(self, release: int, pairs: Integers) -> None:
        """Insert charges of a release: account and amount."""

    @abstractmethod
    def _failures(self) -> type[Exception]:
        """The base class of the database's exceptions."""

    @abstractmethod
    def _meant(self, problem: Exception) -> EpsilonsError | None:
        """Return the specific error for a database exception; None for a general failure."""

    @property
    def _connection(self) -> Any:
        """The connection of this thread's transaction.

        Raises:
            LedgerError: this thread is not in a transaction.
        """
        found = getattr(self._own, "connection", None)
        if found is None:
            raise LedgerError("The ledger was used outside of a transaction of this thread.")
        return found

    def close(self) -> None:
        """Close all idle connections; the next transaction opens a new connection."""
        with _GATE:
            while self._idle:
                self._idle.pop().close()

    def forked(self) -> None:
        """Forget the parent's connections without closing them, in a forked process."""
        _INHERITED.extend([*self._idle, getattr(self._own, "connection", None)])
        self._idle.clear()
        self._own.connection = None

    def _told(self, run: Callable[[], T]) -> T:
        """Run a function, and replace a database exception by the result of `_meant` or `_lost`.

        The new exception has neither a cause nor a context, because these could show private data.
        """
        failures = self._failures()
        try:
            return run()
        except failures as problem:
            failure = self._meant(problem) or self._lost(problem)
        # Raise outside the `except` block: the database's exception must not become the context.
        raise failure

    def write(self) -> AbstractContextManager[None]:
        """Return a context for an atomic transaction that excludes all other writes."""
        return self._transaction(write=True)

    def read(self) -> AbstractContextManager[None]:
        """Return a context for a transaction that reads one snapshot and changes nothing."""
        return self._transaction(write=False)

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[None]:
        if getattr(self._own, "connection", None) is not None:
            raise LedgerError("A transaction of the ledger was begun within another one.")
        with _GATE:
            try:
                self._step("begin", lambda: self._take(write=write))
                yield
                self._step("commit" if write else "end", lambda: self._end("COMMIT"))
            except BaseException:
                self._give_up()
                raise
            finally:
                self._put_back()

    def _take(self, *, write: bool) -> None:
        """Begin a transaction of this thread, on an idle or new connection."""
        while True:
            try:
                idle = self._idle.pop()
            except IndexError:
                idle = None
            self._own.connection = connection = self._connected() if idle is None else idle
            try:
                return self._begin(write=write)
            except BaseException:
                self._own.connection = None
                if idle is None or not self._is_lost(connection):
                    connection.close()
                    raise
                # The connection was lost while idle. Nothing was done on it, so try another.

    def _give_up(self) -> None:
        """Roll back a transaction; an unreachable database rolls back without a request."""
        if getattr(self._own, "connection", None) is None:
            return  # no transaction began, or it belongs to the parent process
        try:
            self._told(lambda: self._end("ROLLBACK"))
        except StorageError:
            self._connection.close()
            self._own.connection = None

    def _put_back(self) -> None:
        """Return the connection of a finished transaction to the idle connections."""
        connection, self._own.connection = getattr(self._own, "connection", None), None
        if connection is None:
            return
        if len(self._idle) < KEPT and not self._is_lost(connection):
            self._idle.append(connection)
        else:
            connection.close()

    def _step(self, name: str, run: Callable[[], Any]) -> Any:
        self.watch(f"before {name}")
        found = self._told(run)
        self.watch(f"after {name}")
        return found

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement that changes rows; return the number of changed rows."""
        name = " ".join(sql.split()[:3])
        return int(self._step(name, lambda: self._execute(sql, values)).rowcount)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Return all rows of a small query."""
        name = " ".join(sql.split()[:2])
        return list(self._step(name, lambda: self._execute(sql, values).fetchall()))

    def one(self, sql: str, *values: Any) -> Row | None:
        """Return the first row of a query; None if there are no rows."""
        found = self.rows(sql, *values)
        return found[0] if found else None

    def batches(self, sql: str, *values: Any) -> Iterator[list[Row]]:
        """Yield the rows of a large query, in batches."""
        cursor = self._step("select many", lambda: self._stream(sql, values))
        while True:
            found = self._told(lambda: list(cursor.fetchmany(CHUNK)))
            if not found:
                self._told(cursor.close)
                return
            yield found

    def integers(self, width: int, sql: str, *values: Any) -> Integers:
        """Return the rows of a large query of integers, as an array of `width` columns."""
        parts = [np.array(batch, dtype=np.int64) for batch in self.batches(sql, *values)]
        return np.concatenate(parts) if parts else np.empty((0, width), dtype=np.int64)

    def blocks(self, columns: tuple[str, ...], source: str, *values: Any) -> Iterator[list[str]]:
        """Yield columns of a large table by ranges of accounts, each column as one text.

        The database joins the entries of a column, separated by blanks, because a Python object
        for each entry takes more time and memory than the query. In a block, all columns have the
        same order, which need not be the order of accounts.

        Args:
            columns: expressions, none of them null. The first is the number of the account.
            source: a table and a condition, such as "charges WHERE release = ?".
            values: the parameters of the condition.
        """
        key, *_ = columns
        within = "AND" if "WHERE" in source else "WHERE"
        joined = ", ".join(map(self.joined.format, columns))
        sql = f"SELECT {joined} FROM {source} {within} {key} > ? AND {key} <= ?"  # noqa: S608
        last = self.rows(f"SELECT coalesce(max({key}), 0) FROM {source}", *values)[0][0]  # noqa: S608
        for start in range(0, last, CHUNK):
            ((first, *rest),) = self.rows(sql, *values, start, start + CHUNK)
            if first is not None:
                yield [first, *rest]

    def by_account(self, columns: tuple[str, ...], source: str, *values: Any) -> Iterator[Integers]:
        """Yield columns of integers of a large table, ordered by account, in batches.

        Args:
            columns: names of columns; the first is the number of the account.
            source: as for `blocks`.
            values: as for `blocks`.
        """
        for block in self.blocks(columns, source, *values):
            rows = whole_numbers(block)
            yield rows[np.argsort(rows[:, 0], kind="stable")]

    def charge(self, release: int, pairs: Iterable[Integers]) -> None:
        """Insert the charges of a release: account and amount, in batches."""

        def every() -> None:
            for batch in pairs:
                self._charges(release, batch)

        self._step("insert charges", every)

    def insert(self, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
        """Insert many rows."""
        self._step(f"insert {table}", lambda: self._many(table, columns, rows))

    def look_up(self, ids: list[bytes]) -> None:
        """Fill this connection's temporary table `wanted` with ids and their positions."""
        columns = "place {integer} PRIMARY KEY, person {bytes}".format(**self.words)
        self.run(f"CREATE TEMP TABLE IF NOT EXISTS wanted ({columns})")
        self.run("DELETE FROM wanted")
        self.insert("wanted", ("place", "person"), enumerate(ids))

    @staticmethod
    def _lost(problem: BaseException) -> StorageError:
        return StorageError(
            f"The database of the ledger failed ({type(problem).__name__}: locked, full, or "
            "unreachable). Nothing was released. Once it answers, ask again under the same name: "
            "whatever was settled comes back as it was, and nothing is charged twice."
        )

    @staticmethod
    def _overdrawn() -> PrivacyError:
        return PrivacyError(
            "The ledger refused a charge, because an account would be overdrawn. Nothing was "
            "drawn. Run ledger.check()."
        )


def whole_numbers(texts: list[str]) -> Integers:
    """Return the columns of a block as an array of integers."""
    return np.column_stack([np.fromstring(each, dtype=np.int64, sep=" ") for each in texts])


class _Gate:
    """Allows concurrent transactions, and delays a fork while other threads are in a transaction.

    A database library keeps locks in process memory. If a fork copies them in the middle of a
    transaction, the child waits for locks that are never released.
    """

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._inside = 0
        self._forking = False
        self._own = threading.local()

    def __enter__(self) -> None:
        mine = getattr(self._own, "inside", 0)
        with self._free:
            if not mine:
                self._free.wait_for(lambda: not self._forking, PATIENCE)
            self._inside += 1
        self._own.inside = mine + 1

    def __exit__(self, *_: object) -> None:
        self._own.inside -= 1
        with self._free:
            self._inside -= 1
            self._free.notify_all()

    def before_fork(self) -> None:
        """Wait until no other thread is in a transaction, and block new transactions."""
        mine = getattr(self._own, "inside", 0)
        self._free.acquire()
        self._forking = True
        self._free.wait_for(lambda: self._inside == mine, PATIENCE)

    def after_fork(self) -> None:
        """Allow transactions again, in the parent process."""
        self._forking = False
        self._free.notify_all()
        self._free.release()

    def forked(self) -> None:
        """Reset the gate in the child process, which has a single thread."""
        self._free = threading.Condition()
        self._forking = False
        self._inside = getattr(self._own, "inside", 0)
        for store in list(_STORES):
            store.forked()


_STORES: Final[WeakSet[Store]] = WeakSet()
"""The open databases of this process."""

_INHERITED: Final[list[Any]] = []
"""Connections of the parent process, which are neither used nor closed in this process."""

_GATE: Final = _Gate()

os.register_at_fork(
    before=_GATE.before_fork, after_in_parent=_GATE.after_fork, after_in_child=_GATE.forked
)


# The tables of a ledger: the same on every database, except for type names and table options.
#
#     ledger     one row: version, neighbours, secret key, time of creation
#     accounts   each person's budget and spending, in nano-ε
#     releases   claims by name, and their results
#     charges    the amount charged to each person for each release
#     changes    changes of budgets, with consent
#     events     the chain: every change of the other tables, in order, with a hash
#
# `accounts.budget` is a person's lifetime budget. It can be lowered below `spent`; then no budget
# is left. `most` is the upper limit on `spent`. It is usually the budget. After the budget was
# lowered, it also covers earlier spending, and the offers to releases that were open at the time.
# An id is bytes with a tag for its type. Erasing sets it to null, but keeps `mark`, a keyed hash.

VERSION: Final = 1
"""The version of the tables."""

TABLES: Final = (
    """
    CREATE TABLE ledger (
        one {integer} PRIMARY KEY CHECK (one = 1),
        version {integer} NOT NULL,
        neighbours TEXT NOT NULL CHECK (neighbours IN ('replace', 'add-remove')),
        secret {bytes} NOT NULL,
        created TEXT NOT NULL
    ) {strict}
    """,
    """
    CREATE TABLE accounts (
        number {integer} PRIMARY KEY,
        person {bytes} UNIQUE,
        mark {bytes} NOT NULL,
        budget {integer} NOT NULL,
        most {integer} NOT NULL,
        spent {integer} NOT NULL,
        CHECK (0 <= budget AND budget <= most),
        CHECK (0 <= spent AND spent <= most)
    ) {accounts}
    """,
    "CREATE INDEX lowered ON accounts (number) WHERE most > budget",
    """
    CREATE TABLE releases (
        number {integer} PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        question TEXT NOT NULL,
        state TEXT NOT NULL CHECK (
            state IN ('open', 'drawing', 'settled', 'failed', 'abandoned')
        ),
        at_most {integer} NOT NULL CHECK (at_most > 0),
        part {integer} NOT NULL CHECK (part > 0),
        whole {integer} NOT NULL CHECK (whole >= part),
        result {bytes},
        opened TEXT NOT NULL,
        closed TEXT,
        CHECK ((state = 'settled') = (result IS NOT NULL)),
        CHECK ((state IN ('open', 'drawing')) = (closed IS NULL))
    ) {strict}
    """,
    """
    CREATE TABLE charges (
        release {integer} NOT NULL,
        account {integer} NOT NULL,
        amount {integer} NOT NULL CHECK (amount > 0),
        PRIMARY KEY (release, account)
    ) {clustered}
    """,
    """
    CREATE TABLE changes (
        event {integer} NOT NULL,
        account {integer} NOT NULL,
        was {integer} NOT NULL,
        now {integer} NOT NULL,
        consent TEXT NOT NULL,
        PRIMARY KEY (event, account)
    ) {clustered}
    """,
    """
    CREATE TABLE events (
        number {integer} PRIMARY KEY,
        kind TEXT NOT NULL,
        release {integer},
        content {bytes} NOT NULL,
        at TEXT NOT NULL,
        hash {bytes} NOT NULL
    ) {strict}
    """,
)
"""The statements that create the tables. `changes.was` is −1 for a new account."""


# The chain of events: each event's hash covers its changes and the hash of the previous event.
#
# Changing, removing or adding a row changes a hash. A head is text that identifies an event by its
# hash, and a release contains the head of its event. If the whole chain is recomputed, its hashes
# no longer match these heads. Under add/remove, hashes that leave the ledger are keyed with its
# secret: an unkeyed hash of charges, or the number of events, would reveal membership.

START: Final = b"\0" * 32
"""The hash that precedes the first event."""


class Digest:
    """A hash of facts and of rows.

    Args:
        salt: b"", or a secret that prevents guessing the hashed data.
        facts: JSON values that are hashed first, in order.
    """

    def __init__(self, salt: bytes, *facts: Any) -> None:
        self._hash = hmac.new(salt, digestmod=hashlib.sha256)
        self._hash.update(json.dumps(facts, ensure_ascii=True).encode())

    def rows(self, rows: Integers) -> None:
        """Hash rows of integers."""
        self._hash.update(rows.astype("<i8").tobytes())

    def many(self, parts: Iterable[bytes | bytearray]) -> None:
        """Hash byte strings, each preceded by its length."""
        for part in parts:
            self._hash.update(len(part).to_bytes(8, "little") + part)

    @property
    def value(self) -> bytes:
        """The hash of everything that was added."""
        return self._hash.digest()


def mark(secret: bytes, person: bytes) -> bytes:
    """Return a keyed hash of an id. It stays after erasure, to recognize people who come back."""
    return hashlib.blake2b(person, key=secret, digest_size=16).digest()


def link(before: bytes, event: tuple[int, str, int | None, bytes, str]) -> bytes:
    """Return the hash of an event, chained to the previous event.

    Args:
        before: the hash of the previous event.
        event: the event's number, kind, release, content and time.
    """
    number, kind, release, content, at = event
    facts = json.dumps([number, kind, release, content.hex(), at]).encode()
    return hashlib.sha256(before + facts).digest()


def append(store: Store, kind: str, release: int | None, content: bytes, at: str) -> None:
    """Append an event to the chain, within a write transaction."""
    last = last_of(store)
    number = last[0] + 1
    hashed = link(last[1], (number, kind, release, content, at))
    store.run(
        "INSERT INTO events (number, kind, release, content, at, hash) VALUES (?, ?, ?, ?, ?, ?)",
        *(number, kind, release, content, at, hashed),
    )


def last_of(store: Store) -> tuple[int, bytes]:
    """Return the number and the hash of the last event."""
    found = store.one("SELECT number, hash FROM events ORDER BY number DESC LIMIT 1")
    return (0, START) if found is None else (int(found[0]), found[1])


def head_of(number: int, hashed: bytes) -> str:
    """Return the head for releases under replace, and in all ledgers up to version 0.2.0."""
    return f"{number}:{hashed.hex()}"


def keyed_head(secret: bytes, hashed: bytes, once: str | None = None) -> str:
    """Return the head for releases under add/remove, which looks random without the secret.

    Args:
        secret: the secret of the ledger.
        hashed: the hash of the last event.
        once: a hexadecimal nonce, the first part of the head. None derives it from the event, so
            the same event has the same head. Two heads with the same nonce are equal if nothing
            was written in between, which can reveal membership. So `Book.head` uses a random
            nonce for heads that users request.
    """

    def keyed(purpose: bytes, text: bytes) -> str:
        return hmac.new(secret, purpose + text + hashed, hashlib.sha256).hexdigest()

    start = keyed(b"once", b"")[:32] if once is None else once
    return f"{start}:{keyed(b'head', start.encode())}"


def release_digest(salt: bytes, release: Row, charges: Iterator[Integers]) -> bytes:
    """Return the digest of a release after an event: of its row and its charges.

    Args:
        salt: the salt of the ledger.
        release: name, question, state, at_most, part, whole, result, opened, closed.
        charges: account and amount, ordered by account.
    """
    *facts, result, opened, closed = release
    hashed = None if result is None else hashlib.sha256(result).hexdigest()
    digest = Digest(salt, *facts, hashed, opened, closed)
    for rows in charges:
        digest.rows(rows)
    return digest.value
