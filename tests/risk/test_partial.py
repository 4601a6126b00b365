"""Bounds on tails of sums of noise are never below the exact tails, and hardly above them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilons.risk.quantiles import (
    closed_tail,
    closed_variance,
    independent_exceeds,
    independent_tail,
)
from epsilons.risk.tails.joint import ClosedNoise

POINTS = 4000
SCALE = 40


def of_one(scale: float) -> np.ndarray:
    """Return the distribution of one integer noise on −POINTS … POINTS."""
    z = np.abs(np.arange(-POINTS, POINTS + 1))
    weights = np.exp(-z / scale)
    return weights / weights.sum()


def convolved(law: np.ndarray, times: int) -> np.ndarray:
    """Return the distribution of a sum of independent noises, as a power of the Fourier transform.

    It does not use the recursion of `risk/quantiles.py`, which is tested here.
    """
    size = 2 * POINTS + 1
    wave = np.fft.rfft(np.roll(law, -POINTS), n=size) if times else np.ones(POINTS + 1)
    return np.roll(np.fft.irfft(wave**times, n=size), POINTS)


def above(law: np.ndarray, x: float) -> float:
    """Return P(X > x) for a distribution on the integers."""
    places = np.arange(-POINTS, POINTS + 1)
    return float(law[places > x].sum())


@pytest.mark.parametrize(("cells", "added"), [(2, 1), (3, 1), (8, 3), (8, 4), (16, 15), (64, 20)])
def test_a_sum_of_cells_of_a_closed_table(cells: int, added: int) -> None:
    one = of_one(SCALE)
    law = convolved(one, added) * convolved(one, cells - added)
    law /= law.sum()
    bound = closed_tail(cells, added)
    places = np.arange(-POINTS, POINTS + 1)
    variance = float(law @ places**2) / SCALE**2
    assert closed_variance(cells, added) == pytest.approx(variance, rel=0.01)
    for x in (-3.0, -0.5, 0.25, 1.0, 2.0, 4.0, 7.0):
        far = x * math.sqrt(variance)
        # The tail on the lattice is within half a lattice step of the continuous tail.
        least, most = (above(law, far * SCALE + half) for half in (0.5, -0.5))
        found = float(bound(np.array(far)))
        assert found >= least * (1.0 - 1e-3) - 1e-9
        assert found <= most * 1.08 + 1e-3


def test_one_cell_is_the_cell_of_the_exact_polynomial() -> None:
    at = np.linspace(-4.0, 12.0, 321)
    for cells in (2, 3, 7, 40):
        found, exact = closed_tail(cells, 1)(at), ClosedNoise(cells).exceeds(at)
        assert (found >= exact - 1e-13).all()
        assert (found <= exact + 0.03).all()


def test_the_integer_law_is_bounded_with_a_few_points_of_slack() -> None:
    """The bound covers integer noise with a slack of k lattice steps and a factor e^{2k/scale}."""
    cells, scale = 4, 6
    one = np.exp(-np.abs(np.arange(-60, 61)) / scale)
    sums = [np.ones(1)]
    for _ in range(cells):
        sums.append(np.convolve(sums[-1], one))
    for added in (1, 2, 3):
        half = len(sums[added]) // 2, len(sums[cells - added]) // 2
        reach = min(half)
        first = sums[added][half[0] - reach : half[0] + reach + 1]
        rest = sums[cells - added][half[1] - reach : half[1] + reach + 1]
        law = first * rest[::-1]
        law /= law.sum()
        for x in (0, 3, 8, 15):
            exact = float(law[reach + x + 1 :].sum())
            far = np.array((x - cells) / scale)
            bound = float(closed_tail(cells, added)(far)) * math.exp(2.0 * cells / scale)
            assert exact <= bound


@pytest.mark.parametrize(("cells", "added", "first"), [(2, 1, 0.5), (8, 3, 0.2), (8, 3, 0.9)])
def test_a_weighted_difference_of_independent_sums(cells: int, added: int, first: float) -> None:
    size = 1 << 15
    theta = 2.0 * np.pi * np.fft.rfftfreq(size, d=0.01)
    # Laplace noise has the transform 1/(1 + θ²). The inverse transform gives the density.
    wave = (1.0 + (first * theta) ** 2) ** -float(added)
    wave *= (1.0 + ((1.0 - first) * theta) ** 2) ** -float(cells - added)
    density = np.fft.fftshift(np.fft.irfft(wave, n=size)) / 0.01
    places = (np.arange(size) - size // 2) * 0.01
    for x in (-1.0, 0.3, 1.0, 3.0, 6.0):
        exact = float(density[places > x].sum() * 0.01)
        found = independent_exceeds(cells, added, first, x)
        assert exact - 5e-3 * exact - 1e-6 <= found <= 1.1 * exact + 2e-3


def test_all_of_one_part_is_the_sum_of_that_part() -> None:
    for x in (-2.0, 0.0, 1.0, 5.0):
        assert independent_exceeds(6, 2, 1.0, x) == float(independent_tail(6, 2)(np.array(x)))
        assert independent_exceeds(6, 2, 0.0, x) == float(independent_tail(6, 4)(np.array(x)))


def test_far_beyond_the_grid_nothing_is_claimed_to_be_impossible() -> None:
    bound = closed_tail(8, 4)
    assert 0.0 < float(bound(np.array(1e9))) < 1e-12
    assert float(bound(np.array(-1e9))) == 1.0
