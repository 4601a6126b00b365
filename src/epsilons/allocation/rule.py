"""What a rule is asked and what it answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from epsilons.budgets import Budgets, summed
from epsilons.noise import Staircase
from epsilons.risk import OPEN, StairNoise, SumNoise, Weighing
from epsilons.risk.goals import Goal
from epsilons.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Effective:
    """The effective budgets that a rule chooses, level by level.

    Attributes:
        spent: e ≤ ε for each level.
        total: what the weights sum to, Σe/D: 1 unless the rule chooses D.
        cap: the number τ, if the rule is a cap.
        law: the law of the noise, if it falls in stairs: then e is a whole multiple of its rate.
    """

    spent: Floats
    total: float = 1.0
    cap: float | None = None
    law: Staircase | None = None


_LARGE = 1e250

Rule: TypeAlias = Callable[[Budgets, Goal], Effective]


def weighing_of(budgets: Budgets, answer: Effective, noise: SumNoise = OPEN) -> Weighing:
    """The estimator on a unit range that effective budgets stand for.

    Where somebody's effective budget is ∞, public people alone are used, and no noise is needed.

    Args:
        budgets: the levels, ascending, with counts.
        answer: the effective budgets.
        noise: of the sums.
    """
    spent, counts = answer.spent, budgets.counts
    if math.isinf(spent[-1]):
        used = np.isinf(spent)
        return Weighing(used * (answer.total / float(counts[used].sum())), counts, 0.0)
    if answer.law is not None:
        units = np.rint(spent / float(answer.law.rate))
        together = summed(counts, units, budgets.n)
        stairs = StairNoise(answer.law, 1.0 / together)
        return Weighing(units / together, counts, stairs.scale, stairs=stairs)
    largest = float(spent[-1])
    # Very large budgets relative to the largest, for their sum may overflow.
    unit = largest if largest > _LARGE else 1.0
    shares = spent / unit if unit != 1.0 else spent
    with np.errstate(over="ignore"):
        total = float(np.float64(summed(counts, shares, budgets.n)) / answer.total)
    scale = noise.moves * inverse(unit, total)
    return Weighing(shares / total, counts, scale, closed=noise.closed, cube=noise.cube)


def inverse(first: float, second: float) -> float:
    """1/(first·second), ∞ where no float is large enough."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.float64(1.0) / first / second)


def spread_out(indices: Integers, most: int) -> Integers:
    """At most `most` of the indices, evenly spread, both ends among them."""
    if len(indices) <= most:
        return indices
    return indices[np.unique(np.linspace(0, len(indices) - 1, most).astype(np.int64))]
