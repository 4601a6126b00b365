"""How far a weighted sum of a sample beside its noise is from a Gaussian one: proven, at every n.

Noise smooths a sum. In waves the error of a share is the wave of the sum times that of the noise,
which falls; and to both sides together only the real part of a wave counts, in which the skewness
of a sum is of second order. So probabilities that a share is off by more than `a` are within a few
n-ths of those of a Gaussian sum: docs/proofs/tables.md.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from epsilons.budgets import dot
from epsilons.risk.sidak import beyond
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

_QUIET: Final = 1e-6
"""Noise below this part of the weights' length smooths nothing."""

_LOUD: Final = 1e6
"""Noise above this part of it leaves nothing to be gained."""

_SHORT: Final = 2.0
"""Waves up to this over the largest weight are told by four moments; beyond, they are small."""

_PEAKS: Final = 400
"""Waves at which a sum of equal weights repeats itself: as many are added up one by one."""

_GAUSS: Final = 9.0
"""Deviations beyond which a Gaussian is with a probability of 2e-19."""

_SEVEN_DIGITS: Final = 2e-7
"""Added for the rational fit of a Gaussian's tail, which is good to 1.2e-7."""

_LOST: Final = 1e-15
"""Added for what quadratures leave out."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(10)
_BROAD: Final = np.linspace(-_GAUSS, _GAUSS, 19)
_KINKS: Final = np.array(
    [-40.0, -16.0, -8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 40.0]
)


class NearlyGaussian:
    """How often Σw·(X − μ) + z is far from 0, for X drawn from one population on a unit range.

    Guarantee:
        `beyond(a)` has for each piece of variances a bound on P(|Σw·(X − μ) + z| > a), for every
        population on a unit range whose variance is in the piece, X independent, z Laplace noise or
        one cell of a closed table. Proof: docs/proofs/tables.md.

    Args:
        weighing: the weights, all of people who are surely used, and noise of a scale above 0.
        variances: where pieces begin and end, growing, from above 0 to one quarter at most.
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
        # Of ln E e^{iθY}: m₄θ⁴/24, and what the logarithm adds.
        fold = (1.0 - 3.0 * low) / 24.0 + high / (8.0 - 4.0 * high * (theta * largest) ** 2)
        rest = high * fold * fourth * theta**4
        off = bell * np.minimum(0.5 * turn**2, 2.0)
        off += rest * np.exp(rest - 0.5 * low * square * theta**2)
        inner = (off * self._wave(theta)) @ (measure / theta)
        self._off = 2.0 / math.pi * (inner + self._far(variances[:-1] * square, end, largest))

    def _far(self, squares: Floats, end: float, largest: float) -> Floats:
        """A bound on what waves beyond `end` can be, of the sum and of the Gaussian."""
        # Both fall at least like e^{−2σ²θ²/π²} until waves of the sum come back: ∫ e^{−cθ²}dθ/θ is
        # at most e^{−ce²}/(2ce²) from e on.
        rate = 2.0 / math.pi**2 * squares * end**2
        fallen = np.exp(-np.minimum(rate, 745.0)) / rate * float(self._wave(np.array([end]))[0])
        peaks = 2.0 * math.pi * np.arange(1.0, _PEAKS + 1.0)
        at = self._wave(peaks / largest) / peaks
        edges = np.append(peaks - math.pi, peaks[-1] + math.pi)
        beside = self._wave(edges / largest) / edges
        beside = 0.5 * (beside[1:] + beside[:-1])
        number = squares / largest**2
        peaked = 2.0 * math.pi * _bessel(number)
        # A convex function of the waves is, on both sides of a peak together, below its chord.
        slope = np.minimum(0.5 * math.pi / number, peaked)
        back = float(at.sum()) * peaked + float((beside - at).sum()) * slope
        return np.asarray(fallen + back + self._rest(float(edges[-1]) / largest))

    def _rest(self, theta: float) -> float:
        """∫ wave(x) dx/x from theta on, at most."""
        if self._closed is None:
            return 0.5 * math.log1p(1.0 / theta**2)
        return self._closed.waves_beyond(theta)

    def _wave(self, theta: Floats) -> Floats:
        """E cos(θz), in units of the scale."""
        if self._closed is None:
            return np.asarray(1.0 / (1.0 + theta**2))
        return self._closed.wave(theta)

    def beyond(self, a: float) -> Floats:
        """For each piece of variances, a bound on the probability of an error of more than `a`."""
        return np.asarray(2.0 * self._gaussian(a / self._scale) + self._off)

    def _gaussian(self, a: float) -> Floats:
        """P(σN + z > a) at the end of each piece, in units of the scale."""
        if self._closed is None:
            return np.asarray(beyond(np.array([a]), self._sigma) + _SEVEN_DIGITS)
        sigma = self._sigma[:, None]
        near = np.clip((a - _KINKS) / sigma, -_GAUSS, _GAUSS)
        edges = np.sort(np.concatenate([np.broadcast_to(_BROAD, (len(sigma), 19)), near], axis=1))
        half = 0.5 * np.diff(edges, axis=1)
        u = (edges[:, :-1] + half)[:, :, None] + half[:, :, None] * _NODES
        density = np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
        found = density * self._closed.exceeds(a - sigma[:, :, None] * u)
        return np.asarray(((found @ _NODE_WEIGHTS) * half).sum(axis=1) + _LOST)


def nearly_gaussian(weighing: Weighing, variances: Floats) -> NearlyGaussian | None:
    """The same; None if there is too little noise to smooth anything, or hardly anything else."""
    length = math.sqrt(weighing.square)
    if not _QUIET * length < weighing.scale < _LOUD * length:
        return None
    return NearlyGaussian(weighing, variances)


def _pieces(sigma: float, end: float) -> tuple[Floats, Floats]:
    """Nodes and their weights on (0, end], for functions that vary on scales of σ⁻¹ and 1 up."""
    start = min(0.1 / max(sigma, 1.0), 1e-3 * end)
    edges = np.append(0.0, np.geomspace(start, end, 24))
    half = 0.5 * np.diff(edges)
    nodes = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    return nodes.ravel(), (half[:, None] * _NODE_WEIGHTS).ravel()


def _bessel(x: Floats) -> Floats:
    """e^{−x}·I₀(x): the mean of e^{−x(1 − cos u)} over a turn; beyond 500 a bound above it."""
    near = np.minimum(x, 500.0)
    far = (1.0 + 0.126 / np.maximum(x, 500.0)) / np.sqrt(2.0 * math.pi * np.maximum(x, 500.0))
    return np.where(x <= 500.0, np.exp(-near) * np.i0(near), far)
