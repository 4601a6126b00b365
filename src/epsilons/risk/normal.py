"""The normal law, and how far clipping can move its mean."""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = [
    "clipped_square",
    "clipping_bias",
    "normal_laplace_quantile",
    "normal_laplace_tail",
    "quantile",
    "upper_tail",
]

_NOTHING = 38.0
"""Beyond it a float has no room for what is left of the bell."""


@lru_cache(maxsize=256)
def quantile(p: float) -> float:
    """The z with P(Z ≤ z) = p, for ½ ≤ p < 1; infinite at 1."""
    if p >= 1.0:
        return math.inf
    low, high = 0.0, 40.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if upper_tail(middle) > 1.0 - p else (low, middle)
    return high


def clipping_bias(off: float, reach: float, sigma: float) -> float:
    """|E clip(X) − μ| for X ~ N(μ, σ²) clipped to within `reach` of a point that is `off` from μ.

    It grows with `off` and with σ.
    """
    if not math.isfinite(sigma) or not math.isfinite(off):
        return math.inf
    return sigma * (_beyond((reach - off) / sigma) - _beyond((reach + off) / sigma))


def clipped_square(off: float, reach: float) -> float:
    """E (clip(Z) − Z)² of a standard normal Z, clipped to within `reach` of `off`."""
    if not math.isfinite(off):
        return 1.0
    return min(_beyond_square(reach - off) + _beyond_square(reach + off), 1.0)


def normal_laplace_quantile(sigma: float, scale: float, beta: float) -> float:
    """The α with P(|N + L| > α) = β, for N normal and L Laplace, independent."""
    if not (math.isfinite(sigma) and math.isfinite(scale)):
        return math.inf
    if sigma <= 0.0 and scale <= 0.0:
        return 0.0
    low, high = 0.0, sigma + scale
    while 2.0 * normal_laplace_tail(high, sigma, scale) > beta:
        low, high = high, 2.0 * high
    while high - low > 1e-10 * high and low < (middle := 0.5 * (low + high)) < high:
        above = 2.0 * normal_laplace_tail(middle, sigma, scale) > beta
        low, high = (middle, high) if above else (low, middle)
    return high


def normal_laplace_tail(alpha: float, sigma: float, scale: float) -> float:
    """P(N + L > α), exactly, for α ≥ 0."""
    if scale <= 0.0 or sigma > 1e9 * scale:
        return upper_tail(alpha / sigma)
    if sigma <= 0.0:
        return 0.5 * math.exp(-alpha / scale)
    z, ratio = alpha / sigma, sigma / scale
    near = _scaled(z, ratio - z, ratio * ratio / 2.0 - alpha / scale)
    far = _scaled(z, ratio + z, ratio * ratio / 2.0 + alpha / scale)
    return upper_tail(z) + 0.5 * near - 0.5 * far


def _scaled(z: float, y: float, exponent: float) -> float:
    """e^{y²/2 − z²/2}·P(Z > y), without overflow; the exponent is given, for squares cancel."""
    if y < 25.0:
        return math.exp(min(max(exponent, -745.0), 700.0)) * upper_tail(y)
    tail = (1.0 - 1.0 / (y * y)) / (y * math.sqrt(2.0 * math.pi))
    return math.exp(-min(z * z / 2.0, 745.0)) * tail


def upper_tail(z: float) -> float:
    """P(Z > z)."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def _beyond(a: float) -> float:
    """E max(Z − a, 0)."""
    if a > _NOTHING:
        return 0.0
    return math.exp(-min(a * a / 2.0, 745.0)) / math.sqrt(2.0 * math.pi) - a * upper_tail(a)


def _beyond_square(a: float) -> float:
    """E max(Z − a, 0)²."""
    if a > _NOTHING:
        return 0.0
    bell = math.exp(-min(a * a / 2.0, 745.0)) / math.sqrt(2.0 * math.pi)
    return max((1.0 + a * a) * upper_tail(a) - a * bell, 0.0)
