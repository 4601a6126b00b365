"""What a rule is asked and what it answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from epsilons import risk
from epsilons.budgets import Budgets, Floats, summed
from epsilons.risk import Weighing


@dataclass(frozen=True)
class Goal:
    """What is true of the data, and which error is to be small."""

    assume: str
    loss: str
    confidence: float

    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator for this goal."""
        return risk.of(weighing, assume=self.assume, loss=self.loss, confidence=self.confidence)


@dataclass(frozen=True, eq=False)
class Answer:
    """The effective budgets that a rule chooses, level by level.

    Attributes:
        spent: e ≤ ε for each level.
        scale: 1/D, if the rule chooses D other than Σe.
        keep: the probability with which a person of each level is used, if not surely.
        cap: the number τ, if the rule is a cap.
    """

    spent: Floats
    scale: float | None = None
    keep: Floats | None = None
    cap: float | None = None


Rule: TypeAlias = Callable[[Budgets, Goal], Answer]


def weighing_of(budgets: Budgets, answer: Answer) -> Weighing:
    """The estimator on a unit range that effective budgets stand for.

    Where somebody's effective budget is ∞, public people alone are used, and no noise is needed.
    """
    spent, counts = answer.spent, budgets.counts
    if math.isinf(spent[-1]):
        used = np.isinf(spent)
        return Weighing(used / float(counts[used].sum()), counts, 0.0)
    if answer.keep is not None:
        expected = float(counts @ answer.keep)
        limit = float(spent.max())
        scale = 1.0 / (limit * expected) if limit * expected > 0.0 else math.inf
        return Weighing(answer.keep / expected, counts, scale, answer.keep)
    total = summed(counts, spent, budgets.n)
    if answer.scale is not None:
        return Weighing(spent * answer.scale, counts, answer.scale)
    with np.errstate(over="ignore"):
        scale = float(np.divide(1.0, total))
    return Weighing(spent / total, counts, scale)
