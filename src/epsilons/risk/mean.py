"""The risk of a mean: worst-case mean squared error, and the error not exceeded.

The formulas are derived in `docs/proofs/risk.md`.
"""

from __future__ import annotations

import math

import numpy as np

from epsilons.risk.tails import deviation, kearns_saul
from epsilons.risk.weighing import Moments, Weighing
from epsilons.types import Floats


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


def quantile(weighing: Weighing, assume: str, confidence: float, coins: float = 1.0) -> float:
    """An error on a unit range that is not exceeded with probability `confidence`.

    Args:
        weighing: the estimator.
        assume: "iid", "shuffled" or "correlated".
        confidence: strictly between 0 and 1.
        coins: the square of what a coin moves, in units of half a weight: 1 where a person who is
            not used counts as the middle of the range, 4 where they count as its lower end.

    Returns:
        The exact worst-case quantile where nothing but the noise is random (`correlated`, everyone
        surely used); otherwise a proven bound: Hoeffding's tail of the weighted sum, integrated
        against the exact law of the noise.

    Reference:
        docs/proofs/risk.md. Paper *correlated* (46)-(62) splits the error in two halves, and is
        wider by a factor of two and more.
    """
    beta = 1.0 - confidence
    if not math.isfinite(weighing.scale):
        return math.inf
    jitter = coins * keep_proxy(weighing)
    related = _deviation(weighing, weighing.bias, jitter, beta)
    if assume == "correlated":
        return related
    pull = abs(1.0 - weighing.total) / 2.0
    if assume == "iid":
        return _deviation(weighing, pull, weighing.square + jitter, beta)
    shuffled = _deviation(weighing, pull, permutation_proxy(weighing) + jitter, beta)
    return min(shuffled, related)


def _deviation(weighing: Weighing, shift: float, square: float, beta: float) -> float:
    """How far the noise of this estimator, a sum and a shift take it: see `tails.deviation`."""
    if weighing.stairs is not None:
        return weighing.stairs.deviation(shift, square, beta)
    return deviation(shift, square, weighing.scale, beta)


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
    inner = (after > 0) & (counts > 0)  # a level that nobody has takes no step
    gap = weights[inner] - sum_after[inner] / after[inner]
    # Σ 1/r² for r from `after` to `after + count − 1`: the first term, and an integral above the
    # rest (1/r² is convex, so it lies below its mean over [r − ½, r + ½]).
    first, last = after[inner], after[inner] + counts[inner]
    reciprocal = 1.0 / first**2 + 1.0 / (first + 0.5) - 1.0 / (last - 0.5)
    return float(np.sum((first * gap) ** 2 * reciprocal))


def keep_proxy(weighing: Weighing) -> float:
    """The v of the coins that decide who is used: Kearns and Saul's constant for each coin."""
    if weighing.keep is None:
        return 0.0
    inner = (weighing.keep > 0.0) & (weighing.keep < 1.0)
    keep, weights = weighing.keep[inner], weighing.weights[inner]
    return float(weighing.counts[inner] @ (kearns_saul(keep) * (weights / keep) ** 2))
