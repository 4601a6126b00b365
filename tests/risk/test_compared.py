"""Bounds on two releases, on all pairs and on weighted sums, compared with brute force.

Draws are seeded. With random seeds, correct code would fail each comparison of draws with
probability below 10⁻⁹, by exact binomial tails.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.draws.noise import Closed, DiscreteLaplace
from epsilons.risk.compared import (
    TwoMeans,
    count_reach,
    error_of_two,
    quotient,
    random_budgets,
    shares_reach,
)
from epsilons.risk.groups.margins import GroupedMeans
from epsilons.risk.groups.public import PublicGroups
from epsilons.risk.margins import Weighed, weighted_ends
from epsilons.risk.means.spread import WeighedSpread
from epsilons.risk.means.together import WeighedTogether
from epsilons.risk.shares import WeighedCells
from epsilons.risk.tails.joint import ClosedNoise, CubeNoise
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption, Weighing

DRAWS: Final = 200_000
TAIL: Final = 1e-9
BETA: Final = 0.1
POPULATION: Final = Assumption("population", True)


def weighing(scale: float, weights: tuple[float, float] = (0.008, 0.012), **more: Any) -> Weighing:
    """Return the estimator for people at two levels; all weights sum to one."""
    return Weighing(np.array(weights), np.array([50, 50]), scale, **more)


def rare(missed: Any, beta: float = BETA) -> None:
    """Fail if more draws miss than a bound at this error probability allows."""
    missed = np.asarray(missed)
    assert int(missed.sum()) <= binom.isf(TAIL, len(missed), beta)


@pytest.mark.parametrize(("one", "other"), [(1.0, 1.0), (1.0, 0.3), (0.05, 2.0), (1.0, 0.0)])
def test_the_noises_of_two_means_are_combined(one: float, other: float) -> None:
    rng = np.random.default_rng(5)
    alike = (0.01, 0.01)  # equal weights have no bias
    margins = [Weighed(weighing(scale, alike), 0.0) for scale in (one, other)]
    reach = error_of_two(margins, (RELATED, RELATED), (1.0, 1.0), BETA)
    noise = one * rng.laplace(size=DRAWS) - other * rng.laplace(size=DRAWS)
    missed = np.abs(noise) > reach
    rare(missed)
    # The bound is exact here, so there must not be too few misses either.
    assert missed.sum() >= binom.isf(1.0 - TAIL, DRAWS, BETA)
    assert reach < margins[0].error(RELATED, 1.0 - BETA / 2) + margins[1].error(
        RELATED, 1.0 - BETA / 2
    )


def test_the_second_bias_may_follow_the_noise_of_the_first() -> None:
    rng = np.random.default_rng(5)
    margins = [Weighed(weighing(0.05), 0.01), Weighed(weighing(0.07), 0.02)]
    reach = error_of_two(margins, (RELATED, RELATED), (1.0, 1.0), BETA)
    bias = margins[0].weighing.bias
    first, second = 0.05 * rng.laplace(size=DRAWS), 0.07 * rng.laplace(size=DRAWS)
    follows = np.sign(second - first)  # the worst bias, chosen after the first number is known
    missed = np.abs(second - first + 2.0 * bias * follows) > reach - 0.03
    rare(missed)
    assert missed.sum() >= binom.isf(1.0 - TAIL, DRAWS, BETA)


def test_sums_of_the_same_people_add_up_completely() -> None:
    rng = np.random.default_rng(5)
    margin = Weighed(weighing(0.0), 0.0)
    alone = error_of_two([margin, margin], (SAMPLE, SAMPLE), (1.0, 0.0), BETA)
    both = error_of_two([margin, margin], (SAMPLE, SAMPLE), (1.0, 1.0), BETA)
    assert both == pytest.approx(2.0 * alone)
    deviation = math.sqrt(margin.weighing.square) / 2.0
    for loudness in (1.0, 3.0):  # both releases have the same weighted sum, and independent noise
        noisy = Weighed(weighing(loudness * deviation), 0.0)
        reach = error_of_two([noisy, noisy], (SAMPLE, SAMPLE), (1.0, 1.0), BETA)
        same = 2.0 * deviation * rng.normal(size=DRAWS)
        noise = loudness * deviation * (rng.laplace(size=DRAWS) + rng.laplace(size=DRAWS))
        rare(np.abs(same + noise) > reach)


@pytest.mark.parametrize("assumption", [RELATED, UNRELATED, Assumption("people", 0.1), SAMPLE])
def test_the_best_split_is_taken_unless_a_joint_bound_is_better(assumption: Assumption) -> None:
    for scales in ((0.05, 0.05), (0.001, 0.2)):
        one, other = (Weighed(weighing(scale), 0.0) for scale in scales)
        two = TwoMeans((one, other), (0.4, 0.6), (0.0, 1.0), (assumption, assumption), BETA)
        low, high = two.difference
        tried = [
            one.error(assumption, 1.0 - part * BETA)
            + other.error(assumption, 1.0 - (1.0 - part) * BETA)
            for part in (0.1, 0.25, 0.5, 0.75, 0.9)
        ]
        assert (high - low) / 2.0 <= min(tried) * (1.0 + 1e-9)
        assert low < 0.2 < high


def test_means_drawn_together_are_bounded_separately() -> None:
    margin = WeighedTogether(weighing(0.05, cube=CubeNoise(2)), 0.0, 0)
    two = TwoMeans((margin, margin), (0.5, 0.5), (0.0, 1.0), (RELATED, RELATED), BETA)
    assert two.split == 0.5
    low, high = margin.interval(0.5, (0.0, 1.0), RELATED, 1.0 - BETA / 2.0)
    assert two.difference == (low - high, high - low)


def test_random_budgets_choose_nothing() -> None:
    assert random_budgets((POPULATION, SAMPLE))
    assert not random_budgets((SAMPLE, SAMPLE))
    margins = Weighed(weighing(0.001), 0.0), Weighed(weighing(0.5), 0.0)
    two = TwoMeans(margins, (0.5, 0.5), (0.0, 1.0), (POPULATION, POPULATION), BETA)
    assert two.split == 0.5


def test_what_was_drawn_for_a_spread_does_not_choose() -> None:
    assumptions = (UNRELATED, UNRELATED)
    drawn = [
        TwoMeans((margin, margin), (0.5, 0.5), (0.0, 1.0), assumptions, BETA)
        for square in (0.0, 0.04, 0.25)
        for margin in [WeighedSpread(weighing(1e-4), 0.0, 0.0, square)]
    ]
    assert drawn[0].margins[0].uses_spread(UNRELATED)  # type: ignore[attr-defined]
    assert len({two.split for two in drawn}) == 1
    widths = [two.difference[1] - two.difference[0] for two in drawn]
    assert widths == sorted(widths)


def test_a_quotient_has_the_extremes_of_both_intervals() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        (a, b), (c, d) = np.sort(rng.random((2, 2)) + 0.01).tolist()
        ends = [below / above for above, below in product((a, b), (c, d))]
        assert quotient((a, b), (c, d)) == (min(ends), max(ends))
        assert quotient((-b, -a), (-d, -c)) == (min(ends), max(ends))
    assert quotient((0.0, 2.0), (1.0, 3.0)) == (0.5, math.inf)
    assert quotient((0.0, 0.0), (0.0, 3.0)) == (0.0, math.inf)


def test_the_ratio_of_two_means_misses_rarely() -> None:
    rng = np.random.default_rng(5)
    truth, bounds = (0.5, 0.8), (0.0, 1.0)
    margins = Weighed(weighing(0.05, (0.01, 0.01)), 0.0), Weighed(weighing(0.02, (0.01, 0.01)), 0.0)
    missed = []
    for _ in range(400):
        first = truth[0] + 0.05 * rng.laplace()
        second = truth[1] + 0.02 * rng.laplace()
        two = TwoMeans(margins, (first, second), bounds, (RELATED, RELATED), BETA)
        low, high = two.ratio
        missed.append(not low <= truth[1] / truth[0] <= high)
    rare(missed)
    assert sum(missed) >= 5  # far from 0, the bound is nearly exact


@pytest.mark.parametrize("scales", [(1, 1), (2, 7), (10, 10)])
def test_two_counts_miss_as_seldom_as_they_say(scales: tuple[int, int]) -> None:
    one, other = (DiscreteLaplace(Fraction(scale)) for scale in scales)
    far = np.arange(-60 * max(scales), 60 * max(scales) + 1)
    laws = [np.exp([law.log_pmf(int(x)) for x in far]) for law in (one, other)]
    exact = np.convolve(*laws)
    distance = np.abs(np.arange(2 * far[0], 2 * far[-1] + 1))
    for beta in (0.2, 0.05, 0.001):
        reach = count_reach((one, other), beta)
        assert exact[distance > reach].sum() <= beta
        assert exact[distance > max(reach - 5, 0)].sum() > beta


@pytest.mark.parametrize("cells", [2, 3, 7])
def test_changes_of_all_shares_hold_at_once(cells: int) -> None:
    scale, alike = 0.05, (0.01, 0.01)
    margin = WeighedCells(weighing(scale, alike, closed=ClosedNoise(cells)), 1e-6, cells)
    law = Closed(Fraction(50_000), cells)  # a lattice step is a millionth
    first, second = (law.draw(ep.Seeded(seed), DRAWS // 10) * 1e-6 for seed in (1, 2))
    worst = np.abs(np.asarray(second - first, dtype=np.float64)).max(axis=1)
    reach = shares_reach((margin, margin), (RELATED, RELATED), BETA)
    rare(worst > reach)
    assert reach < 2.0 * margin.worst(RELATED, 1.0 - BETA / 2.0)


@pytest.mark.parametrize("cells", [2, 3, 5, 20])
def test_differences_of_all_shares_hold_at_once(cells: int) -> None:
    margin = WeighedCells(weighing(0.05, (0.01, 0.01), closed=ClosedNoise(cells)), 1e-6, cells)
    noise = np.asarray(Closed(Fraction(50_000), cells).draw(ep.Seeded(4), DRAWS // 10)) * 1e-6
    band = 2.0 * margin.worst(RELATED, 1.0 - BETA)
    far = margin.apart(RELATED, 1.0 - BETA)
    assert far is None or far < band
    rare(np.ptp(noise.astype(np.float64), axis=1) > (band if far is None else far))
    assert margin.apart(POPULATION, 1.0 - BETA) is None


WEIGHTS: Final = (
    (1.0, -1.0, 0.0, 0.0, 0.0),
    (0.4, 0.6, 0.0, 0.0, 0.0),
    (3.0, 1.0, -2.0, 0.5, 0.0),
    (1.0, 2.0, 3.0, 4.0, 5.0),
)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_weighted_sum_of_shares_covers_noise_and_bias(weights: tuple[float, ...]) -> None:
    values, scale = np.array(weights), 0.03
    margin = WeighedCells(weighing(scale, closed=ClosedNoise(5)), 1e-6, 5)
    noise = np.asarray(Closed(Fraction(30_000), 5).draw(ep.Seeded(3), DRAWS // 10)) * 1e-6
    bias = float(np.ptp(values)) * margin.weighing.bias  # people move between the outermost cells
    rare(np.abs(noise.astype(np.float64) @ values + bias) > margin.off(values, RELATED, 1.0 - BETA))
    apart = sum(map(abs, weights)) * margin.error(RELATED, 1.0 - BETA / np.count_nonzero(values))
    assert margin.off(values, RELATED, 1.0 - BETA) <= apart


def test_shares_that_differ_a_little_by_budget_move_a_sum_by_all_of_them() -> None:
    """If shares at two budgets differ by δ in every cell, the bound covers the sum of all errors.

    In half of the cells the first budget level has the larger share, and in the others the second.
    """
    cells, delta, values = 6, 0.05, np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    margin = WeighedCells(weighing(0.0, closed=ClosedNoise(cells)), 0.0, cells)
    heavy, light = np.full(6, 1 / 6), np.full(6, 1 / 6)
    heavy[:3] += delta / 2
    heavy[3:] -= delta / 2
    light = 1 / 3 - heavy
    drawn = 0.6 * heavy + 0.4 * light
    off = float(values @ drawn - values @ (heavy + light) / 2.0)
    assert off == pytest.approx(6 * delta * 0.1)
    assert margin.off(values, Assumption("people", delta), 1.0 - BETA) >= off * (1.0 - 1e-9)


def test_a_share_alone_has_its_own_interval() -> None:
    margin = WeighedCells(weighing(0.03, closed=ClosedNoise(4)), 1e-6, 4)
    raw = np.array([0.1, 0.2, 0.3, 0.4])
    for assumption in (RELATED, UNRELATED, SAMPLE, POPULATION):
        low, high = margin.intervals(raw, assumption, 0.9)
        one = margin.combination(raw, np.array([0.0, 0.0, 1.0, 0.0]), assumption, 0.9)
        assert one == pytest.approx((low[2], high[2]))
    assert margin.combination(raw, np.full(4, 2.5), RELATED, 0.9) == (2.5, 2.5)
    wide = replace(margin, weighing=weighing(9.0, closed=ClosedNoise(4)))
    assert wide.combination(raw, np.array([9.0, 0, 0, -9.0]), RELATED, 0.9) == (-9.0, 9.0)


@pytest.mark.parametrize("cells", [65, 2000])
def test_many_cells_are_bounded_by_independent_noise(cells: int) -> None:
    rng = np.random.default_rng(5)
    values = np.where(np.arange(cells) % 2, 1.0, 0.0)
    margin = WeighedCells(weighing(0.001, (0.01, 0.01), closed=ClosedNoise(cells)), 0.0, cells)
    far = margin.off(values, RELATED, 1.0 - BETA)
    noise = 0.001 * rng.laplace(size=(DRAWS // 100, cells)) @ (values - 0.5)
    rare(np.abs(noise) > far)
    assert far < 1.5 * np.quantile(np.abs(noise), 1.0 - BETA)


def public(*scales: float, drawn: float = 5.0) -> PublicGroups:
    """Return a margin of groups with public membership, all with the same drawn mean."""
    weighings = tuple(weighing(scale) for scale in scales)
    number = len(scales)
    return PublicGroups(
        weighings, (0.0,) * number, np.full(number, drawn), np.full(number, 100, dtype=np.int64)
    )


@pytest.mark.parametrize("weights", [(0.2, 0.3, 0.5), (1.0, -2.0, 0.5), (1.0, 0.01, 0.01)])
def test_a_weighted_sum_of_public_groups_covers_noise_and_bias(weights: Any) -> None:
    rng = np.random.default_rng(5)
    scales, values = np.array([0.01, 0.02, 0.04]), np.array(weights)
    margin = public(*scales.tolist())
    low, high = margin.combination(values, (0.0, 10.0), RELATED, 1.0 - BETA)
    noise = rng.laplace(size=(DRAWS, 3)) @ (values * scales)
    bias = float(np.abs(values).sum()) * weighing(0.0).bias
    assert (low + high) / 2.0 == pytest.approx(5.0 * values.sum())
    rare(10.0 * np.abs(noise + bias) > (high - low) / 2.0)
    each = sum(
        abs(weight) * Weighed(weighing(scale), 0.0).error(RELATED, 1.0 - BETA / 3)
        for weight, scale in zip(weights, scales.tolist(), strict=True)
    )
    assert (high - low) / 2.0 <= 10.0 * each


def test_one_or_two_public_groups_have_the_intervals_that_are_known() -> None:
    margin, bounds = public(0.01, 0.02, 0.04), (0.0, 10.0)
    for assumption in (RELATED, UNRELATED, SAMPLE):
        two = margin.combination(np.array([1.0, 0.0, -1.0]), bounds, assumption, 0.9)
        assert two == pytest.approx(margin.difference(0, 2, bounds, assumption, 0.9))
        one = margin.combination(np.array([0.0, 2.0, 0.0]), bounds, assumption, 0.9)
        low, high = margin.intervals(bounds, assumption, 0.9)
        assert one == pytest.approx((2.0 * low[1], 2.0 * high[1]))
    assert margin.combination(np.zeros(3), bounds, RELATED, 0.9) == (0.0, 0.0)


def test_a_group_where_nothing_was_drawn_may_have_any_mean() -> None:
    told = public(0.01, 0.02, drawn=3.0)
    some = PublicGroups(
        (*told.weighings, None), (0.0,) * 3, np.append(told.drawn, np.nan), np.array([100, 100, 1])
    )
    bounds = (2.0, 4.0)
    low, high = some.combination(np.array([1.0, 1.0, -3.0]), bounds, RELATED, 0.9)
    inner = told.combination(np.array([1.0, 1.0]), bounds, RELATED, 0.9)
    assert (low, high) == pytest.approx((inner[0] - 12.0, inner[1] - 6.0))


def test_all_pairs_of_public_groups_use_what_is_narrower() -> None:
    for number in (2, 3, 12):
        margin = public(*[0.05] * number, drawn=0.5)
        level = 1.0 - BETA / math.comb(number, 2)
        low, high = margin.difference(0, 1, (0.0, 1.0), RELATED, level)
        lows, highs = margin.band((0.0, 1.0), RELATED, 1.0 - BETA)
        assert margin.jointly(RELATED, 1.0 - BETA) == (high - low < 2.0 * (highs - lows)[0])
    assert not public(0.05, 0.05).jointly(POPULATION, 0.9)


def private(drawn: Any) -> GroupedMeans:
    cells = np.array(drawn)
    noise = ClosedNoise(len(cells))
    return GroupedMeans(weighing(0.001, (0.01, 0.01), closed=noise), 1e-9, cells, outside=False)


def test_a_weighted_sum_of_private_groups_has_the_ends_of_simultaneous_intervals() -> None:
    margin, bounds = private([0.1, 0.2, 0.2, 0.1, 0.3, 0.1]), (-1.0, 3.0)
    weights = np.array([0.2, -0.3, 0.5])
    low, high = margin.intervals(bounds, RELATED, 1.0 - BETA / 3.0)
    corners = [float(weights @ corner) for corner in product(*zip(low, high, strict=True))]
    found = margin.combination(weights, bounds, RELATED, 1.0 - BETA)
    assert found == pytest.approx((min(corners), max(corners)))
    assert weighted_ends(weights, (low, high)) == pytest.approx(found)


def test_two_private_groups_with_opposite_weights_are_tested_jointly() -> None:
    margin, bounds = private([0.1, 0.2, 0.2, 0.1, 0.3, 0.1]), (-1.0, 3.0)
    for weights, pair in (((1.0, 0.0, -1.0), (0, 2)), ((-1.0, 0.0, 1.0), (2, 0))):
        found = margin.combination(np.array(weights), bounds, RELATED, 0.9)
        assert found == pytest.approx(margin.difference(*pair, bounds, RELATED, 0.9))
    twice = margin.combination(np.array([2.0, -2.0, 0.0]), bounds, RELATED, 0.9)
    once = margin.difference(0, 1, bounds, RELATED, 0.9)
    assert twice == pytest.approx((2.0 * once[0], 2.0 * once[1]))
    low, high = margin.combination(np.array([2.0, -1.0, 0.0]), bounds, RELATED, 0.9)
    means = margin.means(bounds)
    assert low < 2.0 * means[0] - means[1] < high
    ends = margin.intervals(bounds, RELATED, 0.95)
    assert high - low < np.subtract(*weighted_ends(np.array([2.0, -1.0, 0.0]), ends)[::-1])
