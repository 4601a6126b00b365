"""Moments of noise contrasts equal closed forms. Bounds on their tails are never too small."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from epsilons.risk.tails.combined import Contrast, moments_of
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.types import Floats

FAR = np.array([0.01, 0.3, 1.0, 2.5, 5.0, 9.0, 15.0])


def two_laplaces(a: float, b: float, far: Floats) -> Floats:
    """Return the exact P(aX + bY > far) for independent Laplace noises X and Y."""
    return np.asarray((a * a * np.exp(-far / a) - b * b * np.exp(-far / b)) / (2 * (a * a - b * b)))


@pytest.mark.parametrize(
    ("contrast", "exact"),
    [
        (Contrast(np.array([1.0]), 1.0), 0.5 * np.exp(-FAR)),
        (Contrast(np.array([-2.0]), 0.5), 0.5 * np.exp(-FAR)),
        (Contrast(np.array([1.0, -0.5]), 1.0), two_laplaces(1.0, 0.5, FAR)),
        (Contrast(np.array([0.3, 0.9]), 2.0), two_laplaces(1.8, 0.6, FAR)),
        # If two noises sum to zero, their difference is one Laplace noise.
        (Contrast(np.array([1.0, -1.0]), 1.0, ClosedNoise(2)), 0.5 * np.exp(-FAR)),
        (Contrast(np.array([3.0, 1.0]), 1.0, ClosedNoise(2)), 0.5 * np.exp(-FAR)),
        (Contrast(np.eye(9)[2], 1.0, ClosedNoise(9)), ClosedNoise(9).exceeds(FAR)),
        (Contrast(np.eye(3)[0], 1.0, ClosedNoise(3)), ClosedNoise(3).exceeds(FAR)),
    ],
)
def test_a_tail_is_at_least_that_of_the_law(contrast: Contrast, exact: Floats) -> None:
    found = contrast.tail(FAR)
    assert (found >= exact).all()
    # At the quantiles that are used, the bound is close: at most 1.35 times the exact quantile,
    # plus 0.5.
    for beta in (0.1, 0.01, 1e-4):
        far = float(np.interp(-math.log(beta), -np.log(2.0 * exact), FAR))
        assert contrast.deviation(0.0, 0.0, beta) <= 1.35 * far + 0.5
        assert contrast.deviation(0.0, 0.0, beta) >= 0.95 * far


@pytest.mark.parametrize("cells", [3, 4, 9])
def test_moments_of_closed_noise_are_those_of_its_density(cells: int) -> None:
    """The moments of one cell's noise, if all noises sum to zero, agree with its known tail."""
    noise = ClosedNoise(cells)
    own = np.eye(cells)[0] - 0.5
    theta, found = moments_of(own, cells)
    for each, moment in zip(theta[::4], found[::4], strict=True):

        def more(x: float, rate: float = float(each)) -> float:
            return 2.0 * rate * math.sinh(rate * x) * float(noise.exceeds(x))

        exact = 1.0 + integrate.quad(more, 0.0, 400.0, limit=400, epsabs=1e-12)[0]
        assert moment == pytest.approx(exact, rel=1e-7)


def test_sums_and_shifts_are_beside_the_noise() -> None:
    contrast = Contrast(np.array([0.5, -0.5, 0.25]), 0.1)
    rng = np.random.default_rng(5)
    noise = rng.laplace(size=(400_000, 3)) @ contrast.values * 0.1
    n = 100
    sample = (rng.binomial(n, 0.5, len(noise)) - n / 2) / n  # P(±S > s) ≤ exp(−2ns²)
    for shift in (0.0, 0.07):
        far = contrast.deviation(shift, 1.0 / n, 0.05)
        off = np.abs(noise + sample + shift)
        assert stats.binom.sf(int((off > far).sum()), len(off), 0.05) > 1e-9
        assert far < 1.6 * float(np.quantile(off, 0.95))
        assert far >= contrast.deviation(shift, 0.0, 0.05)
        assert far >= contrast.deviation(0.0, 1.0 / n, 0.05)


def test_variances_of_noises_by_themselves_add_up() -> None:
    assert Contrast(np.array([1.0, -0.5]), 3.0).variance == pytest.approx(2.0 * 1.25 * 9.0)
    assert Contrast(np.ones(9), 3.0, ClosedNoise(9)).variance == pytest.approx(0.0)


def test_without_noise_hoeffding_is_left() -> None:
    contrast = Contrast(np.array([1.0, 2.0]), 0.0)
    assert contrast.deviation(0.25, 0.04, 0.1) == pytest.approx(
        0.25 + math.sqrt(0.04 * math.log(20.0) / 2.0)
    )
    assert contrast.deviation(0.25, 0.0, 0.1) == 0.25
    assert Contrast(np.array([1.0]), math.inf).deviation(0.0, 0.0, 0.1) == math.inf
