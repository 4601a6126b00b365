"""Allocations, mechanisms and counts are kept in memory, and depend on every argument."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.budgets import allocation as allocations
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Budgets, Ladder
from epsilons.draws.mechanisms import LevelCounts, build, build_histogram, build_moments
from epsilons.draws.mechanisms.add_remove import SHARE, STRICT
from epsilons.questions.steps import ways
from epsilons.risk.goals import CellsGoal, MeanGoal, claimed
from epsilons.risk.weighing import Assumption
from epsilons.types import Neighbours

BUDGETS = (Budgets({0.1: 20, 1.0: 180}), Budgets({0.1: 21, 1.0: 180}), Budgets({0.2: 20, 1.0: 180}))
GOALS = tuple(
    MeanGoal(Assumption(about, related), loss, confidence, spread)
    for about, related, loss, confidence, spread in itertools.product(
        ("people", "population"), (True, False), ("mse",), (0.8, 0.95), (0.1, 0.5)
    )
)


def test_every_allocation_is_the_one_that_is_computed() -> None:
    asked = list(itertools.product(BUDGETS, GOALS, ("auto", "uniform")))
    kept = [allocate_for(*each) for each in asked]
    for each, found in zip(asked, kept, strict=True):
        fresh, again = allocations._allocated(*each), allocate_for(*each)
        for one in (found, again):
            assert np.array_equal(one.spent, fresh.spent)
            assert (one.risk, one.aimed, one.method, one.goal) == (
                *(fresh.risk, fresh.aimed, fresh.method),
                each[1],
            )
        assert claimed(found.weighing, each[1]) == each[1].worst.risk(fresh.weighing)


def test_one_allocation_and_one_mechanism_serve_a_plan_and_its_release() -> None:
    one = allocate_for(Budgets({0.1: 20, 1.0: 180}), GOALS[0], "auto")
    two = allocate_for(Budgets({0.1: 20, 1.0: 180}), GOALS[0], "auto")
    assert one is two
    assert build(one, grid=2**30, bounds=(0.0, 1.0)) is build(two, grid=2**30, bounds=(0.0, 1.0))
    assert not one.spent.flags.writeable
    assert not one.weights.flags.writeable


def test_a_mechanism_has_its_own_bounds_grid_and_unit() -> None:
    one = allocate_for(BUDGETS[0], GOALS[0], "auto")
    for make in (build, build_moments):
        for bounds, grid in itertools.product([(0.0, 1.0), (0.0, 2.0)], [2**20, 2**30]):
            made = make(one, grid=grid, bounds=bounds)
            assert (made.bounds, made.grid) == (bounds, grid)
    cells = allocate_for(BUDGETS[0], CellsGoal(Assumption("people", True), "mse", 0.95, 4), "auto")
    assert [build_histogram(cells, unit=unit).reach for unit in (1, 8)] == [1, 8]


def test_allocations_of_many_levels_are_not_kept() -> None:
    levels = np.linspace(0.1, 1.0, allocations._FEW + 1)
    many = Budgets.of_levels(levels, np.ones(levels.size, dtype=np.int64))
    assert allocate_for(many, GOALS[0], "auto") is not allocate_for(many, GOALS[0], "auto")


def test_every_count_of_people_is_the_one_that_is_computed() -> None:
    ladders = [Ladder.declare(np.array(each)) for each in ([0.1, 1.0], [0.2, 1.0])]
    ladders.append(Ladder.up_to(2.0))
    asked = list(itertools.product(ladders, (None, 0.5), (SHARE, STRICT)))
    for _ in range(2):
        for ladder, cap, strict in asked:
            kept = ways._counting(ladder.levels.tobytes(), ladder.fine, cap, strict)
            fresh = LevelCounts.of(ladder, cap, strict)
            assert (kept.rates, kept.losses) == (fresh.rates, fresh.losses)
            assert np.array_equal(kept.levels, ladder.levels)


VALUES, EACH = np.linspace(0.0, 1.0, 60), np.resize([0.1, 1.0, 1.0], 60)


def arrays_in(held: object, seen: dict[int, object]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield all arrays that an object of the package holds, directly or in other objects."""
    if id(held) in seen:
        return
    seen[id(held)] = held
    if isinstance(held, np.ndarray):
        yield held
    parts: list[object] = []
    if isinstance(held, (tuple, list)):
        parts = list(held)
    elif isinstance(held, dict):
        parts = [*held.keys(), *held.values()]
    elif type(held).__module__.startswith("epsilons") and hasattr(held, "__dict__"):
        parts = list(vars(held).values())
    for part in parts:
        yield from arrays_in(part, seen)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("statistic", ["mean", "groups", "frequencies"])
def test_what_releases_share_cannot_be_changed(statistic: str, neighbours: Neighbours) -> None:
    terms: dict[str, Any] = {"epsilon": EACH, "neighbours": neighbours}
    terms |= {"levels": [0.1, 1.0]} if neighbours == "add-remove" else {}
    labels = [k % 2 for k in range(60)]
    if statistic == "frequencies":
        release = ep.frequencies(labels, categories=[0, 1], **terms)
    else:
        by = {"by": labels, "groups": [0, 1]} if statistic == "groups" else {}
        release = ep.mean(VALUES, bounds=(0, 1), **by, **terms)
    assert ep.verify.exact(release.mechanism).holds
    assert str(release)  # which computes what is kept with a mechanism
    found = list(arrays_in(release.mechanism, {}))
    assert found
    assert not [array for array in found if array.flags.writeable]


def test_a_bound_keeps_the_sign_of_zero() -> None:
    """Questions in a ledger are compared as text, and a release states what was asked."""
    for bounds in ((-0.0, 1.0), (0.0, 1.0), (-1.0, -0.0), (-1.0, 0.0)):
        release = ep.mean(VALUES, epsilon=EACH, bounds=bounds)
        for held in (release.estimate, release.mechanism):
            assert str(vars(held)["bounds"]) == str(bounds)


def test_an_allocation_keeps_few_mechanisms() -> None:
    one = allocate_for(BUDGETS[0], GOALS[0], "auto")
    for k in range(40):
        build(one, grid=2**30, bounds=(0.0, 1.0 + k))
    assert len(vars(one)["_remembered"]) <= frozen._SHARED


def test_a_release_does_not_hold_the_weights_of_everyone() -> None:
    weights = np.linspace(1.0, 3.0, 60)
    terms: dict[str, Any] = {"about": "population", "related": False}
    release = ep.mean(VALUES, epsilon=EACH, weights=weights, bounds=(0, 1), **terms)
    assert b"ClassGoal" not in pickle.dumps(release)
