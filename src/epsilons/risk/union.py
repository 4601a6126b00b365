"""A band over all cells where budgets tell nothing: a union over cells, for the worst shares.

Shares sum to one, so that few cells can vary much. The bounds of one cell are derived in
`docs/proofs/frequencies.md`, and that of a nearly Gaussian one in `docs/proofs/tables.md`.
"""

from __future__ import annotations

import math

import numpy as np

from epsilons.risk.closed import ClosedNoise
from epsilons.risk.nearly import nearly_gaussian
from epsilons.risk.tails import bisect, tail
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

_SHARES = np.concatenate([[0.0], np.geomspace(2.0**-12, 0.5, 133)])
_RATES = np.concatenate([np.linspace(0.05, 0.95, 19), [1.0]])


class Union:
    """How often any cell is off by more than `a`, whatever the shares of the categories.

    Guarantee:
        `beyond(a)` is at least P(max_j |S_j + z_j| > a) where budgets tell nothing, for all shares.

    Args:
        weighing: the estimator, everyone surely used; its scale is that of the noise of each cell.
        cells: the number of categories.
        sigma: above 0, with P(±S_j > s) ≤ exp(−s²/2σ²) for every cell.
        sampled: whether people are a sample; otherwise they are shuffled.
    """

    def __init__(self, weighing: Weighing, cells: int, sigma: float, *, sampled: bool) -> None:
        self._weighing, self._cells, self._sigma = weighing, cells, sigma
        scale, spread = weighing.scale, weighing.spread
        if sampled:
            spread, heaviest = weighing.square, float(weighing.weights.max())
        else:
            heaviest = float(np.abs(weighing.weights - weighing.total / weighing.n).max())
        steepest = 1.0 if weighing.closed is None else weighing.closed.steepest
        # Chernoff with a rate of at most 1/scale; without noise any, up to where it is useless.
        unit = min(steepest / scale if scale > 0.0 else math.inf, 50.0 / sigma, 700.0 / heaviest)
        self._rates = unit * _RATES
        noise = _log_envelope(self._rates * scale, weighing.closed)
        per_share = np.expm1(self._rates * heaviest) - self._rates * heaviest
        self._exponents = _SHARES[:, None] * (spread / heaviest**2 * per_share) + noise
        varied = _SHARES[1:] * (1.0 - _SHARES[1:])
        self._nearly = nearly_gaussian(weighing, varied) if sampled else None

    def beyond(self, a: float) -> float:
        """A bound on the probability that any cell is off by more than `a`."""
        chernoff = np.exp(np.minimum(self._exponents - self._rates * a, 0.0)).min(axis=1)
        each = 2.0 * np.minimum(chernoff, _tail(self._weighing, a, self._sigma))
        each[0] = 2.0 * _alone(self._weighing, a)
        if self._nearly is not None:
            each[2:] = np.minimum(each[2:], self._nearly.beyond(a))
            # Of people who are in a cell by parts the share varies less than it could.
            each = np.maximum.accumulate(each)
        return _worst_shares(each, self._cells)

    def quantile(self, beta: float) -> float:
        """The error that some cell exceeds with a probability of at most β."""
        high = self._sigma + self._weighing.scale
        while self.beyond(high) > beta:
            high *= 2.0
        return bisect(lambda a: self.beyond(a) - beta, 0.0, high)


def _log_envelope(rates: Floats, closed: ClosedNoise | None) -> Floats:
    """For each rate λ an ln K with P(noise > z) ≤ K·e^{−λz} for every z, at scale 1."""
    if closed is not None:
        return closed.log_envelope(rates)
    with np.errstate(divide="ignore"):
        noise = -np.log1p(-np.square(rates))
    # At rate 1 the tail of Laplace noise is below ½·e^{−z} for every z.
    return np.where(rates >= 1.0 - 1e-12, -math.log(2.0), noise)


def _tail(weighing: Weighing, a: float, sigma: float) -> float:
    """A bound on P(S + noise > a) of one cell, by Hoeffding's tail of S."""
    if weighing.closed is None or weighing.scale <= 0.0:
        return tail(a, sigma, weighing.scale)
    return weighing.closed.tail(a / weighing.scale, sigma / weighing.scale)


def _alone(weighing: Weighing, a: float) -> float:
    """P(noise > a) of one cell."""
    if weighing.scale <= 0.0:
        return 0.0
    if weighing.closed is not None:
        return float(weighing.closed.exceeds(a / weighing.scale))
    return 0.5 * math.exp(-a / weighing.scale)


def _worst_shares(each: Floats, cells: int) -> float:
    """A bound on Σ_j h(p_j) over all shares that sum to one, h growing and known on a grid.

    For every price μ it is at most μ + k·max_p(h(p) − μ·p); between two points of the grid h is at
    most its value at the upper one and p at least the lower one. Shares above one half count as
    their complement.
    """
    lower = np.concatenate([[0.0], _SHARES[:-1]])
    prices = (each[1:] - each[0]) / _SHARES[1:]
    gains = each[None, :] - prices[:, None] * lower[None, :]
    return float((prices + cells * gains.max(axis=1)).min())
