"""Neighbouring tables, made of all that has fooled an engine or a reader before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.tables import UNTYPED, Columns, cell, exact_decimal

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
    },
    "words": {
        "text": WORDS,
        "category": WORDS,
        "mixed": [*WORDS, 1, 2.5, b"bike", "\ud800", True, ("bike",), math.nan],
    },
    "numbers": {
        "int": [1, 2, 3, -1, 2**53, 2**53 + 1, None],
        "uint": [1, 2, 2**53, 2**53 + 1, 2**63 + 1, None],
        "mixed": [1, 2, 2.5, 1.0, True, 2**70, 2**53 + 1, math.nan, None, Decimal("1"), *ODD_WHOLE],
    },
    "answers": {
        "bool": [True, False, None],
        "mixed": [True, False, "true", "TRUE", "yes", 1, 0, "1", None, "x", 2.5, math.nan],
    },
}
CATEGORIES: dict[str, list[Any]] = {
    "words": ["bike", "car", "ä"],
    "numbers": [1, 2, 2**53 + 1],
    "answers": [True, False],
}
MORE_WORDS = [f"word {place}" for place in range(5000)]
"""So many categories that engines look them up in a table."""

PEOPLE: dict[str, list[Any]] = {
    "int": [5, 2**53, 2**53 + 1, 2**53 + 2, 7],
    "uint": [2**63 + 1, 2**63 + 2, 2**63 + 3, 5],
    "text": ["ann", "ANN", "Ann", "ann ", "bob", "007", "7", "ä", "a\u0308"],
    "float": [1.0, 0.0, 2.5, 1e300],
    "mixed": [1, 2**70, 2**70 + 1, 2**63 + 1, 2**63 + 2, "ann", "ANN", b"ann", (1,), "\ud800", "1"],
}
GOOD = [0.1, 0.5, 1.0, 1.001, 2.0, 0.0]
BAD = [None, math.nan, -1.0, math.inf]
MIXED_BUDGETS = ["0.5", "1e3", "x", " 1", "", "nan", "inf", "-1", True, Decimal("0.3"), (1,), 1]
RAW = [
    b"", b"1", b"1,0.5", b"1,0.5,zed,more", b"\xff\xfe,0.5,zed", b"3,0.5,\xff", b'a"b,0.5,zed',
    b'3,0"5,zed', b",,", b"3,0.5,zed\r", b"3\x00,0.5,zed", b"x,x,x,x,x,x", b"bike,1,zed",
]  # fmt: skip
FACTS: list[dict[str, Any]] = [
    {"levels": [0.1, 0.5, 2.0]},
    {"levels": [1.0]},
    {"levels": {0.5: 10, 2.0: 10}},
    {"levels": [0.5, 1.0], "cap": 0.7},
    {"cap": 1.0},
]
EXACT: list[dict[str, Any]] = [
    {"levels": [exact_decimal(0.1), exact_decimal(0.5)]},
    {"levels": {exact_decimal(0.1): 10, exact_decimal(1.0): 10}},
    {"cap": 1.0},
]
"""Declared beside budgets that are decimals: a float of 0.1 is above the decimal."""

NOT_ON: dict[str, tuple[str, ...]] = {
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
    """Two neighbouring tables, and a question to both.

    Attributes:
        form: how the tables are handed in.
        statistic: what is asked.
        neighbours: "replace" or "add-remove".
        kinds: what values, budgets and people are.
        first: the rows of one table.
        second: the rows of the other.
        raw: a line of the second file, and its place.
        epsilon: what the person allows in whom the tables differ.
        facts: further arguments of the call.
        lenient: whether missing and undeclared values have their place.
        large: whether arrays go the way of large ones.
        many: whether there are very many categories.
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

    def columns(self, rows: list[Row]) -> Columns:
        """Rows as columns; no column of people where a row is a person, none of one budget."""
        value, budget, who = self.kinds
        named = {"value": value, "budget": budget, "who": who}
        return {
            name: (kind, [row[place] for row in rows])
            for place, (name, kind) in enumerate(named.items())
            if kind != "none"
        }


def allowed(budget: object, form: str) -> Fraction | float:
    """The ε that an entry stands for; 0 if it stands for none."""
    if budget is None or isinstance(budget, (bool, bytes, tuple)):
        return 0
    if isinstance(budget, Decimal) and form != "csv":
        return max(Fraction(budget), Fraction(0))
    if isinstance(budget, str) and form != "csv":
        return 0  # text is never read as numbers, but in a file that has nothing else
    try:
        number = float(budget)  # type: ignore[arg-type]
    except ValueError:
        return 0
    if math.isnan(number) or number <= 0:
        return 0
    return math.inf if math.isinf(number) else Fraction(number)


def fitting(table: dict[str, list[Any]], form: str) -> list[str]:
    """The kinds of columns that a form can hold."""
    return [
        kind
        for kind in table
        if kind not in NOT_ON.get(form, ()) and (kind != "mixed" or form in UNTYPED)
    ]


@st.composite
def cases(draw: st.DrawFn, forms: tuple[str, ...]) -> Case:
    """All cases."""

    def one(items: Any) -> Any:
        return draw(st.sampled_from(items))

    form: str = one(forms)
    private = draw(st.booleans())
    statistic: str = one([each for each in VALUES if fitting(VALUES[each], form)])
    kind = one(fitting(VALUES[statistic], form))
    values = VALUES[statistic][kind]
    who_kind: str = one(["none", *fitting(PEOPLE, form)])
    people = PEOPLE.get(who_kind, list(range(20)))
    budget_kinds = {"float": 0, "int": 0, "none": 0, "decimal": 0}
    if form in UNTYPED and private:
        budget_kinds["mixed"] = 0
    budget_kind = one([k for k in budget_kinds if k not in NOT_ON.get(form, ())])

    def budget() -> Any:
        if budget_kind == "none":
            return 0.5
        if budget_kind == "int":
            return one([0, 1, 2])
        if budget_kind == "decimal":
            return exact_decimal(one([0.1, 0.5, 1.001]))
        if budget_kind == "mixed":
            return one([*MIXED_BUDGETS, *GOOD])
        return one([*GOOD, *BAD] if private else [*GOOD, math.inf])

    ids = draw(st.lists(st.sampled_from(range(len(people))), min_size=3, max_size=7, unique=True)
               if len(people) >= 7 else st.just(list(range(min(len(people), 4)))))  # fmt: skip
    *others, victim = ids
    own = {place: budget() for place in ids}
    rows: list[Row] = []
    for place in others:
        count = 1 if who_kind == "none" else draw(st.integers(1, 2))
        rows += [
            (one(values), budget() if private else own[place], people[place]) for _ in range(count)
        ]
    if private and who_kind != "none" and who_kind != "uint":
        rows += [(one(values), budget(), None)] * draw(st.integers(0, 1))

    def with_victim(mine: list[Row]) -> list[Row]:
        mixed = list(rows)
        for row in mine:
            mixed.insert(draw(st.integers(0, len(mixed))), row)
        return mixed

    def victims_rows() -> list[Row]:
        count = 1 if who_kind == "none" else draw(st.integers(1, 3))
        nobody = private and who_kind not in ("none", "uint") and draw(st.integers(0, 5)) == 0
        name = None if nobody else people[victim]
        return [(one(values), budget() if private else own[victim], name) for _ in range(count)]

    raw = None
    facts: dict[str, Any] = {}
    if private:
        first, mine = rows, victims_rows()
        second = with_victim(mine)
        limits = [allowed(b, form) for _, b, name in mine]
        epsilon = min(limits, default=0)
        if who_kind != "none" and any(name is None for *_, name in mine):
            epsilon = 0
        if form == "csv" and draw(st.integers(0, 3)) == 0:
            raw, second = (draw(st.integers(0, len(rows))), one(RAW)), rows
            fields = raw[1].split(b",")
            text = fields[1].decode("latin-1") if len(fields) > 1 else ""
            epsilon = allowed(0.5 if budget_kind == "none" else text, "csv")
        facts = one(EXACT if budget_kind == "decimal" else FACTS) if budget_kind != "none" else {}
    else:
        first, second = with_victim(victims_rows()), with_victim(victims_rows())
        epsilon = allowed(own[victim], form)
    if statistic != "mean":
        facts = {**facts, "categories": CATEGORIES[statistic]}
    return Case(
        form,
        statistic,
        "add-remove" if private else "replace",
        (kind, budget_kind, who_kind),
        first,
        second,
        raw,
        epsilon,
        facts,
        draw(st.integers(0, 3)) > 0,
        draw(st.booleans()),
        statistic == "words" and draw(st.integers(0, 9)) == 0,
    )


def usable(case: Case) -> bool:
    """Whether the curator has given every person a name and a budget, and somebody one above 0."""
    if case.neighbours == "add-remove":
        return True
    budgets = [allowed(budget, case.form) for _, budget, _ in case.first]
    if case.form == "csv":  # two people whose names look alike in a file are one there
        names = {cell(who): budget for _, budget, who in case.first}
        if case.kinds[2] != "none" and any(names[cell(w)] != b for _, b, w in case.first):
            return False
        if "\ud800" in names:  # no text in a file: these rows are nobody's, and refused
            return False
    return any(epsilon > 0 for epsilon in budgets)
