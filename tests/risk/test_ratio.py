"""Tails of piecewise uniform noise and intervals of ratios agree with sums and simulation.

Tests are seeded. With a new seed, correct code would fail any test with probability below 10⁻⁶:
there are fewer than 500 comparisons, each at 10⁻⁹ (six standard errors or the exact binomial tail).
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special
from scipy.stats import binom

import epsilons as ep
from epsilons.draws.noise import Hourglass, Laplaces, Staircase, Staircase2D
from epsilons.risk.means import ratio
from epsilons.risk.tails import pieces

STEPS = 2**40
TAIL = 1e-9
RUNS = 40_000
LAWS: dict[str, Any] = {
    "laplace": Laplaces(2**40),
    "hourglass 0.05": Hourglass.best(Fraction(1, 20), STEPS),
    "hourglass 0.5": Hourglass.best(Fraction(1, 2), STEPS),
    "hourglass 2": Hourglass.best(2, STEPS),
    "hourglass 8": Hourglass.best(8, STEPS),
    "staircase2d 0.05": Staircase2D.best(Fraction(1, 20), STEPS),
    "staircase2d 0.5": Staircase2D.best(Fraction(1, 2), STEPS),
    "staircase2d 4": Staircase2D.best(4, STEPS),
}


def weight_of(law: Any) -> int:
    """Return a person's weight: 2**40 (ε = 1) for Laplace noise, one unit for staircase noise."""
    return 2**40 if isinstance(law, Laplaces) else 1


def drawn_from(law: Any, size: int, seed: int) -> np.ndarray:
    """Draw noise in units of weight."""
    return np.asarray(law.draw(ep.Seeded(seed), size), dtype=np.float64) / law.steps


# Pieces of the noise.


@pytest.mark.parametrize("rate", [0.1, 1.0, 7.0])
@pytest.mark.parametrize(("steps", "inner"), [(1, 1), (4, 1), (4, 3), (9, 9)])
def test_a_staircase_in_pieces_bounds_the_sum_over_the_lattice(
    rate: float, steps: int, inner: int
) -> None:
    law = Staircase(Fraction(rate).limit_denominator(1000), steps, inner)
    made = pieces.staircase(law.pieces)
    x = np.arange(-math.ceil(60 / rate + 3) * steps, math.ceil(60 / rate + 3) * steps + 1)
    p = np.exp([law.log_pmf(int(each)) for each in x])
    assert made.mass.sum() + made.rest == pytest.approx(1.0, abs=1e-12)
    for alpha in (0.0, 0.3, 1.0, 2.7, 9.0):
        exact = float(p[x / steps > alpha].sum())
        bound = made.tail(alpha, 0.0)
        assert bound >= exact - 1e-12
        # Without the slack, the bound is between the exact tails half a step to the left and to the
        # right.
        near = made.tail(alpha + made.slack, 0.0)
        assert float(p[x / steps > alpha + 0.5001 / steps].sum()) - 1e-12 <= near
        assert near <= float(p[x / steps > alpha - 0.5001 / steps].sum()) + 1e-12
        for sigma in (0.1, 1.0, 5.0):
            s = np.maximum(alpha - x / steps, 0.0)
            beside = float(p @ np.exp(-(s**2) / (2.0 * sigma**2)))
            assert made.tail(alpha, sigma) >= beside - 1e-12


@pytest.mark.parametrize("rate", [0.2, 1.0, 5.0])
def test_fine_pieces_are_the_integral(rate: float) -> None:
    law = Staircase.best(Fraction(rate).limit_denominator(1000), STEPS)
    made = pieces.staircase(law.pieces)
    for alpha, sigma in itertools.product((0.5, 2.0, 11.0), (0.2, 3.0)):
        total = 0.0
        for left, right, mass in zip(made.left, made.right, made.mass, strict=True):
            if mass < 1e-9:
                continue
            value, _ = integrate.quad(
                lambda x, a=alpha, s=sigma: math.exp(-(max(a - x, 0.0) ** 2) / (2.0 * s * s)),
                left, right, points=[min(max(alpha, left), right)],
            )  # fmt: skip
            total += mass * value / (right - left)
        assert made.tail(alpha, sigma) == pytest.approx(total, abs=1e-6)


def test_the_error_function_of_a_table() -> None:
    x = np.concatenate([np.linspace(0.0, 7.0, 100_001), [0.0, 5.9999999999, 6.0, 1e300]])
    np.testing.assert_allclose(pieces._erfc(x), special.erfc(x), atol=3e-14)


@pytest.mark.parametrize("rate", [0.15, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("m", [0.0, 0.3, 0.5, 1.0])
def test_tails_of_the_hourglass_and_of_rings_are_bounds_and_sharp(rate: float, m: float) -> None:
    for kind in (Hourglass, Staircase2D):
        law: Any = kind.best(Fraction(rate).limit_denominator(1000), STEPS)
        first, second = ratio.TWO_SUMS.at(m)
        noise = drawn_from(law, RUNS, int(100 * rate + 10 * m)) @ np.array([first, second])
        made = ratio.noise_of(law, (first, second))
        rng = np.random.default_rng(3)
        for sigma in (0.0, 2.0):
            total = noise + sigma * rng.standard_normal(RUNS)
            for alpha in np.quantile(total, [0.6, 0.9, 0.99]).tolist():
                if alpha <= 0.0:
                    continue
                seen = int((total > alpha).sum())
                bound = made.tail(alpha, sigma)
                assert binom.sf(seen - 1, RUNS, min(bound, 1.0)) > TAIL
                if sigma == 0.0 and isinstance(law, Hourglass):
                    # Here the bound is exact, so it must not be too large either.
                    assert binom.cdf(seen, RUNS, bound) > TAIL
                elif sigma == 0.0:
                    # Binning makes the bound only slightly larger.
                    assert bound <= seen / RUNS * 1.1 + 0.03


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.09])
def test_below_a_rate_stairs_are_compared_with_laplace_noise(rate: float) -> None:
    for kind in (Hourglass, Staircase2D):
        law: Any = kind.best(Fraction(rate).limit_denominator(1000), STEPS)
        for m in (0.0, 0.5):
            first, second = ratio.TWO_SUMS.at(m)
            noise = drawn_from(law, RUNS, int(1000 * rate)) @ np.array([first, second])
            made = ratio.noise_of(law, (first, second))
            for alpha in np.quantile(noise, [0.6, 0.9, 0.99, 0.999]).tolist():
                seen = int((noise > alpha).sum())
                bound = made.tail(alpha, 0.0)
                assert binom.sf(seen - 1, RUNS, min(bound, 1.0)) > TAIL
                assert bound <= seen / RUNS * 1.35 + 3e-3


@pytest.mark.parametrize("more", [0, 1, 4, 19])
@pytest.mark.parametrize("b", [0.1, 0.5, 1.0])
def test_the_sum_of_many_laplace_variables_is_bounded(more: int, b: float) -> None:
    rng = np.random.default_rng(more)
    total = rng.laplace(0.0, 1.0, RUNS)
    for _ in range(more):
        total = total + rng.laplace(0.0, b, RUNS)
    made = ratio._Sum(1.0, b, more, 0.0)
    for alpha in np.quantile(total, [0.75, 0.95, 0.999]).tolist():
        bound = made.tail(alpha, 0.0)
        assert binom.sf(int((total > alpha).sum()) - 1, RUNS, bound) > TAIL
    spread = math.sqrt(2.0 + 2.0 * more * b * b)
    quantile = ratio.quantile(made, 0.025)
    assert quantile < 4.3 * spread
    beside = total + 3.0 * rng.standard_normal(RUNS)
    alpha = float(np.quantile(beside, 0.975))
    assert binom.sf(int((beside > alpha).sum()) - 1, RUNS, made.tail(alpha, 3.0)) > TAIL


# Variances.


@pytest.mark.parametrize("law", [Laplaces(2), Hourglass(2, 4, 2), Staircase2D(2, 4, 2)], ids=repr)
def test_the_variance_of_the_noise_is_that_of_all_points(law: Any) -> None:
    points = np.array(list(itertools.product(range(-60, 61), repeat=2)))
    p = np.exp([law.log_pmf(x, y) for x, y in points.tolist()])
    for scheme in (ratio.TWO_SUMS, ratio.CENTRED, ratio.SUM_AND_COUNT):
        found = [
            float(p @ np.square(points @ np.array(scheme.at(m)))) / law.steps**2
            for m in np.linspace(0.0, 1.0, 21).tolist()
        ]
        assert ratio.noise_variance(law, scheme) == pytest.approx(max(found), rel=1e-6)


def test_schemes_undo_their_own_matrix() -> None:
    for scheme in (ratio.TWO_SUMS, ratio.CENTRED, ratio.SUM_AND_COUNT):
        both = np.array([scheme.start, scheme.total]) @ np.array(scheme.matrix)
        np.testing.assert_array_equal(both, np.eye(2))


# Coverage.


def truths_and_sums(
    n: int, runs: int, kind: str, seed: int
) -> tuple[float | np.ndarray, np.ndarray]:
    """Return the true mean, and the sum of all values in each run."""
    rng = np.random.default_rng(seed)
    if kind == "drawn, two points":
        return 0.5, rng.binomial(n, 0.5, runs).astype(float)
    if kind == "drawn, rare":
        return 0.1, rng.binomial(n, 0.1, runs).astype(float)
    if kind == "drawn, uniform":
        sums = (
            rng.random((runs, n)).sum(1) if n <= 100 else rng.normal(n / 2, (n / 12) ** 0.5, runs)
        )
        return 0.5, sums
    share = {"these, half": 0.5, "these, none": 0.0, "these, all": 1.0}[kind]
    ones = math.floor(share * n)
    return ones / n, np.full(runs, float(ones))


def missed(
    law: Any, n: int, kind: str, confidence: float, runs: int, seed: int
) -> tuple[int, float]:
    """Return the number of intervals that miss the true value, and the median width."""
    k = weight_of(law)
    truth, sums = truths_and_sums(n, runs, kind, seed)
    noise = np.asarray(law.draw(ep.Seeded(seed), runs), dtype=np.float64) / law.steps
    largest = k if kind.startswith("drawn") else 0
    misses, widths = 0, []
    for s, (p, q) in zip(sums, noise, strict=True):
        total = n * k + p + q
        low, high = ratio.interval(
            law, ratio.TWO_SUMS, (s * k + p, total), largest=largest, confidence=confidence
        )
        misses += not low <= truth <= high
        widths.append(high - low)
    return misses, float(np.median(widths))


@pytest.mark.parametrize("rate", [50, 800, 2**20])
def test_rates_beyond_all_floats_are_ordinary(rate: int) -> None:
    for kind in (Hourglass, Staircase2D):
        low, high = ratio.interval(
            kind.best(rate, STEPS), ratio.TWO_SUMS, (40.0, 100.0), largest=0, confidence=0.95
        )
        assert low <= 0.4 <= high
        assert high - low < 0.05


def test_intervals_at_a_lost_count_say_nothing() -> None:
    for law in LAWS.values():
        for total in (0.0, -5.0):
            drawn = (1.0, total)
            found = ratio.interval(law, ratio.TWO_SUMS, drawn, largest=1, confidence=0.9)
            assert found == (0.0, 1.0)


def test_intervals_grow_with_confidence_and_shrink_with_people() -> None:
    law = LAWS["hourglass 2"]

    def width(total: float, confidence: float, largest: int = 1) -> float:
        low, high = ratio.interval(
            law, ratio.TWO_SUMS, (0.4 * total, total), largest=largest, confidence=confidence
        )
        assert low <= 0.4 <= high
        return high - low

    assert width(100.0, 0.5) < width(100.0, 0.9) < width(100.0, 0.999)
    assert width(1e4, 0.9) < width(1e3, 0.9) < width(1e2, 0.9)
    assert width(1e3, 0.9, 0) < width(1e3, 0.9, 1) < width(1e3, 0.9, 5)
    # With many people, noise is negligible, and the interval is as wide as Hoeffding's bound.
    assert width(1e6, 0.95) == pytest.approx(2 * math.sqrt(math.log(2 / 0.05) / 2e6), rel=0.03)


@pytest.mark.parametrize("rate", [0.11, 0.3, 2.0])
@pytest.mark.parametrize("m", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("sigma", [0.0, 1.0, 30.0])
def test_a_side_is_told_as_all_pieces_tell_it(rate: float, m: float, sigma: float) -> None:
    law = Hourglass.best(Fraction(rate).limit_denominator(1000), STEPS)
    first, second = ratio.TWO_SUMS.at(m)
    noise = ratio.noise_of(law, (first, second))
    all_pieces = pieces.hourglass(law.pieces, first - second, second)
    said = []
    for alpha in np.geomspace(0.3, 30.0 / rate, 12).tolist():
        bound = all_pieces.tail(alpha, sigma)
        # Omitted pieces of the noise are treated as exceeding every alpha. So for large alpha, the
        # Laplace bounds are tighter.
        betas = (0.02, 0.5) if bound < 1e-4 else (bound * (1.0 - 1e-9), bound * (1.0 + 1e-9))
        for beta in betas:
            said.append(noise.rarely(alpha, sigma, beta))
            assert said[-1] == (bound <= beta), (alpha, beta)
    assert any(said)
    assert not all(said)
