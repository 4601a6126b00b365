"""The law of a combination of the noises of cells: its moments, and bounds on its tails.

The noises are independent Laplace noises, or such noises given that they sum to zero. In both cases
a combination has a symmetric density whose logarithm is concave, and so has its tail. Derivation:
docs/proofs/pairs.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from epsilons.risk.closed import ClosedNoise
from epsilons.risk.tails import least
from epsilons.types import Floats

_RATES: Final = np.concatenate([np.geomspace(0.02, 0.5, 9), np.linspace(0.58, 0.98, 7)])
"""Exponents of which moments are known, in parts of the largest there is."""

_HALVINGS: Final = 24
_STEPS: Final = 96
"""Pieces into which the sum of a sample is cut beside the noise: more give a narrower bound."""

_AT: Final = np.concatenate([np.linspace(0.0, 12.0, 301), np.geomspace(12.1, 300.0, 80)])
"""Where a tail is known, in standard deviations of the noise."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)
_EDGES: Final = (0.0, 0.02, 0.08, 0.3, 1.0, 3.0, 30.0, 1e3, 1e5)
"""Between these moments of closed noise are integrated; beyond them nothing is left."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """The noise Σ v_j·z_j of cells.

    Attributes:
        values: the coefficients v.
        scale: of the Laplace noise z of each cell.
        closed: the noise of cells of scale 1, if it sums to zero; None if each is by itself.
    """

    values: Floats
    scale: float
    closed: ClosedNoise | None = None

    @cached_property
    def _own(self) -> Floats:
        """The coefficients that count: of noises that sum to zero a constant does not."""
        if self.closed is None:
            return self.values
        return np.asarray(self.values - (self.values.max() + self.values.min()) / 2.0)

    @cached_property
    def variance(self) -> float:
        """Of the sum."""
        square = float(np.square(self.values).sum())
        if self.closed is None:
            return 2.0 * square * self.scale**2
        k = self.closed.cells
        square -= float(self.values.sum()) ** 2 / k
        return self.closed.variance * k / (k - 1) * max(square, 0.0) * self.scale**2

    def deviation(self, shift: float, square: float, beta: float) -> float:
        """An α with P(|c + S + X| > α) ≤ β for every |c| ≤ shift, X being this noise.

        S has P(±S > s) ≤ exp(−2s²/square), and is independent of X.
        """
        if not math.isfinite(self.scale):
            return math.inf
        sigma, unit = 0.5 * math.sqrt(square), math.sqrt(self.variance)
        if unit <= 1e-12 * (sigma + shift):  # next to nothing
            far = sigma * math.sqrt(2.0 * math.log(2.0 / beta)) if sigma > 0.0 else 0.0
            return shift + far + 300.0 * unit
        if sigma <= 1e-12 * unit:
            shift, sigma = shift + 40.0 * sigma, 0.0

        def excess(beyond: float) -> float:
            far = np.array([beyond, 2.0 * shift + beyond])
            both = self.tail(far) if sigma == 0.0 else self._beside(far, sigma)
            return float(both.sum()) - beta

        return shift + least(excess, unit + sigma)

    def tail(self, alpha: Floats) -> Floats:
        """A bound on P(X > alpha), for alpha of any sign: that of the next known point below."""
        far = np.asarray(alpha, dtype=np.float64) / math.sqrt(self.variance)
        place = np.searchsorted(_AT, far, side="right") - 1
        return np.where(far > 0.0, self._known[np.maximum(place, 0)], 1.0)

    @cached_property
    def _known(self) -> Floats:
        """Bounds on the tail at all known points."""
        own = self._own * self.scale / math.sqrt(self.variance)
        return _tails(tuple(own.tolist()), self._cells)

    @property
    def _cells(self) -> int:
        return 0 if self.closed is None else self.closed.cells

    def _beside(self, alpha: Floats, sigma: float) -> Floats:
        """A bound on P(S + X > alpha): S is at most a Rayleigh variable R, cut into pieces."""
        ends = alpha[:, None] * np.linspace(0.0, 1.0, _STEPS + 1)
        beyond = np.exp(-np.minimum(0.5 * np.square(ends / sigma), 745.0))
        pieces = beyond[:, :-1] - beyond[:, 1:]
        near = (pieces * self.tail(alpha[:, None] - ends[:, 1:])).sum(axis=1)
        return np.asarray(near + beyond[:, -1])


@lru_cache(maxsize=512)
def _tails(own: tuple[float, ...], cells: int) -> Floats:
    """Bounds on P(X > alpha) at all known points, ½ at most.

    By Markov's inequality for cosh(θX); or because a tail whose logarithm is concave is on the way
    from ½ at 0 to what it is at alpha above the exponential between these two, and E cosh(θX) − 1 =
    2θ∫ sinh(θx)·P(X > x) dx has no room for more.

    Args:
        own: the coefficients, of noises of scale 1.
        cells: how many noises sum to zero; 0 if each is by itself.
    """
    theta, moments = moments_of(np.array(own), cells)
    far = _AT[:, None]
    markov = 0.5 * moments / np.cosh(np.minimum(theta * far, 700.0))
    room = moments - 1.0
    low = np.zeros((len(_AT), len(theta)))
    high = low + theta * np.sqrt(1.0 + 1.0 / room)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        fits = _held(theta, middle, far) >= room
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    concave = 0.5 * np.exp(-low * far)
    return np.asarray(np.minimum(np.minimum(markov, concave).min(axis=1), 0.5))


def moments_of(own: Floats, cells: int) -> tuple[Floats, Floats]:
    """Exponents θ, and E e^{θX} for each, of X = Σ v_j·z_j with noises of scale 1.

    Args:
        own: the coefficients v.
        cells: how many noises sum to zero; 0 if each is by itself.
    """
    theta = _RATES / float(np.abs(own).max())
    tilted = np.outer(theta, own)
    if not cells:
        return theta, np.asarray(np.exp(-np.log1p(-np.square(tilted)).sum(axis=1)))
    half = 0.5 * np.diff(_EDGES)
    t = ((np.array(_EDGES[:-1]) + half)[:, None] + half[:, None] * _NODES).ravel()
    weights = (half[:, None] * _NODE_WEIGHTS).ravel()
    logs = np.log(1.0 - np.square(tilted[:, :, None] + 1j * t)).sum(axis=1)
    whole = 0.5 * math.sqrt(math.pi) * math.exp(math.lgamma(cells - 0.5) - math.lgamma(cells))
    return theta, np.asarray(np.exp(-logs).real @ weights / whole)


def _held(theta: Floats, rate: Floats, far: Floats) -> Floats:
    """∫ θ·sinh(θx)·e^{−rate·x} dx from 0 to far."""

    def part(slope: Floats) -> Floats:
        """∫ e^{−slope·x} dx from 0 to far."""
        at = np.clip(slope * far, -700.0, 700.0)
        small = np.abs(at) < 1e-8
        safe = np.where(small, 1.0, at)
        return np.asarray(far * np.where(small, 1.0, -np.expm1(-safe) / safe))

    return np.asarray(0.5 * theta * (part(rate - theta) - part(rate + theta)))
