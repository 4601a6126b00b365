"""The risk of frequencies agrees with brute force, simulation and independent integration."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate

from epsilons.budgets.allocation import allocate, allocate_for, best_cap
from epsilons.budgets.allocation.rules import Effective, weighing_of
from epsilons.budgets.levels import Budgets
from epsilons.risk import ClosedNoise, Weighing, cells
from epsilons.risk.goals import CellsGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption


def weighing(weights: list[float], scale: float) -> Weighing:
    return Weighing(np.array(weights), np.ones(len(weights), dtype=np.int64), scale)


def within(shift: float, scale: float, a: float) -> float:
    """Return P(|shift + L| ≤ a), from the distribution function of Laplace noise."""

    def below(x: float) -> float:
        return 0.5 * math.exp(x / scale) if x < 0 else 1.0 - 0.5 * math.exp(-x / scale)

    return below(a - shift) - below(-a - shift)


def all_within(biases: tuple[float, ...], scale: float, a: float) -> float:
    return math.prod(within(c, scale, a) for c in biases)


@pytest.mark.parametrize("k", [2, 3, 7, 1000])
@pytest.mark.parametrize(("bias", "scale"), [(0.2, 0.1), (0.01, 0.1), (0.0, 0.3), (0.4, 0.004)])
def test_the_related_error_is_an_integral(k: int, bias: float, scale: float) -> None:
    def survival(a: float) -> float:
        rest = within(0.0, scale, a) ** (k - 2)
        return 1.0 - within(bias, scale, a) ** 2 * rest

    top = bias + scale * (math.log(k) + 60.0)
    expected = integrate.quad(
        lambda a: 2.0 * a * survival(a), 0.0, top, points=[bias] if bias else None, limit=500
    )[0]
    found = cells.mean_square(bias, scale, k)
    assert found == pytest.approx(expected, rel=1e-6)
    for beta in (0.9, 0.5, 0.05, 1e-6):
        assert survival(cells.largest_quantile(bias, scale, k, beta)) == pytest.approx(
            beta, rel=1e-6
        )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=4),
    st.lists(st.floats(0, 1), min_size=2, max_size=4),
    st.floats(0.02, 2.0),
    st.floats(0.01, 1.0),
)
def test_no_other_biases_do_worse(
    up: list[float], down: list[float], scale: float, a: float
) -> None:
    """The error is largest if two cells have all of the bias.

    Any other division has a smaller error.
    """
    total = 0.3
    plus = [total * x / (sum(up) or 1.0) for x in up]
    minus = [-total * x / (sum(down) or 1.0) for x in down]
    spread = (*plus, *minus)
    together = (total, -total, *(0.0,) * (len(spread) - 2))
    assert all_within(together, scale, a) <= all_within(spread, scale, a) + 1e-12


def test_the_largest_of_many_laplace_noises() -> None:
    """Moments of the largest noise equal integrals of the closed form (1 − e^{−a})^k."""
    for k in (1, 2, 5, 50):
        mean, variance = cells.harmonic(k)
        first = integrate.quad(lambda a, k=k: 1.0 - (-math.expm1(-a)) ** k, 0.0, 80.0)[0]
        second = integrate.quad(lambda a, k=k: 2 * a * (1.0 - (-math.expm1(-a)) ** k), 0, 80.0)[0]
        assert mean == pytest.approx(first, rel=1e-6)
        assert variance + mean**2 == pytest.approx(second, rel=1e-6)
        for beta in (0.5, 0.01, 1e-9):
            a = cells.noise_factor(k, beta)
            assert 1.0 - (-math.expm1(-a)) ** k == pytest.approx(beta, rel=1e-5)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=133, max_size=133), st.integers(2, 200), st.integers(0, 9)
)
def test_the_price_bound_holds_for_any_shares(rises: list[float], k: int, seed: int) -> None:
    """For an increasing function h, the sum of h over any shares is at most the bound."""
    each = np.concatenate([[0.0], np.cumsum(rises)])
    bound = cells._worst_shares(each, k)
    shares = np.random.default_rng(seed).dirichlet(np.full(k, 0.1 + seed))
    folded = np.minimum(shares, 1.0 - shares)
    # Between two grid points, h is at most its value at the upper point.
    index = np.searchsorted(cells._SHARES, folded - 1e-15)
    assert each[np.minimum(index, len(each) - 1)].sum() <= bound * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("method", ["optimal", "auto"])
def test_no_cap_claims_more_than_everyone_alike(method: str) -> None:
    """The error claimed for `optimal` is never larger than the error with equal weights.

    If values are permuted at random, the claimed error is exact for equal weights, but only a bound
    for capped weights. So the claim for the best cap can be larger. Then equal weights must be
    used.
    """
    people = {0.5: 500, 0.6: 500}
    goal = CellsGoal(UNRELATED, "pac", 0.95, 3)
    budgets = Budgets(people)
    alike = allocate_for(budgets, goal, "uniform")
    capped = Effective(np.minimum(budgets.levels, best_cap(budgets, goal, goal.noise)))
    claimed = goal.risk(weighing_of(budgets, capped, goal.noise))
    assert claimed > alike.risk  # the best cap minimizes the error `aim`, not the claimed error
    assert allocate_for(budgets, goal, method).risk <= alike.risk


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED])
def test_no_weights_on_the_simplex_do_better(assumption: Assumption) -> None:
    rng = np.random.default_rng(2)
    epsilon = np.sort(np.exp(rng.uniform(-2, 2, 12)))
    best = allocate(epsilon, statistic="frequencies", categories=4, **asdict(assumption))
    assert best.cap is not None
    np.testing.assert_array_equal(best.spent, np.minimum(best.levels, best.cap))
    for _ in range(400):
        w = best.weights * np.exp(rng.normal(0, rng.choice([0.01, 0.1, 1.0]), 12))
        w = w / w.sum()
        scale = 2.0 * float((w / best.levels).max())
        other = Weighing(w, best.counts, scale, closed=ClosedNoise(4))
        assert best.risk <= CellsGoal(assumption, "mse", 0.95, 4).risk(other) * (1 + 1e-7)


def test_hpf_rules_minimise_the_surrogates_of_the_paper() -> None:
    """No random weights have smaller surrogate errors (6) and (7) of paper *correlated*.

    In these formulas, L is ln(k/β), or ln k for the squared error.
    """
    rng = np.random.default_rng(3)
    epsilon = np.sort(np.exp(rng.uniform(-2, 2, 15)))
    k, n = 8, 15

    def surrogate(w: np.ndarray, log: float, kind: str) -> float:
        t = float((w / epsilon).max())
        distance = float(np.abs(w - 1.0 / n).sum()) ** 2
        if kind == "u":
            distance = min(distance, log * float(w @ w))
        return distance + log**2 * t**2

    for name, log in (
        ("cp", math.log(k / 0.05)),
        ("ce", math.log(k)),
        ("up", math.log(k / 0.05)),
        ("ue", math.log(k)),
    ):
        best = allocate(epsilon, statistic="frequencies", categories=k, method=f"hpf-{name}")
        least = surrogate(best.weights, log, name[0])
        for _ in range(400):
            w = best.weights * np.exp(rng.normal(0, rng.choice([0.01, 0.1, 1.0]), n))
            assert least <= surrogate(w / w.sum(), log, name[0]) * (1 + 1e-9)
