"""Replays a whole ledger: every event, every charge, every balance.

What is found is told by what kind of row it is in, and never whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilons.errors import LedgerError
from epsilons.ledger import chain, units
from epsilons.ledger.book import Book
from epsilons.ledger.enrolment import changes_digest
from epsilons.ledger.schema import VERSION
from epsilons.types import Integers

__all__ = ["Findings", "audit"]

KINDS = {"opened": "open", "drawing": "drawing", "settled": "settled"}
KINDS |= {"failed": "failed", "abandoned": "abandoned"}
"""The state of a release after each event of it."""


@dataclass(frozen=True)
class Findings:
    """What a check found.

    Attributes:
        head: the end of the chain.
        events: how many there are.
        problems: what is wrong, a sentence each; nothing if the ledger is as it was written.
    """

    head: str
    events: int
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def require(self) -> None:
        """Raise unless nothing is wrong.

        Raises:
            LedgerError: something is.
        """
        if self.problems:
            raise LedgerError(str(self))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "holds": self.holds,
            "head": self.head,
            "events": self.events,
            "problems": list(self.problems),
        }

    def __str__(self) -> str:
        if self.holds:
            return f"The ledger holds: {self.events:,} events, head {self.head}."
        return "\n".join(["The ledger was changed from outside:", *self.problems])


def audit(book: Book, head: str | None) -> Findings:
    """Replay a ledger.

    Args:
        book: the ledger.
        head: an end of its chain that was kept elsewhere, or that a release carried out.
    """
    with book.store.read():
        problems = [*_events(book, head), *_releases(book), *_accounts(book)]
        number, hashed = chain.last_of(book.store)
    return Findings(chain.head_of(number, hashed), number, tuple(dict.fromkeys(problems)))


def _events(book: Book, head: str | None) -> Iterator[str]:
    """What is wrong with the chain, and with what its events say that they did."""
    store = book.store
    rows = store.rows("SELECT number, kind, release, content, at, hash FROM events ORDER BY number")
    last: dict[Any, Any] = dict(
        store.rows("SELECT release, max(number) FROM events GROUP BY release")
    )
    before, wanted = chain.START, (head or "").partition(":")
    met = head is None
    for place, (number, kind, release, content, at, hashed) in enumerate(rows, start=1):
        if number != place:
            yield f"Event {place} is missing."
            return
        before = chain.link(before, (number, kind, release, content, at))
        if before != hashed:
            yield f"Event {number}: its hash does not match what it says and the event before it."
            return
        met = met or wanted == (str(number), ":", before.hex())
        if _done(book, number, kind, release, last) != content:
            yield f"Event {number} ({kind}): what it did does not match the tables."
    if not met:
        yield "The chain does not hold the given head: its end was removed, or it was made anew."
    told = {number for number, *_ in rows}
    if {each for (each,) in store.rows("SELECT DISTINCT event FROM changes")} - told:
        yield "There are changes of budgets that no event made."


def _done(book: Book, number: int, kind: str, release: int | None, last: dict[Any, int]) -> bytes:
    """What an event did, computed from the tables."""
    store = book.store
    if kind == "created":
        version, neighbours, created = store.rows(
            "SELECT version, neighbours, created FROM ledger"
        )[0]
        return chain.Digest(b"", version, neighbours, created).value
    if release is None:
        return changes_digest(book, number)
    row = store.one(
        "SELECT name, question, state, at_most, part, whole, result, opened, closed "
        "FROM releases WHERE number = ?",
        release,
    )
    if row is None:
        return b""
    if last[release] == number:
        return chain.release_digest(book.salt, row, book.charges(release))
    # Later events changed the row: what was opened is known, and what was prepaid is chained.
    name, question, _, *rule, _, opened, _ = row
    if kind == "drawing":
        found = store.rows("SELECT content FROM events WHERE number = ?", number)
        told: bytes = found[0][0]
        return told
    then = (name, question, "open", *rule, None, opened, None)
    return chain.release_digest(book.salt, then, iter(()))


def _releases(book: Book) -> Iterator[str]:
    """What is wrong with releases that events do not tell."""
    store = book.store
    (version,) = store.rows("SELECT version FROM ledger")[0]
    if version != VERSION:
        yield "The ledger says another version than its tables have."
    events = store.rows(
        "SELECT release, kind FROM events WHERE release IS NOT NULL ORDER BY number"
    )
    states = {release: KINDS.get(kind) for release, kind in events}
    held: dict[Any, Any] = dict(store.rows("SELECT number, state FROM releases"))
    if states != held:
        yield "There are releases that no event opened or closed, or some are missing."
    paid = {each for (each,) in store.rows("SELECT DISTINCT release FROM charges")}
    free = {number for number, state in held.items() if state in ("open", "abandoned")}
    if not paid <= set(held) - free:
        yield "There are charges of releases that charged nobody."


def _accounts(book: Book) -> Iterator[str]:
    """What is wrong with balances, and with who they are of."""
    store = book.store
    marks = "SELECT person, mark FROM accounts WHERE person IS NOT NULL"
    for batch in store.batches(marks):
        if any(chain.mark(book.secret, who) != mark for who, mark in batch):
            yield "The id of an account was changed."
            break
    erased = store.rows(
        "SELECT count(*) FROM accounts WHERE person IS NULL AND number NOT IN (SELECT "
        "changes.account FROM changes JOIN events ON events.number = changes.event "
        "WHERE events.kind = 'erased')"
    )
    if erased[0][0]:
        yield "The id of an account was removed without being erased."
    accounts = store.integers(4, "SELECT number, budget, spent, most FROM accounts ORDER BY number")
    changes = store.integers(2, "SELECT account, now FROM changes ORDER BY event")
    charges = store.integers(
        2, "SELECT account, CAST(sum(amount) AS BIGINT) FROM charges GROUP BY account"
    )
    number = accounts[:, 0]
    size = int(max(each[:, 0].max(initial=0) for each in (accounts, changes, charges))) + 1
    given, highest = np.full(size, -1), np.full(size, -1)
    given[changes[:, 0]] = changes[:, 1]  # the last one stays
    np.maximum.at(highest, changes[:, 0], changes[:, 1])
    if not np.array_equal(np.flatnonzero(given >= 0), number):
        yield "There are accounts that nobody enrolled, or some are missing."
        return
    yield from _balances(accounts, given, highest, _by_account(charges, size))
    busy = "SELECT count(*) FROM releases WHERE state IN ('open', 'drawing')"
    _, budget, spent, most = accounts.T
    if not store.rows(busy)[0][0] and (most != np.maximum(budget, spent)).any():
        yield "An account may go beyond its budget, and no release is open."


def _by_account(charges: Integers, size: int) -> Integers:
    spent = np.zeros(size, dtype=np.int64)
    spent[charges[:, 0]] = charges[:, 1]
    return spent


def _balances(
    accounts: Integers, given: Integers, highest: Integers, paid: Integers
) -> Iterator[str]:
    number, budget, spent, most = accounts.T
    if paid.sum() != paid[number].sum():
        yield "There are charges of accounts that do not exist."
    if (paid[number] != spent).any():
        yield "What an account has spent is not the sum of its charges."
    if (given[number] != budget).any():
        yield "The budget of an account is not what was last given."
    if (spent > most).any() or (most > np.maximum(highest[number], spent)).any():
        yield "An account is overdrawn, or may be."
    if (budget > units.PUBLIC).any():
        yield "The budget of an account is beyond all budgets."
