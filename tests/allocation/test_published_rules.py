"""The rules of the papers, checked against Clarabel and 60-digit arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.loading import later
from epsilons.types import Floats

cp: Any = later("cvxpy")

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


def profile(index: int, rng: np.random.Generator) -> Floats:
    n = int(rng.integers(3, 60))
    epsilon = np.exp(rng.uniform(-5.0, 5.0, n))
    if index % 5 == 1:
        epsilon = rng.choice(np.array([0.05, 0.4, 1.0]), n)
    elif index % 5 == 2:
        epsilon[: n // 4] = 0.0
    elif index % 5 == 3:
        epsilon[: max(1, n // 10)] = math.inf
    elif index % 5 == 4:
        epsilon = np.full(n, float(np.exp(rng.uniform(-4.0, 2.0))))
        epsilon[0] *= 50.0
    return epsilon


def noise(epsilon: Floats, weights: Floats) -> float:
    """Return ‖w/ε‖∞, with 0/0 = 0."""
    used = weights > 0.0
    return float(np.max(weights[used] / epsilon[used]))


def surrogate(method: str, weights: Floats, epsilon: Floats, log: float) -> float:
    """Return the squared surrogate errors of paper *correlated* for k = 1.

    They are (6), (7) and that of Algorithm 3.
    """
    n = len(weights)
    far = weights - 1.0 / n
    near = n * float(far @ far) if method.endswith("-t") else float(np.abs(far).sum()) ** 2
    small = log * float(weights @ weights) if "-u" in method else math.inf
    return min(near, small) + (log * noise(epsilon, weights)) ** 2


def least(method: str, epsilon: Floats, log: float) -> float:
    """Return the smallest surrogate error over all weights on the simplex.

    If a rule has two surrogate errors, return the smaller of their minima.
    """
    n = len(epsilon)
    inner = (epsilon > 0.0) & np.isfinite(epsilon)
    w, t = cp.Variable(n, nonneg=True), cp.Variable(nonneg=True)  # in units of 1/n
    constraints: list[Any] = [cp.sum(w) == n, w[epsilon == 0.0] == 0.0]
    unit = 1.0 / float(np.median(epsilon[inner]))
    limit = unit * epsilon[inner]
    constraints.append(
        cp.multiply(1.0 / np.maximum(limit, 1.0), w[inner]) <= cp.multiply(np.minimum(limit, 1), t)
    )
    parts = [cp.norm(w - 1.0) / math.sqrt(n) if method.endswith("-t") else cp.norm1(w - 1.0) / n]
    if "-u" in method:
        parts.append(cp.norm(w) * (math.sqrt(log) / n))
    values = []
    for part in parts:
        goal = cp.norm(cp.hstack([part, log * unit / n * t]))
        problem = cp.Problem(cp.Minimize(goal), constraints)
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=500
        )
        assert problem.status in ("optimal", "optimal_inaccurate")
        values.append(float(problem.value) ** 2)
    return min(values)


budgets = st.lists(st.floats(1e-9, 40.0), min_size=2, max_size=12)


@settings(max_examples=100, deadline=None)
@given(budgets)
def test_hpm_a_weighs_people_by_1_minus_e_to_the_minus_epsilon(epsilon: list[float]) -> None:
    found = ep.allocate(epsilon, method="hpm-a")
    with localcontext() as context:
        context.prec = 60
        shares = [1 - (-Decimal(level)).exp() for level in found.levels.tolist()]
        total = sum(
            (s * int(c) for s, c in zip(shares, found.counts, strict=True)), start=Decimal(0)
        )
        expected = [float(share / total) for share in shares]
    np.testing.assert_allclose(found.weights, expected, rtol=1e-13)
    # The noise is exactly as large as the smallest ε requires.
    assert found.spent[0] == pytest.approx(found.levels[0], rel=1e-14)
