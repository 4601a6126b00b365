"""Audit of a ledger: replay all events, charges and balances.

Findings name the kind of the wrong row, never the person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilons.errors import LedgerError
from epsilons.ledger import book as units, store as chain
from epsilons.ledger.book import Book
from epsilons.ledger.enrolment import changes_digest
from epsilons.ledger.store import VERSION
from epsilons.results.report.numbers import legible
from epsilons.types import Integers

__all__ = ["Findings", "audit"]

KINDS = {"opened": "open", "drawing": "drawing", "settled": "settled"}
KINDS |= {"failed": "failed", "abandoned": "abandoned"}
"""The state of a release after each kind of event."""

GONE = "let go"
"""The event that removes the row of a release: nothing was drawn, and nobody was charged."""

NO_HEAD = "The chain does not contain the given head: its end was removed, or it was rebuilt."


@dataclass(frozen=True)
class Findings:
    """The result of an audit.

    Attributes:
        head: the end of the hash chain, as `Ledger.head` returns it.
        events: the number of events that were replayed; None under add/remove, where it would
            reveal membership.
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
        if not self.holds:
            return legible("\n".join(["The ledger was changed from outside:", *self.problems]))
        counted = "" if self.events is None else f"{self.events:,} events, "
        return f"The ledger holds: {counted}head {self.head}."


def audit(book: Book, head: str | None) -> Findings:
    """Replay a ledger, and return the problems found.

    Args:
        book: the ledger.
        head: an earlier end of its chain, stored elsewhere or in a release.
    """
    with book.store.read():
        last = chain.last_of(book.store)
        problems = [*_events(book, head), *_releases(book), *_accounts(book)]
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
    for place, (number, kind, release, content, at, hashed) in enumerate(rows, 1):
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
        yield NO_HEAD
    told = {number for number, *_ in rows}
    changes = store.rows("SELECT DISTINCT event FROM changes")
    if {each for (each,) in changes} - told:
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
    row = book.row(release)
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
    ended: dict[int, str] = dict(
        store.rows("SELECT release, kind FROM events WHERE release IS NOT NULL ORDER BY number")
    )
    states = {release: KINDS.get(kind) for release, kind in ended.items() if kind != GONE}
    held = store.rows("SELECT number, state, at_most FROM releases")
    if states != {number: state for number, state, _ in held}:
        yield "There are releases that no event opened or closed, or some are missing."
    limits = dict.fromkeys(ended, 0)
    limits |= {each: most for each, state, most in held if state not in ("open", "abandoned")}
    paid = "SELECT coalesce(max(amount), 0) FROM charges WHERE release = ?"
    over = [limit for each, limit in limits.items() if store.rows(paid, each)[0][0] > limit]
    ((low, high),) = store.rows(
        "SELECT (SELECT min(release) FROM charges), (SELECT max(release) FROM charges)"
    )
    if 0 in over or (high is not None and (low < 1 or high > max(limits, default=0))):
        yield "There are charges of releases that charged nobody."
    if any(over):
        yield "A release charged somebody more than its limit."


def _accounts(book: Book) -> Iterator[str]:
    """Yield problems of balances, and of the ids of accounts."""
    store = book.store
    changes = store.integers(3, "SELECT account, was, now FROM changes ORDER BY event")
    charges = store.integers(
        2, "SELECT account, CAST(sum(amount) AS BIGINT) FROM charges GROUP BY account"
    )
    parts, gone, altered = [np.empty((0, 4), dtype=np.int64)], set(), False
    for batch in store.batches("SELECT number, budget, spent, most, person, mark FROM accounts"):
        parts.append(np.array([row[:4] for row in batch], dtype=np.int64))
        gone |= {number for number, *_, who, _ in batch if who is None}
        altered = altered or any(
            chain.mark(book.secret, who) != mark for *_, who, mark in batch if who is not None
        )
    if altered:
        yield "The id of an account was changed."
    yield from _identities(book, gone)
    accounts = np.concatenate(parts)
    accounts = accounts[np.argsort(accounts[:, 0])]
    if not np.array_equal(np.unique(changes[:, 0]), accounts[:, 0]):
        yield "There are accounts that nobody enrolled, or some are missing."
        return
    yield from _balances(accounts, changes, charges)
    yield from _limits(book, accounts)


def _identities(book: Book, gone: set[int]) -> Iterator[str]:
    """Yield problems of erased ids, given the accounts without an id."""
    # The last erasure or return of each account: its kind and its reason.
    last = {
        account: (kind, consent)
        for account, kind, consent in book.store.rows(
            "SELECT changes.account, events.kind, changes.consent FROM changes "
            "JOIN events ON events.number = changes.event "
            "WHERE events.kind IN ('erased', 'returned') ORDER BY events.number"
        )
    }
    if any(last.get(number, ("", ""))[0] != "erased" for number in gone):
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


def _balances(accounts: Integers, changes: Integers, charges: Integers) -> Iterator[str]:
    """Yield problems of budgets and spending.

    Args:
        accounts: number, budget, spent and most, ascending.
        changes: account, old budget and new budget, in order.
        charges: account and amount.
    """
    number, budget, spent, most = accounts.T
    changed = np.searchsorted(number, changes[:, 0])
    given, highest = np.full((2, len(number)), -1)
    given[changed] = changes[:, 2]  # NumPy keeps the last of repeated indices
    np.maximum.at(highest, changed, changes[:, 2])
    known = np.isin(charges[:, 0], number)
    if not known.all():
        yield "There are charges of accounts that do not exist."
    paid = np.zeros_like(number)
    np.add.at(paid, np.searchsorted(number, charges[known, 0]), charges[known, 1])
    if (paid != spent).any():
        yield "What an account has spent is not the sum of its charges."
    if ((given != budget) & (given >= 0)).any():
        yield "The budget of an account is not what was last given."
    if (spent > most).any() or (most > np.maximum(highest, spent)).any():
        yield "An account is overdrawn, or may be."
    if (budget > units.PUBLIC).any():
        yield "The budget of an account is beyond all budgets."
