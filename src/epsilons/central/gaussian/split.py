"""How much of everyone's budget finds the range, and how much is left for the mean.

Both answers come from budgets alone. A mean under a cap τ leaves what the generous have above it,
and it loses least, for what it gives up, where the cap is lowered: the slope of its risk is
steepest at the smallest budgets. So whoever has more than τ pays for the range.

What the range is worth is a forecast for Gaussian data. A stage that gives person i the share r_i
errs by more than g in rank with probability at most C·e^{−X}, X = Σ(s·g·r_i − s²·r_i²/8): the first
term is the exponential mechanism (s = ½ for replace, 1 for add-remove), the second the moment
generating function of the sample, by Hoeffding's lemma. Nobody is worth more than r = 4g/s, so that
is the cap of a stage. docs/proofs/gaussian.md has the proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilons.budgets import Floats, Integers

__all__ = ["CENTRE_ODDS", "SHARPNESS", "TOO_OFTEN", "Split", "best_split"]

SHARPNESS = {"replace": 0.5, "add-remove": 1.0}

CENTRE_GAP, DEVIATION_GAP = 1.0 / 3.0, 0.25
"""Errors in rank that do no harm: a centre within one σ, a deviation from a third to 1.2 σ."""

CENTRE_ODDS, DEVIATION_ODDS = 10.0, 4.0
"""ln C: how much prior weight the wrong candidates have over the right ones, for numbers that have
some three digits more than their deviation."""

TOO_OFTEN = 0.01
"""A forecast probability of a wrong range above which a round is not begun."""

_FAILURE = 16.0
"""What a wrong range is taken to cost, in σ²."""

_WIDTH = 8.0
"""The width of the range in σ, for the forecast."""

_SLOPE = 2.0
"""How many per cent of σ an error of one per cent of rank costs in the deviation."""

_TAIL = 8.0
"""ln of the odds against the error of the deviation that the forecast counts with."""

_SLACK = 1.02
"""Less is taken as long as the forecast grows by at most two per cent."""


@dataclass(frozen=True, eq=False)
class Split:
    """What the two selections of a round take from a person of each level.

    Attributes:
        centre: the share of the weighted median.
        deviation: the share of the weighted median of the distances to it.
        failure: a bound on the probability that the range is wrong, for Gaussian data.
        forecast: the squared error that follows, in σ², failures included.
    """

    centre: Floats
    deviation: Floats
    failure: float
    forecast: float


def best_split(
    levels: Floats, counts: Integers, *, neighbours: str, odds: float = CENTRE_ODDS
) -> Split:
    """Choose the shares with the least forecast, and of those the smallest.

    Args:
        levels: what is left of the budget of each level, from 0 to ∞, in any order.
        counts: the people of each level, present or expected.
        neighbours: "replace" or "add-remove".
        odds: the prior weight of wrong centres over right ones, as a logarithm.
    """
    s = SHARPNESS[neighbours]
    most_centre, most_deviation = 4.0 * CENTRE_GAP / s, 4.0 * DEVIATION_GAP / s
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
    failure = np.exp(np.minimum(odds - _exponent(centre, people, CENTRE_GAP, s), 0.0))
    failure = failure + np.exp(
        np.minimum(DEVIATION_ODDS - _exponent(deviation, people, DEVIATION_GAP, s), 0.0)
    )
    failure = np.minimum(failure, 1.0)
    mean = np.minimum(levels, caps)
    with np.errstate(divide="ignore", over="ignore"):
        risk = (mean**2 @ people + 2.0 * _WIDTH**2) / (mean @ people) ** 2
        rank = _TAIL / (s * (deviation @ people))
        forecast = risk * (1.0 + _SLOPE * rank) ** 2 + _FAILURE * failure
    spent = (centre + deviation) @ people
    good = forecast <= _SLACK * forecast.min()
    best = np.unravel_index(np.argmin(np.where(good, spent, np.inf)), spent.shape)
    return Split(
        np.broadcast_to(centre, (*spent.shape, len(levels)))[best].copy(),
        np.broadcast_to(deviation, (*spent.shape, len(levels)))[best].copy(),
        float(np.broadcast_to(failure, spent.shape)[best]),
        float(forecast[best]),
    )


def _exponent(shares: Floats, people: Floats, gap: float, s: float) -> Floats:
    """X: the logarithm of how unlikely an error of `gap` in rank is."""
    return np.asarray(s * gap * (shares @ people) - s * s / 8.0 * (shares**2 @ people))


def _best_cap(levels: Floats, people: Floats) -> float:
    """About the cap of the mean if the range were free; a round number will do for a search."""
    finite = levels[np.isfinite(levels) & (levels > 0.0)]
    if finite.size == 0:
        return 64.0  # everyone who may be used is public
    caps = np.geomspace(float(finite.min()), max(float(finite.max()), 1e-300), 200)
    if finite.size < np.count_nonzero(levels > 0.0):
        caps = np.append(caps, np.geomspace(caps[-1], caps[-1] + 64.0, 50))
    mean = np.minimum(levels, caps[:, None])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        risk = (mean**2 @ people + 2.0 * _WIDTH**2) / (mean @ people) ** 2
    return float(caps[int(np.nanargmin(np.where(np.isnan(risk), math.inf, risk)))])
