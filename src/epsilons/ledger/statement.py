"""Statements of one person's account, and summaries of a ledger."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from epsilons import door
from epsilons.errors import FileError, LedgerError
from epsilons.ledger import book as units, store as chain
from epsilons.ledger.book import Book, Rule
from epsilons.results.report.numbers import budget as shown, number
from epsilons.results.report.phrases import written_words
from epsilons.results.report.sheet import Fact, Facts, Note, Sheet, SheetTable
from epsilons.results.report.shown import Written
from epsilons.types import Frame

__all__ = [
    "Past",
    "Statement",
    "StatementLine",
    "Status",
    "export",
    "past",
    "statement_of",
    "status",
]


# One person's budget, spending and releases.
#
# A statement is for that person. Under add/remove it must not be shown to anyone else.

MEANS: Final = (
    "What is spent is ε: whatever was released for it changes the probability of any conclusion "
    "about this person by at most a factor of e to the power of that sum. What is left can be "
    "taken back at any time; what is spent cannot."
)


@dataclass(frozen=True)
class StatementLine:
    """One line of a statement.

    Attributes:
        at: the time, in UTC.
        what: text about the release or the change of the budget.
        spent: the charge, in ε; 0 for changes of the budget.
        budget: the budget after the change; None for releases.
    """

    at: str
    what: str
    spent: float
    budget: float | None


@dataclass(frozen=True)
class Statement(Written):
    """The statement of one person's account, for that person.

    Attributes:
        person: the id.
        budget: the lifetime budget, or `spent` if that is larger; ∞ if their record is public.
        spent: the sum of all charges.
        left: the remaining budget.
        lines: every change and every charge, in chronological order.
    """

    person: int | str
    budget: float
    spent: float
    left: float
    lines: tuple[StatementLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        return {**asdict(self), "lines": [asdict(line) for line in self.lines], "means": MEANS}

    def to_frame(self) -> Frame:
        """Return the lines as a Polars frame: `name`, what was spent as `value`, and the rest.

        A charge is exact, so `low` and `high` are equal to it. Budgets are NaN for releases.
        """
        budgets = [math.nan if line.budget is None else line.budget for line in self.lines]
        return door.numbers_frame(
            [(line.what, line.spent, line.spent, line.spent) for line in self.lines],
            {"at": [line.at for line in self.lines], "budget": budgets},
        )

    def sheet(self) -> Sheet:
        """Return the statement as a sheet, which every output format can show."""
        name = f"Statement of {self.person}"
        table = [SheetTable("rows", HEADS, self._rows(), section="What became of it")]
        return Sheet(
            name,
            blocks=(
                (),
                (Facts("people", self._facts()),),
                tuple(table if self.lines else ()),
                (Note("note", MEANS, section="What this means"),),
            ),
            headline=name,
            byline=written_words("For this person alone"),
        )

    def _facts(self) -> tuple[Fact, ...]:
        named = {"Given for life": self.budget, "Spent": self.spent, "Left": self.left}
        words = {
            name: "without a limit" if math.isinf(each) else f"ε = {shown(each, 10)}"
            for name, each in named.items()
        }
        return tuple(Fact(name, each, f"{name}: {each}") for name, each in words.items())

    def _rows(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (
                line.at,
                line.what,
                "" if line.budget is not None else shown(line.spent, 10),
                "" if line.budget is None else shown(line.budget, 10),
            )
            for line in self.lines
        )


KINDS: Final = {"erased": "erased", "returned": "came back"}
"""Events of one person, with the text for each."""

HEADS: Final = ("when (UTC)", "what", "spent", "gives")


def statement_of(book: Book, person: Any) -> Statement:
    """Return the statement of one person.

    Args:
        book: the ledger.
        person: an id.

    Raises:
        ColumnError: the id is neither an integer nor text.
        LedgerError: under replace, there is no such account. Under add/remove the statement of a
            person without an account is empty.
    """
    who, store = door.tag(person), book.store
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
        (event, StatementLine(at, _release(name, state), units.as_float(amount), None))
        for event, at, name, state, amount in charges
    ]
    lines += [
        (event, StatementLine(at, _change(kind, was, now, consent), 0.0, units.as_float(now)))
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


# Summaries of a whole ledger: its releases, its status, and its tables as Parquet files.


@dataclass(frozen=True)
class Past:
    """A release in a ledger.

    Attributes:
        name: its name.
        state: "open", "drawing", "settled", "failed" or "abandoned".
        claim: the most that it may charge each person, as text.
        opened: the time when it was opened, in UTC.
        closed: the time when it was closed; None while it is open.
        head: the end of the chain when it was closed; None while it is open.
        people: the number of people charged; None under add/remove, where it is private.
        spent: the sum of their charges, in ε; None under add/remove.
    """

    name: str
    state: str
    claim: str
    opened: str
    closed: str | None
    head: str | None
    people: int | None
    spent: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain data."""
        return asdict(self)


def past(book: Book) -> tuple[Past, ...]:
    """Return all releases, in the order in which they were opened."""
    store = book.store
    with store.read():
        rows = store.rows(
            "SELECT number, name, state, at_most, part, whole, opened, closed FROM releases "
            "ORDER BY number"
        )
        heads = {
            (release, kind): book.head((event, hashed))
            for event, release, kind, hashed in store.rows(
                "SELECT number, release, kind, hash FROM events WHERE release IS NOT NULL"
            )
        }
        sums: dict[int, tuple[int, float]] = {}
        if not book.private:
            sums = {
                release: (people, float(amount) / units.ONE)
                for release, people, amount in store.rows(
                    "SELECT release, count(*), sum(amount * 1.0) FROM charges GROUP BY release"
                )
            }
    none = (None, None) if book.private else (0, 0.0)
    return tuple(
        Past(
            name,
            state,
            str(Rule(*rule)),
            opened,
            closed,
            None if closed is None else heads.get((release, state)),
            *sums.get(release, none),
        )
        for release, name, state, *rule, opened, closed in rows
    )


WAITING: Final = {
    "open": "Open, and holding back what they may ask of everyone from later releases; "
    "ledger.abandon(name) gives up what will not be drawn",
    "drawing": "Paid for, and without an answer until their process stores it; if it has ended, "
    "ledger.abandon(name) closes them",
}
"""Texts about releases in these states."""


@dataclass(frozen=True)
class Status(Written):
    """Summary of a ledger.

    Attributes:
        neighbours: "replace" or "add-remove".
        created: the time of creation, in UTC.
        head: the end of its chain.
        releases: all releases.
        people: the number of accounts; None under add/remove.
        given: the sum of all budgets except public ones, in ε; None under add/remove.
        spent: the sum of spending from these budgets, in ε; None under add/remove.
    """

    neighbours: str
    created: str
    head: str
    releases: tuple[Past, ...]
    people: int | None = None
    given: float | None = None
    spent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {**asdict(self), "releases": [each.to_dict() for each in self.releases]}

    def to_frame(self) -> Frame:
        """Return the releases as a Polars frame: `name`, what all spent as `value`, and the rest.

        A sum of charges is exact, so `low` and `high` are equal to it. It is NaN under add/remove.
        """
        sums = [math.nan if each.spent is None else each.spent for each in self.releases]
        named = ("state", "claim", "opened", "closed", "head")
        rows = zip((each.name for each in self.releases), sums, sums, sums, strict=True)
        return door.numbers_frame(
            rows, {name: [getattr(each, name) or "" for each in self.releases] for name in named}
        )

    def sheet(self) -> Sheet:
        """Return the summary as a sheet, which every output format can show."""
        gave = []
        if self.people is not None and self.given is not None and self.spent is not None:
            share = self.spent / self.given if self.given else 0.0
            gave = [
                Note(
                    "people",
                    f"{self.people:,} people gave ε = {number(self.given)} together; "
                    f"{number(100.0 * share, 3)} % of it is spent.",
                )
            ]
        table = [_table(self.releases)] if self.releases else []
        waiting = []
        for state, words in WAITING.items():
            named = [f"{each.name} ({each.claim})" for each in self.releases if each.state == state]
            waiting += [Note("note", f"{words}: {', '.join(named)}.")] if named else []
        since = f"A ledger under {self.neighbours}, since {self.created}."
        return Sheet(
            f"A ledger under {self.neighbours}",
            blocks=(
                (Note("note", since), *gave),
                (*table, *waiting),
                (Note("made", f"Head {self.head}", section="The end of its chain"),),
            ),
            byline=written_words("For those who keep it"),
        )


def _table(releases: tuple[Past, ...]) -> SheetTable:
    """Return releases as a table."""
    heads = ["release", "state", "claim", "closed (UTC)"]
    rows = [[each.name, each.state, each.claim, each.closed or ""] for each in releases]
    if all(each.people is not None for each in releases):
        heads += ["people", "spent"]
        for row, each in zip(rows, releases, strict=True):
            row += [f"{each.people:,}", number(each.spent or 0.0)]
    return SheetTable("rows", tuple(heads), tuple(map(tuple, rows)))


def status(book: Book) -> Status:
    """Return the summary of a ledger; under add/remove, it does not depend on membership."""
    store = book.store
    releases = past(book)
    with store.read():
        ((created,),) = store.rows("SELECT created FROM ledger")
        head = book.head(chain.last_of(store), fresh=True)
        if book.private:
            return Status(book.neighbours, created, head, releases)
        people = store.rows("SELECT count(*) FROM accounts")[0][0]
        given, spent = store.rows(
            "SELECT coalesce(sum(budget * 1.0), 0), coalesce(sum(spent * 1.0), 0) FROM accounts "
            "WHERE budget < ?",
            units.PUBLIC,
        )[0]
    sums = float(given) / units.ONE, float(spent) / units.ONE
    return Status(book.neighbours, created, head, releases, int(people), *sums)


TABLES: Final[dict[str, dict[str, type]]] = {
    "accounts": {
        "number": int,
        "person": bytes,
        "mark": bytes,
        "budget": int,
        "most": int,
        "spent": int,
    },
    "releases": {
        "number": int,
        "name": str,
        "question": str,
        "state": str,
        "at_most": int,
        "part": int,
        "whole": int,
        "result": bytes,
        "opened": str,
        "closed": str,
    },
    "charges": {"release": int, "account": int, "amount": int},
    "changes": {"event": int, "account": int, "was": int, "now": int, "consent": str},
    "events": {
        "number": int,
        "kind": str,
        "release": int,
        "content": bytes,
        "at": str,
        "hash": bytes,
    },
}
"""The exported tables and columns: everything except the secret key."""


def export(book: Book, folder: Path) -> tuple[Path, ...]:
    """Write the tables of a ledger as Parquet files.

    Args:
        book: the ledger.
        folder: the folder; it is created if it does not exist.

    Raises:
        FileError: a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise FileError(f"folder={str(folder)!r} cannot be made.") from None
    written = []
    with book.store.read():
        for table, columns in TABLES.items():
            names = list(columns)
            sql = f"SELECT {', '.join(names)} FROM {table} ORDER BY {names[0]}, {names[1]}"  # noqa: S608
            path = folder / f"{table}.parquet"
            door.write_parquet(path, columns, book.store.batches(sql))
            written.append(path)
    return tuple(written)
