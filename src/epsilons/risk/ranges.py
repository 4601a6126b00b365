"""What finding a range is worth, and how often it fails: forecasts for Gaussian data, in σ.

A stage that gives person i the share r_i errs by more than g in rank with probability at most
C·e^{−X}, X = Σ(s·g·r_i − s²·r_i²/8): the first term is the exponential mechanism (s = ½ for
replace, 1 for add-remove), the second the moment generating function of the sample, by Hoeffding's
lemma. Nobody is worth more than r = 4g/s, so that is the cap of a stage. docs/proofs/gaussian.md
has the proof.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from epsilons.types import Floats, Integers

SHARPNESS: Final = MappingProxyType({"replace": 0.5, "add-remove": 1.0})
"""s, by what counts as a change of one person."""

CENTRE_GAP: Final = 1.0 / 3.0
DEVIATION_GAP: Final = 0.25
"""Errors in rank that do no harm: a centre within one σ, a deviation from a third to 1.2 σ."""

CENTRE_ODDS: Final = 10.0
DEVIATION_ODDS: Final = 4.0
"""ln C: how much prior weight the wrong candidates have over the right ones, for numbers that have
some three digits more than their deviation."""

_FAILURE: Final = 16.0
"""What a wrong range is taken to cost, in σ²."""

_WIDTH: Final = 8.0
"""The width of the range in σ, for the forecast."""

_SLOPE: Final = 2.0
"""How many per cent of σ an error of one per cent of rank costs in the deviation."""

_TAIL: Final = 8.0
"""ln of the odds against the error of the deviation that the forecast counts with."""


def most_useful(gap: float, s: float) -> float:
    """The share of a stage beyond which nobody helps it: 4g/s."""
    return 4.0 * gap / s


def failure(centre: Floats, deviation: Floats, people: Floats, s: float, odds: float) -> Floats:
    """A bound on the probability of a wrong range, for shares of either stage along the last axis.

    Args:
        centre: the share of the weighted median of a person of each level.
        deviation: the share of the weighted median of the distances to it.
        people: how many have each level.
        s: of `SHARPNESS`.
        odds: the prior weight of wrong centres over right ones, as a logarithm.
    """
    found = np.exp(np.minimum(odds - _exponent(centre, people, CENTRE_GAP, s), 0.0))
    found = found + np.exp(
        np.minimum(DEVIATION_ODDS - _exponent(deviation, people, DEVIATION_GAP, s), 0.0)
    )
    return np.minimum(found, 1.0)


def forecast(mean: Floats, deviation: Floats, people: Floats, s: float, wrong: Floats) -> Floats:
    """The squared error of the mean that follows, in σ², failures included.

    Args:
        mean: what the mean gets of a person of each level.
        deviation: the share of the weighted median of the distances.
        people: how many have each level.
        s: of `SHARPNESS`.
        wrong: the probability of a wrong range.
    """
    with np.errstate(divide="ignore", over="ignore"):
        risk = capped_mse(mean, people, range_noise(_WIDTH))
        rank = _TAIL / (s * (deviation @ people))
        return np.asarray(risk * (1.0 + _SLOPE * rank) ** 2 + _FAILURE * wrong)


def capped_mse(effective: Floats, people: Floats | Integers, noise: float) -> Floats:
    """(Σe² + noise)/(Σe)²: the squared error of a weighted mean, in squares of the deviation.

    Args:
        effective: the effective budget of a person of each level, along the last axis.
        people: how many have each level.
        noise: the variance of the noise of the sum.
    """
    return np.asarray((effective**2 @ people + noise) / (effective @ people) ** 2)


def range_noise(width: float = _WIDTH) -> float:
    """The variance of Laplace noise for a range of so many σ: twice the square of its scale."""
    return 2.0 * width**2


def _exponent(shares: Floats, people: Floats, gap: float, s: float) -> Floats:
    """X: the logarithm of how unlikely an error of `gap` in rank is."""
    return np.asarray(s * gap * (shares @ people) - s * s / 8.0 * (shares**2 @ people))
