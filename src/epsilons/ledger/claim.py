"""The life of one release in a ledger: open, offer budgets, settle in one transaction.

    open     writes the row before any data are read
    sheet    offers everyone's remaining budget, minus the reservations of earlier open releases
    settle   charges, draws and stores the result: all or nothing
    let_go   after an error before any draw: removes the release as if it was never opened

Nothing leaves the process, and nothing is logged, between a draw and its commit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeVar

import numpy as np

from epsilons import door, made
from epsilons.budgets.levels import budgets_of_units
from epsilons.door.count.weights import MOST_UNITS
from epsilons.draws.accounts import AccountSheet, Charge, Settled
from epsilons.errors import ArgumentError, ClaimError, LedgerError, PrivacyError, StorageError
from epsilons.ledger import book as units
from epsilons.ledger.book import Book, Kept, Rule, charge, checked_name, tidy, written
from epsilons.results.release import Entry, Releases
from epsilons.types import Floats, Integers

__all__ = ["Claim"]

T = TypeVar("T")

_MANY: Final = 2 * MOST_UNITS
"""A number that exceeds anyone's number of units. It encodes a level and units in one integer."""

USED_UP: Final = {
    "drawing": "is being drawn now, or its process ended while it was. What was offered is paid. "
    "If it is being drawn, wait, and ask again under the same name. If not, its answer is lost: "
    "{abandon} closes it, and another name draws a new answer, for another charge.",
    "failed": "failed after drawing had begun: what was offered is paid. Choose another name.",
    "abandoned": "was abandoned. Choose another name.",
}
"""The reason why a name can no longer be used, by the state of its release."""

UNSTORED: Final = (
    "The database of the ledger failed after name={name!r} was drawn. Everyone has paid what they "
    "offered, and nothing was released. Once it answers, ask again under the same name in this "
    "process: the same answer is stored then, and what was not spent is paid back. If the process "
    "ends first, the answer is lost: {abandon} closes the release, and another name draws a new "
    "answer, for another charge."
)
"""The message if the result was drawn but could not be stored."""


class Claim:
    """A claim on people's remaining budgets, for one release. `ledger.claim` creates it.

    Args:
        book: the ledger.
        name: the name of the release.
        rule: the most that it may charge each person.

    Guarantee:
        The sum of a person's charges never exceeds their budget. No result is returned without its
        charge. Once a release is settled, a retry under the same name draws nothing.
        docs/proofs/ledger.md.

    Reference:
        Rogers, Roth, Ullman and Vadhan 2016, and Feldman and Zrnic 2021, for budgets that are
        spent adaptively. Here everyone has a separate privacy filter, in exact integers.
    """

    def __init__(self, book: Book, name: str, rule: Rule) -> None:
        self._book = book
        self._store = book.store
        self._name = checked_name(name)
        self._rule = rule
        self._live = threading.Lock()
        self._question = ""
        self._number = 0
        self._mine = False
        self._held: tuple[str, ...] = ()
        self._accounts: Integers = np.empty(0, dtype=np.int64)
        self._offered: Integers = np.empty(0, dtype=np.int64)
        self._units: Integers | None = None
        self._budgets: Floats = np.empty(0)

    def __repr__(self) -> str:
        return f"Claim({self._name!r}, {self._rule})"

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of this ledger: "replace" or "add-remove"."""
        return self._book.neighbours

    @property
    def most(self) -> float:
        """The most that anyone can offer to this release, whatever they have left."""
        return units.as_float(self._rule.at_most)

    def open(self, question: str) -> Releases | None:
        """Begin the release, or return the settled result with the same name.

        Args:
            question: a hash of all arguments; no data are hashed.

        Returns:
            The settled result; None if the release has begun, or was already open.

        Raises:
            ClaimError: the name belongs to another question, or can no longer be used; or another
                thread is using this claim.
            StorageError: the database failed.
        """
        if not self._live.acquire(blocking=False):
            raise ClaimError(
                f"name={self._name!r}: another thread is using this claim. Make one for each with "
                "ledger.claim(…)."
            )
        self._question, self._mine = question, False
        try:
            before = self._begun()
        except BaseException:
            self._live.release()
            raise
        if before is not None:
            self._live.release()
        return before

    def look(self, question: str) -> Releases | None:
        """Return the settled result with the same name, as `open` does, but begin no release.

        Args:
            question: a hash of all arguments; no data are hashed.

        Raises:
            ClaimError: the name belongs to another question, or can no longer be used.
            StorageError: the database failed.
        """
        self._question = question
        with self._store.read():
            found = self._book.release(self._name)
            if found is None or self._fenced(found) != "settled":
                return None
            return self._book.settled(found)

    def _begun(self) -> Releases | None:
        with self._store.write():
            found = self._book.release(self._name)
            if found is None:
                self._number = self._opened()
                self._mine = True
                return None
            due = self._book.due.get(found.number)
            state = self._fenced(found, due=due is not None)
            self._number = found.number
            if due is None:
                return self._book.settled(found) if state == "settled" else None
        self._carry_out(due)
        return self._begun()

    def _opened(self) -> int:
        """Insert a new release, within a write transaction; return its number."""
        at = made.now()
        # A number is never reused, not even after its release was removed.
        number = int(self._store.rows("SELECT coalesce(max(release), 0) FROM events")[0][0]) + 1
        rule = self._rule
        self._store.run(
            "INSERT INTO releases (number, name, question, state, at_most, part, whole, opened) "
            "VALUES (?, ?, ?, 'open', ?, ?, ?, ?)",
            *(number, self._name.strip(), self._question, rule.at_most, rule.part, rule.whole),
            at,
        )
        self._book.seal("opened", number, at)
        return number

    def _fenced(self, found: Kept, *, due: bool = False) -> str:
        """Check that a stored release has the same question and the same rule; return its state.

        Args:
            found: the release with this name.
            due: whether this process has yet to write the outcome of the release.

        Raises:
            ClaimError: the question or the rule differs, or the name can no longer be used.
        """
        again = f"In this ledger, name={self._name!r} belongs to"
        abandon = f"ledger.abandon({found.name!r})"
        if found.question != self._question:
            advice = "Ask the same question to get its answer again, or choose another name."
            if found.state == "open":
                advice = (
                    "It was opened and never drawn, and reserves its share of everyone's budget: "
                    f"{abandon} frees that share. Then choose another name."
                )
            raise ClaimError(f"{again} another question. {advice}")
        if found.rule != self._rule:
            raise ClaimError(
                f"{again} a claim with {found.rule}, not with {self._rule}. Ask as before, or "
                "choose another name."
            )
        if found.state in USED_UP and not due:
            why = USED_UP[found.state].format(abandon=abandon)
            raise ClaimError(f"name={self._name!r}: this release {why}")
        return found.state

    def sheet(self, data: Any, person: Any, weights: door.Weights | None = None) -> AccountSheet:
        """Return everyone's offer: min(rule, budget − spent − earlier open claims).

        Args:
            data: the user's table, or None.
            person: column or array of the person of each row.
            weights: the weights of people; None if everyone counts equally.

        Raises:
            ArgumentError: `person` is missing.
            DataError: a weight cannot be used, or somebody has two weights.
            LedgerError: under replace, people in the data have no account, or no budget left.
        """
        if person is None:
            raise ArgumentError(
                "person is needed with ledger=: an account is a person's, not a row's. Give the "
                "column of ids, or an array of them."
            )
        private = self._book.private
        if weights is None:
            who, own = door.people(data, person, lenient=private), None
        else:
            who, own = door.weighed_people(data, person, weights)
        with self._store.read():
            # If this release is not open, all open releases are earlier.
            earlier = self._book.open_claims(before=self._number or None)
            accounts, offered = np.full((2, len(who)), -1)
            offers = np.full(len(who), np.nan)
            for place, number, budgets, spent in map(np.transpose, self._book.balances(who)):
                left = np.maximum(budgets - spent - self._book.held(earlier, budgets), 0)
                accounts[place] = number
                offered[place] = np.minimum(self._rule.of(budgets), left)
                offers[place] = units.floats(offered[place])
            known = accounts >= 0
            if not private and not known.all():
                raise self._strangers(who, np.flatnonzero(known))
        self._held = tuple(f"{name} ({rule})" for name, rule in earlier)
        place = np.argsort(accounts)[np.count_nonzero(~known) :]
        self._accounts, self._offered = accounts[place], offered[place]
        if not private and not self._offered.any():
            raise LedgerError(
                "ledger: nobody in the data has anything left for this release, apart from what "
                "earlier releases that are still open may take."
            )
        self._units, self._budgets = None, offers[place]
        if weights is not None and own is not None:
            self._units = weights.units(own[place], None, "weights")
            self._budgets = budgets_of_units(self._budgets, self._units)
        return AccountSheet(data, door.Offers(who, offers, own))

    def _strangers(self, who: door.People, known: Integers) -> LedgerError:
        """Return the error for people in the data without an account, if membership is public."""
        ids = [each for batch in who.tagged() for each in batch]
        others = np.setdiff1d(np.arange(len(ids)), known).tolist()
        said = f"person: {len(others):,} people of the data have no account in the ledger"
        erased = self._book.erased(ids[at] for at in others)
        if erased:
            return LedgerError(
                f"{said}. Of these, {erased:,} withdrew and had their ids erased: leave their rows "
                "out. Only if they came back, enrol them with ledger.enrol(…)."
            )
        return LedgerError(
            f"{said}. Enrol them with ledger.enrol(…), or leave them out. (17 and '17' are one "
            "person, '017' is another.)"
        )

    def let_go(self) -> None:
        """End the use of this claim without a draw, and remove the release that it opened.

        A release that was already open stays: another process could be about to draw it.
        """
        try:
            if self._mine:
                self._mine = False
                self._carry_out(self._remove)
        except StorageError:
            pass  # the removal stays due; the original error is more informative
        finally:
            if self._live.locked():
                self._live.release()

    def _remove(self) -> None:
        """Remove a release that drew nothing, as if it was never opened."""
        with self._store.write():
            found = self._book.release(self._name)
            if found is None or found.number != self._number:
                return
            if found.state == "drawing":
                self._pay_back()
            elif found.state != "open":
                return
            self._book.seal("let go", self._number, made.now())
            self._store.run("DELETE FROM releases WHERE number = ?", self._number)
            tidy(self._store)

    def _carry_out(self, write: Callable[[], T]) -> T:
        """Write the outcome of a release.

        If the database fails or the process is interrupted, the write stays due: it is retried
        when the release is requested again.
        """
        due = self._book.due
        due[self._number] = write
        try:
            done = write()
        except ClaimError:  # another process has taken over the release
            due.pop(self._number, None)
            raise
        due.pop(self._number, None)
        return done

    def settle(self, charge: Charge | None, released: Callable[[], Settled], /) -> Settled:
        """Charge, draw and store the result.

        Args:
            charge: the privacy losses; None if they depend on the draws. Then everyone first pays
                their whole offer.
            released: function that draws.

        Raises:
            ClaimError: another process used the name in the meantime.
            PrivacyError: an account would be overdrawn. Nothing was drawn.
            StorageError: the database failed. Nothing was released. If everyone has already paid,
                the message says so.
        """
        settled = self._staged(released) if charge is None else self._at_once(charge, released)
        if self._live.locked():
            self._live.release()
        return settled

    def _at_once(self, known: Charge, released: Callable[[], Settled]) -> Settled:
        """Settle a release in one transaction, if its charge is known before any draw."""
        amounts = self._amounts(known)
        began = False
        try:
            with self._store.write():
                before = self._still("open")
                if before is not None:
                    return before
                charged = charge(self._store, self._number, self._accounts, amounts)
                began, self._mine = True, False
                settled = self._drawn(released)
                if not _same(settled.charge, known):
                    raise PrivacyError("A release was charged for another mechanism than drawn.")
                return self._keep(settled, charged)
        except StorageError:
            self._mine = False  # the release stays open for a retry
            raise
        except BaseException:
            if began:
                self._carry_out(lambda: self._fail("open"))
            raise

    def _staged(self, released: Callable[[], Settled]) -> Settled:
        """Settle a release if its charge depends on the draws: everyone prepays their offer."""
        try:
            with self._store.write():
                before = self._still("open")
                if before is not None:
                    return before
                charged = charge(self._store, self._number, self._accounts, self._offered)
                self._store.run(
                    "UPDATE releases SET state = 'drawing' WHERE number = ?", self._number
                )
                tidy(self._store)
                self._book.seal("drawing", self._number, made.now(), charged)
        except StorageError:
            # The commit may have succeeded despite the error. Nothing was drawn, so undo it later.
            self._mine = False
            self._book.due[self._number] = self._remove
            raise
        self._mine = False
        try:
            settled = self._drawn(released)
            amounts = self._amounts(settled.charge)
        except BaseException:
            self._carry_out(lambda: self._fail("drawing"))
            raise
        try:
            return self._carry_out(lambda: self._stored(settled, amounts))
        except StorageError:
            said = UNSTORED.format(name=self._name, abandon=f"ledger.abandon({self._name!r})")
        raise StorageError(said)

    def _stored(self, settled: Settled, amounts: Integers) -> Settled:
        """Store the result of a staged draw, and refund the unspent amounts."""
        with self._store.write():
            before = self._still("drawing")
            if before is not None:
                return before
            self._pay_back()
            charged = charge(self._store, self._number, self._accounts, amounts)
            return self._keep(settled, charged)

    def _drawn(self, released: Callable[[], Settled]) -> Settled:
        """Draw the result. Calls `watch` before and after, where tests interrupt the process."""
        self._store.watch("before the draw")
        settled = released()
        self._store.watch("after the draw")
        return settled

    def _pay_back(self) -> None:
        """Refund the prepaid offers, within a write transaction."""
        self._store.run(
            "UPDATE accounts SET spent = spent - charges.amount FROM charges "
            "WHERE charges.release = ? AND charges.account = accounts.number",
            self._number,
        )
        self._store.run("DELETE FROM charges WHERE release = ?", self._number)

    def _amounts(self, charge: Charge) -> Integers:
        """Return the amount that each person pays: the loss of all of their units, rounded up.

        Without weights, everyone is one unit. The loss of a unit is the loss at the highest level
        that does not exceed its budget. Proof: docs/proofs/ledger.md.

        Raises:
            PrivacyError: a person would pay more than they offered.
        """
        every = (Fraction(0), *charge.losses)
        reached = np.searchsorted(charge.levels, self._budgets, side="right")
        amounts = np.array([*map(units.charged, every)], dtype=np.int64)[reached]
        if self._units is not None:
            pairs = reached * _MANY + self._units
            kinds, place = np.unique(pairs, return_inverse=True)
            each = [units.charged(every[kind // _MANY], kind % _MANY) for kind in kinds.tolist()]
            amounts = np.array(each, dtype=np.int64)[place]
        if (amounts > self._offered).any():
            raise PrivacyError("A mechanism spends more than was offered to it.")
        return amounts

    def _still(self, state: str) -> Settled | None:
        """Return None if the release is still in this state, or else another process's result.

        Raises:
            ClaimError: it was abandoned, or another process is drawing it.
        """
        found = self._book.release(self._name)
        if found is not None and found.number == self._number and found.state == state:
            return None
        if found is None or self._fenced(found) != "settled":
            raise ClaimError(
                f"name={self._name!r}: this release is not open any more. Nothing was drawn: ask "
                "again."
            )
        return Settled(self._book.settled(found), Charge(np.empty(0), ()))

    def _keep(self, settled: Settled, charged: Iterator[Integers]) -> Settled:
        """Store the result, within the write that charged for it."""
        at = made.now()
        entry = Entry(self._name.strip(), "", at, self._held)
        each = tuple(replace(one, ledger=entry) for one in settled.releases.each)
        self._store.run(
            "UPDATE releases SET state = 'settled', result = ?, closed = ? WHERE number = ?",
            *(written(replace(settled.releases, each=each)), at, self._number),
        )
        tidy(self._store)
        self._book.seal("settled", self._number, at, charged)
        kept = self._book.release(self._name)
        assert kept is not None
        return Settled(self._book.settled(kept), settled.charge)

    def _fail(self, state: str) -> None:
        """Close a release that failed while drawing: its charges stay, and its name stays used."""
        at = made.now()
        with self._store.write():
            found = self._book.release(self._name)
            if found is None or found.number != self._number or found.state != state:
                return
            if state == "open":
                charge(self._store, self._number, self._accounts, self._offered)
            self._store.run(
                "UPDATE releases SET state = 'failed', closed = ? WHERE number = ?",
                *(at, self._number),
            )
            tidy(self._store)
            self._book.seal("failed", self._number, at)


def _same(one: Charge, other: Charge) -> bool:
    """Whether two charges are equal for everyone."""
    return np.array_equal(one.levels, other.levels) and one.losses == other.losses
