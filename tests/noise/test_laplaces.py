"""The pair of independent Laplace noises, and the smallest variance of staircase noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import (
    DiscreteLaplace,
    Laplaces,
    PairLaw,
    Seeded,
    Staircase,
    least_variance,
)
from epsilons.errors import ArgumentError
from tests.noise.conftest import ALPHA, chi_square

rationals = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9))


@settings(deadline=None)
@given(scale=rationals, x=st.integers(-(10**20), 10**20), y=st.integers(-(10**20), 10**20))
def test_the_law_is_the_product_of_two(scale: Fraction, x: int, y: int) -> None:
    law, each = Laplaces(scale), DiscreteLaplace(scale)
    assert isinstance(law, PairLaw)
    assert law.exponent(x, y) == (abs(x) + abs(y)) / scale
    assert law.log_pmf(x, y) == each.log_pmf(x) + each.log_pmf(y)
    assert law.variance == each.variance
    assert law.covariance == 0.0
    assert law.rate * law.scale == 1
    assert law.steps == 1


def test_probabilities_and_moments_are_those_of_a_sum() -> None:
    law = Laplaces(Fraction(3, 2))
    around = range(-70, 71)
    p = np.array([[math.exp(law.log_pmf(x, y)) for y in around] for x in around])
    x = np.array(around)
    assert p.sum() == pytest.approx(1.0, rel=1e-12)
    assert (p * x[:, None] ** 2).sum() == pytest.approx(law.variance, rel=1e-12)
    assert abs((p * np.outer(x, x)).sum()) < 1e-12


@settings(deadline=None, max_examples=50)
@given(
    scale=rationals,
    start=st.tuples(st.integers(-50, 50), st.integers(-50, 50)),
    move=st.tuples(st.integers(-50, 50), st.integers(-50, 50)),
)
def test_a_move_costs_its_length(
    scale: Fraction, start: tuple[int, int], move: tuple[int, int]
) -> None:
    law = Laplaces(scale)
    after = Fraction(law.exponent(start[0] + move[0], start[1] + move[1]))
    assert abs(after - Fraction(law.exponent(*start))) <= (abs(move[0]) + abs(move[1])) / scale
    # If the move starts at 0, the bound is attained.
    assert law.exponent(*move) == (abs(move[0]) + abs(move[1])) / scale


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(7, 2)])
def test_draws_have_their_law(scale: Fraction) -> None:
    law, n = Laplaces(scale), 40_000
    drawn = law.draw(Seeded(5), n)
    assert drawn.shape == (n, 2)
    assert drawn.dtype == np.int64
    reach = 3
    cells = [(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1)]
    seen = [int(((drawn[:, 0] == x) & (drawn[:, 1] == y)).sum()) for x, y in cells]
    chances = [math.exp(law.log_pmf(x, y)) for x, y in cells]
    p = chi_square([*seen, n - sum(seen)], [*chances, 1.0 - sum(chances)])
    assert p > ALPHA
    # Power: draws with equal coordinates are rejected.
    twice = [int(((drawn[:, 0] == x) & (drawn[:, 0] == y)).sum()) for x, y in cells]
    assert chi_square([*twice, n - sum(twice)], [*chances, 1.0 - sum(chances)]) < ALPHA


def test_one_pair_is_of_python_integers_and_seeds_repeat() -> None:
    law = Laplaces(2**50)
    pair = law.draw(Seeded(1))
    assert all(type(each) is int for each in pair)
    assert pair == law.draw(Seeded(1))
    assert pair != law.draw(Seeded(2))
    assert law.draw(Seeded(1), 0).shape == (0, 2)


def test_huge_scales_do_not_wrap() -> None:
    drawn = Laplaces(2**70).draw(Seeded(3), 50)
    assert drawn.dtype == object
    assert max(abs(int(each)) for each in drawn.ravel()) > 2**66


def test_a_law_is_a_frozen_value() -> None:
    assert Laplaces(2) == Laplaces(Fraction(4, 2))
    assert hash(Laplaces(2)) == hash(Laplaces(Fraction(2)))
    with pytest.raises(AttributeError):
        Laplaces(2).scale = Fraction(1)  # type: ignore[misc]


@pytest.mark.parametrize("scale", [0, -1, 0.5, "1", None, True, math.inf])
def test_the_scale_is_exact_and_positive(scale: object) -> None:
    with pytest.raises(ArgumentError):
        Laplaces(scale)  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [0.5, "1", None])
def test_outcomes_are_integers(x: object) -> None:
    for pair in ((x, 0), (0, x)):
        with pytest.raises(ArgumentError):
            Laplaces(1).exponent(*pair)


# The smallest variance of staircase noise.

RATES = [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(4), Fraction(8), Fraction(20)]


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_the_least_variance_is_the_limit_of_fine_steps(rate: Fraction) -> None:
    steps = 2**40
    law = Staircase.best(rate, steps)
    assert law.variance / steps**2 == pytest.approx(least_variance(float(rate)), rel=1e-9)


def variance(rate: float, gamma: np.ndarray) -> np.ndarray:
    """Return the variance of staircase noise as a sum over stairs. `gamma` is the first width."""
    b = math.exp(-rate)
    heights = b ** np.arange(math.ceil(60.0 / rate) + 2)
    left = np.zeros((len(gamma), len(heights)))
    left[:, 1:] = gamma[:, None] + np.arange(len(heights) - 1)[None, :]
    right = gamma[:, None] + np.arange(len(heights))[None, :]
    squares = ((right**3 - left**3) / 3.0) @ heights
    return np.asarray(squares / ((right - left) @ heights))


@pytest.mark.parametrize("rate", [0.05, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
def test_the_least_variance_is_the_minimum_over_all_widths(rate: float) -> None:
    gamma = np.linspace(0.0, 1.0, 2001)[1:]
    values = variance(rate, gamma)
    near = np.linspace(-1e-3, 1e-3, 2001) + gamma[values.argmin()]
    finer = variance(rate, near[(near > 0.0) & (near <= 1.0)])
    assert least_variance(rate) == pytest.approx(float(finer.min()), rel=1e-6)
    assert least_variance(rate) <= float(finer.min()) * (1.0 + 1e-9)


@pytest.mark.parametrize(("rate", "unit"), [(4, 0.520), (8, 0.108)])
def test_the_table_of_the_paper(rate: int, unit: float) -> None:
    assert least_variance(rate) * rate**2 / 2.0 == pytest.approx(unit, abs=6e-4)


@pytest.mark.parametrize(("rate", "unit"), [(16, 1.894e-3), (32, 1.752e-7)])
def test_the_rows_that_the_paper_misprints(rate: int, unit: float) -> None:
    assert least_variance(rate) * rate**2 / 2.0 == pytest.approx(unit, rel=1e-3)


def test_stairs_never_lose_to_laplace_noise_and_their_width_is_that_of_the_paper() -> None:
    for rate in np.geomspace(1e-3, 40.0, 60).tolist():
        assert least_variance(rate) < 2.0 / rate**2
    for rate in (Fraction(1, 2), Fraction(4)):
        b = math.exp(-float(rate))
        root = (b - 2 * b**2 + 2 * b**4 - b**5) ** (1 / 3)
        gamma = -b / (1 - b) + root / (2 ** (1 / 3) * (1 - b) ** 2)
        assert Staircase.best(rate, 2**40).inner / 2**40 == pytest.approx(gamma, rel=1e-9)
