"""Risks of frequencies: the sum of the squared errors, or the largest error of any category.

Each person adds their weight to one cell, and every cell gets noise. The noise is either
independent Laplace noise, or joint noise that sums to zero over all cells (`closed`).
Proof: docs/proofs/frequencies.md (1), (6).
Proof: docs/proofs/tables.md (6).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from epsilons.risk.means import mean
from epsilons.risk.means.mean import keep_proxy, least_split, permutation_proxy, sampling_reach
from epsilons.risk.tails import gaussian
from epsilons.risk.tails.gaussian import nearly_gaussian
from epsilons.risk.tails.joint import ClosedNoise, Pairs, inside
from epsilons.risk.tails.laplace import bisect, tail
from epsilons.risk.weighing import Assumption, Moments, SumNoise, Weighing
from epsilons.types import Floats

# The exact distribution of the largest error of any cell, if budgets may be related to categories.
#
# Only the noise is random. The worst-case biases of the cells are known, up to a permutation of the
# cells.
# Proof: docs/proofs/frequencies.md (1), (2).

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_FAR: Final = 45.0
_RARE: Final = 1e-9
"""Error probabilities below this are too small for the Fourier sums. The bound for independent
noise is used instead."""


MANY: Final = 1000
"""Number of cells up to which noise that sums to zero is computed exactly. For more cells, the
formulas for independent noise are used. They are an upper bound, at most 0.1 % larger, and much
faster."""


def moved(cells: int, apart: float) -> tuple[int, float]:
    """How many cells can have the largest bias, and the bias of one more cell on each side.

    Biases are in units of b. The biases c of the cells sum to zero, |c| ≤ `apart`·b, and Σ|c| ≤ 2b.
    So up to ⌊1/apart⌋ cells can have the bias `apart`·b, as many can have −`apart`·b, and one more
    cell on each side has the remainder. With fewer cells, all of them have the largest bias, or all
    except one if their number is odd, and no cell has the remainder.
    Proof: docs/proofs/frequencies.md (2).
    """
    whole = int(min(1.0 / apart, float(cells)))  # 1/δ can overflow to infinity
    left = max(1.0 - whole * apart, 0.0)
    if cells >= 2 * whole + 2:
        return 2 * whole, left
    return min(2 * whole, cells - cells % 2), 0.0


def squared_bias(cells: int, apart: float) -> float:
    """The largest possible Σc² over the biases c of cells, in units of bias².

    Proof: docs/proofs/tables.md (6).
    """
    off, left = moved(cells, apart)
    return off * apart * apart + 2.0 * left * left


def mean_square(
    bias: float, scale: float, cells: int, apart: float = 1.0, closed: ClosedNoise | None = None
) -> float:
    """E max_j (c_j + noise_j)² for the worst-case biases c.

    Proof: docs/proofs/frequencies.md (1), (2).

    Args:
        bias: ½Σ|w − 1/n|.
        scale: scale of the noise of each cell.
        cells: number of cells.
        apart: largest difference between the shares of people at different budgets.
        closed: the joint noise if it sums to zero; None for independent noise.
    """
    unit = bias / scale if scale > 0.0 else math.inf
    shift = apart * unit
    if not math.isfinite(shift):
        return (apart * bias) ** 2
    if closed is not None and cells <= MANY:
        return scale * (scale * closed.largest_square(_pairs(unit, cells, apart)))
    # The largest error is below shift − 45 with probability at most e^−90.
    start = max(0.0, shift - _FAR)
    end = max(shift, math.log(cells)) + _FAR
    less = max(moved(cells, apart)[1] * unit, start)
    edges = sorted({start, less, shift, end, *np.arange(start, end, 2.0).tolist()})
    left, right = np.array(edges[:-1]), np.array(edges[1:])  # empty if shift + 45 rounds to shift
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
    """The a with P(max_j |c_j + noise_j| > a) = β for the worst-case biases c: see `mean_square`.

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
    """The biased cells as (shift, number of pairs with ±shift), the largest shift first."""
    off, left = moved(cells, apart)
    found = ((apart * bias, off // 2), (left * bias, int(left > 0.0)))
    return [(shift, pairs) for shift, pairs in found if shift > 0.0 and pairs > 0]


def _cdf(u: Floats, bias: float, cells: int, apart: float) -> Floats:
    """P(largest error ≤ u) for the worst-case biases, in units of the noise scale.

    As many cells as possible have the largest bias. No other biases are worse: P(|c + L| ≤ a) is
    log-concave in c, so the product over cells is smallest at a vertex of the polytope of biases.
    Proof: docs/proofs/frequencies.md (1), (2).
    """
    count, left = moved(cells, apart)
    off = inside(u, apart * bias) ** count
    if left > 0.0:
        off, count = off * inside(u, left * bias) ** 2, count + 2
    with np.errstate(divide="ignore"):
        rest = np.exp((cells - count) * np.log1p(-np.exp(-u))) if cells > count else 1.0
    return np.asarray(off * rest)


# A simultaneous band for all cells if budgets are unrelated to values: a union bound for the
# worst-case shares.
#
# Shares sum to one, so only few cells can have a large sampling variance.
# Proof: docs/proofs/frequencies.md (6), (10), (11).
# Proof: docs/proofs/tables.md (9), (12).

_SHARES = np.concatenate([[0.0], np.geomspace(2.0**-12, 0.5, 133)])
_RATES = np.concatenate([np.linspace(0.05, 0.95, 19), [1.0]])


class Union:
    """Union bound on P(any cell has an error above `a`), for all shares of the categories.

    Guarantee:
        If budgets are unrelated to values, `beyond(a)` is at least P(max_j |S_j + z_j| > a) for all
        shares, with sampling errors S and noises z. Proof: docs/proofs/frequencies.md (10), (11).
        Proof: docs/proofs/tables.md (9), (12).

    Args:
        weighing: the estimator, which uses everyone; its scale is the noise scale of each cell.
        cells: number of categories.
        sigma: a σ > 0 with P(±S_j > s) ≤ exp(−s²/2σ²) for every cell.
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
        # Chernoff rates up to the steepest rate of the noise. Above 50/σ they are useless, and
        # above 700/heaviest they overflow.
        unit = min(steepest / scale if scale > 0.0 else math.inf, 50.0 / sigma, 700.0 / heaviest)
        self._rates = unit * _RATES
        noise = _log_envelope(self._rates * scale, weighing.closed)
        per_share = np.expm1(self._rates * heaviest) - self._rates * heaviest
        self._exponents = _SHARES[:, None] * (spread / heaviest**2 * per_share) + noise
        varied = _SHARES[1:] * (1.0 - _SHARES[1:])
        self._nearly = nearly_gaussian(weighing, varied) if sampled else None

    def beyond(self, a: float) -> float:
        """Bound on the probability that the error of any cell exceeds `a`."""
        chernoff = np.exp(np.minimum(self._exponents - self._rates * a, 0.0)).min(axis=1)
        each = 2.0 * np.minimum(chernoff, _tail(self._weighing, a, self._sigma))
        each[0] = 2.0 * _alone(self._weighing, a)
        if self._nearly is not None:
            each[2:] = np.minimum(each[2:], self._nearly.beyond(a))
            # One person can be split between cells, so the variance can be any v ≤ p(1 − p). The
            # running maximum over shares covers all these variances.
            each = np.maximum.accumulate(each)
        return _worst_shares(each, self._cells)

    def quantile(self, beta: float) -> float:
        """A bound on the errors of all cells that fails with probability at most β."""
        high = self._sigma + self._weighing.scale
        while self.beyond(high) > beta:
            high *= 2.0
        return bisect(lambda a: self.beyond(a) - beta, 0.0, high)


def _log_envelope(rates: Floats, closed: ClosedNoise | None) -> Floats:
    """For each rate λ, an ln K with P(noise > z) ≤ K·e^{−λz} for every z, at scale 1."""
    if closed is not None:
        return closed.log_envelope(rates)
    with np.errstate(divide="ignore"):
        noise = -np.log1p(-np.square(rates))
    # At rate 1: the tail of Laplace noise is at most ½·e^{−z} for every z.
    return np.where(rates >= 1.0 - 1e-12, -math.log(2.0), noise)


def _tail(weighing: Weighing, a: float, sigma: float) -> float:
    """Bound on P(S + noise > a) for one cell, with Hoeffding's bound on the tail of S.

    Proof: docs/proofs/risk.md (13). Proof: docs/proofs/tables.md (2).
    """
    if weighing.closed is None or weighing.scale <= 0.0:
        return tail(a, sigma, weighing.scale)
    return weighing.closed.tail(a / weighing.scale, sigma / weighing.scale)


def _alone(weighing: Weighing, a: float) -> float:
    """P(noise > a) for one cell."""
    if weighing.scale <= 0.0:
        return 0.0
    if weighing.closed is not None:
        return float(weighing.closed.exceeds(a / weighing.scale))
    return 0.5 * math.exp(-a / weighing.scale)


def _worst_shares(each: Floats, cells: int) -> float:
    """Bound on Σ_j h(p_j) over all shares p that sum to one, for an increasing h known on a grid.

    For every Lagrange multiplier μ the sum is at most μ + k·max_p(h(p) − μ·p). Between two grid
    points, h is at most its value at the upper point, and p is at least the lower point. A share p
    above ½ is treated as 1 − p. Proof: docs/proofs/frequencies.md (11).
    """
    lower = np.concatenate([[0.0], _SHARES[:-1]])
    prices = (each[1:] - each[0]) / _SHARES[1:]
    gains = each[None, :] - prices[:, None] * lower[None, :]
    return float((prices + cells * gains.max(axis=1)).min())


COINS = 4.0
"""Squared change of a cell if one person is left out, in units of (half the person's weight)². A
cell changes by the whole weight; a mean changes by half of it."""

_SPLITS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def squares(estimator: Weighing | Moments, assumption: Assumption, cells: int) -> Floats:
    """The worst-case expected sum of squared errors over all cells.

    Proof: docs/proofs/tables.md (6).

    Args:
        estimator: one estimator, or the moments of many; its scale is the noise scale of each cell.
        assumption: the assumption about the data.
        cells: number k ≥ 2 of categories.

    Returns:
        The risk. It is exact if budgets are unrelated to values. It is also exact for the given
        people if budgets may be related to values in any way. Otherwise it is a proven upper bound.
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
    """The worst-case factor of Σw² for a sample, or of Σ(w − 1/n)² for a random permutation.

    The worst case has equal shares, because they maximize 1 − Σp². For a permutation, the counts of
    n people are as equal as possible.
    Proof: docs/proofs/tables.md (6).
    """
    if sampled:
        return 1.0 - 1.0 / cells
    each, more = divmod(n, cells)
    alike = more * (each + 1) ** 2 + (cells - more) * each**2
    return (n * n - alike) / (n * (n - 1))


def noise_square(cells: int, closed: ClosedNoise | None) -> float:
    """E Σ_j noise_j² at scale 1. Proof: docs/proofs/tables.md (1)."""
    return 2.0 * cells if closed is None else closed.square


def noise_per_square(assumption: Assumption, n: int, cells: int, noise: SumNoise) -> float:
    """The c for which `squares` is proportional to Σw² + c/(Σe)².

    It exists if budgets are unrelated to values.
    """
    square = noise.moves**2 * noise_square(cells, noise.closed)
    return square / mixed(n, cells, sampled=assumption.sampled)


def _sampled_squares(estimator: Weighing | Moments, assumption: Assumption, cells: int) -> Floats:
    """Bound on the sum of squared errors for a population, without noise and random inclusion.

    Budgets may be related to values. The bounds are the same as in `_sampled_error`, for the ℓ2
    norm of all errors.
    Proof: docs/proofs/tables.md (6).
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
    """The worst-case expected square of the largest error of any cell.

    Proof: docs/proofs/frequencies.md (1), (3), (5).

    Args:
        weighing: the estimator; its scale is the noise scale of each cell.
        assumption: the assumption about the data.
        cells: number k ≥ 2 of categories.

    Returns:
        The risk. For the given people it is exact, up to numerical integration, if budgets may be
        related to values in any way and everyone is used. Otherwise it is a proven upper bound,
        which combines the ℓ2 norm of the sampling errors and the largest of k noises by the
        triangle inequality. If the noise sums to zero, 1 − 1/k of the sum of squares is a second
        bound.

    Reference:
        Theorem C.2 of paper *correlated* has the same rate; the constants are our own.
    """
    if not math.isfinite(weighing.scale):
        return math.inf
    bound = _largest_square(weighing, assumption, cells)
    if weighing.closed is None:
        return bound
    # Among errors that sum to zero, the largest square is at most 1 − 1/k of the sum of squares.
    return min(bound, (1.0 - 1.0 / cells) * float(squares(weighing, assumption, cells)))


def _largest_square(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """Bound on the expected largest square, by the triangle inequality.

    It is exact for the given people if everyone is used and budgets may be related to values in any
    way. Proof: docs/proofs/frequencies.md (1), (2), (3), (5).
    """
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
    """Bound on the root mean square of the largest error without noise, for a population.

    Budgets may be related to values. If they may be related in any way, the bound is the bias among
    the sampled people plus the ℓ2 sampling error of their unweighted shares. If shares at different
    budgets differ by at most δ, there are two further bounds. They add the sampling error of the
    weighted shares, δ times the bias, and the sampling error of n draws from shares that differ by
    at most δ. Proof: docs/proofs/frequencies.md (5).
    """
    share = 1.0 - 1.0 / cells
    coins = math.sqrt(weighing.jitter)
    anything = weighing.bias + share / math.sqrt(weighing.n)
    if assumption.anything:
        return anything + coins
    apart = assumption.apart
    drawn = math.sqrt(share * min(cells * apart * apart / 4.0, share) / weighing.n)
    own = share * math.sqrt(weighing.square)
    # The same terms combined as orthogonal errors in ℓ2. The biases satisfy |c_j| ≤ δb and Σ|c_j| ≤
    # 2b.
    far = weighing.bias * math.sqrt(share * min(2.0 * apart, cells * apart * apart))
    joined = math.hypot(own, far + drawn)
    return min(anything, own + apart * weighing.bias + drawn, joined) + coins


def quantile(weighing: Weighing, assumption: Assumption, cells: int, confidence: float) -> float:
    """Quantile of the largest error of any cell at this confidence.

    Proof: docs/proofs/frequencies.md (1), (4), (5).

    Args:
        weighing: the estimator; its scale is the noise scale of each cell.
        assumption: the assumption about the data.
        cells: number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        The quantile. It is exact for the given people if budgets may be related to values in any
        way and everyone is used. Otherwise it is a proven upper bound: a quantile of the sampling
        error plus a quantile of the noise, with β split between the two. `band` is sharper.

    Reference:
        Theorem C.1 of paper *correlated* has the same rate; the constants are our own.
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
    """Quantile for the given people, if shares at different budgets differ by at most `apart`.

    Proof: docs/proofs/frequencies.md (1), (2).
    """
    if weighing.keep is None:
        return largest_quantile(weighing.bias, weighing.scale, cells, beta, apart, weighing.closed)
    return apart * weighing.bias + _split_quantile(weighing, 0.0, cells, beta)


def _split_quantile(weighing: Weighing, square: float, cells: int, beta: float) -> float:
    """A quantile of the error without noise plus a quantile of noise, for the best split of β.

    Proof: docs/proofs/frequencies.md (4).
    """
    sigma = math.sqrt(square + COINS * keep_proxy(weighing)) / 2.0
    return min(
        sigma * _sampling_factor(cells, share * beta)
        + weighing.scale * noise_factor(cells, (1.0 - share) * beta, weighing.closed)
        for share in _SPLITS
    )


def largest_aim(weighing: Weighing, assumption: Assumption, cells: int) -> float:
    """Objective for choosing weights by the largest error: an approximation of `largest_square`.

    It is not a bound. If budgets are unrelated to values, it is the value in the Gaussian limit.
    For the given people with budgets related to values, it is the value for independent noise of
    the same size. Proof: docs/proofs/tables.md (10), (11).
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
    """Objective for choosing weights by PAC errors: an approximation of `band`, not a bound.

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
    """Whether there are two cells whose noise sums to zero: their errors differ only in sign."""
    return cells == 2 and weighing.closed is not None


def share_error(weighing: Weighing, assumption: Assumption, confidence: float) -> float:
    """Quantile of the error of one share at this confidence.

    Proof: docs/proofs/frequencies.md (7).
    """
    return mean.quantile(weighing, assumption, confidence, coins=COINS)


def band(weighing: Weighing, assumption: Assumption, cells: int, confidence: float) -> float:
    """Half-width of a simultaneous band for all cells. Proof: docs/proofs/frequencies.md (6).

    Args:
        weighing: the estimator; its scale is the noise scale of each cell.
        assumption: the assumption about the data.
        cells: number k ≥ 2 of categories.
        confidence: strictly between 0 and 1.

    Returns:
        The half-width. It is exact for the given people if budgets may be related to values in any
        way and everyone is used. Otherwise it is a proven upper bound: `quantile` or, if budgets
        are unrelated to values, the `Union` bound if it is smaller.
    """
    if _one(weighing, cells):
        return share_error(weighing, assumption, confidence)
    error = quantile(weighing, assumption, cells, confidence)
    if assumption.related is not False or weighing.keep is not None or not math.isfinite(error):
        return error
    sigma = math.sqrt(_proxy(weighing, assumption)) / 2.0
    if sigma <= 0.0:
        return min(error, weighing.scale * noise_factor(cells, 1.0 - confidence, weighing.closed))
    union = Union(weighing, cells, sigma, sampled=assumption.sampled)
    return min(error, union.quantile(1.0 - confidence))


@lru_cache(maxsize=256)
def noise_factor(cells: int, beta: float, closed: ClosedNoise | None = None) -> float:
    """The quantile of the largest absolute value of k noises of scale 1.

    Proof: docs/proofs/frequencies.md (4). Proof: docs/proofs/tables.md (3).
    """
    if closed is not None and cells <= MANY:
        return largest_quantile(0.0, 1.0, cells, beta, closed=closed)
    return -math.log(-math.expm1(math.log1p(-beta) / cells))


def _proxy(weighing: Weighing, assumption: Assumption) -> float:
    """A v with P(S_j > s) ≤ exp(−2s²/v) for every cell, if budgets are unrelated to values."""
    return weighing.square if assumption.sampled else permutation_proxy(weighing)


def _sampling_factor(cells: int, beta: float) -> float:
    """A z with P(largest sampling error > z·σ) ≤ β: Hoeffding's bound for each cell and sign.

    Proof: docs/proofs/frequencies.md (4).
    """
    return math.sqrt(2.0 * math.log(2.0 * cells / beta))


def _square(weighing: Weighing, assumption: Assumption) -> float:
    """Σ_j Var(S_j) / Σ_j p_j(1 − p_j), if budgets are unrelated to values."""
    if assumption.sampled:
        return weighing.square
    return weighing.spread * weighing.n / (weighing.n - 1)


@lru_cache(maxsize=64)
def harmonic(cells: int) -> tuple[float, float]:
    """Mean and variance of the largest of k exponential variables: Σ 1/i and Σ 1/i².

    Proof: docs/proofs/frequencies.md (3).
    """
    inverse = 1.0 / np.arange(1.0, cells + 1.0)
    return float(inverse.sum()), float(inverse @ inverse)


def _joined(error: float, weighing: Weighing, cells: int) -> float:
    """Bound on E(X + M)² for independent X and M, with E X² = error² and M the largest noise.

    Proof: docs/proofs/frequencies.md (3).
    """
    scale = weighing.scale
    if weighing.closed is not None and cells <= MANY:
        mean, square = weighing.closed.largest()
    else:
        mean, variance = harmonic(cells)
        square = mean * mean + variance
    return error * error + scale * (2.0 * error * mean + scale * square)


# Projection onto the simplex.


def project(point: Floats) -> Floats:
    """Project a point onto the simplex: the nearest shares in ℓ2.

    Proof: docs/proofs/frequencies.md (9).

    The projection is max(x − θ, 0), with θ such that the shares sum to one. One sort finds θ. The
    simplex is convex and contains the true shares, so projection never increases the ℓ2 error.

    Args:
        point: any finite numbers.

    Returns:
        Shares in the same order.
    """
    point = point - point.max()  # a common shift keeps the sums small
    ordered = np.sort(point)[::-1]
    sums = np.cumsum(ordered)
    # Σ_{j ≤ i} (x_j − x_i) − 1 grows with i. From the first i where it is not negative, the
    # projected coordinates are zero.
    spare = sums - np.arange(1, len(ordered) + 1) * ordered
    positive = max(int(np.searchsorted(spare, 1.0, side="left")), 1)
    shares = np.maximum(point - (sums[positive - 1] - 1.0) / positive, 0.0)
    return np.asarray(shares / shares.sum())
