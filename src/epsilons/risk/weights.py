"""How much each report counts: by its worst-case variance, as the papers have it, or all alike."""

from __future__ import annotations

import math
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from epsilons.types import Floats, Weights

WEIGHTS: Final = get_args(Weights)
"""The words that `weights` takes."""

LEAST: Final = 2.0**-20
"""A report at a smaller budget is pure noise: it counts for nothing, whatever weights are asked.

A million million such people tell as much as one at ε = 1. If they counted, a report at ε = 1e-310
would divide by zero, and one at 1e-9 outweigh all others where reports weigh alike.
"""

MOST: Final = 2.0**20
"""The largest finite budget: beyond ε = 45 the coin cannot tell budgets apart."""


_TOLD: Final = (2.0**-5, 700.0)
"""Between these budgets e^ε tells tanh(ε/2) but for its last digits, and is finite."""

MANY: Final = 4096
"""So many people together are worth a quicker way, whose last digits are others."""

_ONE: Final = np.ones(())
_TWO: Final = np.full((), 2.0)
# Arrays: NumPy would make one of a number at each call.

LARGEST_ARM: Final = math.sqrt(2.0) / 8.0
"""w/ε for w = 1/(1 + 8/ε²) is at most this, at ε = √8."""


def tangent(epsilon: Floats, extent: tuple[float, float], arm: Floats) -> None:
    """Write tanh(ε/2): 0 for a report that is pure noise, or nearly so.

    Args:
        epsilon: the budgets.
        extent: the least and the largest of them, or of more.
        arm: filled with it, within 2⁻⁴⁵ of it.
    """
    least, most = extent
    if len(epsilon) >= MANY and least >= _TOLD[0] and most <= _TOLD[1]:
        # 1 − q, q = 2/(1 + e^ε), takes half the time of a hyperbolic tangent. With u = 2⁻⁵³ and e^ε
        # off by 2u, q is off by 4u, and 1 − q by (4·q/(1 − q) + 1)·u ≤ (8/ε + 1)·u, relatively.
        np.exp(epsilon, arm)
        np.add(arm, _ONE, arm)
        np.divide(_TWO, arm, arm)
        np.subtract(_ONE, arm, arm)
        return
    np.multiply(epsilon, 0.5, arm)
    np.tanh(arm, arm)
    if least < LEAST:
        arm[epsilon < LEAST] = 0.0


def inverse(arm: Floats) -> NDArray[np.bool_]:
    """Write 1/tanh(ε/2) over tanh(ε/2), 0 where that is 0.

    Returns:
        Where it is not.
    """
    useful: NDArray[np.bool_] = arm > 0.0
    np.divide(1.0, arm, out=arm, where=useful)
    return useful


def response(weights: str, epsilon: Floats, weight: Floats, arm: Floats) -> None:
    """Write the weight w of a randomized response, and w·c, with c = 1/tanh(ε/2), into two arrays.

    By variance and in paper *local* (Algorithms 2 and 5) w is 1/c²; a report that is pure noise,
    or nearly so, gets no weight, whatever was asked for.

    Args:
        weights: one of `WEIGHTS`.
        epsilon: the budgets.
        weight: filled with w.
        arm: filled with w·c.
    """
    tangent(epsilon, (float(epsilon.min()), float(epsilon.max())), arm)
    if weights == "uniform":
        weight[:] = inverse(arm)
    else:
        np.multiply(arm, arm, out=weight)


def laplace(weights: str, epsilon: Floats) -> Floats:
    """The weight of a number with Laplace noise, on a unit range, ε > 0.

    By variance 1/(1 + 8/ε²), a quarter of 1/(¼ + 2/ε²) as 1/c² is of that of one bit; in paper
    *local* (Algorithm 1, on [−1, 1]) 1/(1 + 1/ε²).
    """
    if weights == "uniform":
        return np.ones_like(epsilon)
    square = epsilon * epsilon
    found = square + (8.0 if weights == "variance" else 1.0)
    return np.divide(square, found, out=found)


def laplace_tail(weight: float, square: float) -> float:
    """Σ w²/ε² of numbers that are weighed by variance, from Σ w and Σ w²: w + 8w/ε² = 1."""
    return max(weight - square, 0.0) / 8.0


def by_variance(weights: str, epsilon: Floats, variance: Floats) -> Floats:
    """The weight of a vector: 1/variance, ε² as in paper *local* (Algorithm 3), or 1.

    Args:
        weights: one of `WEIGHTS`.
        epsilon: the budgets.
        variance: worst-case variances, infinite where a report is pure noise.
    """
    useful = epsilon >= LEAST
    if weights == "variance":
        return np.where(useful, 1.0 / variance, 0.0)
    if weights == "paper":  # ∞ weighs as the largest finite budget does: ε² knows no largest one
        return np.where(useful, np.minimum(epsilon, MOST) ** 2, 0.0)
    return useful.astype(np.float64)


def rappor(weights: str, epsilon: Floats) -> tuple[Floats, Floats]:
    """The weight w of a k-RAPPOR report, and w·c, with c = coth(ε/4).

    By variance 4/c², the inverse of a cell's worst; in paper *correlated* (149), without its ℓ1
    term, 1/(1 + c/ε).
    """
    slope = np.where(epsilon >= LEAST, np.tanh(epsilon / 4.0), 0.0)
    useful = slope > 0.0
    inverse = np.zeros_like(slope)
    np.divide(1.0, slope, out=inverse, where=useful)
    if weights == "variance":
        return 4.0 * slope * slope, 4.0 * slope
    if weights == "uniform":
        return useful.astype(np.float64), inverse
    ratio = np.zeros_like(slope)
    np.divide(inverse, epsilon, out=ratio, where=useful)
    weight = np.where(useful, 1.0 / (1.0 + ratio), 0.0)
    return weight, weight * inverse
