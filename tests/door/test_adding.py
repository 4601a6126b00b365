"""Aggregates written as SQL equal the aggregates of Narwhals."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import narwhals as nw
import polars as pl
import pytest

from epsilons.budgets.levels import keys
from epsilons.door.engines.expressions import Aggregate, added_up, with_key

ROWS = pl.DataFrame(
    {
        "e": [0.5, 0.5001, 1.0, -0.0, 0.0, math.inf, math.nan, None, 5e-324, -1.0],
        "v": ["a", "b", "b", "a", "a", None, "a", "b", "a", "a"],
        "x": [1, 2**40, None, None, None, 7, 8, 9, 10, 11],
    }
)
TOTALS: dict[str, Aggregate] = {
    "size": ("", "rows"),
    "valid": ("x", "count"),
    "sum": ("x", "sum"),
    "least": ("x", "min"),
    "most": ("x", "max"),
}


@pytest.fixture(params=["duckdb", "spark"])
def rows(request: pytest.FixtureRequest) -> nw.LazyFrame[Any]:
    if request.param == "duckdb":
        table = ROWS.to_arrow()
        return nw.from_native(duckdb.from_arrow(table))
    session = request.getfixturevalue("spark")
    return nw.from_native(session.createDataFrame(ROWS.to_arrow()))


def found(groups: nw.LazyFrame[Any]) -> list[str]:
    """Return the groups as sorted text. NaN equals itself only as text."""
    return sorted(map(repr, groups.collect().to_polars().rows()))


@pytest.mark.parametrize("by", [[], ["v"], ["e", "v"]], ids=["all", "by label", "by two"])
def test_one_text_is_the_same_as_narwhals(rows: nw.LazyFrame[Any], by: list[str]) -> None:
    if "e" in by:
        rows = rows.filter(nw.col("e") > 0.0)
    other = nw.from_native(ROWS.lazy())
    if "e" in by:
        other = other.filter(nw.col("e") > 0.0)
    assert found(added_up(rows, by, TOTALS)) == found(added_up(other, by, TOTALS))


def test_keys_are_those_of_arrays(rows: nw.LazyFrame[Any]) -> None:
    totals: dict[str, Aggregate] = {"size": ("", "rows"), "e": ("e", "min")}
    usable = rows.filter((nw.col("e") >= 0.0) & ~nw.col("e").is_nan())
    groups = added_up(with_key(usable), ["key"], totals).collect().to_polars()
    own = keys(ROWS["e"].drop_nulls().to_numpy()[[0, 1, 2, 3, 4, 5, 7]])
    expected: dict[float, int] = {}
    for key in own.tolist():
        expected[key] = expected.get(key, 0) + 1
    levels = keys(groups["e"].to_numpy())
    assert dict(zip(levels.tolist(), groups["size"].to_list(), strict=True)) == expected
    zero = groups.filter(pl.col("e") == 0.0)["e"].to_list()
    assert [math.copysign(1.0, each) for each in zero] == [1.0]
