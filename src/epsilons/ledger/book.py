"""What every part of a ledger works on: its database, its secret, and what is private in it."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from epsilons import door, frozen
from epsilons.budgets.levels import float_down, is_number
from epsilons.errors import ArgumentError, BudgetError, LedgerError
from epsilons.ledger import store as chain
from epsilons.ledger.store import CHUNK, Row, Store
from epsilons.results.release import Entry, Release, Releases
from epsilons.types import Floats, Integers

__all__ = [
    "MOST",
    "ONE",
    "PUBLIC",
    "Book",
    "Kept",
    "Rule",
    "as_float",
    "charge",
    "charged",
    "checked_name",
    "chunks",
    "exact",
    "floats",
    "many_units",
    "of_share",
    "tidy",
    "units",
    "written",
]


# Nano-ε: what accounts are kept in. Budgets are rounded down, charges up, and sums are exact.
#
# A budget is the shortest decimal of what was given, rounded down to nano-ε: ten releases of 0.1
# fit into 1.0 to the last unit, as they would in no sum of floats.

ONE: Final = 10**9
"""An ε of 1."""

MOST: Final = 2**20 * ONE
"""The most that is offered to one release, and the largest budget that is not public."""

PUBLIC: Final = 2**62
"""The budget of a public person: an account without a limit."""

_DIGITS: Final = 10**6
"""Below so many ε nine digits after the point are at most fifteen, and floats tell them apart."""

_SPLITTER: Final = 2.0**27 + 1.0
"""Veltkamp's constant that halves a float of 53 bits."""


def exact(number: Any) -> Fraction | float:
    """The shortest decimal of a number, exactly; ∞ stays what it is."""
    if isinstance(number, np.longdouble):
        number = float_down(number)
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, float):
        return Fraction(repr(number)) if math.isfinite(number) else number
    if isinstance(number, Decimal) and not number.is_finite():
        return float(number)
    return Fraction(number)


def units(budget: Any) -> int:
    """A budget in nano-ε, rounded down; ∞ is public, and what is above `MOST` counts as that.

    Raises:
        BudgetError: it is negative, NaN, or no number.
    """
    if not is_number(budget) or not budget >= 0:
        raise BudgetError(
            f"epsilon={budget!r} is not a budget: give a number from 0 to infinity; 0 leaves a "
            "person out, inf makes their value public."
        )
    given = exact(budget)
    if isinstance(given, float):
        return PUBLIC
    return min(math.floor(given * ONE), MOST)


def many_units(budgets: npt.NDArray[Any]) -> Integers:
    """`units` of many checked budgets."""
    if budgets.dtype.kind != "f":
        kinds, place = np.unique(budgets, return_inverse=True)
        return np.array([units(each) for each in kinds.tolist()], dtype=np.int64)[place.ravel()]
    given = budgets.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.rint(given * ONE)
        # A decimal of at most fifteen digits that is this float is its shortest one.
        short = (near / ONE == given) & (given < _DIGITS)
    found = np.where(short, near, 0.0).astype(np.int64)
    found[~short] = [units(each) for each in given[~short].tolist()]
    return found


def charged(loss: Fraction | float) -> int:
    """A loss in nano-ε, rounded up.

    Raises:
        OverflowError: it is infinite: no account offers so much.
    """
    return math.ceil(loss * ONE)


def as_float(amount: int) -> float:
    """An amount as ε, for prints: ∞ for a public person's budget."""
    return math.inf if amount >= PUBLIC else amount / ONE


def floats(offered: Integers) -> Floats:
    """What is offered as floats, each the largest that is not above it.

    The nearest float may be above. Its product with 10⁹ is computed in two floats that sum to it
    exactly, and compared with what was offered.
    """
    amount = offered.astype(np.float64)  # below 2⁵³, so exactly
    near = amount / ONE
    billion = float(ONE)
    product = near * billion
    high = near * _SPLITTER - (near * _SPLITTER - near)
    top = billion * _SPLITTER - (billion * _SPLITTER - billion)
    low, rest = near - high, billion - top
    error = ((high * top - product) + high * rest + low * top) + low * rest
    above = (product - amount) + error > 0.0
    return np.where(above, np.nextafter(near, 0.0), near)


def of_share(budgets: Integers, part: int, whole: int) -> Integers:
    """A share part/whole of budgets, rounded down; the most that is offered, of public ones."""
    share = budgets // whole * part + budgets % whole * part // whole
    return np.where(budgets >= PUBLIC, MOST, share)


FEW: Final = 4
"""Of how many accounts one must be wanted for all of them to be read."""

LONGEST: Final = 200
"""Characters of the name of a release."""


@dataclass(frozen=True)
class Rule:
    """How much a release asks of everyone: a share of their whole budget, and at most so much.

    Attributes:
        at_most: in nano-ε.
        part: of
        whole: of everyone's budget.
    """

    at_most: int = MOST
    part: int = 1
    whole: int = 1

    def of(self, budgets: Integers) -> Integers:
        """What it may ask of people of these budgets."""
        return np.minimum(self.at_most, of_share(budgets, self.part, self.whole))

    def __str__(self) -> str:
        told = []
        if self.at_most < MOST:
            told.append(f"at_most={as_float(self.at_most):g}")
        if self.part < self.whole:
            told.append(f"share={self.part}/{self.whole}")
        return ", ".join(told) or "share=1"


class Kept(NamedTuple):
    """A release as it stands in the ledger.

    Attributes:
        number: by which tables refer to it.
        name: under which it stands there.
        question: a hash of all arguments.
        state: "open", "drawing", "settled", "failed" or "abandoned".
        rule: how much it asks of everyone.
        result: what was released; None unless it is settled.
    """

    number: int
    name: str
    question: str
    state: str
    rule: Rule
    result: bytes | None


@dataclass(frozen=True, eq=False)
class Book:
    """A ledger that is open.

    Attributes:
        store: its database.
        neighbours: "replace" or "add-remove", for life.
        secret: the key of ids, and of what would reveal who is a member.
        due: by the number of a release, what could not be written down because the database
            failed. It is carried out when the release is asked for again.
    """

    store: Store
    neighbours: str
    secret: bytes
    due: dict[int, Callable[[], object]] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """Whether it is private who has an account."""
        return self.neighbours == "add-remove"

    @property
    def salt(self) -> bytes:
        """What hashes of charges are salted with."""
        return self.secret if self.private else b""

    def refuse_private(self, what: str) -> None:
        """Refuse what would tell who is a member.

        Raises:
            LedgerError: that is private here.
        """
        if self.private:
            raise LedgerError(
                f'{what} is for neighbours="replace": under add/remove balances reveal who '
                "takes part, and are shown only to the person they belong to."
            )

    def head(self, event: tuple[int, bytes], *, fresh: bool = False) -> str:
        """The end of the chain after an event, as it may be published.

        Args:
            event: its number and its hash.
            fresh: whether it is another one each time, under add/remove. A release, which always
                writes an event, has the same head for ever.
        """
        if not self.private:
            return chain.head_of(*event)
        return chain.keyed_head(self.secret, event[1], secrets.token_hex(16) if fresh else None)

    def is_head(self, head: str, event: tuple[int, bytes]) -> bool:
        """Whether a head, of this version or an earlier one, was the end of the chain then."""
        if head == chain.head_of(*event):
            return True
        once = head.partition(":")[0]
        return self.private and head == chain.keyed_head(self.secret, event[1], once)

    def release(self, name: str) -> Kept | None:
        """A release by its name.

        Blanks around a name do not count. Earlier versions counted them, so a ledger may hold two
        names that differ in them alone: then the very name that is given goes first.
        """
        found = self.store.one(
            "SELECT number, name, question, state, at_most, part, whole, result FROM releases "
            "WHERE trim(name) = ? "
            "ORDER BY CASE name WHEN ? THEN 0 WHEN ? THEN 1 ELSE 2 END, number LIMIT 1",
            *(name.strip(), name, name.strip()),
        )
        if found is None:
            return None
        number, called, question, state, *rule, result = found
        return Kept(int(number), called, question, state, Rule(*rule), result)

    def settled(self, kept: Kept) -> Releases:
        """What was released, with its place in the ledger, within a transaction."""
        number, hashed = self.store.rows(
            "SELECT number, hash FROM events WHERE release = ? AND kind = 'settled'", kept.number
        )[0]
        found: Releases = frozen.from_plain(json.loads(kept.result or b""))

        def placed(release: Release) -> Release:
            if release.ledger is None:  # version 0.2.0 stored no place
                entry = Entry(kept.name, chain.head_of(number, hashed))
            else:
                entry = replace(release.ledger, head=self.head((number, hashed)))
            return replace(release, ledger=entry)

        return replace(found, each=tuple(map(placed, found.each)))

    def seal(
        self, kind: str, number: int, at: str, charged: Integers | None = None
    ) -> tuple[int, bytes]:
        """Add to the chain what became of a release; the number and the hash of the event.

        Args:
            kind: of the event.
            number: of the release.
            at: when.
            charged: what `charge` just wrote; None to read it.
        """
        row = self.store.rows(
            "SELECT name, question, state, at_most, part, whole, result, opened, closed "
            "FROM releases WHERE number = ?",
            number,
        )[0]
        charges = self.charges(number) if charged is None else iter([charged])
        content = chain.release_digest(self.salt, row, charges)
        chain.append(self.store, kind, number, content, at)
        return chain.last_of(self.store)

    def charges(self, number: int) -> Iterator[Integers]:
        """Accounts and amounts of a release, in the order of accounts, some at a time."""
        batches = self.store.batches(
            "SELECT account, amount FROM charges WHERE release = ? ORDER BY account", number
        )
        for batch in batches:
            yield np.array(batch, dtype=np.int64)

    def accounts(self, ids: list[bytes], *columns: str) -> Integers:
        """The places of ids that have an account, and columns of it.

        Args:
            ids: as a ledger knows them. An id that has no account by its tag may have one by the
                other: see `tally.other_tag`.
            columns: of accounts, whole numbers.
        """
        wanted = ", ".join(f"accounts.{column}" for column in columns)
        sql = f"SELECT wanted.place, {wanted} FROM wanted "  # noqa: S608
        sql += "JOIN accounts ON accounts.person = wanted.person"

        def found(ids: list[bytes]) -> Integers:
            self.store.look_up(iter([ids]))
            return self.store.integers(1 + len(columns), sql)

        known = found(ids)
        places = np.setdiff1d(np.arange(len(ids)), known[:, 0]).tolist()
        others = {place: door.other_tag(ids[place]) for place in places}
        again = [place for place, other in others.items() if other is not None]
        if not again:
            return known
        more = found([others[place] or b"" for place in again])
        more[:, 0] = np.array(again, dtype=np.int64)[more[:, 0]]
        return np.concatenate([known, more])

    def stored(self, who: bytes) -> bytes:
        """The tag by which the account of an id is found, if there is one."""
        other = door.other_tag(who)
        known = "SELECT 1 FROM accounts WHERE person = ?"
        if other is None or self.store.one(known, who) is not None:
            return who
        return who if self.store.one(known, other) is None else other

    def balances(self, who: door.People) -> Integers:
        """Place, account, budget and spending of people who have an account, by account.

        Few people are looked up in the database; for many all accounts are read, and looked up
        among the people.
        """
        store = self.store
        if len(who) * FEW < store.rows("SELECT coalesce(max(number), 0) FROM accounts")[0][0]:
            listed = [each for batch in who.tagged() for each in batch]
            found = self.accounts(listed, "number", "budget", "spent")
            return found[np.argsort(found[:, 1])]
        ids, rows = [], [np.empty((0, 3), dtype=np.int64)]
        sql = "SELECT person, number, budget, spent FROM accounts ORDER BY number"
        for batch in store.batches(sql):
            person, *numbers = zip(*batch, strict=True)
            ids.append(list(person))
            rows.append(np.array(numbers, dtype=np.int64).T)
        place = who.places(ids)
        return np.column_stack([place, np.concatenate(rows)])[place >= 0]

    def open_claims(self, before: int | None = None) -> list[tuple[str, Rule]]:
        """Releases that are open, and what each may ask: all, or those opened before another."""
        found = self.store.rows(
            "SELECT number, name, at_most, part, whole FROM releases WHERE state = 'open' "
            "ORDER BY number"
        )
        return [
            (name, Rule(*rule))
            for number, name, *rule in found
            if before is None or number < before
        ]

    def held(self, claims: Iterable[tuple[str, Rule]], budgets: Integers) -> Integers:
        """What open claims hold back from people of these budgets."""
        return sum((rule.of(budgets) for _, rule in claims), np.zeros_like(budgets))

    def erased(self, ids: Iterable[bytes]) -> int:
        """How many of these people had an account that was erased."""
        marks = self.store.rows("SELECT mark FROM accounts WHERE person IS NULL")
        gone = {mark for (mark,) in marks}
        return sum(not gone.isdisjoint(self._marks(who)) for who in ids) if gone else 0

    def _marks(self, who: bytes) -> list[bytes]:
        """What an erased id left, by either of its tags."""
        tags = filter(None, (who, door.other_tag(who)))
        return [chain.mark(self.secret, each) for each in tags]


def charge(store: Store, number: int, accounts: Integers, amounts: Integers) -> Integers:
    """Charge people for a release, within a write.

    Args:
        store: the database.
        number: of the release.
        accounts: ascending.
        amounts: nano-ε; nothing is written of those who pay nothing.

    Returns:
        What was written: account and amount.
    """
    pays = amounts > 0
    pairs = np.column_stack([accounts[pays], amounts[pays]])
    store.insert("charges", ("release", "account", "amount"), chunks(pairs, number))
    store.run(
        "UPDATE accounts SET spent = spent + charges.amount FROM charges "
        "WHERE charges.release = ? AND charges.account = accounts.number",
        number,
    )
    return pairs


def written(releases: Releases) -> bytes:
    """Releases as bytes, from which `Book.settled` makes the same."""
    return json.dumps(frozen.to_plain(releases), ensure_ascii=True).encode()


def chunks(rows: Integers, *first: Any) -> Iterator[Row]:
    """Rows of an array, after what all of them begin with; few are there at a time."""
    for start in range(0, len(rows), CHUNK):
        columns = rows[start : start + CHUNK].T.tolist()
        yield from zip(*map(repeat, first), *columns, strict=False)


def tidy(store: Store) -> None:
    """After a release was closed: once nothing is open, nothing more can go beyond a budget."""
    if store.rows("SELECT count(*) FROM releases WHERE state = 'open'")[0][0] == 0:
        store.run(
            "UPDATE accounts SET most = CASE WHEN spent > budget THEN spent ELSE budget END "
            "WHERE most > budget"
        )


def checked_name(name: Any) -> str:
    """The name of a release.

    Raises:
        ArgumentError: it is not one line of text.
    """
    line = isinstance(name, str) and name.strip() and name.isprintable()
    if not line or len(name) > LONGEST:
        raise ArgumentError(
            f"name must be one line of text, of at most {LONGEST} characters: what this release is "
            'called in the ledger, such as "wages 2026".'
        )
    return str(name)
