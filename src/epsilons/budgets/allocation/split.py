"""Division of budgets between finding the range of the data and estimating the mean.

The division depends on budgets alone. A mean with a cap τ does not use the part of a budget above
τ, and this part can pay for the range. Lowering the cap takes from the largest budgets. This harms
the mean least, because its risk depends most on the smallest budgets.

The benefit of the range is forecast for Gaussian data: see `risk.ranges`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from epsilons.budgets.allocation.rules import square_cap
from epsilons.budgets.levels import Budgets
from epsilons.risk import ranges
from epsilons.types import Floats, Integers

TOO_OFTEN: Final = 0.01
"""The largest forecast probability of a wrong range at which the range is still estimated."""

_SLACK: Final = 1.02
"""Among all shares with a forecast error within this factor of the best, the smallest are used."""

_LEAST: Final = 3.0
_MOST: Final = 6.0
_COST: Final = 1.1
"""The range covers at least 3 σ on either side of the centre, and at most 6 σ. Within these limits
it is as wide as possible while the squared error grows by at most a tenth. A wider range is safer
for data that are not Gaussian."""


Doubts: TypeAlias = Sequence[tuple[float, Integers]]
"""Cases: the probability of each case, and the number of people at each level in it."""


@dataclass(frozen=True, eq=False)
class Split:
    """The shares of the two private selections that find the range, for each level.

    Attributes:
        centre: the budget for the weighted median.
        deviation: the budget for the weighted median of the distances to that median.
        failure: an upper bound on the probability that the range is wrong, for Gaussian data.
        forecast: the expected squared error in σ², including failures.
    """

    centre: Floats
    deviation: Floats
    failure: float
    forecast: float


def best_split(
    levels: Floats,
    counts: Integers,
    *,
    neighbours: str,
    odds: float = ranges.CENTRE_ODDS,
    doubts: Doubts = (),
) -> Split:
    """Return the shares of least forecast error; among nearly equal ones, the smallest shares.

    Args:
        levels: the remaining budget at each level, from 0 to ∞, in any order.
        counts: the number of people at each level, actual or expected.
        neighbours: "replace" or "add-remove".
        odds: the log of the prior weight of wrong centres divided by the prior weight of right
            ones.
        doubts: for expected people, pessimistic counts at each level with their probabilities;
            empty if `counts` are actual.
    """
    s = ranges.SHARPNESS[neighbours]
    most_centre = ranges.most_useful(ranges.CENTRE_GAP, s)
    most_deviation = ranges.most_useful(ranges.DEVIATION_GAP, s)
    people = counts.astype(np.float64)
    top = _best_cap(levels, people)
    caps = (top * np.geomspace(0.02, 1.0, 32)).reshape(-1, 1, 1, 1)
    parts = np.geomspace(0.01, 1.0, 17).reshape(1, -1, 1, 1)
    shares = np.linspace(0.25, 0.75, 9).reshape(1, 1, -1, 1)
    with np.errstate(invalid="ignore"):
        excess = np.where(np.isinf(levels), np.inf, np.maximum(levels - caps, 0.0))
    total = parts * np.minimum(excess, most_centre + most_deviation)
    centre = np.minimum(shares * total, most_centre)
    deviation = np.minimum((1.0 - shares) * total, most_deviation)
    cases = [
        chance * ranges.failure(centre, deviation, few.astype(np.float64), s, odds)
        for chance, few in doubts or ((1.0, counts),)
    ]
    failure = np.sum(cases, axis=0)
    forecast = ranges.forecast(np.minimum(levels, caps), deviation, people, s, failure)
    spent = (centre + deviation) @ people
    good = forecast <= _SLACK * forecast.min()
    best = np.unravel_index(np.argmin(np.where(good, spent, np.inf)), spent.shape)
    return Split(
        np.broadcast_to(centre, (*spent.shape, len(levels)))[best].copy(),
        np.broadcast_to(deviation, (*spent.shape, len(levels)))[best].copy(),
        float(np.broadcast_to(failure, spent.shape)[best]),
        float(forecast[best]),
    )


def _best_cap(levels: Floats, people: Floats) -> float:
    """Return roughly the best cap of the mean if finding the range cost nothing."""
    finite = levels[np.isfinite(levels) & (levels > 0.0)]
    if finite.size == 0:
        return 64.0  # everyone with a budget is public, and any cap gives the same mean
    caps = np.geomspace(float(finite.min()), max(float(finite.max()), 1e-300), 200)
    if finite.size < np.count_nonzero(levels > 0.0):
        caps = np.append(caps, np.geomspace(caps[-1], caps[-1] + 64.0, 50))
    mean = np.minimum(levels, caps[:, None])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        risk = ranges.capped_mse(mean, people, ranges.range_noise())
    return float(caps[int(np.nanargmin(np.where(np.isnan(risk), math.inf, risk)))])


def best_half(budgets: Budgets) -> float:
    """Return the half-width of the range in σ: as wide as the limits of `_COST` allow.

    Args:
        budgets: the budgets that remain for the mean.
    """
    at_least = _at_half(budgets, _LEAST)
    sizes = np.linspace(_LEAST, _MOST, 25).tolist()
    return float(max(h for h in sizes if h == _LEAST or _at_half(budgets, h) <= _COST * at_least))


def _at_half(budgets: Budgets, half: float) -> float:
    """Return the squared error of the capped mean, in σ², on a range of ± `half` σ."""
    noise = ranges.range_noise(2.0 * half)
    cap = square_cap(budgets, noise)
    if math.isinf(cap):
        return 1.0 / float(budgets.counts[-1])
    return float(ranges.capped_mse(np.minimum(budgets.levels, cap), budgets.counts, noise))
