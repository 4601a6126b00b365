"""Tails of noise against draws, closed forms, and each other. They are bounds, and near."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from epsilons_next.inference.laws import Law

Floats = NDArray[np.float64]
DRAWS = 400_000


def closed(cells: int, number: int, seed: int) -> Floats:
    """Noise that sums to zero, from its definition: the positive parts and the negative ones."""
    rng = np.random.default_rng(seed)
    size = rng.gamma(cells - 1, 1.0, number)
    odds = np.array(
        [math.comb(cells, j) * math.comb(cells - 2, j - 1) for j in range(1, cells)], float
    )
    positive = rng.choice(np.arange(1, cells), number, p=odds / odds.sum())
    up = rng.random((number, cells)).argsort(axis=1) < positive[:, None]
    parts = rng.exponential(size=(number, cells))
    ends = (parts * up).sum(1), (parts * ~up).sum(1)
    return np.where(up, parts / ends[0][:, None], -parts / ends[1][:, None]) * size[:, None]


CASES = {
    "a mean of everybody": (Law((1,), 1, True), [1.0], 2),
    "one of five shares": (Law((1,), 4, True), [1.0], 5),
    "a mean where something holds": (Law((1, 1), 1, True), [0.7, -0.3], 3),
    "a share in a group": (Law((1, 2), 3, True), [0.8, -0.2], 6),
    "a mean at the end of the range": (Law((1, 1), 4, True), [0.99, -0.01], 6),
    "a mean in a group, from squares": (Law((1, 1, 1), 4, True), [0.7, 0.2, -0.3], 7),
    "a mean from moments": (Law((1, 1), 0, False, 4.0), [0.25, 0.0], 0),
    "a mean whose size is secret": (Law((1, 1), 0, False), [0.6, -0.4], 0),
    "a share whose size is secret": (Law((1, 3), 0, False), [0.75, -0.25], 0),
}


def drawn(law: Law, coefficients: list[float], cells: int) -> Floats:
    numbers = np.repeat(coefficients, law.counts)
    if law.closed:
        found: Floats = closed(cells, DRAWS, 1)[:, : len(numbers)] @ numbers
        return found
    rng = np.random.default_rng(1)
    plain: Floats = law.scale * rng.laplace(size=(DRAWS, len(numbers))) @ numbers
    return plain


@pytest.mark.parametrize("case", CASES)
def test_tails_are_bounds_and_near(case: str) -> None:
    law, coefficients, _ = CASES[case]
    row, noise = np.array([coefficients]), drawn(*CASES[case])
    loose = 2.6 if len(law.counts) == 3 else 1.06
    for x in np.quantile(noise, [0.6, 0.8, 0.95, 0.975, 0.995]):
        seen = int((noise > x).sum())
        bound = float(law.tail(row, np.array([x]))[0])
        assert seen <= stats.binom.isf(1e-6, DRAWS, bound)
        assert bound <= loose * stats.beta.isf(1e-6, seen + 1, DRAWS - seen)
    assert law.tail(row, np.array([-1.0]))[0] == 1.0
    assert law.deviation(row)[0] == pytest.approx(noise.std(), rel=0.01)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sd", [0.0, 0.5, 3.0])
def test_beside_a_normal_sum_they_are_exact(case: str, sd: float) -> None:
    law, coefficients, _ = CASES[case]
    row = np.array([coefficients])
    noise = drawn(*CASES[case]) + sd * np.random.default_rng(2).standard_normal(DRAWS)
    for x in np.quantile(noise, [0.6, 0.9, 0.975]):
        found = float(law.mixed(row, np.array([x]), np.array([sd**2]))[0])
        assert found == pytest.approx((noise > x).mean(), rel=0.035)


@pytest.mark.parametrize("case", ["a mean of everybody", "a mean where something holds"])
def test_beside_a_bounded_sum_they_are_bounds(case: str) -> None:
    law, coefficients, _ = CASES[case]
    signs = np.random.default_rng(3).choice([-0.5, 0.5], (DRAWS, 4)) @ np.array(
        [1.0, 2.0, 0.5, 1.0]
    )
    noise = drawn(*CASES[case]) + signs
    square = np.array([1.0 + 4.0 + 0.25 + 1.0])
    for x in np.quantile(noise, [0.5, 0.9, 0.99]):
        bound = float(law.bounded(np.array([coefficients]), np.array([x]), square)[0])
        assert (noise > x).mean() <= bound
    assert bound < 0.12


def test_closed_forms() -> None:
    x = np.array([0.5, 2.0, 4.0])
    one = np.ones((3, 1))
    assert Law((1,), 1, True).tail(one, x) == pytest.approx(0.5 * np.exp(-x), rel=0.01)
    assert Law((1,), 0, False).tail(2 * one, x) == pytest.approx(0.5 * np.exp(-x / 2), rel=0.01)
    two = np.tile([0.8, -0.3], (3, 1))
    s = 0.3**2 / (0.8**2 - 0.3**2)
    exact = 0.5 * ((1 + s) * np.exp(-x / 0.8) - s * np.exp(-x / 0.3))
    assert Law((1, 1), 0, False).tail(two, x) == pytest.approx(exact, rel=0.045)
    assert (Law((1, 1), 0, False).tail(two, x) >= exact).all()


def test_many_cells_are_nearly_independent() -> None:
    x = np.array([3.0, 6.0])
    many = Law((1,), 9_999, True).tail(np.ones((2, 1)), x)
    assert many == pytest.approx(0.5 * np.exp(-x / 2.0), rel=0.01)
    assert (many >= Law((1,), 400, True).tail(np.ones((2, 1)), x)).all()


def test_a_law_far_out_is_no_zero() -> None:
    """Bands of many rows need tails that are small, and right."""
    x = np.array([20.0, 40.0])
    assert Law((1,), 1, True).tail(np.ones((2, 1)), x) == pytest.approx(0.5 * np.exp(-x), rel=0.05)
