"""One release of a ledger: opened, offered what is left, and settled in one transaction.

    open     the row is there before anything of the data is seen
    sheet    everyone is offered what they have left, less what earlier open releases may take
    settle   charges, draws, keeps what was drawn: all of it or nothing
    let_go   after an error before anything was drawn: as if it had never been opened

Nothing leaves the process, and nothing is logged, between a draw and its commit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np

from epsilons import door, made
from epsilons.draws.accounts import AccountSheet, Charge, Settled
from epsilons.errors import ArgumentError, ClaimError, LedgerError, PrivacyError, StorageError
from epsilons.ledger import book as units
from epsilons.ledger.book import Book, Kept, Rule, charge, checked_name, tidy, written
from epsilons.results.release import Entry, Releases
from epsilons.types import Floats, Integers

__all__ = ["Claim"]

T = TypeVar("T")

USED_UP: Final = {
    "drawing": "is being drawn now, or its process ended while it was. What was offered is paid. "
    "If it is being drawn, wait, and ask again under the same name. If not, its answer is lost: "
    "{abandon} closes it, and another name draws a new answer, for another charge.",
    "failed": "failed after drawing had begun: what was offered is paid. Choose another name.",
    "abandoned": "was abandoned. Choose another name.",
}
"""Why a name can be used no more."""

UNSTORED: Final = (
    "The database of the ledger failed after name={name!r} was drawn. Everyone has paid what they "
    "offered, and nothing was released. Once it answers, ask again under the same name in this "
    "process: the same answer is stored then, and what was not spent is paid back. If the process "
    "ends first, the answer is lost: {abandon} closes the release, and another name draws a new "
    "answer, for another charge."
)
"""Said where what was drawn could not be stored."""


class Claim:
    """A claim on what people have left, for one release: `ledger.claim` makes it.

    Args:
        book: the ledger.
        name: of the release.
        rule: how much it asks of everyone.

    Guarantee:
        The sum of what anyone was charged never exceeds their budget; no result leaves without its
        charge; and a retry under the same name draws nothing anew once it was settled:
        docs/proofs/ledger.md.

    Reference:
        Rogers, Roth, Ullman and Vadhan 2016, and Feldman and Zrnic 2021, for budgets that are
        spent adaptively; here everyone has a filter of their own, in exact integers.
    """

    def __init__(self, book: Book, name: str, rule: Rule) -> None:
        self._book = book
        self._store = book.store
        self._name = checked_name(name)
        self._rule = rule
        self._live = threading.Lock()
        self._question: tuple[str, ...] = ("",)
        self._number = 0
        self._mine = False
        self._held: tuple[str, ...] = ()
        self._accounts: Integers = np.empty(0, dtype=np.int64)
        self._offered: Integers = np.empty(0, dtype=np.int64)
        self._budgets: Floats = np.empty(0)

    def __repr__(self) -> str:
        return f"Claim({self._name!r}, {self._rule})"

    @property
    def neighbours(self) -> str:
        """What is private in this ledger."""
        return self._book.neighbours

    def open(self, question: str, *former: str) -> Releases | None:
        """Begin the release, or return what was settled under its name.

        Args:
            question: a hash of all arguments, and of no data.
            former: hashes that earlier versions made of the same arguments.

        Raises:
            ClaimError: the name stands for another question, or can be used no more; or another
                thread is using this claim.
            StorageError: the database failed.
        """
        if not self._live.acquire(blocking=False):
            raise ClaimError(
                f"name={self._name!r}: another thread is using this claim. Make one for each with "
                "ledger.claim(…)."
            )
        self._question, self._mine = (question, *former), False
        try:
            before = self._begun()
        except BaseException:
            self._live.release()
            raise
        if before is not None:
            self._live.release()
        return before

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
        """Write the row of a new release, within a write; its number."""
        at = made.now()
        # A number is never given twice, not even after a release was let go.
        number = int(self._store.rows("SELECT coalesce(max(release), 0) FROM events")[0][0]) + 1
        rule = self._rule
        self._store.run(
            "INSERT INTO releases (number, name, question, state, at_most, part, whole, opened) "
            "VALUES (?, ?, ?, 'open', ?, ?, ?, ?)",
            *(number, self._name.strip(), self._question[0], rule.at_most, rule.part, rule.whole),
            at,
        )
        self._book.seal("opened", number, at)
        return number

    def _fenced(self, found: Kept, *, due: bool = False) -> str:
        """The state of a release of this name, if it is this very one.

        Args:
            found: the release.
            due: whether this process has yet to write down what became of it.

        Raises:
            ClaimError: it is another, or can be used no more.
        """
        again = f"name={self._name!r} stands in the ledger for"
        abandon = f"ledger.abandon({found.name!r})"
        if found.question not in self._question:
            advice = "Ask the same one to have its answer again, or choose another name."
            if found.state == "open":
                advice = (
                    "It was opened and never drawn, and holds back what it may ask of everyone: "
                    f"{abandon} frees that. Then choose another name."
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

    def sheet(self, data: Any, person: Any) -> AccountSheet:
        """What everyone in the data may spend: min(rule, budget − spent − earlier open claims).

        Args:
            data: the table that the user gave, or None.
            person: whose row it is.

        Raises:
            ArgumentError: nobody says whose rows they are.
            LedgerError: under replace, people of the data have no account, or nothing left.
        """
        if person is None:
            raise ArgumentError(
                "person is needed with ledger=: an account is a person's, not a row's. Give the "
                "column of ids, or an array of them."
            )
        private = self._book.private
        who = door.people(data, person, lenient=private)
        with self._store.read():
            earlier = self._book.open_claims(before=self._number)
            found = self._book.balances(who)
            if not private and len(found) < len(who):
                raise self._strangers(who, found[:, 0])
        self._held = tuple(f"{name} ({rule})" for name, rule in earlier)
        place, self._accounts, budgets, spent = found.T
        left = np.maximum(budgets - spent - self._book.held(earlier, budgets), 0)
        self._offered = np.minimum(self._rule.of(budgets), left)
        if not private and not self._offered.any():
            raise LedgerError(
                "ledger: nobody in the data has anything left for this release, apart from what "
                "earlier releases that are still open may take."
            )
        offers = np.full(len(who), np.nan)
        offers[place] = self._budgets = units.floats(self._offered)
        return AccountSheet(data, who.offered(offers))

    def _strangers(self, who: door.People, known: Integers) -> LedgerError:
        """Why people of the data cannot take part, where it is public who does."""
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
        """End a use of this claim in which nothing was drawn: a release that it opened is removed.

        One that was open before stays: another process may be about to draw it.
        """
        try:
            if self._mine:
                self._mine = False
                self._carry_out(self._remove)
        except StorageError:
            pass  # it is still due, and the error that led here says more
        finally:
            if self._live.locked():
                self._live.release()

    def _remove(self) -> None:
        """Take back a release that was not drawn from, as if it had never been opened."""
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
        """Write down what became of a release.

        Where the database fails, or somebody interrupts it, that is due from then on: it is done
        when the release is asked for again.
        """
        due = self._book.due
        due[self._number] = write
        try:
            done = write()
        except ClaimError:  # it is not ours any more
            due.pop(self._number, None)
            raise
        due.pop(self._number, None)
        return done

    def settle(self, charge: Charge | None, released: Callable[[], Settled], /) -> Settled:
        """Charge, draw and keep what was drawn.

        Args:
            charge: what people lose; None where it depends on what is drawn. Then everyone first
                pays all that they were offered.
            released: draws.

        Raises:
            ClaimError: somebody else used the name meanwhile.
            PrivacyError: an account would be overdrawn: nothing was drawn.
            StorageError: the database failed: nothing was released, and where everyone has paid,
                the message says so.
        """
        settled = self._staged(released) if charge is None else self._at_once(charge, released)
        if self._live.locked():
            self._live.release()
        return settled

    def _at_once(self, known: Charge, released: Callable[[], Settled]) -> Settled:
        """Settle a release whose charge is known before anything is drawn: one transaction."""
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
            self._mine = False  # it stays open, to be asked again
            raise
        except BaseException:
            if began:
                self._carry_out(lambda: self._fail("open"))
            raise

    def _staged(self, released: Callable[[], Settled]) -> Settled:
        """Settle a release whose charge depends on what is drawn: what is offered is prepaid."""
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
            # Whether it was committed is not known. Nothing was drawn, so it can be taken back.
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
        """Store what was drawn in stages, and pay back what was not lost."""
        with self._store.write():
            before = self._still("drawing")
            if before is not None:
                return before
            self._pay_back()
            charged = charge(self._store, self._number, self._accounts, amounts)
            return self._keep(settled, charged)

    def _drawn(self, released: Callable[[], Settled]) -> Settled:
        """What the corridor draws: between two steps that are watched as statements are."""
        self._store.watch("before the draw")
        settled = released()
        self._store.watch("after the draw")
        return settled

    def _pay_back(self) -> None:
        """Take back what was prepaid, within the write that charges what was lost."""
        self._store.run(
            "UPDATE accounts SET spent = spent - charges.amount FROM charges "
            "WHERE charges.release = ? AND charges.account = accounts.number",
            self._number,
        )
        self._store.run("DELETE FROM charges WHERE release = ?", self._number)

    def _amounts(self, charge: Charge) -> Integers:
        """What everyone pays: the loss of the highest level that they reach, rounded up.

        Raises:
            PrivacyError: somebody would pay more than they were offered.
        """
        every = [0, *map(units.charged, charge.losses)]
        reached = np.searchsorted(charge.levels, self._budgets, side="right")
        amounts = np.array(every, dtype=np.int64)[reached]
        if (amounts > self._offered).any():
            raise PrivacyError("A mechanism spends more than was offered to it.")
        return amounts

    def _still(self, state: str) -> Settled | None:
        """Nothing, if the release is in this state; what was settled by somebody else meanwhile.

        Raises:
            ClaimError: it was abandoned, or somebody else draws it.
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

    def _keep(self, settled: Settled, charged: Integers) -> Settled:
        """Write down what was drawn, within the write that charged it."""
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
        """Drawing began, and there is no result: what was offered is paid, and the name used up."""
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
    """Whether two charges take the same of everyone."""
    return np.array_equal(one.levels, other.levels) and one.losses == other.losses
