"""The risk of frequencies: the sum of all squared errors, or the largest error of any category.

A person adds their weight to one cell. Each cell has noise: noises that sum to zero (`closed`), or
independent Laplace noise. Proof: docs/proofs/frequencies.md (1), (6).
Proof: docs/proofs/tables.md (6).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from epsilons.risk import mean
from epsilons.risk.mean import keep_proxy, least_split, permutation_proxy, sampling_reach
from epsilons.risk.tails import gaussian
from epsilons.risk.tails.gaussian import nearly_gaussian
from epsilons.risk.tails.joint import ClosedNoise, Pairs, inside
from epsilons.risk.tails.laplace import bisect, tail
from epsilons.risk.weighing import Assumption, Moments, SumNoise, Weighing
from epsilons.types import Floats

# The exact law of the largest error of any cell, for people whose budgets are related to
# categories.
#
# Only noise is random. The worst biases of the cells are known, up to which cells have them.
# Proof: docs/proofs/frequencies.md (1), (2).

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_FAR: Final = 45.0
_RARE: Final = 1e-9
"""Probabilities below which Fourier sums are too inaccurate; independent noise bounds them
there."""


MANY: Final = 1000
"""Number of cells up to which noise that sums to zero is treated as such. Beyond, independent noise
is used, which bounds it, is as good to one part in a thousand, and is much faster."""


def moved(cells: int, apart: float) -> tuple[int, float]:
    """The number of cells that are off by `apart` of the bias, and by how much two more can be off.

    The biases c sum to zero, none exceeds `apart` times the bias, and Σ|c| is at most twice the
    bias. So ⌊1/apart⌋ cells can be off to either side, and one more by the remainder. Where there
    are fewer cells, all are off, except one if their number is odd.
    Proof: docs/proofs/frequencies.md (2).
    """
    whole = int(min(1.0 / apart, float(cells)))  # δ may be tiny
    left = max(1.0 - whole * apart, 0.0)
    if cells >= 2 * whole + 2:
        return 2 * whole, left
    return min(2 * whole, cells - cells % 2), 0.0


def squared_bias(cells: int, apart: float) -> float:
    """The largest Σc² of the biases of cells, in units of bias².

    Proof: docs/proofs/tables.md (6).
    """
    off, left = moved(cells, apart)
    return off * apart * apart + 2.0 * left * left


def mean_square(
    bias: float, scale: float, cells: int, apart: float = 1.0, closed: ClosedNoise | None = None
) -> float:
    """E max_j (c_j + noise_j)² for the worst biases. Proof: docs/proofs/frequencies.md (1), (2).

    Args:
        bias: ½Σ|w − 1/n|.
        scale: of the noise of each cell.
        cells: number of cells.
        apart: largest difference between the shares of people at different budgets.
        closed: the noise, if it sums to zero.
    """
    unit = bias / scale if scale > 0.0 else math.inf
    shift = apart * unit
    if not math.isfinite(shift):
        return (apart * bias) ** 2
    if closed is not None and cells <= MANY:
        return scale * (scale * closed.largest_square(_pairs(unit, cells, apart)))
    # Below shift − 45 the error is exceeded, except with probability e^−90.
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


def largest_quantile(
    bias: float,
    scale: float,
    cells: int,
    beta: float,
    apart: float = 1.0,
    closed: ClosedNoise | None = None,
) -> float:
    """The a with P(max_j |c_j + noise_j| > a) = β for the worst biases: see `mean_square`.

    Proof: docs/proofs/frequencies.md (1), (2).
    """
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
    """The cells that are off, in pairs, the largest shift first."""
    off, left = moved(cells, apart)
    found = ((apart * bias, off // 2), (left * bias, int(left > 0.0)))
    return [(shift, pairs) for shift, pairs in found if shift > 0.0 and pairs > 0]


def _cdf(u: Floats, bias: float, cells: int, apart: float) -> Floats:
    """P(largest error ≤ u) for the worst biases, in units of the scale.

    As many cells as possible are off. No other biases are worse: P(|c + L| ≤ a) is log-concave in
    c, so the product is smallest at a vertex of the polytope of biases.
    Proof: docs/proofs/frequencies.md (1), (2).
    """
    count, left = moved(cells, apart)
    off = inside(u, apart * bias) ** count
    if left > 0.0:
        off, count = off * inside(u, left * bias) ** 2, count + 2
    with np.errstate(divide="ignore"):
        rest = np.exp((cells - count) * np.log1p(-np.exp(-u))) if cells > count else 1.0
    return np.asarray(off * rest)


# A band for all cells where budgets are unrelated to values: a union bound for the worst shares.
#
# Shares sum to one, so few cells can vary much. Proof: docs/proofs/frequencies.md (6), (10), (11).
# Proof: docs/proofs/tables.md (9), (12).

_SHARES = np.concatenate([[0.0], np.geomspace(2.0**-12, 0.5, 133)])
_RATES = np.concatenate([np.linspace(0.05, 0.95, 19), [1.0]])


class Union:
    """Bound on P(any cell is off by more than `a`), for all shares of the categories.

    Guarantee:
        `beyond(a)` is at least P(max_j |S_j + z_j| > a) where budgets are unrelated to values, for
        all shares. Proof: docs/proofs/frequencies.md (10), (11).
        Proof: docs/proofs/tables.md (9), (12).

    Args:
        weighing: the estimator, with everyone used; its scale is that of the noise of each cell.
        cells: number of categories.
        sigma: above 0, with P(±S_j > s) ≤ exp(−s²/2σ²) for every cell.
        sampled: whether people are a sample; otherwise values are randomly permuted.
    """

    def __init__(self, weighing: Weighing, cells: int, sigma: float, *, sampled: bool) -> None:
        self._weighing, self._cells, self._sigma = weighing, cells, sigma
        scale, spread = weighing.scale, weighing.spread
        if sampled:
            spread, heaviest = weighing.square, float(weighing.weights.max())
        else:
            heaviest = float(np.abs(weighing.weights - weighing.total / weighing.n).max())
        steepest = 1.0 if weighing.closed is None else weighing.closed.steepest
        # Chernoff rates up to 1/scale; without noise, up to where they are useless.
        unit = min(steepest / scale if scale > 0.0 else math.inf, 50.0 / sigma, 700.0 / heaviest)
        self._rates = unit * _RATES
        noise = _log_envelope(self._rates * scale, weighing.closed)
        per_share = np.expm1(self._rates * heaviest) - self._rates * heaviest
        self._exponents = _SHARES[:, None] * (spread / heaviest**2 * per_share) + noise
        varied = _SHARES[1:] * (1.0 - _SHARES[1:])
        self._nearly = nearly_gaussian(weighing, varied) if sampled else None

    def beyond(self, a: float) -> float:
        """Bound on the probability that any cell is off by more than `a`."""
        chernoff = np.exp(np.minimum(self._exponents - self._rates * a, 0.0)).min(axis=1)
        each = 2.0 * np.minimum(chernoff, _tail(self._weighing, a, self._sigma))
        each[0] = 2.0 * _alone(self._weighing, a)
        if self._nearly is not None:
            each[2:] = np.minimum(each[2:], self._nearly.beyond(a))
            # People may be split between cells: v ≤ p(1 − p), so take the maximum up to p.
            each = np.maximum.accumulate(each)
        return _worst_shares(each, self._cells)

    def quantile(self, beta: float) -> float:
        """The error that some cell exceeds with probability at most β."""
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
    # At rate 1: the tail of Laplace noise is at most ½·e^{−z} for every z.
    return np.where(rates >= 1.0 - 1e-12, -math.log(2.0), noise)


def _tail(weighing: Weighing, a: float, sigma: float) -> float:
    """Bound on P(S + noise > a) of one cell, by Hoeffding's tail of S."""
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
    """Bound on Σ_j h(p_j) over all shares that sum to one, h increasing and known on a grid.

    For every price μ (Lagrange multiplier) it is at most μ + k·max_p(h(p) − μ·p). Between two grid
    points h is at most its value at the upper one, and p at least the lower one. Shares above ½
    count as their complement. Proof: docs/proofs/frequencies.md (11).
    """
    lower = np.concatenate([[0.0], _SHARES[:-1]])
    prices = (each[1:] - each[0]) / _SHARES[1:]
    gains = each[None, :] - prices[:, None] * lower[None, :]
    return float((prices + cells * gains.max(axis=1)).min())


COINS = 4.0
"""The square of how far a coin moves a cell, in units of half a weight: the whole weight, where a
mean moves by half of it."""

_SPLITS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def squares(estimator: Weighing | Moments, assumption: Assumption, cells: int) -> Floats:
    """The worst-case mean of the sum of all squared errors. Proof: docs/proofs/tables.md (6).

    Args:
        estimator: one estimator, or the moments of many; its scale is that of the noise of a cell.
        assumption: what is assumed about the data.
        cells: number k ≥ 2 of categories.

    Returns:
        Exact if budgets are unrelated to values, and for people whose budgets may be related to
        them in any way; otherwise a proven bound.
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
        data = squared_bias(cells, assumption.apart) * np.square(estimator.bias)
    noise = noise_square(cells, estimator.closed)
    with np.errstate(over="ignore"):
        return np.asarray(data + estimator.jitter + noise * np.square(estimator.scale))


def mixed(n: int, cells: int, *, sampled: bool) -> float:
    """The f of f·Σw² (sample) or f·Σ(w − 1/n)² (unrelated people), for the worst shares.

    1 − Σp² is largest for equal shares, or as equal as n people allow.
    Proof: docs/proofs/tables.md (6).
    """
    if sampled:
        return 1.0 - 1.0 / cells
    each, more = divmod(n, cells)
    alike = more * (each + 1) ** 2 + (cells - more) * each**2
    return (n * n - alike) / (n * (n - 1))


def noise_square(cells: int, closed: ClosedNoise | None) -> float:
    """E Σ_j noise_j², at scale 1. Proof: docs/proofs/tables.md (1)."""
    return 2.0 * cells if closed is None else closed.square


def noise_per_square(assumption: Assumption, n: int, cells: int, noise: SumNoise) -> float:
    """The c for which sums of squares ∝ Σw² + c/(Σe)², where budgets are unrelated to values."""
    square = noise.moves**2 * noise_square(cells, noise.closed)
    return square / mixed(n, cells, sampled=assumption.sampled)


def _sampled_squares(estimator: Weighing | Moments, assumption: Assumption, cells: int) -> Floats:
    """Bound on the sum of squares without noise and coins, in a population with related budgets.

    As in `_sampled_error`, in ℓ2. Proof: docs/proofs/tables.md (6).
    """
    plain = math.sqrt(mixed(estimator.n, cells, sampled=True) / estimator.n)
    anything = np.square(math.sqrt(2.0) * estimator.bias + plain)
    if assumption.anything:
        return anything
    apart = assumption.apart
    drawn = math.sqrt(min(cells * apart * apart / 4.0, 1.0 - 1.0 / cells) / estimator.n)
    far = math.sqrt(squared_bias(cells, apart)) * estimator.bias
    square = estimator.spread + np.square(estimator.total) / estimator.n
    own = mixed(estimator.n, cells, sampled=True) * square
    return np.minimum(anything, own + np.square(far + drawn))


def largest_square(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """The worst-case mean square of the largest error.

    Proof: docs/proofs/frequencies.md (1), (3), (5).

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is assumed about the data.
        cells: number k ≥ 2 of categories.

    Returns:
        Exact for people whose budgets may be related to values in any way, if everyone is used with
        certainty (one integral, computed numerically). Otherwise a proven bound: the sampling error
        of all cells together in ℓ2 and the largest of k noises, combined by the triangle
        inequality; or, if noise sums to zero, 1 − 1/k of the sum of squares.

    Reference:
        Theorem C.2 of paper *correlated* has the order; the constants are ours.
    """
    if not math.isfinite(weighing.scale):
        return math.inf
    bound = _largest_square(weighing, assumption, cells)
    if weighing.closed is None:
        return bound
    # Among errors that sum to zero, the largest square is at most 1 − 1/k of the sum of squares.
    return min(bound, (1.0 - 1.0 / cells) * float(squares(weighing, assumption, cells)))


def _largest_square(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """Bound on the mean largest square by the triangle inequality; exact for related people."""
    scale, closed = weighing.scale, weighing.closed
    if assumption.related is not False and assumption.sampled:
        return _joined(_sampled_error(weighing, assumption, cells), weighing, cells)
    if assumption.related is not False:
        apart = assumption.apart
        if weighing.keep is None:
            return mean_square(weighing.bias, scale, cells, apart, closed)
        return _joined(apart * weighing.bias + math.sqrt(weighing.jitter), weighing, cells)
    # Sampling errors sum to zero: max S² ≤ (1 − 1/k)·ΣS². And Σ p(1 − p) ≤ 1 − 1/k.
    share = 1.0 - 1.0 / cells
    if weighing.keep is not None:
        square = share * _square(weighing, assumption) + weighing.jitter
    else:
        square = share * share * _square(weighing, assumption)
    bound = _joined(math.sqrt(square), weighing, cells)
    if not assumption.sampled and weighing.keep is None:
        return min(bound, mean_square(weighing.bias, scale, cells, closed=closed))
    return bound


def _sampled_error(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """Bound on the root mean square of the largest error without noise, for related budgets.

    For a population. Budgets related in any way: the bias of these people, plus the sampling error
    of their plain shares, of all cells together in ℓ2. Shares within δ have two further bounds: the
    sampling error of the weighted shares, plus δ times the bias, plus the sampling error of n draws
    of shares that differ by at most δ. Proof: docs/proofs/frequencies.md (5).
    """
    share = 1.0 - 1.0 / cells
    coins = math.sqrt(weighing.jitter)
    anything = weighing.bias + share / math.sqrt(weighing.n)
    if assumption.anything:
        return anything + coins
    apart = assumption.apart
    drawn = math.sqrt(share * min(cells * apart * apart / 4.0, share) / weighing.n)
    own = share * math.sqrt(weighing.square)
    # The same in ℓ2, without the triangle inequality: the biases have |c_j| ≤ δb and Σ|c_j| ≤ 2b.
    far = weighing.bias * math.sqrt(share * min(2.0 * apart, cells * apart * apart))
    joined = math.hypot(own, far + drawn)
    return min(anything, own + apart * weighing.bias + drawn, joined) + coins


def quantile(weighing: Weighing, assumption: Assumption, cells: int, confidence: float) -> float:
    """The error of the worst cell at this confidence.

    Proof: docs/proofs/frequencies.md (1), (4), (5).

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is assumed about the data.
        cells: number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        Exact for people whose budgets may be related to values in any way, if everyone is used with
        certainty. Otherwise a proven bound: a quantile of the sampling error plus one of the noise,
        with β split between them. `band` is sharper.

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
    """Error of these very people, whose shares at different budgets are within `apart`."""
    if weighing.keep is None:
        return largest_quantile(weighing.bias, weighing.scale, cells, beta, apart, weighing.closed)
    return apart * weighing.bias + _split_quantile(weighing, 0.0, cells, beta)


def _split_quantile(weighing: Weighing, square: float, cells: int, beta: float) -> float:
    """A quantile of the sampling error (and coins) plus one of the noise, at the best split."""
    sigma = math.sqrt(square + COINS * keep_proxy(weighing)) / 2.0
    return min(
        sigma * _sampling_factor(cells, share * beta)
        + weighing.scale * _noise_factor(cells, (1.0 - share) * beta, weighing.closed)
        for share in _SPLITS
    )


def largest_aim(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """The objective for the largest error: an approximation of `largest_square`, not a bound.

    Where budgets are unrelated to values it is the value in the Gaussian limit; for related people
    that of independent noise of the same size. Proof: docs/proofs/tables.md (10), (11).
    """
    if weighing.keep is not None or not math.isfinite(weighing.scale) or _one(weighing, cells):
        return largest_square(weighing, assumption, cells)
    if assumption.related is False:
        return gaussian.mean_square(_square(weighing, assumption), weighing, cells)
    if assumption.sampled:
        return largest_square(weighing, assumption, cells)
    scale = weighing.scale
    if weighing.closed is not None and cells <= MANY:
        mean, variance = harmonic(cells)
        scale *= math.sqrt(weighing.closed.largest()[1] / (mean * mean + variance))
    return mean_square(weighing.bias, scale, cells, assumption.apart)


def quantile_aim(
    weighing: Weighing, assumption: Assumption, cells: int, confidence: float
) -> float:
    """The objective for PAC errors: about `band`, not a bound.

    Proof: docs/proofs/tables.md (11).
    """
    if _one(weighing, cells):
        return share_error(weighing, assumption, confidence)
    chosen = weighing.keep is None and math.isfinite(weighing.scale)
    if chosen and assumption.related is False:
        return gaussian.sidak_quantile(
            _square(weighing, assumption), weighing, cells, 1.0 - confidence
        )
    return quantile(weighing, assumption, cells, confidence)


def _one(weighing: Weighing, cells: int) -> bool:
    """Whether all errors are ± one error: two cells whose noise sums to zero."""
    return cells == 2 and weighing.closed is not None


def share_error(weighing: Weighing, assumption: Assumption, confidence: float) -> float:
    """The error of one share at this confidence. Proof: docs/proofs/frequencies.md (7)."""
    return mean.quantile(weighing, assumption, confidence, coins=COINS)


def band(weighing: Weighing, assumption: Assumption, cells: int, confidence: float) -> float:
    """Half-width of a simultaneous band for all cells. Proof: docs/proofs/frequencies.md (6).

    Args:
        weighing: the estimator; its scale is that of the noise of each cell.
        assumption: what is assumed about the data.
        cells: number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        Exact for people whose budgets may be related to values in any way, if everyone is used with
        certainty. Otherwise the smallest of proven bounds: that of `quantile` and, where budgets
        are unrelated to values, a union bound over cells of tails integrated against the noise, for
        the worst shares.
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
    if closed is not None and cells <= MANY:
        return largest_quantile(0.0, 1.0, cells, beta, closed=closed)
    return -math.log(-math.expm1(math.log1p(-beta) / cells))


def _proxy(weighing: Weighing, assumption: Assumption) -> float:
    """The v with P(S_j > s) ≤ exp(−2s²/v) for every cell, if budgets are unrelated to values."""
    return weighing.square if assumption.sampled else permutation_proxy(weighing)


def _sampling_factor(cells: int, beta: float) -> float:
    """The z with P(largest sampling error > z·σ) ≤ β: Hoeffding's bound for each cell and side."""
    return math.sqrt(2.0 * math.log(2.0 * cells / beta))


def _square(weighing: Weighing, assumption: Assumption) -> float:
    """Σ_j Var(S_j) / Σ_j p_j(1 − p_j), if budgets are unrelated to values."""
    if assumption.sampled:
        return weighing.square
    return weighing.spread * weighing.n / (weighing.n - 1)


@lru_cache(maxsize=64)
def harmonic(cells: int) -> tuple[float, float]:
    """Mean and variance of the largest of k exponential variables: Σ 1/i and Σ 1/i²."""
    inverse = 1.0 / np.arange(1.0, cells + 1.0)
    return float(inverse.sum()), float(inverse @ inverse)


def _joined(error: float, weighing: Weighing, cells: int) -> float:
    """E(X + M)² for independent X and M, where E X² is error² and M is the largest noise."""
    scale = weighing.scale
    if weighing.closed is not None and cells <= MANY:
        mean, square = weighing.closed.largest()
    else:
        mean, variance = harmonic(cells)
        square = mean * mean + variance
    return error * error + scale * (2.0 * error * mean + scale * square)


# Projection onto the simplex.


def project(point: Floats) -> Floats:
    """Project onto the simplex: the nearest shares in ℓ2. Proof: docs/proofs/frequencies.md (9).

    These are max(x − θ, 0) with the θ that makes them sum to one, found by one sort. The truth is
    on the simplex, which is convex, so no ℓ2 error grows.

    Args:
        point: any finite numbers.

    Returns:
        Shares in the same order.
    """
    point = point - point.max()  # a common shift changes no projection, and keeps sums small
    ordered = np.sort(point)[::-1]
    sums = np.cumsum(ordered)
    # Σ_{j ≤ i} (x_j − x_i) − 1 grows with i. Where it becomes positive, coordinates are zero.
    spare = sums - np.arange(1, len(ordered) + 1) * ordered
    positive = max(int(np.searchsorted(spare, 1.0, side="left")), 1)
    shares = np.maximum(point - (sums[positive - 1] - 1.0) / positive, 0.0)
    return np.asarray(shares / shares.sum())
