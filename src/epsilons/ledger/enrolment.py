"""Enrolment: new accounts, raised and lowered budgets, erased ids.

A budget can be lowered at any time; spending is never undone. It can be raised only with the
person's consent, which is recorded. A lower budget takes effect with the next sheet of offers. An
open release may still charge earlier offers. A person who was erased and comes back gets their
old account, and an event records the return.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    book: Book, ids: list[bytes], budgets: Integers, consent: str, *, may_raise: bool
) -> Enrolment:
    """Give people these budgets, in one transaction.

    Args:
        book: the ledger.
        ids: distinct ids, each tagged with its type.
        budgets: one budget for each id, in nano-ε.
        consent: the reason for the changes, or "".
        may_raise: whether budgets may be raised. If not, higher budgets are refused under replace.
            Under add/remove they are ignored, because a refusal would reveal membership.

    Raises:
        LedgerError: under replace, a budget would be raised although `may_raise` is False.
    """
    store = book.store
    with store.write():
        known, back = _known(book, ids)
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
        fresh = np.ones(len(ids), dtype=bool)
        fresh[place] = False
        if book.private and store.longest is not None:
            # Ignore ids that are too long: a refusal would reveal who is in the data.
            fresh &= [len(each) <= store.longest for each in ids]
        added = np.flatnonzero(fresh)
        first = int(store.rows("SELECT coalesce(max(number), 0) FROM accounts")[0][0]) + 1
        _write(book, back, "", "returned")
        rows = np.column_stack([first + np.arange(len(added)), budgets[added]])
        marks = _insert(book, [ids[at] for at in added.tolist()], rows)
        changed = now != was
        changes = np.column_stack([account[changed], was[changed], now[changed]])
        new = np.column_stack([rows[:, 0], np.full(len(rows), NEW), rows[:, 1]])
        _write(book, np.concatenate([changes, new]), consent, "changed", marks)
    if book.private:
        return Enrolment(None, None, None, None)
    return Enrolment(len(ids), len(added), int((now > was).sum()), int((now < was).sum()))


def _known(book: Book, ids: list[bytes]) -> tuple[Integers, Integers]:
    """Find people who have an account, and restore erased people who come back.

    Returns:
        Position, account and budget of everyone found, ordered by account; and for people who come
        back, the rows to record as changes: account, old budget, and new budget, which is the same.
    """
    store = book.store
    known = book.accounts(ids, "number", "budget")
    gone = store.rows("SELECT mark, number, budget FROM accounts WHERE person IS NULL")
    found = []
    if gone:
        erased = {each: rest for each, *rest in gone}
        others = np.setdiff1d(np.arange(len(ids)), known[:, 0])
        for at in others.tolist():
            for who in filter(None, (ids[at], door.other_tag(ids[at]))):
                account = erased.pop(chain.mark(book.secret, who), None)
                if account is not None:
                    store.run("UPDATE accounts SET person = ? WHERE number = ?", who, account[0])
                    found.append([at, *account])
                    break
    back = np.array(found, dtype=np.int64).reshape(-1, 3)
    known = np.concatenate([known, back])
    return known[np.argsort(known[:, 1])], back[:, [1, 2, 2]]


def _insert(book: Book, ids: list[bytes], rows: Integers) -> bytearray:
    """Insert new accounts; return their marks (keyed hashes of ids), concatenated."""
    secret, marks = book.secret, bytearray()

    def accounts() -> Iterator[Row]:
        for person, (number, budget) in zip(ids, chunks(rows), strict=True):
            mark = chain.mark(secret, person)
            marks.extend(mark)
            yield number, person, mark, budget, budget, 0

    columns = ("number", "person", "mark", "budget", "most", "spent")
    book.store.insert("accounts", columns, accounts())
    return marks


def _write(
    book: Book, changes: Integers, consent: str, kind: str, marks: bytes | bytearray = b""
) -> None:
    """Record changes of budgets, append them to the chain and apply them, in a write transaction.

    Args:
        book: the ledger.
        changes: account, old budget, new budget.
        consent: the reason.
        kind: the kind of event.
        marks: the marks of new accounts.
    """
    if not len(changes):
        return
    store, at = book.store, made.now()
    event = chain.last_of(store)[0] + 1
    changes = changes[np.argsort(changes[:, 0])]
    rows = chunks(changes, event, consent)
    store.insert("changes", ("event", "consent", "account", "was", "now"), rows)
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
    changes = store.integers(
        3, "SELECT account, was, now FROM changes WHERE event = ? ORDER BY account", event
    )
    marks = store.batches(
        "SELECT accounts.mark FROM changes JOIN accounts ON accounts.number = changes.account "
        "WHERE changes.event = ? AND changes.was = ? ORDER BY changes.account",
        *(event, NEW),
    )
    new = b"".join(mark for batch in marks for (mark,) in batch)
    return _digest(book, changes, new, [consent for (consent,) in told])


def _digest(book: Book, changes: Integers, marks: bytes | bytearray, consents: list[str]) -> bytes:
    """Return a hash of changes, of the marks of new accounts, and of the reasons."""
    digest = chain.Digest(book.salt, "changes", sorted(consents))
    digest.rows(changes)
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
        _write(book, np.array([[number, budget, now]], dtype=np.int64), "", "erased")
