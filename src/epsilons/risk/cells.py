"""The risk of frequencies: the largest error over all categories at once.

A person adds their weight to one cell, and each cell has Laplace noise of its own. The error is the
largest error of any cell (ℓ∞). The formulas are derived in `docs/proofs/frequencies.md`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from epsilons.risk import mean
from epsilons.risk.assumptions import Assumption
from epsilons.risk.mean import keep_proxy, least_split, permutation_proxy, sampling_reach
from epsilons.risk.tails import bisect, tail
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

COINS = 4.0
"""A coin moves a cell by the whole of a weight, not by half of it as around the middle: squared."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_SHARES = np.concatenate([[0.0], np.geomspace(2.0**-12, 0.5, 34)])
_RATES = np.concatenate([np.linspace(0.05, 0.95, 19), [1.0]])
_FAR = 45.0
_SPLITS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def mse(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """The worst-case mean square of the largest error of any cell.

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is taken to be true of the data.
        cells: the number k ≥ 2 of categories.

    Returns:
        Exact for people whose budgets may tell anything, if everyone is surely used (one integral,
        computed numerically). Otherwise a proven bound: the sampling error of all cells together in
        ℓ2, and the largest of k Laplace noises, joined by the triangle inequality.

    Reference:
        Theorem C.2 of paper *correlated* has the order; the constants are ours.
    """
    scale = weighing.scale
    if not math.isfinite(scale):
        return math.inf
    if assumption.related is not False and assumption.sampled:
        return _joined(_sampled_error(weighing, assumption, cells), scale, cells)
    if assumption.related is not False:
        apart = assumption.apart
        if weighing.keep is None:
            return _related_mse(weighing.bias, scale, cells, apart)
        return _joined(apart * weighing.bias + math.sqrt(weighing.jitter), scale, cells)
    # The errors of the cells sum to zero, so the largest has at most 1 − 1/k of the sum of all
    # squares; and Σ p(1 − p) ≤ 1 − 1/k.
    share = 1.0 - 1.0 / cells
    if weighing.keep is not None:
        square = share * _square(weighing, assumption) + weighing.jitter
    else:
        square = share * share * _square(weighing, assumption)
    bound = _joined(math.sqrt(square), scale, cells)
    if not assumption.sampled and weighing.keep is None:
        return min(bound, _related_mse(weighing.bias, scale, cells))
    return bound


def _sampled_error(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """The root mean square of the largest error but for noise, in a population, budgets related.

    Whatever budgets tell: the bias of these people, and the sampling error of their plain shares,
    of all cells together in ℓ2. Where the shares of people at different budgets are within δ, two
    more: the sampling error of the weighted shares, plus δ times the bias, plus the sampling error
    of n draws from shares that differ by δ at most.
    """
    share = 1.0 - 1.0 / cells
    coins = math.sqrt(weighing.jitter)
    anything = weighing.bias + share / math.sqrt(weighing.n)
    if assumption.anything:
        return anything + coins
    apart = assumption.apart
    drawn = math.sqrt(share * min(cells * apart * apart / 4.0, share) / weighing.n)
    own = share * math.sqrt(weighing.square)
    # The same without the triangle inequality, in ℓ2: of the biases c, |c_j| ≤ δb and Σ|c_j| ≤ 2b.
    far = weighing.bias * math.sqrt(share * min(2.0 * apart, cells * apart * apart))
    joined = math.hypot(own, far + drawn)
    return min(anything, own + apart * weighing.bias + drawn, joined) + coins


def quantile(weighing: Weighing, assumption: Assumption, cells: int, confidence: float) -> float:
    """An error of the worst cell that is not exceeded with probability `confidence`.

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is taken to be true of the data.
        cells: the number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        Exact for people whose budgets may tell anything, if everyone is surely used; otherwise a
        proven bound: a quantile of the sampling error plus one of the noise, β split between them.
        `band` is sharper for weights that are given; this one ranks weights better, for its two
        parts are wrong by the same factors whatever the weights are.

    Reference:
        Theorem C.1 of paper *correlated* has the order; the constants are ours.
    """
    beta = 1.0 - confidence
    if not math.isfinite(weighing.scale):
        return math.inf
    related, apart = assumption.related is not False, assumption.apart
    if related and assumption.sampled:
        return least_split(
            lambda rest: _people_quantile(weighing, cells, rest),
            None
            if assumption.anything
            else lambda rest: (
                apart * weighing.bias + _split_quantile(weighing, weighing.square, cells, rest)
            ),
            apart,
            lambda part: sampling_reach(weighing.n, part, cells),
            beta,
        )
    if related:
        return _people_quantile(weighing, cells, beta, apart)
    error = _split_quantile(weighing, _proxy(weighing, assumption), cells, beta)
    if not assumption.sampled and weighing.keep is None:
        return min(error, _related_quantile(weighing.bias, weighing.scale, cells, beta))
    return error


def _people_quantile(weighing: Weighing, cells: int, beta: float, apart: float = 1.0) -> float:
    """The error of these very people, whose shares at different budgets are within `apart`."""
    if weighing.keep is None:
        return _related_quantile(weighing.bias, weighing.scale, cells, beta, apart)
    return apart * weighing.bias + _split_quantile(weighing, 0.0, cells, beta)


def _split_quantile(weighing: Weighing, square: float, cells: int, beta: float) -> float:
    """A quantile of the sampling error (and the coins) plus one of the noise, at the best split."""
    sigma = math.sqrt(square + COINS * keep_proxy(weighing)) / 2.0
    return min(
        sigma * _sampling_factor(cells, share * beta)
        + weighing.scale * _noise_factor(cells, (1.0 - share) * beta)
        for share in _SPLITS
    )


def share_error(weighing: Weighing, assumption: Assumption, confidence: float) -> float:
    """The error of the share of one category, not exceeded with this probability."""
    return mean.quantile(weighing, assumption, confidence, coins=COINS)


def band(weighing: Weighing, assumption: Assumption, cells: int, confidence: float) -> float:
    """Half the width of a band that holds all cells at once with probability `confidence`.

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is taken to be true of the data.
        cells: the number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        Exact for people whose budgets may tell anything, if everyone is surely used; otherwise the
        least of proven bounds: where budgets tell nothing, a union over cells of tails integrated
        against the noise, for the worst shares that the categories can have; and that of
        `quantile`.
    """
    error = quantile(weighing, assumption, cells, confidence)
    if assumption.related is not False or weighing.keep is not None or not math.isfinite(error):
        return error
    return min(error, _union_quantile(weighing, assumption, cells, 1.0 - confidence))


def _noise_factor(cells: int, beta: float) -> float:
    """The exact quantile of the largest of k Laplace noises of scale 1."""
    return -math.log(-math.expm1(math.log1p(-beta) / cells))


def _proxy(weighing: Weighing, assumption: Assumption) -> float:
    """The v with P(S_j > s) ≤ exp(−2s²/v) for every cell, if budgets tell nothing."""
    return weighing.square if assumption.sampled else permutation_proxy(weighing)


def _sampling_factor(cells: int, beta: float) -> float:
    """The z with P(largest sampling error > z·σ) ≤ β: Hoeffding's bound for each cell and side."""
    return math.sqrt(2.0 * math.log(2.0 * cells / beta))


def _square(weighing: Weighing, assumption: Assumption) -> float:
    """Σ_j Var(S_j) / Σ_j p_j(1 − p_j), if budgets tell nothing."""
    if assumption.sampled:
        return weighing.square
    return weighing.spread * weighing.n / (weighing.n - 1)


@lru_cache(maxsize=64)
def harmonic(cells: int) -> tuple[float, float]:
    """Mean and variance of the largest of k exponential variables: Σ 1/i and Σ 1/i²."""
    inverse = 1.0 / np.arange(1.0, cells + 1.0)
    return float(inverse.sum()), float(inverse @ inverse)


def _joined(error: float, scale: float, cells: int) -> float:
    """E(X + M)² for independent X, M: X of mean square error², M the largest Laplace noise."""
    mean, variance = harmonic(cells)
    return error * error + scale * (2.0 * error * mean + scale * (mean * mean + variance))


def _moved(cells: int, apart: float) -> tuple[int, float]:
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


def _off(u: Floats, shift: float) -> Floats:
    """P(|shift + L| ≤ u) for Laplace noise of scale 1."""
    beyond = 1.0 - 0.5 * (np.exp(np.minimum(shift - u, 0.0)) + np.exp(-shift - u))
    within = 0.5 * np.exp(np.minimum(u - shift, 0.0)) * -np.expm1(-2.0 * u)
    return np.where(u >= shift, beyond, within)


def _related_cdf(u: Floats, bias: float, cells: int, apart: float) -> Floats:
    """P(largest error ≤ u), and all in units of the scale: as many cells as can be are off.

    No other biases of the same sum do worse: P(|c + L| ≤ a) is log-concave in c, so the least of
    its products is at a vertex of what the biases can be.
    """
    moved, left = _moved(cells, apart)
    off = _off(u, apart * bias) ** moved
    if left > 0.0:
        off, moved = off * _off(u, left * bias) ** 2, moved + 2
    with np.errstate(divide="ignore"):
        rest = np.exp((cells - moved) * np.log1p(-np.exp(-u))) if cells > moved else 1.0
    return np.asarray(off * rest)


def _related_mse(bias: float, scale: float, cells: int, apart: float = 1.0) -> float:
    unit = bias / scale if scale > 0.0 else math.inf
    shift = apart * unit
    if not math.isfinite(shift):
        return (apart * bias) ** 2
    # Below shift − 45 the error is surely exceeded, but for e^−90.
    start = max(0.0, shift - _FAR)
    end = max(shift, math.log(cells)) + _FAR
    less = max(_moved(cells, apart)[1] * unit, start)
    edges = sorted({start, less, shift, end, *np.arange(start, end, 2.0).tolist()})
    left, right = np.array(edges[:-1]), np.array(edges[1:])  # empty where 45 is below an ulp
    half = 0.5 * (right - left)
    u = 0.5 * (left + right)[:, None] + half[:, None] * _NODES
    integrand = 2.0 * u * (1.0 - _related_cdf(u, unit, cells, apart))
    integral = float((integrand @ _NODE_WEIGHTS) @ half)
    return (scale * start) ** 2 + scale * (scale * integral)


def _related_quantile(
    bias: float, scale: float, cells: int, beta: float, apart: float = 1.0
) -> float:
    unit = bias / scale if scale > 0.0 else math.inf
    shift = apart * unit
    if not math.isfinite(shift):
        return apart * bias

    def excess(u: float) -> float:
        return 1.0 - float(_related_cdf(np.array(u), unit, cells, apart)) - beta

    off = _moved(cells, apart)[0] + 2
    high = max(shift + math.log(off), math.log(cells)) - math.log(beta) + 2.0
    return scale * bisect(excess, 0.0, high)


def _union_quantile(weighing: Weighing, assumption: Assumption, cells: int, beta: float) -> float:
    """The a at which Σ_j 2·P(S_j + L > a) is at most β, whatever the shares of the categories."""
    scale, spread = weighing.scale, weighing.spread
    sigma = math.sqrt(_proxy(weighing, assumption)) / 2.0
    if assumption.sampled:
        spread, largest = weighing.square, float(weighing.weights.max())
    else:
        largest = float(np.abs(weighing.weights - weighing.total / weighing.n).max())
    if sigma <= 0.0:
        return scale * _noise_factor(cells, beta)
    # Chernoff with a rate of at most 1/scale; without noise any rate, up to where it is useless.
    unit = min(1.0 / scale if scale > 0.0 else math.inf, 50.0 / sigma, 700.0 / largest)
    rates = unit * _RATES
    with np.errstate(divide="ignore"):
        noise = -np.log1p(-np.square(rates * scale))
    # At rate 1/scale the tail of Laplace noise is below ½·e^{−z/scale} for every z.
    noise = np.where(rates * scale >= 1.0 - 1e-12, -math.log(2.0), noise)
    per_share = spread / largest**2 * (np.expm1(rates * largest) - rates * largest)

    def excess(a: float) -> float:
        chernoff = np.exp(np.minimum(_SHARES[:, None] * per_share + noise - rates * a, 0.0)).min(
            axis=1
        )
        each = np.minimum(chernoff, tail(a, sigma, scale))
        each[0] = 0.5 * math.exp(-a / scale) if scale > 0.0 else 0.0
        return 2.0 * _worst_shares(each, cells) - beta

    high = sigma + scale
    while excess(high) > 0.0:
        high *= 2.0
    return bisect(excess, 0.0, high)


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
