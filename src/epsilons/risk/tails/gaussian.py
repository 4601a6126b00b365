"""The normal law, the largest of many errors in the Gaussian limit, and the distance to it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from epsilons.budgets.levels import dot
from epsilons.risk.tails.laplace import bisect
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

__all__ = [
    "clipped_square",
    "clipping_bias",
    "normal_laplace_quantile",
    "normal_laplace_tail",
    "quantile",
    "upper_tail",
]


# The normal law, and the bias that clipping gives its mean.

_NOTHING = 38.0
"""Argument beyond which the normal tail underflows float64."""


@lru_cache(maxsize=256)
def quantile(p: float) -> float:
    """The normal quantile: z with P(Z ≤ z) = p, for ½ ≤ p < 1; infinite at 1."""
    if p >= 1.0:
        return math.inf
    low, high = 0.0, 40.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if upper_tail(middle) > 1.0 - p else (low, middle)
    return high


def clipping_bias(off: float, reach: float, sigma: float) -> float:
    """|E clip(X) − μ| for X ~ N(μ, σ²) clipped to within `reach` of a point that is `off` from μ.

    It grows with `off` and with σ. Proof: docs/proofs/gaussian.md (9).
    """
    if not math.isfinite(sigma) or not math.isfinite(off):
        return math.inf
    return sigma * (_beyond((reach - off) / sigma) - _beyond((reach + off) / sigma))


def clipped_square(off: float, reach: float) -> float:
    """E (clip(Z) − Z)², Z normal, clipped to `off` ± `reach`.

    Proof: docs/proofs/gaussian.md (9).
    """
    if not math.isfinite(off):
        return 1.0
    return min(_beyond_square(reach - off) + _beyond_square(reach + off), 1.0)


def normal_laplace_quantile(sigma: float, scale: float, beta: float) -> float:
    """The α with P(|N + L| > α) = β, N normal and L Laplace. Proof: docs/proofs/gaussian.md (9)."""
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
    """P(N + L > α), exactly, for α ≥ 0. Proof: docs/proofs/gaussian.md (9)."""
    if scale <= 0.0 or sigma > 1e9 * scale:
        return upper_tail(alpha / sigma)
    if sigma <= 0.0:
        return 0.5 * math.exp(-alpha / scale)
    z, ratio = alpha / sigma, sigma / scale
    near = _scaled(z, ratio - z, ratio * ratio / 2.0 - alpha / scale)
    far = _scaled(z, ratio + z, ratio * ratio / 2.0 + alpha / scale)
    return upper_tail(z) + 0.5 * near - 0.5 * far


def _scaled(z: float, y: float, exponent: float) -> float:
    """e^{y²/2 − z²/2}·P(Z > y) without overflow; `exponent` is passed in, as squares cancel."""
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


# The largest error in the Gaussian limit: the objective by which weights are chosen, not a claim.
#
# Laplace noise is a Gaussian of random variance. Given the variances, the errors of cells are
# Gaussian, and by Šidák's inequality P(max ≤ a) is at least the product over cells. With
# F(a; σ) = P(|σN + L| ≤ a),
#
#     P(max > a) ≤ 1 − e^{−H(a)},    H(a) = min_μ { μ + k·max_p [ −ln F(a; r·√(p(1−p))) − μ·p ] }
#
# for the worst shares, in units of the noise. Proof: docs/proofs/tables.md (11).

_SHARES: Final = np.concatenate([[0.0], np.geomspace(2.0**-13, 0.5, 27)])
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_QUIET: Final = 1e-4
"""Noise is counted as at least this fraction of the sampling error."""


def mean_square(square: float, weighing: Weighing, cells: int) -> float:
    """The mean square of the largest error according to H. Proof: docs/proofs/tables.md (11).

    Args:
        square: v, where the sampling errors have variances v·p(1 − p).
        weighing: the estimator, which gives the noise.
        cells: number of cells.
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


def sidak_quantile(square: float, weighing: Weighing, cells: int, beta: float) -> float:
    """The 1 − β quantile of the largest error according to H. Proof: docs/proofs/tables.md (11)."""
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
    """The scale of Laplace noise with the variance of one cell, at least a tiny one."""
    variance = 2.0 if weighing.closed is None else weighing.closed.variance
    return max(weighing.scale * math.sqrt(variance / 2.0), _QUIET * math.sqrt(square))


def _loss(at: Floats, ratio: float, cells: int) -> Floats:
    """H at many errors at once. Proof: docs/proofs/tables.md (11)."""
    sigma = max(ratio, 1e-9) * np.sqrt(_SHARES * (1.0 - _SHARES))
    tails = np.column_stack([0.5 * np.exp(-at), beyond(at[:, None], sigma[None, 1:])])
    each = -np.log1p(-np.minimum(2.0 * tails, 1.0 - 1e-15))
    prices = np.maximum((each[:, 1:] - each[:, :1]) / _SHARES[1:], 0.0)
    gains = each[:, None, :] - prices[:, :, None] * _SHARES
    return np.asarray((prices + cells * gains.max(axis=2)).min(axis=1))


def beyond(a: Floats, sigma: Floats) -> Floats:
    """P(σN + L > a) for Laplace noise L of scale 1 and σ > 0, to seven digits."""
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
"""Coefficients of a rational fit to ln erfcx, to 1.2e-7 (Press et al., Numerical Recipes, 6.2)."""


def _erfcx(x: Floats) -> Floats:
    """e^{x²}·erfc(x) for x ≥ 0, to seven digits."""
    t = 1.0 / (1.0 + 0.5 * x)
    total = np.zeros_like(t)
    for each in reversed(_SERIES):
        total = total * t + each
    return np.asarray(t * np.exp(total))


# A weighted sum of a sample plus noise is nearly Gaussian: a proven bound, for every n.
#
# Noise smooths a sum. The characteristic function ("wave") of the error is that of the sum times
# that of the noise, which decreases. A two-sided probability involves only the real part of a wave,
# where the skewness of the sum is of second order. So the probability that a share is off by more
# than `a` differs from that of a Gaussian sum by O(1/n). Proof: docs/proofs/tables.md (9).

_NEARLY_QUIET: Final = 1e-6
"""Noise below this fraction of √Σw² smooths nothing."""

_LOUD: Final = 1e6
"""With noise above this multiple of √Σw² there is nothing to gain."""

_SHORT: Final = 2.0
"""Frequencies up to this over the largest weight are bounded by four moments; later ones are
small."""

_PEAKS: Final = 400
"""How many of the peaks, at which the wave of equal weights returns, are added up one by one."""

_GAUSS: Final = 9.0
"""Number of standard deviations beyond which a Gaussian lies with probability 2e-19."""

_SEVEN_DIGITS: Final = 2e-7
"""Added to cover the rational fit of the Gaussian tail, which is accurate to 1.2e-7."""

_LOST: Final = 1e-15
"""Added to cover what quadrature leaves out."""

_NEARLY_NODES, _NEARLY_WEIGHTS = np.polynomial.legendre.leggauss(10)
_BROAD: Final = np.linspace(-_GAUSS, _GAUSS, 19)
_KINKS: Final = np.array(
    [-40.0, -16.0, -8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 40.0]
)


class NearlyGaussian:
    """Bound on P(|Σw·(X − μ) + z| > a), for X drawn from one population on a unit range.

    Guarantee:
        `beyond(a)` has for each piece of variances a bound on P(|Σw·(X − μ) + z| > a). It holds for
        every population on a unit range whose variance is in the piece, with X independent and z
        Laplace noise or one cell of a closed table. Proof: docs/proofs/tables.md (9).

    Args:
        weighing: the weights, with everyone used with certainty, and noise of a scale above 0.
        variances: ends of the pieces, ascending, above 0 and at most ¼.
    """

    def __init__(self, weighing: Weighing, variances: Floats) -> None:
        self._scale, self._closed = weighing.scale, weighing.closed
        if (
            self._closed is not None and self._closed.cells == 2
        ):  # one Laplace noise, and its opposite
            self._scale, self._closed = 0.5 * self._scale, None
        weights = np.abs(weighing.weights) / self._scale
        counts, square = weighing.counts, (math.sqrt(weighing.square) / self._scale) ** 2
        self._sigma = np.sqrt(variances[1:] * square)
        largest = float(weights.max())
        low, high = variances[:-1, None], variances[1:, None]
        cube, fourth = dot(counts, weights**3), dot(counts, weights**4)
        end = _SHORT / largest

        theta, measure = _pieces(0.5 * math.sqrt(square), end)
        bell = np.exp(-0.5 * low * square * theta**2)
        turn = high * np.sqrt(1.0 - 4.0 * low) * cube * theta**3 / 6.0
        # Remainder of ln E e^{iθY}: m₄θ⁴/24, with m₄ ≤ v(1 − 3v), and what the logarithm adds.
        fold = (1.0 - 3.0 * low) / 24.0 + high / (8.0 - 4.0 * high * (theta * largest) ** 2)
        rest = high * fold * fourth * theta**4
        off = bell * np.minimum(0.5 * turn**2, 2.0)
        off += rest * np.exp(rest - 0.5 * low * square * theta**2)
        inner = (off * self._wave(theta)) @ (measure / theta)
        self._off = 2.0 / math.pi * (inner + self._far(variances[:-1] * square, end, largest))

    def _far(self, squares: Floats, end: float, largest: float) -> Floats:
        """Bound on both waves beyond frequency `end`. Proof: docs/proofs/tables.md (9)."""
        # Both fall at least like e^{−2σ²θ²/π²} until waves of the sum return. From e on, the
        # integral ∫ e^{−cθ²}dθ/θ is at most e^{−ce²}/(2ce²).
        rate = 2.0 / math.pi**2 * squares * end**2
        fallen = np.exp(-np.minimum(rate, 745.0)) / rate * float(self._wave(np.array([end]))[0])
        peaks = 2.0 * math.pi * np.arange(1.0, _PEAKS + 1.0)
        at = self._wave(peaks / largest) / peaks
        edges = np.append(peaks - math.pi, peaks[-1] + math.pi)
        beside = self._wave(edges / largest) / edges
        beside = 0.5 * (beside[1:] + beside[:-1])
        number = squares / largest**2
        peaked = 2.0 * math.pi * _bessel(number)
        # wave(θ)/θ is convex, so the mean of both sides of a peak is below the chord.
        slope = np.minimum(0.5 * math.pi / number, peaked)
        back = float(at.sum()) * peaked + float((beside - at).sum()) * slope
        return np.asarray(fallen + back + self._rest(float(edges[-1]) / largest))

    def _rest(self, theta: float) -> float:
        """Bound on ∫ wave(x) dx/x from theta on. Proof: docs/proofs/tables.md (9)."""
        if self._closed is None:
            return 0.5 * math.log1p(1.0 / theta**2)
        return self._closed.waves_beyond(theta)

    def _wave(self, theta: Floats) -> Floats:
        """E cos(θz) of the noise, in units of the scale."""
        if self._closed is None:
            return np.asarray(1.0 / (1.0 + theta**2))
        return self._closed.wave(theta)

    def beyond(self, a: float) -> Floats:
        """Bound on P(|error| > a) for each piece of variances. Proof: docs/proofs/tables.md (9)."""
        return np.asarray(2.0 * self._gaussian(a / self._scale) + self._off)

    def _gaussian(self, a: float) -> Floats:
        """P(σN + z > a) at the upper end of each piece, in units of the scale."""
        if self._closed is None:
            return np.asarray(beyond(np.array([a]), self._sigma) + _SEVEN_DIGITS)
        sigma = self._sigma[:, None]
        near = np.clip((a - _KINKS) / sigma, -_GAUSS, _GAUSS)
        edges = np.sort(np.concatenate([np.broadcast_to(_BROAD, (len(sigma), 19)), near], axis=1))
        half = 0.5 * np.diff(edges, axis=1)
        u = (edges[:, :-1] + half)[:, :, None] + half[:, :, None] * _NEARLY_NODES
        density = np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
        found = density * self._closed.exceeds(a - sigma[:, :, None] * u)
        return np.asarray(((found @ _NEARLY_WEIGHTS) * half).sum(axis=1) + _LOST)


def nearly_gaussian(weighing: Weighing, variances: Floats) -> NearlyGaussian | None:
    """`NearlyGaussian`, or None if noise is too small to smooth anything, or dominates."""
    length = math.sqrt(weighing.square)
    if not _NEARLY_QUIET * length < weighing.scale < _LOUD * length:
        return None
    return NearlyGaussian(weighing, variances)


def _pieces(sigma: float, end: float) -> tuple[Floats, Floats]:
    """Quadrature nodes and weights on (0, end], for functions that vary on scales 1/σ and 1."""
    start = min(0.1 / max(sigma, 1.0), 1e-3 * end)
    edges = np.append(0.0, np.geomspace(start, end, 24))
    half = 0.5 * np.diff(edges)
    nodes = (edges[:-1] + half)[:, None] + half[:, None] * _NEARLY_NODES
    return nodes.ravel(), (half[:, None] * _NEARLY_WEIGHTS).ravel()


def _bessel(x: Floats) -> Floats:
    """e^{−x}·I₀(x), the mean of e^{−x(1 − cos u)} over a period; an upper bound beyond 500."""
    near = np.minimum(x, 500.0)
    far = (1.0 + 0.126 / np.maximum(x, 500.0)) / np.sqrt(2.0 * math.pi * np.maximum(x, 500.0))
    return np.where(x <= 500.0, np.exp(-near) * np.i0(near), far)
