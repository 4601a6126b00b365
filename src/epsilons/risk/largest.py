"""The largest error of any cell, of people whose budgets go with categories: its law, exactly.

The biases of cells are public up to which cells they are in, and noise is all that is random. The
formulas are derived in `docs/proofs/frequencies.md`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from epsilons.risk.closed import ClosedNoise, Pairs, inside
from epsilons.risk.tails import bisect
from epsilons.types import Floats

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_FAR: Final = 45.0
_RARE: Final = 1e-9
"""Probabilities below which waves do not tell what is left; independent noise bounds it there."""


MANY: Final = 1000
"""Cells up to which noise that sums to zero is reckoned as such; beyond, independent noise, which
bounds it, is as good to a part in a thousand, and much faster."""


def moved(cells: int, apart: float) -> tuple[int, float]:
    """How many cells can be off by `apart` of all that moves, and by how much two more can be.

    The biases c sum to zero, none is above `apart` of the bias, and Σ|c| is at most twice the bias:
    1/apart cells may be off to either side, rounded down, and one more by what is left. Where there
    are fewer cells, all of them are but one of an odd number.
    """
    whole = int(min(1.0 / apart, float(cells)))  # δ may be next to nothing
    left = max(1.0 - whole * apart, 0.0)
    if cells >= 2 * whole + 2:
        return 2 * whole, left
    return min(2 * whole, cells - cells % 2), 0.0


def squared_bias(cells: int, apart: float) -> float:
    """The largest Σc² of biases of cells, in units of the squared bias: 2 if budgets tell all."""
    off, left = moved(cells, apart)
    return off * apart * apart + 2.0 * left * left


def mean_square(
    bias: float, scale: float, cells: int, apart: float = 1.0, closed: ClosedNoise | None = None
) -> float:
    """E max_j (c_j + noise_j)² for the worst biases.

    Args:
        bias: ½Σ|w − 1/n|.
        scale: of the noise of each cell.
        cells: how many cells there are.
        apart: how far apart the shares of people at different budgets may be.
        closed: the noise, if it sums to zero.
    """
    unit = bias / scale if scale > 0.0 else math.inf
    shift = apart * unit
    if not math.isfinite(shift):
        return (apart * bias) ** 2
    if closed is not None and cells <= MANY:
        return scale * (scale * closed.largest_square(_pairs(unit, cells, apart)))
    # Below shift − 45 the error is surely exceeded, but for e^−90.
    start = max(0.0, shift - _FAR)
    end = max(shift, math.log(cells)) + _FAR
    less = max(moved(cells, apart)[1] * unit, start)
    edges = sorted({start, less, shift, end, *np.arange(start, end, 2.0).tolist()})
    left, right = np.array(edges[:-1]), np.array(edges[1:])  # empty where 45 is below an ulp
    half = 0.5 * (right - left)
    u = 0.5 * (left + right)[:, None] + half[:, None] * _NODES
    integrand = 2.0 * u * (1.0 - _cdf(u, unit, cells, apart))
    integral = float((integrand @ _NODE_WEIGHTS) @ half)
    return (scale * start) ** 2 + scale * (scale * integral)


def quantile(
    bias: float,
    scale: float,
    cells: int,
    beta: float,
    apart: float = 1.0,
    closed: ClosedNoise | None = None,
) -> float:
    """The a with P(max_j |c_j + noise_j| > a) = β for the worst biases: see `mean_square`."""
    unit = bias / scale if scale > 0.0 else math.inf
    shift = apart * unit
    if not math.isfinite(shift):
        return apart * bias
    if closed is not None and cells <= MANY and beta >= _RARE:
        return scale * closed.largest_quantile(_pairs(unit, cells, apart), beta)

    def excess(u: float) -> float:
        return 1.0 - float(_cdf(np.array(u), unit, cells, apart)) - beta

    off = moved(cells, apart)[0] + 2
    high = max(shift + math.log(off), math.log(cells)) - math.log(beta) + 2.0
    return scale * bisect(excess, 0.0, high)


def _pairs(bias: float, cells: int, apart: float) -> Pairs:
    """The cells that are off, in pairs, the farthest first."""
    off, left = moved(cells, apart)
    found = ((apart * bias, off // 2), (left * bias, int(left > 0.0)))
    return [(shift, pairs) for shift, pairs in found if shift > 0.0 and pairs > 0]


def _cdf(u: Floats, bias: float, cells: int, apart: float) -> Floats:
    """P(largest error ≤ u), and all in units of the scale: as many cells as can be are off.

    No other biases of the same sum do worse: P(|c + L| ≤ a) is log-concave in c, so the least of
    its products is at a vertex of what the biases can be.
    """
    count, left = moved(cells, apart)
    off = inside(u, apart * bias) ** count
    if left > 0.0:
        off, count = off * inside(u, left * bias) ** 2, count + 2
    with np.errstate(divide="ignore"):
        rest = np.exp((cells - count) * np.log1p(-np.exp(-u))) if cells > count else 1.0
    return np.asarray(off * rest)
