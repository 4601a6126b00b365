"""Changes of one person's rows: changes that callers specify, and a built-in set of edge cases."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, get_args

from epsilons.errors import ArgumentError
from epsilons.listed import shown
from epsilons.types import Place
from epsilons.verify.replaying.columns import ROLES, ColumnKind

__all__ = ["GROUPS", "changes_of_marks", "known_marks", "public_groups"]


# Columns other than values ("marks") and their changes: groups, and the filter `where`.
#
# A question has two members for this: `columns`, a mapping from the names in `Change` to columns,
# and `of_columns`, which returns the same question on other columns.

VALUES: Final = ("values", "x", "y")
"""The value columns; x and y are for questions about two columns."""

GROUPS: Final = ("by", "by_2")
"""The group columns."""

_NONE_SUCH: Final[dict[str, list[Any]]] = {
    "text": ["no such group"],
    "cells": ["no such group", "", b"\xff"],
    "objects": ["no such group", 2**70, 0.5, (1,)],
    "integer": [987654321],
    "float": [1e300, float("nan"), -1e300],
}
_TRUTH: Final[dict[str, list[Any]]] = {
    "boolean": [True, False],
    "objects": [True, False, 1, "true"],
    "cells": ["true", "FALSE", "yes", "", "1"],
}


def public_groups(question: Any) -> bool:
    """Whether groups are public, so nobody can move between them."""
    return bool(getattr(question, "groups_are", None) == "public")


def known_marks(question: Any, kinds: dict[str, ColumnKind]) -> dict[str, list[Any]]:
    """Return entries that must be accepted, by column: declared groups, true and false."""
    found = {
        role: _entries(labels, kinds[role])
        for role, labels in _labels(question).items()
        if role in kinds
    }
    if "where" in kinds and getattr(question, "label", None) is not None:
        found["where"] = _entries([question.label], kinds["where"])
    elif "where" in kinds:
        found["where"] = ["true", "false"] if kinds["where"].family == "cells" else [True, False]
    return found


def changes_of_marks(question: Any, kinds: dict[str, ColumnKind]) -> list[tuple[str, list[Any]]]:
    """Return changes of groups and of `where`, as pairs of a description and the new rows."""
    made: list[tuple[str, list[Any]]] = []
    known = known_marks(question, kinds)
    if not public_groups(question):
        for role in GROUPS:
            if role in known:
                made += _moves(role, known[role], kinds[role], folded="person" in kinds)
    if "where" in kinds:
        family = kinds["where"].family
        truth = list(_TRUTH.get(family, []))
        if getattr(question, "label", None) is not None:
            truth = [*known["where"], *_NONE_SUCH.get(family, [])]
        truth += [None] if kinds["where"].nullable else []
        made += [(f"asked: {entry!r}", [{"where": entry}]) for entry in truth]
        if "person" in kinds and len(truth) > 1:
            made.append(
                (
                    "one row of three is asked",
                    [{"where": each} for each in (truth[0], truth[1], truth[1])],
                )
            )
    return made


def _moves(
    role: str, labels: list[Any], kind: ColumnKind, *, folded: bool
) -> list[tuple[str, list[Any]]]:
    """Return changes that put a person in another group, in several groups, or in none."""
    made = []
    if labels:
        first, last = labels[0], labels[-1]
        made = [("the first group", [{role: first}]), ("the last group", [{role: last}])]
        if folded:
            made += [
                ("half in each of two groups", [{role: first}, {role: last}]),
                ("thirds in two groups", [{role: last}, {role: first}, {role: last}]),
                ("in every group", [{role: label} for label in labels[:9]]),
            ]
        if isinstance(last, str):
            near = [last.swapcase(), last + " ", last + "\0", last + "\u0301"]
            made += [("nearly the last group", [{role: each}]) for each in near if each != last]
    none = list(_NONE_SUCH.get(kind.family, []))
    none += [None] if kind.nullable else []
    if kind.family == "integer":
        none = [each for each in none if each is None or kind.least <= each <= kind.most]
    made += [("no declared group", [{role: entry}]) for entry in none]
    return [(f"{role}: {words} ({place})", rows) for place, (words, rows) in enumerate(made, 1)]


def _labels(question: Any) -> dict[str, list[Any]]:
    """Return the declared groups of each group column."""
    grouping = getattr(question, "grouping", None)
    if grouping is None:
        return {}
    return {role: list(each.labels) for role, each in zip(GROUPS, grouping.declared, strict=False)}


def _entries(labels: list[Any], kind: ColumnKind) -> list[Any]:
    """Return column entries that belong to these groups; for a bin, its lower end."""
    entries = [label[0] if isinstance(label, tuple) else label for label in labels]
    entries = [entry for entry in entries if not isinstance(entry, float) or abs(entry) < 1e300]
    if kind.family == "cells":
        return [_cell(entry) for entry in entries]
    if kind.family == "float":
        return [float(entry) for entry in entries]
    return entries


PLACES: Final = get_args(Place)
FURTHER: Final = 1000
"""The number of rows in the change that gives one person many rows."""

Entry = tuple[str, Any]
"""A description that reveals nothing about the data, and a new entry for a column."""


@dataclass(frozen=True)
class Change:
    """A change of one person: their rows are replaced by other rows.

    Attributes:
        words: description of the change.
        rows: the new rows; None to keep the rows. Each row maps parameters to entries: "values" (or
            "x" and "y" for two columns), "epsilon", "person", and, if there are such columns, "by",
            "by_2" (the second of two group columns) and "where". Missing entries are copied from
            the person's first row.
        row: the number of one of the person's rows; None to let `replay` choose the person.
        comes: True to add a new person with these rows and remove nobody (add/remove).
        place: the position of the rows: "same", "first", "last", or "shuffled" (all rows).

    Raises:
        ArgumentError: an argument is invalid.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> question = ep.Mean(hours, bounds=(0, 24))
        >>> change = ep.verify.Change("all day", rows=[{"values": 1440.0}])
        >>> found = ep.verify.replay(question, epsilon=epsilon, changes=[change])
        >>> found.outcomes[0].change, found.holds
        ('all day', True)
    """

    words: str
    rows: Sequence[Mapping[str, object]] | None = None
    row: int | None = None
    comes: bool = False
    place: Place = "same"

    def __post_init__(self) -> None:
        if self.place not in PLACES:
            raise ArgumentError(f"place={shown(self.place)} must be one of {', '.join(PLACES)}.")
        for each in self.rows or ():
            unknown = [name for name in each if name not in ROLES]
            if unknown:
                raise ArgumentError(
                    "rows of a change have an unknown key: give entries of "
                    f"{', '.join(map(repr, ROLES))}."
                )
        if self.comes and not self.rows:
            raise ArgumentError("rows: give at least one row of the person who is added.")


@dataclass(frozen=True)
class RowFacts:
    """The facts about a question and a table on which the built-in changes depend.

    Attributes:
        question: the question.
        kinds: the kind of entries of each column.
        private: whether people can be added and removed.
        ordered: whether rows have an order.
        levels: declared budgets.
        menu: declared words that stand for budgets, or None.
        has: function that returns whether an id exists in the table.
    """

    question: Any
    kinds: Mapping[str, ColumnKind]
    private: bool
    ordered: bool
    levels: list[Any]
    menu: Mapping[Any, Any] | None
    has: Callable[[Any], bool]


_OBJECTS: Final[list[Entry]] = [
    ("a number as text", "3"),
    ("text that is no number", "x"),
    ("a number with a blank", " 1"),
    ("a whole number beyond 64 bits", 2**70),
    ("a truth value", True),
    ("a decimal", Decimal(7)),
    ("NaN", math.nan),
    ("a null", None),
    ("bytes", b"x"),
    ("a tuple", (1,)),
    ("half of a character", "\ud800"),
    ("a date as text", "2026-01-31"),
]
_CELLS: Final[list[Entry]] = [
    ("an empty cell", ""),
    ("text that is no number", "x"),
    ("a number with a blank", " 1"),
    ("a number with an exponent", "1e3"),
    ("a fraction of a number", "2.5"),
    ("the word nan", "nan"),
    ("the word inf", "inf"),
    ("a date", "2026-01-31"),
    ("bytes that are no UTF-8", b"\xff"),
    ("a quote in the middle", b'a"b'),
    ("a quote that is not closed", b'"a'),
]
_FLOATS: Final[list[Entry]] = [
    ("a huge number", 1e300),
    ("a huge negative number", -1e300),
    ("NaN", math.nan),
    ("infinity", math.inf),
    ("minus infinity", -math.inf),
    ("the smallest number above 0", 5e-324),
]
_ODD_IDS: Final[dict[str, list[Entry]]] = {
    "objects": [
        ("an id of text", "x"),
        ("an id beyond 63 bits", 2**63 + 1),
        ("an id beyond 64 bits", 2**70),
        ("an id that is a tuple", (1,)),
        ("half of a character", "\ud800"),
    ],
    "cells": [
        ("an id of text", "x"),
        ("an id with an exponent", "1e3"),
        ("an id with a fraction", "7.5"),
        ("an id beyond 64 bits", str(2**70)),
        ("an id that is a date", "2026-01-31"),
    ],
}


def nasty(own: list[dict[str, Any]], others: list[dict[str, Any]], facts: RowFacts) -> list[Change]:
    """Return built-in changes of one person: edge cases for engines and file readers.

    Args:
        own: the rows of the person; empty if the table is empty.
        others: rows of other people.
        facts: facts about the question and the table.
    """
    ends = _ends(own, facts)
    made: list[Change] = []
    if own:
        for role in VALUES:
            if role in facts.kinds:
                name = "value" if role == "values" else role
                values = _values(facts, role)
                made += [Change(f"{name}: {words}", [{role: entry}]) for words, entry in values]
        if "y" in facts.kinds:
            made += [
                Change(f"both values: end {at}", [end]) for at, end in enumerate(_corners(ends))
            ]
        marks = changes_of_marks(facts.question, dict(facts.kinds))
        made += [
            Change(words, [{**ends[at % len(ends)], **row} for at, row in enumerate(rows)])
            for words, rows in marks
        ]
        made += _places(ends, facts)
        if "person" in facts.kinds:
            many = [ends[-1]] * FURTHER
            made.append(Change(f"{FURTHER:,} rows of one person", many))
            ids = _ids(own[0]["person"], others, facts)
            made += [
                Change(f"person: {words}", [{**ends[-1], "person": entry}]) for words, entry in ids
            ]
    if facts.private and ends:
        made += _coming(own, others, ends, facts)
    return made


def _ends(own: list[dict[str, Any]], facts: RowFacts) -> list[dict[str, Any]]:
    """Return values that must be accepted, for all value columns: the lower and the upper ends."""
    roles = [role for role in VALUES if role in facts.kinds]
    found = {role: ordinary(facts.question, facts.kinds[role], role) for role in roles}
    for role in roles:
        if own and not found[role]:
            found[role] = [own[0][role]]
    if not all(found.values()):
        return []
    return [{role: found[role][at] for role in roles} for at in (0, -1)]


def _corners(ends: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Generate all combinations of an end of x and an end of y."""
    for first in ends:
        for second in ends:
            yield {"x": first["x"], "y": second["y"]}


def _places(ends: list[dict[str, Any]], facts: RowFacts) -> Iterator[Change]:
    if facts.ordered:
        places: dict[Place, str] = {
            "first": "first in the table",
            "last": "last in the table",
            "shuffled": "all rows in another order",
        }
        for place, words in places.items():
            yield Change(f"place: {words}", [ends[-1]], place=place)


def _coming(
    own: list[dict[str, Any]],
    others: list[dict[str, Any]],
    ends: list[dict[str, Any]],
    facts: RowFacts,
) -> Iterator[Change]:
    """Generate changes that remove a person, add a person, or change a budget."""
    if own:
        yield Change("somebody goes", [])
    row: dict[str, Any] = dict(ends[-1])
    budgets = _budgets(facts) if "epsilon" in facts.kinds else []
    if budgets:
        row["epsilon"] = budgets[0][1]
    if "person" in facts.kinds:
        ids = _ids(None, [*own, *others], facts)
        fresh = [entry for words, entry in ids if words == "a new id"]
        if not fresh:
            return
        row["person"] = fresh[0]
        for words, entry in ids:
            yield Change(f"somebody comes: {words}", [{**row, "person": entry}], comes=True)
        if facts.kinds["person"].nullable or facts.kinds["person"].family == "cells":
            nobody = "" if facts.kinds["person"].family == "cells" else None
            yield Change("a row of nobody comes", [{**row, "person": nobody}], comes=True)
    else:
        yield Change("somebody comes", [row], comes=True)
    for words, entry in budgets:
        yield Change(f"somebody comes: {words}", [{**row, "epsilon": entry}], comes=True)
        if own:
            yield Change(f"budget: {words}", [{**ends[0], "epsilon": entry}])


def _values(facts: RowFacts, role: str) -> list[Entry]:
    """Return entries to try in a value column, each with a description."""
    kind = facts.kinds[role]
    found = _declared_for(facts.question, kind, role)
    found += {
        "float": _FLOATS,
        "integer": [("the smallest integer", kind.least), ("the largest integer", kind.most)],
        "objects": [*_FLOATS[:2], *_OBJECTS],
        "cells": _CELLS,
        "boolean": [("true", True), ("false", False)],
    }.get(kind.family, [])
    if kind.family in ("text", "cells", "objects"):
        word = next((str(entry) for _, entry in found if isinstance(entry, str) and entry), "x")
        found += _spellings(word, "a category")
    if kind.nullable and ("a null", None) not in found:
        found.append(("a null", None))
    return found


def ordinary(question: Any, kind: ColumnKind, role: str) -> list[Any]:
    """Return values that must be accepted: the ends of the declared range, in the column's type."""
    return [entry for _, entry in _declared_for(question, kind, role)]


def _declared_for(question: Any, kind: ColumnKind, role: str) -> list[Entry]:
    cells = kind.family == "cells"
    found = _declared(question, role)
    declared = [(words, kind.cell(each) if cells else each) for words, each in found]
    return [each for each in declared if _fits(each[1], kind)]


def _declared(question: Any, role: str) -> list[Entry]:
    """Return the ends of the declared bounds, categories or edges of a value column."""
    bounds = getattr(question, "bounds" if role == "values" else f"{role}_bounds", None)
    if bounds is not None:
        return [("the lower end of the range", bounds[0]), ("the upper end", bounds[1])]
    categories = getattr(question, "categories", None)
    if categories:
        return [("the first category", categories[0]), ("the last category", categories[-1])]
    edges = getattr(question, "edges", None)
    if edges:
        ends = [e for edge in edges for e in (edge if isinstance(edge, tuple) else (edge,))]
        return [("the first edge", ends[0]), ("the last edge", ends[-1])]
    return [("zero", 0.0), ("a million", 1e6)]


def _fits(entry: Any, kind: ColumnKind) -> bool:
    whole = isinstance(entry, int) or (isinstance(entry, float) and entry.is_integer())
    return {
        "float": isinstance(entry, (int, float)),
        "integer": whole and kind.least <= entry <= kind.most,
        "text": isinstance(entry, str),
        "boolean": isinstance(entry, bool),
    }.get(kind.family, kind.family in ("objects", "cells"))


def _spellings(word: str, what: str) -> list[Entry]:
    """Return other spellings that an engine could treat as equal to a word."""
    composed = unicodedata.normalize("NFD", word)
    if composed == word:
        composed = word + "\u0301"
    found = [
        (f"{what} in other letters", word.swapcase()),
        (f"{what} and a blank", word + " "),
        (f"{what} in another Unicode form", composed),
        (f"{what} and a NUL", word + "\0"),
    ]
    return [each for each in found if each[1] != word]


def _ids(own: Any, others: list[dict[str, Any]], facts: RowFacts) -> list[Entry]:
    """Return unused ids: a new one, ids close to another person's id, and unusual types."""
    kind = facts.kinds["person"]
    near = next((each["person"] for each in others if _is_id(each["person"], own)), own)
    found = _near(near, kind)
    family = kind.family
    found += _ODD_IDS.get(family, [])
    made: dict[str, list[Any]] = {
        "integer": [min(kind.most, 2**53) - 1 - i for i in range(5)],
        "float": [1e9 + i for i in range(5)],
        "boolean": [],
        "other": [],
    }
    new = made.get(family, [f"new {i}" for i in range(5)])
    fresh = next((entry for entry in new if not facts.has(entry)), None)
    if fresh is not None:
        found.insert(0, ("a new id", fresh))
    return [(words, entry) for words, entry in found if not facts.has(entry)]


def _is_id(entry: Any, own: Any) -> bool:
    return entry is not None and entry == entry and entry != own and entry != ""


def _near(near: Any, kind: ColumnKind) -> list[Entry]:
    """Return ids close to a given id."""
    if isinstance(near, str):
        numbers = [("another's id and a zero before it", "0" + near)]
        return [*_spellings(near, "another's id"), *numbers]
    if isinstance(near, int) and not isinstance(near, bool):
        whole = [
            ("another's id and 1", near + 1),
            ("another's id less 1", near - 1),
            ("the largest id", kind.most),
            ("the smallest id", kind.least),
        ]
        fit = [each for each in whole if kind.least <= each[1] <= kind.most]
        as_text = [("another's id as text", str(near))] if kind.family == "objects" else []
        return fit + as_text
    if isinstance(near, float):
        return [("the float next to another's id", math.nextafter(near, math.inf))]
    return []


def _budgets(facts: RowFacts) -> list[Entry]:
    """Return entries to try as budgets: declared and invalid ones."""
    kind = facts.kinds["epsilon"]
    if facts.menu is not None:
        return _words(list(facts.menu), kind)
    levels = facts.levels or [1.0, 0.1]
    found: list[Entry] = [("the smallest budget", min(levels)), ("the largest budget", max(levels))]
    found += [("a budget of 0", 0), ("a budget of 3", 3)]
    if kind.family in ("float", "objects"):
        found += [
            ("an infinite budget", math.inf), ("a budget that is NaN", math.nan),
            ("a negative budget", -1.0), ("a tiny budget", 1e-300),
        ]  # fmt: skip
    if kind.family == "objects":
        found += [
            ("a budget of text", "0.5"), ("a budget that is true", True), ("a tuple", (1,)),
            ("a decimal budget", Decimal("0.3")), ("a budget beyond 64 bits", 2**70),
        ]  # fmt: skip
    if kind.nullable:
        found.append(("no budget", None))
    if kind.family == "cells":
        found = [(words, kind.cell(entry)) for words, entry in found]
        found += [(f"budget: {words}", entry) for words, entry in _CELLS]
    if kind.family in ("other", "text", "boolean"):
        return []
    if kind.family == "integer":
        found = [(words, entry) for words, entry in found if entry is None or _fits(entry, kind)]
    return found


def _words(menu: list[Any], kind: ColumnKind) -> list[Entry]:
    """Return words to try in place of budgets: those of the menu, and others like them."""
    found: list[Entry] = [(f"word {at} of the menu", word) for at, word in enumerate(menu, 1)]
    first = menu[0]
    if isinstance(first, str) and kind.family in ("text", "cells", "objects"):
        found += _spellings(first, "the first word")
    found += [("no such word", entry) for entry in _NONE_SUCH.get(kind.family, [])[:1]]
    if kind.family == "objects":
        found += [("a word that is a number", 0.5), ("a word that is true", True)]
    if kind.nullable:
        found.append(("no word", None))
    if kind.family == "cells":
        found = [(told, _cell(entry)) for told, entry in found]
        found += [(f"word: {told}", entry) for told, entry in _CELLS]
    return [each for each in found if each[1] is None or _fits(each[1], kind)]


def _cell(entry: Any) -> str:
    return str(entry).lower() if isinstance(entry, bool) else str(entry)


def chosen(entry: Any, menu: Mapping[Any, Any]) -> Fraction | float:
    """Return the ε of a word; 0 if it is not in the menu.

    A number and the text that spells it are the same word.
    """
    found = (allowed(menu[word], cells=False) for word in menu if _is_word(entry, word))
    return next(found, 0)


def _is_word(entry: Any, word: Any) -> bool:
    if type(entry) is type(word):
        return bool(entry == word)
    if isinstance(entry, bool) or isinstance(word, bool):
        return _cell(entry).strip().lower() == _cell(word)
    try:
        return float(entry) == float(word)
    except (TypeError, ValueError, OverflowError):
        return False


def allowed(entry: Any, *, cells: bool) -> Fraction | float:
    """Return the ε of an entry of the budget column; 0 if it is not a valid budget.

    Args:
        entry: a number, or any other object.
        cells: whether to parse text as a number, as in the cells of a file.
    """
    if isinstance(entry, bytes) or (isinstance(entry, str) and not cells):
        return 0
    if isinstance(entry, bool) or entry is None:
        return 0
    try:
        number = Fraction(entry) if isinstance(entry, (int, Decimal)) else float(entry)
    except (TypeError, ValueError, OverflowError):
        return 0
    if isinstance(number, float):
        if math.isnan(number) or number <= 0:
            return 0
        return number if math.isinf(number) else Fraction(number)
    return max(number, Fraction(0))
