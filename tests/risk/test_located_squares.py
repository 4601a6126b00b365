"""Squares of clipped values give a bound on the standard deviation of a Gaussian."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from epsilons.risk import Weighing
from epsilons.risk.ranges import (
    SIDE,
    SIGMA,
    Located,
    LocatedSquares,
    Picture,
    _cut_fourth,
    _cut_square,
)

N = 3000
PICTURE = Picture(0.0, 1.0 / SIGMA, 0.05, 0.01, 0.02, (400.0, 200.0), (2500.0, 2500.0))


def made(noise: float, square: float) -> LocatedSquares:
    weighing = Weighing(np.array([1.0 / N]), np.array([N]), noise)
    return LocatedSquares(PICTURE, weighing, 1e-9, square)


@pytest.mark.parametrize("reach", [0.3, 1.0, 2.5, 8.0])
@pytest.mark.parametrize("off", [0.0, 0.4, 2.0])
def test_moments_of_cut_values(reach: float, off: float) -> None:
    def moment(power: int) -> float:
        found = integrate.quad(
            lambda z: min(abs(z + off), reach) ** power * stats.norm.pdf(z),
            -12.0,
            12.0,
            points=[-reach - off, reach - off, -off],
            limit=200,
        )
        return float(found[0])

    assert _cut_square(reach, off) == pytest.approx(moment(2), rel=1e-9)
    assert _cut_fourth(reach, off) >= moment(4) * (1.0 - 1e-9)
    assert _cut_fourth(reach, off) <= 3.0 * moment(4)


def test_a_sigma_is_ruled_out_only_if_its_squares_are_seldom_so_small() -> None:
    """For the true σ, the smallest root mean square over all ranges is rarely below its bound."""
    rng = np.random.default_rng(3)
    margin, beta, missed = made(0.0, 0.0), 0.5, 0
    for _ in range(300):
        x = rng.normal(0.0, 1.0, N)
        for half in (1.0, 2.3, 4.0, 6.0):
            bounds = (-half, half)
            least = margin._least(bounds, 1.0, 1.0, beta)
            off = PICTURE.off(1.0, SIDE * beta)
            middles = np.linspace(-off, off, 9)
            roots = [math.sqrt(np.mean(np.minimum(np.abs(x - c), half) ** 2)) for c in middles]
            missed += min(roots) < least
            assert min(roots) <= 1.3 * least + 0.3  # the bound is not far from the exact value
    # Each of the 1,200 bounds may miss with probability 0.025, and far fewer do.
    assert missed <= 2


def test_of_all_lengths_that_a_range_may_have_the_worst_counts() -> None:
    """The bound covers the worst of all possible lengths of a range.

    On a longer range, squares have a larger mean and a larger variance.
    """
    few = Weighing(np.array([1.0 / 40]), np.array([40]), 0.0)
    margin, beta, low, high = LocatedSquares(PICTURE, few, 1e-9, 0.0), 0.5, 1.0, 1.02
    for half in (0.5, 0.9, 1.4):
        least = margin._least((-half, half), low, high, beta)
        off = (PICTURE.off(low, SIDE * beta) - PICTURE.width) * high / low + PICTURE.width
        wrong = math.log(65 * (32.0 * off + 2.0) / (SIDE * beta / 2.0))
        for reach in np.linspace(2.0**-0.125 * half / high, half / low, 7).tolist():
            root = math.sqrt(2.0 * wrong / 40 * _cut_fourth(reach, 0.0))
            assert least <= math.sqrt(max(_cut_square(reach) - root, 0.0)) + 1e-12


@pytest.mark.parametrize("noise", [0.0, 1e-4, 3e-4])
def test_the_bound_on_sigma_holds_and_is_narrower_than_that_of_the_selections(noise: float) -> None:
    bounds = (-4.0, 4.0)
    expected = made(noise, 0.0).expecting(bounds, 1.0)
    assert expected.square == pytest.approx(_cut_square(4.0) / 64.0)
    found = expected._largest(bounds, 0.05)
    assert 1.0 < found < PICTURE.sigma(SIDE * 0.05)
    # Larger squares, or more noise, allow a larger sigma.
    if noise > 0.0:
        assert found > made(0.0, expected.square)._largest(bounds, 0.05)
    assert replace(expected, square=1.3 * expected.square)._largest(bounds, 0.05) >= found
    assert replace(made(10 * noise, expected.square))._largest(bounds, 0.05) >= found


def test_squares_that_say_nothing_leave_what_the_selections_say() -> None:
    for square in (math.inf, 0.25):
        margin = made(1e-4, square)
        assert margin._largest((-4.0, 4.0), 0.05) == PICTURE.sigma(SIDE * 0.05)
    plain = Located(PICTURE, margin.weighing, 1e-9)
    assert plain.expecting((-4.0, 4.0), 1.0) is plain
    # The bound from squares needs a part of the error probability. So the interval is slightly
    # wider.
    raw = margin._reach_at((-4.0, 4.0), 1.0, 0.05), plain._reach_at((-4.0, 4.0), 1.0, 0.05)
    assert raw[1] < raw[0] < 1.05 * raw[1]
