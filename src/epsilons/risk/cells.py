"""The risk of frequencies: the squares of all errors together, or the largest of any category.

A person adds their weight to one cell. Each cell has noise: noises that sum to zero (`closed`), or
Laplace noise of its own. The formulas are derived in `docs/proofs/frequencies.md`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from epsilons.risk import largest, mean, sidak
from epsilons.risk.assumptions import Assumption
from epsilons.risk.closed import ClosedNoise
from epsilons.risk.mean import keep_proxy, least_split, permutation_proxy, sampling_reach
from epsilons.risk.union import Union
from epsilons.risk.weighing import Moments, SumNoise, Weighing
from epsilons.types import Floats

COINS = 4.0
"""A coin moves a cell by the whole of a weight, not by half of it as around the middle: squared."""

_SPLITS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def squares(estimator: Weighing | Moments, assumption: Assumption, cells: int) -> Floats:
    """The worst-case mean of the sum of all squared errors, over all cells.

    Args:
        estimator: one estimator, or the moments of many; its scale is that of the noise of a cell.
        assumption: what is assumed about the data.
        cells: the number k ≥ 2 of categories.

    Returns:
        Exact if budgets tell nothing, and for people whose budgets may tell anything; otherwise a
        proven bound.
    """
    n = estimator.n
    data: Floats | float
    if assumption.related is False and assumption.sampled:
        data = mixed(n, cells, sampled=True) * (estimator.spread + np.square(estimator.total) / n)
    elif assumption.related is False:
        data = mixed(n, cells, sampled=False) * estimator.spread
    elif assumption.sampled:
        data = _sampled_squares(estimator, assumption, cells)
    else:
        data = largest.squared_bias(cells, assumption.apart) * np.square(estimator.bias)
    noise = noise_square(cells, estimator.closed)
    with np.errstate(over="ignore"):
        return np.asarray(data + estimator.jitter + noise * np.square(estimator.scale))


def mixed(n: int, cells: int, *, sampled: bool) -> float:
    """The f of f·Σw² (of a sample) or f·Σ(w − 1/n)² (of unrelated people): the worst shares.

    1 − Σp² is largest where people are in all categories alike, as far as n people can be.
    """
    if sampled:
        return 1.0 - 1.0 / cells
    each, more = divmod(n, cells)
    alike = more * (each + 1) ** 2 + (cells - more) * each**2
    return (n * n - alike) / (n * (n - 1))


def noise_square(cells: int, closed: ClosedNoise | None) -> float:
    """E Σ_j noise_j², at scale 1."""
    return 2.0 * cells if closed is None else closed.square


def noise_per_square(assumption: Assumption, n: int, cells: int, noise: SumNoise) -> float:
    """The c of sums of squares ∝ Σw² + c/(Σe)², where budgets tell nothing."""
    square = noise.moves**2 * noise_square(cells, noise.closed)
    return square / mixed(n, cells, sampled=assumption.sampled)


def _sampled_squares(estimator: Weighing | Moments, assumption: Assumption, cells: int) -> Floats:
    """The same of everything but noise and coins, in a population with related budgets.

    As in `_sampled_error`, in ℓ2.
    """
    plain = math.sqrt(mixed(estimator.n, cells, sampled=True) / estimator.n)
    anything = np.square(math.sqrt(2.0) * estimator.bias + plain)
    if assumption.anything:
        return anything
    apart = assumption.apart
    drawn = math.sqrt(min(cells * apart * apart / 4.0, 1.0 - 1.0 / cells) / estimator.n)
    far = math.sqrt(largest.squared_bias(cells, apart)) * estimator.bias
    square = estimator.spread + np.square(estimator.total) / estimator.n
    own = mixed(estimator.n, cells, sampled=True) * square
    return np.minimum(anything, own + np.square(far + drawn))


def largest_square(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """The worst-case mean square of the largest error of any cell.

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is assumed about the data.
        cells: the number k ≥ 2 of categories.

    Returns:
        Exact for people whose budgets may tell anything, if everyone is surely used (one integral,
        computed numerically). Otherwise a proven bound: the sampling error of all cells together in
        ℓ2, and the largest of k noises, joined by the triangle inequality; or, if noise sums to
        zero, 1 − 1/k of the sum of squares.

    Reference:
        Theorem C.2 of paper *correlated* has the order; the constants are ours.
    """
    if not math.isfinite(weighing.scale):
        return math.inf
    bound = _largest_square(weighing, assumption, cells)
    if weighing.closed is None:
        return bound
    # Of errors that sum to zero the largest has at most 1 − 1/k of the sum of all squares.
    return min(bound, (1.0 - 1.0 / cells) * float(squares(weighing, assumption, cells)))


def _largest_square(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """The same by the triangle inequality; or exactly, for related people."""
    scale, closed = weighing.scale, weighing.closed
    if assumption.related is not False and assumption.sampled:
        return _joined(_sampled_error(weighing, assumption, cells), weighing, cells)
    if assumption.related is not False:
        apart = assumption.apart
        if weighing.keep is None:
            return largest.mean_square(weighing.bias, scale, cells, apart, closed)
        return _joined(apart * weighing.bias + math.sqrt(weighing.jitter), weighing, cells)
    # Sampling errors sum to zero; and Σ p(1 − p) ≤ 1 − 1/k.
    share = 1.0 - 1.0 / cells
    if weighing.keep is not None:
        square = share * _square(weighing, assumption) + weighing.jitter
    else:
        square = share * share * _square(weighing, assumption)
    bound = _joined(math.sqrt(square), weighing, cells)
    if not assumption.sampled and weighing.keep is None:
        return min(bound, largest.mean_square(weighing.bias, scale, cells, closed=closed))
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
        assumption: what is assumed about the data.
        cells: the number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        Exact for people whose budgets may tell anything, if everyone is surely used; otherwise a
        proven bound: a quantile of the sampling error plus one of the noise, β split between them.
        `band` is sharper.

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
        return min(error, _people_quantile(weighing, cells, beta))
    return error


def _people_quantile(weighing: Weighing, cells: int, beta: float, apart: float = 1.0) -> float:
    """The error of these very people, whose shares at different budgets are within `apart`."""
    if weighing.keep is None:
        return largest.quantile(weighing.bias, weighing.scale, cells, beta, apart, weighing.closed)
    return apart * weighing.bias + _split_quantile(weighing, 0.0, cells, beta)


def _split_quantile(weighing: Weighing, square: float, cells: int, beta: float) -> float:
    """A quantile of the sampling error (and the coins) plus one of the noise, at the best split."""
    sigma = math.sqrt(square + COINS * keep_proxy(weighing)) / 2.0
    return min(
        sigma * _sampling_factor(cells, share * beta)
        + weighing.scale * _noise_factor(cells, (1.0 - share) * beta, weighing.closed)
        for share in _SPLITS
    )


def largest_aim(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """What weights are chosen by, for the largest error: about `largest_square`, and no bound.

    Where budgets tell nothing it is that of the Gaussian limit; for related people that of
    independent noise that is as large.
    """
    if weighing.keep is not None or not math.isfinite(weighing.scale) or _one(weighing, cells):
        return largest_square(weighing, assumption, cells)
    if assumption.related is False:
        return sidak.mean_square(_square(weighing, assumption), weighing, cells)
    if assumption.sampled:
        return largest_square(weighing, assumption, cells)
    scale = weighing.scale
    if weighing.closed is not None and cells <= largest.MANY:
        mean, variance = harmonic(cells)
        scale *= math.sqrt(weighing.closed.largest()[1] / (mean * mean + variance))
    return largest.mean_square(weighing.bias, scale, cells, assumption.apart)


def quantile_aim(
    weighing: Weighing, assumption: Assumption, cells: int, confidence: float
) -> float:
    """What weights are chosen by, for the error not exceeded: about `band`, and no bound."""
    if _one(weighing, cells):
        return share_error(weighing, assumption, confidence)
    chosen = weighing.keep is None and math.isfinite(weighing.scale)
    if chosen and assumption.related is False:
        return sidak.quantile(_square(weighing, assumption), weighing, cells, 1.0 - confidence)
    return quantile(weighing, assumption, cells, confidence)


def _one(weighing: Weighing, cells: int) -> bool:
    """Whether all errors are one error and its opposite: of two cells whose noise sums to zero."""
    return cells == 2 and weighing.closed is not None


def share_error(weighing: Weighing, assumption: Assumption, confidence: float) -> float:
    """The error of the share of one category, not exceeded with this probability."""
    return mean.quantile(weighing, assumption, confidence, coins=COINS)


def band(weighing: Weighing, assumption: Assumption, cells: int, confidence: float) -> float:
    """Half the width of a band that holds all cells at once with probability `confidence`.

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is assumed about the data.
        cells: the number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        Exact for people whose budgets may tell anything, if everyone is surely used; otherwise the
        least of proven bounds: that of `quantile` and, where budgets tell nothing, a union over
        cells of tails integrated against the noise, for the worst shares.
    """
    if _one(weighing, cells):
        return share_error(weighing, assumption, confidence)
    error = quantile(weighing, assumption, cells, confidence)
    if assumption.related is not False or weighing.keep is not None or not math.isfinite(error):
        return error
    sigma = math.sqrt(_proxy(weighing, assumption)) / 2.0
    if sigma <= 0.0:
        return min(error, weighing.scale * _noise_factor(cells, 1.0 - confidence, weighing.closed))
    union = Union(weighing, cells, sigma, sampled=assumption.sampled)
    return min(error, union.quantile(1.0 - confidence))


@lru_cache(maxsize=256)
def _noise_factor(cells: int, beta: float, closed: ClosedNoise | None = None) -> float:
    """The exact quantile of the largest of k noises of scale 1."""
    if closed is not None and cells <= largest.MANY:
        return largest.quantile(0.0, 1.0, cells, beta, closed=closed)
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


def _joined(error: float, weighing: Weighing, cells: int) -> float:
    """E(X + M)² for independent X, M: X of mean square error², M the largest noise."""
    scale = weighing.scale
    if weighing.closed is not None and cells <= largest.MANY:
        mean, square = weighing.closed.largest()
    else:
        mean, variance = harmonic(cells)
        square = mean * mean + variance
    return error * error + scale * (2.0 * error * mean + scale * square)
