"""Names and numbers of all kinds pass through SQL queries unchanged."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons.door.engines.table import DIALECTS
from tests.door.asking import cells_of, moments_of

Put = Callable[[pl.DataFrame], Any]


@pytest.fixture(params=["duckdb", "spark"])
def put(request: pytest.FixtureRequest) -> Put:
    """Return a function that creates a table on an engine with SQL."""
    if request.param == "duckdb":
        connection = duckdb.connect()
        return lambda frame: connection.from_arrow(frame.to_arrow())
    session = request.getfixturevalue("spark")
    return lambda frame: session.createDataFrame(frame.to_arrow())


NAMES = [
    'a "quoted" name',
    "with ` ticks `",
    "a.b",
    "a·b",
    "it's",
    "; DROP",
    "**",
    "--",
    "{0}",
    "ε",
]
CASES = ["A.B", "a·b", "other"]
OUR_OWN = ["x", "e", "key", "v", "size", "valid", "of"]


@pytest.mark.rotates(5)
@pytest.mark.parametrize("names", [NAMES, CASES, OUR_OWN], ids=["odd", "cases", "ours"])
def test_names_are_names(put: Put, names: list[str]) -> None:
    rng = np.random.default_rng(3)
    given = {
        "value": rng.uniform(-10, 110, 200),
        "budget": rng.choice([0.5, 1.0, 1.5], 200),
        "word": rng.choice(["a", "b"], 200),
    }
    plain = pl.DataFrame(given)
    told: Any = moments_of("value", epsilon="budget", bounds=(0, 100), data=plain)
    in_cells = cells_of("word", epsilon="budget", categories=["a", "b"], data=plain)
    for place, name in enumerate(names):
        # Each name is used once for values and once for budgets. No other columns are used.
        others = {each: np.full(200, 0.25) for each in names}
        budget = names[place - 1]
        table = put(pl.DataFrame(others | {name: given["value"], budget: given["budget"]}))
        found: Any = moments_of(name, epsilon=budget, bounds=(0, 100), data=table)
        for field in ("levels", "counts", "sums", "squares"):
            np.testing.assert_array_equal(getattr(found, field), getattr(told, field))
        table = put(pl.DataFrame(others | {name: given["word"], budget: given["budget"]}))
        cells = cells_of(name, epsilon=budget, categories=["a", "b"], data=table)
        np.testing.assert_array_equal(cells.cells, in_cells.cells)


def test_a_quotation_mark_in_a_name_is_doubled() -> None:
    assert DIALECTS["duckdb"].name('a"b') == '"a""b"'
    assert DIALECTS["spark"].name("a`b") == "`a``b`"


def test_numbers_are_read_to_their_last_digit(put: Put) -> None:
    rng = np.random.default_rng(4)
    numbers: list[float] = [0.0, 0.1, 1 / 3, 2.0**53 + 2, 5e-324, 1e-310, math.pi * 1e300, 1e22]
    numbers += [struct.unpack("d", rng.bytes(8))[0] for _ in range(300)]
    # Numbers from 1e-6 to 1e6 with many digits. If they were parsed as decimals and then cast, they
    # would be rounded twice.
    numbers += list(rng.uniform(0, 1, 300) * 10.0 ** rng.integers(-6, 7, 300))
    numbers = [number for number in numbers if math.isfinite(number)]
    numbers += [-number for number in numbers]
    table = nw.from_native(put(pl.DataFrame({"one": [1]})))
    sql = DIALECTS["duckdb" if "duckdb" in str(type(table.to_native())).lower() else "spark"]
    texts = [f"{sql.number(number)} AS n{k}" for k, number in enumerate(numbers)]
    found = sql.selected(table.lazy(), texts).collect()
    assert [found[f"n{k}"].to_list()[0] for k in range(len(numbers))] == numbers


BOUNDS = [
    (0.0, 1.0),
    (-7.0, 3.25),
    (1e-3, 1e-3 + 1e-12),
    (-1e9, 0.1),
    (1e300, 1.1e300),
    (-1, 2**60),
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_values_at_and_beyond_bounds_of_every_size(put: Put, bounds: tuple[float, float]) -> None:
    lo, hi = bounds
    rng = np.random.default_rng(5)
    inside = lo + (hi - lo) * rng.uniform(0, 1, 500)
    near = [lo, hi, math.nextafter(lo, math.inf), math.nextafter(hi, -math.inf), 0.0, -0.0]
    far = [-math.inf, math.inf, math.nan, 1e308, -1e308, 5e-324, 2.0**600, -(2.0**600)]
    values = pl.Series("v", [*inside, *near, *far, None], dtype=pl.Float64)
    budgets = rng.choice([0.5, 2.0], len(values))
    frame = pl.DataFrame({"v": values, "b": budgets})
    asked: dict[str, Any] = {"epsilon": "b", "bounds": bounds, "missing": "midpoint"}
    found: Any = moments_of("v", data=put(frame), **asked)
    told: Any = moments_of(
        values.fill_null(math.nan).to_numpy(),
        **asked | {"epsilon": budgets},
    )
    for field in ("levels", "counts", "sums", "squares"):
        np.testing.assert_array_equal(getattr(found, field), getattr(told, field))
