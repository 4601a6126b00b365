"""What a ledger asks of a database: tables, statements and transactions, and the chain in it."""

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
]


# What a ledger asks of a database: transactions, statements, rows, and many rows at once.
#
# One protocol for all of them. A write is a transaction that excludes every other write of the same
# ledger; a read sees one moment. A transaction belongs to the thread that began it, and has a
# connection to itself until it ends. A forked process opens connections of its own. What a database
# says when it fails may show an id or a balance: it is caught here and never passed on.

T = TypeVar("T")

Row: TypeAlias = tuple[Any, ...]

PATIENCE: Final = 60.0
"""Seconds that one write waits for another."""

CHUNK: Final = 50_000
"""Rows that are taken at a time."""

KEPT: Final = 4
"""Connections that are kept open while no transaction uses them."""


class Store(ABC):
    """A database that holds one ledger. Threads may share it.

    Attributes:
        watch: called before and after every step, by tests that kill at each.
        longest: bytes of an id that can always be stored; None if there is no limit.
    """

    watch: Callable[[str], None] = staticmethod(lambda _: None)
    longest: ClassVar[int | None] = None

    def __init__(self) -> None:
        self._idle: deque[Any] = deque()
        self._own = threading.local()
        _STORES.add(self)

    @abstractmethod
    def make(self) -> None:
        """Make the tables, within a write."""

    @abstractmethod
    def has_tables(self) -> bool:
        """Whether there are tables of a ledger."""

    @abstractmethod
    def _connected(self) -> Any:
        """Open a connection."""

    @abstractmethod
    def _begin(self, *, write: bool) -> None:
        """Begin a transaction."""

    @abstractmethod
    def _end(self, word: str) -> None:
        """COMMIT or ROLLBACK."""

    @abstractmethod
    def _is_lost(self, connection: Any) -> bool:
        """Whether a connection can be used no more."""

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
    def _failures(self) -> type[Exception]:
        """What the database raises wherever it fails."""

    @abstractmethod
    def _meant(self, problem: Exception) -> EpsilonsError | None:
        """What a failure means, if it is more than that the database failed."""

    @property
    def _connection(self) -> Any:
        """The connection of this thread's transaction.

        Raises:
            LedgerError: this thread is in none.
        """
        found = getattr(self._own, "connection", None)
        if found is None:
            raise LedgerError("The ledger was used outside of a transaction of this thread.")
        return found

    def close(self) -> None:
        """Close all connections that no transaction uses; the next transaction opens one again."""
        with _GATE:
            while self._idle:
                self._idle.pop().close()

    def forked(self) -> None:
        """In a forked process: leave alone what belongs to the process that forked."""
        _INHERITED.extend([*self._idle, getattr(self._own, "connection", None)])
        self._idle.clear()
        self._own.connection = None

    def _told(self, run: Callable[[], T]) -> T:
        """Run, and catch what the database says: what `_meant` or `_lost` makes of it is raised.

        It has neither a cause nor a context.
        """
        failures = self._failures()
        try:
            return run()
        except failures as problem:
            failure = self._meant(problem) or self._lost(problem)
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
        """Begin a transaction of this thread: on a connection that nobody uses, or on a new one."""
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
                # It was lost while nobody used it: nothing was done on it, and another may do.

    def _give_up(self) -> None:
        """Undo what a transaction did; a database that is gone undoes it by itself."""
        if getattr(self._own, "connection", None) is None:
            return  # it never began, or it belongs to the process that forked
        try:
            self._told(lambda: self._end("ROLLBACK"))
        except StorageError:
            self._connection.close()
            self._own.connection = None

    def _put_back(self) -> None:
        """Keep the connection of a transaction that ended, for others."""
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
    def _overdrawn() -> PrivacyError:
        return PrivacyError(
            "The ledger refused a charge, because an account would be overdrawn. Nothing was "
            "drawn. Run ledger.check()."
        )


class _Gate:
    """Lets transactions pass at once, and forks only while no other thread is in one.

    The library of a database keeps locks in the memory of its process. If that memory is copied in
    the middle of a transaction, the copy waits for locks that nobody will ever release.
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
        """Wait until no other thread is in a transaction, and keep all of them out."""
        mine = getattr(self._own, "inside", 0)
        self._free.acquire()
        self._forking = True
        self._free.wait_for(lambda: self._inside == mine, PATIENCE)

    def after_fork(self) -> None:
        """In the process that forked: let transactions pass again."""
        self._forking = False
        self._free.notify_all()
        self._free.release()

    def forked(self) -> None:
        """In the process that was forked: begin anew, with the one thread that there is."""
        self._free = threading.Condition()
        self._forking = False
        self._inside = getattr(self._own, "inside", 0)
        for store in list(_STORES):
            store.forked()


_STORES: Final[WeakSet[Store]] = WeakSet()
"""The databases that are open in this process."""

_INHERITED: Final[list[Any]] = []
"""Connections of the process that forked. They are never used here, and never closed."""

_GATE: Final = _Gate()

os.register_at_fork(
    before=_GATE.before_fork, after_in_parent=_GATE.after_fork, after_in_child=_GATE.forked
)


# The tables of a ledger: the same on every database, but for the names of two types.
#
#     ledger     one row: version, neighbours, the key of ids, when it was made
#     accounts   who gives how much, and how much of it is spent, in nano-ε
#     releases   what was claimed under which name, and what was released
#     charges    who paid how much for which release
#     changes    which budget was changed when, and by whose consent
#     events     the chain: every change of the others, in its order, with a hash of it
#
# `accounts.budget` is what a person gives. It may be lowered below what is spent, and then nothing
# is left; `most` is what `spent` can reach: the budget, or what was spent before it was lowered, or
# may still be spent by releases that were open then. An id is tagged bytes; it is null once it was
# erased, and `mark`, a keyed hash of it, stays.

VERSION: Final = 1
"""Of the tables."""

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
    ) {strict}
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
"""What makes a ledger. `changes.was` is −1 for a new account."""


# The chain of events: each has a hash that covers what it did and the hash of the one before.
#
# A row that is changed, removed or added changes a hash. A chain that is computed anew does not
# have the heads that releases carried out. Under add/remove all that leaves the ledger is keyed
# with its secret: a bare hash of charges, or a number of events, would reveal who is a member.

START: Final = b"\0" * 32
"""What the first event is chained to."""


class Digest:
    """A hash of facts and of rows.

    Args:
        salt: b"", or what keeps a hash from being guessed.
        facts: what is hashed first, in order.
    """

    def __init__(self, salt: bytes, *facts: Any) -> None:
        self._hash = hmac.new(salt, digestmod=hashlib.sha256)
        self._hash.update(json.dumps(facts, ensure_ascii=True).encode())

    def rows(self, rows: Integers) -> None:
        """Hash rows of integers."""
        self._hash.update(rows.astype("<i8").tobytes())

    def many(self, parts: Iterable[bytes | bytearray]) -> None:
        """Hash bytes, each after its length."""
        for part in parts:
            self._hash.update(len(part).to_bytes(8, "little") + part)

    @property
    def value(self) -> bytes:
        """The hash."""
        return self._hash.digest()


def mark(secret: bytes, person: bytes) -> bytes:
    """What stays of an id that was erased: it tells nobody who it was, and knows them again."""
    return hashlib.blake2b(person, key=secret, digest_size=16).digest()


def link(before: bytes, event: tuple[int, str, int | None, bytes, str]) -> bytes:
    """The hash of an event, chained to the one before.

    Args:
        before: the hash of the one before.
        event: its number, kind, release and content, and when it was.
    """
    number, kind, release, content, at = event
    facts = json.dumps([number, kind, release, content.hex(), at]).encode()
    return hashlib.sha256(before + facts).digest()


def append(store: Store, kind: str, release: int | None, content: bytes, at: str) -> int:
    """Add an event to the chain, within a write; its number."""
    last = last_of(store)
    number = last[0] + 1
    hashed = link(last[1], (number, kind, release, content, at))
    store.run(
        "INSERT INTO events (number, kind, release, content, at, hash) VALUES (?, ?, ?, ?, ?, ?)",
        *(number, kind, release, content, at, hashed),
    )
    return number


def last_of(store: Store) -> tuple[int, bytes]:
    """The number and the hash of the last event."""
    found = store.one("SELECT number, hash FROM events ORDER BY number DESC LIMIT 1")
    return (0, START) if found is None else (int(found[0]), found[1])


def head_of(number: int, hashed: bytes) -> str:
    """A head as releases carry it under replace, and everywhere up to version 0.2.0."""
    return f"{number}:{hashed.hex()}"


def keyed_head(secret: bytes, hashed: bytes, once: str | None = None) -> str:
    """A head as releases carry it under add/remove: without the secret, a random number.

    Args:
        secret: of the ledger.
        hashed: the hash of the last event.
        once: what the head begins with, in hexadecimal. None makes it from the event, and so the
            same for the same event. Two heads that begin alike are equal if nothing was written
            in between, which may reveal who is a member: a head that is asked for begins anew.
    """

    def keyed(purpose: bytes, text: bytes) -> str:
        return hmac.new(secret, purpose + text + hashed, hashlib.sha256).hexdigest()

    start = keyed(b"once", b"")[:32] if once is None else once
    return f"{start}:{keyed(b'head', start.encode())}"


def release_digest(salt: bytes, release: Row, charges: Iterator[Integers]) -> bytes:
    """What an event did to a release: its row, and its charges.

    Args:
        salt: of the ledger.
        release: name, question, state, at_most, part, whole, result, opened, closed.
        charges: account and amount, in the order of accounts.
    """
    *facts, result, opened, closed = release
    hashed = None if result is None else hashlib.sha256(result).hexdigest()
    digest = Digest(salt, *facts, hashed, opened, closed)
    for rows in charges:
        digest.rows(rows)
    return digest.value
