"""Audit of a ledger: replay events, charges and balances, all of them or those since a head.

An audit since a head reads only what later events wrote, and the accounts of the people whom they
changed or charged. Budgets and spending of these people at the head follow from their accounts
today and from what happened since; they are not compared with what was written before the head.

Findings name the kind of the wrong row, never the person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from epsilons.errors import LedgerError
from epsilons.ledger import book as units, store as chain
from epsilons.ledger.book import FEW, Book
from epsilons.ledger.enrolment import NEW, changes_digest
from epsilons.ledger.store import VERSION
from epsilons.results.report.numbers import legible
from epsilons.types import Booleans, Integers

__all__ = ["Findings", "audit"]

KINDS = {"opened": "open", "drawing": "drawing", "settled": "settled"}
KINDS |= {"failed": "failed", "abandoned": "abandoned"}
"""The state of a release after each kind of event."""

GONE = "let go"
"""The event that removes the row of a release: nothing was drawn, and nobody was charged."""

EVER: Final = -(2**62)
"""Before every event, release and account: the audit of everything begins here."""

WINDOW: Final = 1_000
"""Events that are compared with a head at a time, from the end of the chain backwards."""

NO_HEAD = "The chain does not contain the given head: its end was removed, or it was rebuilt."


@dataclass(frozen=True)
class Findings:
    """The result of an audit.

    Attributes:
        head: the end of the hash chain, as `Ledger.head` returns it.
        events: the number of events that were replayed; None under add/remove, where it would
            reveal membership.
        problems: one sentence for each problem; empty if the ledger is unaltered.
        since: the head after which events were replayed; None if all of them were.
    """

    head: str
    events: int | None
    problems: tuple[str, ...]
    since: str | None = None

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
            "since": self.since,
        }

    def __str__(self) -> str:
        if not self.holds:
            return legible("\n".join(["The ledger was changed from outside:", *self.problems]))
        counted = "" if self.events is None else f"{self.events:,} events, "
        if self.since is None:
            return f"The ledger holds: {counted}head {self.head}."
        return (
            f"The ledger holds since the given head: {counted}head {self.head}. What was written "
            "before that head was not checked again: budgets and spending at that point are taken "
            "as they were."
        )


def audit(book: Book, head: str | None, since: str | None) -> Findings:
    """Replay a ledger, and return the problems found.

    Args:
        book: the ledger.
        head: an earlier end of its chain, stored elsewhere or in a release.
        since: the same, if only what happened after it is to be replayed.
    """
    with book.store.read():
        last = chain.last_of(book.store)
        after = EVER if since is None else _place(book, since, last[0])
        problems = [NO_HEAD]
        if after is not None:
            problems = [*_events(book, head, after), *_releases(book, after)]
            problems += _accounts(book, after)
    events = None if book.private or after is None else last[0] - max(after, 0)
    return Findings(book.head(last, fresh=True), events, tuple(dict.fromkeys(problems)), since)


def _place(book: Book, head: str, last: int) -> int | None:
    """Return the number of the event that a head belongs to; None if there is no such event."""
    for end in range(last, 0, -WINDOW):
        for number, hashed in book.store.rows(
            "SELECT number, hash FROM events WHERE number > ? AND number <= ? ORDER BY number DESC",
            *(end - WINDOW, end),
        ):
            if book.is_head(head, (number, hashed)):
                return int(number)
    return None


def _events(book: Book, head: str | None, after: int) -> Iterator[str]:
    """Yield problems of the chain, and events that do not match the tables.

    Args:
        book: the ledger.
        head: as for `audit`.
        after: the number of the last event that is not replayed. Its own hash is checked too.
    """
    store = book.store
    rows = store.rows(
        "SELECT number, kind, release, content, at, hash FROM events WHERE number >= ? "
        "ORDER BY number",
        after,
    )
    last: dict[Any, Any] = dict(
        store.rows(
            "SELECT release, max(number) FROM events WHERE number > ? GROUP BY release", after
        )
    )
    previous = store.one("SELECT hash FROM events WHERE number = ?", after - 1)
    before, met = chain.START if previous is None else previous[0], head is None
    for place, (number, kind, release, content, at, hashed) in enumerate(rows, max(after, 1)):
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
        if number > after and _done(book, number, kind, release, last) != content:
            yield f"{_named(book, number)} ({kind}): what it did does not match the tables."
    if not met:
        yield NO_HEAD
    told = {number for number, *_ in rows}
    changes = store.rows("SELECT DISTINCT event FROM changes WHERE event > ?", after)
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


def _releases(book: Book, after: int) -> Iterator[str]:
    """Yield problems of releases that comparing digests does not find."""
    store = book.store
    (version,) = store.rows("SELECT version FROM ledger")[0]
    if version != VERSION:
        yield "The ledger says another version than its tables have."
    ended = _ended(book, after)
    states = {release: KINDS.get(kind) for release, kind in ended.items() if kind != GONE}
    opened = store.one(
        "SELECT release FROM events WHERE kind = 'opened' AND number <= ? "
        "ORDER BY number DESC LIMIT 1",
        after,
    )
    earlier = EVER if opened is None else int(opened[0])  # numbers of releases ascend
    held = store.rows(
        "SELECT number, state, at_most FROM releases WHERE number > ? "
        "OR number IN (SELECT release FROM events WHERE number > ?)",
        *(earlier, after),
    )
    if states != {number: state for number, state, _ in held}:
        yield "There are releases that no event opened or closed, or some are missing."
    limits = dict.fromkeys(ended, 0)
    limits |= {each: most for each, state, most in held if state not in ("open", "abandoned")}
    paid = "SELECT coalesce(max(amount), 0) FROM charges WHERE release = ?"
    over = [limit for each, limit in limits.items() if store.rows(paid, each)[0][0] > limit]
    ((low, high),) = store.rows(
        "SELECT (SELECT min(release) FROM charges), (SELECT max(release) FROM charges)"
    )
    if 0 in over or (high is not None and (low < 1 or high > max(earlier, *limits, 0))):
        yield "There are charges of releases that charged nobody."
    if any(over):
        yield "A release charged somebody more than its limit."


def _ended(book: Book, after: int) -> dict[int, str]:
    """Return the kind of the last event of each release that has an event after this one."""
    events = book.store.rows(
        "SELECT release, kind FROM events WHERE release IS NOT NULL AND number > ? ORDER BY number",
        after,
    )
    return {int(release): str(kind) for release, kind in events}


def _accounts(book: Book, after: int) -> Iterator[str]:
    """Yield problems of balances, and of the ids of accounts."""
    store = book.store
    changes = store.integers(
        3, "SELECT account, was, now FROM changes WHERE event > ? ORDER BY event", after
    )
    first, source = EVER, "accounts"
    if after == EVER:
        charges = store.integers(
            2, "SELECT account, CAST(sum(amount) AS BIGINT) FROM charges GROUP BY account"
        )
    else:
        none = np.empty((0, 2), dtype=np.int64)
        paid = (rows for release in _ended(book, after) for rows in book.charges(release))
        charges = np.concatenate([none, *paid])
        first = int(changes[changes[:, 1] == NEW, 0].min(initial=units.PUBLIC))
        source = _touched(book, np.union1d(changes[:, 0], charges[:, 0]))
    parts, gone, altered = [np.empty((0, 4), dtype=np.int64)], set(), False
    sql = f"SELECT number, budget, spent, most, person, mark FROM {source}"  # noqa: S608
    for batch in store.batches(sql):
        parts.append(np.array([row[:4] for row in batch], dtype=np.int64))
        gone |= {number for number, *_, who, _ in batch if who is None}
        altered = altered or any(
            chain.mark(book.secret, who) != mark for *_, who, mark in batch if who is not None
        )
    if altered:
        yield "The id of an account was changed."
    yield from _identities(book, gone, after)
    accounts = np.concatenate(parts)
    accounts = accounts[np.argsort(accounts[:, 0])]
    number = accounts[:, 0]
    old = number < first
    ((new,),) = store.rows("SELECT count(*) FROM accounts WHERE number >= ?", first)
    if new != (~old).sum() or not np.array_equal(np.union1d(changes[:, 0], number[old]), number):
        yield "There are accounts that nobody enrolled, or some are missing."
        return
    yield from _balances(accounts, changes, charges, old)
    yield from _limits(book, accounts)


def _touched(book: Book, numbers: Integers) -> str:
    """Return the source of accounts with these numbers, for a query.

    If these are many, it is all accounts: reading them in order is faster than a search for each.
    """
    ((last,),) = book.store.rows("SELECT coalesce(max(number), 0) FROM accounts")
    if len(numbers) * FEW >= last:
        return "accounts"
    book.store.pick(numbers)
    return "accounts WHERE number IN (SELECT place FROM wanted)"


def _identities(book: Book, gone: set[int], after: int) -> Iterator[str]:
    """Yield problems of erased ids, given the accounts without an id."""
    last = _erasures(book, after)
    if not gone <= last.keys():
        # A release that was open when somebody was erased could charge them later.
        earlier = _erasures(book, EVER)
        last |= {number: earlier.get(number, ("", "")) for number in gone - last.keys()}
    if any(last[number][0] != "erased" for number in gone):
        yield "The id of an account was removed without being erased."
    # Version 0.2.0 wrote "erased" as the reason for an erasure, and no event for a return.
    if any(each == ("erased", "") and number not in gone for number, each in last.items()):
        yield "The id of an account that was erased was written back."


def _erasures(book: Book, after: int) -> dict[int, tuple[str, str]]:
    """Return the last erasure or return of each account after an event: its kind and its reason."""
    return {
        account: (kind, consent)
        for account, kind, consent in book.store.rows(
            "SELECT changes.account, events.kind, changes.consent FROM changes "
            "JOIN events ON events.number = changes.event "
            "WHERE changes.event > ? AND events.kind IN ('erased', 'returned') "
            "ORDER BY events.number",
            after,
        )
    }


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


def _balances(
    accounts: Integers, changes: Integers, charges: Integers, old: Booleans
) -> Iterator[str]:
    """Yield problems of budgets and spending.

    Args:
        accounts: number, budget, spent and most, ascending.
        changes: account, old budget and new budget, in order.
        charges: account and amount.
        old: the accounts that are older than these changes and charges. They had some budget and
            had spent some amount.
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
    if np.where(old, paid > spent, paid != spent).any():
        yield "What an account has spent is not the sum of its charges."
    if ((given != budget) & (given >= 0)).any():
        yield "The budget of an account is not what was last given."
    if (spent > most).any() or (~old & (most > np.maximum(highest, spent))).any():
        yield "An account is overdrawn, or may be."
    if (budget > units.PUBLIC).any():
        yield "The budget of an account is beyond all budgets."
