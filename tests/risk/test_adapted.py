"""Error bounds hold for weights that depend on the data, even for the worst choice of weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import pytest
from scipy.stats import norm

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.risk import Weighing, mse, quantile
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means.spread import (
    Seen,
    Spreading,
    WeighedAdaptively,
    WeighedInStages,
    divided,
    risk_of,
)
from epsilons.risk.tails.laplace import ErrorDivision, bisect, chosen, tail
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats

SCALES: Final = (0.2, 1.0, 3.0)
"""Noise scales, in units of the standard deviation of the sums."""

POPULATION: Final = Assumption("population", True)

PEOPLE: Final = ep.Budgets({1.0: 100, 50.0: 10})


def beyond(sums: Floats, scale: float, error: float) -> Floats:
    """Return P(|s + L| > error) for each sum s, with Laplace noise L."""
    far = np.abs(sums)
    inside = np.exp(-error / scale) * np.cosh(np.minimum(far, error) / scale)
    outside = 1.0 - np.exp(-np.maximum(far, error) / scale) * np.sinh(error / scale)
    return np.asarray(np.where(far <= error, inside, outside))


def test_the_noise_of_these_tests_is_laplace_noise() -> None:
    noise = np.random.default_rng(2).laplace(0.0, 0.7, 10**6)
    for far, error in ((0.0, 1.0), (0.4, 1.0), (1.5, 1.0), (3.0, 0.2)):
        seen = float((np.abs(far + noise) > error).mean())
        assert float(beyond(np.array([-far]), 0.7, error)[0]) == pytest.approx(seen, abs=3e-3)


def exact_reach(sums: Floats, scale: float) -> Callable[[float], float]:
    """Return a function from the error probability to the exact error quantile of noisy sums."""

    def far(beta: float) -> float:
        most = float(np.abs(sums).max()) + scale * math.log(2.0 / beta)
        return bisect(lambda h: float(beyond(sums, scale, h).mean()) - beta, 0.0, most)

    return far


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("times", [2, 7])
@pytest.mark.parametrize("beta", [0.01, 0.05, 0.3])
def test_the_worst_choice_misses_no_more_often(scale: float, times: int, beta: float) -> None:
    """Bounds hold even if an adversary who sees all sums chooses the one most likely to miss."""
    rng = np.random.default_rng(times)
    sums = [rng.normal(0.0, 1.0 + each / 3.0, 4000) for each in range(times)]
    scales = [scale / (1.0 + each) for each in range(times)]
    pairs = list(zip(sums, scales, strict=True))

    def missed(many: int) -> float:
        reaches = [chosen(exact_reach(s, t), t, ErrorDivision.evenly(many), beta) for s, t in pairs]
        each = [beyond(s, t, h) for (s, t), h in zip(pairs, reaches, strict=True)]
        return float(np.max(each, axis=0).mean())

    assert missed(times) <= beta
    assert missed(1) > 1.02 * beta  # bounds that ignore the choice among several sums fail


def test_one_sum_costs_nothing_and_noise_alone_little() -> None:
    far = exact_reach(np.random.default_rng(1).normal(0.0, 1e-6, 100), 1.0)
    assert chosen(far, 1.0, ErrorDivision(), 0.05) == far(0.05)
    assert chosen(far, 1.0, ErrorDivision.evenly(12), 0.05) == pytest.approx(far(0.025), rel=1e-3)
    without = chosen(lambda beta: math.sqrt(-math.log(beta)), 0.0, ErrorDivision.evenly(4), 0.08)
    assert without == pytest.approx(math.sqrt(-math.log(0.01)))
    assert chosen(lambda _: math.inf, 1.0, ErrorDivision.evenly(4), 0.08) == math.inf


def estimator(sigma: float, scale: float, spread: float) -> Weighing:
    """Return weights whose sum has this standard deviation, for values of this spread."""
    return Weighing(np.array([sigma / spread / 10.0]), np.array([100]), scale)


QUANTILES: Final = norm.ppf((np.arange(2000) + 0.5) / 2000.0)
"""Equally probable values of a standard Gaussian."""

# The standard deviation of each sum, and the scale of its noise.
SUMS: Final = {
    "noise": [(0.1, 1.0), (0.2, 0.9), (0.3, 0.8)],
    "sampling": [(1.0, 0.1), (1.2, 0.05), (1.5, 0.02), (1.6, 0.01)],
    "both": [(0.2, 1.0), (0.6, 0.7), (1.0, 0.4), (1.4, 0.1)],
    "no noise": [(1.0, 0.0), (1.5, 0.0)],
}


@pytest.mark.parametrize("name", SUMS)
def test_a_division_widens_all_intervals_equally_and_adds_up(name: str) -> None:
    """With Hoeffding's tails, a choice among sums makes all intervals longer by the same factor."""
    spreads = [0.5 / (1 + at) for at in range(len(SUMS[name]))]
    each = list(zip(SUMS[name], spreads, strict=True))
    parts = divided([estimator(*pair, spread) for pair, spread in each], spreads, SAMPLE)
    whole = parts[0].noise + sum(part.own for part in parts)
    assert 1.0 - 1e-6 < whole <= 1.0
    assert {part.noise for part in parts} == {parts[0].noise}
    wider = []
    for (sigma, scale), part in zip(SUMS[name], parts, strict=True):

        def far(beta: float, sigma: float = sigma, scale: float = scale) -> float:
            return bisect(lambda h: 2.0 * tail(h, sigma, scale) - beta, 0.0, 60.0)

        even = chosen(far, scale, ErrorDivision.evenly(len(parts)), 0.05)
        wider.append((chosen(far, scale, part, 0.05) / far(0.05), even / far(0.05)))
    found = [now for now, _ in wider]
    assert max(found) <= 1.03 * min(found)
    assert max(found) < 0.99 * max(before for _, before in wider)


@pytest.mark.parametrize("name", ["sampling", "both"])
def test_the_worst_choice_misses_as_often_as_a_division_says(name: str) -> None:
    """An adversary who sees all sums and chooses one misses with probability β, or not much less.

    The sums are independent and Gaussian, and their tails are exact. Intervals that are a tenth
    shorter miss too often, and those that are a tenth longer miss much too rarely.
    """
    rng, pairs = np.random.default_rng(3), SUMS[name]
    spreads = [0.5] * len(pairs)
    parts = divided([estimator(*pair, 0.5) for pair in pairs], spreads, SAMPLE)
    sums = [rng.normal(0.0, sigma, 40_000) for sigma, _ in pairs]
    reaches = [
        chosen(exact_reach(sigma * QUANTILES, scale), scale, part, 0.05)
        for (sigma, scale), part in zip(pairs, parts, strict=True)
    ]

    def missed(factor: float) -> float:
        each = zip(sums, pairs, reaches, strict=True)
        return float(np.max([beyond(s, t, factor * h) for s, (_, t), h in each], axis=0).mean())

    assert 0.035 < missed(1.0) <= 0.053  # 0.003 is three standard errors of 40,000 runs
    assert missed(0.9) > 0.053
    assert missed(1.1) < 0.035


def test_published_intervals_keep_their_division() -> None:
    """A margin of the former kind divides β evenly, and one of the new kind as its fields say."""
    many = choices(UNRELATED)
    for at, part in enumerate(divided(many, (0.5, 0.2, 0.05, 0.01), UNRELATED)):
        given = {"expected": 0.2, "among": 4, "choices": 12}
        old = WeighedAdaptively(many[at], 0.0, 0.0, 0.04, **given)  # type: ignore[arg-type]
        assert old.division(UNRELATED) == ErrorDivision(4, 0.5, 0.125)
        new = WeighedInStages(
            many[at],
            0.0,
            0.0,
            0.04,
            **given,
            noise=part.noise,
            own=part.own,  # type: ignore[arg-type]
        )
        assert new.division(UNRELATED) == part
        assert old.division(RELATED) == new.division(RELATED) == ErrorDivision()
        if at:  # the first weights are for the largest spread, so their bound is for all data
            assert new.error(UNRELATED, 0.95) < old.error(UNRELATED, 0.95)


def choices(assumption: Assumption) -> list[Weighing]:
    """Return the optimal weights for several spreads."""
    goals = (MeanGoal(assumption, "mse", 0.95, spread) for spread in (0.5, 0.2, 0.05, 0.01))
    return [allocate_for(PEOPLE, goal, "optimal").weighing for goal in goals]


def margin_of(weighing: Weighing, among: int) -> WeighedAdaptively:
    return WeighedAdaptively(weighing, 0.0, 0.0, 0.04, expected=0.2, among=among, choices=among)


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED])
def test_the_worst_choice_has_no_larger_square(assumption: Assumption) -> None:
    """Bounds on squared errors hold even if an adversary who sees all sums chooses one of them.

    The adversary chooses the sum whose square exceeds its bound the most.
    """
    rng = np.random.default_rng(5)
    many, goal = choices(assumption), MeanGoal(assumption, "mse", 0.95)
    assert len({each.weights[-1] for each in many}) == len(many)
    counts = many[0].counts
    fixed = np.repeat([0.0, 1.0], [PEOPLE.n // 2, PEOPLE.n - PEOPLE.n // 2])
    values = rng.permuted(np.tile(fixed, (20_000, 1)), axis=1)
    if assumption.sampled:
        values = (rng.random((20_000, PEOPLE.n)) < 0.5).astype(np.float64)

    def excess(claims: list[float]) -> float:
        over = [
            np.square((values - 0.5) @ np.repeat(each.weights, counts)) + 2.0 * each.scale**2 - told
            for each, told in zip(many, claims, strict=True)
        ]
        return float(np.max(over, axis=0).mean())

    claims = [risk_of(goal, margin_of(each, len(many)), many) for each in many]
    assert not any(exact for _, exact in claims)
    assert excess([told for told, _ in claims]) <= 0.0
    assert excess([float(mse(each, assumption)) for each in many]) > 0.0


def test_claims_of_people_whose_budgets_go_with_values_are_those_of_given_weights() -> None:
    weighing = choices(UNRELATED)[2]
    margin = margin_of(weighing, 7)
    for related in (True, 0.1):
        assumption = Assumption("people", related)
        assert margin.usual(assumption, 0.9) == quantile(weighing, assumption, 0.9)
        for loss in ("mse", "pac"):
            goal = MeanGoal(assumption, loss, 0.9)
            told, exact = risk_of(goal, margin, [weighing])
            assert told == pytest.approx(goal.risk(weighing))
            assert exact
    assert margin.usual(POPULATION, 0.9) == quantile(weighing, POPULATION, 0.9)
    assert margin.times(RELATED) == margin.times(POPULATION) == 1
    assert margin.times(UNRELATED) == margin.times(SAMPLE) == 7


def test_a_population_whose_budgets_tell_little_is_asked_for_all_choices() -> None:
    weighing = choices(UNRELATED)[2]
    little = Assumption("population", 0.1)
    margin = WeighedAdaptively(weighing, 0.0, 0.0, 0.04, expected=0.2, among=2, choices=12)
    assert margin.usual(little, 0.9) == quantile(weighing, little, 1.0 - 0.1 / 12)
    squares = risk_of(MeanGoal(little, "mse", 0.9), margin, [weighing])
    assert squares == (float(mse(weighing, POPULATION)), False)


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED])
def test_one_choice_is_none(assumption: Assumption) -> None:
    weighing = choices(assumption)[2]
    margin = margin_of(weighing, 1)
    assert margin.usual(assumption, 0.9) == pytest.approx(quantile(weighing, assumption, 0.9))
    goal = MeanGoal(assumption, "mse", 0.9)
    assert risk_of(goal, margin, [weighing])[0] == goal.risk(weighing)


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED])
def test_more_choices_make_all_intervals_wider(assumption: Assumption) -> None:
    """Intervals of the mean and of the spread are wider if there are more choices of weights."""
    weighing = allocate_for(
        ep.Budgets({0.1: 5000, 1.0: 5000}), MeanGoal(assumption, "mse", 0.95, 0.1), "optimal"
    ).weighing
    seen = Seen(0.0, 0.01, 0.0)
    found = []
    for times in (1, 3, 12):
        spreading = Spreading(weighing, assumption, ErrorDivision.evenly(times))
        low, high = spreading.deviation(seen, 0.05)
        found.append((spreading.usual(0.05), spreading.error("chance", seen, 0.05), high, -low))
    assert all(np.diff(np.array(found), axis=0).ravel() > 0.0)
    assert found[2][0] < 2.0 * found[0][0]


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED])
def test_more_choices_make_intervals_with_the_spread_much_wider(assumption: Assumption) -> None:
    """If there are 12 choices of weights, intervals that use the spread are at least 15 % wider."""
    budgets = ep.Budgets({0.1: 5000, 1.0: 5000})
    goal = MeanGoal(assumption, "mse", 0.95, 0.1)
    weighing = allocate_for(budgets, goal, "optimal").weighing
    seen = Seen(0.0, 0.01, 0.0)
    one, many = (Spreading(weighing, assumption, ErrorDivision.evenly(times)) for times in (1, 12))
    assert many.error("chance", seen, 0.05) > 1.15 * one.error("chance", seen, 0.05)
