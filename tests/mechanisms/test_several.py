"""Several sums with joint noise: the draws, the privacy loss, and the reduction of noise."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Budgets
from epsilons.draws.mechanisms import SeveralSums, build, build_several
from epsilons.draws.noise import Cube
from epsilons.frozen import from_plain, to_plain
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means.together import SeveralMeans
from epsilons.risk.weighing import Assumption
from tests.plain import plain
from tests.tallied import halves

PEOPLE = Assumption("people", True)
LEVELS, COUNTS = np.array([0.0, 0.1, 0.5, 2.0]), np.array([3, 300, 200, 100])
GRID = 2**30


def made(means: int, method: str = "auto", levels: Any = LEVELS) -> SeveralSums:
    goal = SeveralMeans(PEOPLE, "mse", 0.95, means=means)
    allocation = allocate_for(Budgets.of_levels(levels, COUNTS), goal, method)
    bounds = tuple((float(-j), 10.0 + j) for j in range(means))
    found = build_several(allocation, grid=GRID, bounds=bounds)
    assert found is not None
    return found


def tiny(means: int, scale: Fraction = Fraction(3, 2)) -> SeveralSums:
    """Return a mechanism with few lattice points, so all of them can be enumerated."""
    return SeveralSums(
        levels=np.array([1.0, 2.0]),
        counts=np.array([2, 1]),
        weights=np.array([1, 2]),
        reach=4,
        grid=4,
        law=Cube(scale, means),
        divisor=Fraction(4),
        bounds=((0.0, 1.0),) * means,
    )


@pytest.mark.parametrize("means", [1, 2, 5])
@pytest.mark.parametrize("method", ["auto", "uniform", "proportional", "threshold", "hpm-a"])
def test_nobody_loses_more_than_their_budget(means: int, method: str) -> None:
    mechanism = made(means, method)
    scale = mechanism.law.scale
    for level, weight, loss in zip(
        LEVELS.tolist(), mechanism.weights.tolist(), mechanism.losses, strict=True
    ):
        assert loss == Fraction(weight) / scale
        assert loss <= Fraction(level)
    if method == "proportional":  # everyone spends their budget, except for negligible rounding
        assert float(mechanism.losses[-1]) == pytest.approx(2.0, rel=1e-9)


def test_the_loss_is_the_largest_ratio_over_all_data() -> None:
    """The loss is exactly the largest log-ratio over all neighbouring totals and all outcomes."""
    mechanism = tiny(2)
    values = range(5)
    others = [(0, 3), (4, 1)]  # one person at the first level, one at the second
    worst = [Fraction(0), Fraction(0)]
    for level in (0, 1):
        totals = set()
        for mine in itertools.product(values, repeat=2):
            sums = [
                np.array([others[0][j], others[1][j]]) + np.array([mine[j], 0])[:: 1 - 2 * level]
                for j in range(2)
            ]
            totals.add(mechanism.total(halves(*sums)))
        for first, second in itertools.product(totals, repeat=2):
            for at in itertools.product(range(-4, 9), repeat=2):
                here = [x - t for x, t in zip(at, first, strict=True)]
                there = [x - t for x, t in zip(at, second, strict=True)]
                gap = mechanism.law.exponent(there) - mechanism.law.exponent(here)
                worst[level] = max(worst[level], gap)
    assert tuple(worst) == mechanism.losses


def test_one_mean_is_the_laplace_mechanism() -> None:
    """For one mean, the mechanism has the weights, scale and lattice of the Laplace mechanism."""
    several = made(1)
    goal = MeanGoal(PEOPLE, "mse", 0.95)
    allocation = allocate_for(Budgets.of_levels(LEVELS, COUNTS), goal, "optimal")
    alone = build(allocation, grid=GRID, bounds=several.bounds[0])
    assert several.losses == alone.losses
    assert several.divisor / several.scale == pytest.approx(alone.divisor / alone.scale, rel=1e-9)
    sums = COUNTS * (GRID // 3)
    share = Fraction(several.total(halves(sums))[0]) / several.divisor
    assert float(share) == pytest.approx(float(alone.point(sums) / alone.divisor), rel=1e-9)
    assert several.weighing.scale == pytest.approx(alone.weighing.scale, rel=1e-9)


@pytest.mark.parametrize("means", [2, 5, 12])
def test_noise_is_a_part_of_what_splitting_has(means: int) -> None:
    """The noise variance of d means together is (d + 1)(d + 2)/(6d²) of that with split budgets."""
    several, d = made(means, "proportional"), means
    budgets = Budgets.of_levels(LEVELS / d, COUNTS)
    alone = build(
        allocate_for(budgets, MeanGoal(PEOPLE, "mse", 0.95), "proportional"),
        grid=GRID,
        bounds=several.bounds[0],
    )
    noise = several.law.variance / float(several.divisor) ** 2
    part = noise / (alone.law.variance / float(alone.divisor) ** 2)
    assert part == pytest.approx((d + 1) * (d + 2) / (6 * d * d), rel=1e-6)
    assert 2.0 * several.weighing.scale**2 == pytest.approx(noise, rel=1e-9)


def test_a_total_is_that_of_each_sum() -> None:
    mechanism = made(3)
    sums = tuple(COUNTS * (GRID // (j + 2)) for j in range(3))
    total = mechanism.total(halves(*sums))
    for j, each in enumerate(sums):
        weighted = sum(
            k * s for k, s in zip(mechanism.weights.tolist(), each.tolist(), strict=True)
        )
        assert total[j] == weighted // GRID
    estimates = mechanism.estimate(total)
    for j, (value, (lo, hi)) in enumerate(zip(estimates, mechanism.bounds, strict=True)):
        assert value == pytest.approx(lo + (hi - lo) / (j + 2), abs=1e-6)
    many = mechanism.estimates(np.array([total, total], dtype=object))
    np.testing.assert_allclose(many, [estimates, estimates], rtol=1e-12)


def test_draws_are_around_the_total() -> None:
    mechanism = made(3)
    total = (10**15, -5, 2**70)
    one = mechanism.draw(ep.Seeded(3), total=total)
    assert all(type(each) is int for each in one)
    noise = mechanism.draw(ep.Seeded(3))
    assert tuple(x - t for x, t in zip(one, total, strict=True)) == noise
    many = mechanism.draw(ep.Seeded(3), 4, total=total)
    assert many.shape == (4, 3)
    assert many.dtype == object
    assert made(3).draw(ep.Seeded(3), 4).dtype == np.int64


def test_public_people_alone_need_no_noise() -> None:
    goal = SeveralMeans(PEOPLE, "mse", 0.95, means=2)
    levels = np.array([0.0, 0.1, 0.5, math.inf])
    allocation = allocate_for(Budgets.of_levels(levels, COUNTS), goal, "proportional")
    assert build_several(allocation, grid=GRID, bounds=((0.0, 1.0),) * 2) is None


def test_budgets_beyond_all_that_noise_can_hold_are_left_to_others() -> None:
    goal = SeveralMeans(PEOPLE, "mse", 0.95, means=8)
    levels = np.array([1.0, 2.0**45])
    budgets = Budgets.of_levels(levels, np.array([5, 5]))
    allocation = allocate_for(budgets, goal, "proportional")
    assert build_several(allocation, grid=GRID, bounds=((0.0, 1.0),) * 8) is None
    assert build_several(allocation, grid=GRID, bounds=((0.0, 1.0),) * 4) is not None


def test_it_is_written_and_read_back() -> None:
    mechanism = made(3)
    back = from_plain(to_plain(mechanism))
    assert plain(back) == plain(mechanism)
    assert back.losses == mechanism.losses
    assert replace(back, levels=mechanism.levels).means == 3
