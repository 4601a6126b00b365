"""Counts of people by bucket, a narrow range of floats, are the same on every engine.

The reference is computed in plain Python.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from epsilons.budgets.levels import Ladder
from epsilons.door import open as open_rows
from epsilons.door.count import line
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ConflictingBudgetsError,
    DataError,
    MissingValueError,
)
from tests.door.asking import folded
from tests.door.conftest import BACKENDS, Rows, frame, nine_bits

SumGroups = dict[tuple[float, int], int]
Run = Callable[..., tuple[SumGroups, dict[float, int]]]

HARD = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.0 + 2.0**-11,
    1.0 - 2.0**-12,
    1e300,
    -1e300,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    5e-324,
    -1e-310,
    2.0**-901,
    1e-271,
    1000.1,
    -3.0,
    math.pi,
    2.0**53 + 1.0,
]
LEVELS = [0.0, 0.1, 0.1001, 0.25, 1.0, 7.5, math.inf]


def bucket(value: float) -> int:
    """Return the bucket of a value: eleven significant bits, rounded half to even by Python."""
    if value == 0.0:
        return 0
    mantissa, exponent = math.frexp(abs(value))
    steps = round(mantissa * 2048)
    if steps == 2048:
        steps, exponent = 1024, exponent + 1
    if exponent < line.LOWEST:
        return 0
    if exponent > 1024:
        steps, exponent = 2047, 1024
    size = 1 + (exponent - line.LOWEST) * 1024 + steps - 1024
    return size if value > 0 else -size


def two_bits(budget: float) -> float:
    near = nine_bits(budget)
    if near == 0.0 or math.isinf(near):
        return near
    mantissa, exponent = math.frexp(near)
    return math.ldexp(round(mantissa * 4) / 4, exponent)


def counted(tallied: line.Line) -> tuple[SumGroups, dict[float, int]]:
    groups: SumGroups = {}
    for level, cell, people in zip(
        tallied.level_of.tolist(), tallied.cell_of.tolist(), tallied.people.tolist(), strict=True
    ):
        at = (float(tallied.levels[level]), cell)
        groups[at] = groups.get(at, 0) + people
    return groups, dict(zip(tallied.levels.tolist(), tallied.missing.tolist(), strict=True))


def reference(
    rows: Rows, *, person: bool, cell: Callable[[float], int]
) -> tuple[SumGroups, dict[float, int]]:
    own: dict[Any, list[float]] = {}
    budget: dict[Any, float] = {}
    for index, (value, epsilon, who) in enumerate(zip(*rows, strict=True)):
        key = who if person else index
        own.setdefault(key, [])
        if value is not None and math.isfinite(value):
            own[key].append(value)
        budget[key] = epsilon
    least: dict[float, float] = {}
    for epsilon in budget.values():
        near = two_bits(epsilon)
        least[near] = min(least.get(near, math.inf), epsilon)
    groups: SumGroups = {}
    missing = dict.fromkeys(map(abs, least.values()), 0)
    for key, values in own.items():
        level = abs(least[two_bits(budget[key])])
        if not values:
            missing[level] += 1
            continue
        value = min(values) / 2 + max(values) / 2 if person else values[0]
        at = (level, cell(value))
        groups[at] = groups.get(at, 0) + 1
    return groups, missing


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    return runner(request, tmp_path)


def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    name: str = request.param

    def tally(
        rows: Rows,
        *,
        person: bool = False,
        window: line.Window | None = None,
        missing: str = "midpoint",
    ) -> tuple[SumGroups, dict[float, int]]:
        if name == "numpy":
            values, budgets, people = rows
            opened = open_rows(
                values, epsilon=budgets, person=people if person else None, missing=missing
            )
        else:
            opened = open_rows(
                "income",
                epsilon="budget",
                data=frame(name, rows, tmp_path, request),
                person="who" if person else None,
                missing=missing,
            )
        return counted(opened.line(window))

    return tally


def some_rows(seed: int = 0, size: int = 200) -> Rows:
    rng = random.Random(seed)
    pool: list[float | None] = [*HARD, None, math.nan, math.inf, -math.inf]
    values = [rng.choice(pool) if rng.random() < 0.5 else rng.gauss(5, 2) for _ in range(size)]
    people = [f"p{rng.randrange(size // 2)}" for _ in range(size)]
    chosen = {who: rng.choice(LEVELS) for who in people}
    return values, [chosen[who] for who in people], people


@pytest.mark.parametrize("person", [False, True])
def test_every_engine_finds_the_buckets_of_plain_python(run: Run, person: bool) -> None:
    rows = some_rows()
    assert run(rows, person=person) == reference(rows, person=person, cell=bucket)


@pytest.mark.parametrize("person", [False, True])
def test_every_engine_finds_the_cells_of_a_window(run: Run, person: bool) -> None:
    rows = some_rows(1)
    window = line.Window(-4.0, 12.0, 64)

    def cell(value: float) -> int:
        return math.floor(max(-0.5, min(64.5, (value + 4.0) * 4.0)))

    assert run(rows, person=person, window=window) == reference(rows, person=person, cell=cell)


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1.7976931348623157e308)
@example(5e-324)
@example(-(2.0**-901))
@settings(max_examples=400)
def test_a_bucket_is_the_value_to_eleven_bits(value: float) -> None:
    index = int(line.index_of(line.rounded(np.array([value])))[0])
    assert index == bucket(value)
    assert -line.TOP <= index <= line.TOP
    if index:
        middle, width = line.value_of(index), line.width_of(index)
        assert abs(middle - value) <= width
        assert line.values_of(np.array([index]))[0] == middle
        assert int(line.index_of(line.rounded(np.array([middle])))[0]) == index


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
def test_buckets_keep_the_order_of_values(values: list[float]) -> None:
    indices = line.index_of(line.rounded(np.array(sorted(values))))
    assert (np.diff(indices) >= 0).all()


@given(st.floats(min_value=0.0, max_value=1e6))
def test_a_level_of_the_mean_is_in_one_level_of_the_line(budget: float) -> None:
    from epsilons.budgets.levels import keys

    near = keys(np.array([budget]))
    assert line.coarse(np.array([budget])) == line.coarse(near)


def test_many_budgets_and_few_give_the_same_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    values, budgets = rng.normal(3.0, 1.0, 5000), rng.uniform(0.1, 1.0, 5000)
    for given_ in (budgets, np.round(budgets, 1)):
        small = open_rows(values, epsilon=given_).line()
        with monkeypatch.context() as patch:
            patch.setattr("epsilons.door.rows.SMALL", 0)
            large = open_rows(values, epsilon=given_).line()
        assert counted(small) == counted(large)


def test_masses_add_weights_up_by_bucket() -> None:
    tallied = open_rows([1.0, 1.0, 2.0, -3.0], epsilon=[0.5, 1.0, 1.0, 0.5]).line()
    cells, masses = tallied.masses(np.array([3, 10]))
    assert [line.value_of(int(cell)) for cell in cells] == [-3.0, 1.0, 2.0]
    assert masses.tolist() == [3, 13, 10]


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(MissingValueError, match="curator"):
        open_rows([1.0, math.nan], epsilon=1.0).line()
    with pytest.raises(BudgetError):
        open_rows([1.0, 2.0], epsilon=[1.0, -1.0]).line()
    with pytest.raises(ConflictingBudgetsError):
        open_rows([1.0, 2.0, 3.0], epsilon=[1.0, 2.0, 1.0], person=[1, 1, 2]).line()
    with pytest.raises(DataError):
        open_rows([1.0], epsilon=1.0).line()
    with pytest.raises(ArgumentError, match="names a column"):
        open_rows("income", epsilon=1.0)


def test_on_a_ladder_nothing_is_refused() -> None:
    ladder = Ladder.declare(np.array([0.1, 1.0]))
    values = [1.0, math.nan, 3.0, 4.0, 5.0]
    budgets = [0.05, 0.5, math.nan, -1.0, 3.0]
    tallied = open_rows(values, epsilon=budgets, missing="midpoint", ladder=ladder).line()
    assert tallied.levels.tolist() == [0.1, 1.0]
    assert tallied.counts.tolist() == [1, 1]
    assert tallied.missing.tolist() == [1, 0]
    empty = open_rows([], epsilon=[], missing="midpoint", ladder=ladder).line()
    assert empty.counts.tolist() == [0, 0]


@pytest.mark.parametrize("form", ["lists", "pandas", "polars"])
def test_people_one_by_one_are_those_that_are_counted(form: str) -> None:
    """`fold` returns the people who are counted.

    If a person has several budgets, the smallest one is used.
    """
    import pandas as pd
    import polars as pl

    rows = [
        (1.0, 1.0, "a"), (3.0, 1.0, "a"), (5.0, 1.0, "b"), (7.0, 0.3, "b"), (9.0, 1.0, None),
        (2.0, math.nan, "c"), (4.0, -1.0, "d"), (6.0, 1.0, "e"), (8.0, math.nan, "e"),
        (math.nan, 5.0, "f"), (1e308, 5.0, "f"), (math.inf, 1.0, "g"), (0.0, 0.01, "h"),
    ]  # fmt: skip
    values, epsilon, person = ([row[i] for row in rows] for i in range(3))
    ladder = Ladder.declare(np.array([0.1, 1.0]))
    given_: list[Any] = [values, epsilon, person]
    if form != "lists":
        kind: Any = pd.Series if form == "pandas" else pl.Series
        given_ = [kind(each) for each in given_]
    people = folded(given_[0], given_[1], given_[2], ladder)
    there = people.budgets > 0.0
    found = sorted(zip(people.budgets[there], people.values[there], strict=True), key=str)
    # Person a has the midpoint of 1 and 3. Person b has two budgets, and the smaller one, 0.3, is
    # on the rung (budget level) 0.1. Person f has one valid value, and person g has none.
    assert [(e, v) for e, v in found if v == v] == [(0.1, 6.0), (1.0, 1e308), (1.0, 2.0)]
    assert [e for e, v in found if v != v] == [1.0]
    counted = open_rows(
        given_[0], epsilon=given_[1], person=given_[2], missing="midpoint", ladder=ladder,
    ).line()  # fmt: skip
    assert counted.counts.tolist() == [1, 3]
    assert counted.missing.tolist() == [0, 1]
