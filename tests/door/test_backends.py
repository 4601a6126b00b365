"""Every engine returns the same integers as a reference in pure Python."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from epsilons.door import GRID
from epsilons.errors import (
    ArgumentError,
    ConflictingBudgetsError,
    DataError,
    MissingValueError,
)
from tests.door import questions
from tests.door.asking import cells_of, sums_of

Rows = tuple[list[float | None], list[float], list[Any]]
Count = Callable[..., tuple[list[float], list[int], list[int]]]

BOUNDS = (-20.0, 70.3)
LEVELS = [0.0, 0.1, 0.25, 0.3, 1.0, 7.5, math.inf]


def some_rows(*, gaps: bool, n: int = 120) -> Rows:
    """Return rows of about n/3 people with one budget each. Some values are outside the bounds."""
    draw = random.Random(n)
    budgets = {f"p{i}": draw.choice(LEVELS) for i in range(n // 3)}
    people = [draw.choice(list(budgets)) for _ in range(n)]
    values: list[float | None] = [draw.gauss(25.0, 40.0) for _ in range(n)]
    people += ["zero", "low", "low", "high", "middle", "far"]
    values += [-0.0, -20.0, -20.0, 70.3, 25.15, 1e300]
    if gaps:
        for row in range(0, n, 4):
            values[row] = (None, math.nan, math.inf, -math.inf)[row // 4 % 4]
        people += ["ghost", "ghost"]  # a person without any valid value
        values += [None, math.nan]
    budgets |= {"zero": -0.0, "low": 1e308, "high": 5e-324, "middle": 0.3, "far": 1e308}
    budgets["ghost"] = 0.1
    return values, [budgets[p] for p in people], people


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("gap", [None, math.nan, math.inf, -math.inf])
def test_one_missing_value_is_refused(run: Count, gap: float | None, person: bool) -> None:
    values, budgets, people = some_rows(gaps=False, n=12)
    values[5] = gap
    with pytest.raises(MissingValueError, match=r"exclude.*midpoint.*people is published"):
        run((values, budgets, people), BOUNDS, person=person, missing="error")


def test_two_budgets_of_one_person_are_refused(run: Count) -> None:
    rows = [1.0, 2.0, 3.0], [0.5, 0.5000001, 0.5], ["a", "a", "b"]
    with pytest.raises(ConflictingBudgetsError, match="differs between rows"):
        run(rows, BOUNDS, person=True)
    assert run(rows, BOUNDS)[1] == [3]  # without a person column: three people at one level


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_nan_is_nobody(engine: str) -> None:
    frame = pl.DataFrame({"v": [1.0, 2.0, 3.0], "p": [1.5, math.nan, 2.5]})
    data: Any = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[engine]
    with pytest.raises(DataError, match="without a person"):
        sums_of("v", epsilon=1.0, bounds=BOUNDS, data=data, person="p")


FEWER = pytest.param(10**4, id="ten thousand rows")


@functools.cache
def asked_of_numpy(n: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    table = questions.rows(n)
    return table, questions.by_numpy(table)


@pytest.mark.parametrize("n", [FEWER])
def test_numpy_answers_as_plain_python_does(n: int, reference: Count) -> None:
    table, expected = asked_of_numpy(n)
    rows = table["value"].to_list(), table["epsilon"].to_list(), table["who"].to_list()
    for name, person in (("mean, midpoint", False), ("mean of people", True)):
        levels, counts, sums = reference(rows, questions.BOUNDS, person=person)
        unit = [GRID * count - total for count, total in zip(counts, sums, strict=True)]
        assert expected[name] == (levels, counts, list(map(list, zip(sums, unit, strict=True))))
    refused = {name: found for name, found in expected.items() if isinstance(found, str)}
    assert refused == {
        "mean, error": "MissingValueError",
        "mean of people, error": "MissingValueError",
        "mean, NaN budgets": "BudgetError",
        "words, error": "MissingValueError",
        "bins, error": "MissingValueError",
        "unknown range, error": "MissingValueError",
    }


def test_dask_has_no_way_to_fold_people_in_very_many_bins(tmp_path: Path) -> None:
    import dask.dataframe as dd

    data = dd.from_pandas(questions.rows(300).to_pandas(), npartitions=2)
    edges = [float(k) for k in range(300)]
    with pytest.raises(ArgumentError, match="fewer bins"):
        cells_of("value", epsilon="epsilon", edges=edges, other="?", data=data, person="who")
