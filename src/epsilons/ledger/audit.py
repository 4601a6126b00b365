"""Audit of a ledger: replay every event, every charge and every balance.

Findings name the kind of the wrong row, never the person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilons.errors import LedgerError
from epsilons.ledger import book as units
from epsilons.ledger import store as chain
from epsilons.ledger.book import Book
from epsilons.ledger.enrolment import changes_digest
from epsilons.ledger.store import VERSION
from epsilons.types import Integers

__all__ = ["Findings", "audit"]

KINDS = {"opened": "open", "drawing": "drawing", "settled": "settled"}
KINDS |= {"failed": "failed", "abandoned": "abandoned"}
"""The state of a release after each kind of event."""

GONE = "let go"
"""The event that removes the row of a release: nothing was drawn, and nobody was charged."""


@dataclass(frozen=True)
class Findings:
    """The result of an audit.

    Attributes:
        head: the end of the hash chain, as `Ledger.head` returns it.
        events: the number of events; None under add/remove, where it would reveal membership.
        problems: one sentence for each problem; empty if the ledger is unaltered.
    """

    head: str
    events: int | None
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def require(self) -> None:
        """Raise an error if there are problems.

        Raises:
            LedgerError: there are problems.
        """
        if self.problems:
            raise LedgerError(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return {
            "holds": self.holds,
            "head": self.head,
            "events": self.events,
            "problems": list(self.problems),
        }

    def __str__(self) -> str:
        if self.holds:
            counted = "" if self.events is None else f"{self.events:,} events, "
            return f"The ledger holds: {counted}head {self.head}."
        return "\n".join(["The ledger was changed from outside:", *self.problems])


def audit(book: Book, head: str | None) -> Findings:
    """Replay a ledger, and return the problems found.

    Args:
        book: the ledger.
        head: an earlier end of its chain, stored elsewhere or in a release.
    """
    with book.store.read():
        problems = [*_events(book, head), *_releases(book), *_accounts(book)]
        last = chain.last_of(book.store)
    events = None if book.private else last[0]
    return Findings(book.head(last, fresh=True), events, tuple(dict.fromkeys(problems)))


def _events(book: Book, head: str | None) -> Iterator[str]:
    """Yield problems of the chain, and events that do not match the tables."""
    store = book.store
    rows = store.rows("SELECT number, kind, release, content, at, hash FROM events ORDER BY number")
    last: dict[Any, Any] = dict(
        store.rows("SELECT release, max(number) FROM events GROUP BY release")
    )
    before, met = chain.START, head is None
    for place, (number, kind, release, content, at, hashed) in enumerate(rows, start=1):
        if number != place:
            yield f"{_named(book, place)} is missing."
            return
        before = chain.link(before, (number, kind, release, content, at))
        if before != hashed:
            yield (
                f"{_named(book, number)}: its hash does not match what it says and the event "
                "before it."
            )
            return
        met = met or book.is_head(head or "", (number, before))
        if _done(book, number, kind, release, last) != content:
            yield f"{_named(book, number)} ({kind}): what it did does not match the tables."
    if not met:
        yield "The chain does not contain the given head: its end was removed, or it was rebuilt."
    told = {number for number, *_ in rows}
    if {each for (each,) in store.rows("SELECT DISTINCT event FROM changes")} - told:
        yield "There are changes of budgets that no event made."


def _named(book: Book, number: int) -> str:
    """Return a name for an event in messages. Under add/remove, its number is private."""
    return "An event" if book.private else f"Event {number}"


def _done(book: Book, number: int, kind: str, release: int | None, last: dict[Any, int]) -> bytes:
    """Return the digest of an event's changes, recomputed from the tables."""
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
    if row is not None and last[release] == number:
        return chain.release_digest(book.salt, row, book.charges(release))
    ((ended,),) = store.rows("SELECT kind FROM events WHERE number = ?", last[release])
    if (kind == "drawing") if row is not None else (ended == GONE):
        # Prepaid charges and removed releases are no longer in any table, so their digest cannot be
        # recomputed: take it from the chain.
        found = store.rows("SELECT content FROM events WHERE number = ?", number)
        told: bytes = found[0][0]
        return told
    if row is None:
        return b""
    # Later events changed the row, but its content when it was opened can be reconstructed.
    name, question, _, *rule, _, opened, _ = row
    then = (name, question, "open", *rule, None, opened, None)
    return chain.release_digest(book.salt, then, iter(()))


def _releases(book: Book) -> Iterator[str]:
    """Yield problems of releases that comparing digests does not find."""
    store = book.store
    (version,) = store.rows("SELECT version FROM ledger")[0]
    if version != VERSION:
        yield "The ledger says another version than its tables have."
    events = store.rows(
        "SELECT release, kind FROM events WHERE release IS NOT NULL ORDER BY number"
    )
    ended: dict[Any, Any] = dict(events)
    states = {release: KINDS.get(kind) for release, kind in ended.items() if kind != GONE}
    held: dict[Any, Any] = dict(store.rows("SELECT number, state FROM releases"))
    if states != held:
        yield "There are releases that no event opened or closed, or some are missing."
    paid = {each for (each,) in store.rows("SELECT DISTINCT release FROM charges")}
    free = {number for number, state in held.items() if state in ("open", "abandoned")}
    if not paid <= set(held) - free:
        yield "There are charges of releases that charged nobody."


def _accounts(book: Book) -> Iterator[str]:
    """Yield problems of balances, and of the ids of accounts."""
    store = book.store
    marks = "SELECT person, mark FROM accounts WHERE person IS NOT NULL"
    for batch in store.batches(marks):
        if any(chain.mark(book.secret, who) != mark for who, mark in batch):
            yield "The id of an account was changed."
            break
    yield from _identities(book)
    accounts = book.every("number", "budget", "spent", "most")
    changes = store.integers(2, "SELECT account, now FROM changes ORDER BY event")
    charges = store.integers(
        2, "SELECT account, CAST(sum(amount) AS BIGINT) FROM charges GROUP BY account"
    )
    number = accounts[:, 0]
    size = int(max(each[:, 0].max(initial=0) for each in (accounts, changes, charges))) + 1
    given, highest = np.full(size, -1), np.full(size, -1)
    given[changes[:, 0]] = changes[:, 1]  # NumPy keeps the last of repeated indices
    np.maximum.at(highest, changes[:, 0], changes[:, 1])
    if not np.array_equal(np.flatnonzero(given >= 0), number):
        yield "There are accounts that nobody enrolled, or some are missing."
        return
    yield from _balances(accounts, given, highest, _by_account(charges, size))
    yield from _limits(book, accounts)


def _identities(book: Book) -> Iterator[str]:
    """Yield problems of erased ids."""
    store = book.store
    last: dict[int, tuple[str, str]] = {
        account: (kind, consent)
        for account, kind, consent in store.rows(
            "SELECT changes.account, events.kind, changes.consent FROM changes "
            "JOIN events ON events.number = changes.event "
            "WHERE events.kind IN ('erased', 'returned') ORDER BY events.number"
        )
    }
    gone = {each for (each,) in store.rows("SELECT number FROM accounts WHERE person IS NULL")}
    if any(last.get(number, ("",))[0] != "erased" for number in gone):
        yield "The id of an account was removed without being erased."
    # Version 0.2.0 wrote "erased" as the reason for an erasure, and no event for a return.
    if any(each == ("erased", "") and number not in gone for number, each in last.items()):
        yield "The id of an account that was erased was written back."


def _limits(book: Book, accounts: Integers) -> Iterator[str]:
    """Yield problems of `most`, the upper limit on the spending of an account.

    `most` exceeds the budget only if the budget was lowered while a release was open. If that
    release was then drawn in stages, version 0.2.0 reset `most` only when the release was closed.
    """
    number, budget, spent, most = accounts.T
    beyond = number[most != np.maximum(budget, spent)]
    store = book.store
    if not len(beyond) or store.rows("SELECT 1 FROM releases WHERE state = 'open' LIMIT 1"):
        return
    lowered = store.integers(
        1,
        "SELECT DISTINCT changes.account FROM changes "
        "JOIN events AS began ON began.number < changes.event AND began.kind = 'opened' "
        "JOIN events AS drawn ON drawn.release = began.release AND drawn.kind = 'drawing' "
        "AND drawn.number > changes.event "
        "JOIN releases ON releases.number = began.release AND releases.state = 'drawing' "
        "WHERE changes.now < changes.was",
    )
    if not np.isin(beyond, lowered).all():
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
