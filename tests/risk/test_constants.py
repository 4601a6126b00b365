"""Every constant in `risk` agrees with an independent computation within 10 %.

Each bound is compared with its definition, which is computed by search, enumeration or quadrature.
So a bound that is valid but too large also fails.
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, signal, stats

from epsilons import risk
from epsilons.draws.noise import Laplaces, Staircase
from epsilons.risk import StairNoise, Weighing, cells
from epsilons.risk.goals import CellsGoal
from epsilons.risk.means import ratio
from epsilons.risk.means.mean import keep_proxy
from epsilons.risk.tails import laplace, pieces
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption

BETAS = (0.5, 0.05, 1e-4)


def coin_proxy(p: float) -> float:
    """Return the largest 2·ln E e^{t(B − p)}/t² over t.

    B is a coin that is 1 with probability p.
    """
    t = np.concatenate([-np.geomspace(1e-2, 200.0, 8000), np.geomspace(1e-2, 200.0, 8000)])
    grown = np.logaddexp(math.log(p) + t * (1.0 - p), math.log1p(-p) - t * p)
    return float((2.0 * grown / t**2).max())


@pytest.mark.parametrize("p", [0.5, 0.499, 0.3, 0.1, 0.9, 0.97, 0.02])
def test_the_constant_of_kearns_and_saul(p: float) -> None:
    assert float(laplace.kearns_saul(np.array([p]))[0]) == pytest.approx(coin_proxy(p), rel=1e-4)


@pytest.mark.parametrize("p", [0.5, 0.2, 0.9])
@pytest.mark.parametrize("beta", BETAS)
def test_coins_of_a_mean_and_of_a_cell(p: float, beta: float) -> None:
    """A sampling coin changes a cell by w/p, and a mean by half of that.

    Here w is the weight of a person who is kept with probability p. A mean uses centered values,
    which are at most ½ in absolute value.
    """
    n = 50
    made = Weighing(np.array([1.0 / n]), np.array([n]), 1e-9, np.array([p]))
    sigma = math.sqrt(n * coin_proxy(p)) / (n * p)
    assert keep_proxy(made) == pytest.approx(sigma**2, rel=1e-4)
    factor = math.sqrt(2.0 * math.log(2.0 / beta))
    mean = risk.quantile(made, RELATED, 1.0 - beta)
    assert mean == pytest.approx(sigma / 2.0 * factor, rel=1e-4)
    share = risk.share_error(made, RELATED, 1.0 - beta)
    assert share == pytest.approx(sigma * factor, rel=1e-4)
    # For a sample, the variance is ¼·Σw² plus the variance of the sampling coins.
    both = math.sqrt(0.25 / n + sigma**2)
    assert risk.share_error(made, SAMPLE, 1.0 - beta) == pytest.approx(both * factor, rel=1e-4)
    both = math.sqrt(0.25 / n + sigma**2 / 4.0)
    assert risk.quantile(made, SAMPLE, 1.0 - beta) == pytest.approx(both * factor, rel=1e-4)


def bell_and_laplace(alpha: float, sigma: float, scale: float) -> float:
    """Return E[exp(−(alpha − L)₊²/2σ²)], by quadrature."""

    def inside(x: float) -> float:
        far = max(alpha - x, 0.0) / sigma
        return math.exp(-far * far / 2.0 - abs(x) / scale) / (2.0 * scale)

    ends = {-40.0 * scale, 0.0, alpha, alpha - 9.0 * sigma, alpha + 40.0 * scale}
    parts = itertools.pairwise(sorted(ends))
    return sum(integrate.quad(inside, u, v, limit=200, epsabs=1e-14)[0] for u, v in parts)


@pytest.mark.parametrize(("sigma", "scale"), [(1.0, 1.0), (0.1, 1.0), (3.0, 0.2), (1.0, 0.02)])
def test_a_tail_is_its_integral(sigma: float, scale: float) -> None:
    for alpha in (0.1, 1.0, 2.5, 6.0):
        found = laplace.tail(alpha, sigma, scale)
        assert found == pytest.approx(bell_and_laplace(alpha, sigma, scale), rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("shift", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("beta", BETAS)
def test_a_deviation_counts_both_sides(shift: float, beta: float) -> None:
    sigma, scale = 0.5, 0.7
    alpha = laplace.deviation(shift, 4.0 * sigma**2, scale, beta)
    far = bell_and_laplace(alpha - shift, sigma, scale)
    # For errors in the other direction, the bound treats the shift as 0.
    far += bell_and_laplace(alpha, sigma, scale)
    assert far == pytest.approx(beta, rel=1e-5)
    alone = laplace.laplace_quantile(shift, scale, beta)
    law = stats.laplace(scale=scale)
    assert law.sf(alone - shift) + law.sf(alone + shift) == pytest.approx(beta, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_proxy_of_a_permutation_is_a_sum_over_people(seed: int) -> None:
    weights = np.random.default_rng(seed).exponential(size=3 + seed)
    order = sorted(weights - weights.mean(), key=lambda w: -abs(w))
    total = 0.0
    for k, weight in enumerate(order[:-1]):
        total += (weight - float(np.mean(order[k + 1 :]))) ** 2
    made = Weighing(weights, np.ones(len(weights), dtype=np.int64), 0.1)
    assert risk.permutation_proxy(made) == pytest.approx(total, rel=1e-9)
    pull = abs(1.0 - made.total) / 2.0
    found = risk.quantile(made, UNRELATED, 0.95)
    least = min(
        laplace.deviation(pull, total, 0.1, 0.05), laplace.deviation(made.bias, 0.0, 0.1, 0.05)
    )
    assert found == pytest.approx(least, rel=1e-9)


def noise_quantile(k: int, beta: float) -> float:
    """Return the 1 − β quantile of the largest absolute value of k Laplace noises of scale 1."""
    return float(stats.laplace.ppf(0.5 + (1.0 - beta) ** (1.0 / k) / 2.0))


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("keep", [None, 0.4])
@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED])
def test_the_error_of_the_worst_cell_is_a_union_of_both_sides(
    k: int, keep: float | None, assumption: Assumption
) -> None:
    """The largest error is bounded by a union of Hoeffding bounds, plus the largest of k noises.

    There is a Hoeffding bound for each cell and side. The error probability β is divided between
    sampling and noise in multiples of β/10.
    """
    weights, counts, scale, beta = np.array([0.002, 0.006]), np.array([200, 100]), 0.01, 0.05
    coins = None if keep is None else np.full(2, keep)
    made = Weighing(weights, counts, scale, coins)
    people = np.repeat(weights, counts)
    square = {
        SAMPLE: float(people @ people),
        UNRELATED: risk.permutation_proxy(made),
        RELATED: 0.0,
    }[assumption]
    if keep is not None:
        square += 4.0 * coin_proxy(keep) * float(people @ people) / keep**2
    bias = float(np.abs(people - 1.0 / 300).sum()) / 2.0
    errors = [
        math.sqrt(square * math.log(2.0 * k / (share * beta)) / 2.0)
        + scale * noise_quantile(k, (1.0 - share) * beta)
        for share in np.arange(1, 10) / 10.0
    ]
    expected = min(errors) + (bias if assumption == RELATED else 0.0)
    if keep is None and assumption != SAMPLE:

        def exceeds(a: float) -> float:
            """Return P(largest error > a) − β, for opposite biases in two of the cells."""
            law = stats.laplace(scale=scale)
            moved = law.cdf(a - bias) - law.cdf(-a - bias)
            rest = law.cdf(a) - law.cdf(-a)
            return float(1.0 - moved**2 * rest ** (k - 2)) - beta

        related = float(optimize.brentq(exceeds, 1e-9, 10.0))
        expected = min(expected, related) if assumption == UNRELATED else related
    found = cells.quantile(made, assumption, k, 1.0 - beta)
    assert found == pytest.approx(expected, rel=1e-4)
    assert cells.quantile(made, assumption, k, 1.0 - beta) == found
    assert cells.band(made, assumption, k, 1.0 - beta) <= found


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("keep", [None, 0.4])
@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED])
def test_the_squared_error_of_the_worst_cell(
    k: int, keep: float | None, assumption: Assumption
) -> None:
    """The risk is E(s + M)², where s² is the sampling variance and M is the largest of k noises."""
    weights, counts, scale = np.array([0.002, 0.006]), np.array([200, 100]), 0.003
    made = Weighing(weights, counts, scale, None if keep is None else np.full(2, keep))
    people = np.repeat(weights, counts)
    square = float(people @ people)
    if assumption == UNRELATED:
        square = float(np.sum((people - people.mean()) ** 2)) * 300 / 299
    share = 1.0 - 1.0 / k
    part = share * share * square
    if keep is not None:
        part = share * square + float(people @ people) * (1.0 - keep) / keep

    def density(m: float) -> float:
        return k * math.exp(-m) * (-math.expm1(-m)) ** (k - 1)

    expected = integrate.quad(
        lambda m: (math.sqrt(part) + scale * m) ** 2 * density(m), 0.0, 60.0, points=[math.log(k)]
    )[0]
    assert cells.largest_square(made, assumption, k) == pytest.approx(expected, rel=1e-6)
    assert CellsGoal(assumption, "largest", 0.9, k).risk(made) == pytest.approx(expected, rel=1e-6)


def test_two_cells_and_no_noise_are_a_coin() -> None:
    """With two cells, both have the same error. The worst-case mean square of a share is ¼/n."""
    made = Weighing(np.array([0.02]), np.array([50]), 0.0)
    assert cells.largest_square(made, SAMPLE, 2) == pytest.approx(0.25 / 50, rel=1e-12)


@pytest.mark.parametrize(("k", "lost"), [(3, 0.03), (30, 0.12)])
@pytest.mark.parametrize("scale", [0.0005, 0.01, 0.05])
def test_a_band_is_where_the_union_over_the_worst_shares_is_beta(
    k: int, lost: float, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A band is as wide as a union bound over all cells requires, for the worst-case shares.

    The tail of each cell is Bennett's or Hoeffding's bound, plus noise. The package uses shares on
    a grid, which makes the bound slightly larger if there are many cells. The test disables the
    nearly Gaussian bound, which can only make a band narrower.
    """
    n, beta = 200, 0.05
    made = Weighing(np.array([1.0 / n]), np.array([n]), scale)
    nearly = cells.band(made, SAMPLE, k, 1.0 - beta)
    monkeypatch.setattr(cells, "nearly_gaussian", lambda *_: None)
    a = cells.band(made, SAMPLE, k, 1.0 - beta)
    assert nearly <= a

    def one_side(p: float, at: float) -> float:
        """Return P(S + L > at) for a share p."""
        if p == 0.0:
            return 0.5 * math.exp(-at / scale)

        def bennett(rate: float) -> float:
            sample = p * n * (math.expm1(rate / n) - rate / n)
            return sample - math.log1p(-((rate * scale) ** 2)) - rate * at

        top = (1.0 - 1e-9) / scale
        best = optimize.minimize_scalar(bennett, bounds=(0.0, top), method="bounded").fun
        last = p * n * (math.expm1(1 / scale / n) - 1 / scale / n) - at / scale - math.log(2.0)
        hoeffding = bell_and_laplace(at, 0.5 / math.sqrt(n), scale)
        return min(math.exp(min(best, last, 0.0)), hoeffding)

    def any_cell(at: float) -> float:
        """Return a bound on P(any error > a) if m cells have equal shares, for the worst m."""
        nobody = one_side(0.0, at)
        return max(2.0 * (m * one_side(1.0 / m, at) + (k - m) * nobody) for m in range(2, k + 1))

    assert any_cell(a) <= beta
    assert any_cell((1.0 - lost) * a) > beta


@functools.cache
def lattice(kind: Any) -> tuple[np.ndarray, np.ndarray]:
    law = kind.best(Fraction(2), 12)
    points = np.array(list(itertools.product(range(-108, 109), repeat=2)))
    return points / law.steps, np.exp([law.log_pmf(x, y) for x, y in points.tolist()])


@pytest.mark.parametrize("rate", [0.3, 1.0, 6.0])
def test_the_masses_of_stairs_are_those_of_the_law(rate: float) -> None:
    law = Staircase.best(Fraction(rate).limit_denominator(100), 20)
    masses = pieces.stair_masses(law.pieces)
    points = np.arange(-60 * 20, 60 * 20 + 1)
    p = np.exp([law.log_pmf(int(x)) for x in points])
    stair = (np.abs(points) + law.steps - law.inner) // law.steps
    for j in range(4):
        assert masses[j] == pytest.approx(float(p[stair == j].sum()), rel=1e-6)


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("beta", BETAS)
def test_a_deviation_beside_stairs_counts_both_sides(rate: Fraction, beta: float) -> None:
    law = Staircase.best(rate, 60)
    unit, shift, sigma = 0.01, 0.02, 0.03
    alpha = StairNoise(law, unit).deviation(shift, 4.0 * sigma**2, beta)
    points = np.arange(-60 * 1200, 60 * 1200 + 1)
    levels = (np.abs(points) + law.steps - law.inner) // law.steps
    p = np.exp(-float(rate) * levels)
    p /= p.sum()
    noise = points / law.steps * unit

    def far(at: float) -> float:
        sides = (np.maximum(at + side - noise, 0.0) for side in (-shift, 0.0))
        return float(sum(p @ np.exp(-(gap**2) / (2.0 * sigma**2)) for gap in sides))

    assert far(alpha) <= beta * (1.0 + 1e-9)
    slack = unit if rate < Fraction(1, 8) else unit / 60
    assert far(alpha - 2.0 * slack) >= beta * (1.0 - 1e-9)


def combined(first: float, second: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the distribution of a combination of two Laplace variables of scale 1, on a grid."""
    x = np.linspace(-50.0, 50.0, 20_001)
    found = np.zeros(len(x))
    found[len(x) // 2] = 1.0
    for each in (abs(first), abs(second)):
        if each > 0.0:
            law = np.diff(stats.laplace.cdf(np.append(x - 0.0025, 50.0025), scale=each))
            found = signal.fftconvolve(found, law, mode="same")
    return x, found / found.sum()


@pytest.mark.parametrize("scheme", [ratio.TWO_SUMS, ratio.CENTRED, ratio.SUM_AND_COUNT])
@pytest.mark.parametrize("largest", [0.0, 1.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_an_interval_of_a_ratio_ends_where_both_noises_refute_it(
    scheme: ratio.Scheme, largest: float, confidence: float
) -> None:
    """At each end of an interval, noise plus sampling error has tail probability 0.95·β/2.

    A twentieth of β is for a bound on the total, which determines the sampling error. The search
    stops at a precision of 1/256. The lattice adds at most three lattice steps, and the noise scale
    is 20 steps.
    """
    scale, beta = 20, 1.0 - confidence
    t, total = 1200.0, 4000.0
    x, mass = combined(*scheme.total)
    about = scale * float(x[np.searchsorted(np.cumsum(mass), 1.0 - beta * 0.05 / 2.0)])
    sigma = math.sqrt(largest * (total + about)) / 2.0
    allowed = beta * 0.95 / 2.0

    def far(reach: float, end: float) -> float:
        x, mass = combined(*scheme.at(end))
        gap = np.maximum(reach - scale * x, 0.0)
        return float(mass @ (np.exp(-(gap**2) / (2.0 * sigma**2)) if sigma else gap <= 0.0))

    for end in ratio.interval(
        Laplaces(scale), scheme, (t, total), largest=largest, confidence=confidence
    ):
        reach = abs(t - end * total)
        assert far(reach, end) <= allowed
        assert far(0.97 * reach - 3.0, end) >= allowed


def test_quantiles_of_one_noise() -> None:
    for beta in BETAS:
        found = ratio.quantile(ratio.noise_of(Laplaces(30), (1.0, 0.0)), beta)
        assert found == pytest.approx(max(stats.laplace.isf(beta, scale=30.0), 0.0) + 1.0, rel=1e-3)


def test_moments_of_a_weighing() -> None:
    weights, counts = np.array([0.1, 0.3, 0.0]), np.array([3, 2, 4])
    keep = np.array([0.5, 1.0, 0.25])
    made = Weighing(weights, counts, 0.2, keep)
    people = np.repeat(weights, counts)
    assert made.n == 9
    assert made.total == pytest.approx(people.sum(), rel=1e-12)
    assert made.spread == pytest.approx(float(np.sum((people - people.mean()) ** 2)), rel=1e-12)
    assert made.square == pytest.approx(float(people @ people), rel=1e-12)
    assert made.bias == pytest.approx(float(np.abs(people - 1.0 / 9.0).sum()) / 2.0, rel=1e-12)
    assert made.jitter == pytest.approx(3 * 0.01 * 0.5 / 0.5, rel=1e-12)
