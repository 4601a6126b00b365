"""What a ledger says about one person, and about itself."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from epsilons import door
from epsilons.errors import FileError, LedgerError
from epsilons.ledger import book as units
from epsilons.ledger import store as chain
from epsilons.ledger.book import Book, Rule
from epsilons.results.report.numbers import budget as shown
from epsilons.results.report.numbers import number
from epsilons.results.report.phrases import written_words
from epsilons.results.report.sheet import Fact, Facts, Note, Sheet, SheetTable
from epsilons.results.report.shown import Written

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


# What one person gave, what was spent of it and for what.
#
# It is for that person. Under add/remove it is for nobody else.

MEANS: Final = (
    "What is spent is ε: whatever was released for it changes the probability of any conclusion "
    "about this person by at most a factor of e to the power of that sum. What is left can be "
    "taken back at any time; what is spent cannot."
)


@dataclass(frozen=True)
class StatementLine:
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
class Statement(Written):
    """What one person allowed, and what was spent: for that person.

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
    lines: tuple[StatementLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "lines": [asdict(line) for line in self.lines], "means": MEANS}

    def sheet(self) -> Sheet:
        """The statement as a sheet, which every output format shows."""
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


# Statements about a ledger as a whole: its releases, its state, and all of it as Parquet files.


@dataclass(frozen=True)
class Past:
    """A release in a ledger.

    Attributes:
        name: under which it stands there.
        state: "open", "drawing", "settled", "failed" or "abandoned".
        claim: how much it asked of everyone.
        opened: when, in UTC.
        closed: when; None while it is open.
        head: the end of the chain when it was closed; None while it is open.
        people: how many were charged; None under add/remove, where that is private.
        spent: what they paid together, in ε; None under add/remove.
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
        """As plain data."""
        return asdict(self)


def past(book: Book) -> tuple[Past, ...]:
    """All releases, in the order in which they were opened."""
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
"""What is said about releases in these states."""


@dataclass(frozen=True)
class Status(Written):
    """A ledger at a glance.

    Attributes:
        neighbours: "replace" or "add-remove".
        created: when, in UTC.
        head: the end of its chain.
        releases: all of them.
        people: how many accounts there are; None under add/remove.
        given: what people give together, in ε, the public ones apart; None under add/remove.
        spent: what of it is spent; None under add/remove.
    """

    neighbours: str
    created: str
    head: str
    releases: tuple[Past, ...]
    people: int | None = None
    given: float | None = None
    spent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "releases": [each.to_dict() for each in self.releases]}

    def sheet(self) -> Sheet:
        """The state as a sheet, which every output format shows."""
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
    """Releases as a table."""
    heads = ["release", "state", "claim", "closed (UTC)"]
    rows = [[each.name, each.state, each.claim, each.closed or ""] for each in releases]
    if all(each.people is not None for each in releases):
        heads += ["people", "spent"]
        for row, each in zip(rows, releases, strict=True):
            row += [f"{each.people:,}", number(each.spent or 0.0)]
    return SheetTable("rows", tuple(heads), tuple(map(tuple, rows)))


def status(book: Book) -> Status:
    """A ledger at a glance; under add/remove nothing that depends on who is a member."""
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
"""The tables that are exported: all but the secret."""


def export(book: Book, folder: Path) -> tuple[Path, ...]:
    """Write the tables of a ledger as Parquet files.

    Args:
        book: the ledger.
        folder: where; it is made if it is not there.

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
