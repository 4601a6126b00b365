"""How far sums of the noises of several cells go: bounds from above that are nearly exact.

A cumulative share adds up cells, and their noises. The density f_j of the sum of j Laplace noises
of scale 1 follows from those of j − 1 and j − 2 by a recursion of positive terms. All of them are
symmetric and fall on either side of 0, and so do their products: sums over a grid that take each
piece at its nearer end bound their tails from above. Derivation: docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from epsilons.types import Floats

__all__ = ["Tail", "closed_tail", "closed_variance", "open_exceeds", "open_tail"]

_POINTS: Final = 4096
"""Points of the grid on either side of 0."""

_BEYOND: Final = 1e-14
"""More than the probability of anything beyond the grid."""


class Tail:
    """A bound on P(X > x) for a symmetric X that the density falls from: it is looked up on a grid.

    Args:
        step: of the grid.
        density: at 0, step, 2·step, …
    """

    def __init__(self, step: float, density: Floats) -> None:
        self._step = step
        self._last = len(density) - 1
        # From each point on, every piece at its nearer end; and every piece at its farther end.
        upper = np.cumsum(step * density[::-1])[::-1]
        over, under = np.minimum(upper + _BEYOND, 0.5), np.append(upper[1:], 0.0)
        # At −i·step it is one minus what is surely beyond i·step.
        self._table = np.concatenate([1.0 - under[:0:-1], over])

    def __call__(self, x: Floats) -> Floats:
        """A bound on P(X > x) for each x: that at the point of the grid below it."""
        at = np.clip(x / self._step, -self._last, self._last)
        found = self._table[np.floor(at).astype(np.int64) + self._last]
        return np.where(x < -self._last * self._step, 1.0, found)

    @property
    def pieces(self) -> tuple[Floats, Floats]:
        """Where pieces of the line begin, ascending, and bounds on P(X > that)."""
        starts = np.arange(-self._last, self._last + 1, dtype=np.float64)
        return self._step * starts, self._table


def closed_variance(cells: int, added: float) -> float:
    """The variance of the sum of some cells of a closed table of scale 1."""
    return added * (cells - added) * (2 * cells - 1) / (cells * (cells + 1))


@lru_cache(maxsize=64)
def closed_tail(cells: int, added: int) -> Tail:
    """Of the sum of the noises of `added` cells of a closed table, ∝ e^{−Σ|z|} on Σz = 0.

    Its density is f_added·f_rest over that of all noises together at 0.

    Args:
        cells: how many there are in all.
        added: from 1 to one less.
    """
    step, densities = _densities(cells)
    return Tail(step, densities[added] * densities[cells - added] / densities[cells, 0])


def open_tail(cells: int, added: int) -> Tail:
    """Of the sum of the noises of `added` of so many cells, which are independent."""
    step, densities = _densities(cells)
    return Tail(step, densities[added])


def open_exceeds(cells: int, added: int, first: float, x: float) -> float:
    """A bound on P(first·A − (1 − first)·B > x), A of `added` Laplace noises and B of all others.

    In each piece of the line the one of the larger part is at its end: Σ P(Y in the piece)·P(X > x
    − its end), summed by parts. It grows with every tail of Y, so that bounds on these do.

    Args:
        cells: how many noises of scale 1 there are in all.
        added: how many of them are in A, from 1 to one less.
        first: from 0 to 1.
        x: what is exceeded.
    """
    step, densities = _densities(cells)
    (large, many), (small, few) = sorted(
        ((first, added), (1.0 - first, cells - added)), reverse=True
    )
    broad = Tail(step, densities[many])
    if small <= 0.0:
        return float(broad(np.array(x / large)))
    starts, begun = Tail(step, densities[few]).pieces
    above = broad((x - small * starts[1:]) / large)
    return float(above[0] + begun[1:-1] @ np.diff(above) + (1.0 - above[-1]) * begun[-1])


@lru_cache(maxsize=4)
def _densities(cells: int) -> tuple[float, Floats]:
    """The grid, and on it f_j in the row j = 1, …, cells."""
    step = (80.0 + 9.0 * math.sqrt(2.0 * cells)) / _POINTS
    s = step * np.arange(_POINTS)
    found = np.zeros((cells + 1, _POINTS))
    found[1] = 0.5 * np.exp(-s)
    found[2] = 0.25 * (1.0 + s) * np.exp(-s)
    for j in range(2, cells):
        found[j + 1] = (2 * j - 1) / (2 * j) * found[j] + s * s / (4 * j * (j - 1)) * found[j - 1]
    return step, found
