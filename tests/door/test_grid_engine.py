"""Grid expressions on engines give the same integers as NumPy, for any floats and any bounds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons.door.count.tallies import GRID, squares, to_grid
from epsilons.door.engines.grid_engine import NUMBERS, is_moderate, on_grid, with_squares
from epsilons.door.given import columns
from epsilons.types import Floats

MODERATE = [(0.0, 100.0), (-3.0, 7.0), (0.1, 0.3), (-1e-9, 1e-9), (5.0, 5.0 + 1e-9), (-9e99, 8e99)]
OTHERS = [(-1e300, 1e300), (0.0, 1e-200), (1e200, 1.1e200), (-1e-250, 1e-250)]


def any_floats(bounds: tuple[float, float]) -> Floats:
    """Return floats of all magnitudes, near the ends of the grid, and midway between its points."""
    rng = np.random.default_rng(3)
    lo, hi = bounds
    anything = rng.integers(0, 2**64, 4000, dtype=np.uint64).view(np.float64)
    inside = lo + (hi - lo) * rng.uniform(-0.2, 1.2, 4000)
    middles = lo + (hi - lo) / GRID * (rng.integers(-2, GRID + 2, 4000) + 0.5)
    ends = [0.0, -0.0, lo, hi, math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 2.0**500]
    near = np.concatenate([inside, middles, np.array(ends)])
    beside = [near, np.nextafter(near, math.inf), np.nextafter(near, -math.inf), anything]
    return np.concatenate(beside)


def on(engine: str, frame: pl.DataFrame, folder: Path) -> Any:
    """Return a table on an engine, read from a file with column statistics."""
    path = folder / "rows.parquet"
    frame.write_parquet(path, statistics=True)
    return duckdb.read_parquet(str(path)) if engine == "duckdb" else pl.scan_parquet(path)


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("bounds", MODERATE + OTHERS, ids=str)
def test_any_float_is_where_numpy_puts_it(
    engine: str, bounds: tuple[float, float], tmp_path: Path
) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        values = any_floats(bounds)
        grid, valid = to_grid(values, bounds)
    rows = pl.DataFrame({"row": np.arange(float(values.size)), "value": values})
    table = columns.read("value", "row", on(engine, rows, tmp_path), None, "numbers", None, [])
    row = table.epsilon  # Columns are renamed internally, so budgets identify the rows.
    assert isinstance(row, str)
    found = table.frame.select(row, *on_grid(table, table.values, bounds)).collect().sort(row)
    expected = [int(g) if there else None for g, there in zip(grid, valid, strict=True)]
    assert found["x"].to_list() == expected
    if engine == "duckdb" and is_moderate(bounds):
        asked = [("x", f'"{table.values}"', bounds)]
        found = NUMBERS["duckdb"](table.frame, asked, [f'"{row}"']).collect().sort(row)
        assert found["x"].to_list() == expected


def test_bounds_of_either_sign_can_be_too_far_away() -> None:
    assert [bounds for bounds in MODERATE if not is_moderate(bounds)] == []
    others = [*OTHERS, (0.0, 2.0**410), (-(2.0**410), 0.0)]
    assert [bounds for bounds in others if is_moderate(bounds)] == []


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_nan_that_no_extreme_tells_of_is_missing(engine: str, tmp_path: Path) -> None:
    rows = pl.DataFrame({"row": [0.0, 1.0, 2.0, 3.0], "value": [1.0, math.nan, None, 2.0]})
    table = columns.read("value", "row", on(engine, rows, tmp_path), None, "numbers", None, [])
    row = table.epsilon
    assert isinstance(row, str)
    asked = nw.col(row) < 3
    for flag, last in ((None, GRID // 2), (asked, None)):
        found = table.frame.select(
            row, *on_grid(table, table.values, (0.0, 4.0), asked=flag)
        ).collect()
        assert found.sort(row)["x"].to_list() == [GRID // 4, None, None, last]
    if engine == "duckdb":
        asked_of = [("x", f'"{table.values}"', (0.0, 4.0))]
        found = NUMBERS["duckdb"](table.frame, asked_of, [f'"{row}"']).collect()
        assert found.sort(row)["x"].to_list() == [GRID // 4, None, None, GRID // 2]


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_squares_are_those_of_numpy(engine: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    places = np.concatenate([[0, 1, GRID // 2, GRID - 1, GRID], rng.integers(0, GRID, 3000)])
    rows = pl.DataFrame({"x": places, "valid": np.arange(places.size) % 2})
    frame: nw.LazyFrame[Any] = nw.from_native(on(engine, rows, tmp_path)).lazy()
    found = with_squares(frame, [("x", None, "all"), ("x", "valid", "some")]).collect()
    x = np.array(found["x"].to_list(), dtype=np.int64)
    assert found["all"].to_list() == squares(x).tolist()
    assert found["some"].to_list() == (squares(x) * np.array(found["valid"].to_list())).tolist()
