"""Enrolment: new accounts, raised and lowered budgets, erased ids.

A budget can be lowered at any time; spending is never undone. It can be raised only with the
person's consent, which is recorded. A lower budget takes effect with the next sheet of offers. An
open release may still charge earlier offers. A person who was erased and comes back gets their
old account, and an event records the return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from epsilons import door, made
from epsilons.errors import LedgerError
from epsilons.ledger import store as chain
from epsilons.ledger.book import Book, chunks
from epsilons.ledger.store import Row
from epsilons.types import Integers

__all__ = ["Enrolment", "erase", "give"]

NEW: Final = -1
"""Stands for the previous budget of a new account, which has none."""


@dataclass(frozen=True)
class Enrolment:
    """The outcome of an enrolment; all numbers are None if they would reveal membership.

    Attributes:
        people: the number of people given.
        new: the number of new accounts.
        raised: the number of raised budgets.
        lowered: the number of lowered budgets.
    """

    people: int | None
    new: int | None
    raised: int | None
    lowered: int | None

    def __str__(self) -> str:
        if self.people is None:
            return "Enrolled."
        return (
            f"Enrolled {self.people:,} people: {self.new:,} new, {self.raised:,} raised, "
            f"{self.lowered:,} lowered."
        )


def give(
    book: Book, who: door.People, budgets: Integers, consent: str, *, may_raise: bool
) -> Enrolment:
    """Give people these budgets, in one transaction.

    Args:
        book: the ledger.
        who: distinct people.
        budgets: one budget for each of them, in nano-ε.
        consent: the reason for the changes, or "".
        may_raise: whether budgets may be raised. If not, higher budgets are refused under replace.
            Under add/remove they are ignored, because a refusal would reveal membership.

    Raises:
        LedgerError: under replace, a budget would be raised although `may_raise` is False.
    """
    store = book.store
    with store.write():
        known, back = _known(book, who)
        place, account, was = known.T
        now = budgets[place]
        if not may_raise:
            if not book.private and (now > was).any():
                raise LedgerError(
                    f"epsilon: {int((now > was).sum()):,} people would give more than before. A "
                    "budget is raised only with the person's own consent: say in consent= how it "
                    "was given, such as consent='letter of 3 May'."
                )
            now = np.minimum(now, was)
        _write(book, [back], "", "returned")
        added, marks = _insert(book, who, _new(book, who, place), budgets)
        changed = now != was
        changes = np.column_stack([account[changed], was[changed], now[changed]])
        _write(book, [changes, added], consent, "changed", marks)
    if book.private:
        return Enrolment(None, None, None, None)
    return Enrolment(len(who), len(added), int((now > was).sum()), int((now < was).sum()))


def _known(book: Book, who: door.People) -> tuple[Integers, Integers]:
    """Find people who have an account, and restore erased people who come back.

    Returns:
        Position, account and budget of everyone found, ordered by account; and for people who come
        back, the rows to record as changes: account, old budget, and new budget, which is the same.
    """
    store = book.store
    none = np.empty((0, 3), dtype=np.int64)
    known = np.concatenate([none, *(found[:, :3] for found in book.balances(who))])
    gone = store.rows("SELECT mark, number, budget FROM accounts WHERE person IS NULL")
    found = []
    if gone:
        erased = {each: rest for each, *rest in gone}
        fresh = np.setdiff1d(np.arange(len(who)), known[:, 0])
        for at, one in zip(fresh.tolist(), _ids(who, fresh), strict=True):
            for each in filter(None, (one, door.other_tag(one))):
                account = erased.pop(chain.mark(book.secret, each), None)
                if account is not None:
                    store.run("UPDATE accounts SET person = ? WHERE number = ?", each, account[0])
                    found.append([at, *account])
                    break
    back = np.array(found, dtype=np.int64).reshape(-1, 3)
    known = np.concatenate([known, back])
    return known[np.argsort(known[:, 1])], back[np.argsort(back[:, 1])][:, [1, 2, 2]]


def _ids(who: door.People, places: Integers) -> Iterator[bytes]:
    """Yield the tagged ids of some people."""
    return (each for batch in replace(who, ids=who.ids[places]).tagged() for each in batch)


def _new(book: Book, who: door.People, known: Integers) -> Integers:
    """Return the positions of people who get a new account, given those who have one."""
    fresh = np.ones(len(who), dtype=bool)
    fresh[known] = False
    added = np.flatnonzero(fresh)
    longest = book.store.longest
    if not book.private or longest is None:
        return added
    # Ignore ids that are too long: a refusal would reveal who is in the data.
    sizes = np.fromiter(map(len, _ids(who, added)), dtype=np.int64)
    return np.compress(sizes <= longest, added)


def _insert(
    book: Book, who: door.People, places: Integers, budgets: Integers
) -> tuple[Integers, bytearray]:
    """Insert new accounts.

    Returns:
        The rows to record as changes; and the marks of the accounts (keyed hashes of ids),
        concatenated.
    """
    secret, marks, store = book.secret, bytearray(), book.store
    first = int(store.rows("SELECT coalesce(max(number), 0) FROM accounts")[0][0]) + 1
    given = budgets[places]
    rows = np.column_stack([first + np.arange(len(given)), np.full(len(given), NEW), given])

    def accounts() -> Iterator[Row]:
        for person, (number, _, budget) in zip(_ids(who, places), chunks(rows), strict=True):
            mark = chain.mark(secret, person)
            marks.extend(mark)
            yield number, person, mark, budget, budget, 0

    columns = ("number", "person", "mark", "budget", "most", "spent")
    store.insert("accounts", columns, accounts())
    return rows, marks


def _write(
    book: Book,
    changes: list[Integers],
    consent: str,
    kind: str,
    marks: bytes | bytearray = b"",
) -> None:
    """Record changes of budgets, append them to the chain and apply them, in a write transaction.

    Args:
        book: the ledger.
        changes: arrays with the columns account, old budget and new budget, ascending by account.
            The first array is for known accounts. The others are for new accounts, which must
            already be in the table of accounts.
        consent: the reason.
        kind: the kind of event.
        marks: the marks of new accounts.
    """
    if not any(map(len, changes)):
        return
    store, at = book.store, made.now()
    event = chain.last_of(store)[0] + 1
    known, *new = changes
    columns = ("event", "consent", "account", "was", "now")
    store.insert("changes", columns, chunks(known, event, consent))
    for added in filter(len, new):
        store.run(
            f"INSERT INTO changes ({', '.join(columns)}) "  # noqa: S608
            "SELECT ?, ?, number, ?, budget FROM accounts WHERE number >= ?",
            *(event, consent, NEW, int(added[0, 0])),
        )
    held = int(store.rows("SELECT count(*) FROM releases WHERE state = 'open'")[0][0]) > 0
    store.run(
        "UPDATE accounts SET budget = changes.now, most = CASE "
        "WHEN changes.now > most THEN changes.now WHEN ? = 1 THEN most "
        "WHEN changes.now < spent THEN spent ELSE changes.now END "
        "FROM changes WHERE changes.event = ? AND changes.account = accounts.number "
        "AND changes.was >= 0",
        *(int(held), event),
    )
    chain.append(store, kind, None, _digest(book, changes, marks, [consent]), at)


def changes_digest(book: Book, event: int) -> bytes:
    """Return the digest of an event's changes to accounts, according to the tables."""
    store = book.store
    told = store.rows("SELECT DISTINCT consent FROM changes WHERE event = ?", event)
    changes = store.by_account(("account", "was", "now"), "changes WHERE event = ?", event)
    marks = store.batches(
        "SELECT accounts.mark FROM changes JOIN accounts ON accounts.number = changes.account "
        "WHERE changes.event = ? AND changes.was = ? ORDER BY changes.account",
        *(event, NEW),
    )
    new = b"".join(mark for batch in marks for (mark,) in batch)
    return _digest(book, changes, new, [consent for (consent,) in told])


def _digest(
    book: Book, changes: Iterable[Integers], marks: bytes | bytearray, consents: list[str]
) -> bytes:
    """Return a hash of changes, of the marks of new accounts, and of the reasons."""
    digest = chain.Digest(book.salt, "changes", sorted(consents))
    for rows in changes:
        digest.rows(rows)
    digest.many([marks])
    return digest.value


def erase(book: Book, person: bytes) -> None:
    """Replace the id of a person who has withdrawn by a keyed hash; their charges stay.

    Under add/remove erasing also withdraws, because a refusal would reveal membership.

    Raises:
        LedgerError: under replace, the person has not withdrawn, or has no account.
    """
    store = book.store
    with store.write():
        who = book.stored(person)
        found = store.one("SELECT number, budget, spent FROM accounts WHERE person = ?", who)
        if found is None:
            if book.private:
                return
            raise LedgerError("person: there is no such account.")
        number, budget, spent = found
        now = 0 if book.private else budget
        if now > spent:
            raise LedgerError("person: only people who withdrew can be erased: ledger.withdraw(…).")
        store.run("UPDATE accounts SET person = NULL WHERE number = ?", number)
        _write(book, [np.array([[number, budget, now]], dtype=np.int64)], "", "erased")
