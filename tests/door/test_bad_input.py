"""Invalid input raises the documented error, with a helpful message."""

from __future__ import annotations

import datetime
import decimal
import fractions
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ColumnError,
    ConflictingBudgetsError,
    DataError,
    MissingValueError,
)
from tests.door.asking import grid_of_each, sums_of
from tests.engines import FRAMES, on_engine

FRAME = pl.DataFrame(
    {
        "income": [1.0, 2.0, 3.0],
        "budget": [0.1, 0.2, 0.3],
        "text": ["1", "2", "3"],
        "day": [datetime.date(2020, 1, 1)] * 3,
        "flag": [True, False, True],
        "list": [[1.0], [2.0], [3.0]],
    }
)
DAY = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")

BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "values is a name without data": ({"values": "x"}, ArgumentError, "data is not given"),
    "epsilon is a name without data": ({"epsilon": "e"}, ArgumentError, "data is not given"),
    "person is a name without data": ({"person": "p"}, ArgumentError, "data is not given"),
    "values of text": ({"values": ["1", "2"]}, ColumnError, "values must be numbers"),
    "values of mixed objects": ({"values": [1.0, "x"]}, ColumnError, "values must be numbers"),
    "values of objects": ({"values": [object(), 1]}, ColumnError, "of type object"),
    "values of dates": ({"values": DAY}, ColumnError, "datetime64"),
    "values complex": ({"values": [1j, 2.0]}, ColumnError, "of type complex"),
    "values of text in pandas": ({"values": pd.Series(["1", "2"])}, ColumnError, "values must"),
    "values two-dimensional": ({"values": np.ones((2, 1))}, ArgumentError, "give one column"),
    "values of lists": ({"values": [[1.0], [2.0, 3.0]]}, ColumnError, "One column is meant"),
    "values a number": ({"values": 3.0}, ArgumentError, "values must be a list"),
    "values a set": ({"values": {1.0, 2.0}}, ArgumentError, "of type set"),
    "values too long": (
        {"values": [1.0] * 3},
        ArgumentError,
        "values and epsilon have different lengths",
    ),
    "person too long": (
        {"person": [1, 2, 3]},
        ArgumentError,
        "values and person have different lengths",
    ),
    "values empty": ({"values": [], "epsilon": []}, DataError, "empty"),
    "values empty, one budget": ({"values": [], "epsilon": 1.0}, DataError, "empty"),
    "one person": ({"values": [1.0], "epsilon": [1.0]}, DataError, "two people"),
    "one person in two rows": ({"person": ["a", "a"], "epsilon": 1.0}, DataError, "two people"),
    "None among values": ({"values": [1.0, None]}, MissingValueError, "curator only"),
    "NA among values": (
        {"values": pd.Series([1, None], dtype="Int64")},
        MissingValueError,
        "curator only",
    ),
    "masked value": (
        {"values": np.ma.masked_array([1.0, 2.0], mask=[True, False])},
        MissingValueError,
        "curator only",
    ),
    "epsilon None": ({"epsilon": None}, BudgetError, "not a budget"),
    "epsilon True": ({"epsilon": True}, BudgetError, "not a budget"),
    "epsilon complex": ({"epsilon": 1j}, BudgetError, "not a budget"),
    "epsilon NaN": ({"epsilon": float("nan")}, BudgetError, "negative or NaN"),
    "epsilon negative": ({"epsilon": -1}, BudgetError, "negative or NaN"),
    "epsilon zero": ({"epsilon": 0}, BudgetError, "for everyone"),
    "epsilon minus zero": ({"epsilon": -0.0}, BudgetError, "for everyone"),
    "epsilon zeros": ({"epsilon": [0.0, -0.0]}, BudgetError, "for everyone"),
    "epsilon with None": ({"epsilon": [1.0, None]}, BudgetError, "negative, NaN or missing"),
    "epsilon with negative": ({"epsilon": [1.0, -2.0]}, BudgetError, "0 leaves a person out"),
    "epsilon of booleans": ({"epsilon": [True, True]}, ColumnError, "epsilon must be numbers"),
    "epsilon of text": ({"epsilon": ["1", "2"]}, ColumnError, "epsilon must be numbers"),
    "epsilon a mapping": ({"epsilon": {0.1: 2}}, ArgumentError, "but not who"),
    "person with None": ({"person": ["a", None]}, DataError, "without a person"),
    "person with NaN": ({"person": [1.0, np.nan]}, DataError, "without a person"),
    "person with NaN in text": ({"person": ["a", np.nan]}, DataError, "without a person"),
    "person with NaT": ({"person": np.array([DAY[0], "NaT"], DAY.dtype)}, DataError, "without a"),
    "person masked": (
        {"person": np.ma.masked_array([1, 2], mask=[True, False])},
        DataError,
        "without a person",
    ),
    "person of lists": (
        {"person": np.array([[1], [2, 3], None][:2], dtype=object)},
        ColumnError,
        "cannot be compared",
    ),
    "person with two budgets": (
        {"values": [1.0] * 3, "epsilon": [1.0, 2.0, 1.0], "person": ["a", "a", "b"]},
        ConflictingBudgetsError,
        "differs between rows",
    ),
    "missing unknown": ({"missing": "drop"}, ArgumentError, "'midpoint'"),
    "values an array with data": (
        {"values": [1.0], "data": FRAME},
        ArgumentError,
        "values must be the name",
    ),
    "epsilon an array with data": (
        {"values": "income", "data": FRAME},
        ArgumentError,
        "epsilon must be the name",
    ),
    "epsilon a mapping with data": (
        {"values": "income", "epsilon": {1.0: 3}, "data": FRAME},
        ArgumentError,
        "but not who",
    ),
    "person an array with data": (
        {"values": "income", "epsilon": 1.0, "person": [1], "data": FRAME},
        ArgumentError,
        "person must be the name",
    ),
    "data is no table": (
        {"values": "income", "epsilon": 1.0, "data": {"income": [1.0]}},
        ArgumentError,
        "of type dict",
    ),
    "data is a series": (
        {"values": "income", "epsilon": 1.0, "data": FRAME["income"]},
        ArgumentError,
        "of type Series",
    ),
    "unknown column": (
        {"values": "incme", "epsilon": "budget", "data": FRAME},
        ColumnError,
        r"Did you mean 'income'\? The columns are 'income', 'budget'",
    ),
    "unknown budget": (
        {"values": "income", "epsilon": "xyz", "data": FRAME},
        ColumnError,
        "epsilon='xyz' is not a column",
    ),
    "unknown person": (
        {"values": "income", "epsilon": 1.0, "person": "xyz", "data": FRAME},
        ColumnError,
        "person='xyz' is not a column",
    ),
    "column of text": (
        {"values": "text", "epsilon": "budget", "data": FRAME},
        ColumnError,
        "values='text'.*String",
    ),
    "column of dates": (
        {"values": "day", "epsilon": "budget", "data": FRAME.to_arrow()},
        ColumnError,
        "values='day'.*Date",
    ),
    "column of lists": (
        {"values": "list", "epsilon": "budget", "data": FRAME.lazy()},
        ColumnError,
        "values='list'.*List",
    ),
    "budgets of text": (
        {"values": "income", "epsilon": "text", "data": FRAME},
        ColumnError,
        "epsilon='text'.*String",
    ),
    "budgets of booleans": (
        {"values": "income", "epsilon": "flag", "data": FRAME},
        ColumnError,
        "epsilon='flag'.*Boolean",
    ),
    "column of Python objects": (
        {
            "values": "v",
            "epsilon": 1.0,
            "data": pd.DataFrame({"v": pd.Series([1.0, "x"], dtype=object)}),
        },
        ColumnError,
        "values='v' must be numbers; it holds something of type str",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("function", [sums_of, grid_of_each])
def test_bad_input_is_refused(function: Any, name: str) -> None:
    arguments, error, message = BAD[name]
    given = {"values": [1.0, 2.0], "epsilon": [0.5, 1.0], "bounds": (0.0, 1.0)} | arguments
    if not {"data", "missing"}.isdisjoint(given) and function is grid_of_each:
        pytest.skip("it takes arrays without gaps")
    with pytest.raises(error, match=message) as caught:
        function(given.pop("values"), **given)
    assert type(caught.value) is error
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_budgets_that_count_people_are_refused() -> None:
    class Budgets:
        levels = np.array([1.0])
        counts = np.array([2])

    with pytest.raises(ArgumentError, match="but not who"):
        sums_of([1.0, 2.0], epsilon=Budgets(), bounds=(0.0, 1.0))


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 0.25, 1.0],
        (0, 0.25, 1),
        np.array([0.0, 0.25, 1.0], dtype=np.float32),
        np.array([9.0, 0.0, 9.0, 0.25, 9.0, 1.0])[1::2],
        np.array([0.0, 0.25, 1.0], dtype=">f8"),
        np.array([0.0, 0.25, 1.0], dtype=np.longdouble),
        [decimal.Decimal(0), decimal.Decimal("0.25"), decimal.Decimal(1)],
        [fractions.Fraction(0), fractions.Fraction(1, 4), True],
        [-(10**400), 0.25, 10**400],
        pd.Series([0.0, 0.25, 1.0], index=[7, 7, 2]),
        pd.Series([0.0, 0.25, 1.0], dtype="Float64"),
        pl.Series([0.0, 0.25, 1.0]),
        pa.chunked_array([[0.0, 0.25], [1.0]]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_arrays_of_many_kinds(values: Any) -> None:
    tally = sums_of(values, epsilon=[1.0, 1.0, 2.0], bounds=(0.0, 1.0))
    assert tally.sums.tolist() == [2**28, 2**30]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([True, False, True, None]),
        pl.Series([1, 0, 7, None], dtype=pl.UInt8),
        pl.Series([1, 0, 7, None], dtype=pl.Int64),
        pl.Series([1.0, 0.0, 7.0, None], dtype=pl.Float32),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("engine", [name for name in FRAMES if name != "pandas"])
def test_columns_of_many_types(column: pl.Series, engine: str) -> None:
    frame = pl.DataFrame({"v": column, "e": pl.Series([1, 1, 2, 2], dtype=pl.UInt16)})
    data = on_engine(engine, frame)
    tally = sums_of("v", epsilon="e", bounds=(0.0, 1.0), data=data, missing="midpoint")
    assert tally.levels.tolist() == [1.0, 2.0]
    assert tally.sums.tolist() == [2**30, 2**30 + 2**29]


def test_budgets_in_float32_are_widened_before_anything_else() -> None:
    frame = pl.DataFrame({"v": [0.0, 1.0], "e": pl.Series([0.1, 0.1], dtype=pl.Float32)})
    tally = sums_of("v", epsilon="e", bounds=(0.0, 1.0), data=frame)
    assert tally.levels.tolist() == [float(np.float32(0.1))]


@pytest.mark.parametrize(
    "who",
    [
        ["a", "b", "a"],
        [1, 2, 1],
        [0.0, 1.5, -0.0],
        [("x", 1), ("x", 2), ("x", 1)],
        np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="datetime64[D]"),
        np.array([b"x", b"y", b"x"]),
        pd.Series(["a", "b", "a"], dtype="category"),
        pl.Series(["a", "b", "a"]),
        [True, False, True],
    ],
    ids=str,
)
def test_people_of_many_kinds(who: Any) -> None:
    if isinstance(who, list) and isinstance(who[0], tuple):
        who = pd.Series(who)
    tally = sums_of([0.0, 1.0, 1.0], epsilon=1.0, bounds=(0.0, 1.0), person=who)
    assert tally.counts.tolist() == [2]
    assert tally.sums.tolist() == [2**29 + 2**30]


@pytest.mark.parametrize(
    "data", [FRAME, FRAME.to_arrow(), FRAME.to_pandas()], ids=["polars", "pyarrow", "pandas"]
)
def test_people_of_frames_in_memory(data: Any) -> None:
    tally, level, grid = grid_of_each(data["income"], epsilon=data["budget"], bounds=(0.0, 4.0))
    assert tally.counts.tolist() == [1, 1, 1]
    assert level.tolist() == [0, 1, 2]
    assert grid.tolist() == [2**28, 2**29, 3 * 2**28]


def test_other_names_with_signs_of_patterns_are_names() -> None:
    for name in ("^v", "v$", "v.*", "**", "a*", "$^"):
        frame = pl.DataFrame({name: [1.0, 2.0], "b": [0.5, 0.5], "v": [9.0, 9.0]})
        told = sums_of([1.0, 2.0], epsilon=[0.5, 0.5], bounds=(0, 10))
        found = sums_of(name, epsilon="b", bounds=(0, 10), data=frame)
        assert found.sums.tolist() == told.sums.tolist()
