"""Every engine returns the same frequencies as a reference in pure Python."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from epsilons.door import SHARES, Tally, declare
from epsilons.door.count.asks import Ask, Faults, Names, Rules, checked
from epsilons.door.count.units import UnitParts, of_categories
from tests.door.asking import cells_of
from tests.door.conftest import BACKENDS, declared_as, nine_bits, on_engine

Run = Callable[..., Any]
Rows = tuple[list[Any], list[Any], list[Any]]

LEVELS = [0.0, 0.1, 0.25, 1.0, 7.5, math.inf]
BINS = [(-math.inf, -5), (-5, 0), (0.5, 2.5), (3, 10)]
EDGES = [0.0, 1.0, 2.5, 4.0]
CASES: dict[str, tuple[list[Any], list[Any], type[pl.DataType]]] = {
    "text": (["a", "b", "ü", ""], ["a", "b", "ü", "b", "z", "A", "a "], pl.String),
    "integers": ([3, -1, 2**60 + 1], [3, -1, 2**60 + 1, 2**60, 0, -(2**62)], pl.Int64),
    "booleans": ([True, False], [True, False], pl.Boolean),
    "bins": (
        BINS,
        [-math.inf, -5.0, -5.5, -0.0, 0.0, 0.5, 2.5, 3.0, 9.9, 10.0, math.inf, math.nan, -1e-300],
        pl.Float64,
    ),
    "edges": (EDGES, [0.0, -0.0, 1.0, 2.5, 4.0, 4.000001, -1e-300, 0.999, math.nan], pl.Float64),
}


def cell(value: Any, categories: list[Any]) -> int | None:
    """Return the cell of a value, or None if the value is missing or in no category."""
    if value is None or value != value:
        return None
    first = categories[0]
    if isinstance(first, float):
        categories = list(pairwise(categories))
    elif not isinstance(first, tuple):
        return categories.index(value) if value in categories else None
    for index, (lo, hi) in enumerate(categories):
        last = index == len(categories) - 1
        if lo <= value < hi or (last and value == hi):
            return index
    return None


def reference(rows: Rows, categories: list[Any], other: Any, *, person: bool) -> tuple[Any, ...]:
    own: dict[Any, list[Any]] = {}
    budget: dict[Any, float] = {}
    for index, (value, epsilon, who) in enumerate(zip(*rows, strict=True)):
        own.setdefault(who if person else index, []).append(value)
        budget[who if person else index] = epsilon
    labels = list(categories)
    if isinstance(labels[0], float):
        labels = list(pairwise(labels))
    if other is not None and other not in labels:
        labels.append(other)
    catch = None if other is None else labels.index(other)
    found: dict[float, list[Any]] = {}
    for who, values in own.items():
        entry = found.setdefault(nine_bits(budget[who]), [math.inf, 0, [0] * len(labels)])
        entry[0] = min(entry[0], budget[who])
        entry[1] += 1
        for value in values:
            place = cell(value, categories)
            place = catch if place is None else place
            assert place is not None
            entry[2][place] += SHARES // len(values) if person else 1
        # The remainder of a unit is spread over the cells in steps of 1, from the first cell on.
        for unit in range(SHARES % len(values) if person else 0):
            entry[2][unit % len(labels)] += 1
    ordered = sorted(found.values())
    return (
        [abs(e[0]) for e in ordered],
        [e[1] for e in ordered],
        [e[2] for e in ordered],
        labels,
    )


def as_lists(tally: Tally) -> tuple[Any, ...]:
    levels = tally.levels.tolist(), tally.counts.tolist(), tally.cells.tolist()
    assert str(tally.levels.dtype) == "float64"
    assert str(tally.counts.dtype) == str(tally.cells.dtype) == "int64"
    return (*levels, list(tally.categories))


def frame(
    name: str, rows: Rows, dtype: Any, directory: Path, request: pytest.FixtureRequest
) -> Any:
    table = pl.DataFrame(
        {"x": [0] * len(rows[0]), "v": rows[0], "e": rows[1], "p": rows[2]},
        schema_overrides={"v": dtype, "e": pl.Float64},
        strict=False,
    )
    return on_engine(name, table, directory, request)


def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    name: str = request.param

    def tally(
        rows: Rows,
        categories: Any,
        other: Any = None,
        *,
        person: bool = False,
        epsilon: float | None = None,
        dtype: Any = pl.String,
    ) -> tuple[Any, ...]:
        values, budgets, people = rows
        if name == "numpy":
            given: Any = values, budgets if epsilon is None else epsilon, None, people
        else:
            data = frame(name, rows, dtype, tmp_path, request)
            given = "v", "e" if epsilon is None else epsilon, data, "p"
        found = cells_of(
            given[0],
            epsilon=given[1],
            **declared_as(categories),
            other=other,
            data=given[2],
            person=given[3] if person else None,
        )
        assert found.unit == (SHARES if person else 1)
        return as_lists(found)

    return tally


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    return runner(request, tmp_path)


def some_rows(kind: str, *, gaps: bool, outside: bool = True, n: int = 150) -> Rows:
    categories, values, _ = CASES[kind]
    if not outside:
        values = [value for value in values if cell(value, categories) is not None]
    draw = random.Random(n)
    budget = {f"p{i}": draw.choice(LEVELS) for i in range(n // 3)}
    people = [draw.choice(list(budget)) for _ in range(n)]
    chosen: list[Any] = [draw.choice(values) for _ in range(n)]
    if gaps:
        chosen[::7] = [None] * len(chosen[::7])
        people += ["ghost", "ghost"]
        chosen += [None, None]
        budget["ghost"] = 0.1
    people.append("zero")
    chosen.append(values[0])
    budget["zero"] = -0.0
    return chosen, [budget[p] for p in people], people


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_one_budget_for_all(run: Run, person: bool) -> None:
    values, _, people = some_rows("text", gaps=True)
    rows = values, [0.7] * len(values), people
    found = run(rows, CASES["text"][0], "rest", person=person, epsilon=0.7)
    assert found == reference(rows, CASES["text"][0], "rest", person=person)


def test_many_budgets_are_merged_downwards(run: Run) -> None:
    draw = random.Random(3)
    n = 3000
    budgets = [math.exp(draw.uniform(-1.0, 1.0)) for _ in range(n)]
    rows = [draw.choice(["a", "b", "z"]) for _ in range(n)], budgets, [str(i) for i in range(n)]
    found = run(rows, ["a", "b"], "rest")
    assert found == reference(rows, ["a", "b"], "rest", person=False)


def test_a_person_adds_exactly_their_unit(run: Run) -> None:
    people = [f"{r}" for r in range(1, 40) for _ in range(r)]
    values = ["ab"[i % 2] for i in range(len(people))]
    rows = values, [1.0] * len(people), people
    found = run(rows, ["a", "b"], person=True)
    assert found == reference(rows, ["a", "b"], None, person=True)
    assert found[1] == [39]
    assert sum(found[2][0]) == 39 * SHARES


def test_every_level_sums_to_its_people(run: Run) -> None:
    """At each level, the cells sum to the number of people, for any number of rows per person."""
    counts = {"a": 19, "b": 1, "c": 17, "d": 2000, "e": 16, "f": 23, "g": 849, "h": 1, "i": 849}
    budgets = dict(zip(counts, [2.0, 0.1, 0.1, 0.5, 2.0, 0.0, 0.5, 7.0, 0.5], strict=True))
    people = [who for who, r in counts.items() for _ in range(r)]
    values = [["x", "y", "z", "?"][i % 7 % 4] for i in range(len(people))]
    rows = values, [budgets[who] for who in people], people
    found = run(rows, ["x", "y", "z"], "rest", person=True)
    assert found == reference(rows, ["x", "y", "z"], "rest", person=True)
    assert [sum(each) for each in found[2]] == [SHARES * n for n in found[1]]


def test_very_many_rows_of_one_person_are_even_shares() -> None:
    n = SHARES + 1
    data = pl.select(v=pl.repeat("a", n + 1), p=pl.int_range(n + 1) // n)
    tally = cells_of("v", epsilon=1.0, categories=["a", "b"], data=data, person="p")
    assert tally.counts.tolist() == [2]
    assert tally.cells.tolist() == [[SHARES + SHARES // 2, SHARES // 2]]


def test_what_is_left_goes_to_the_level_of_its_people() -> None:
    """The remainder of a person's unit is added at that person's level, in any order of groups.

    The two levels are unsorted, and each has a person with 17 rows.
    """
    categories = declare(["a", "b"], None, None)
    parts = UnitParts(
        epsilon=np.array([2.0, 0.1, 0.1, 2.0]),
        cell=np.array([0, 0, 1, 1]),
        size=np.array([1, 19, 17, 17]),
        each=np.array([1, 19, 17, 17]),
        faults=Faults(most=19),
    )
    rules = Rules(Names(), "error", SHARES, categories, None)
    tally = checked(of_categories(parts, rules, Ask("cells")), rules, Ask("cells"), Names())
    own = {r: divmod(SHARES % r, 2) for r in (19, 17)}
    first, second = (19 * (SHARES // 19), 17 * (SHARES // 17))
    both = sum(every for every, _ in own.values())
    over = sum(one for _, one in own.values())
    assert tally.levels.tolist() == [0.1, 2.0]
    assert tally.cells[0].tolist() == [first + both + over, second + both]
    assert tally.cells[1].tolist() == [SHARES + sum(own[17]), second + own[17][0]]
    assert (tally.cells.sum(axis=1) == 2 * SHARES).all()
