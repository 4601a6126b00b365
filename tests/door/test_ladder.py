"""On a public ladder, rungs (budget levels), sums and cells are the same on every engine."""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.door import GRID, SHARES
from epsilons.door.engines import floats
from epsilons.errors import ArgumentError
from tests import engines
from tests.door import test_cells
from tests.door.asking import cells_of, sums_of
from tests.door.conftest import Rows, declared_as, frame
from tests.test_ladder import DECLARED, LADDERS, edges

BOUNDS = (-20.0, 70.3)


def test_rungs_that_are_hardly_apart_stay_apart_in_the_tally() -> None:
    ladder = Ladder.declare(np.array([1.0, 1.0 + 2.0**-8]))
    budgets = [1.0, 1.0 + 2.0**-9, 1.0 + 2.0**-8, 1.5]
    counted = sums_of([0.0] * 4, epsilon=budgets, bounds=(0.0, 1.0), ladder=ladder)
    assert counted.levels.tolist() == ladder.levels.tolist()
    assert counted.counts.tolist() == [2, 2]


@pytest.mark.parametrize("engine", ["polars", "polars lazy", "duckdb", "pandas", "pyarrow"])
@pytest.mark.parametrize("name", LADDERS)
def test_engines_find_the_rungs_of_numpy(engine: str, name: str) -> None:
    ladder = LADDERS[name]
    budgets: list[float | None] = [*edges(ladder), None]
    table = pl.DataFrame(
        {"i": range(len(budgets)), "e": budgets}, schema_overrides={"e": pl.Float64}
    )
    lazy = nw.from_native(engines.on_engine(engine, table)).lazy()
    rows = lazy.select("i", floats.rung(ladder, nw.col("e"), lazy).alias("rung")).collect()
    found = dict(zip(rows["i"].to_list(), rows["rung"].to_list(), strict=True))
    given = np.array([math.nan if e is None else e for e in budgets])
    for place, rung in enumerate(ladder.of(given).tolist()):
        assert found[place] == rung, budgets[place]


# Means with a ladder.


def some_rows(n: int = 150) -> tuple[list[Any], list[Any], list[Any]]:
    """Return rows with every irregularity of values, budgets and people."""
    draw = random.Random(n)
    values: list[Any] = [draw.gauss(25.0, 40.0) for _ in range(n)]
    budgets: list[Any] = [draw.choice([*DECLARED, 0.05, 0.3, 3.3, 100.0]) for _ in range(n)]
    people: list[Any] = [f"p{draw.randrange(n // 3)}" for _ in range(n)]
    for row in range(0, n, 5):
        values[row] = (None, math.nan, math.inf, -math.inf)[row // 5 % 4]
    for row in range(2, n, 9):
        budgets[row] = (None, math.nan, -1.0, 0.0, -math.inf, math.inf, 5e-324)[row // 9 % 7]
    for row in range(3, n, 11):
        people[row] = None
    values += [None, math.nan, 5.0]
    budgets += [1.0, 1.0, None]  # "ghost" has no valid value, and "pauper" has no budget
    people += ["ghost", "ghost", "pauper"]
    return values, budgets, people


def rung_of(rungs: list[float], budget: float | None) -> float:
    """Return the largest rung up to a budget, found by bisection, or 0 if there is none."""
    if budget is None or not budget > 0.0:
        return 0.0
    place = bisect.bisect_right(rungs, budget)
    return rungs[place - 1] if place else 0.0


def counted_mean(
    name: str,
    rows: Rows,
    ladder: Ladder,
    directory: Path,
    request: pytest.FixtureRequest,
    *,
    person: bool,
    epsilon: float | None = None,
) -> tuple[list[Any], ...]:
    """Return the tally on one engine, as lists."""
    values, budgets, people = rows
    if name == "numpy":
        tally = sums_of(
            values,
            epsilon=budgets if epsilon is None else epsilon,
            bounds=BOUNDS,
            person=people if person else None,
            ladder=ladder,
        )
    else:
        tally = sums_of(
            "income",
            epsilon="budget" if epsilon is None else epsilon,
            bounds=BOUNDS,
            data=frame(name, rows, directory, request),
            person="who" if person else None,
            ladder=ladder,
        )
    return tally.levels.tolist(), tally.counts.tolist(), tally.sums.tolist()


def test_what_is_behind_a_mask_is_nobody() -> None:
    # If the mask were ignored, the second row would belong to person 1, who has the first row.
    people = np.ma.array([1, 1, 2], mask=[False, True, False])
    for who in (people, people.astype(float), people.astype(object)):
        tally = sums_of(
            [0.0, 1.0, 1.0],
            epsilon=[1.0, 1.0, 7.5],
            bounds=(0.0, 1.0),
            person=who,
            ladder=LADDERS["declared"],
        )
        assert tally.counts.tolist() == [1, 1]
        assert tally.sums.tolist() == [0, GRID]


# Frequencies.


def expected_cells(
    rows: Any, categories: list[Any], catch: int | None, ladder: Ladder, *, person: bool
) -> tuple[list[Any], ...]:
    own: dict[Any, list[Any]] = {}
    rung: dict[Any, float] = {}
    rungs: list[float] = ladder.levels.tolist()
    for index, (value, budget, who) in enumerate(zip(*rows, strict=True)):
        if person and who is None:
            continue
        key = who if person else index
        own.setdefault(key, []).append(value)
        rung[key] = min(rung.get(key, math.inf), rung_of(rungs, budget))
    width = len(categories) + (catch is not None) - isinstance(categories[0], float)
    found: dict[float, list[int]] = {}
    for key, values in own.items():
        entry = found.setdefault(rung[key], [0] * width)
        for value in values:
            place = test_cells.cell(value, categories)
            place = catch if place is None else place
            if place is not None:
                entry[place] += SHARES // len(values) if person else 1
    levels = sorted(level for level in found if level > 0.0)
    cells = [found[level] for level in levels]
    return levels, [whole_people(own, SHARES if person else 1) for own in cells], cells


def whole_people(cells: list[int], unit: int) -> int:
    """Return the number of people, computed from the totals of cells and rounded half up.

    People in no cell do not count. People with only some rows in cells count as a fraction.
    """
    return math.floor(Fraction(sum(cells), unit) + Fraction(1, 2))


def counted_cells(
    name: str,
    rows: Any,
    kind: str,
    other: Any,
    ladder: Ladder,
    directory: Path,
    request: pytest.FixtureRequest,
    *,
    person: bool,
) -> tuple[list[Any], ...]:
    categories, _, dtype = test_cells.CASES[kind]
    values, budgets, people = rows
    if name == "numpy":
        tally = cells_of(
            values,
            epsilon=budgets,
            **declared_as(categories),
            other=other,
            person=people if person else None,
            ladder=ladder,
        )
    else:
        tally = cells_of(
            "v",
            epsilon="e",
            **declared_as(categories),
            other=other,
            data=test_cells.frame(name, rows, dtype, directory, request),
            person="p" if person else None,
            ladder=ladder,
        )
    return tally.levels.tolist(), tally.counts.tolist(), tally.cells.tolist()


def some_cells(kind: str, n: int = 120) -> tuple[list[Any], list[Any], list[Any]]:
    _, budgets, people = some_rows(n)
    _, choices, _ = test_cells.CASES[kind]
    draw = random.Random(kind)
    return [draw.choice([*choices, None]) for _ in budgets], budgets, people


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_many_cells_of_arrays_take_the_engine_to_the_same_integers(
    person: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = "integers"
    values, budgets, people = some_cells(kind)
    values[7], values[8] = 2**70, -(2**200)  # too large for engines, so in no category
    categories = test_cells.CASES[kind][0]
    monkeypatch.setattr("epsilons.door.rows.SMALL", 10)
    tally = cells_of(
        values,
        epsilon=budgets,
        categories=categories,
        person=people if person else None,
        ladder=LADDERS["declared"],
    )
    found = tally.levels.tolist(), tally.counts.tolist(), tally.cells.tolist()
    rows = values, budgets, people
    assert found == expected_cells(rows, categories, None, LADDERS["declared"], person=person)


def test_a_table_of_all_rungs_must_fit() -> None:
    with pytest.raises(ArgumentError, match="too many"):
        cells_of([1], epsilon=[1.0], categories=list(range(60_000)), ladder=LADDERS["fine"])


def test_rungs_are_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both algorithms find the same rungs. The first rows of the data decide which one is used."""
    values, budgets, _ = some_rows()
    table = pl.DataFrame(
        {"v": values, "e": budgets}, schema_overrides={"v": pl.Float64, "e": pl.Float64}
    )
    found: list[Any] = []
    few: Callable[[Any], bool]
    for few in (lambda rows: True, lambda rows: False):
        monkeypatch.setattr("epsilons.door.engines.count_engine.few_budgets", few)
        tally = sums_of("v", epsilon="e", bounds=BOUNDS, data=table, ladder=LADDERS["fine"])
        found.append((tally.levels.tolist(), tally.counts.tolist(), tally.sums.tolist()))
    assert found[0] == found[1]
