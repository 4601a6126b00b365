"""Normal tails, the largest of many errors in the Gaussian limit, and distances from this limit."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from epsilons.budgets.levels import dot
from epsilons.risk.tails.laplace import bisect
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

# The normal distribution, and the bias of its mean after clipping.

_NOTHING = 38.0
"""Argument beyond which the normal tail underflows float64."""


@lru_cache(maxsize=256)
def quantile(p: float) -> float:
    """The normal quantile: the z with P(Z ≤ z) = p, for ½ ≤ p < 1; infinite at 1."""
    if p >= 1.0:
        return math.inf
    low, high = 0.0, 40.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if upper_tail(middle) > 1.0 - p else (low, middle)
    return high


def clipping_bias(off: float, reach: float, sigma: float) -> float:
    """|E clip(X) − μ| for X ~ N(μ, σ²), clipped to m ± `reach` for an m with |m − μ| = `off`.

    The bias increases with `off` and with σ. Proof: docs/proofs/gaussian.md (9).
    """
    if not math.isfinite(sigma) or not math.isfinite(off):
        return math.inf
    return sigma * (_beyond((reach - off) / sigma) - _beyond((reach + off) / sigma))


def clipped_square(off: float, reach: float) -> float:
    """E (clip(Z) − Z)² for a standard normal Z clipped to `off` ± `reach`, at most 1.

    Proof: docs/proofs/gaussian.md (9).
    """
    if not math.isfinite(off):
        return 1.0
    return min(_beyond_square(reach - off) + _beyond_square(reach + off), 1.0)


def normal_laplace_quantile(sigma: float, scale: float, beta: float) -> float:
    """The α with P(|N + L| > α) = β, for normal N and Laplace L.

    Proof: docs/proofs/gaussian.md (9).
    """
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
    """The exact P(N + L > α) for α ≥ 0. Proof: docs/proofs/gaussian.md (9)."""
    if scale <= 0.0 or sigma > 1e9 * scale:
        return upper_tail(alpha / sigma)
    if sigma <= 0.0:
        return 0.5 * math.exp(-alpha / scale)
    z, ratio = alpha / sigma, sigma / scale
    near = _scaled(z, ratio - z, ratio * ratio / 2.0 - alpha / scale)
    far = _scaled(z, ratio + z, ratio * ratio / 2.0 + alpha / scale)
    return upper_tail(z) + 0.5 * near - 0.5 * far


def _scaled(z: float, y: float, exponent: float) -> float:
    """e^{y²/2 − z²/2}·P(Z > y) without overflow.

    `exponent` is (y² − z²)/2. It is an argument because the difference of the squares would lose
    digits.
    """
    if y < 25.0:
        return math.exp(min(max(exponent, -745.0), 700.0)) * upper_tail(y)
    tail = (1.0 - 1.0 / (y * y)) / (y * math.sqrt(2.0 * math.pi))
    return math.exp(-min(z * z / 2.0, 745.0)) * tail


def upper_tail(z: float) -> float:
    """P(Z > z) for a standard normal Z."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def _beyond(a: float) -> float:
    """E max(Z − a, 0) for a standard normal Z."""
    if a > _NOTHING:
        return 0.0
    return math.exp(-min(a * a / 2.0, 745.0)) / math.sqrt(2.0 * math.pi) - a * upper_tail(a)


def _beyond_square(a: float) -> float:
    """E max(Z − a, 0)² for a standard normal Z."""
    if a > _NOTHING:
        return 0.0
    bell = math.exp(-min(a * a / 2.0, 745.0)) / math.sqrt(2.0 * math.pi)
    return max((1.0 + a * a) * upper_tail(a) - a * bell, 0.0)


# The largest error in the Gaussian limit: an objective for choosing weights, not a published claim.
#
# Laplace noise is Gaussian noise with a random variance. Given the variances, the errors of cells
# are Gaussian, and by Šidák's inequality P(max ≤ a) is at least the product over cells. With F(a;
# σ) = P(|σN + L| ≤ a),
#
#     P(max > a) ≤ 1 − e^{−H(a)},    H(a) = min_μ { μ + k·max_p [ −ln F(a; r·√(p(1−p))) − μ·p ] }
#
# for the worst-case shares p, in units of the noise scale. Proof: docs/proofs/tables.md (11).

_SHARES: Final = np.concatenate([[0.0], np.geomspace(2.0**-13, 0.5, 27)])
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_QUIET: Final = 1e-4
"""A noise scale below this fraction of the sampling error is raised to it."""


def mean_square(square: float, weighing: Weighing, cells: int) -> float:
    """The expected square of the largest error according to H. Proof: docs/proofs/tables.md (11).

    Args:
        square: v, where the sampling errors have variances v·p(1 − p).
        weighing: the estimator; only its noise is used.
        cells: number of cells.
    """
    scale = _scale(square, weighing)
    if scale == 0.0:
        return 0.0
    ratio = math.sqrt(square) / scale
    end = ratio * (0.5 * math.sqrt(2.0 * math.log(2.0 * cells)) + 3.0) + math.log(cells) + 25.0
    # The substitution puts more nodes at small errors, where the largest error usually is.
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
    """The scale of Laplace noise with the variance of one cell, bounded away from 0.

    Proof: docs/proofs/tables.md (11).
    """
    variance = 2.0 if weighing.closed is None else weighing.closed.variance
    return max(weighing.scale * math.sqrt(variance / 2.0), _QUIET * math.sqrt(square))


def _loss(at: Floats, ratio: float, cells: int) -> Floats:
    """H at an array of errors. Proof: docs/proofs/tables.md (11)."""
    sigma = max(ratio, 1e-9) * np.sqrt(_SHARES * (1.0 - _SHARES))
    tails = np.column_stack([0.5 * np.exp(-at), beyond(at[:, None], sigma[None, 1:])])
    each = -np.log1p(-np.minimum(2.0 * tails, 1.0 - 1e-15))
    prices = np.maximum((each[:, 1:] - each[:, :1]) / _SHARES[1:], 0.0)
    gains = each[:, None, :] - prices[:, :, None] * _SHARES
    return np.asarray((prices + cells * gains.max(axis=2)).min(axis=1))


def beyond(a: Floats, sigma: Floats) -> Floats:
    """P(σN + L > a) for Laplace noise L of scale 1 and σ > 0, accurate to seven digits."""
    z = a / sigma
    bell = np.exp(-0.5 * z * z)
    gap = z - sigma
    middle, inner, far = bell * _erfcx(np.stack([z, np.abs(gap), z + sigma]) / math.sqrt(2.0))
    with np.errstate(over="ignore"):
        fall = 2.0 * np.exp(np.minimum(0.5 * sigma * sigma - a, 0.0)) - inner
    near = np.where(gap < 0.0, inner, fall)
    return np.asarray(0.5 * middle + 0.25 * (near - far))


_SERIES: Final = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806,
    0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip
"""Coefficients of a rational fit to ln erfcx, to 1.2e-7 (Press et al., Numerical Recipes, 6.2)."""


def _erfcx(x: Floats) -> Floats:
    """e^{x²}·erfc(x) for x ≥ 0, accurate to seven digits."""
    t = 1.0 / (1.0 + 0.5 * x)
    total = np.full_like(t, _SERIES[-1])
    for each in _SERIES[-2::-1]:
        total *= t
        total += each
    return np.asarray(t * np.exp(total))


# A weighted sum of a sample plus noise is nearly Gaussian: a proven bound for every n.
#
# Noise smooths a sum. The characteristic function ("wave") of the error is the product of the waves
# of the sum and of the noise, and the latter decreases. A two-sided probability depends only on the
# real part of a wave, where the skewness of the sum is a second-order effect. So the probability
# that the error of a share exceeds `a` differs from the Gaussian probability by O(1/n).
# Proof: docs/proofs/tables.md (9).

_NEARLY_QUIET: Final = 1e-6
"""Noise with a scale below this fraction of √Σw² is too small to smooth a sum."""

_LOUD: Final = 1e6
"""With a noise scale above this multiple of √Σw², the bound brings no improvement."""

_SHORT: Final = 2.0
"""Frequencies up to this number divided by the largest weight are bounded by four moments. The
contribution of higher frequencies is small."""

_PEAKS: Final = 400
"""Number of peaks of the wave of an equally weighted sum that are summed one by one."""

_GAUSS: Final = 9.0
"""Number of standard deviations that a Gaussian exceeds with probability 2e-19."""

_SEVEN_DIGITS: Final = 2e-7
"""Added to cover the rational fit of the Gaussian tail, which is accurate to 1.2e-7."""

_LOST: Final = 1e-15
"""Added to cover the error of quadrature."""

_NEARLY_NODES, _NEARLY_WEIGHTS = np.polynomial.legendre.leggauss(10)
_BROAD: Final = np.linspace(-_GAUSS, _GAUSS, 19)
_KINKS: Final = np.array(
    [-40.0, -16.0, -8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 40.0]
)


class NearlyGaussian:
    """Bound on P(|Σw·(X − μ) + z| > a), for a sample X from any population on a unit range.

    Guarantee:
        For each bin of variances, `beyond(a)` contains a bound on P(|Σw·(X − μ) + z| > a). It holds
        for every population on a unit range with a variance in the bin. The X are independent. z is
        Laplace noise, or the noise of one cell in a table whose noise sums to zero.
        Proof: docs/proofs/tables.md (9).

    Args:
        weighing: the weights of an estimator that uses everyone, and noise with a scale above 0.
        variances: ends of the bins, ascending, above 0 and at most ¼.
    """

    def __init__(self, weighing: Weighing, variances: Floats) -> None:
        self._scale, self._closed = weighing.scale, weighing.closed
        if (
            self._closed is not None and self._closed.cells == 2
        ):  # the noises of two cells are z and −z, for one Laplace noise z
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
        # The remainder of ln E e^{iθY}: m₄θ⁴/24 with m₄ ≤ v(1 − 3v), plus a term from expanding the
        # logarithm.
        fold = (1.0 - 3.0 * low) / 24.0 + high / (8.0 - 4.0 * high * (theta * largest) ** 2)
        rest = high * fold * fourth * theta**4
        off = bell * np.minimum(0.5 * turn**2, 2.0)
        off += rest * np.exp(rest - 0.5 * low * square * theta**2)
        inner = (off * self._wave(theta)) @ (measure / theta)
        self._off = 2.0 / math.pi * (inner + self._far(variances[:-1] * square, end, largest))

    def _far(self, squares: Floats, end: float, largest: float) -> Floats:
        """Bound on the integrals of the sum's and the Gaussian's wave beyond frequency `end`.

        Proof: docs/proofs/tables.md (9).
        """
        # Both waves decrease at least like e^{−2σ²θ²/π²} up to the first peak of the sum's wave.
        # The integral of e^{−cθ²}/θ beyond e is at most e^{−ce²}/(2ce²).
        rate = 2.0 / math.pi**2 * squares * end**2
        fallen = np.exp(-np.minimum(rate, 745.0)) / rate * float(self._wave(np.array([end]))[0])
        peaks = 2.0 * math.pi * np.arange(1.0, _PEAKS + 1.0)
        at = self._wave(peaks / largest) / peaks
        edges = np.append(peaks - math.pi, peaks[-1] + math.pi)
        beside = self._wave(edges / largest) / edges
        beside = 0.5 * (beside[1:] + beside[:-1])
        number = squares / largest**2
        peaked = 2.0 * math.pi * _bessel(number)
        # wave(θ)/θ is convex, so the mean of its values on both sides of a peak is below the chord.
        slope = np.minimum(0.5 * math.pi / number, peaked)
        back = float(at.sum()) * peaked + float((beside - at).sum()) * slope
        return np.asarray(fallen + back + self._rest(float(edges[-1]) / largest))

    def _rest(self, theta: float) -> float:
        """Bound on ∫ wave(x) dx/x over x ≥ theta. Proof: docs/proofs/tables.md (9)."""
        if self._closed is None:
            return 0.5 * math.log1p(1.0 / theta**2)
        return self._closed.waves_beyond(theta)

    def _wave(self, theta: Floats) -> Floats:
        """E cos(θz) for the noise z, in units of its scale."""
        if self._closed is None:
            return np.asarray(1.0 / (1.0 + theta**2))
        return self._closed.wave(theta)

    def beyond(self, a: float) -> Floats:
        """Bound on P(|error| > a) for each bin of variances. Proof: docs/proofs/tables.md (9)."""
        return np.asarray(2.0 * self._gaussian(a / self._scale) + self._off)

    def _gaussian(self, a: float) -> Floats:
        """P(σN + z > a) at the upper end of each bin of variances, in units of the noise scale."""
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
    """A `NearlyGaussian` bound, or None if the noise is too small or dominates."""
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
    """e^{−x}·I₀(x), the mean of e^{−x(1 − cos u)} over a period; an upper bound if x > 500.

    Proof: docs/proofs/tables.md (9).
    """
    near = np.minimum(x, 500.0)
    far = (1.0 + 0.126 / np.maximum(x, 500.0)) / np.sqrt(2.0 * math.pi * np.maximum(x, 500.0))
    return np.where(x <= 500.0, np.exp(-near) * np.i0(near), far)
