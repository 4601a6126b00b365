"""The ledger: a lifetime privacy account for each person."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from epsilons import door, made, parameters
from epsilons.budgets.levels import Budgets, is_number
from epsilons.errors import ArgumentError, BudgetError, ClaimError, LedgerError
from epsilons.ledger import book as units, enrolment, statement, store as chain
from epsilons.ledger.audit import Findings, audit
from epsilons.ledger.book import Book, Rule, checked_name, tidy
from epsilons.ledger.claim import Claim
from epsilons.ledger.enrolment import Enrolment
from epsilons.ledger.postgres import PostgreSQL, is_address
from epsilons.ledger.series import Series, SeriesPeople, series
from epsilons.ledger.sqlite import SQLite
from epsilons.ledger.statement import Past, Statement, Status, statement_of
from epsilons.ledger.store import VERSION, Store
from epsilons.listed import shown
from epsilons.questions.question import Question
from epsilons.results.release import Releases
from epsilons.types import Column, Data, Menu, Neighbours, Part

__all__ = ["Ledger"]

FINEST = 10**6
"""The largest denominator of a share."""


class Ledger:
    """A lifetime account for each person: their privacy budget, and the remaining budget.

    Args:
        where: the location of a ledger that `Ledger.create` made: the path of a file (SQLite), or
            the address of a PostgreSQL server ("postgresql://…").

    Raises:
        LedgerError: there is no ledger, or a ledger of another version.
        StorageError: the database cannot be opened.

    Examples:
        >>> import epsilons as ep
        >>> ledger = ep.Ledger.create("people.db")
        >>> print(ledger.enrol(person=["ann", "bo"], epsilon=[1.0, 2.0]))
        Enrolled 2 people: 2 new, 0 raised, 0 lowered.
        >>> asked = {"bounds": (0, 24), "person": ["ann", "bo"]}
        >>> release = ep.mean([3.5, 8.0], ledger=ledger.claim("january", share=1 / 4), **asked)
        >>> ledger.account("ann").left, ledger.check().holds
        (0.75, True)
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        store = _store(where, fresh=False)
        with store.read():
            row = None
            if store.has_tables():
                row = store.one("SELECT version, neighbours, secret FROM ledger")
        if row is None or row[0] != VERSION:
            store.close()
            held = "no ledger: ep.Ledger.create(where) makes one there."
            if row is not None:
                held = "a ledger of another version of epsilons."
            raise LedgerError(f"where={_shown(where)!r} holds {held}")
        self._book = Book(store, str(row[1]), row[2])

    @classmethod
    def create(cls, where: str | os.PathLike[str], neighbours: Neighbours = "replace") -> Ledger:
        """Create a ledger, and open it.

        Args:
            where: the path of a new file, or the address of a PostgreSQL server.
            neighbours: "replace" or "add-remove"; it cannot be changed later. With a mix of both,
                counts in releases under replace would reveal who takes part in releases under
                add/remove.

        Raises:
            ArgumentError: `neighbours` is unknown.
            LedgerError: the file is not empty, or the server already has a ledger.
            StorageError: the database cannot be opened.
        """
        parameters.choice("neighbours", neighbours)
        store = _store(where, fresh=True)
        at = made.now()
        with store.write():
            if store.has_tables():
                raise LedgerError(
                    f"where={_shown(where)!r} already holds a ledger: open it with "
                    "ep.Ledger(where), or begin in a new place."
                )
            store.make()
            store.run(
                "INSERT INTO ledger (one, version, neighbours, secret, created) "
                "VALUES (1, ?, ?, ?, ?)",
                *(VERSION, neighbours, secrets.token_bytes(32), at),
            )
            content = chain.Digest(b"", VERSION, neighbours, at).value
            chain.append(store, "created", None, content, at)
        store.close()
        return cls(where)

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of every release in this ledger."""
        return self._book.neighbours

    @property
    def head(self) -> str:
        """The end of the hash chain, to be stored elsewhere and passed to `check` later.

        It is NUMBER:HASH of the last event. Under add/remove it is a keyed hash, which differs each
        time.
        """
        with self._book.store.read():
            return self._book.head(chain.last_of(self._book.store), fresh=True)

    def enrol(
        self,
        data: Data | None = None,
        *,
        person: Column,
        epsilon: Column,
        menu: Menu | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        consent: str | None = None,
    ) -> Enrolment:
        """Create accounts, or change people's budgets.

        Args:
            data: any table that a release can read, or the path of a file; None if `person` and
                `epsilon` are arrays.
            person: the person of each row: integers or text.
            epsilon: each person's lifetime budget: an array, the name of a column, or one number
                for everyone. The shortest decimal of the number is rounded down to nano-ε.
            menu: if `epsilon` is a column of words, the budget that each stands for, such as
                {"strict": 0.1, "open": 2}. Under replace other words are refused; under add/remove
                people with other words are ignored.
            separator: the separator of a CSV file.
            decimal: the decimal mark of numbers in a file of text.
            thousands: the mark between thousands there.
            consent: text on how people agreed to higher budgets. It is recorded. Lowering a budget
                needs no consent.

        Returns:
            The numbers of new people, raised budgets and lowered budgets; None under add/remove.

        Raises:
            ArgumentError: an argument is invalid (also BudgetError, ColumnError).
            DataError: under replace, a row has no person, or a person has two budgets. Under
                add/remove such rows and invalid budgets are ignored, and the smaller of two
                budgets is used.
            LedgerError: under replace, a budget would be raised without consent. Under add/remove
                it silently stays unchanged.
            StorageError: the database failed. Nothing was changed.
        """
        given = door.source(data, separator, decimal, thousands)
        own = door.chosen(epsilon, menu)
        who, offered = door.enrolled(given, person, own, lenient=self._book.private)
        if consent is not None and not _is_words(consent):
            raise ArgumentError(
                "consent must say in words how people agreed to give more, as text that every "
                "database can store: without NUL characters and lone surrogates."
            )
        budgets = units.many_units(offered)
        return enrolment.give(
            self._book, who, budgets, consent or "", may_raise=consent is not None
        )

    def withdraw(self, person: str | int) -> None:
        """Withdraw a person: set their budget to 0. Spending is not undone.

        An open release may still charge the amount that it was already offered. No other release
        charges the person.

        Args:
            person: an id.

        Raises:
            LedgerError: under replace, there is no such account.
            StorageError: the database failed.
        """
        with self._book.store.read():
            who = self._book.stored(door.tag(person))
            known = self._book.store.one("SELECT 1 FROM accounts WHERE person = ?", who)
        if known is None:
            if self._book.private:
                return
            raise LedgerError("person: there is no such account.")
        one = door.people(None, [person], lenient=False)
        none = np.zeros(1, dtype=np.int64)
        enrolment.give(self._book, one, none, "withdrawn", may_raise=False)

    def erase(self, person: str | int) -> None:
        """Replace the id of a person who has withdrawn by a keyed hash; their charges stay.

        Args:
            person: an id. Under add/remove erasing also withdraws the person.

        Raises:
            LedgerError: under replace, the person has not withdrawn, or has no account.
            StorageError: the database failed.
        """
        enrolment.erase(self._book, door.tag(person))

    def claim(self, name: str, *, at_most: float | None = None, share: Part | None = None) -> Claim:
        """Claim remaining budgets for one release: `ep.mean(…, ledger=ledger.claim(…))`.

        Args:
            name: the name of the release in the ledger. The same question under the same name
                returns the same answer, at no charge.
            at_most: the most that anyone spends on the release, in ε.
            share: the most that anyone spends on the release, as a share of their whole budget,
                such as 1/12. In a series, small budgets then last as long as large budgets.

        Raises:
            ArgumentError: neither limit is given, or a limit is out of range.
        """
        return Claim(self._book, name, _rule(at_most, share))

    def budgets(self, *, at_most: float | None = None, share: Part | None = None) -> Budgets:
        """Return the budgets that a claim made now would be offered, for `ep.plan`.

        Args:
            at_most: as for `claim`.
            share: as for `claim`.

        Raises:
            LedgerError: the ledger is under add/remove, or nobody has any budget left.
        """
        self._book.refuse_private("budgets")
        rule = _rule(at_most, share)
        with self._book.store.read():
            claims = self._book.open_claims()
            budgets, spent = self._book.every()
        taken = self._book.held(claims, budgets)
        left = np.minimum(rule.of(budgets), np.maximum(budgets - spent - taken, 0))
        if not left.any():
            raise LedgerError("ledger: nobody has anything left.")
        return Budgets(units.floats(left))

    def plan(
        self,
        questions: Iterable[Question],
        *,
        names: Iterable[str] | None = None,
        tolerances: Sequence[float | None] | None = None,
    ) -> Series:
        """Forecast a series of releases under everyone's lifetime budget.

        Args:
            questions: a list such as `[ep.Mean("wage", bounds=(0, 100))] * 12`, in the order in
                which they will be asked. No data are read.
            names: the names of the releases; by default numbers.
            tolerances: the tolerated error of each release, in data units; by default the width of
                its range. Shares are chosen to make all errors the same fraction of the tolerance.

        Returns:
            The share of everyone's budget that each release should claim, the error of each, the
            budgets left at the end, and the cost of a uniform `at_most` in comparison.

        Raises:
            ArgumentError: a question cannot be forecast.
            LedgerError: the ledger is under add/remove, or nobody has any budget left.
        """
        self._book.refuse_private("plan")
        asked = tuple(questions)
        called = [str(number + 1) for number in range(len(asked))]
        if names is not None:
            called = [checked_name(name) for name in names]
        if not asked or len(called) != len(asked):
            raise ArgumentError("questions must not be empty, and names must be one for each.")
        with self._book.store.read():
            budgets, spent = self._book.every()
        people = SeriesPeople.of(budgets, spent)
        if not people.left.any():
            raise LedgerError("ledger: nobody has anything left.")
        return series(people, asked, called, tolerances)

    def abandon(self, name: str) -> None:
        """Close a release that has no answer.

        If it was never drawn, it no longer reserves budgets. If its process ended while drawing,
        the release is closed as failed, and everyone stays charged for what they offered. A process
        that is still drawing it will return no result.

        Args:
            name: the name of the release.

        Raises:
            ClaimError: there is no such release, or it is neither open nor being drawn.
            StorageError: the database failed.
        """
        book, at = self._book, made.now()
        with book.store.write():
            found = book.release(checked_name(name))
            if found is None or found.state not in ("open", "drawing"):
                is_ = "is not in the ledger" if found is None else f"is {found.state}, not open"
                raise ClaimError(f"name={shown(name)} {is_}: there is nothing to abandon.")
            state = "abandoned" if found.state == "open" else "failed"
            book.store.run(
                "UPDATE releases SET state = ?, closed = ? WHERE number = ?",
                *(state, at, found.number),
            )
            tidy(book.store)
            book.seal(state, found.number, at)
        book.due.pop(found.number, None)

    def release(self, name: str) -> Releases:
        """Return the stored result of a settled release.

        Nothing is drawn or charged. This works even if this version of epsilons no longer supports
        the question.

        Args:
            name: the name of a settled release.

        Returns:
            One release for each question that was asked under this name. If there was only one,
            use `ledger.release(name)[0]`.

        Raises:
            ClaimError: there is no such release, or it has no answer.
            StorageError: the database failed.
        """
        with self._book.store.read():
            found = self._book.release(checked_name(name))
            if found is None or found.state != "settled":
                is_ = "is not in the ledger" if found is None else f"is {found.state}"
                raise ClaimError(f"name={shown(name)} {is_}: there is no answer under this name.")
            return self._book.settled(found)

    def account(self, person: str | int) -> Statement:
        """Return the statement of one person's account, to be shown to that person.

        Args:
            person: an id.

        Raises:
            LedgerError: under replace, there is no such account. Under add/remove people without
                an account get an empty statement.
            StorageError: the database failed.
        """
        return statement_of(self._book, person)

    def history(self) -> tuple[Past, ...]:
        """Return all releases, in the order in which they were opened."""
        return statement.past(self._book)

    def status(self) -> Status:
        """Return a summary of the ledger; under add/remove, it does not depend on membership."""
        return statement.status(self._book)

    def check(self, head: str | None = None) -> Findings:
        """Replay every event, every charge and every balance.

        Args:
            head: an earlier end of the chain, stored elsewhere or in a release
                (`release.ledger.head`). Without it, the check does not detect a chain that was
                rewritten completely, or a chain that was truncated.

        Returns:
            The problems found; `.require()` raises if there are any.
        """
        return audit(self._book, head)

    def export(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write the tables as Parquet files for an auditor. Under add/remove, keep them private.

        Args:
            folder: the folder; it is created if it does not exist.

        Raises:
            FileError: a file cannot be written.
        """
        return statement.export(self._book, Path(folder))

    def close(self) -> None:
        """Close the database."""
        self._book.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _store(where: Any, *, fresh: bool) -> Store:
    if is_address(where):
        return PostgreSQL(where)
    if not isinstance(where, (str, os.PathLike)):
        raise ArgumentError(
            "where must be the path of a file, or an address such as postgresql://…/database."
        )
    return SQLite(Path(os.path.expanduser(os.fspath(where))), fresh=fresh)


def _is_words(consent: Any) -> bool:
    """Whether this is nonempty text that every database can store."""
    if not isinstance(consent, str) or not consent.strip() or "\0" in consent:
        return False
    try:
        consent.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(where: Any) -> str:
    """Return a ledger's location for messages; hide addresses, which can contain a password."""
    return "postgresql://…" if is_address(where) else os.fspath(where)


def _rule(at_most: Any, share: Any) -> Rule:
    """Return the rule of a claim, from its arguments.

    Raises:
        ArgumentError: neither limit is given, or a limit is out of range.
    """
    if at_most is None and share is None:
        raise ArgumentError(
            "at_most or share is needed: the most that anyone spends on this release, in ε, or as "
            "a share of their whole budget, such as share=1/12."
        )
    limit = units.MOST
    if at_most is not None:
        limit = units.units(at_most) if is_number(at_most) and at_most > 0 else 0
        if not 0 < limit <= units.MOST:
            raise BudgetError(
                f"at_most={shown(at_most)} must be a finite number above 0 (at least 1e-9): the "
                "most that anyone spends on this release."
            )
    if share is None:
        return Rule(limit)
    if not is_number(share) or not 0 < share <= 1:
        raise ArgumentError(
            f"share={shown(share)} must be a number above 0 and at most 1: a part of everyone's "
            "whole budget, such as 1/12."
        )
    near = Fraction(share).limit_denominator(FINEST)
    if not near:
        raise ArgumentError(f"share={shown(share)} is too small: at least 1/{FINEST:,} is needed.")
    return Rule(limit, near.numerator, near.denominator)
