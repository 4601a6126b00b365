"""Noise of several means that are drawn together, as risk reads it: one of them, and the largest.

The noises z of d means have P(z) ∝ e^{−max|z_j|}, in units of their scale. Half the side of a cube
is a gamma variable R of d + 1, and every z_j is uniform between −R and R; the largest |z_j| is a
gamma variable of d. The formulas are derived in `docs/proofs/cube.md`, in the limit of a fine
lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from epsilons.frozen import storable
from epsilons.risk import tails
from epsilons.types import Floats

_NEAR: Final = np.arange(-8.0, 8.25, 0.25)
_AROUND: Final = np.concatenate([np.arange(-45.0, -8.0), _NEAR, np.arange(9.0, 46.0)])
"""Where integrals are cut: noise of many means is nearly uniform, with ends that are steep."""


_LAST: Final = 45.0
_CUTS: Final = 512
"""How far, and how finely, the tail of one mean is tabulated."""

_MANY: Final = 300
_FARTHEST: Final = 700.0
"""Up to so many terms e^{−a}·a^i/i! are added from the last, for a up to this."""


@storable("risk.CubeNoise")
@dataclass(frozen=True)
class CubeNoise:
    """Noise of one of several means, in units of Laplace noise that has the same variance.

    Attributes:
        means: how many means are drawn together, at least 1.
    """

    means: int

    @property
    def times(self) -> float:
        """How much more Laplace noise of one mean would have to be: √((d + 1)(d + 2)/6)."""
        return math.sqrt((self.means + 1) * (self.means + 2) / 6.0)

    def exceeds(self, alpha: Floats | float) -> Floats:
        """P(z > alpha) of one mean, for alpha of any sign: ½e^{−a}·Σ (1 − i/d)·a^i/i!, i < d."""
        at = self.times * np.abs(np.asarray(alpha, dtype=np.float64))
        left = 1.0 - np.arange(self.means) / self.means
        tail = 0.5 * _poisson_sum(at, left)
        return np.where(np.asarray(alpha) < 0.0, 1.0 - tail, tail)

    def tail(self, alpha: float, sigma: float) -> float:
        """A bound on P(S + z > alpha), where P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0; σ is above 0."""
        if alpha <= 0.0:
            return 1.0
        if self.means == 1:
            return tails.tail(alpha, sigma, 1.0)
        return tails.beside(self.tabled, alpha, sigma, _AROUND)

    def tabled(self, alpha: Floats | float) -> Floats:
        """The same as `exceeds`, for very many numbers: of noise that is larger by next to nothing.

        In a table of _CUTS to a unit cubics are off by max|f⁗|/384/_CUTS⁴, and the fourth
        derivative of the tail is below d^1.5 + 2.
        """
        given = np.asarray(alpha, dtype=np.float64)
        values, slopes = _table(self)
        tail = tails.interpolated(values, slopes, np.minimum(np.abs(given), _LAST) * _CUTS)
        off = (self.means**1.5 + 2.0) / (384.0 * _CUTS**4)
        return np.asarray(np.minimum(np.where(given < 0.0, 1.0 - tail, tail) + off, 1.0))

    def deviation(self, shift: float, square: float, scale: float, beta: float) -> float:
        """The α with P(|c + S + z| > α) ≤ β for every |c| ≤ shift; z is of one mean.

        S has P(±S > s) ≤ exp(−2s²/square), and is independent of z. Without S (`square` is 0) it is
        the smallest such α.
        """
        if scale <= 0.0 or self.means == 1:
            return tails.deviation(shift, square, scale, beta)
        return tails.deviation_of(self.exceeds, self.tail, (shift, square, scale), beta)

    def largest_beyond(self, alpha: float, shift: float = 0.0) -> float:
        """The largest P(some |c_j + z_j| > alpha) over |c_j| ≤ shift ≤ alpha: all c_j are ends."""
        d, a, b = self.means, self.times * alpha, self.times * shift
        near = a - b
        beyond = float(_poisson(np.array(near), d + 1).sum())
        half = _poisson(2.0 * np.array([near, a]), d + 1).sum(axis=-1)
        # Cubes that reach beyond one end, and those that reach beyond both.
        one = math.exp(min(near - d * math.log(2.0), 700.0)) * float(half[0] - half[1])
        both = float(_poisson(np.array(a), d + 1)[-1]) * math.exp(-min(b, 745.0))
        return min(max(beyond - one - both, 0.0), 1.0)

    def largest_quantile(self, shift: float, scale: float, beta: float) -> float:
        """The α with P(some |c_j + z_j| > α) ≤ β for all |c_j| ≤ shift; not below the shift."""
        if scale <= 0.0:
            return shift
        far = shift / scale
        return shift + scale * tails.least(
            lambda more: self.largest_beyond(far + more, far) - beta, 1.0
        )


@lru_cache(maxsize=16)
def _table(noise: CubeNoise) -> tuple[Floats, Floats]:
    """The tail of one mean at multiples of 1/_CUTS, and its slope over such a step."""
    x = np.arange(int(_LAST * _CUTS) + 2) / _CUTS
    density = _poisson_sum(noise.times * x, np.ones(noise.means)) / (2.0 * noise.means)
    return noise.exceeds(x), -noise.times / _CUTS * density


def _poisson_sum(at: Floats, factors: Floats) -> Floats:
    """Σ factors_i·e^{−a}·a^i/i!, for factors in [0, 1] that fall."""
    if len(factors) > _MANY:
        return np.asarray(_poisson(at, len(factors)) @ factors)
    far = np.minimum(at, _FARTHEST)  # beyond it nothing is left, of so few terms
    total = np.zeros_like(far)
    for i in range(len(factors) - 1, 0, -1):
        total = (total + factors[i]) * far / i
    return np.asarray((total + factors[0]) * np.exp(-far))


def _poisson(at: Floats, terms: int) -> Floats:
    """e^{−a}·a^i/i! for i below `terms`, in a last axis."""
    far = at[..., np.newaxis]
    i = np.arange(terms, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(far > 0.0, i * np.log(far), np.where(i > 0.0, -np.inf, 0.0))
    return np.asarray(np.exp(logs - far - _log_factorials(terms)))


@lru_cache(maxsize=64)
def _log_factorials(terms: int) -> Floats:
    return np.array([math.lgamma(i + 1.0) for i in range(terms)])
