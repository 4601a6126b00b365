"""The tables of these tests on every engine, and a reference that shares no code with the tally."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from epsilons.tally import Tally, columns, tally_mean

STEPS = 1073741824
BACKENDS = [
    "numpy",
    "pandas",
    "pandas nullable",
    "pandas on arrow",
    "pandas by itself",
    "pyarrow by itself",
    "polars",
    "polars lazy",
    "pyarrow",
    "duckdb",
    "csv",
    "parquet",
]
SPARK = "pyspark"


Rows = tuple[list[float | None], list[float], list[str]]  # values, budgets, people
Counted = tuple[list[float], list[int], list[int]]  # levels, counts, sums


def as_lists(tally: Tally) -> Counted:
    return tally.levels.tolist(), tally.counts.tolist(), tally.sums.tolist()


def grid(value: float, bounds: tuple[float, float]) -> int:
    lo, hi = bounds
    clipped = hi if value > hi else lo if value < lo else value
    step = math.floor((clipped - lo) * (STEPS / (hi - lo)) + 0.5)
    return max(0, min(STEPS, step))


def nine_bits(budget: float) -> float:
    """The budget rounded to nine significant bits, without Veltkamp's trick."""
    if budget == 0.0 or math.isinf(budget):
        return abs(budget)
    mantissa, exponent = math.frexp(budget)
    return math.ldexp(round(mantissa * 512) / 512, exponent)


def count(rows: Rows, bounds: tuple[float, float], *, person: bool) -> Counted:
    """Reference: dictionaries and Python integers; missing values at the middle."""
    own: dict[Any, list[float | None]] = {}
    budget: dict[Any, float] = {}
    for index, (value, epsilon, who) in enumerate(zip(*rows, strict=True)):
        key = who if person else index
        own.setdefault(key, []).append(value)
        budget[key] = epsilon
    found: dict[float, tuple[float, int, int]] = {}
    for key, values in own.items():
        steps = [grid(v, bounds) for v in values if v is not None and math.isfinite(v)]
        r = len(steps)
        mean = (2 * sum(steps) + r) // (2 * r) if r else STEPS // 2
        near = nine_bits(budget[key])
        least, n, total = found.get(near, (math.inf, 0, 0))
        found[near] = (min(least, budget[key]), n + 1, total + mean)
    ordered = sorted(found.values())
    return [a for a, _, _ in ordered], [b for _, b, _ in ordered], [c for _, _, c in ordered]


@pytest.fixture
def reference() -> Callable[..., Counted]:
    return count


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Counted]:
    """A function that tallies rows on one engine of those that answer in milliseconds."""
    return runner(request, tmp_path)


@pytest.fixture(params=[*BACKENDS, SPARK])
def run_everywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Counted]:
    """A function that tallies rows on one engine, Spark among them."""
    return runner(request, tmp_path)


def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Counted]:
    name: str = request.param
    if name.endswith("by itself"):  # as where the frame cannot be handed to Polars
        patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
        patch.setattr(columns, "_into_polars", lambda table: table.frame)

    def tally(
        rows: Rows,
        bounds: tuple[float, float],
        *,
        person: bool = False,
        missing: str = "midpoint",
        epsilon: float | None = None,
    ) -> Counted:
        values, budgets, people = rows
        if name == "numpy":
            return as_lists(
                tally_mean(
                    values,
                    epsilon=budgets if epsilon is None else epsilon,
                    bounds=bounds,
                    person=people if person else None,
                    missing=missing,
                )
            )
        return as_lists(
            tally_mean(
                "income",
                epsilon="budget" if epsilon is None else epsilon,
                bounds=bounds,
                data=frame(name, rows, tmp_path, request),
                person="who" if person else None,
                missing=missing,
            )
        )

    return tally


def frame(name: str, rows: Rows, directory: Path, request: pytest.FixtureRequest) -> Any:
    values, budgets, people = rows
    table: dict[str, list[Any]] = {"other": ["x"] * len(values), "who": list(people)}
    table |= {"income": list(values), "budget": list(budgets)}
    if name.startswith("pandas"):
        import pandas as pd

        pandas = pd.DataFrame(table).astype({"income": "float64", "budget": "float64"})
        if name == "pandas nullable":
            return pandas.convert_dtypes()
        return pandas.convert_dtypes(dtype_backend="pyarrow") if "arrow" in name else pandas
    import polars as pl

    numbers = {"income": pl.Float64, "budget": pl.Float64}
    polars = pl.DataFrame(table, schema_overrides=numbers)
    if name == "pyspark":
        return request.getfixturevalue("spark").createDataFrame(polars.to_arrow())
    if name.startswith("pyarrow"):
        return polars.to_arrow()
    if name == "duckdb":
        import duckdb

        return duckdb.from_arrow(polars.to_arrow())
    if name == "csv":
        polars.write_csv(directory / "rows.csv")
        return str(directory / "rows.csv")
    if name == "parquet":
        polars.write_parquet(directory / "rows.parquet")
        return directory / "rows.parquet"
    return polars.lazy() if name == "polars lazy" else polars
