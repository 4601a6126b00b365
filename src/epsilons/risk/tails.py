"""Tails: how often a bounded sum plus Laplace noise is far out, exactly or bounded with proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from epsilons.budgets import Floats

_LARGEST_RATIO = 1e12

Exceeds: TypeAlias = Callable[[float], bool]
"""Whether an error is exceeded too often: true up to a point, false from there on."""


def deviation(shift: float, square: float, scale: float, beta: float) -> float:
    """The α with P(|c + S + L| > α) ≤ β for every |c| ≤ shift.

    S has P(±S > s) ≤ exp(−2s²/square); L is Laplace of this scale, and independent.
    """
    if square <= 0.0:
        return laplace_quantile(shift, scale, beta)
    sigma = math.sqrt(square) / 2.0

    def exceeds(beyond: float) -> bool:
        """Whether the error exceeds shift + beyond too often: a sum may not tell the two apart."""
        return tail(beyond, sigma, scale) + tail(shift + beyond, sigma, scale) > beta

    low, high = 0.0, sigma + scale
    while exceeds(high):
        low, high = high, 2.0 * high
    return shift + bisect(exceeds, low, high)


def laplace_quantile(shift: float, scale: float, beta: float) -> float:
    """The exact quantile of |shift + L|, with L Laplace: the largest over all smaller shifts."""
    if scale <= 0.0:
        return shift
    ratio = shift / scale
    log_cosh = ratio + math.log1p(math.exp(-2.0 * ratio)) - math.log(2.0)
    alpha = scale * (log_cosh - math.log(beta))
    if alpha >= shift:
        return alpha
    # β > ½: the error may be smaller than the shift. asinh of (1−β)·e^ratio, without overflow.
    log_argument = math.log1p(-beta) + ratio
    if log_argument > 350.0:
        return scale * (log_argument + math.log(2.0))
    return scale * math.asinh(math.exp(log_argument))


def tail(alpha: float, sigma: float, scale: float) -> float:
    """A bound on P(S + L > alpha): ∫ min(1, exp(−(alpha − l)₊²/2σ²)) dP_L(l), in closed form."""
    if alpha <= 0.0:
        return 1.0
    z = alpha / sigma
    bell = math.exp(-min(z * z / 2.0, 745.0))
    if sigma > _LARGEST_RATIO * scale:
        return bell  # the noise is too small for a float to tell
    ratio = sigma / scale
    fall = math.exp(-min(alpha / scale, 745.0))
    gap = ratio - z
    if gap > 0.0:
        near = 0.5 * _erfcx(gap / math.sqrt(2.0)) * bell
    else:
        near = 0.5 * math.exp(ratio * ratio / 2.0 - ratio * z) * math.erfc(gap / math.sqrt(2.0))
    far = 0.5 * _erfcx((z + ratio) / math.sqrt(2.0)) * bell
    rest = 0.5 * _erfcx(ratio / math.sqrt(2.0)) * fall
    return 0.5 * fall + ratio * math.sqrt(math.pi / 2.0) * (near - rest + far)


def _erfcx(x: float) -> float:
    """e^{x²}·erfc(x) for x ≥ 0, without overflow."""
    if x < 25.0:
        return math.exp(x * x) * math.erfc(x)
    inverse = 1.0 / (2.0 * x * x)
    series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse * (1.0 - 7.0 * inverse)))
    return series / (x * math.sqrt(math.pi))


def bisect(exceeds: Exceeds, low: float, high: float) -> float:
    """The point where `exceeds` turns false, approached from the side where it is false."""
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high


def kearns_saul(p: Floats) -> Floats:
    """The least variance of a normal law whose moments bound those of a centred coin: ¼ at most."""
    odds = np.log1p(-p) - np.log(p)
    balanced = np.abs(odds) < 1e-6
    safe = np.where(balanced, 1.0, odds)
    return np.where(balanced, 0.25, (1.0 - 2.0 * p) / (2.0 * safe))
