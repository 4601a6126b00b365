"""The largest error in the Gaussian limit: what weights are chosen by, and no claim.

Given the scales of Laplace noise as a mixture of Gaussians, the errors of cells are Gaussian, and
by Šidák's inequality P(max ≤ a) is at least the product over cells. With F(a; σ) = P(|σN + L| ≤ a),

    P(max > a) ≤ 1 − e^{−H(a)},    H(a) = min_μ { μ + k·max_p [ −ln F(a; r·√(p(1−p))) − μ·p ] }

for the worst shares, in units of the noise. Derived in `docs/proofs/frequencies.md`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from epsilons.risk.tails import bisect
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

_SHARES: Final = np.concatenate([[0.0], np.geomspace(2.0**-13, 0.5, 27)])
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_QUIET: Final = 1e-4
"""Noise below this part of the sampling error counts as this part of it."""


def mean_square(square: float, weighing: Weighing, cells: int) -> float:
    """The mean square of the largest error that H allows.

    Args:
        square: v, for variances v·p(1 − p) of the sampling errors.
        weighing: the estimator: its noise.
        cells: how many cells there are.
    """
    scale = _scale(square, weighing)
    if scale == 0.0:
        return 0.0
    ratio = math.sqrt(square) / scale
    end = ratio * (0.5 * math.sqrt(2.0 * math.log(2.0 * cells)) + 3.0) + math.log(cells) + 25.0
    # Nodes are closer where the error is likely to be.
    part = 0.5 * (_NODES + 1.0)
    at = end * part**2
    missed = -np.expm1(-_loss(at, ratio, cells))
    integrand = 2.0 * at * missed * 2.0 * end * part
    return scale * scale * float(0.5 * (_NODE_WEIGHTS @ integrand))


def quantile(square: float, weighing: Weighing, cells: int, beta: float) -> float:
    """The error that H allows with probability β: see `mean_square`."""
    scale = _scale(square, weighing)
    if scale == 0.0:
        return 0.0
    ratio, wanted = math.sqrt(square) / scale, -math.log1p(-beta)

    def excess(a: float) -> float:
        return float(_loss(np.array([a]), ratio, cells)[0]) - wanted

    high = ratio + 1.0
    while excess(high) > 0.0:
        high *= 2.0
    return scale * bisect(excess, 1e-9 * high, high)


def _scale(square: float, weighing: Weighing) -> float:
    """The scale of Laplace noise of the variance of one cell, or next to nothing."""
    variance = 2.0 if weighing.closed is None else weighing.closed.variance
    return max(weighing.scale * math.sqrt(variance / 2.0), _QUIET * math.sqrt(square))


def _loss(at: Floats, ratio: float, cells: int) -> Floats:
    """H at many errors at once."""
    sigma = max(ratio, 1e-9) * np.sqrt(_SHARES * (1.0 - _SHARES))
    tails = np.column_stack([0.5 * np.exp(-at), beyond(at[:, None], sigma[None, 1:])])
    each = -np.log1p(-np.minimum(2.0 * tails, 1.0 - 1e-15))
    prices = np.maximum((each[:, 1:] - each[:, :1]) / _SHARES[1:], 0.0)
    gains = each[:, None, :] - prices[:, :, None] * _SHARES
    return np.asarray((prices + cells * gains.max(axis=2)).min(axis=1))


def beyond(a: Floats, sigma: Floats) -> Floats:
    """P(σN + L > a) for Laplace noise of scale 1 and σ > 0, to seven digits."""
    z, root = a / sigma, math.sqrt(2.0)
    bell = np.exp(-0.5 * z * z)
    gap = z - sigma
    inner = bell * _erfcx(np.abs(gap) / root)
    with np.errstate(over="ignore"):
        fall = 2.0 * np.exp(np.minimum(0.5 * sigma * sigma - a, 0.0)) - inner
    near = np.where(gap < 0.0, inner, fall)
    far = bell * _erfcx((z + sigma) / root)
    return np.asarray(0.5 * bell * _erfcx(z / root) + 0.25 * (near - far))


_SERIES: Final = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806,
    0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip
"""Of a rational fit to ln erfcx, good to 1.2e-7 (Press et al., Numerical Recipes, 6.2)."""


def _erfcx(x: Floats) -> Floats:
    """e^{x²}·erfc(x) for x ≥ 0, to seven digits."""
    t = 1.0 / (1.0 + 0.5 * x)
    total = np.zeros_like(t)
    for each in reversed(_SERIES):
        total = total * t + each
    return np.asarray(t * np.exp(total))
