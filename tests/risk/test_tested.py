"""Direct tests of slopes and correlations accept what an independent computation accepts.

False alarms: statistical tests here fail for correct code with probability below 10⁻⁷ in all.
"""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from epsilons.risk.moments.margins import WeighedMoments
from epsilons.risk.moments.tested import VariedTests, WeighedTests, extent, largest
from epsilons.risk.tails.combined import Contrast, Hull
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import RELATED, UNRELATED, Assumption, Weighing
from epsilons.types import Floats, Integers

U = np.array([0.5, 0.0, -0.5])
SQUARE = np.array([0.25, -0.25, 0.25])
ONE = np.ones(3)


@cache
def drawn_noise(closed: bool) -> Floats:
    """Draws of nine noises: independent ones, or ones that sum to zero, by rejection."""
    rng = np.random.default_rng(7)
    if not closed:
        return np.asarray(rng.laplace(size=(200_000, 9)))
    first = rng.laplace(size=(1_200_000, 8))
    rest = -first.sum(axis=1)
    kept = rng.random(len(rest)) < np.exp(-np.abs(rest))
    return np.concatenate([first[kept], rest[kept, None]], axis=1)


def hull(values: Floats, closed: bool, scale: float = 1.0) -> Hull:
    return Hull(values, scale, ClosedNoise(9) if closed else None)


ROWS = [
    np.kron(U - 0.1, U + 0.2),
    np.kron(SQUARE - 0.2 * U + 0.01, ONE),
    np.kron(U, ONE),
    np.kron(U, U) - 0.7 * np.kron(SQUARE, ONE),
]


@pytest.mark.parametrize("closed", [True, False])
def test_tails_are_those_of_the_law(closed: bool) -> None:
    noise = drawn_noise(closed)
    for row, beta in product(ROWS, (0.1, 0.01)):
        off, far = np.abs(noise @ row), hull(row, closed).deviation(0.0, 0.0, beta)
        runs = len(off)
        assert stats.binom.sf(int((off > far).sum()), runs, beta) > 1e-9
        assert stats.binom.cdf(int((off > far / 1.03).sum()), runs, beta) > 1e-9
        # Power: bounds that are a tenth too small or too large are noticed.
        assert stats.binom.sf(int((off > far / 1.1).sum()), runs, beta) < 1e-9
        assert stats.binom.cdf(int((off > far * 1.1).sum()), runs, beta) < 1e-9


@pytest.mark.parametrize("closed", [True, False])
def test_no_combination_between_two_has_a_larger_tail(closed: bool) -> None:
    rng = np.random.default_rng(5)
    far = np.geomspace(0.3, 30.0, 40)
    for _ in range(12):
        ends = rng.normal(size=(2, 9))
        both = hull(ends, closed)
        for part in rng.random(3):
            between = hull(part * ends[0] + (1.0 - part) * ends[1], closed)
            assert (between.tail(far) <= both.tail(far) * (1.0 + 1e-3) + 1e-9).all()
            assert between.variance <= both.variance * (1.0 + 1e-12)
    # The tail of the hull is exactly the larger tail of its two ends.
    alone = np.maximum(hull(ends[0], closed).tail(far), hull(ends[1], closed).tail(far))
    assert both.tail(far) == pytest.approx(alone)


@pytest.mark.parametrize("closed", [True, False])
def test_one_number_has_the_tail_of_an_array(closed: bool) -> None:
    far = np.concatenate([[-1.0, 0.0], np.geomspace(1e-4, 3000.0, 400)])
    both = hull(np.random.default_rng(8).normal(size=(3, 9)), closed)
    assert [both.beyond(each) for each in far.tolist()] == pytest.approx(both.tail(far), rel=1e-14)


def test_ten_cells_have_no_weight_beyond_the_tables() -> None:
    """The period of the Fourier series is long enough for up to ten cells, by Chernoff's bound."""
    rates = np.linspace(0.3, 0.99, 70)
    beyond = -10.0 * np.log1p(-np.square(rates)) - 36.0 * 1.5 * rates
    assert float(beyond.min()) < math.log(1e-14)


def gaussian(sigma: float, s: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * (s / sigma) ** 2))


def parabola(zero: float, u: float) -> float:
    return u * u - zero * zero


def test_a_sum_with_noise_is_bounded_from_both_sides() -> None:
    """For a sum with a Gaussian tail, the bound is that of `deviation`."""
    noise = hull(ROWS[0], closed=True, scale=0.1)
    for sigma in (0.001, 0.1, 2.0):
        found = noise.with_sum(partial(gaussian, sigma), 0.05)
        assert found == pytest.approx(noise.deviation(0.0, 4.0 * sigma**2, 0.05), rel=1e-6)
        # If a bound is known, the search stops there.
        above = partial(gaussian, sigma)
        assert noise.with_sum(above, 0.05, 1.5 * found) == pytest.approx(found, rel=1e-11)
        assert noise.with_sum(above, 0.05, 0.7 * found) == 0.7 * found
        assert noise.deviation(0.3, 4.0 * sigma**2, 0.05, 0.2) >= 0.2
    quiet = Hull(ROWS[0], 0.0, ClosedNoise(9))
    assert quiet.with_sum(lambda s: np.exp(-s), 0.05) == pytest.approx(math.log(40.0))
    assert Hull(ROWS[0], math.inf).with_sum(lambda s: np.exp(-s), 0.05) == math.inf


def test_extremes_of_forms_are_found() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        m, k = rng.uniform(-0.5, 0.5, 2)
        form = tuple(rng.normal(size=3) * (rng.random(3) < 0.7))
        first, second = (-0.5 - m, 0.5 - m), (-0.5 - k, 0.5 - k)
        s, t = np.meshgrid(np.linspace(*first, 201), np.linspace(*second, 201))
        values = form[0] * s * s + form[1] * s * t + form[2] * t * t
        low, high = extent(form, first, second)
        assert low <= min(values.min(), 0.0) + 1e-12
        assert high >= max(values.max(), 0.0) - 1e-12
        close = 1e-3 * (1.0 + np.abs(form).sum())
        assert low >= values.min() - close
        assert high <= values.max() + close


def test_the_largest_point_is_found_from_below() -> None:
    for zero in (1e-9, 0.3, 7.0, 1e6):
        found = largest(partial(parabola, zero), 0.0, 1.0)
        assert zero * (1.0 - 1.0 / 500.0) <= found < zero


def margin(
    weights: tuple[float, ...] = (1.0,),
    counts: tuple[int, ...] = (3000,),
    scale: float = 0.003,
    wide: float = 1.0,
) -> WeighedTests:
    rng = np.random.default_rng(11)
    x = wide * rng.random(60)
    y = 0.3 + 0.4 * x + 0.3 * wide * rng.random(60)
    cells = [np.stack([z * z, 2.0 * z * (1.0 - z), (1.0 - z) ** 2]) for z in (x, y)]
    shares = (cells[0][:, None, :] * cells[1][None, :, :]).mean(axis=2).ravel()
    people = np.array(counts)
    own = np.array(weights) / float(np.array(weights) @ people)
    whole = Weighing(own, people, scale, closed=ClosedNoise(9))
    return WeighedTests(whole, 0.0, 0.0, shares)


def moments(given: WeighedTests) -> tuple[float, float, float, float, float]:
    """Both means, both variances and the covariance of what was drawn."""
    q = given.drawn
    m, k = float(np.kron(U, ONE) @ q), float(np.kron(ONE, U) @ q)
    x = float(np.kron(SQUARE, ONE) @ q) - m * m
    y = float(np.kron(ONE, SQUARE) @ q) - k * k
    return m, k, x, y, float(np.kron(U, U) @ q) - m * k


def around(m: float, k: float) -> list[Floats]:
    """Three rows of coefficients: the means of s², s·t and t² as linear functions of nine cells.

    Here s is the first value minus m, and t is the second value minus k.
    """
    rows = (
        np.kron(SQUARE - 2.0 * m * U + m * m, ONE),
        np.kron(U - m, U - k),
        np.kron(ONE, SQUARE - 2.0 * k * U + k * k),
    )
    return [np.asarray(row, dtype=np.float64) for row in rows]


def accepted(given: WeighedTests, form: Floats, beta: float, part: float) -> bool:
    """Whether the mean of a quadratic form may be 0, judged by draws of the noise.

    The form is a·s² + b·s·t + c·t², where s and t are the values minus their true means.
    """
    m, k, x, y, c = moments(given)
    rows = around(m, k)
    noise = drawn_noise(True)[:100_000] * given.weighing.scale
    a, b = (
        float(np.quantile(np.abs(noise @ line), 1.0 - 0.01 * beta))
        for line in (np.kron(U, ONE), np.kron(ONE, U))
    )
    far = float(np.quantile(np.abs(noise @ (form @ np.array(rows))), 1.0 - part * beta))
    drawn = float(form @ np.array([x, c, y]))
    # A drawn variance is too small by the squared error of the mean, so this error has one sign.
    low = form if drawn < 0.0 else -form
    once = max(low[0], 0.0) * a * a + abs(low[1]) * a * b + max(low[2], 0.0) * b * b
    corners = [
        float(
            np.quantile(np.abs(noise @ (form @ np.array(around(m + x, k + y)))), 1.0 - part * beta)
        )
        for x in (-a, a)
        for y in (-b, b)
    ]
    twice = 2.0 * float(np.abs(form) @ np.array([a * a, a * b, b * b]))
    return abs(drawn) <= once + min(far + twice, max(corners))


def test_a_slope_is_finite_where_the_variance_is_not_0() -> None:
    """A slope is finite if the interval of the variance is above 0.

    `WeighedMoments` bounds the slope linearly. There its interval is infinite with the same noise.
    """
    given = margin(scale=0.025)
    assert given.variance(0, RELATED, 0.9).low > 0.0
    assert math.isfinite(given.slope(RELATED, 0.9).high)
    linear = WeighedMoments(given.weighing, 0.0, 0.0, given.drawn)
    assert math.isinf(linear.slope(RELATED, 0.9).high)
    assert math.isinf(margin(scale=0.05).slope(RELATED, 0.9).high)


def largest_bias(apart: Floats, counts: Integers, root: float) -> float:
    """Return the largest Σ apart·f over |f| ≤ 1 with this mean square; f is a clipped line."""
    n = int(counts.sum())

    def worst(rate: float) -> float:
        f = np.clip(rate * apart * n, -1.0, 1.0)
        return float(counts @ np.square(f)) / n - root * root

    rate = 1e9 if worst(1e9) < 0.0 else optimize.brentq(worst, 0.0, 1e9)
    return float((counts * apart) @ np.clip(rate * apart * n, -1.0, 1.0))


def test_the_bias_is_bounded_by_range_and_mean_square() -> None:
    """The bound is at least the exact maximum, and at most 1.35 times that."""
    for weights, counts in (((0.2, 1.0), (30, 970)), ((0.1, 0.5, 1.0), (5, 100, 895))):
        given = margin(weights, counts)
        n, whole = sum(counts), given.weighing
        apart = whole.weights - 1.0 / n
        for root in (0.003, 0.03, 0.2, 1.0):
            exact = largest_bias(apart, whole.counts, root)
            assert exact <= given._leaning(root) * (1.0 + 1e-9)
            assert given._leaning(root) <= 1.35 * exact + 1e-12


@pytest.mark.parametrize("assumption", [RELATED, UNRELATED, Assumption("population", False)])
def test_small_variances_narrow_intervals(assumption: Assumption) -> None:
    """Bounds on the mean squares exceed the drawn mean squares, and make error bounds smaller."""
    given = margin((0.3, 1.0), (20, 2980), 0.0001, 0.1)
    off = (0.002, 0.002)
    x, y = given.mean_squares(assumption, 0.05, off)
    _, _, first, second, _ = moments(given)
    assert first < x < first + 0.03
    assert second < y < second + 0.03
    form = [(0.0, 1.0, 0.0)]
    known = given.far(given._tested(form, (x, y)), assumption, 0.05)
    assert known < given.far(given._tested(form, (math.inf, math.inf)), assumption, 0.05)
    assert known <= given.far(given._tested(form, (2.0 * x, 2.0 * y)), assumption, 0.05)
    assert known > Contrast(given._tested(form, (x, y)).values[0], 0.0001).variance ** 0.5


def test_forms_around_means_near_the_drawn_ones() -> None:
    """For any means within their errors, a form is between the forms at the four corners."""
    given, rng = margin(), np.random.default_rng(2)
    m, k, *_ = moments(given)
    off = (0.04, 0.07)
    for _ in range(20):
        form = tuple(rng.normal(size=3))
        found = given._tested([form], (math.inf, math.inf), off)
        assert found.values.shape == (4, 9)
        x, y = rng.uniform(-1.0, 1.0, 2) * off
        inner = np.array(form) @ np.array(around(m + x, k + y))
        # The form differs from the bilinear interpolation of the corners by a constant.
        p, q = (x / off[0] + 1.0) / 2.0, (y / off[1] + 1.0) / 2.0
        parts = np.array([(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q])
        assert np.ptp(parts @ found.values - inner) < 1e-12
        corner = np.array(form) @ np.array(around(m - off[0], k - off[1]))
        assert found.values[0] == pytest.approx(corner)
        s, t = np.meshgrid(*(np.linspace(-0.5, 0.5, 41) - each for each in (m + x, k + y)))
        values = form[0] * s * s + form[1] * s * t + form[2] * t * t
        assert found.low <= values.min() + 1e-12
        assert found.low + found.reach >= values.max() - 1e-12


def varied(offset: float, quiet: float = 1.0 / 3.0, scale: float = 0.004) -> VariedTests:
    whole = Weighing(np.array([1.0 / 2000]), np.array([2000]), scale)
    return VariedTests(whole, 0.0, 0.0, np.array([offset, 0.04 + offset * offset]), quiet)


@pytest.mark.parametrize("offset", [0.0, 0.2, -0.45])
def test_a_variance_has_the_noise_of_both_sums(offset: float) -> None:
    """Bounds agree with draws of both noises within 3 %, so an error of a tenth is noticed."""
    given, beta = varied(offset), 0.1
    rng = np.random.default_rng(4)
    first, second = rng.laplace(size=(2, 400_000)) * np.array([[0.004], [0.004 / 3.0]])
    far = float(np.quantile(np.abs(second - 2.0 * offset * first), 1.0 - 0.94 * beta))
    mean = 0.004 * math.log(1.0 / (0.01 * beta))
    around_all = max(
        float(np.quantile(np.abs(second - 2.0 * (offset + x) * first), 1.0 - 0.94 * beta))
        for x in (-mean, mean)
    )
    far = min(far + 2.0 * mean * mean, around_all)
    found = given.variance(0, RELATED, 1.0 - beta)
    assert 0.04 - found.low == pytest.approx(far, rel=0.03)
    assert found.high - 0.04 == pytest.approx(far + mean * mean, rel=0.03)
    assert found.value == pytest.approx(0.04 + 2.0 * 0.004**2)
    risk = 2.0 * ((0.004 / 3.0) ** 2 + (2.0 * offset * 0.004) ** 2)
    assert given.risk(0, 0, RELATED) == pytest.approx(risk)


@pytest.mark.parametrize("related", [True, 0.1])
def test_a_population_is_as_far_from_its_sample_as_its_variance_allows(related: Any) -> None:
    """With related budgets, the error is that of these people plus Bernstein's bound."""
    given = margin((0.5, 1.0), (100, 2900), 0.0001, 0.1)
    assumption = Assumption("population", related)
    x, y = given.mean_squares(assumption, 0.05, (0.002, 0.002))
    function = given._tested([(0.0, 1.0, 0.0)], (x, y))
    part = 0.3 * 0.05
    log = math.log((2.0 if related is True else 4.0) / part)
    sample = log / 9000.0
    sample += math.sqrt(sample**2 + 2.0 * log * (function.root / function.reach) ** 2 / 3000.0)
    noise = given.noise(function.values / function.reach)
    exact = noise.deviation(given.weighing.bias, 0.0, 0.05 - part) + sample
    found = given.far(function, assumption, 0.05)
    if related is True:
        assert found == pytest.approx(function.reach * exact, rel=1e-6)
    assert found <= function.reach * exact * (1.0 + 1e-6)
    assert found < given.far(function._replace(root=math.inf), assumption, 0.05)
