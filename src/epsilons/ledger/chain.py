"""The chain of events: each has a hash that covers what it did and the hash of the one before.

A row that is changed, removed or added changes a hash. A chain that is computed anew does not have
the heads that releases carried out. Under add/remove all that leaves the ledger is keyed with its
secret: a bare hash of charges, or a number of events, would reveal who is a member.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from epsilons.ledger.store import Row, Store
from epsilons.types import Integers

__all__ = ["START", "Digest", "append", "head_of", "keyed_head", "link", "mark", "release_digest"]

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
