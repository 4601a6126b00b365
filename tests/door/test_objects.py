"""The type of an entry in a list or column of objects is private, so it causes no refusal."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import epsilons as ep
import epsilons.door.rows
from epsilons.budgets.levels import Ladder
from epsilons.door import Tally
from epsilons.door.count.tallies import TWO
from epsilons.errors import (
    ArgumentError,
    ColumnError,
    DataError,
)
from tests.door.asking import cells_of, sums_of

BOUNDS = (0.0, 1.0)
LADDER = Ladder.declare(np.array([0.5, 1.0]))
ODD: dict[str, Any] = {
    "text": "x",
    "a number with a comma": "0,5",
    "half a pair": "\ud800",
    "bytes": b"x",
    "an object": object(),
    "a list": [0.5],
    "an array": np.array([0.5, 1.0]),
    "a mapping": {},
    "a date": datetime.date(2020, 1, 1),
    "a moment": np.datetime64("2020-01-01"),
    "complex": 0.5j,
    "nothing": None,
    "NaN": float("nan"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "a decimal NaN": Decimal("NaN"),
    "a loud NaN": Decimal("sNaN"),
}
Call = Callable[[list[Any], Any, Any], tuple[Any, Any, Any, Any]]


def series(items: list[Any]) -> Any:
    made = pd.Series([None] * len(items), dtype=object)
    for row, item in enumerate(items):
        made.iat[row] = item
    return made


def objects(items: list[Any]) -> Any:
    made = np.empty(len(items), dtype=object)
    for row, item in enumerate(items):
        made[row] = item
    return made


def frame(values: list[Any], epsilon: Any, person: Any) -> tuple[Any, Any, Any, Any]:
    columns = {"v": series(values)}
    if not isinstance(epsilon, float):
        columns["e"] = series(epsilon)
    if person is not None:
        columns["p"] = series(person)
    names = ("e" if "e" in columns else epsilon, "p" if "p" in columns else None)
    return ("v", names[0], pd.DataFrame(columns), names[1])


FORMS: dict[str, Call] = {
    "list": lambda v, e, p: (v, e, None, p),
    "tuple": lambda v, e, p: (tuple(v), e, None, p),
    "objects": lambda v, e, p: (objects(v), e if isinstance(e, float) else objects(e), None, p),
    "series": lambda v, e, p: (series(v), e if isinstance(e, float) else series(e), None, p),
    "frame": frame,
}


@pytest.fixture(params=["small", "large"], autouse=True)
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count small tables with NumPy, and large tables with Polars."""
    if request.param == "large":
        monkeypatch.setattr(epsilons.door.rows, "SMALL", 0)


def counted(tally: Tally) -> tuple[Any, ...]:
    sums = tally.sums if tally.categories == TWO else tally.cells
    return tally.levels.tolist(), tally.counts.tolist(), sums.tolist()


KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    "text": (["a", "b"], [1, True, b"a", ("a",), "A", "a\0"]),
    "integers": ([1, 2], [1.5, True, "1.5", Decimal("1.5"), 2**70, np.float64(2.5)]),
    "booleans": ([True, False], [1, 0, 1.0, "yes", np.int64(1)]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_none_is_a_column_like_others(form: str, kind: str) -> None:
    for values in ([None] * 3, [None, None, KINDS[kind][0][0]]):
        given, epsilon, data, _ = FORMS[form](values, 1.0, None)
        more: dict[str, Any] = {"epsilon": epsilon, "data": data}
        cells = cells_of(given, categories=KINDS[kind][0], other="else", **more)
        assert cells.counts.tolist() == [3]
        assert cells.cells[0, 2] == values.count(None)
        assert sums_of(given, bounds=BOUNDS, missing="midpoint", **more).counts.tolist() == [3]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([None, None, None], dtype=pl.String),
        pl.Series(["1", "2", "3"]),
        pa.array([None, None, None], pa.string()),
        np.array(["1", "2", "3"]),
        pd.Series([None, None, None], dtype="string"),
        np.array([1, 2, 3], dtype="datetime64[D]"),
        pd.Series([pd.NaT] * 3, dtype="datetime64[ns]"),
        pl.Series([None, None, None], dtype=pl.List(pl.Int64)),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', 'text')}",
)
def test_a_declared_type_is_a_schema(column: Any) -> None:
    """A declared type of the wrong kind is refused under replace.

    Under add/remove, only lists are refused.
    """
    with pytest.raises(ColumnError, match="values must be numbers; its type is"):
        sums_of(column, epsilon=1.0, bounds=BOUNDS, missing="midpoint")
    with pytest.raises(ColumnError, match="values must be integers"):
        cells_of(column, epsilon=1.0, categories=[1, 2], other="else")
    with pytest.raises(ColumnError, match="epsilon must be numbers"):
        sums_of([0.0, 1.0, 0.5], epsilon=column, bounds=BOUNDS)
    if "List" in str(getattr(column, "dtype", "")):  # a cell of a file is never parsed as a list
        with pytest.raises(ColumnError, match="values must be numbers; its type is"):
            sums_of(column, epsilon=1.0, bounds=BOUNDS, ladder=LADDER)
        return
    assert sums_of(column, epsilon=1.0, bounds=BOUNDS, ladder=LADDER).counts.tolist()[-1] == 3
    cells_of(column, epsilon=1.0, categories=[1, 2], ladder=LADDER)
    sums_of([0.0, 1.0, 0.5], epsilon=column, bounds=BOUNDS, ladder=LADDER)


def test_categories_of_pandas_that_are_objects() -> None:
    data = pd.DataFrame({"v": pd.Categorical(["a", 1, "1", None], categories=["a", 1, "1"])})
    given: dict[str, Any] = {"epsilon": 1.0, "categories": ["a", "1"], "other": "else"}
    assert cells_of("v", data=data, **given).cells.tolist() == [[1, 2, 1]]
    assert cells_of(data["v"], **given).cells.tolist() == [[1, 2, 1]]


def test_releases_of_columns_of_objects() -> None:
    """For columns of objects, the public facts of a release do not depend on any one entry."""
    values = [*[0.25, 0.75] * 50]
    source: dict[str, Any] = {"bounds": BOUNDS, "neighbours": "add-remove", "levels": [1.0]}
    for odd in ("x", "\ud800", None, [1], 0.5):
        for given in ([*values, odd], series([*values, odd])):
            release = ep.mean(
                given, epsilon=1.0, missing="midpoint", source=ep.Seeded(1), bounds=BOUNDS
            )
            assert release.n == 101
            assert ep.mean(given, epsilon=[1.0] * 101, source=ep.Seeded(1), **source).spent
            shares = ep.frequencies(
                given, epsilon=1.0, categories=["x", "y"], other="z", source=ep.Seeded(1)
            )
            assert shares.n == 101


def test_decimals_are_numbers() -> None:
    data = pd.DataFrame({"v": series([Decimal("0.25"), Decimal(1)]), "e": series([Decimal(1), 2])})
    assert counted(sums_of("v", epsilon="e", bounds=BOUNDS, data=data)) == (
        [1.0, 2.0],
        [1, 1],
        [2**28, 2**30],
    )
    huge = [Decimal("1e400"), Decimal("-1e400"), 10**400, -(10**400)]
    assert sums_of(huge, epsilon=1.0, bounds=BOUNDS).sums.tolist() == [2**31]


def test_names_that_are_integers() -> None:
    data = pd.DataFrame([[0.25, 0.5, 7], [1.0, 0.5, 8], [0.0, 0.5, 8]])
    found = sums_of(0, epsilon=0.5, bounds=BOUNDS, data=data, person=2)
    assert counted(found) == ([0.5], [2], [2**28 + 2**29])
    assert cells_of(2, epsilon=0.5, categories=[7, 8], data=data).cells.tolist() == [[1, 2]]
    with pytest.raises(ArgumentError, match=r"epsilon=1 is the name of a column.*epsilon=1\.0"):
        sums_of(0, epsilon=1, bounds=BOUNDS, data=data)
    assert sums_of(0, epsilon=1.0, bounds=BOUNDS, data=data).levels.tolist() == [1.0]
    with pytest.raises(ColumnError, match="values=9 is not a column"):
        sums_of(9, epsilon=0.5, bounds=BOUNDS, data=data)
    with pytest.raises(ArgumentError, match="values must be the name of a column"):
        sums_of([0], epsilon=0.5, bounds=BOUNDS, data=data)
    with pytest.raises(ArgumentError, match="values must be the name of a column"):
        sums_of(0, epsilon=0.5, bounds=BOUNDS, data=pl.DataFrame({"0": [1.0, 2.0]}))
    for odd in (pl.col("v"), pd.NA, data[0], np.ones(3), {0}, None):
        for frame_ in (data, pa.table({"v": [1.0, 2.0]})):
            with pytest.raises(ArgumentError, match="values must be the name of a column"):
                sums_of(odd, epsilon=0.5, bounds=BOUNDS, data=frame_)
    with pytest.raises(DataError, match="person=2 has rows without a person"):
        sums_of(0, epsilon=0.5, bounds=BOUNDS, data=data.replace(7, np.nan), person=2)


def test_names_that_come_twice() -> None:
    import duckdb

    columns = [[0.25, 1.0], [0.5, 0.5], [7.0, 8.0]]
    names = ["v", "e", "e"]
    arrow = pa.table(columns, names=names)
    pandas = pd.DataFrame(np.array(columns).T, columns=names)
    relation = duckdb.sql("SELECT 0.25::DOUBLE AS v, 0.5 AS e, 7.0 AS e UNION ALL SELECT 1, 0.5, 8")
    for data in (arrow, pandas, relation):
        with pytest.raises(ColumnError, match="epsilon='e' is the name of 2 columns"):
            sums_of("v", epsilon="e", bounds=BOUNDS, data=data)
        found = sums_of("v", epsilon=0.5, bounds=BOUNDS, data=data)
        assert counted(found) == ([0.5], [2], [2**28 + 2**30])


@pytest.mark.parametrize(
    "days",
    [
        [datetime.date(2020, 1, 1)] * 2,
        np.array(["2020-01-01"] * 2, dtype="datetime64[D]"),
        pl.Series([datetime.datetime(2020, 1, 1)] * 2),
        pd.Series(pd.to_datetime(["2020-01-01"] * 2)),
        pa.array([datetime.timedelta(1)] * 2),
    ],
    ids=lambda days: type(days).__name__,
)
def test_dates_are_called_dates(days: Any) -> None:
    with pytest.raises(ColumnError, match=r"dates or times.*days since a fixed day"):
        sums_of(days, epsilon=1.0, bounds=BOUNDS)
    with pytest.raises(ColumnError, match="dates or times"):
        sums_of("d", epsilon=1.0, bounds=BOUNDS, data=pd.DataFrame({"d": days}))
