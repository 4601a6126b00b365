"""An open ledger: its database, its secret key, and its unit of account, nano-ε."""

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
from epsilons.ledger.store import CHUNK, Row, Store, whole_numbers
from epsilons.results.release import Release, Releases
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


# Accounts are kept in nano-ε. Budgets are rounded down, charges are rounded up, sums are exact.
#
# A budget is the shortest decimal of the given number, rounded down to nano-ε. So ten releases at
# ε = 0.1 use exactly ε = 1, which sums of floats do not guarantee.

ONE: Final = 10**9
"""ε = 1 in nano-ε."""

MOST: Final = 2**20 * ONE
"""The largest amount offered to one release, and the largest budget that is not public."""

PUBLIC: Final = 2**62
"""The budget of a public person, whose account has no limit."""

_DIGITS: Final = 10**6
"""Below this ε, decimals in nano-ε have at most fifteen digits, so distinct decimals are distinct
floats."""

_SPLITTER: Final = 2.0**27 + 1.0
"""Veltkamp's constant, which splits a float of 53 bits into two halves."""


def exact(number: Any) -> Fraction | float:
    """Return the shortest decimal of a number, as an exact fraction; ∞ stays a float."""
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
    """Return a budget in nano-ε, rounded down and at most `MOST`; `PUBLIC` if it is ∞.

    Raises:
        BudgetError: the budget is negative, NaN, or not a number.
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
    """Return `units` of many budgets, which are already checked."""
    if budgets.dtype.kind != "f":
        kinds, place = np.unique(budgets, return_inverse=True)
        return np.array([units(each) for each in kinds.tolist()], dtype=np.int64)[place.ravel()]
    given = budgets.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.rint(given * ONE)
        # A decimal of at most fifteen digits that equals this float is its shortest decimal.
        short = (near / ONE == given) & (given < _DIGITS)
    found = np.where(short, near, 0.0).astype(np.int64)
    found[~short] = [units(each) for each in given[~short].tolist()]
    return found


def charged(loss: Fraction | float, units: int = 1) -> int:
    """Return the privacy loss of a person in nano-ε, rounded up.

    Args:
        loss: the loss of one unit.
        units: the number of units of the person, if people have weights.

    Raises:
        OverflowError: the loss is infinite; no account offers that much.
    """
    lost, of = loss.as_integer_ratio()
    return -(-lost * units * ONE // of)


def as_float(amount: int) -> float:
    """Return an amount as a float ε, for display; ∞ for the budget of a public person."""
    return math.inf if amount >= PUBLIC else amount / ONE


def floats(offered: Integers) -> Floats:
    """Return offered amounts in ε as floats, rounded down.

    The nearest float can be above the amount. Its product with 10⁹ is computed exactly, as a sum of
    two floats (Dekker's product), and compared with the amount.
    """
    amount = offered.astype(np.float64)  # exact, because amounts are below 2⁵³
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
    """Return the share part/whole of budgets, rounded down; `MOST` for public people."""
    share = budgets // whole * part + budgets % whole * part // whole
    return np.where(budgets >= PUBLIC, MOST, share)


FEW: Final = 4
"""If at least 1/FEW of all accounts are needed, all are read; otherwise ids are looked up."""

LONGEST: Final = 200
"""The largest length of the name of a release, in characters."""


@dataclass(frozen=True)
class Rule:
    """The most that a release may charge each person: a share of their budget, and a maximum.

    Attributes:
        at_most: the maximum, in nano-ε.
        part: numerator of the share of everyone's whole budget.
        whole: denominator of that share.
    """

    at_most: int = MOST
    part: int = 1
    whole: int = 1

    def of(self, budgets: Integers) -> Integers:
        """Return the most that a release may charge people with these budgets."""
        return np.minimum(self.at_most, of_share(budgets, self.part, self.whole))

    def __str__(self) -> str:
        told = []
        if self.at_most < MOST:
            told.append(f"at_most={as_float(self.at_most):g}")
        if self.part < self.whole:
            told.append(f"share={self.part}/{self.whole}")
        return ", ".join(told) or "share=1"


class Kept(NamedTuple):
    """A row of the table of releases.

    Attributes:
        number: the release's key in the tables.
        name: the release's name.
        question: a hash of all arguments.
        state: "open", "drawing", "settled", "failed" or "abandoned".
        rule: the most that it may charge each person.
        result: the stored result; None unless the release is settled.
    """

    number: int
    name: str
    question: str
    state: str
    rule: Rule
    result: bytes | None


@dataclass(frozen=True, eq=False)
class Book:
    """An open ledger.

    Attributes:
        store: its database.
        neighbours: "replace" or "add-remove"; it never changes.
        secret: the key for hashes of ids, and of everything that would reveal membership.
        due: writes that failed because of the database, by release number. A write is retried
            when its release is requested again.
    """

    store: Store
    neighbours: str
    secret: bytes
    due: dict[int, Callable[[], object]] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """Whether membership (having an account) is private."""
        return self.neighbours == "add-remove"

    @property
    def salt(self) -> bytes:
        """The salt for hashes of charges."""
        return self.secret if self.private else b""

    def refuse_private(self, what: str) -> None:
        """Refuse an operation that would reveal membership.

        Raises:
            LedgerError: membership is private in this ledger.
        """
        if self.private:
            raise LedgerError(
                f'{what} is for neighbours="replace": under add/remove balances reveal who '
                "takes part, and are shown only to the person they belong to."
            )

    def head(self, event: tuple[int, bytes], *, fresh: bool = False) -> str:
        """Return the end of the chain after an event, in a form that can be published.

        Args:
            event: the event's number and hash.
            fresh: whether to return a different head each time, under add/remove. The head of a
                release need not differ each time, because a release always writes an event.
        """
        if not self.private:
            return chain.head_of(*event)
        return chain.keyed_head(self.secret, event[1], secrets.token_hex(16) if fresh else None)

    def is_head(self, head: str, event: tuple[int, bytes]) -> bool:
        """Whether a head, in the format of this or an earlier version, belongs to an event."""
        if head == chain.head_of(*event):
            return True
        once = head.partition(":")[0]
        return self.private and head == chain.keyed_head(self.secret, event[1], once)

    def release(self, name: str) -> Kept | None:
        """Find a release by its name; None if there is no such release.

        Blanks around a name are ignored. Earlier versions did not ignore them, so a ledger can have
        two names that differ only in blanks. Then an exact match is preferred.
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
        """Read a settled result, with its entry in the ledger, within a transaction."""
        number, hashed = self.store.rows(
            "SELECT number, hash FROM events WHERE release = ? AND kind = 'settled'", kept.number
        )[0]
        found: Releases = frozen.from_plain(json.loads(kept.result or b""))

        def placed(release: Release) -> Release:
            assert release.ledger is not None
            entry = replace(release.ledger, head=self.head((number, hashed)))
            return replace(release, ledger=entry)

        return replace(found, each=tuple(map(placed, found.each)))

    def row(self, number: int) -> Row | None:
        """Return the row of a release, as `chain.release_digest` takes it; None if it is gone."""
        return self.store.one(
            "SELECT name, question, state, at_most, part, whole, result, opened, closed "
            "FROM releases WHERE number = ?",
            number,
        )

    def seal(
        self, kind: str, number: int, at: str, charged: Iterator[Integers] | None = None
    ) -> None:
        """Append an event of a release to the chain.

        Args:
            kind: the kind of event.
            number: the number of the release.
            at: the time.
            charged: the charges that `charge` just wrote; None to read them from the tables.
        """
        row = self.row(number)
        assert row is not None
        charges = self.charges(number) if charged is None else charged
        content = chain.release_digest(self.salt, row, charges)
        chain.append(self.store, kind, number, content, at)

    def charges(self, number: int) -> Iterator[Integers]:
        """Yield accounts and amounts charged for a release, ordered by account, in batches."""
        yield from self.store.by_account(("account", "amount"), "charges WHERE release = ?", number)

    def accounts(self, ids: list[bytes]) -> Integers:
        """Look up accounts by id; return position, number, budget and spending of each id found.

        Args:
            ids: ids, each tagged with its type. If an id with this tag has no account, the other
                tag is tried: `door.other_tag`.
        """

        def found(ids: list[bytes]) -> Integers:
            self.store.look_up(ids)
            return self.store.integers(
                4,
                "SELECT wanted.place, accounts.number, accounts.budget, accounts.spent "
                "FROM wanted JOIN accounts ON accounts.person = wanted.person",
            )

        known = found(ids)
        places = np.setdiff1d(np.arange(len(ids)), known[:, 0]).tolist()
        others = {place: door.other_tag(ids[place]) for place in places}
        again = [place for place, other in others.items() if other is not None]
        if not again:
            return known
        more = found([others[place] or b"" for place in again])
        more[:, 0] = np.array(again, dtype=np.int64)[more[:, 0]]
        return np.concatenate([known, more])

    def every(self) -> tuple[Integers, Integers]:
        """Return the budgets and the spending of all accounts, in order."""
        columns = ("number", "budget", "spent")
        none = np.empty((0, len(columns)), dtype=np.int64)
        _, budgets, spent = np.concatenate([none, *self.store.by_account(columns, "accounts")]).T
        return budgets, spent

    def stored(self, who: bytes) -> bytes:
        """Return the tagged id of a person's stored account; the given id if there is none."""
        other = door.other_tag(who)
        known = "SELECT 1 FROM accounts WHERE person = ?"
        if other is None or self.store.one(known, who) is not None:
            return who
        return who if self.store.one(known, other) is None else other

    def balances(self, who: door.People) -> Iterator[Integers]:
        """Yield position, number, budget and spending of each account found, in batches.

        A few people are looked up in the database. For many people, all accounts are read and
        matched.
        """
        store = self.store
        accounts = store.rows("SELECT coalesce(max(number), 0) FROM accounts")[0][0]
        if len(who) * FEW < accounts:
            start = 0
            for ids in who.tagged():
                found = self.accounts(ids)
                found[:, 0] += start
                start += len(ids)
                yield found
        elif accounts:
            yield from self._matched(who)

    def _matched(self, who: door.People) -> Iterator[Integers]:
        """Read all accounts, and yield the same as `balances`."""
        person = f"coalesce({self.store.hexed.format('person')}, '')"
        find, known, others = who.finder(), np.zeros(len(who), dtype=bool), []
        for *numbers, tags in self.store.blocks(("number", "budget", "spent", person), "accounts"):
            place, exact = find(tags)
            found = np.column_stack([place, whole_numbers(numbers)])
            known[place[exact]] = True
            yield found[exact]
            others.append(found[(place >= 0) & ~exact])
        # If an integer and its text have an account each, everyone has the one with their own tag.
        for found in others:
            yield found[~known[found[:, 0]]]

    def open_claims(self, before: int | None = None) -> list[tuple[str, Rule]]:
        """Return open releases and their rules: all, or only releases opened before a given one."""
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
        """Return the amounts that open claims reserve from people with these budgets."""
        return sum((rule.of(budgets) for _, rule in claims), np.zeros_like(budgets))

    def erased(self, ids: Iterable[bytes]) -> int:
        """Return the number of these people who have an erased account."""
        marks = self.store.rows("SELECT mark FROM accounts WHERE person IS NULL")
        gone = {mark for (mark,) in marks}
        return sum(not gone.isdisjoint(self._marks(who)) for who in ids) if gone else 0

    def _marks(self, who: bytes) -> list[bytes]:
        """Return the keyed hashes that remain after an id is erased, for both possible tags."""
        tags = filter(None, (who, door.other_tag(who)))
        return [chain.mark(self.secret, each) for each in tags]


def charge(store: Store, number: int, accounts: Integers, amounts: Integers) -> Iterator[Integers]:
    """Charge people for a release, within a write transaction.

    Args:
        store: the database.
        number: the number of the release.
        accounts: numbers of accounts, ascending.
        amounts: nano-ε; zeros are not written.

    Returns:
        The rows written, account and amount, in batches.
    """

    def pairs() -> Iterator[Integers]:
        for start in range(0, len(accounts), CHUNK):
            rows = np.column_stack([each[start : start + CHUNK] for each in (accounts, amounts)])
            yield rows[rows[:, 1] > 0]

    store.charge(number, pairs())
    store.run(
        "UPDATE accounts SET spent = spent + charges.amount FROM charges "
        "WHERE charges.release = ? AND charges.account = accounts.number",
        number,
    )
    return pairs()


def written(releases: Releases) -> bytes:
    """Serialize releases; `Book.settled` reads them back."""
    return json.dumps(frozen.to_plain(releases), ensure_ascii=True).encode()


def chunks(rows: Integers, *first: Any) -> Iterator[Row]:
    """Yield rows of an array, each preceded by `first`, converting only a chunk at a time."""
    for start in range(0, len(rows), CHUNK):
        columns = rows[start : start + CHUNK].T.tolist()
        yield from zip(*map(repeat, first), *columns, strict=False)


def tidy(store: Store) -> None:
    """If no release is open, lower every limit on spending that exceeds its account's budget."""
    if store.rows("SELECT count(*) FROM releases WHERE state = 'open'")[0][0] == 0:
        store.run(
            "UPDATE accounts SET most = CASE WHEN spent > budget THEN spent ELSE budget END "
            "WHERE most > budget"
        )


def checked_name(name: Any) -> str:
    """Return the name of a release after validation.

    Raises:
        ArgumentError: it is not one line of text, or too long.
    """
    line = isinstance(name, str) and name.strip() and name.isprintable()
    if not line or len(name) > LONGEST:
        raise ArgumentError(
            f"name must be one line of text, of at most {LONGEST} characters: what this release is "
            'called in the ledger, such as "wages 2026".'
        )
    return str(name)
