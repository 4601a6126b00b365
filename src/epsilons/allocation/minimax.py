"""The minimax affine estimator: D is chosen too, and the answer is drawn to the middle."""

from __future__ import annotations

import math

import numpy as np

from epsilons import risk
from epsilons.allocation.caps import bias_scale, capped, golden
from epsilons.allocation.optimal import laplace_quantile, squares
from epsilons.allocation.rule import Answer, Goal
from epsilons.budgets import Budgets, Floats
from epsilons.risk import Moments


def minimax(budgets: Budgets, goal: Goal) -> Answer:
    """Least worst-case risk over all non-negative weights, which need not sum to one.

    It is the release of a cap, multiplied by a factor below one around the middle of the range:
    the same privacy, a smaller worst case, and a bias on data far from the middle. Exact for mean
    squared error, and for the PAC error of correlated data at confidence ½ and more; for the PAC
    error of iid and shuffled data it takes the weights of the mean squared error.

    Reference:
        docs/proofs/allocation.md.
    """
    if math.isinf(budgets.levels[-1]) and np.all(
        (budgets.levels == 0.0) | np.isinf(budgets.levels)
    ):
        return Answer(budgets.levels.copy(), cap=math.inf)
    if goal.assume == "correlated":
        return _correlated(budgets, goal)
    cap, scale = _centred(budgets, goal.assume)
    return Answer(capped(budgets, cap), scale=scale, cap=cap)


def _correlated(budgets: Budgets, goal: Goal) -> Answer:
    # Weights below 1/n have the bias ½Σ(1/n − w): half of what the simplex would ask.
    if goal.loss == "mse" or goal.confidence < 0.5:
        slope = squares(8.0)
    else:
        halved = laplace_quantile(1.0 - goal.confidence)

        def slope(bias: float, below: float, scale: float) -> float:
            return halved(0.5 * bias, 0.5 * below, scale)

    scale = bias_scale(budgets, slope, simplex=False)
    if scale <= 0.0:
        return Answer(budgets.levels.copy(), cap=math.inf)
    cap = 1.0 / (budgets.n * scale)
    return Answer(capped(budgets, cap), scale=scale, cap=cap)


def _centred(budgets: Budgets, assume: str) -> tuple[float, float]:
    """The cap and 1/D of least mean squared error for iid or shuffled data."""
    finite = budgets.levels[(budgets.levels > 0.0) & np.isfinite(budgets.levels)]
    kinks = np.minimum(finite, 1e100)
    if math.isinf(budgets.levels[-1]):
        # Above the last finite level the best cap is sought on a public grid, then refined.
        kinks = np.unique(np.concatenate([kinks, kinks[-1] * np.geomspace(1.0, 1e12, 200)]))
    risks, _ = _at_caps(budgets, kinks, assume)
    best = int(np.argmin(risks))
    left = math.log(float(kinks[max(best - 1, 0)]))
    right = math.log(float(kinks[min(best + 1, len(kinks) - 1)]))

    def objective(log_cap: float) -> float:
        return float(_at_caps(budgets, np.array([math.exp(log_cap)]), assume)[0][0])

    points = [math.log(float(kinks[best]))]
    # The kink in the middle splits the bracket: each side is smooth.
    points += [golden(objective, left, points[0]), golden(objective, points[0], right)]
    cap = math.exp(min(points, key=objective))
    return cap, float(_at_caps(budgets, np.array([cap]), assume)[1][0])


def _at_caps(budgets: Budgets, caps: Floats, assume: str) -> tuple[Floats, Floats]:
    """For each cap τ, the least risk over D, and the 1/D that gives it.

    The risk is the larger of two convex quadratics in 1/D, so its minimum is where one of them is
    least or where they cross: three candidates, each judged by `risk.mse`.
    """
    n = budgets.n
    A, B = _sums(budgets, caps)
    spread = np.maximum(B - A * A / n, 0.0)
    square = B if assume == "iid" else spread * n / (n - 1)
    odd = (n % 2) / n**2 if assume == "shuffled" else 0.0
    candidates = (
        A / (A * A + 8.0),
        1.0 / np.maximum(A + np.sqrt(square), 1e-100),  # a smaller sum is nobody's best
        odd * A / (odd * A * A + (1.0 - odd) * square + 8.0),
    )
    risks = np.stack(
        [
            risk.mse(Moments(n, t * A, t * t * spread, np.zeros(len(caps)), t), assume)
            for t in candidates
        ]
    )
    chosen = np.argmin(risks, axis=0)
    pick = np.arange(len(caps))
    return risks[chosen, pick], np.stack(candidates)[chosen, pick]


def _sums(budgets: Budgets, caps: Floats) -> tuple[Floats, Floats]:
    """Σ min(ε, τ) and Σ min(ε, τ)² for each cap, from prefix sums."""
    finite = np.isfinite(budgets.levels)
    levels = np.minimum(budgets.levels[finite], 1e100)
    counts = budgets.counts[finite]
    first = np.concatenate([[0.0], np.cumsum(counts * levels)])
    second = np.concatenate([[0.0], np.cumsum(counts * levels * levels)])
    people = np.concatenate([[0], np.cumsum(counts)])
    below = np.searchsorted(levels, caps, side="right")
    above = budgets.n - people[below]
    return first[below] + above * caps, second[below] + above * caps * caps
