"""Mechanisms of sums: their exact losses are within all budgets, and faults are detected."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import RULES, Allocation, allocate_for
from epsilons.draws.mechanisms import Additive, build
from epsilons.draws.noise import DiscreteLaplace, Seeded, Staircase
from epsilons.risk.goals import Goal, MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED
from tests.profiles import ADVERSARIAL, ORDINARY

GRID = 2**30
GOALS = [MeanGoal(a, loss, 0.95) for a in (SAMPLE, UNRELATED, RELATED) for loss in ("mse", "pac")]


def made(budgets: ep.Budgets, method: str, goal: Goal = GOALS[0], grid: int = GRID) -> Additive:
    return build(allocate_for(budgets, goal, method), grid=grid, bounds=(0.0, 1.0))


@pytest.mark.parametrize("method", RULES)
@pytest.mark.parametrize("profile", [*ADVERSARIAL, *ORDINARY])
def test_every_method_keeps_every_budget(profile: str, method: str) -> None:
    budgets = (ADVERSARIAL | ORDINARY)[profile]
    many = len(budgets) > 200 and method in ("threshold", "optimal")
    for goal in GOALS[::2] if many else GOALS:
        verdict = ep.verify.exact(made(budgets, method, goal))
        assert verdict.holds
        assert verdict.require() is verdict
        assert len(verdict.losses) == len(budgets)


@pytest.mark.parametrize(
    "budgets", [ADVERSARIAL["dyadic"], ADVERSARIAL["equal"], ORDINARY["half strict"]]
)
def test_a_weight_rounded_up_is_caught(budgets: ep.Budgets) -> None:
    mechanism = made(budgets, "proportional")
    for level in range(len(budgets)):
        weights = mechanism.weights.copy()
        weights[level] += 1
        broken = dataclasses.replace(mechanism, weights=weights)
        assert not ep.verify.exact(broken).holds
        with pytest.raises(ep.errors.PrivacyError):
            ep.verify.exact(broken).require()


def test_a_scale_one_too_small_is_caught() -> None:
    mechanism = made(ADVERSARIAL["dyadic"], "proportional")
    broken = dataclasses.replace(mechanism, law=DiscreteLaplace(mechanism.scale - 1))
    assert ep.verify.exact(mechanism).holds
    assert not ep.verify.exact(broken).holds


def test_a_range_one_wider_is_caught() -> None:
    mechanism = made(ADVERSARIAL["equal"], "uniform")
    assert not ep.verify.exact(dataclasses.replace(mechanism, reach=GRID + 1)).holds


def log_ratio(first: dict[int, float], second: dict[int, float]) -> float:
    return max(abs(math.log(first[y]) - math.log(second[y])) for y in first)


def test_draws_follow_the_mechanism_and_never_wrap() -> None:
    for budgets in (ORDINARY["half strict"], ADVERSARIAL["tiny"], ADVERSARIAL["subnormal"]):
        mechanism = made(budgets, "optimal")
        total = mechanism.point(budgets.counts * GRID)
        assert total == int(mechanism.weights @ budgets.counts.astype(object))
        single = mechanism.draw(Seeded(5), total=total)
        many = mechanism.draw(Seeded(6), 400, total=total)
        noise = np.array([int(y) - total for y in [*many.tolist(), single]], dtype=object)
        spread = float(Fraction(sum(abs(y) for y in noise), len(noise)) / mechanism.scale)
        assert 0.7 < spread < 1.4  # the mean of 401 |X|/scale, which is about 1


def test_public_people_alone_are_used_without_noise() -> None:
    mechanism = made(ADVERSARIAL["zero and public"], "optimal")
    total = mechanism.point(np.array([0, 3 * GRID], dtype=np.int64))
    assert mechanism.estimate(mechanism.draw(Seeded(1), total=total)) == 0.75
    assert ep.verify.exact(mechanism).losses == (0, math.inf)


def test_estimates_agree_with_estimate() -> None:
    for budgets in (ORDINARY["half strict"], ADVERSARIAL["tiny"]):
        mechanism = made(budgets, "minimax")
        drawn = mechanism.draw(Seeded(9), 20, total=mechanism.point(budgets.counts * (GRID // 3)))
        each = [mechanism.estimate(int(y)) for y in drawn.tolist()]
        np.testing.assert_allclose(mechanism.estimates(drawn), each, rtol=1e-9)


@pytest.mark.parametrize("profile", ORDINARY)
def test_integer_weights_cost_nothing_that_could_be_measured(profile: str) -> None:
    allocation: Allocation = allocate_for(ORDINARY[profile], GOALS[0], "optimal")
    mechanism = build(allocation, grid=GRID, bounds=(0.0, 1.0))
    assert GOALS[0].risk(mechanism.weighing) == pytest.approx(allocation.risk, rel=1e-8)


LARGE = ep.Budgets({2.0: 12, 4.0: 20, 8.5: 8})


def test_a_staircase_is_built_in_whole_units() -> None:
    mechanism = made(LARGE, "staircase", GOALS[4])
    assert isinstance(mechanism.law, Staircase)
    assert not np.any(mechanism.weights % mechanism.law.steps)
    units = mechanism.weights // mechanism.law.steps
    losses = ep.verify.exact(mechanism).require().losses
    assert list(losses) == [unit * mechanism.law.rate for unit in units.tolist()]
    allocation = allocate_for(LARGE, GOALS[4], "staircase")
    assert [Fraction(spent) for spent in allocation.spent.tolist()] == list(losses)
    for goal in GOALS:
        assert goal.risk(mechanism.weighing) == pytest.approx(goal.risk(allocation.weighing))


@pytest.mark.parametrize("name", ["weight", "steps", "inner", "rate", "reach"])
def test_a_staircase_with_a_fault_is_caught(name: str) -> None:
    mechanism = made(ep.Budgets({2.0: 12, 4.0: 20}), "staircase", GOALS[4])
    law = mechanism.law
    assert isinstance(law, Staircase)
    assert ep.verify.exact(mechanism).holds
    if name == "weight":
        broken = dataclasses.replace(mechanism, weights=mechanism.weights + 1)
    elif name == "reach":
        broken = dataclasses.replace(mechanism, reach=GRID + 1)
    elif name == "steps":
        law = Staircase(law.rate, law.steps - 1, law.inner)
        broken = dataclasses.replace(mechanism, law=law)
    elif name == "rate":
        law = Staircase(law.rate + Fraction(1, 10**30), law.steps, law.inner)
        broken = dataclasses.replace(mechanism, law=law)
    else:
        law = copy.copy(law)  # releases with the same budgets share the mechanism
        object.__setattr__(law, "inner", 0)
        with pytest.raises(ep.errors.PrivacyError):
            ep.verify.exact(dataclasses.replace(mechanism, law=law))
        return
    assert not ep.verify.exact(broken).holds


def test_losses_on_stairs_equal_those_of_brute_force() -> None:
    """Losses equal the largest log-ratios over all data and outputs, on a tiny grid."""
    grid, law = 4, Staircase(Fraction(3, 2), 3, 2)
    mechanism = Additive(
        np.array([1.5, 4.0]),
        np.ones(2, dtype=np.int64),
        np.array([3, 6], dtype=np.int64),
        grid,
        grid,
        law,
        Fraction(9),
        (0.0, 1.0),
    )
    verdict = ep.verify.exact(mechanism)

    def law_of(data: tuple[int, int]) -> dict[int, float]:
        total = mechanism.point(np.array(data, dtype=np.int64))
        return {y: math.exp(law.log_pmf(y - total)) for y in range(-40, 50)}

    for person in range(2):
        worst = 0.0
        for other in range(grid + 1):
            pairs = [(g, other) if person == 0 else (other, g) for g in range(grid + 1)]
            laws = [law_of(pair) for pair in pairs]
            worst = max(worst, *(log_ratio(a, b) for a, b in itertools.permutations(laws, 2)))
        assert worst == pytest.approx(float(verdict.losses[person]), abs=1e-9)
    assert verdict.losses == (Fraction(3, 2), Fraction(3))


def test_a_staircase_draws_what_it_says() -> None:
    mechanism = made(LARGE, "staircase", GOALS[4])
    total = mechanism.point(LARGE.counts * GRID)
    assert total == int(mechanism.weights @ LARGE.counts)
    drawn = mechanism.draw(Seeded(3), 4000, total=total) - total
    assert drawn.dtype == np.int64
    spread = float(np.mean(np.square(drawn.astype(np.float64)))) / mechanism.law.variance
    assert 0.7 < spread < 1.4
    each = [mechanism.estimate(int(y)) for y in drawn[:20].tolist()]
    np.testing.assert_allclose(mechanism.estimates(drawn[:20]), each, rtol=1e-9)
