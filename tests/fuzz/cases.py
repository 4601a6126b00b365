"""Pairs of neighbouring tables, with all entries that ever caused errors in engines or readers."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.tables import (
    DECOYS,
    FRAMES,
    PLACED,
    READERS,
    UNTYPED,
    Columns,
    cell,
    exact_decimal,
)

Row = tuple[Any, Any, Any]  # value, budget, person

WORDS = ["bike", "BIKE", "Bike", "bike ", "bike\u0301", "car", "CAR", "ä", "a\u0308", "", None]
ODD_TEXT = ["3", " 1", "1e3", "x", "", "\ud800", "2.5", "2026-01-31", "nan", "inf", "0x10", "1_0"]
ODD_WHOLE = ["1", " 1", "1.0", "1e0", "x", "9007199254740993", "+1", "01"]
VALUES: dict[str, dict[str, list[Any]]] = {
    "mean": {
        "float": [0.0, -0.0, 3.0, 10.0, -1e300, math.nan, math.inf, 5e-324, None],
        "int": [0, 3, 10, -(2**62), 2**53 + 1, None],
        "decimal": [Decimal("0.5"), Decimal("9"), Decimal("-3"), None],
        "bool": [True, False, None],
        "mixed": [3.0, 10, True, Decimal("7"), 2**70, math.nan, None, (1,), b"x", *ODD_TEXT],
        "cells": ["3", "10", "0.5", "7", "3", "10", "n.a.", "", "true", "2026-01-31", "inf", " 1"],
    },
    "words": {
        "text": WORDS,
        "category": WORDS,
        "mixed": [*WORDS, 1, 2.5, b"bike", "\ud800", True, ("bike",), math.nan],
        "cells": ["bike", "car", "bike", "car", "BIKE", "", "1", "2.5", "true", "2026-01-31"],
    },
    "numbers": {
        "int": [1, 2, 3, -1, 2**53, 2**53 + 1, None],
        "uint": [1, 2, 2**53, 2**53 + 1, 2**63 + 1, None],
        "mixed": [1, 2, 2.5, 1.0, True, 2**70, 2**53 + 1, math.nan, None, Decimal("1"), *ODD_WHOLE],
        "cells": ["1", "2", "1", "2", "3", "x", "", "1.0", "1.5", " ", "true", "2026-01-31"],
    },
    "answers": {
        "bool": [True, False, None],
        "mixed": [True, False, "true", "TRUE", "yes", 1, 0, "1", None, "x", 2.5, math.nan],
        "cells": ["true", "false", "true", "false", "TRUE", "maybe", "", "2026-01-31", "2.5"],
    },
}
CATEGORIES: dict[str, list[Any]] = {
    "words": ["bike", "car", "ä"],
    "numbers": [1, 2, 2**53 + 1],
    "answers": [True, False],
}
PEOPLE: dict[str, list[Any]] = {
    "int": [5, 2**53, 2**53 + 1, 2**53 + 2, 7],
    "uint": [2**63 + 1, 2**63 + 2, 2**63 + 3, 5],
    "text": ["ann", "ANN", "Ann", "ann ", "bob", "007", "7", "ä", "a\u0308"],
    "float": [1.0, 0.0, 2.5, 1e300],
    "mixed": [
        1,
        2**70,
        2**70 + 1,
        2**63 + 1,
        2**63 + 2,
        "ann",
        "ANN",
        b"ann",
        (1,),
        "\ud800",
        "01",
    ],
    "cells": ["1", "2", "30", "4", "5", "x", "7b", "2026-01-31"],
}
GOOD = [0.1, 0.5, 1.0, 1.001, 2.0, 0.0]
BAD = [None, math.nan, -1.0, math.inf]
CELL_BUDGETS = ["0.5", "1", "2", "0.1", "0.5", "1", "lots", "", "-1", "inf", "true", "2026-01-31"]
MIXED_BUDGETS = ["0.5", "1e3", "x", " 1", "", "nan", "inf", "-1", True, Decimal("0.3"), (1,), 1]
RAW = [
    b"", b"1", b"1,0.5", b"1,0.5,zed,more", b"\xff\xfe,0.5,zed", b"3,0.5,\xff", b'a"b,0.5,zed',
    b'3,0"5,zed', b",,", b"3,0.5,zed\r", b"3\x00,0.5,zed", b"x,x,x,x,x,x", b"bike,1,zed",
]  # fmt: skip
RAW_JSON = [
    b"", b"{", b"[1]", b"null", b"7", b'{"value": 3}', b"\xff\xfe", b'{"value": 3, "budget": [1]}',
    b'{"value": {"a": 1}, "who": "\\ud800"}', b"[" * 10**5, b'{"value": 1' + b"0" * 5000 + b"}",
]  # fmt: skip
FACTS: list[dict[str, Any]] = [
    {"levels": [0.1, 0.5, 2.0]},
    {"levels": [1.0]},
    {"levels": {0.5: 10, 2.0: 10}},
    {"levels": [0.5, 1.0], "cap": 0.7},
    {"cap": 1.0},
]
MENU = {"strict": 0.1, "medium": 0.5, "open": 2.0, "gone": 0.0, "public": math.inf, "1": 1.0}
MENU_WORDS = [*MENU, "STRICT", "strict ", "stri\u0301ct", "", None]
MENU_CELLS = [*MENU, "1", "1", "", "2", "true", "2026-01-31"]
MENU_KINDS = ("words", "word category", "word cells", "mixed words")
"""Kinds of columns whose words stand for budgets."""

EXACT: list[dict[str, Any]] = [
    {"levels": [exact_decimal(0.1), exact_decimal(0.5)]},
    {"levels": {exact_decimal(0.1): 10, exact_decimal(1.0): 10}},
    {"cap": 1.0},
]
"""Declared levels for decimal budgets. The float 0.1 is larger than the decimal 0.1."""

NOT_ON: dict[str, tuple[str, ...]] = {
    "pandas nullable": ("category", "decimal"),
    "ibis on sqlite": ("category", "decimal", "uint", "bool"),
    "duckdb": ("category",),
    "duckdb, collated column": ("category",),
    "duckdb, collated expression": ("category",),
    "duckdb, default collation": ("category",),
    "ibis": ("category", "uint"),
    "dask": ("category", "decimal"),
}


@dataclass(frozen=True)
class Case:
    """Two neighbouring tables, and one question about both.

    Attributes:
        form: the form in which the tables are passed, such as an engine.
        statistic: the statistic to release.
        neighbours: "replace" or "add-remove".
        kinds: the types of values, budgets and people.
        first: the rows of the first table.
        second: the rows of the second table.
        raw: the position of an extra line in the second file, and the line.
        epsilon: the privacy budget of the person whose rows differ.
        facts: further arguments of the call.
        lenient: whether missing and undeclared values are accepted.
        large: whether arrays are processed as if they were large.
        many: whether there are very many categories.
        decoys: the kind of unused columns; see `tables.shown_as`.
        weights: the weights that people have; empty if everyone counts equally.
    """

    form: str
    statistic: str
    neighbours: str
    kinds: tuple[str, str, str]
    first: list[Row]
    second: list[Row]
    raw: tuple[int, bytes] | None
    epsilon: Fraction | float
    facts: dict[str, Any]
    lenient: bool
    large: bool
    many: bool
    decoys: str
    weights: tuple[float, ...] = field(default=(), kw_only=True)

    def columns(self, rows: list[Row]) -> Columns:
        """Convert rows to columns. Columns of kind "none" are left out."""
        return self._plain(rows) | self._weights(rows)

    def _weights(self, rows: list[Row]) -> Columns:
        """Return a column of weights, which are public: they depend on the person and ε only."""
        if not self.weights:
            return {}
        own = [zlib.crc32(repr(row[1:]).encode()) % len(self.weights) for row in rows]
        given = [self.weights[each] for each in own]
        cells = self.form in READERS
        return {"weights": ("cells", list(map(repr, given))) if cells else ("float", given)}

    def _plain(self, rows: list[Row]) -> Columns:
        value, budget, who = self.kinds
        budget = {"words": "text", "word category": "category"}.get(budget, budget)
        named = {"value": value, "budget": budget, "who": who}
        return {
            name: (kind, [row[place] for row in rows])
            for place, (name, kind) in enumerate(named.items())
            if kind != "none"
        }


def allowed(budget: object, form: str, *, menu: bool = False) -> Fraction | float:
    """Return the ε of an entry, or 0 if it is not a valid budget, or not a word of the menu."""
    if menu:
        budget = MENU.get(str(budget))
    if budget is None or isinstance(budget, (bool, bytes, tuple)):
        return 0
    if isinstance(budget, Decimal) and form != "csv":
        return max(Fraction(budget), Fraction(0))
    try:
        number = float(budget)  # type: ignore[arg-type]
    except ValueError:
        return 0
    if math.isnan(number) or number <= 0:
        return 0
    return math.inf if math.isinf(number) else Fraction(number)


def fitting(table: dict[str, list[Any]], form: str) -> list[str]:
    """Return the column types that a form can represent."""
    if form in READERS:
        return [kind for kind in table if kind == "cells"]
    return [
        kind
        for kind in table
        if kind not in ("cells", *NOT_ON.get(form, ())) and (kind != "mixed" or form in UNTYPED)
    ]


def decoys_of(draw: st.DrawFn, form: str) -> str:
    """Draw a kind of decoy columns that a form can contain."""
    if form not in FRAMES:
        return "none"
    found: str = draw(st.sampled_from([d for d in DECOYS if d != "doubles" or form in PLACED]))
    return found


@dataclass(frozen=True)
class Making:
    """Generator of rows: the types of the columns, and their possible entries."""

    draw: st.DrawFn
    form: str
    private: bool
    values: list[Any]
    people: list[Any]
    who_kind: str
    budget_kind: str

    def one(self, items: Any) -> Any:
        return self.draw(st.sampled_from(items))

    def budget(self) -> Any:
        good = [*GOOD, *BAD] if self.private else [*GOOD, math.inf]
        offered: dict[str, list[Any]] = {
            "int": [0, 1, 2],
            "decimal": [0.1, 0.5, 1.001],
            "mixed": [*MIXED_BUDGETS, *GOOD],
            "cells": CELL_BUDGETS if self.private else ["0.5", "1", "2", "0.1"],
            "float": good,
            "words": MENU_WORDS if self.private else [*MENU],
            "word category": MENU_WORDS if self.private else [*MENU],
            "word cells": MENU_CELLS if self.private else [*MENU],
            "mixed words": [*MENU_WORDS, 1, 1.0, 2, 0.5, True, (1,), math.nan],
        }
        if self.budget_kind == "none":
            return 0.5
        found = self.one(offered[self.budget_kind])
        return exact_decimal(found) if self.budget_kind == "decimal" else found

    @property
    def may_be_nobodys(self) -> bool:
        """Whether rows without a person are possible."""
        return self.private and self.who_kind not in ("none", "uint")

    def entry(self, place: int) -> Any:
        """Draw one value of a person."""
        return self.one(self.values)

    def rows_of(self, place: int, own: Any, most: int) -> list[Row]:
        """Draw the rows of one person. Under replace, they all have the same budget."""
        count = 1 if self.who_kind == "none" else self.draw(st.integers(1, most))
        return [
            (self.entry(place), self.budget() if self.private else own, self.people[place])
            for _ in range(count)
        ]

    def victims_rows(self, victim: int, own: Any) -> list[Row]:
        """Draw the rows of the person who differs between the tables. Their id can be missing."""
        rows = self.rows_of(victim, own, 3)
        if self.may_be_nobodys and self.draw(st.integers(0, 5)) == 0:
            return [(value, budget, None) for value, budget, _ in rows]
        return rows

    def mixed(self, rows: list[Row], mine: list[Row]) -> list[Row]:
        """Return all rows, with those of one person inserted at random positions."""
        among = list(rows)
        for row in mine:
            among.insert(self.draw(st.integers(0, len(among))), row)
        return among

    def limit(self, mine: list[Row]) -> Fraction | float:
        """Return the privacy budget of a person with these rows, under add/remove."""
        if self.who_kind != "none" and any(name is None for *_, name in mine):
            return 0
        return min((self.allowed(budget) for _, budget, _ in mine), default=0)

    def allowed(self, budget: Any) -> Fraction | float:
        """Return the ε of an entry of the column of budgets."""
        if self.budget_kind in MENU_KINDS and isinstance(budget, float) and budget == 1.0:
            budget = 1  # 1.0 and 1 are the same word
        return allowed(budget, self.form, menu=self.budget_kind in MENU_KINDS)

    def raw_line(self, places: int) -> tuple[tuple[int, bytes], Fraction | float]:
        """Draw a malformed line of a file, with its position and the budget of its person."""
        line: bytes = self.one(RAW)
        if self.form == "jsonl":
            line = self.one(RAW_JSON)
        fields = line.split(b",")
        text = fields[1].decode("latin-1") if len(fields) > 1 else ""
        limit = allowed(0.5, "csv") if self.budget_kind == "none" else self.allowed(text)
        return (self.draw(st.integers(0, places)), line), limit

    def facts(self) -> dict[str, Any]:
        """Draw the arguments `levels` and `cap`."""
        if self.budget_kind == "none":
            return {}
        if self.budget_kind in MENU_KINDS:
            guess = dict.fromkeys(MENU.values(), 5)
            some = [{}, {"levels": guess}, {"cap": 0.7}] if self.private else [{}]
            return {"menu": MENU, **self.one(some)}
        found: dict[str, Any] = self.one(EXACT if self.budget_kind == "decimal" else FACTS)
        return found


MIXED = ["mixed", "mixed words"]

WEIGHTS: list[tuple[float, ...]] = [(), (), (1.0, 2.0, 5.0), (0.1, 1.7, 1 / 3, 0.3), (0.37,)]
"""The possible weights of people, under replace. Without weights, everyone counts equally."""


def makings(draw: st.DrawFn, form: str, statistic: str, kind: str) -> Making:
    """Draw the types of people and budgets for a table."""
    private = draw(st.booleans())
    who_kind: str = draw(st.sampled_from(["none", *fitting(PEOPLE, form)]))
    kinds = ["float", "int", "none", "decimal", "words", "word category"]
    if form in UNTYPED:
        kinds = ["float", "int", "none", "decimal", "words", *(MIXED if private else [])]
    if form in READERS:
        kinds = ["cells", "none", "word cells"]
    if "category" in NOT_ON.get(form, ()):
        kinds = [kind for kind in kinds if kind != "word category"]
    budget_kind = draw(st.sampled_from([k for k in kinds if k not in NOT_ON.get(form, ())]))
    people = PEOPLE.get(who_kind, list(range(20)))
    return Making(draw, form, private, VALUES[statistic][kind], people, who_kind, budget_kind)


@dataclass(frozen=True)
class Tables:
    """Two tables that differ in one person.

    Attributes:
        first: the rows of the first table.
        second: the rows of the second table.
        raw: the position of an extra line in the second file, and the line.
        epsilon: the privacy budget of this person.
        facts: the declared levels and cap.
    """

    first: list[Row]
    second: list[Row]
    raw: tuple[int, bytes] | None
    epsilon: Fraction | float
    facts: dict[str, Any]


def tables_of(made: Making) -> Tables:
    """Draw neighbouring tables of these types."""
    draw, size = made.draw, len(made.people)
    many = st.lists(st.sampled_from(range(size)), min_size=3, max_size=7, unique=True)
    *others, victim = draw(many) if size >= 7 else list(range(min(size, 4)))
    own = {place: made.budget() for place in (*others, victim)}
    rows = [row for place in others for row in made.rows_of(place, own[place], 2)]
    if made.may_be_nobodys:
        rows += [(made.entry(victim), made.budget(), None)] * draw(st.integers(0, 1))
    if not made.private:
        first, second = (made.mixed(rows, made.victims_rows(victim, own[victim])) for _ in range(2))
        facts = made.facts() if made.budget_kind in MENU_KINDS else {}
        return Tables(first, second, None, made.allowed(own[victim]), facts)
    mine = made.victims_rows(victim, own[victim])
    if made.form in ("csv", "jsonl") and draw(st.integers(0, 3)) == 0:
        raw, epsilon = made.raw_line(len(rows))
        return Tables(rows, rows, raw, epsilon, made.facts())
    return Tables(rows, made.mixed(rows, mine), None, made.limit(mine), made.facts())


@st.composite
def cases(draw: st.DrawFn, forms: tuple[str, ...]) -> Case:
    """Draw a case with one column."""
    form: str = draw(st.sampled_from(forms))
    statistic: str = draw(st.sampled_from([each for each in VALUES if fitting(VALUES[each], form)]))
    kind = draw(st.sampled_from(fitting(VALUES[statistic], form)))
    made = makings(draw, form, statistic, kind)
    tables = tables_of(made)
    facts = tables.facts
    if statistic != "mean":
        facts = {**facts, "categories": CATEGORIES[statistic]}
    return Case(
        form,
        statistic,
        "add-remove" if made.private else "replace",
        (kind, made.budget_kind, made.who_kind),
        tables.first,
        tables.second,
        tables.raw,
        tables.epsilon,
        facts,
        draw(st.integers(0, 3)) > 0,
        draw(st.booleans()),
        statistic == "words" and draw(st.integers(0, 9)) == 0,
        decoys_of(draw, form),
        weights=() if made.private else draw(st.sampled_from(WEIGHTS)),
    )


def usable(case: Case) -> bool:
    """Return whether the budgets and ids of the first table are valid under replace."""
    if case.neighbours == "add-remove":
        return True
    menu = "menu" in case.facts
    budgets = [allowed(budget, case.form, menu=menu) for _, budget, _ in case.first]
    if case.form in (
        "csv",
        "jsonl",
        "xlsx",
    ):  # in a file, ids with the same text are the same person
        names = {cell(who): budget for _, budget, who in case.first}
        if case.kinds[2] != "none" and any(names[cell(w)] != b for _, b, w in case.first):
            return False
        if "\ud800" in names:  # an invalid id in a file is no person
            return False
        if case.form == "jsonl" and any(isinstance(who, (bytes, tuple)) for *_, who in case.first):
            return False  # lists are not ids
    return any(epsilon > 0 for epsilon in budgets)
