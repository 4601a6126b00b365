"""The gain of personal budgets over a single threshold: bounds, and budgets with a large gain."""

from __future__ import annotations

import math

import numpy as np

from epsilons.budgets.levels import Budgets, People, as_budgets
from epsilons.errors import ArgumentError

_EULER = 0.57721566490153286


def threshold_ratio(epsilon: People) -> float:
    """The most by which the best affine estimator can beat the best single threshold.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`.

    Returns:
        A bound on the ratio of their worst-case mean squared errors for a sample (no unit). With m
        levels and n people above 0 it is 2 for one finite level with public records, and otherwise
        min(m, H_n)², where H_n = 1 + ½ + … + 1/n. That is at most 4 for two levels, and never more
        than min(m², (1 + log₂ n)²).

    Raises:
        BudgetError: an ε is negative or NaN, or everyone is at 0.
        DataError: there are fewer than two people.
        ArgumentError: ε cannot be read.

    Reference:
        Proof: docs/proofs/limits-threshold.md (1), (2), (3). Paper *limits*, Theorems 1, 2 and 4.
    """
    budgets = as_budgets(epsilon)
    used = budgets.levels > 0.0
    m, n = int(used.sum()), int(budgets.counts[used].sum())
    general = min(float(m), _harmonic(n)) ** 2
    beside_public = m == 2 and math.isinf(budgets.levels[-1])
    return min(2.0, general) if beside_public else general


def unthresholdable(levels: int) -> Budgets:
    """Budgets for which one threshold loses a large factor: levels²/5 or more.

    Args:
        levels: number of levels, from 2 to 52.

    Returns:
        2^i people at ε = 2^{−i}, for i = 0, …, levels − 1. Every level has the same sum of budgets,
        so no threshold keeps much of the total.

    Raises:
        ArgumentError: `levels` is not such a number.

    Reference:
        Paper *limits*, Theorem 3, which lists its budgets in decreasing order.
        Proof: docs/proofs/limits-threshold.md (4).
    """
    if isinstance(levels, bool) or not isinstance(levels, int) or not 2 <= levels <= 52:
        raise ArgumentError(f"levels={levels!r} must be a whole number from 2 to 52.")
    steps = np.arange(levels - 1, -1, -1)
    return Budgets.of_levels(np.ldexp(1.0, -steps), np.left_shift(np.int64(1), steps))


def _harmonic(n: int) -> float:
    """1 + ½ + … + 1/n; above 10⁶ an upper bound within 10⁻¹⁵ of it."""
    if n <= 10**6:
        return float(np.sum(1.0 / np.arange(n, 0, -1)))
    return math.log(n) + _EULER + 0.5 / n
