"""Bounds of the local model agree with their definitions."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln

from epsilons.risk.local import Sums, chernoff, chi_square, influence, mean_dot, related


@pytest.mark.parametrize("beta", [0.5, 0.1, 0.01, 1e-6])
@pytest.mark.parametrize("d", [1, 2, 10, 1000])
def test_the_radius_solves_its_equation(d: int, beta: float) -> None:
    """The squared radius y solves (y/d)^{d/2}·e^{(d − y)/2} = β."""
    y = chi_square(d, beta)
    log = d / 2 * math.log(y / d) + (d - y) / 2
    assert log == pytest.approx(math.log(beta), rel=1e-9)
    assert y > d


@pytest.mark.parametrize("beta", [0.5, 0.1, 0.01, 1e-6])
@pytest.mark.parametrize("d", [1, 2, 10, 1000])
def test_the_radius_has_the_right_shape(d: int, beta: float) -> None:
    log = math.log(1.0 / beta)
    assert d <= chi_square(d, beta) <= d + 2.0 * math.sqrt(d * log) + 2.0 * log + 1e-9


def test_how_far_weights_are_from_equal_ones() -> None:
    """½·Σ|w/W − 1/n|, with W = Σw, is at most the bound.

    They are equal for two weights that occur equally often.
    """
    rng = np.random.default_rng(1)
    for _ in range(50):
        w = rng.exponential(size=int(rng.integers(2, 30))) ** rng.uniform(0.1, 3.0)
        half = 0.5 * float(np.abs(w / w.sum() - 1 / len(w)).sum())
        assert half <= related(float(w @ w), float(w.sum()), len(w)) + 1e-12
    two = np.repeat([1.0, 3.0], 10)
    exact = 0.5 * float(np.abs(two / two.sum() - 1 / 20).sum())
    assert related(float(two @ two), float(two.sum()), 20) == pytest.approx(exact)


def test_influence_at_its_ends() -> None:
    sums = Sums(weight=10.0, most=1.0, reach=0.5)
    assert influence(0, 10, sums, 0.2) == 0.0
    assert influence(1, 10, sums, 0.2) == pytest.approx(0.7 / 9.0)
    assert influence(4, 10, sums, 0.0) == pytest.approx(2.0 / 6.0)
    assert influence(10, 10, sums, 0.2) == math.inf
    assert influence(11, 30, sums, 0.2) == math.inf
    assert influence(3, 3, Sums(weight=10.0, most=1.0, reach=0.5), 0.2) == math.inf


def test_the_middle_of_a_cap_of_the_sphere() -> None:
    for d in (1, 2, 3, 10, 1000):
        log = gammaln(d / 2) - gammaln((d + 1) / 2) - 0.5 * math.log(math.pi)
        assert mean_dot(d) == pytest.approx(math.exp(log), rel=1e-12)


def test_the_chernoff_bound_against_a_fine_search() -> None:
    proxy, tail, largest, beta = 2.0, 3.0, 0.7, 0.01
    lam = np.linspace(1e-4, 1.0 / largest, 400_001)[:-1]
    x = (lam * largest) ** 2
    bound = lam**2 * (proxy / 2 + tail * -np.log1p(-x) / x) + math.log(2.0 / beta)
    best = float((bound / lam).min())
    assert best <= chernoff(proxy, tail, largest, beta) <= 1.001 * best
    assert chernoff(2.0, 0.0, 0.0, 0.1) == pytest.approx(math.sqrt(4.0 * math.log(20.0)))


@cache
def sphere(d: int) -> np.ndarray:
    """Return the first two coordinates of many random directions."""
    v = np.random.default_rng(d).normal(size=(150_000, d))
    return np.asarray(v[:, :2] / np.linalg.norm(v, axis=1, keepdims=True))
