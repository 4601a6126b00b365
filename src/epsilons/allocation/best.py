"""The exact minimisers: for every assumption and loss, one cap."""

from __future__ import annotations

import math

import numpy as np

from epsilons import risk
from epsilons.allocation.caps import (
    Slope,
    bias_scale,
    cap_of_scale,
    capped,
    searched_cap,
    square_cap,
)
from epsilons.allocation.rule import Effective, weighing_of
from epsilons.budgets import Budgets
from epsilons.risk import SumNoise
from epsilons.risk.assumptions import SAMPLE
from epsilons.risk.goals import Goal

_MANY = 4096
"""Levels beyond which a search without a closed form looks at groups of neighbouring levels."""


def affine(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """The best affine estimator of paper *limits*: least mean squared error of a sample, always.

    Reference:
        Paper *limits*, Claim 1 and equation (2).
    """
    return _cap(budgets, square_cap(budgets, risk.noise_per_square(SAMPLE, budgets.n)))


def optimal(budgets: Budgets, goal: Goal) -> Effective:
    """The rule of least worst-case risk for the goal.

    Exact over all weights on the simplex for the mean squared error of a mean, for the sum of the
    squared errors of frequencies, and for the PAC error of a mean where budgets of these very
    people are related to values, at confidence ½ and more. Otherwise it minimises what the goal
    aims at over caps, which are best for every convex loss; unless less can be claimed if everyone
    counts alike.
    """
    found = _cap(budgets, best_cap(budgets, goal, goal.noise))
    if goal.by_moments or goal.by_bias:
        return found
    alike = _cap(budgets, float(budgets.levels[budgets.levels > 0.0][0]))
    claims = [goal.risk(weighing_of(budgets, each, goal.noise)) for each in (found, alike)]
    return found if claims[0] <= claims[1] else alike


def best_cap(budgets: Budgets, goal: Goal, noise: SumNoise) -> float:
    """The cap of least risk with noise that falls everywhere.

    Args:
        budgets: the levels, ascending, with counts.
        goal: what is assumed, and which error is to be small.
        noise: of the sums.
    """
    closed = _closed_cap(budgets, goal, noise)
    if closed is not None:
        return closed
    coarse = merged(budgets, _MANY)

    def bound(cap: float) -> float:
        return goal.aim(weighing_of(coarse, Effective(capped(coarse, cap)), noise))

    return searched_cap(coarse, bound)


def _closed_cap(budgets: Budgets, goal: Goal, noise: SumNoise) -> float | None:
    """The cap, where the risk is closed: by a sort and a scan."""
    assumption = goal.assumption
    if goal.by_moments and assumption.related is False:
        return square_cap(budgets, goal.noise_per_square(budgets.n, noise))
    if goal.guessed:
        return None
    if goal.by_moments:
        if assumption.sampled and not assumption.anything:
            return None
        # Of a population, squared_bias·(bias + beside)² is what budgets tell and who is drawn.
        square = goal.squared_bias
        beside = goal.drawn_square(budgets.n) / square if assumption.sampled else 0.0
        slope = squares(goal.noise_square(noise), told=square, beside=math.sqrt(beside))
        return bias_cap(budgets, slope)
    if goal.by_bias:
        return bias_cap(budgets, laplace_quantile(1.0 - goal.confidence, assumption.apart))
    return None


def bias_cap(budgets: Budgets, slope: Slope) -> float:
    """The cap that minimises a convex risk of ½Σ|w − 1/n| and the scale, on the simplex."""
    return cap_of_scale(budgets, bias_scale(budgets, slope, simplex=True))


def squares(noise: float, *, told: float = 1.0, beside: float = 0.0) -> Slope:
    """The derivative of told·(bias + beside)² + noise·scale²."""

    def slope(bias: float, below: float, scale: float) -> float:
        return 2.0 * (noise * scale - told * (bias + beside) * below)

    return slope


def laplace_quantile(beta: float, apart: float = 1.0) -> Slope:
    """The derivative of scale·ln(cosh(apart·bias/scale)/β), the exact PAC error of these people."""

    def slope(bias: float, below: float, scale: float) -> float:
        z = apart * max(bias, 0.0) / scale
        log_cosh = z + math.log1p(math.exp(-2.0 * z)) - math.log(2.0)
        return log_cosh - math.log(beta) - (z + apart * below) * math.tanh(z)

    return slope


def merged(budgets: Budgets, most: int) -> Budgets:
    """At most about `most` levels: neighbours merge into the smallest of them."""
    if len(budgets) <= most:
        return budgets
    starts = np.unique(np.linspace(0, len(budgets) - 1, most).astype(np.int64))
    if math.isinf(budgets.levels[-1]):  # public people never merge with others
        starts = np.unique(np.append(starts, len(budgets) - 1))
    counts = np.add.reduceat(budgets.counts, starts)
    return Budgets.of_levels(budgets.levels[starts], counts)


def _cap(budgets: Budgets, cap: float) -> Effective:
    return Effective(capped(budgets, cap), cap=cap)
