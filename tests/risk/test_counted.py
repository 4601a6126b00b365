"""Noisy counts of people give a bound on the distance between the weighted mean and the mean."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog, minimize_scalar

from epsilons.risk.counted import LevelCount, most_squares


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    data=st.data(),
)
def test_the_distance_of_the_weighted_mean_is_bounded(counts: list[int], data: Any) -> None:
    """The bound is at least ½Σ|k/Σk − 1/n| over people of weight k, even if counts are noisy."""
    weights = sorted(data.draw(st.lists(st.integers(1, 9), min_size=4, max_size=4)))
    k = np.repeat(weights[: len(counts)], counts).astype(float)
    if len(k) == 0:
        return
    apart = 0.5 * np.abs(k / k.sum() - 1.0 / len(k)).sum()
    noise = data.draw(st.lists(st.integers(-3, 3), min_size=4, max_size=4))
    noisy = tuple(c + e for c, e in zip(counts, noise, strict=False))
    found = LevelCount(noisy, (0.5,) * len(counts), np.array(weights[: len(counts)]))
    assert found.bias(0.05) >= apart - 1e-12
    sharp = LevelCount(tuple(counts), (1e9,) * len(counts), np.array(weights[: len(counts)]))
    assert sharp.bias(0.05) >= apart - 1e-12


# Bounds on sums of squared weights, for budgets that are unrelated to values.


def steps(k: Any) -> float:
    """The sum of squared steps of the martingale that reveals large weights first."""
    falling = np.sort(np.asarray(k, dtype=float))[::-1]
    return float(sum((falling[i] - falling[i + 1 :].mean()) ** 2 for i in range(len(k) - 1)))


@pytest.mark.parametrize(
    ("k", "values"),
    [
        ([1, 1, 1, 5, 5, 9], [0, 0, 0, 1, 1, 1]),
        ([1, 9, 9, 9, 9, 9], [0, 1, 0, 0, 0, 0]),
        ([0, 2, 2, 3, 8, 9], [0.0, 0.1, 0.2, 0.9, 1.0, 0.5]),
    ],
)
def test_values_that_are_reassigned_at_random_have_a_gaussian_bound(k: Any, values: Any) -> None:
    """Over all assignments of six values, exponential moments are within Hoeffding's lemma."""
    off = np.array(values) - np.mean(values)
    sums = np.array([np.dot(k, each) for each in permutations(off)])
    for rate in (-3.0, -1.0, -0.2, 0.1, 0.5, 2.0):
        log = np.log(np.mean(np.exp(rate * sums)))
        assert log <= rate**2 * steps(k) / 8.0 + 1e-12


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(0, 60), min_size=3, max_size=3),
    weights=st.lists(st.integers(0, 40), min_size=3, max_size=3, unique=True),
    more=st.integers(0, 30),
)
def test_squares_of_all_people_that_counts_and_the_total_allow_are_bounded(
    counts: list[int], weights: list[int], more: int
) -> None:
    k = np.repeat(sorted(weights), counts).astype(float)
    own, total = np.array(sorted(weights)), float(k.sum())
    exactly = np.array(counts, dtype=float)
    for people in (exactly, exactly + more, None):
        plain = most_squares(own, total + more, people, sampled=True)
        assert plain >= float(k @ k)
        nearer = most_squares(own, total + more, people, sampled=False)
        assert nearer <= plain * (1.0 + 1e-12)
        if len(k):
            assert nearer >= steps(k) - 1e-9


def by_programs(weights: Any, total: float, people: Any) -> float:
    """The smallest bound over all c on Σ(k − c)². A linear program finds the bound for each c."""
    k = np.array(weights, dtype=float)

    def at(c: float) -> float:
        found = linprog(-np.square(k - c), A_ub=[k], b_ub=[total], bounds=[(0, n) for n in people])
        return float(-found.fun)

    best = minimize_scalar(at, bounds=(k.min(), k.max()), method="bounded", options={"xatol": 1e-6})
    return float(best.fun)


@pytest.mark.parametrize("people", [[955.0, 2228.0, 3183.0], [1900.0, 2500.0, 3200.0], [30.0] * 3])
@pytest.mark.parametrize("cap", [4.0, 20.0])
def test_squares_are_those_of_a_linear_program(people: list[float], cap: float) -> None:
    """The bound agrees with an independent computation within one percent."""
    weights = np.minimum([1, 4, 20], cap).astype(np.int64)
    total = 0.9 * float(weights @ people)
    extra = float(np.square(np.unique(weights)[1:] - 1.0).sum())
    found = most_squares(weights, total, np.array(people), sampled=False) - extra
    assert found == pytest.approx(by_programs(weights, total, people), rel=0.01)
    plain = linprog(
        -np.square(weights.astype(float)), A_ub=[weights], b_ub=[total],
        bounds=[(0, n) for n in people],
    )  # fmt: skip
    found = most_squares(weights, total, np.array(people), sampled=True)
    assert found == pytest.approx(-plain.fun, rel=0.01)


def test_squares_without_counts_have_a_closed_form() -> None:
    """Without counts the bound is T·(√k_max − √k_min)², which a mix of both weights attains."""
    found = most_squares(np.array([100, 225, 400]), 1e6, None, sampled=False)
    assert found == pytest.approx(1e6 * (20.0 - 10.0) ** 2, rel=2e-3)
    heavy = 1e6 / 600.0  # the people of weight 400 in the worst mix
    k = np.repeat([400.0, 100.0], [round(heavy), round((1e6 - 400.0 * heavy) / 100.0)])
    assert found == pytest.approx(len(k) * k.var(), rel=5e-3)
    assert most_squares(np.array([0, 7]), 50.0, None, sampled=False) == pytest.approx(350.0)
    assert most_squares(np.array([7]), 50.0, None, sampled=False) == pytest.approx(0.0)


def test_upper_ends_of_counts_hold_at_once() -> None:
    """All upper ends hold together, except with probability β: 10⁵ runs, six standard errors."""
    rng, rates, runs = np.random.default_rng(5), (0.1, 0.5), 100_000
    p = [1.0 - np.exp(-rate) for rate in rates]
    noise = np.stack([rng.geometric(q, runs) - rng.geometric(q, runs) for q in p], axis=1)
    for beta in (0.3, 0.02):
        reach = LevelCount((0, 0), rates, np.array([1, 2])).most(beta)
        missed = float(np.mean((-noise > reach).any(axis=1)))
        assert missed <= beta + 6.0 * np.sqrt(beta / runs)
        assert missed >= 0.5 * beta
