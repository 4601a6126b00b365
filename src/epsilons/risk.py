"""How far off an estimate can be: the one place where risk is computed.

An estimator on a unit range is a weight for each person, Laplace noise, and perhaps a coin for each
person that decides whether they are used at all. `Weighing` holds that; `mse` and `quantile` give
its worst-case risk under an assumption. Allocation minimises these functions, plans forecast with
them and intervals ask them. The formulas are derived in `docs/proofs/risk.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epsilons.budgets import Floats, Integers, summed

_LARGEST_RATIO = 1e12


@dataclass(frozen=True)
class Moments:
    """The sums over people that mean squared error depends on, for many estimators at once.

    A `Weighing` has them too, under the same names. The fields are arrays of one shape.

    Attributes:
        n: the number of people.
        total: Σ w_i.
        spread: Σ (w_i − total/n)².
        bias: ½ Σ |w_i − 1/n|.
        scale: the scale of the Laplace noise.
        jitter: Σ w_i²·(1 − p_i)/p_i, where person i is used with probability p_i.
    """

    n: int
    total: Floats
    spread: Floats
    bias: Floats
    scale: Floats
    jitter: float = 0.0


@dataclass(frozen=True, eq=False)
class Weighing:
    """An estimator on a unit range: Σ w_i·x_i plus Laplace noise.

    Attributes:
        weights: the (expected) weight of each person of a level.
        counts: the number of people of each level.
        scale: the scale of the Laplace noise.
        keep: the probability with which a person of each level is used; None if all surely are.
    """

    weights: Floats
    counts: Integers
    scale: float
    keep: Floats | None = None

    @cached_property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def total(self) -> float:
        """Σ w_i."""
        return summed(self.counts, self.weights, self.n)

    @cached_property
    def spread(self) -> float:
        """Σ (w_i − total/n)², without the cancellation of Σ w_i² − total²/n."""
        off_centre = self.weights - self.total / self.n
        np.multiply(off_centre, off_centre, out=off_centre)
        return summed(self.counts, off_centre, self.n)

    @cached_property
    def bias(self) -> float:
        """½ Σ |w_i − 1/n|."""
        distance = self.weights - 1.0 / self.n
        np.abs(distance, out=distance)
        return 0.5 * summed(self.counts, distance, self.n)

    @cached_property
    def jitter(self) -> float:
        """Σ w_i²·(1 − p_i)/p_i."""
        if self.keep is None:
            return 0.0
        used = self.keep > 0
        keep = self.keep[used]
        return float(self.counts[used] @ (self.weights[used] ** 2 * (1.0 - keep) / keep))


def finite_population(n: int) -> float:
    """The factor by which sampling without replacement changes the worst variance, at total 1.

    The variance of Σ w_i·x_σ(i) is V·n/(n−1)·Σ(w_i − 1/n)²; the largest population variance V of
    n values in a unit range is ¼ for even n and ¼·(1 − 1/n²) for odd n.
    """
    return n / (n - 1) if n % 2 == 0 else (n + 1) / n


def noise_per_square(assume: str, n: int) -> float:
    """The constant c with which mean squared error is proportional to Σw² + c·scale²."""
    return 8.0 / (finite_population(n) if assume == "shuffled" else 1.0)


def mse(estimator: Weighing | Moments, assume: str) -> Floats:
    """The exact worst-case mean squared error on a unit range.

    Args:
        estimator: one estimator, or the moments of many.
        assume: "iid" for the population mean; "shuffled" or "correlated" for these very people's.

    Returns:
        The largest mean squared error over all data (or distributions) on a unit range; an array
        of the shape of the moments.

    Reference:
        Paper *limits* (1) for iid with total 1; docs/proofs/risk.md for the rest. Printed risks of
        paper *correlated* (6), (7) are of the same order, not equal.
    """
    n, total = estimator.n, estimator.total
    pull = (1.0 - total) ** 2
    if assume == "iid":
        data = 0.25 * np.maximum(pull, estimator.spread + total**2 / n)
    elif assume == "shuffled":
        # At the vertices of the cube the mean is j/n: the worst j is 0, or the one nearest to n/2.
        odd = (n % 2) / n**2
        balanced = pull * odd + (1.0 - odd) * n / (n - 1) * estimator.spread
        data = 0.25 * np.maximum(pull, balanced)
    else:
        data = np.square(estimator.bias)
    with np.errstate(over="ignore"):
        return np.asarray(data + 0.25 * estimator.jitter + 2.0 * np.square(estimator.scale))


def quantile(weighing: Weighing, assume: str, confidence: float) -> float:
    """An error on a unit range that is not exceeded with probability `confidence`.

    Args:
        weighing: the estimator.
        assume: "iid", "shuffled" or "correlated".
        confidence: strictly between 0 and 1.

    Returns:
        The exact worst-case quantile where nothing but the noise is random (`correlated`, everyone
        surely used); otherwise a proven bound: Hoeffding's tail of the weighted sum, integrated
        against the exact law of the Laplace noise.

    Reference:
        docs/proofs/risk.md. Paper *correlated* (46)-(62) splits the error in two halves, and is
        wider by a factor of two and more.
    """
    scale, beta = weighing.scale, 1.0 - confidence
    if not math.isfinite(scale):
        return math.inf
    jitter = _keep_proxy(weighing)
    related = _deviation(weighing.bias, jitter, scale, beta)
    if assume == "correlated":
        return related
    pull = abs(1.0 - weighing.total) / 2.0
    if assume == "iid":
        square = weighing.spread + weighing.total**2 / weighing.n
        return _deviation(pull, square + jitter, scale, beta)
    shuffled = _deviation(pull, permutation_proxy(weighing) + jitter, scale, beta)
    return min(shuffled, related)


def of(weighing: Weighing, *, assume: str, loss: str, confidence: float) -> float:
    """The risk that `loss` names: mean squared error, or the error not exceeded."""
    if loss == "mse":
        return float(mse(weighing, assume))
    return quantile(weighing, assume, confidence)


def is_exact(weighing: Weighing, *, assume: str, loss: str) -> bool:
    """Whether `of` gives the exact worst case, or a proven bound on it."""
    return loss == "mse" or (assume == "correlated" and weighing.keep is None)


def permutation_proxy(weighing: Weighing) -> float:
    """The v for which the shuffled sum S has P(S − E S > s) ≤ exp(−2s²/v), for data in [0, 1].

    Reveal the shuffled values one person at a time. Given the past, the conditional mean of S moves
    by (w_k − mean of the weights still to come)·(x_k − mean of the values left), which lies in an
    interval of that first factor's length; by Hoeffding's lemma v is the sum of their squares. The
    order is ours to choose: the weights farthest from the mean first, so that the last steps, which
    count for more than their share of the variance, are small.
    """
    mean = weighing.total / weighing.n
    order = np.argsort(-np.abs(weighing.weights - mean), kind="stable")
    counts = weighing.counts[order].astype(np.float64)
    # Relative to the mean, so that equal weights give exactly nothing.
    weights = weighing.weights[order] - mean
    after = weighing.n - np.cumsum(counts)
    held = counts * weights
    sum_after = np.append(np.cumsum(held[::-1])[::-1][1:], 0.0)
    inner = after > 0
    gap = weights[inner] - sum_after[inner] / after[inner]
    # Σ 1/r² for r from `after` to `after + count − 1`: the first term, and an integral above the
    # rest (1/r² is convex, so it lies below its mean over [r − ½, r + ½]).
    first, last = after[inner], after[inner] + counts[inner]
    reciprocal = 1.0 / first**2 + 1.0 / (first + 0.5) - 1.0 / (last - 0.5)
    return float(np.sum((first * gap) ** 2 * reciprocal))


def _keep_proxy(weighing: Weighing) -> float:
    """The v of the coins that decide who is used: Kearns and Saul's constant for each coin."""
    if weighing.keep is None:
        return 0.0
    inner = (weighing.keep > 0.0) & (weighing.keep < 1.0)
    keep, weights = weighing.keep[inner], weighing.weights[inner]
    odds = np.log1p(-keep) - np.log(keep)
    balanced = np.abs(odds) < 1e-6
    safe = np.where(balanced, 1.0, odds)
    variance = np.where(balanced, 0.25, (1.0 - 2.0 * keep) / (2.0 * safe))
    return float(weighing.counts[inner] @ (variance * (weights / keep) ** 2))


def _deviation(shift: float, square: float, scale: float, beta: float) -> float:
    """The α with P(|c + S + L| > α) ≤ β for every |c| ≤ shift.

    S has P(±S > s) ≤ exp(−2s²/square); L is Laplace of this scale, and independent.
    """
    if square <= 0.0:
        return _laplace_quantile(shift, scale, beta)
    sigma = math.sqrt(square) / 2.0

    def exceeds(beyond: float) -> bool:
        """Whether the error exceeds shift + beyond too often: a sum may not tell the two apart."""
        return _tail(beyond, sigma, scale) + _tail(shift + beyond, sigma, scale) > beta

    low, high = 0.0, sigma + scale
    while exceeds(high):
        low, high = high, 2.0 * high
    return shift + _bisect(exceeds, low, high)


def _laplace_quantile(shift: float, scale: float, beta: float) -> float:
    """The exact quantile of |shift + L|, with L Laplace: the largest over all smaller shifts."""
    if scale <= 0.0:
        return shift
    ratio = shift / scale
    log_cosh = ratio + math.log1p(math.exp(-2.0 * ratio)) - math.log(2.0)
    alpha = scale * (log_cosh - math.log(beta))
    if alpha >= shift:
        return alpha
    # β > ½: the error may be smaller than the shift. asinh of (1−β)·e^ratio, without overflow.
    log_argument = math.log1p(-beta) + ratio
    if log_argument > 350.0:
        return scale * (log_argument + math.log(2.0))
    return scale * math.asinh(math.exp(log_argument))


def _tail(alpha: float, sigma: float, scale: float) -> float:
    """A bound on P(S + L > alpha): ∫ min(1, exp(−(alpha − l)₊²/2σ²)) dP_L(l), in closed form."""
    if alpha <= 0.0:
        return 1.0
    z = alpha / sigma
    bell = math.exp(-min(z * z / 2.0, 745.0))
    if sigma > _LARGEST_RATIO * scale:
        return bell  # the noise is too small for a float to tell
    ratio = sigma / scale
    fall = math.exp(-min(alpha / scale, 745.0))
    gap = ratio - z
    if gap > 0.0:
        near = 0.5 * _erfcx(gap / math.sqrt(2.0)) * bell
    else:
        near = 0.5 * math.exp(ratio * ratio / 2.0 - ratio * z) * math.erfc(gap / math.sqrt(2.0))
    far = 0.5 * _erfcx((z + ratio) / math.sqrt(2.0)) * bell
    rest = 0.5 * _erfcx(ratio / math.sqrt(2.0)) * fall
    return 0.5 * fall + ratio * math.sqrt(math.pi / 2.0) * (near - rest + far)


def _erfcx(x: float) -> float:
    """e^{x²}·erfc(x) for x ≥ 0, without overflow."""
    if x < 25.0:
        return math.exp(x * x) * math.erfc(x)
    inverse = 1.0 / (2.0 * x * x)
    series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse * (1.0 - 7.0 * inverse)))
    return series / (x * math.sqrt(math.pi))


def _bisect(exceeds: Callable[[float], bool], low: float, high: float) -> float:
    """The point where `exceeds` turns false, approached from the side where it is false."""
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high
