"""One release of a ledger: opened, offered what is left, and settled in one transaction.

    open     the row is there before anything of the data is seen
    sheet    everyone is offered what they have left, less what earlier open releases may take
    settle   charges, draws, keeps what was drawn: all of it or nothing

Nothing leaves the process, and nothing is logged, between a draw and its commit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from epsilons import frozen, made, tally
from epsilons.accounts import Charge, Settled, Sheet
from epsilons.errors import ArgumentError, ClaimError, LedgerError, PrivacyError, StorageError
from epsilons.ledger import units
from epsilons.ledger.book import Book, Rule, charge, checked_name, tidy
from epsilons.ledger.chain import head_of
from epsilons.release import Entry, Releases
from epsilons.types import Floats, Integers

__all__ = ["Claim"]

USED_UP: Final = {
    "drawing": "was being drawn when its process ended, or is being drawn now: what was offered "
    "is paid",
    "failed": "failed after drawing had begun: what was offered is paid",
    "abandoned": "was abandoned",
}
"""Why a name can be used no more."""


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
        self._question = ""
        self._number = 0
        self._accounts: Integers = np.empty(0, dtype=np.int64)
        self._offered: Integers = np.empty(0, dtype=np.int64)
        self._budgets: Floats = np.empty(0)

    def __repr__(self) -> str:
        return f"Claim({self._name!r}, {self._rule})"

    @property
    def neighbours(self) -> str:
        """What is private in this ledger."""
        return self._book.neighbours

    def open(self, question: str) -> Releases | None:
        """Begin the release, or return what was settled under its name.

        Args:
            question: a hash of all arguments, and of no data.

        Raises:
            ClaimError: the name stands for another question, or can be used no more.
            StorageError: the database failed.
        """
        self._question = question
        with self._store.write():
            found = self._book.release(self._name)
            if found is None:
                self._number = self._opened()
                return None
            number, state = self._fenced(found)
            self._number = number
            return self._kept(number, found[-1]) if state == "settled" else None

    def _opened(self) -> int:
        """Write the row of a new release, within a write; its number."""
        at = made.now()
        number = int(self._store.rows("SELECT coalesce(max(number), 0) FROM releases")[0][0]) + 1
        rule = self._rule
        self._store.run(
            "INSERT INTO releases (number, name, question, state, at_most, part, whole, opened) "
            "VALUES (?, ?, ?, 'open', ?, ?, ?, ?)",
            *(number, self._name, self._question, rule.at_most, rule.part, rule.whole, at),
        )
        self._book.seal("opened", number, at)
        return number

    def _fenced(self, found: tuple[Any, ...]) -> tuple[int, str]:
        """The number and the state of a release of this name, if it is this very one.

        Raises:
            ClaimError: it is another, or can be used no more.
        """
        number, question, state, *rule, _ = found
        again = f"name={self._name!r} stands in the ledger for"
        if question != self._question:
            advice = "Ask the same one to have its answer again, or choose another name."
            if state == "open":
                advice = (
                    "It was opened and never drawn, and holds back what it may ask of everyone: "
                    f"ledger.abandon({self._name!r}) frees that. Then choose another name."
                )
            raise ClaimError(f"{again} another question. {advice}")
        if Rule(*rule) != self._rule:
            raise ClaimError(
                f"{again} a claim with {Rule(*rule)}, not with {self._rule}. Ask as before, or "
                "choose another name."
            )
        if state in USED_UP:
            raise ClaimError(
                f"name={self._name!r}: this release {USED_UP[state]}. Choose another name."
            )
        return int(number), str(state)

    def sheet(self, data: Any, person: Any) -> Sheet:
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
        who = tally.people(data, person, lenient=private)
        with self._store.read():
            earlier = self._book.open_rules(before=self._number)
            found = self._book.balances(who)
        if not private and len(found) < len(who):
            raise LedgerError(
                f"person: {len(who) - len(found):,} people of the data have no account in the "
                "ledger. Enrol them with ledger.enrol(…), or leave them out. (17 and '17' are one "
                "person, '017' is another.)"
            )
        place, self._accounts, budgets, spent = found.T
        held = sum((rule.of(budgets) for rule in earlier), np.zeros_like(budgets))
        left = np.maximum(budgets - spent - held, 0)
        self._offered = np.minimum(self._rule.of(budgets), left)
        if not private and not self._offered.any():
            raise LedgerError(
                "ledger: nobody in the data has anything left for this release, apart from what "
                "earlier releases that are still open may take."
            )
        offers = np.full(len(who), np.nan)
        offers[place] = self._budgets = units.floats(self._offered)
        return Sheet(data, who.offered(offers))

    def settle(self, charge: Charge | None, released: Callable[[], Settled], /) -> Settled:
        """Charge, draw and keep what was drawn.

        Args:
            charge: what people lose; None where it depends on what is drawn. Then everyone first
                pays all that they were offered.
            released: draws.

        Raises:
            ClaimError: somebody else used the name meanwhile.
            PrivacyError: an account would be overdrawn: nothing was drawn.
            StorageError: the database failed: nothing was released.
        """
        return self._staged(released) if charge is None else self._at_once(charge, released)

    def _at_once(self, known: Charge, released: Callable[[], Settled]) -> Settled:
        """Settle a release whose charge is known before anything is drawn: one transaction."""
        began = False
        amounts = self._amounts(known)
        try:
            with self._store.write():
                before = self._still("open")
                if before is not None:
                    return before
                charged = charge(self._store, self._number, self._accounts, amounts)
                began = True
                settled = self._drawn(released)
                if not _same(settled.charge, known):
                    raise PrivacyError("A release was charged for another mechanism than drawn.")
                return self._keep(settled, charged)
        except StorageError:
            raise
        except BaseException:
            if began:
                self._fail("open")
            raise

    def _staged(self, released: Callable[[], Settled]) -> Settled:
        """Settle a release whose charge depends on what is drawn: what is offered is prepaid."""
        with self._store.write():
            before = self._still("open")
            if before is not None:
                return before
            charged = charge(self._store, self._number, self._accounts, self._offered)
            self._store.run("UPDATE releases SET state = 'drawing' WHERE number = ?", self._number)
            self._book.seal("drawing", self._number, made.now(), charged)
        try:
            settled = self._drawn(released)
            amounts = self._amounts(settled.charge)
            with self._store.write():
                before = self._still("drawing")
                if before is not None:
                    return before
                self._pay_back()
                charged = charge(self._store, self._number, self._accounts, amounts)
                return self._keep(settled, charged)
        except StorageError:
            raise
        except BaseException:
            self._fail("drawing")
            raise

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
        if found is not None and found[0] == self._number and found[2] == state:
            return None
        if found is None or self._fenced(found)[1] != "settled":
            raise ClaimError(f"name={self._name!r}: this release is not open any more.")
        return Settled(self._kept(self._number, found[-1]), Charge(np.empty(0), ()))

    def _keep(self, settled: Settled, charged: Integers) -> Settled:
        """Write down what was drawn, within the write that charged it."""
        result = written(settled.releases)
        at = made.now()
        self._store.run(
            "UPDATE releases SET state = 'settled', result = ?, closed = ? WHERE number = ?",
            *(result, at, self._number),
        )
        tidy(self._store)
        event = self._book.seal("settled", self._number, at, charged)
        return Settled(read_back(result, Entry(self._name, head_of(*event))), settled.charge)

    def _kept(self, number: int, result: bytes) -> Releases:
        """What was settled before."""
        event = self._store.rows(
            "SELECT number, hash FROM events WHERE release = ? AND kind = 'settled'", number
        )[0]
        return read_back(result, Entry(self._name, head_of(event[0], event[1])))

    def _fail(self, state: str) -> None:
        """Drawing began, and there is no result: what was offered is paid, and the name used up."""
        at = made.now()
        with self._store.write():
            found = self._book.release(self._name)
            if found is None or found[2] != state:
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


def written(releases: Releases) -> bytes:
    """Releases as bytes, from which `read_back` makes the same."""
    return json.dumps(frozen.to_plain(releases), ensure_ascii=True).encode()


def read_back(result: bytes, entry: Entry) -> Releases:
    """Releases as they were kept, with their place in the ledger."""
    found: Releases = frozen.from_plain(json.loads(result))
    return replace(found, each=tuple(replace(each, ledger=entry) for each in found.each))
