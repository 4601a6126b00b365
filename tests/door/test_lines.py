"""Sums of weights by bucket are the same integers on every engine and in plain Python."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.door import open as open_rows
from epsilons.door.count import line
from epsilons.door.count.line import ByWeight
from epsilons.door.engines import line_engine
from epsilons.errors import BudgetError, DataError, MissingValueError
from tests.door.conftest import BACKENDS, frame
from tests.door.test_line import bucket

Masses = dict[int, tuple[int, ...]]

WINDOW = line.Window(-4.0, 12.0, 64)
WEIGHED = ("pandas", "polars", "polars lazy", "polars scan", "pyarrow", "duckdb", "duckdb file")
"""Engines that look up weights. Other engines count people by level and bucket."""


def cell(value: float) -> int:
    return math.floor(max(-0.5, min(64.5, (value + 4.0) * 4.0)))


def by_hand(
    values: list[Any], levels: list[float], weights: list[dict[float, int]], at: Any
) -> Masses:
    """Return the expected sums, computed with dictionaries.

    A level without a weight has weight 0.
    """
    found: Masses = {}
    for value, level in zip(values, levels, strict=True):
        if value is None or not math.isfinite(value):
            continue
        place = at(value)
        sums = found.get(place, (0,) * len(weights))
        found[place] = tuple(s + w.get(level, 0) for s, w in zip(sums, weights, strict=True))
    return {place: sums for place, sums in found.items() if any(sums)}


def weighed(tallied: line.Lined, weights: list[dict[float, int]], level: Any) -> Masses:
    """Return the same weighted sums, computed from counted rows, without empty buckets."""
    own = [np.array([w.get(level(e), 0) for e in tallied.levels.tolist()]) for w in weights]
    cells, *sums = tallied.masses(*own)
    assert (np.diff(cells) > 0).all()
    every = zip(cells.tolist(), *(each.tolist() for each in sums), strict=True)
    return {place: tuple(found) for place, *found in every if any(found)}


def drawn(seed: int, levels: list[float]) -> list[dict[float, int]]:
    rng = random.Random(seed)
    return [{level: rng.randrange(2**24) for level in levels} for _ in range(2)]


@pytest.fixture(params=BACKENDS)
def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[..., tuple[line.Lined, bool]]:
    """Return a function that opens rows on one engine.

    That function returns the rows by bucket, and whether the engine looks up weights.
    """
    name: str = request.param

    def run(rows: Any, window: line.Window | None, **terms: Any) -> tuple[line.Lined, bool]:
        if name == "numpy":
            found = open_rows(rows[0], epsilon=rows[1], missing="midpoint", **terms)
        else:
            data = frame(name, rows, tmp_path, request)
            found = open_rows("income", epsilon="budget", data=data, missing="midpoint", **terms)
        return found.lines().line(window), name in WEIGHED

    return run


@pytest.fixture(params=[0, 100], ids=["looked up", "compared"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Select one of the two ways in which an engine finds the weight of a budget."""
    monkeypatch.setattr(line_engine, "RUNS", request.param)
    monkeypatch.setattr(line, "LARGE", 0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", ["polars", "duckdb"])
def test_two_zeros_are_one_budget(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data: Any = pl.DataFrame({"v": [1.0, 1.0, 2.0], "e": [0.0, -0.0, 1.0]})
    real = line_engine.budgets

    def apart(table: Any) -> Any:
        assert real(table) is not None
        return np.array([0.0, -0.0, 1.0]), np.array([1, 1, 1])  # engines may return both zeros

    monkeypatch.setattr(line_engine, "budgets", apart)
    data = duckdb.sql("SELECT * FROM data") if kind == "duckdb" else data
    found = open_rows("v", epsilon="e", data=data).lines().line()
    assert found.counts.tolist() == [2, 1]
    cells, masses = found.masses(np.array([7, 10]))
    assert dict(zip(cells.tolist(), masses.tolist(), strict=True)) == {
        bucket(1.0): 14,
        bucket(2.0): 10,
    }


def test_nobody_who_counts() -> None:
    ladder = Ladder.declare(np.array([0.1, 1.0]))
    for own in ([0.01, math.nan], []):
        data = pl.DataFrame({"v": own, "e": own}, {"v": pl.Float64, "e": pl.Float64})
        rows = open_rows("v", epsilon="e", data=data, missing="midpoint", ladder=ladder)
        found = rows.lines().line()
        assert isinstance(found, ByWeight)
        assert found.counts.tolist() == [0, 0]
        assert [each.tolist() for each in found.masses(*[np.array([1, 2])] * 2)] == [[], [], []]


def test_what_cannot_be_counted_is_refused() -> None:
    def rows(values: list[Any], own: list[Any], **terms: Any) -> line.Lines:
        data = pl.DataFrame({"v": values, "e": own}, strict=False)
        return open_rows("v", epsilon="e", data=data, **terms).lines()

    for bad in (-1.0, math.nan, None):
        with pytest.raises(BudgetError):
            rows([1.0, 2.0], [1.0, bad]).line()
    with pytest.raises(DataError):
        rows([1.0], [1.0]).line()
    for gone in (math.nan, math.inf, None):
        found = rows([1.0, 2.0, gone], [1.0, 1.0, 0.0]).line()
        with pytest.raises(MissingValueError, match="curator"):
            found.masses(np.array([0, 1]))
        with pytest.raises(MissingValueError, match="curator"):
            rows([1.0, 2.0, gone], [1.0, 1.0, 0.0]).line(WINDOW).masses(np.array([0, 1]))
        found = rows([1.0, 2.0, gone], [1.0, 1.0, 0.5], missing="midpoint").line()
        assert found.masses(np.array([1, 10]))[1].tolist() == [10, 10]


def test_where_budgets_are_many_people_are_counted_by_level_and_bucket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = pl.DataFrame({"v": [1.0] * 900, "e": np.linspace(0.1, 1.0, 900)})
    assert isinstance(open_rows("v", epsilon="e", data=data).lines().line(), line.Line)
    few = pl.DataFrame({"v": [1.0] * 900, "e": [0.1, 0.2, 0.3] * 300})
    assert isinstance(open_rows("v", epsilon="e", data=few).lines().line(), ByWeight)
    assert isinstance(open_rows("v", epsilon=1.0, data=few).lines().line(), line.Line)
    owned = open_rows("v", epsilon="e", data=few.with_row_index("who"), person="who")
    assert isinstance(owned.lines().line(), line.Line)
    monkeypatch.setattr(line_engine, "MOST", 2)
    assert isinstance(open_rows("v", epsilon="e", data=few).lines().line(), line.Line)


@pytest.mark.usefixtures("way")
def test_one_of_two_weights_may_be_the_same_for_all() -> None:
    data = pl.DataFrame({"v": [1.0, 1.0, 2.0], "e": [0.1, 0.2, 1.0]})
    found = open_rows("v", epsilon="e", data=data).lines().line()
    assert isinstance(found, ByWeight)
    _, same, own = found.masses(np.array([5, 5, 5]), np.array([1, 20, 300]))
    assert (same.tolist(), own.tolist()) == ([10, 5], [21, 300])
