"""What one person gave, what was spent of it and for what: as text, JSON and a page.

It is for that person. Under add/remove it is for nobody else.
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from epsilons import report, tally
from epsilons.errors import LedgerError
from epsilons.ledger import units
from epsilons.ledger.book import Book
from epsilons.report import wrapped
from epsilons.report.numbers import budget as shown
from epsilons.report.parts import FactList, PageTable, Part, Section, Words, whole
from epsilons.report.phrases import written_words

__all__ = ["Line", "Statement", "statement_of"]

MEANS: Final = (
    "What is spent is ε: whatever was released for it changes the probability of any conclusion "
    "about this person by at most a factor of e to the power of that sum. What is left can be "
    "taken back at any time; what is spent cannot."
)


@dataclass(frozen=True)
class Line:
    """One line of a statement.

    Attributes:
        at: when, in UTC.
        what: the release, or the change of the budget, in words.
        spent: what it took, in ε; 0 for changes of the budget.
        budget: what the person gives from then on; None for releases.
    """

    at: str
    what: str
    spent: float
    budget: float | None


@dataclass(frozen=True)
class Statement:
    """What one person gave, and what became of it: for that person.

    Attributes:
        person: the id.
        budget: what they give, for life, and at least what is spent; ∞ if their record is public.
        spent: what was spent of it.
        left: what was not.
        lines: every change and every charge, in the order of time.
    """

    person: int | str
    budget: float
    spent: float
    left: float
    lines: tuple[Line, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "lines": [asdict(line) for line in self.lines], "means": MEANS}

    def to_json(self) -> str:
        """`to_dict` as JSON, in which ∞ is written as "inf"."""
        return report.to_json(self.to_dict())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the statement as an HTML page that stands alone.

        Args:
            path: of the file; one that is there is replaced.

        Raises:
            FileError: the file cannot be written.
        """
        return report.write_page(path, self.to_html())

    def to_html(self) -> str:
        """The statement as an HTML page that stands alone."""
        parts: list[Part] = [FactList(self._facts())]
        if self.lines:
            parts.append(Section("What became of it", [PageTable(HEADS, self._rows())]))
        parts.append(Section("What this means", [Words(MEANS)]))
        byline = written_words("For this person alone")
        return whole(f"Statement of {self.person}", parts, byline=byline, data=self.to_dict())

    def __str__(self) -> str:
        lines = [f"Statement of {self.person}", ""]
        lines += [f"  {name}: {told}" for name, told in self._facts()]
        if self.lines:
            lines += ["", report.table(HEADS, self._rows())]
        return "\n".join([*lines, "", wrapped(MEANS)])

    def _facts(self) -> list[tuple[str, str]]:
        named = {"Given for life": self.budget, "Spent": self.spent, "Left": self.left}
        return [
            (name, "without a limit" if math.isinf(each) else f"ε = {shown(each, 10)}")
            for name, each in named.items()
        ]

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (
                line.at,
                line.what,
                "" if line.budget is not None else shown(line.spent, 10),
                "" if line.budget is None else shown(line.budget, 10),
            )
            for line in self.lines
        ]


KINDS: Final = {"erased": "erased", "returned": "came back"}
"""Events of one person, in words."""

HEADS: Final = ("when (UTC)", "what", "spent", "gives")


def statement_of(book: Book, person: Any) -> Statement:
    """The statement of one person.

    Args:
        book: the ledger.
        person: an id.

    Raises:
        ColumnError: it is neither a whole number nor text.
        LedgerError: under replace, there is no such account. Under add/remove the statement of
            somebody who has none is empty.
    """
    who, store = tally.tag(person), book.store
    plain: int | str = person if isinstance(person, str) else int(person)
    with store.read():
        who = book.stored(who)
        found = store.one("SELECT number, budget, spent FROM accounts WHERE person = ?", who)
        if found is None:
            if book.private:
                return Statement(plain, 0.0, 0.0, 0.0, ())
            raise LedgerError("person: there is no such account.")
        number, budget, spent = found
        charges = store.rows(
            "SELECT events.number, events.at, releases.name, releases.state, charges.amount "
            "FROM releases JOIN charges ON charges.release = releases.number "
            "JOIN events ON events.release = releases.number AND events.kind = releases.state "
            "WHERE charges.account = ?",
            number,
        )
        changes = store.rows(
            "SELECT events.number, events.at, events.kind, changes.was, changes.now, "
            "changes.consent "
            "FROM events JOIN changes ON changes.event = events.number "
            "WHERE events.release IS NULL AND changes.account = ?",
            number,
        )
    lines = [
        (event, Line(at, _release(name, state), units.as_float(amount), None))
        for event, at, name, state, amount in charges
    ]
    lines += [
        (event, Line(at, _change(kind, was, now, consent), 0.0, units.as_float(now)))
        for event, at, kind, was, now, consent in changes
    ]
    ordered = tuple(line for _, line in sorted(lines, key=lambda pair: pair[0]))
    left = budget if budget >= units.PUBLIC else max(budget - spent, 0)
    given, gone, kept = map(units.as_float, (max(budget, spent), spent, left))
    return Statement(plain, given, gone, kept, ordered)


def _release(name: str, state: str) -> str:
    return name if state == "settled" else f"{name} ({state})"


def _change(kind: str, was: int, now: int, consent: str) -> str:
    if kind in KINDS:
        return KINDS[kind]
    if was < 0:
        return "enrolled"
    if now > was:
        return f"raised: {consent}"
    return "withdrawn" if now == 0 and consent == "withdrawn" else "lowered"
