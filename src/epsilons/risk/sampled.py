"""The error of a weighted mean of a sample plus Laplace noise, whatever the population is.

Hoeffding's bound is that of a coin, and pays for knowing nothing of the shape of a sum. But a sum
of many small terms is nearly Gaussian: by Berry and Esseen no probability is off by more than a
constant that falls with their number, unless the population hardly varies; and if it hardly varies,
Bennett's bound is small. Beside noise a sum is nearer still to a Gaussian one. So the worst
population is sought over its variance: docs/proofs/risk.md.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np

from epsilons.budgets import dot
from epsilons.risk.nearly import nearly_gaussian
from epsilons.risk.normal import upper_tail
from epsilons.risk.tails import Above, bisect
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

BERRY_ESSEEN: Final = 0.56
"""Shevtsova's constant of 2010, for terms that need not have the same law."""

WIDEST_VARIANCE: Final = 0.25
"""The largest variance of values in a unit range."""

_NEAR: Final = 0.25 * (1.0 - (np.arange(13.0) / 20.0) ** 2)
_FINE: Final = np.append(_NEAR, 0.16 * 2.0 ** (-np.arange(1.0, 97.0) / 16.0))
_COARSE: Final = np.append(_NEAR, _FINE[len(_NEAR) + 3 :: 4])
"""Ends of pieces of variances, falling: what varies less than the last is Bennett's alone. They are
fixed, so that a bound for a larger variance is never smaller."""

_STEPS: Final = 0.1 * np.sinh(np.arange(407.0) / 80.0)
_CELLS: Final = np.concatenate([-_STEPS[:0:-1], _STEPS])
"""Where cells of errors begin, in units of Hoeffding's deviation, finer near 0: beyond the last is
one more."""

_LARGEST_RATIO: Final = 1e9


def hoeffding(square: float) -> tuple[Floats, Floats]:
    """The same as `Sampled.chances` of any S with P(S > s) ≤ exp(−2s²/square)."""
    return _CELLS * (math.sqrt(square) / 2.0), np.exp(-0.5 * np.maximum(_CELLS, 0.0) ** 2)[None, :]


class Sampled:
    """How often Σw·(X − μ) + L is far from 0, for X drawn from any one population on a unit range.

    Guarantee:
        `beyond(a)` is at least P(|Σw·(X − μ) + L| > a) for every population on a unit range of at
        most the given variance, X independent, L Laplace noise, one cell of a closed table or one
        of several means.
        Proof: docs/proofs/risk.md.

    Args:
        weighing: the weights, all of people who are surely used, and the scale of the noise.
        variance: the largest that the population may have.
    """

    def __init__(self, weighing: Weighing, variance: float = WIDEST_VARIANCE) -> None:
        weights = np.abs(weighing.weights)
        cube = dot(weighing.counts, weights**3)
        square = weighing.square
        self._scale, self._exceeds = weighing.scale, _noise_of(weighing)
        self._sigma = math.sqrt(square) / 2.0
        self._from = _CELLS * self._sigma
        ends, gaussian = _coarse() if variance >= WIDEST_VARIANCE else _fine()
        first = max(int(np.searchsorted(-ends, -variance, side="right")) - 1, 0)
        ends = ends[first:]
        tails = _bennett(self._from, ends[:, None] * square, float(weights.max()))
        # In a piece of variances the lower end is worst for how far from Gaussian a sum may be:
        # E|X − μ|³ ≤ v·max(μ, 1 − μ), and μ(1 − μ) ≥ v.
        lower = ends[1:]
        skew = (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * lower, 0.0))) / (2.0 * np.sqrt(lower))
        off = BERRY_ESSEEN * skew * (cube / square**1.5)
        tails[:-1] = np.minimum(tails[:-1], gaussian[first:] + off[:, None])
        # In each piece, a bound on P(S > x) at the start of each cell of x.
        self._tails = np.minimum(tails, np.exp(-0.5 * np.maximum(_CELLS, 0.0) ** 2))
        self._nearly = nearly_gaussian(weighing, ends[::-1])

    @property
    def chances(self) -> tuple[Floats, Floats]:
        """Where cells of errors begin, and in each piece of variances a bound on P(S > that)."""
        return self._from, self._tails

    def beyond(self, a: float) -> float:
        """A bound on the probability of an error of more than `a`, which is at least 0."""
        if self._sigma > _LARGEST_RATIO * self._scale:
            cell = int(np.searchsorted(self._from, a, side="right")) - 1
            return min(2.0 * float(self._tails[:, cell].max()), 1.0)
        # S + L > a is S > x where L is a − x, cell by cell; in the first one S may be anything.
        above = self._noise_above(a - self._from)
        masses = np.append(above[1:], 1.0) - above
        either = 2.0 * (self._tails @ masses + above[0])
        if self._nearly is not None:
            either[:-1] = np.minimum(either[:-1], self._nearly.beyond(a)[::-1])
        return min(float(either.max()), 1.0)

    def _noise_above(self, at: Floats) -> Floats:
        """P(L > at); or of one cell of a table, of noise that is no smaller; or of one mean."""
        if self._exceeds is not None:
            return self._exceeds(at / self._scale)
        half = 0.5 * np.exp(-np.minimum(np.abs(at) / self._scale, 745.0))
        return np.where(at >= 0.0, half, 1.0 - half)

    def deviation(self, beta: float) -> float:
        """The error that is not exceeded but with this probability."""
        high = self._sigma + self._scale
        while self.beyond(high) > beta:
            high *= 2.0
        return bisect(lambda a: self.beyond(a) - beta, 0.0, high)


def _noise_of(weighing: Weighing) -> Above | None:
    """The tail of noise that is no Laplace noise, in units of its scale."""
    if weighing.closed is not None:
        return weighing.closed.exceeds
    return None if weighing.cube is None else weighing.cube.tabled


@cache
def _coarse() -> tuple[Floats, Floats]:
    return _COARSE, _gaussian(_COARSE)


@cache
def _fine() -> tuple[Floats, Floats]:
    return _FINE, _gaussian(_FINE)


def _gaussian(ends: Floats) -> Floats:
    """The largest P(G > x) for Gaussian sums of a variance in each piece, at the start of cells."""
    factors = 0.5 / np.sqrt(ends[:, None])
    # Above 0 the upper end of a piece has the larger tail, and below 0 the lower one.
    at = np.where(_CELLS > 0.0, factors[:-1] * _CELLS, factors[1:] * _CELLS)
    return np.array([[upper_tail(z) for z in row] for row in at.tolist()])


def _bennett(x: Floats, variances: Floats, largest: float) -> Floats:
    """Bennett's bound on P(S > x) for sums of these variances, of terms of at most `largest`."""
    u = np.maximum(x, 0.0) * largest / variances
    # (1 + u)·ln(1 + u) − u, which cancels for small u: there it is at least u²/2 − u³/6.
    exact = (1.0 + u) * np.log1p(u) - u
    h = np.where(u < 1e-3, u * u / 2.0 - u**3 / 6.0, exact)
    return np.asarray(np.exp(-np.minimum(variances / largest**2 * h, 745.0)))
