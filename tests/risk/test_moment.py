"""Bounds on a mean that use its released spread agree with independent computations."""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.draws.mechanisms import build_moments
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means import mean
from epsilons.risk.means.mean import SampleError
from epsilons.risk.means.spread import Parts, Seen, Spreading, Terms, WeighedSpread, log_moment
from epsilons.risk.tails.laplace import laplace_quantile
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption, Weighing
from epsilons.types import Floats

LOCKED = Assumption("population", True)


def weighing(
    profile: str, n: int, assumption: Assumption = SAMPLE, spread: float = 0.5
) -> Weighing:
    if profile == "halves":
        epsilon = np.repeat([0.1, 1.0], [n // 2, n - n // 2])
    else:
        epsilon = np.exp(np.linspace(-3.0, 1.0, n))
    goal = MeanGoal(assumption, "mse", 0.95, spread)
    made = build_moments(
        allocate_for(ep.Budgets(epsilon), goal, "optimal"), grid=2**30, bounds=(0.0, 1.0)
    )
    return made.weighing


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=1, max_size=6),
    st.floats(1e-3, 40.0),
)
def test_no_law_has_larger_moments(points: list[tuple[float, float]], slope: float) -> None:
    x, p = (np.array(each) for each in zip(*points, strict=True))
    p = p / p.sum()
    middle = float(p @ x)
    deviation = math.sqrt(max(float(p @ (x - middle) ** 2), 0.0))
    own = math.log(float(p @ np.exp(slope * (x - middle))))
    for sigma in (deviation, min(1.3 * deviation, 0.5), 0.5):
        assert own <= float(log_moment(np.array([slope]), sigma)[0]) + 1e-9
    assert float(log_moment(np.array([slope]), 0.5)[0]) <= slope**2 / 8 + 1e-12


def test_a_rare_one_has_just_these_moments() -> None:
    for p, slope in ((0.01, 0.5), (0.1, 1.0), (0.3, 0.2)):
        sigma = math.sqrt(p * (1.0 - p))
        own = math.log(p * math.exp(slope * (1.0 - p)) + (1.0 - p) * math.exp(-slope * p))
        assert float(log_moment(np.array([slope]), sigma)[0]) == pytest.approx(own, rel=1e-9)


def chernoff(weights: Floats, counts: Floats, sigma: float, s: float) -> float:
    """Return the best Chernoff bound on P(S > s).

    The search is over the rate and the worst 0/1 variable.
    """
    rare = np.linspace(1e-6, (1.0 - math.sqrt(1.0 - 4.0 * sigma**2)) / 2.0, 400)

    def log_bound(log_slope: float) -> float:
        slope = math.exp(log_slope)
        a = slope * weights[:, None]
        own = np.log(rare * np.exp(a * (1.0 - rare)) + (1.0 - rare) * np.exp(-a * rare))
        return float(counts @ own.max(axis=1)) - slope * s

    sd = math.sqrt(float(counts @ weights**2)) * sigma
    found = optimize.minimize_scalar(
        log_bound, bounds=(math.log(0.01 / sd), math.log(30.0 / sd)), method="bounded"
    )
    return math.exp(min(float(found.fun), 0.0))


@pytest.mark.parametrize("p", [0.5, 0.2, 0.05, 0.01])
@pytest.mark.parametrize("scale", [0.0, 0.003, 0.05])
def test_reach_holds_for_coins_exactly(p: float, scale: float) -> None:
    """The bound holds for the exact distribution of a mean of n coins plus Laplace noise.

    It also holds for smaller standard deviations.
    """
    n, beta = 60, 0.05
    terms = Terms(np.array([1.0 / n]), np.array([float(n)]))
    far = terms.reach(math.sqrt(p * (1.0 - p)), scale, beta)
    for share in (p, 1.0 - p, p / 2.0, p / 5.0):
        ones = np.arange(n + 1)
        chance = stats.binom.pmf(ones, n, share)
        off = ones / n - share
        if scale == 0.0:
            missed = (np.abs(off) > far).astype(float)
        else:
            law = stats.laplace(scale=scale)
            missed = law.sf(far - off) + law.cdf(-far - off)
        assert float(chance @ missed) <= beta


def test_many_weights_are_bounded_by_few() -> None:
    rng = np.random.default_rng(1)
    weights = np.exp(rng.uniform(-4.0, 0.0, 1000)) / 1000.0
    terms = Terms(weights, np.ones(1000))
    nodes, counts = terms.few
    assert len(nodes) == 128
    assert float(nodes @ counts) == pytest.approx(float(weights.sum()))
    slopes = np.array([1.0, 30.0, 300.0])
    exact = log_moment(np.outer(slopes, weights), 0.2).sum(axis=1)
    few = log_moment(np.outer(slopes, nodes), 0.2) @ counts
    assert (few >= exact).all()
    np.testing.assert_allclose(few, exact, rtol=2e-3)


@pytest.mark.parametrize("variance", [0.0, 0.001, 0.01, 0.06, 0.2])
@pytest.mark.parametrize("n", [50, 1000, 20_000])
def test_the_largest_deviation_is_the_largest_that_fits(n: int, variance: float) -> None:
    flat = Weighing(np.array([1.0 / n]), np.array([n]), 0.0)
    found = Spreading(flat, SAMPLE).largest_deviation(variance, 0.004, 0.001)
    sigma = np.linspace(0.0, 0.5, 200_001)
    log = math.log(2.0 / 0.001)
    off = log / (3.0 * n) + np.sqrt((log / (3.0 * n)) ** 2 + 2.0 * sigma**2 * log / n)
    off = np.minimum(off, math.sqrt(log / (2.0 * n)))
    fits = sigma**2 - sigma * math.sqrt(2.0 * math.log(1.0 / 0.004) / n) - off**2 <= variance
    assert found == pytest.approx(sigma[fits].max(), abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_no_people_of_this_variance_are_more_biased(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 8
    weights = np.sort(np.exp(rng.uniform(-2.0, 1.0, n)))
    weights = (
        np.append(0.0, weights[1:] / weights[1:].sum()) if seed % 2 else weights / weights.sum()
    )
    apart, variance = weights - 1.0 / n, float(rng.uniform(0.001, 0.1))

    def spread(x: Floats) -> float:
        return float(variance - weights @ (x - weights @ x) ** 2)

    best = max(
        -optimize.minimize(
            lambda x: -float(apart @ x),
            rng.uniform(0.0, 1.0, n),
            bounds=[(0.0, 1.0)] * n,
            constraints={"type": "ineq", "fun": spread},
            method="SLSQP",
        ).fun
        for _ in range(5)
    )
    found = Spreading(Weighing(weights, np.ones(n, dtype=np.int64), 0.1), RELATED)._leaning(
        variance
    )
    assert best <= found + 1e-6


def test_a_bias_along_the_weights_is_reached() -> None:
    weights, counts = np.array([0.0005, 0.0015]), np.array([500, 500])
    apart = weights - 0.001
    x = 0.5 + 0.01 * apart / weights / np.abs(apart / weights).max()
    m = float(counts @ (weights * x))
    variance = float(counts @ (weights * (x - m) ** 2))
    found = Spreading(Weighing(weights, counts, 0.1), RELATED)._leaning(variance)
    assert found == pytest.approx(float(counts @ (apart * x)), rel=1e-6)


def test_the_variance_is_what_noise_leaves() -> None:
    flat = Spreading(Weighing(np.array([0.01]), np.array([100]), 0.001), SAMPLE)
    seen = Seen(0.2, 0.09, 0.0)
    up, off = 0.001 * math.log(0.5 / 0.0015), 0.001 * math.log(1.0 / 0.001)
    assert flat.most(seen, 0.0015, 0.001) == pytest.approx(0.09 + up - (0.2 - off) ** 2)
    assert flat.least(seen, 0.0015, 0.001) == pytest.approx(0.09 - up - (0.2 + off) ** 2)
    assert flat.most(Seen(0.0, 3.0, 0.0), 0.1, 0.1) == 0.25
    assert flat.most(Seen(0.0, -3.0, 0.0), 0.1, 0.1) == 0.0
    assert flat.most(Seen(math.inf, 0.1, 0.0), 0.1, 0.1) == 0.25
    assert flat.least(Seen(0.0, math.inf, 0.0), 0.1, 0.1) == 0.0


@pytest.mark.parametrize("profile", ["halves", "log-uniform"])
def test_ten_thousand_people_who_are_alike_have_half_the_interval(profile: str) -> None:
    one = weighing(profile, 10_000)
    usual = mean.quantile(one, SAMPLE, 0.95)
    margin = WeighedSpread(one, 0.0, 0.0, 0.01)
    assert margin.uses_spread(SAMPLE)
    assert margin.error(SAMPLE, 0.95) <= 0.45 * usual


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED, Assumption("people", 0.05)])
@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_a_wrong_forecast_costs_a_twentieth_at_most(n: int, assumption: Assumption) -> None:
    for profile in ("halves", "log-uniform"):
        for guess in (0.5, 0.05):
            one = weighing(profile, n, assumption, guess)
            worst = WeighedSpread(one, 0.0, 0.0, 0.25, 0.2 if guess == 0.5 else guess)
            for confidence in (0.5, 0.95, 0.999):
                usual = mean.quantile(one, assumption, confidence)
                assert worst.error(assumption, confidence) <= 1.055 * usual


def test_a_bias_that_could_be_far_larger_is_not_bet_on() -> None:
    """An interval uses a bound on the bias only if it cannot be far larger than the usual bound.

    Here the bound on the bias is smaller for data with little spread. For data with the largest
    possible spread, it is more than twice the usual bound. So the interval does not use it.
    """
    one = Weighing(np.array([0.98, 1.02]) / 40.0, np.array([20, 20]), 1e-5)
    spreading, parts = Spreading(one, UNRELATED), Parts.of(0.05)
    usual = mean.quantile(one, UNRELATED, 0.95)
    ways = [spreading._reach(way, 0.0006, parts, 0.05) for way in ("bias", "chance")]
    assert ways[0] < ways[1] < usual
    assert spreading._reach("bias", 0.25, parts, 0.05) > 2.0 * usual
    worst = WeighedSpread(one, 0.0, 0.0, 0.25, 0.02)
    assert worst.error(UNRELATED, 0.95) <= 1.05 * usual


def test_what_is_spent_on_the_spread_is_not_spent_again() -> None:
    one = weighing("halves", 3000)
    margin, beta = WeighedSpread(one, 0.0, 0.05, 0.03), 0.05
    spreading = Spreading(one, SAMPLE)
    variance = spreading.most(Seen(0.05, 0.03, 0.0), 0.02 * beta, 0.01 * beta)
    sigma = spreading.largest_deviation(variance, 0.04 * beta, 0.01 * beta)
    terms = Terms(one.weights, one.counts.astype(np.float64))
    near = SampleError(one, sigma * sigma).deviation(0.92 * beta)
    known = min(terms.reach(sigma, one.scale, 0.92 * beta), near)
    assert margin.error(SAMPLE, 0.95) == pytest.approx(known)
    # If budgets may be related to values, only the noise is random.
    lean = Spreading(one, RELATED)._leaning(variance)
    found = Spreading(one, RELATED).error("bias", Seen(0.05, 0.03, 0.0), beta)
    assert found == pytest.approx(laplace_quantile(min(lean, one.bias), one.scale, 0.97 * beta))


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED])
def test_intervals_grow_with_the_square_and_with_confidence(assumption: Assumption) -> None:
    one = weighing("halves", 1000, assumption, 0.05)
    margins = [WeighedSpread(one, 1e-9, 0.1, square, 0.05) for square in np.linspace(0.0, 0.3, 13)]
    assert margins[0].uses_spread(assumption)
    for confidence in (0.5, 0.9, 0.95, 0.99):
        found = [each.error(assumption, confidence) for each in margins]
        assert found == sorted(found)
        assert found[0] < found[-1]
    nested = [margins[3].error(assumption, c) for c in (0.01, 0.3, 0.9, 0.94, 0.95, 0.96, 0.9999)]
    assert nested == sorted(nested)


def test_public_facts_alone_decide() -> None:
    one = weighing("halves", 10_000)
    for offset, square in ((0.0, 0.0), (0.3, 0.25), (-9.0, 7.0), (math.inf, -math.inf)):
        assert WeighedSpread(one, 0.0, offset, square).uses_spread(SAMPLE)
        assert not WeighedSpread(one, 0.0, offset, square).uses_spread(LOCKED)
    pulled = dataclasses.replace(one, weights=0.9 * one.weights)
    assert not WeighedSpread(pulled, 0.0, 0.0, 0.0).uses_spread(SAMPLE)
    equal = Weighing(np.array([1e-3]), np.array([1000]), 0.001)
    assert not WeighedSpread(equal, 0.0, 0.0, 0.0).uses_spread(UNRELATED)
    assert WeighedSpread(equal, 0.0, 0.0, 0.0).uses_spread(SAMPLE)


def test_parts_of_a_large_error_are_those_of_a_small_one() -> None:
    assert sum(Parts.of(0.05)) == pytest.approx(0.08 * 0.05)
    assert Parts.of(0.5) == Parts.of(0.05)
    assert sum(Parts.of(0.001)) == pytest.approx(0.08 * 0.001)


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED, LOCKED])
def test_the_interval_of_the_spread_is_ordered_and_shrinks(assumption: Assumption) -> None:
    widths = []
    for n in (30, 1000, 30_000):
        margin = WeighedSpread(weighing("halves", n, SAMPLE), 1e-9, 0.1, 0.02)
        found = margin.spread((0.0, 10.0), assumption, 0.95)
        assert 0.0 <= found.low <= found.value <= found.high <= 5.0
        assert found.interval == (found.low, found.high)
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert found.value == pytest.approx(1.0, rel=0.01)


def test_intervals_are_fast() -> None:
    """At least 25 intervals are computed per second of CPU time.

    One took 8 ms when this was written.
    """
    epsilon = np.exp(np.linspace(-3.0, 1.0, 3000))
    one = Weighing(epsilon / epsilon.sum(), np.ones(3000, dtype=np.int64), 1.0 / epsilon.sum())
    start = time.thread_time()
    for square in np.linspace(0.01, 0.2, 10):
        WeighedSpread(one, 0.0, 0.0, float(square)).error(SAMPLE, 0.95)
    assert time.thread_time() - start < 0.4


def test_the_square_of_the_noise_is_taken_away() -> None:
    """The square of a noisy mean is too large by the noise variance 2t², which is subtracted."""
    one = Weighing(np.array([0.01]), np.array([100]), 0.05)
    found = WeighedSpread(one, 0.0, 0.3, 0.1).spread((0.0, 1.0), RELATED, 0.95)
    assert found.value == pytest.approx(math.sqrt(0.1 - 0.09 + 2.0 * 0.05**2))
