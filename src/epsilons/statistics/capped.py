"""The mean on a range that was found: what is left for it, how wide it is, how well it is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from epsilons import tally
from epsilons.allocation import best_cap
from epsilons.allocation.caps import square_cap
from epsilons.allocation.split import best_half
from epsilons.budgets import Budgets
from epsilons.mechanisms import Additive
from epsilons.noise import DiscreteLaplace, PointMass
from epsilons.risk import located
from epsilons.risk.goals import MeanGoal
from epsilons.risk.located import SIGMA, Picture
from epsilons.statistics.locate import Found, remaining
from epsilons.tally import line
from epsilons.types import Floats, Integers

__all__ = [
    "around",
    "budgets_left",
    "budgets_of",
    "capped_mean",
    "picture_of",
    "range_of",
]

_WEIGHT_BITS = 45
_NARROWEST = 2.0**-890


def range_of(found: Found) -> tuple[float, float]:
    """The range of the mean: the centre, and as many σ to either side as are worth their noise."""
    half = best_half(budgets_left(found))
    return around(found.centre, half * SIGMA * found.deviation + found.width / 2.0)


def around(centre: float, reach: float) -> tuple[float, float]:
    """The ends of a range: not so narrow that floats cannot tell them apart, nor too wide.

    It lies within ±2^1021, so that sums and differences of its ends are floats.
    """
    centre = min(max(centre, -line.LIMIT), line.LIMIT)
    reach = min(max(reach, _NARROWEST, 2.0**-44 * abs(centre)), line.LIMIT)
    return max(centre - reach, -line.LIMIT), min(centre + reach, line.LIMIT)


def budgets_left(found: Found) -> Budgets:
    """What the people of the coarse levels have left for the mean."""
    return budgets_of(remaining(found.levels, found.losses), found.counts)


def capped_mean(
    levels: Floats,
    counts: Integers,
    spent: Sequence[Fraction],
    *,
    bounds: tuple[float, float],
    aim: MeanGoal | float,
) -> Additive:
    """The mechanism that spends on the mean what the stages before it left.

    Args:
        levels: the budgets ε, ascending.
        counts: how many people have each.
        spent: what the stages before took of a person of each level.
        bounds: the range of the mean.
        aim: what the cap makes small: the error of a goal in the worst case; or, for a Gaussian
            population of about this standard deviation, its mean squared error.
    """
    left = remaining(levels, spent)
    cap = _best_cap(budgets_of(left, counts), bounds, aim)
    law: DiscreteLaplace | PointMass
    if math.isinf(cap):
        weights = np.where(np.isinf(left), 2**_WEIGHT_BITS, 0).astype(np.int64)
        law = PointMass()
    else:
        effective = np.minimum(left, cap)
        shift = min(_WEIGHT_BITS - math.frexp(float(effective.max()))[1], 53)
        weights = np.floor(np.ldexp(effective, shift)).astype(np.int64)
        law = DiscreteLaplace(Fraction(2) ** shift)
    total = sum(k * n for k, n in zip(weights.tolist(), counts.tolist(), strict=True))
    return Additive(
        levels=levels.copy(),
        counts=counts.copy(),
        weights=weights,
        reach=tally.GRID,
        grid=tally.GRID,
        law=law,
        divisor=Fraction(total),
        bounds=bounds,
    )


def _best_cap(budgets: Budgets, bounds: tuple[float, float], aim: MeanGoal | float) -> float:
    if isinstance(aim, MeanGoal):
        return best_cap(budgets, aim, aim.noise)
    return square_cap(budgets, 2.0 * min((bounds[1] - bounds[0]) / aim, 1e9) ** 2)


def picture_of(found: Found) -> Picture:
    """The picture that the last two selections give."""
    pairs = [
        located.selected(stage.weights, found.counts, stage.scale) for stage in found.stages[-2:]
    ]
    return Picture(
        found.centre,
        found.deviation,
        found.width,
        found.near,
        found.odds,
        (pairs[0][0], pairs[1][0]),
        (pairs[0][1], pairs[1][1]),
    )


def budgets_of(left: Floats, counts: Integers) -> Budgets:
    """What is left as budgets: levels that have become equal are one."""
    levels, index = np.unique(left, return_inverse=True)
    people = np.zeros(levels.size, dtype=np.int64)
    np.add.at(people, index, counts)
    return Budgets.of_levels(levels, people)
