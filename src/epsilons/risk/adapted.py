"""A mean whose weights were chosen among a few by a first look at the data.

The first look and the mean see the same people. So what went wrong may go with which weights were
chosen, and what is said of weights that are given has to be said of all of them at once. The
formulas are derived in `docs/proofs/adaptive.md`. Data are on a unit range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from epsilons.frozen import storable
from epsilons.risk import mean
from epsilons.risk.assumptions import Assumption
from epsilons.risk.goals import MeanGoal
from epsilons.risk.moment import Spreading
from epsilons.risk.spread import WeighedSpread
from epsilons.risk.weighing import Weighing

_EXCESS: Final = 0.05
"""What rare sums may add to a mean squared error, in parts of the smallest among the choices."""

_LEAST: Final = 1e-200
"""Squared errors below this are nothing."""


@storable("risk.WeighedAdaptively")
@dataclass(frozen=True, eq=False, kw_only=True)
class WeighedAdaptively(WeighedSpread):
    """The margin of a weighted mean whose weights were chosen by a first look at the data.

    Guarantee:
        Over all data that the assumption allows, the interval misses with a probability of at most
        1 − confidence, and so does that of the standard deviation, however the choice goes with the
        data: docs/proofs/adaptive.md.

    Attributes:
        among: how many different weights there were to choose from, with these budgets.
        choices: how many there are with any budgets.
    """

    among: int
    choices: int

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range not exceeded with this probability, integers included."""
        if self.uses_spread(assumption):
            return super().error(assumption, confidence)
        return self.usual(assumption, confidence) + self.slack

    def usual(self, assumption: Assumption, confidence: float) -> float:
        """The error of any data not exceeded with this probability, integers not counted."""
        beta = 1.0 - confidence
        if assumption.sampled and assumption.related is not False and not assumption.anything:
            # Budgets are drawn with the values, so also how many of the choices differ.
            return mean.quantile(self.weighing, assumption, 1.0 - beta / self.choices)
        return Spreading(self.weighing, assumption, self.times(assumption)).usual(beta)

    def times(self, assumption: Assumption) -> int:
        """As many as there are, where people, or who has which budget, are random.

        Where budgets may go with values, what is claimed holds for each data set by itself, or for
        the plain mean of its people, which no weights move.
        """
        return self.among if assumption.related is False else 1


def risk_of(
    goal: MeanGoal, margin: WeighedAdaptively, choices: Sequence[Weighing]
) -> tuple[float, bool]:
    """The risk of a mean whose weights were chosen by a first look, on a unit range.

    Args:
        goal: what is assumed about the data, and which error is small.
        margin: of the mean.
        choices: all weights that there were to choose from.

    Returns:
        The risk, and whether it is an exact worst case with these weights.
    """
    assumption = goal.assumption
    fixed = not assumption.sampled and assumption.related is not False
    if goal.loss == "pac":
        return margin.usual(assumption, goal.confidence), fixed
    if assumption.related is not False:
        anything = replace(assumption, related=True) if assumption.sampled else assumption
        return float(mean.mse(margin.weighing, anything)), fixed
    least = min(float(mean.mse(each, assumption)) for each in choices)
    return _square(margin.weighing, assumption, _EXCESS * least, margin.among), False


def _square(weighing: Weighing, assumption: Assumption, excess: float, among: int) -> float:
    """A bound on the mean squared error of weights that were chosen, over all choices together.

    With P(|S| > s) ≤ 2·exp(−2s²/v) the mean of (S² − a)₊ is at most v·exp(−2a/v): a is where that
    is one part of the excess.
    """
    if among == 1:
        return float(mean.mse(weighing, assumption))
    v = weighing.square if assumption.sampled else mean.permutation_proxy(weighing)
    most = 1.0 if assumption.sampled else weighing.bias**2
    often = v * among / max(excess, _LEAST)
    far = v / 2.0 * math.log(often) if often > 1.0 else 0.0
    return min(far, most) + excess + 2.0 * weighing.scale**2
