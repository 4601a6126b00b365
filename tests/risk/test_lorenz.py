"""Intervals by the Lorenz curve: worst cases by linear programs, exact coverage, width, faults."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.stats import binom

import epsilons as ep
from epsilons.budgets.levels import Budgets
from epsilons.risk import ClosedNoise, Weighing
from epsilons.risk.means import mean
from epsilons.risk.means.lorenz import (
    LorenzCells,
    LorenzCurve,
    LorenzMean,
    LorenzSpread,
    _largest_share,
    curve_of,
)
from epsilons.risk.means.spread import Parts
from epsilons.risk.shares import WeighedCells
from epsilons.risk.weighing import RELATED, UNRELATED, Assumption
from epsilons.types import Floats

POPULATION = Assumption("population", True)
BETA = 0.05


def weighing(weights: Any, counts: Any, scale: float, total: float = 1.0, **more: Any) -> Weighing:
    weights, counts = np.array(weights, dtype=float), np.array(counts)
    return Weighing(weights / (weights @ counts) * total, counts, scale, **more)


ONE_STRICT = weighing([0.02, 1.0], [1, 19], 0.02)
THREE = weighing([0.05, 0.3, 1.0], [4, 6, 10], 0.03)
SHRUNK = weighing([0.05, 0.3, 1.0], [4, 6, 10], 0.03, total=0.9)
UNUSED = weighing([0.0, 1.0], [3, 17], 0.03)


def laplace_below(at: float) -> float:
    return 0.5 * math.exp(at) if at < 0.0 else 1.0 - 0.5 * math.exp(-at)


def lowest_by_program(one: Weighing, truth: float, apart: float) -> float:
    """The smallest estimate if the means of all levels are in one window, by a linear program."""
    levels = len(one.weights)
    counts = one.counts / one.n
    windows = [[*np.eye(levels)[i], -1.0] for i in range(levels)]
    below = [[*-np.eye(levels)[i], 1.0] for i in range(levels)]
    found = linprog(
        [*(one.weights * one.counts), 0.0],
        A_ub=np.array(windows + below),
        b_ub=np.array([apart] * levels + [0.0] * levels),
        A_eq=[[*counts, 0.0]],
        b_eq=[truth],
        bounds=[(0.0, 1.0)] * levels + [(0.0, 1.0 - apart)],
    )
    return float(found.fun) + (1.0 - one.total) / 2.0


@pytest.mark.parametrize("one", [ONE_STRICT, THREE, SHRUNK, UNUSED])
@pytest.mark.parametrize("apart", [1.0, 0.3, 0.02])
def test_the_lowest_estimate_is_that_of_a_linear_program(one: Weighing, apart: float) -> None:
    truths = np.array([0.0, 0.01, 0.1, 0.37, 0.5, 0.8, 0.995, 1.0])
    found = LorenzCurve(one).lowest(truths, apart)
    expected = [lowest_by_program(one, truth, apart) for truth in truths.tolist()]
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("one", [ONE_STRICT, weighing([0.05, 0.3, 1.0], [4, 6, 10], 0.08)])
@pytest.mark.parametrize("ones", [1, 7, 10, 19])
def test_coverage_is_exact_for_the_worst_of_all_data_of_zeros_and_ones(
    one: Weighing, ones: int
) -> None:
    """All data of 20 people with this mean are tried: any number of ones at each level."""
    margin, truth = LorenzMean(one, 0.0), ones / 20
    places = [range(count + 1) for count in one.counts.tolist()]
    data = [each for each in product(*places) if sum(each) == ones]
    sums = [float(np.dot(each, one.weights)) for each in data]

    def covers(drawn: float) -> bool:
        low, high = margin.interval(drawn, (0.0, 1.0), RELATED, 1.0 - BETA)
        return low <= truth <= high

    def missed(reach: float) -> float:
        """The largest probability of a noisy sum outside [min − reach, max + reach], over all data.

        Here min and max are the smallest and the largest sum without noise.
        """
        ends = (min(sums) - reach, max(sums) + reach)
        return max(
            laplace_below((ends[0] - at) / one.scale) + laplace_below((at - ends[1]) / one.scale)
            for at in sums
        )

    reach = float(brentq(lambda far: missed(far) - BETA, 0.0, 1.0, xtol=1e-14))
    # A reach that is wrong by a millionth would be noticed.
    assert covers(min(sums) - reach * (1.0 - 1e-6))
    assert covers(max(sums) + reach * (1.0 - 1e-6))
    assert not covers(min(sums) - reach * (1.0 + 1e-6))
    assert not covers(max(sums) + reach * (1.0 + 1e-6))


@pytest.mark.parametrize("at", [0.2, 0.5, 0.7])
def test_with_few_strict_people_the_interval_has_a_closed_form(at: float) -> None:
    one = weighing([0.02, 1.0], [60, 5940], 0.0005)
    strict, held = 0.01, 60 * float(one.weights[0])
    rate, bias = (1.0 - held) / (1.0 - strict), strict - held
    wide = 1.0 - 2.0 * held - (1.0 - 2.0 * strict) * rate
    reach = one.scale * math.log((1.0 + math.exp(-wide / one.scale)) / (2.0 * BETA))
    low, high = LorenzMean(one, 0.0).interval(at, (0.0, 1.0), RELATED, 1.0 - BETA)
    assert high == pytest.approx(strict + (at + reach - held) / rate, abs=1e-10)
    assert low == pytest.approx(1.0 - strict - (1.0 - at + reach - held) / rate, abs=1e-10)
    # Without noise, the interval would be about as wide as the bias. An interval that adds the bias
    # on both sides would be twice as wide.
    assert high - low - 2.0 * reach / rate == pytest.approx(bias / (1.0 - held), rel=1e-9)


@pytest.mark.parametrize("apart", [True, 0.1])
@pytest.mark.parametrize("one", [THREE, SHRUNK])
def test_intervals_are_nested_and_follow_what_was_drawn(one: Weighing, apart: Any) -> None:
    margin, assumption = LorenzMean(one, 1e-4), Assumption("people", apart)
    ends = np.array(
        [
            margin.interval(at, (0.0, 1.0), assumption, level)
            for level in (0.3, 0.8, 0.95, 0.999)
            for at in (0.1, 0.3, 0.5, 0.9)
        ]
    ).reshape(4, 4, 2)
    assert (np.diff(ends, axis=1) >= 0.0).all()
    assert (np.diff(ends[:, :, 0], axis=0) <= 0.0).all()
    assert (np.diff(ends[:, :, 1], axis=0) >= 0.0).all()
    mirrored = margin.interval(0.7, (0.0, 1.0), assumption, 0.8)
    assert ends[1, 1] == pytest.approx((1.0 - mirrored[1], 1.0 - mirrored[0]), abs=1e-12)


def test_ends_are_those_of_a_bisection() -> None:
    """Many points are tested at once, and the ends are those of 48 steps of bisection."""
    rng = np.random.default_rng(4)
    for closed, scale in ((None, 0.02), (ClosedNoise(4), 0.05), (None, 0.0)):
        weights = rng.random(6)
        counts = rng.integers(1, 40, 6)
        one = Weighing(weights / (weights @ counts), counts, scale, closed=closed)
        curve, drawn = LorenzCurve(one), np.array([-0.4, 0.0, 0.1, 0.37, 0.5, 0.93, 1.0, 1.7])
        for apart, beta in ((1.0, 0.05), (0.2, 0.3)):
            far, low, high = curve._far(apart, beta), np.zeros(8), np.ones(8)
            for _ in range(48):
                truth = (low + high) / 2.0
                ends = curve.lowest(truth, apart), 1.0 - curve.lowest(1.0 - truth, apart)
                kept = (ends[0] + ends[1]) / 2.0 - far((ends[1] - ends[0]) / 2.0) <= drawn
                low, high = np.where(kept, truth, low), np.where(kept, high, truth)
            found = curve.intervals(drawn, apart, beta)[1]
            assert (np.tile(found, 90) == curve.intervals(np.tile(drawn, 90), apart, beta)[1]).all()
            assert found == pytest.approx(np.where(high > 1e-14, high, 0.0), abs=2.0**-46)
            assert (found > low)[high > 1e-14].all()  # ends are rounded outwards
            halves = np.linspace(0.0, 0.4, 7)
            exact = [mean.deviation_of(one, half, 0.0, beta) for half in halves.tolist()]
            if closed is None:
                assert far(halves) == pytest.approx(np.maximum(exact, halves), rel=1e-14)


def test_only_estimators_with_the_same_numbers_are_equal() -> None:
    one = Weighing(np.array([0.1, 0.2]), np.array([4, 3]), 0.5)
    same = Weighing(one.weights.copy(), one.counts.copy(), 0.5)
    assert one == same
    assert hash(one) == hash(same)
    others = [
        replace(one, weights=np.array([0.1, 0.2 + 1e-16])),
        replace(one, counts=np.array([3, 4])),
        replace(one, scale=0.25),
        replace(one, keep=np.array([1.0, 0.5])),
        replace(one, closed=ClosedNoise(3)),
        replace(one, squares=(4.0, 3.0)),
    ]
    assert all(one != each for each in others)
    assert one != "one"
    assert curve_of(one) is curve_of(same)


def test_rounding_widens_both_ends() -> None:
    bare = LorenzMean(THREE, 0.0).interval(0.4, (0.0, 1.0), RELATED, 0.95)
    slack = LorenzMean(THREE, 0.01).interval(0.4, (0.0, 1.0), RELATED, 0.95)
    moved = LorenzMean(THREE, 0.0).interval(0.41, (0.0, 1.0), RELATED, 0.95)
    assert slack[1] == moved[1]
    assert slack[0] < bare[0]


# Populations with budgets related to values.


@pytest.mark.parametrize("variance", [0.0, 0.001, 0.02, 0.2])
@pytest.mark.parametrize("one", [ONE_STRICT, THREE, UNUSED])
def test_the_variance_of_equal_weights_is_bounded_by_a_linear_program(
    one: Weighing, variance: float
) -> None:
    """The bound is the largest mean of numbers in [0, 1] with weighted mean at most `variance`."""
    found = linprog(
        -one.counts / one.n,
        A_ub=[one.weights * one.counts],
        b_ub=[variance],
        bounds=[(0.0, 1.0)] * len(one.weights),
    )
    assert LorenzCurve(one).share(variance) == pytest.approx(-found.fun, abs=1e-9)


def test_parts_of_the_error_probability_sum_to_one() -> None:
    margin = LorenzSpread(THREE, 0.0, 0.0, 0.04)
    for beta in (0.01, 0.05, 0.3):
        assert sum(Parts.of(beta)) + sum(margin._divided(beta)) == pytest.approx(beta)
    assert sum(LorenzMean(THREE, 0.0)._divided(BETA)) == pytest.approx(BETA)


def chernoff(sigma: float, n: int, part: float) -> float:
    """Bennett's bound on the sampling error of n values with this deviation, by a search."""
    rare = (1.0 - math.sqrt(1.0 - 4.0 * sigma * sigma)) / 2.0

    def log_tail(far: float) -> float:
        slopes = np.geomspace(1e-3, 1e3, 20_000)
        share = np.minimum(rare, 1.0 / slopes - 1.0 / np.expm1(np.minimum(slopes, 700.0)))
        moment = np.log1p(share * np.expm1(np.minimum(slopes, 700.0))) - slopes * share
        return float(n * (moment - slopes * far).min()) - math.log(part / 2.0)

    return float(brentq(log_tail, 1e-9, 0.999))


def test_the_sampling_error_follows_the_spread_that_was_released() -> None:
    n = 4000
    one = weighing([0.3, 1.0], [400, 3600], 1e-5)
    margin = LorenzSpread(one, 0.0, -0.1, 0.02 + 0.01)
    parts, (part, rest) = Parts.of(BETA), margin._divided(BETA)
    weighted = 0.03 - 1e-5 * math.log(2.0 * parts.noise)
    weighted -= (0.1 + 1e-5 * math.log(parts.offset)) ** 2
    held = float(one.weights[0])
    plain = (
        weighted / held / n
        if weighted <= 400 * held
        else 0.1 + (weighted - 400 * held) / (n * float(one.weights[1]))
    )

    def excess(sigma: float) -> float:
        log = math.log(2.0 / parts.centre)
        off = log / (3.0 * n) + math.sqrt((log / (3.0 * n)) ** 2 + 2.0 * sigma**2 * log / n)
        lost = math.sqrt(-2.0 * math.log(parts.squares) / n)
        return plain + lost * sigma + off * off - sigma * sigma

    sigma = float(brentq(excess, 0.01, 0.5))
    expected = chernoff(sigma, n, part)
    assert margin._sampling(BETA, part) == pytest.approx(expected, rel=0.005)
    assert margin._sampling(BETA, part) < 0.7 * mean.sampling_reach(n, part)
    low, high = margin.interval(0.4, (0.0, 1.0), POPULATION, 1.0 - BETA)
    ends = LorenzMean(one, 0.0).interval(0.4, (0.0, 1.0), RELATED, 1.0 - rest)
    assert (low, high) == pytest.approx((ends[0] - expected, ends[1] + expected), rel=0.005)


class Trusting(LorenzSpread):
    """A faulty margin: it treats the spread of weighted data as the spread with equal weights."""

    def _sampling_of(self, seen: Any, beta: float, part: float) -> float:
        alike = weighing([1.0], [self.weighing.n], self.weighing.scale)
        return LorenzSpread(alike, 0.0, *seen[:2])._sampling(beta, part)


def misses_of_what_weights_hide(margin: type[LorenzSpread], runs: int) -> int:
    """Return how often intervals miss, for samples of 20,000 people.

    About 2 % of them have the value 1 and nearly no weight. All others have the value 0.
    """
    rng, n, share, found = np.random.default_rng(1), 20_000, 0.02, 0
    for _ in range(runs):
        strict = int(rng.binomial(n, share))
        one = weighing([1e-5, 1.0], [strict, n - strict], 1e-6)
        drawn = strict * float(one.weights[0])
        low, high = margin(one, 0.0, drawn - 0.5, 0.25).interval(
            drawn, (0.0, 1.0), POPULATION, 1.0 - BETA
        )
        found += not low <= share <= high
    return found


def test_a_spread_that_weights_hide_is_noticed() -> None:
    """At 5 % each, more than 28 misses in 200 runs have probability below 10⁻⁶."""
    assert misses_of_what_weights_hide(LorenzSpread, 200) <= 28
    assert misses_of_what_weights_hide(Trusting, 200) > 28


# Shares.


@pytest.mark.parametrize("n", [5, 30])
def test_shares_of_a_sample_cover_the_share_of_the_population(n: int) -> None:
    log, counts = math.log(2.0 / BETA) / n, np.arange(n + 1)
    high = _largest_share(counts / n, log)
    low = 1.0 - _largest_share(1.0 - counts / n, log)
    for p in np.linspace(0.001, 0.999, 400):
        chances = binom.pmf(counts, n, p)
        assert chances[(p < low) | (p > high)].sum() <= BETA
    inner = counts[1:-1] / n

    def excess(p: float, at: float) -> float:
        return float(at * math.log(at / p) + (1 - at) * math.log((1 - at) / (1 - p)) - log)

    exact = [brentq(excess, at, 1.0 - 1e-12, args=(at,)) for at in inner.tolist()]
    assert high[1:-1] == pytest.approx(exact, abs=1e-9)
    assert high[0] == pytest.approx(1.0 - math.exp(-log))
    # By Pinsker's inequality, this interval is inside Hoeffding's, so it is never the longer one.
    assert (high <= counts / n + math.sqrt(log / 2.0)).all()


def test_the_share_of_a_population_has_both_errors() -> None:
    margin, raw = table(3), np.array([0.05, 0.3, 0.65])
    low, high = margin.intervals(raw, POPULATION, 1.0 - BETA)
    people = margin.intervals(raw, RELATED, 1.0 - 0.7 * BETA)
    log = math.log(2.0 / (0.3 * BETA)) / 100

    def excess(p: float, at: float) -> float:
        return float(at * math.log(at / p) + (1 - at) * math.log((1 - at) / (1 - p)) - log)

    ends = [brentq(excess, at, 1.0 - 1e-12, args=(at,)) for at in people[1].tolist()]
    starts = [brentq(excess, 1e-12, at, args=(at,)) for at in people[0][1:].tolist()]
    assert high == pytest.approx(ends, abs=1e-9)
    assert low[1:] == pytest.approx(starts, abs=1e-9)


def test_with_equal_weights_the_band_is_that_of_the_largest_noise() -> None:
    one = weighing([1.0], [100], 0.02, closed=ClosedNoise(4))
    low, high = LorenzCells(one, 0.001, 4)._beyond(np.full(4, 0.25), RELATED, 0.95)
    worst = WeighedCells(one, 0.001, 4).worst(RELATED, 0.95)
    assert (high - low) / 2.0 == pytest.approx(np.full(4, worst), rel=1e-6)


def table(cells: int, scale: float = 0.02) -> LorenzCells:
    one = weighing([0.02, 0.4, 1.0], [2, 8, 90], scale, closed=ClosedNoise(cells))
    return LorenzCells(one, 0.0, cells)


@pytest.mark.parametrize("cells", [2, 5])
@pytest.mark.parametrize("truth", [0.05, 0.3, 0.9])
def test_a_share_is_rejected_as_often_as_allowed(cells: int, truth: float) -> None:
    """A true share is rejected with probability β, or up to a twentieth less.

    The reason is that quantiles of the noise are read from a table, and rounded up.
    """
    margin = table(cells)
    curve, closed, scale = LorenzCurve(margin.weighing), ClosedNoise(cells), margin.weighing.scale

    def covers(drawn: float) -> bool:
        low, high = margin.intervals(np.array([drawn]), RELATED, 1.0 - BETA)
        return bool(low[0] <= truth + 1e-12 and truth - 1e-12 <= high[0])

    ends = []
    for far in (-3.0, 3.0):
        inside, outside = truth, truth + far
        for _ in range(26):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if covers(middle) else (inside, middle)
        ends.append(inside)
    without = float(curve.lowest(np.array([truth]), 1.0)[0])
    chance = float(closed.exceeds((without - ends[0]) / scale))
    chance += float(closed.exceeds((ends[1] - without) / scale))
    assert 0.95 * BETA <= chance <= BETA * (1.0 + 1e-5)


@pytest.mark.parametrize("related", [True, 0.2])
def test_the_band_has_all_shares_that_are_possible_within_the_noise(related: Any) -> None:
    cells, rng, assumption = 4, np.random.default_rng(2), Assumption("people", related)
    margin = table(cells, 0.002)
    counts, weights = margin.weighing.counts, margin.weighing.weights
    assert margin._band_by_curve(assumption) == (related is True)
    factor = -1.0
    for _ in range(60):
        at = rng.dirichlet(np.full(cells, 0.5), len(counts))
        if related is not True:
            at = at[:1] + 0.1 * (at - at[:1])
        truth, drawn = counts @ at / counts.sum(), (counts * weights) @ at
        low, high = margin.band(drawn, assumption, 1.0 - BETA)
        assert (low < truth).all()
        assert (truth < high).all()
        factor = max(factor, float((truth - low).max()), float((high - truth).max()))
    assert factor <= 2.0 * margin.worst(assumption, 1.0 - BETA)
    for share in (0.0, 0.02, 1.0):  # nobody, only strict people, or everyone
        low, high = margin.band(np.full(cells, share), assumption, 1.0 - BETA)
        assert (low <= share).all()
        assert (high >= min(share + margin.weighing.scale, 1.0)).all()


def test_a_band_that_ignores_who_is_strict_is_too_narrow() -> None:
    margin = table(4, 0.0005)
    counts, weights = margin.weighing.counts, margin.weighing.weights
    at = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    truth, drawn = counts @ at / counts.sum(), (counts * weights) @ at
    low, high = margin.band(drawn, RELATED, 1.0 - BETA)
    assert ((low <= truth) & (truth <= high)).all()
    fault = LorenzCells(replace(margin.weighing, weights=np.full(3, 0.01)), 0.0, 4)
    low, high = fault.band(drawn, RELATED, 1.0 - BETA)
    assert not ((low <= truth) & (truth <= high)).all()


def test_shares_of_two_cells_complement_each_other() -> None:
    margin, drawn = table(2), np.array([0.3, 0.7])
    low, high = margin.intervals(drawn, RELATED, 0.95)
    assert low == pytest.approx(1.0 - high[::-1], abs=1e-12)
    assert margin.band(drawn, RELATED, 0.95)[0].tolist() == low.tolist()


# What a release and a plan say.


def test_intervals_are_narrower_where_few_people_are_strict() -> None:
    epsilon = np.repeat([0.02, 0.1, 1.0], [30, 600, 5370])
    values = np.random.default_rng(1).uniform(0.0, 1.0, 6000)
    release = ep.mean(values, epsilon=epsilon, bounds=(0, 1), source=ep.Seeded(1))
    low, high = release.interval()
    margin: Any = release.estimate.margin
    former = 2.0 * margin.error(RELATED, 0.95)
    assert isinstance(margin, LorenzSpread)
    assert 0.6 < (high - low) / former < 0.85
    planned = ep.plan(epsilon, bounds=(0, 1)).trial.found.reach
    assert planned == pytest.approx((high - low) / 2.0, rel=0.03)


def test_equal_weights_have_the_interval_of_the_noise() -> None:
    margin = LorenzMean(weighing([1.0], [100], 0.01), 0.0)
    for related in (True, 0.1, False):
        low, high = margin.interval(0.4, (0.0, 1.0), Assumption("people", related), 0.95)
        assert (low, high) == pytest.approx(
            (0.4 + 0.01 * math.log(0.05), 0.4 - 0.01 * math.log(0.05))
        )


def test_with_no_noise_the_interval_is_what_is_possible() -> None:
    one = weighing([0.0, 1.0], [5, 15], 0.0)
    assert LorenzMean(one, 0.0).interval(0.4, (0.0, 1.0), RELATED, 0.95) == pytest.approx(
        (0.3, 0.55)
    )
    whole = LorenzMean(replace(one, scale=math.inf), 0.0)
    assert whole.interval(math.inf, (0.0, 1.0), RELATED, 0.95) == (0.0, 1.0)


def test_unrelated_people_get_the_narrower_of_two_forecasts() -> None:
    few = weighing([0.02, 1.0], [1, 9999], 1e-4)
    many = weighing([0.2, 1.0], [5000, 5000], 1e-4)
    for one, by_curve in ((few, True), (many, False)):
        assert LorenzMean(one, 0.0)._by_curve(UNRELATED) == by_curve
        assert LorenzCells(one, 0.0, 3)._by_curve(UNRELATED) == by_curve


def test_many_levels_are_fast_and_near_few() -> None:
    levels = np.geomspace(0.01, 1.0, 20_000)
    budgets = Budgets(dict(zip(levels.tolist(), [1] * 20_000, strict=True)))
    spent = np.minimum(budgets.levels, 0.1)
    one = weighing(spent, budgets.counts, 1.0 / float(spent.sum()))
    merged = weighing(spent.reshape(200, 100).mean(axis=1), np.full(200, 100), one.scale)
    ends = [LorenzMean(each, 0.0).interval(0.3, (0, 1), RELATED, 0.95) for each in (one, merged)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


def test_old_kinds_keep_their_intervals() -> None:
    drawn: Floats = np.array([0.2, 0.3, 0.5])
    one = weighing([0.02, 1.0], [10, 90], 0.01, closed=ClosedNoise(3))
    low, high = WeighedCells(one, 0.0, 3).intervals(drawn, RELATED, 0.95)
    assert high - low == pytest.approx(np.full(3, high[0] - low[0]))
    assert (LorenzCells(one, 0.0, 3).intervals(drawn, RELATED, 0.95)[1] < high).all()
