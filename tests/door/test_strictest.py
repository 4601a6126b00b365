"""A level has the smallest budget of its people. A person has the smallest budget of their rows."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.door import open as open_rows
from epsilons.door.engines import count_engine
from epsilons.door.given import columns
from tests.door.asking import cells_of, folded, grid_of_each, sums_of

CLOSE = (1.0015, 1.0, 1.001)
"""Budgets that are equal after rounding to nine bits.

They form one level, with the smallest of them.
"""

LADDER = Ladder.declare(np.array([0.25, 1.0]))
WAYS = ["arrays", "large arrays", "polars", "polars by keys", "pyarrow by itself", "duckdb"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    monkeypatch.setattr("epsilons.door.rows.SMALL", 0 if name == "large arrays" else 10**5)
    if name == "pyarrow by itself":
        monkeypatch.setattr(columns, "moved", lambda table: table)
    if name == "polars by keys":
        monkeypatch.setattr(count_engine, "few_budgets", lambda rows: False)
    return name


def given(way: str, rows: dict[str, list[Any]], *, person: bool) -> dict[str, Any]:
    """Return the arguments of a tally of column `x`."""
    if "arrays" in way:
        return {
            "values": rows["x"],
            "epsilon": rows["e"],
            "person": rows["p"] if person else None,
        }
    frame = pl.DataFrame(rows)
    data: Any = frame
    if way == "duckdb":
        data = duckdb.from_arrow(frame.to_arrow())
    elif way.startswith("pyarrow"):
        data = frame.to_arrow()
    return {"values": "x", "epsilon": "e", "data": data, "person": "p" if person else None}


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_a_level_has_the_smallest_budget_of_its_people(way: str, person: bool) -> None:
    """A level has the smallest budget of its people. Here, all of them are in one cell."""
    rows: dict[str, list[Any]] = {"x": [0.5] * 3, "e": list(CLOSE), "p": ["a", "b", "c"]}
    on = given(way, rows, person=person)
    assert sums_of(**on, bounds=(0.0, 1.0)).levels.tolist() == [1.0]
    cells = cells_of(**on, edges=[0.0, 0.25, 1.0])
    assert (cells.levels.tolist(), cells.counts.tolist()) == ([1.0], [3])
    line = open_rows(**on).line()
    assert line.levels.tolist() == [1.0]


def test_under_add_remove_the_smaller_of_two_budgets_counts(way: str) -> None:
    rows: dict[str, list[Any]] = {
        "x": [0.0, 1.0, 1.0],
        "e": [1.0, 0.25, 1.0],
        "p": ["two", "two", "one"],
    }
    on = given(way, rows, person=True) | {"ladder": LADDER}
    mean = sums_of(**on, bounds=(0.0, 1.0))
    assert mean.levels.tolist() == [0.25, 1.0]
    assert mean.sums.tolist() == [2**29, 2**30]  # a person's rows are averaged
    cells = cells_of(**on, edges=[0.0, 0.5, 1.0])
    half = cells.unit // 2
    assert cells.levels.tolist() == [0.25, 1.0]
    assert cells.cells.tolist() == [[half, half], [0, 2 * half]]
    line = open_rows(**on).line()
    assert line.counts.tolist() == [1, 1]
    if "data" not in on:
        assert sorted(folded(**on).budgets.tolist()) == [0.25, 1.0]


def test_whoever_has_no_rung_is_left_out(way: str) -> None:
    rows: dict[str, list[Any]] = {
        "x": [0.0, 1.0, 1.0],
        "e": [0.1, 0.25, 1.0],
        "p": ["none", "low", "high"],
    }
    for person in (False, True):
        on = given(way, rows, person=person) | {"ladder": LADDER}
        assert sums_of(**on, bounds=(0.0, 1.0)).sums.tolist() == [2**30, 2**30]
        cells = cells_of(**on, edges=[0.0, 0.5, 1.0])
        assert (cells.cells // cells.unit).tolist() == [[0, 1], [0, 1]]
        line = open_rows(**on).line()
        assert line.people.sum() == 2


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_missing_values_stand_in_the_middle_and_far_ones_at_the_ends(
    way: str, person: bool
) -> None:
    values = [None, float("nan"), float("inf"), 1e300, -1e300, 7.0]
    rows: dict[str, list[Any]] = {"x": values, "e": [1.0] * 6, "p": list("abcdef")}
    tally = sums_of(**given(way, rows, person=person), bounds=(4.0, 8.0), missing="midpoint")
    assert tally.sums.tolist() == [3 * 2**29 + 2**30 + 0 + 3 * 2**28]
    line = open_rows(
        **given(way, rows, person=person),
        missing="midpoint",
    ).line()
    assert (line.counts.tolist(), line.missing.tolist()) == ([6], [3])


def test_whoever_is_drawn_for_has_the_budget_of_their_level() -> None:
    """Each person's index is that of their level, whatever the order of levels."""
    epsilon = [4.0, *CLOSE, 0.5]
    tally, level_of, grid = grid_of_each(
        [0.0, 1.0, 1.0, 1.0, 0.5], epsilon=epsilon, bounds=(0.0, 1.0)
    )
    assert tally.levels.tolist() == [0.5, 1.0, 4.0]
    assert level_of.tolist() == [2, 1, 1, 1, 0]
    assert grid.tolist() == [0, 2**30, 2**30, 2**30, 2**29]
