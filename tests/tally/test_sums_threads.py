"""Many rows in arrays, counted in threads: the integers of NumPy's one pass over all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.tally import opening, sums_engine, sums_numpy, sums_threads
from epsilons.tally.arrays import Arrays
from epsilons.tally.levels import BAD_BUDGET, SumGroups

BOUNDS = (-1.0, 3.0)


def sorted_groups(groups: SumGroups) -> dict[str, Any]:
    order = np.argsort(groups.levels)
    names = ("levels", "people", "sums", "missing", "conflicts", "nobody", "squares")
    found = {name: getattr(groups, name) for name in names}
    return {n: None if each is None else each[order].tolist() for n, each in found.items()}


def rows(seed: int, size: int, menu: list[float]) -> Arrays:
    rng = np.random.default_rng(seed)
    values = rng.normal(1.0, 1.5, size)
    values[rng.random(size) < 0.05] = rng.choice([math.nan, math.inf, -math.inf])
    return Arrays(values, np.array(menu)[rng.integers(0, len(menu), size)], None)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of seven rows and three threads, and a look at the budgets of ten rows."""
    monkeypatch.setattr(sums_threads, "PART", 7)
    monkeypatch.setattr(sums_threads, "PEEK", 10)
    monkeypatch.setattr(sums_threads, "_processors", lambda: 3)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("moments", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 6, 7, 8, 50, 300])
@pytest.mark.parametrize(
    "menu",
    [
        [0.5],
        [0.0, -0.0, 1.0, 1.0 + 1e-9, math.inf],
        [math.nan, -1.0, 0.1, 2.0],
        np.geomspace(0.01, 10.0, 40).tolist(),
    ],
)
def test_threads_count_what_one_pass_counts(menu: list[float], size: int, moments: int) -> None:
    for seed in range(5):
        given = rows(seed, size, menu)
        mine = sums_threads.count(given, BOUNDS, None, moments)
        assert mine is not None
        theirs = sums_numpy.count(given, BOUNDS, None, moments).groups
        assert sorted_groups(mine) == sorted_groups(theirs)
        assert mine.most.tolist() == [1]
        if not all(level >= 0.0 for level in menu) and size == 300:
            assert BAD_BUDGET in mine.levels


@pytest.mark.usefixtures("tiny")
def test_a_rule_is_put_on_the_grid_in_parts_too() -> None:
    given = rows(9, 100, [0.1, 0.2])
    mine = sums_threads.count(given, BOUNDS, lambda u: u * u, 2)
    assert mine is not None
    theirs = sums_numpy.count(given, BOUNDS, lambda u: u * u, 2).groups
    assert sorted_groups(mine) == sorted_groups(theirs)


def test_an_engine_counts_many_budgets_one_for_all_and_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.linspace(0.0, 1.0, 1000)
    own = np.geomspace(0.1, 1.0, 1000)
    assert sums_threads.count(None, BOUNDS) is None
    assert sums_threads.count(Arrays(values, 1.0, None), BOUNDS) is None
    assert sums_threads.count(Arrays(values, own, None), BOUNDS) is None
    assert sums_threads.count(Arrays(values[:0], own[:0], None), BOUNDS) is None
    few = np.full(1000, 0.5)
    assert sums_threads.count(Arrays(values, few, values // 2), BOUNDS) is None
    # Many of them are not among those that are looked at first.
    few[1::2] = own[1::2]
    monkeypatch.setattr(sums_threads, "PEEK", 500)
    assert sums_threads.count(Arrays(values, few, None), BOUNDS) is not None
    monkeypatch.setattr(sums_threads, "PART", 100)
    monkeypatch.setattr(sums_threads, "RARE", 99)
    assert sums_threads.count(Arrays(values, few, None), BOUNDS) is None


@pytest.mark.parametrize("many", [1, 2, 3, 50, 127, 128])
def test_every_budget_has_a_place_of_its_own(many: int) -> None:
    rng = np.random.default_rng(many)
    budgets = np.unique(rng.random(many)).view(np.uint64)
    places = sums_threads.Places.of(budgets)
    rank, there = places.find(budgets)
    assert there.all()
    assert rank.tolist() == list(range(many))
    others = rng.random(10_000).view(np.uint64)
    assert not places.find(others)[1].any()


def test_a_release_is_the_same_whoever_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "SMALL", 100)
    rng = np.random.default_rng(3)
    values, epsilon = rng.random(2000), rng.choice([0.1, 1.0], 2000)

    def drawn() -> float:
        found = ep.mean(values, epsilon=epsilon, bounds=(0, 1), source=ep.Seeded(5))
        return float(found.value)

    with monkeypatch.context() as without:
        without.setattr(sums_threads, "MOST", 0)
        asked = drawn()
    with monkeypatch.context() as engine:
        engine.setattr(sums_engine, "count", None)
        assert drawn() == asked


@pytest.mark.usefixtures("tiny")
def test_a_failure_stops_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def fails(*_: Any) -> Any:
        begun.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(sums_threads, "to_grid", fails)
    with pytest.raises(KeyboardInterrupt):
        sums_threads.count(rows(1, 300, [0.5]), BOUNDS)
    assert len(begun) <= 3
