"""If groups are public, everyone's loss is that of the mechanism of their own group."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.budgets.allocation import allocate_for
from epsilons.draws.mechanisms import Additive, Parallel, build, together
from epsilons.draws.noise import DiscreteLaplace
from epsilons.errors import PrivacyError
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED
from epsilons.verify.replaying.runs import Person, moved
from tests.tallied import halves, tallied

GRID = 2**30


def part(people: dict[float, int], method: str = "proportional") -> Additive:
    goal = MeanGoal(RELATED, "mse", 0.95)
    return build(allocate_for(ep.Budgets(people), goal, method), grid=GRID, bounds=(0.0, 10.0))


def made() -> Parallel:
    last = part({0.25: 2, 1.0: 3}, "uniform")  # people at ε = 1 lose more in the first group
    parts = (part({0.5: 3, 1.0: 4}), None, part({0.5: 1, 2.0: 5}, "uniform"), last)
    return Parallel(np.array([0.25, 0.5, 1.0, 2.0]), parts)


def tiny() -> Parallel:
    """Return two groups on a grid of two steps, with the budgets (½, 1) and (1, 1)."""

    def group(levels: list[float], counts: list[int]) -> Additive:
        weights = np.array([int(level * 4) for level in levels])
        return Additive(
            np.array(levels), np.array(counts), weights, 2, 2, DiscreteLaplace(4),
            Fraction(int(weights @ np.array(counts))), (0.0, 1.0),
        )  # fmt: skip

    return Parallel(np.array([0.5, 1.0]), (group([0.5, 1.0], [1, 1]), group([1.0], [2])))


def test_a_person_loses_what_the_most_expensive_group_takes() -> None:
    mechanism = made()
    verdict = ep.verify.exact(mechanism).require()
    assert verdict.neighbours == "replace"
    assert verdict.exact
    assert verdict.losses == mechanism.losses
    by_hand: dict[float, list[Any]] = {level: [] for level in mechanism.levels.tolist()}
    for each in filter(None, mechanism.parts):
        for level, loss in zip(each.levels.tolist(), each.losses, strict=True):
            by_hand[level].append(loss)
    assert mechanism.losses == tuple(max(losses) for losses in by_hand.values())
    assert min(mechanism.losses) > 0
    assert mechanism.weights.tolist() == [
        max(
            int(k)
            for each in filter(None, mechanism.parts)
            for own, k in zip(each.levels.tolist(), each.weights.tolist(), strict=True)
            if own == level
        )
        for level in mechanism.levels.tolist()
    ]


def table(people: list[tuple[int, int]], values: tuple[int, ...]) -> Any:
    sums = np.zeros((2, 2), dtype=np.int64)
    for (level, group), value in zip(people, values, strict=True):
        sums[level, group] += value
    return sums


def test_totals_and_estimates_are_those_of_each_group_alone() -> None:
    mechanism = made()
    rng = np.random.default_rng(1)
    sums = rng.integers(0, GRID, size=(4, 4))
    total = mechanism.total(halves(*sums.T))
    first, third = mechanism.parts[0], mechanism.parts[2]
    assert first is not None
    assert third is not None
    assert total == (
        first.point(sums[[1, 2], 0]),
        0,
        third.point(sums[[1, 3], 2]),
        mechanism.parts[3].point(sums[[0, 2], 3]),  # type: ignore[union-attr]
    )
    drawn = mechanism.draw(ep.Seeded(5), total=total)
    assert [type(each) for each in drawn] == [int] * 4
    assert drawn[1] == 0
    estimates = mechanism.estimates(drawn)
    assert math.isnan(estimates[1])
    assert estimates[2] == third.estimate(drawn[2])
    alone = ep.Seeded(5)
    expected = [
        0 if each is None else each.draw(alone, total=at)
        for each, at in zip(mechanism.parts, total, strict=True)
    ]
    assert list(drawn) == expected
    assert mechanism.draw(ep.Seeded(5), 3, total=total)[0].tolist() == expected


def test_draws_follow_the_laws_and_totals_stay_where_they_are() -> None:
    ep.verify.draws(made()).require()


def test_a_person_who_is_counted_in_two_groups_is_caught() -> None:
    class Twice(Parallel):
        def total(self, tally: Any) -> tuple[int, ...]:
            cells = tally.cells
            return super().total(tallied(cells=cells + np.roll(cells, 4, axis=1)))

    wrong = Twice(*(getattr(made(), field.name) for field in dataclasses.fields(Parallel)))
    assert not ep.verify.draws(wrong).passes


def test_noise_of_half_the_scale_in_one_group_is_caught() -> None:
    class Quiet(Parallel):
        def draw(self, source: Any, size: Any = None, total: Any = None) -> Any:
            drawn = super().draw(source, size, total)
            return (*drawn[:2], (drawn[2] + total[2]) // 2, *drawn[3:])

    wrong = Quiet(*(getattr(made(), field.name) for field in dataclasses.fields(Parallel)))
    assert not ep.verify.draws(wrong).passes


def test_a_group_that_spends_too_much_is_refused() -> None:
    mechanism = made()
    loud = mechanism.parts[3]
    assert loud is not None
    louder = dataclasses.replace(loud, weights=loud.weights + 1)
    wrong = dataclasses.replace(mechanism, parts=(*mechanism.parts[:3], louder))
    with pytest.raises(PrivacyError, match="loses"):
        ep.verify.exact(wrong).require()


def test_what_is_no_parallel_release_is_refused() -> None:
    mechanism = made()
    levels = mechanism.levels
    strange = dataclasses.replace(mechanism, levels=levels[1:].copy())
    with pytest.raises(PrivacyError, match="level that the whole mechanism does not have"):
        ep.verify.exact(strange)
    with pytest.raises(PrivacyError, match="no group"):
        ep.verify.exact(Parallel(levels.copy(), (None, None)))
    twice = np.array([0.25, 0.25, 0.5, 1.0, 2.0])
    with pytest.raises(PrivacyError, match="not distinct"):
        ep.verify.exact(dataclasses.replace(mechanism, levels=twice))
    values, budgets = np.linspace(0, 1, 50), np.ones(50)
    added = ep.mean(
        values,
        epsilon=budgets,
        bounds=(0, 1),
        neighbours="add-remove",
        levels=[1.0],
        source=ep.Seeded(1),
    ).mechanism
    with pytest.raises(PrivacyError, match="must be under replace"):
        ep.verify.exact(Parallel(np.array([1.0]), (added,)))


def test_replay_knows_how_far_a_person_moves() -> None:
    mechanism = made()
    step = SimpleNamespace(mechanism=mechanism, levels=None, place=None)
    before = (10, 0, 20, 30)
    third = mechanism.parts[2]
    assert third is not None
    weight = int(third.weights[0])
    one = Person(Fraction(1, 2), Fraction(1, 2))
    assert moved(step, before, before, one) == (False, True)
    assert moved(step, before, (10, 0, 20 + weight, 30), one) == (True, True)
    assert moved(step, before, (10, 0, 21 + weight, 30), one) == (True, False)
    # One person cannot move two groups, a group without a draw, or a group with nobody at ε = ½.
    assert moved(step, before, (11, 0, 21, 30), one) == (True, False)
    assert moved(step, before, (10, 1, 20, 30), one) == (True, False)
    assert moved(step, before, (10, 0, 20, 31), one) == (True, False)


def test_it_is_stored_and_read_back() -> None:
    mechanism = made()
    again = frozen.from_plain(frozen.to_plain(mechanism))
    assert isinstance(again, Parallel)
    assert again.losses == mechanism.losses
    assert again.parts[1] is None
    assert again.draw(ep.Seeded(2)) == mechanism.draw(ep.Seeded(2))


def test_several_questions_speak_of_the_whole_budgets() -> None:
    mechanism = made()
    whole = together(2 * mechanism.levels, [mechanism, mechanism])
    verdict = ep.verify.exact(whole).require()
    assert verdict.losses == tuple(2 * loss for loss in mechanism.losses)
