"""Bounds on the gain of personal budgets over a single threshold, and budgets with a large gain."""

from __future__ import annotations

import math

import numpy as np

from epsilons.budgets.levels import Budgets, People, as_budgets
from epsilons.errors import ArgumentError
from epsilons.listed import shown

_EULER = 0.57721566490153286


def threshold_ratio(epsilon: People) -> float:
    """Bound the risk of the best single threshold, relative to the best affine estimator.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`.

    Returns:
        An upper bound on the ratio of their worst-case mean squared errors for a sample (no unit).
        Let m be the number of levels above 0, and n the number of people at these levels. The bound
        is min(m, H_n)², where H_n = 1 + ½ + … + 1/n; for one finite level plus public records it is
        2.
        It is at most 4 for two levels, and at most min(m², (1 + log₂ n)²).

    Raises:
        BudgetError: an ε is negative or NaN, or every ε is 0.
        DataError: there are fewer than two people.
        ArgumentError: `epsilon` is not valid.

    Reference:
        Proof: docs/proofs/limits-threshold.md (1), (2), (3). Paper *limits*, Theorems 1, 2 and 4.

    Examples:
        >>> import epsilons as ep
        >>> ep.theory.threshold_ratio({0.1: 500, 1.0: 500})
        4.0
        >>> ep.theory.threshold_ratio({0.1: 500, float("inf"): 500})
        2.0
    """
    budgets = as_budgets(epsilon)
    used = budgets.levels > 0.0
    m, n = int(used.sum()), int(budgets.counts[used].sum())
    general = min(float(m), _harmonic(n)) ** 2
    beside_public = m == 2 and math.isinf(budgets.levels[-1])
    return min(2.0, general) if beside_public else general


def unthresholdable(levels: int) -> Budgets:
    """Return budgets for which one threshold loses a factor of at least levels²/5.

    Args:
        levels: number of levels, from 2 to 52.

    Returns:
        2^i people at ε = 2^{−i}, for i = 0, …, levels − 1. Every level has the same sum of budgets,
        so every threshold loses most of the total.

    Raises:
        ArgumentError: `levels` is not an integer from 2 to 52.

    Reference:
        Paper *limits*, Theorem 3, which lists the budgets in decreasing order.
        Proof: docs/proofs/limits-threshold.md (4).

    Examples:
        >>> import epsilons as ep
        >>> people = ep.theory.unthresholdable(3)
        >>> people.levels.tolist(), people.counts.tolist()
        ([0.25, 0.5, 1.0], [4, 2, 1])
    """
    if isinstance(levels, bool) or not isinstance(levels, int) or not 2 <= levels <= 52:
        raise ArgumentError(f"levels={shown(levels)} must be a whole number from 2 to 52.")
    steps = np.arange(levels - 1, -1, -1)
    return Budgets.of_levels(np.ldexp(1.0, -steps), np.left_shift(np.int64(1), steps))


def _harmonic(n: int) -> float:
    """The harmonic number 1 + ½ + … + 1/n; for n > 10⁶ an upper bound within 10⁻¹⁵."""
    if n <= 10**6:
        return float(np.sum(1.0 / np.arange(n, 0, -1)))
    return math.log(n) + _EULER + 0.5 / n
