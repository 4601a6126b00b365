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

import epsilons as ep
from epsilons.budgets.levels import Ladder
from epsilons.door import Ask, open as open_rows
from epsilons.door.count import line
from epsilons.door.count.line import ByWeight
from epsilons.door.engines import count_engine, line_engine, running
from epsilons.errors import BudgetError, DataError, MissingValueError
from tests.door.conftest import BACKENDS, frame
from tests.door.test_line import HARD, LEVELS, bucket, some_rows, two_bits

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
@pytest.mark.parametrize("window", [None, WINDOW])
def test_every_engine_adds_up_the_weights_of_plain_python(
    opened: Callable[..., tuple[line.Lined, bool]], window: line.Window | None
) -> None:
    rows = some_rows(3)
    weights = drawn(1, sorted({two_bits(e) for e in LEVELS}))
    found, looked_up = opened(rows, window)
    assert isinstance(found, ByWeight) or not looked_up
    at = bucket if window is None else cell
    expected = by_hand(rows[0], [two_bits(e) for e in rows[1]], weights, at)
    assert weighed(found, weights, two_bits) == expected
    counts = dict.fromkeys(found.levels.tolist(), 0)
    for epsilon in rows[1]:
        counts[min(e for e in rows[1] if two_bits(e) == two_bits(epsilon))] += 1
    assert dict(zip(found.levels.tolist(), found.counts.tolist(), strict=True)) == counts


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("window", [None, WINDOW])
def test_on_a_ladder_everyone_has_the_weight_of_their_rung(
    opened: Callable[..., tuple[line.Lined, bool]], window: line.Window | None
) -> None:
    """Everyone has the weight of their rung (budget level).

    The budget 0.26 is below the rung 0.3, although both have the same two-bit key.
    """
    values, _, people = some_rows(4)
    rng = random.Random(5)
    own = [0.05, 0.1, 0.26, 0.3, 0.9, 1.0, 7.0, 0.0, -1.0, math.inf, math.nan]
    rows = values, [rng.choice(own) for _ in values], people
    rungs = [0.1, 0.3, 1.0, 5.0]
    ladder = Ladder.declare(np.array(rungs))
    assert two_bits(0.26) == two_bits(0.3)
    found, looked_up = opened(rows, window, ladder=ladder)
    assert isinstance(found, ByWeight) or not looked_up
    weights = drawn(2, rungs)
    stands = [max((r for r in rungs if r <= e), default=0.0) for e in rows[1]]
    expected = by_hand(values, stands, weights, bucket if window is None else cell)
    assert found.levels.tolist() == rungs
    assert weighed(found, weights, float) == expected
    assert found.counts.tolist() == [stands.count(rung) for rung in rungs]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", ["polars", "duckdb"])
@pytest.mark.parametrize("ladder", [None, Ladder.up_to(2.0)])
def test_it_is_what_people_by_level_and_bucket_give(kind: str, ladder: Ladder | None) -> None:
    rng = np.random.default_rng(6)
    data: Any = pl.DataFrame(
        {"v": rng.choice(HARD, 4000), "e": rng.choice(rng.uniform(0.01, 3.0, 300), 4000)}
    )
    data = duckdb.sql("SELECT * FROM data") if kind == "duckdb" else data
    rows = open_rows("v", epsilon="e", data=data, missing="midpoint", ladder=ladder)
    found, other = rows.lines().line(), rows.line()
    assert isinstance(found, ByWeight)
    weights = rng.integers(0, 2**24, len(other.levels))
    for part in ("levels", "keys", "counts"):
        assert getattr(found, part).tolist() == getattr(other, part).tolist()
    for mine, theirs in zip(found.masses(weights), other.masses(weights), strict=True):
        assert mine.tolist() == theirs.tolist()
    assert rows.lines().levels().tolist() == rows.count(Ask("numbers", (0.0, 1.0))).levels.tolist()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", ["polars", "duckdb"])
def test_a_person_more_moves_one_bucket_by_their_weight(
    kind: str,
) -> None:
    ladder, weights = Ladder.declare(np.array([0.1, 1.0])), np.array([3, 10])

    def masses(people: list[tuple[float, float]]) -> dict[int, int]:
        data: Any = pl.DataFrame(people, schema=["v", "e"], orient="row")
        data = duckdb.sql("SELECT * FROM data") if kind == "duckdb" else data
        found = open_rows("v", epsilon="e", data=data, missing="midpoint", ladder=ladder)
        cells, total = found.lines().line().masses(weights)
        every = zip(cells.tolist(), total.tolist(), strict=True)
        return {place: mass for place, mass in every if mass}

    people = [(1.0, 0.1), (1.0, 2.0), (5.0, 0.5)]
    before = masses(people)
    for value, epsilon, weight in (
        (1.0, 1.0, 10), (1.0, 0.99, 3), (7.0, 0.1, 3), (5.0, 0.01, 0), (5.0, -0.0, 0),
        (5.0, math.nan, 0), (5.0, -3.0, 0), (math.nan, 1.0, 0), (5.0, math.inf, 10),
    ):  # fmt: skip
        after = masses([*people, (value, epsilon)])
        moved = {p: after.get(p, 0) - before.get(p, 0) for p in {*after, *before}}
        moved = {place: by for place, by in moved.items() if by}
        assert moved == ({bucket(value): weight} if weight else {})


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


@pytest.mark.parametrize("kind", ["polars", "duckdb"])
@pytest.mark.parametrize("shape", ["any", "gaussian"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_release_is_the_same_and_reads_values_as_often_as_needed(
    kind: str, shape: str, neighbours: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that are spread out are read twice: for the range, and for the mean.

    Where the shape is unknown, values that lie close together are read once more. Each window of a
    closer look is one more pass.
    """
    passes: list[list[str]] = []
    real = running.collected

    def watched(query: Any, passed: Any) -> Any:
        passes.append(query.collect_schema().names())
        return real(query, passed)

    monkeypatch.setattr(line_engine, "collected", watched)
    monkeypatch.setattr(count_engine, "collected", watched)
    monkeypatch.setattr(line, "LARGE", 0)
    rng = np.random.default_rng(5)
    menu = [0.05, 0.1, 0.3, 1.0, 2.0]
    terms: dict[str, Any] = {"bounds": None, "neighbours": neighbours}
    if neighbours == "add-remove":
        terms["levels"] = menu
    if shape == "gaussian":
        terms |= {"shape": "gaussian", "about": "population", "related": False}
    closer = int(shape == "any")
    for mu, sigma, more in ((50.0, 20.0, 0), (1000.0, 2.0, closer), (1e12, 2.0, closer + 2)):
        passes.clear()
        table = pl.DataFrame({"v": rng.normal(mu, sigma, 9000), "e": rng.choice(menu, 9000)})
        table.write_parquet(tmp_path / f"{mu}.parquet")
        path: Any = tmp_path / f"{mu}.parquet"
        data = duckdb.read_parquet(str(path)) if kind == "duckdb" else path
        found = ep.mean("v", epsilon="e", data=data, source=ep.Seeded(1), **terms)
        columns_read = [names for names in passes if names != ["e", "people"]]
        assert len(passes) == len(columns_read) + 1
        assert len(columns_read) == 2 + more
        plain = ep.mean(
            table["v"].to_numpy(), epsilon=table["e"].to_numpy(), source=ep.Seeded(1), **terms
        )
        assert (found.value, found.bounds) == (plain.value, plain.bounds)
        assert found.interval(0.9) == plain.interval(0.9)


@pytest.mark.usefixtures("way")
def test_one_of_two_weights_may_be_the_same_for_all() -> None:
    data = pl.DataFrame({"v": [1.0, 1.0, 2.0], "e": [0.1, 0.2, 1.0]})
    found = open_rows("v", epsilon="e", data=data).lines().line()
    assert isinstance(found, ByWeight)
    _, same, own = found.masses(np.array([5, 5, 5]), np.array([1, 20, 300]))
    assert (same.tolist(), own.tolist()) == ([10, 5], [21, 300])
