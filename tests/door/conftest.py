"""Test tables on every engine, and a reference that shares no code with the tally."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from epsilons.door import Tally
from epsilons.door.given import columns
from tests import engines
from tests.door.asking import moments_of, sums_of
from tests.engines import QUICK, SLOW

STEPS = 1073741824
BACKENDS = ["numpy", *QUICK, "pandas by itself", "pyarrow by itself"]
"""Ways to count that start quickly; "by itself": without being moved to Polars first."""

EVERYWHERE = [*BACKENDS, *SLOW]

Rows = tuple[list[float | None], list[float], list[str]]  # a table: values, budgets, people
Counted = tuple[list[float], list[int], list[int]]  # a tally: levels, counts, sums (or squares)


def declared_as(cells: list[Any]) -> dict[str, Any]:
    """Return cells as a keyword argument: bins if they are floats or pairs, else categories."""
    return {"edges" if isinstance(cells[0], (float, tuple)) else "categories": cells}


def as_lists(tally: Tally) -> Counted:
    return tally.levels.tolist(), tally.counts.tolist(), tally.sums.tolist()


def squares_as_lists(tally: Tally) -> Counted:
    return tally.levels.tolist(), tally.counts.tolist(), tally.squares.tolist()


def itself(mean: int) -> int:
    return mean


def square(mean: int) -> int:
    """Return the squared distance of a person's mean from the midpoint, on the grid."""
    return (2 * mean - STEPS) ** 2 // (4 * STEPS)


def grid(value: float, bounds: tuple[float, float]) -> int:
    lo, hi = bounds
    clipped = hi if value > hi else lo if value < lo else value
    step = math.floor((clipped - lo) * (STEPS / (hi - lo)) + 0.5)
    return max(0, min(STEPS, step))


def in_public_range(budget: float) -> float:
    """Return a budget clipped to the public range: 0 below 2⁻⁶⁰, at most 2²⁰ if finite."""
    if budget * 1152921504606846976 < 1.0:
        return 0.0
    return budget if math.isinf(budget) else min(budget, 1048576.0)


def nine_bits(budget: float) -> float:
    """Return a budget rounded to nine significant bits, without Veltkamp's splitting."""
    if budget == 0.0 or math.isinf(budget):
        return abs(budget)
    mantissa, exponent = math.frexp(budget)
    return math.ldexp(round(mantissa * 512) / 512, exponent)


def count(
    rows: Rows,
    bounds: tuple[float, float],
    *,
    person: bool,
    added: Callable[[int], int] = itself,
) -> Counted:
    """Count with dictionaries and Python integers. Missing values are replaced by the midpoint."""
    own: dict[Any, list[float | None]] = {}
    budget: dict[Any, float] = {}
    for index, (value, epsilon, who) in enumerate(zip(*rows, strict=True)):
        key = who if person else index
        own.setdefault(key, []).append(value)
        budget[key] = in_public_range(epsilon)
    found: dict[float, tuple[float, int, int]] = {}
    for key, values in own.items():
        steps = [grid(v, bounds) for v in values if v is not None and math.isfinite(v)]
        r = len(steps)
        mean = (2 * sum(steps) + r) // (2 * r) if r else STEPS // 2
        near = nine_bits(budget[key])
        least, n, total = found.get(near, (math.inf, 0, 0))
        found[near] = (min(least, budget[key]), n + 1, total + added(mean))
    ordered = sorted(found.values())
    return [a for a, _, _ in ordered], [b for _, b, _ in ordered], [c for _, _, c in ordered]


@pytest.fixture
def reference() -> Callable[..., Counted]:
    return count


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Counted]:
    """Return a function that counts rows on one of the fast engines."""
    return runner(request, tmp_path)


@pytest.fixture(params=EVERYWHERE)
def run_everywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Counted]:
    """Return a function that counts rows on one engine, including slow ones such as Spark."""
    return runner(request, tmp_path)


def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Counted]:
    name: str = request.param

    def tally(
        rows: Rows,
        bounds: tuple[float, float],
        *,
        person: bool = False,
        missing: str = "midpoint",
        epsilon: float | None = None,
        squares: bool = False,
    ) -> Counted:
        values, budgets, people = rows
        ask, lists = (moments_of, squares_as_lists) if squares else (sums_of, as_lists)
        if name == "numpy":
            return lists(
                ask(
                    values,
                    epsilon=budgets if epsilon is None else epsilon,
                    bounds=bounds,
                    person=people if person else None,
                    missing=missing,
                )
            )
        return lists(
            ask(
                "income",
                epsilon="budget" if epsilon is None else epsilon,
                bounds=bounds,
                data=frame(name, rows, tmp_path, request),
                person="who" if person else None,
                missing=missing,
            )
        )

    return tally


def by_itself(name: str, request: pytest.FixtureRequest) -> None:
    """Prevent the conversion to Polars, if the engine is to count rows by itself."""
    if name.endswith("by itself"):
        patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
        patch.setattr(columns, "moved", lambda table: table)


def frame(name: str, rows: Rows, directory: Path, request: pytest.FixtureRequest) -> Any:
    by_itself(name, request)
    values, budgets, people = rows
    table: dict[str, list[Any]] = {"other": ["x"] * len(values), "who": list(people)}
    table |= {"income": list(values), "budget": list(budgets)}
    if name.startswith("pandas"):
        import pandas as pd

        pandas = pd.DataFrame(table).astype({"income": "float64", "budget": "float64"})
        if name == "pandas nullable":
            return pandas.convert_dtypes()
        return pandas.convert_dtypes(dtype_backend="pyarrow") if "arrow" in name else pandas
    numbers = {"income": pl.Float64, "budget": pl.Float64}
    return on_engine(name, pl.DataFrame(table, schema_overrides=numbers), directory, request)


def on_engine(
    name: str, table: pl.DataFrame, directory: Path, request: pytest.FixtureRequest
) -> Any:
    """Return the same rows as a frame of another engine, or as a file."""
    by_itself(name, request)
    plain = name.removesuffix(" by itself")
    return engines.on_engine(plain, table, directory, lambda: request.getfixturevalue("spark"))
