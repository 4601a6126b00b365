"""Risks of a mean: worst-case mean squared errors, and quantiles of the error.

Proof: docs/proofs/risk.md (4), (6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

import numpy as np

from epsilons.budgets.levels import dot
from epsilons.risk.tails.gaussian import nearly_gaussian, upper_tail
from epsilons.risk.tails.laplace import Above, bisect, deviation, kearns_saul
from epsilons.risk.weighing import Assumption, Moments, Weighing
from epsilons.types import Floats

# The error of a weighted mean of a sample plus noise, for every population.
#
# Hoeffding's bound holds for every sum of bounded terms. But a sum of many small terms is nearly
# Gaussian. By the Berry–Esseen theorem its probabilities differ from Gaussian probabilities by a
# term that decreases with the number of terms, unless the population has a very small variance. In
# that case Bennett's bound is small. Adding noise brings a sum even closer to a Gaussian. So the
# bound here is the worst case over the variance of the population.
# Proof: docs/proofs/risk.md (1), (2), (3), (18), (19), (20).

BERRY_ESSEEN: Final = 0.56
"""Shevtsova's constant (2010), for independent terms that are not identically distributed."""

WIDEST_VARIANCE: Final = 0.25
"""Largest variance of values in a unit range."""

_NEAR: Final = 0.25 * (1.0 - (np.arange(13.0) / 20.0) ** 2)
_FINE: Final = np.append(_NEAR, 0.16 * 2.0 ** (-np.arange(1.0, 97.0) / 16.0))
_COARSE: Final = np.append(_NEAR, _FINE[len(_NEAR) + 3 :: 4])
"""Ends of bins of variances, descending. Below the last end only Bennett's bound is used. The ends
are fixed, so a bound for a larger variance is never smaller."""

_STEPS: Final = 0.1 * np.sinh(np.arange(407.0) / 80.0)
_CELLS: Final = np.concatenate([-_STEPS[:0:-1], _STEPS])
"""Left ends of the cells (intervals) of errors, in units of Hoeffding's deviation, finer near 0."""

_LARGEST_RATIO: Final = 1e9


def hoeffding(square: float) -> tuple[Floats, Floats]:
    """Tail bounds, like `SampleError.chances`, of any S with P(S > s) ≤ exp(−2s²/square).

    Proof: docs/proofs/risk.md (1).
    """
    return _CELLS * (math.sqrt(square) / 2.0), np.exp(-0.5 * np.maximum(_CELLS, 0.0) ** 2)[None, :]


class SampleError:
    """Bound on P(|Σw·(X − μ) + L| > a), for a sample X from any population on a unit range.

    Guarantee:
        `beyond(a)` is at least P(|Σw·(X − μ) + L| > a) for every population on a unit range with at
        most the given variance. The X are independent. L is Laplace noise, the noise of one cell in
        a table whose noise sums to zero, or the noise of one of several means.
        Proof: docs/proofs/risk.md (18), (19), (20).

    Args:
        weighing: the weights and the noise of an estimator that uses everyone.
        variance: largest variance of the population.
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
        # The Berry–Esseen term is largest at the lower end of a bin of variances, because E|X − μ|³
        # ≤ v·max(μ, 1 − μ) and μ(1 − μ) ≥ v.
        lower = ends[1:]
        skew = (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * lower, 0.0))) / (2.0 * np.sqrt(lower))
        off = BERRY_ESSEEN * skew * (cube / square**1.5)
        tails[:-1] = np.minimum(tails[:-1], gaussian[first:] + off[:, None])
        # For each bin of variances, a bound on P(S > x) at the start of each cell of x.
        self._tails = np.minimum(tails, np.exp(-0.5 * np.maximum(_CELLS, 0.0) ** 2))
        self._nearly = nearly_gaussian(weighing, ends[::-1])

    @property
    def chances(self) -> tuple[Floats, Floats]:
        """Starts x of the cells of errors, and a bound on P(S > x) for each bin of variances."""
        return self._from, self._tails

    def beyond(self, a: float) -> float:
        """Bound on the probability that the error exceeds `a` ≥ 0."""
        if self._sigma > _LARGEST_RATIO * self._scale:
            cell = int(np.searchsorted(self._from, a, side="right")) - 1
            return min(2.0 * float(self._tails[:, cell].max()), 1.0)
        # S + L > a means that S > x with x = a − L. Sum over the cells of x, with P(S > x) ≤ 1
        # below the first cell.
        above = self._noise_above(a - self._from)
        masses = np.append(above[1:], 1.0) - above
        either = 2.0 * (self._tails @ masses + above[0])
        if self._nearly is not None:
            either[:-1] = np.minimum(either[:-1], self._nearly.beyond(a)[::-1])
        return min(float(either.max()), 1.0)

    def _noise_above(self, at: Floats) -> Floats:
        """P(L > at) for the noise L; an upper bound if it is the noise of a large table."""
        if self._exceeds is not None:
            return self._exceeds(at / self._scale)
        half = 0.5 * np.exp(-np.minimum(np.abs(at) / self._scale, 745.0))
        return np.where(at >= 0.0, half, 1.0 - half)

    def deviation(self, beta: float) -> float:
        """A bound on the error that is exceeded with probability at most beta."""
        high = self._sigma + self._scale
        while self.beyond(high) > beta:
            high *= 2.0
        return bisect(lambda a: self.beyond(a) - beta, 0.0, high)


def _noise_of(weighing: Weighing) -> Above | None:
    """The tail function of noise that is not Laplace noise, in units of its scale."""
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
    """The largest Gaussian tail P(G > x) for variances in each bin, at the starts x of cells.

    Proof: docs/proofs/risk.md (18).
    """
    factors = 0.5 / np.sqrt(ends[:, None])
    # For x > 0 the upper end of a bin has the larger tail, for x < 0 the lower end.
    at = np.where(_CELLS > 0.0, factors[:-1] * _CELLS, factors[1:] * _CELLS)
    return np.array([[upper_tail(z) for z in row] for row in at.tolist()])


def _bennett(x: Floats, variances: Floats, largest: float) -> Floats:
    """Bennett's bound on P(S > x), for ascending x and terms of at most `largest`.

    Proof: docs/proofs/risk.md (2).
    """
    above = int(np.searchsorted(x, 0.0, side="right"))
    u = x[above:] * largest / variances
    # h(u) = (1 + u)·ln(1 + u) − u loses digits for small u. There the lower bound u²/2 − u³/6 is
    # used.
    h = (1.0 + u) * np.log1p(u) - u
    small = u < 1e-3
    h[small] = u[small] ** 2 / 2.0 - u[small] ** 3 / 6.0
    found = np.ones((len(variances), len(x)))
    found[:, above:] = np.exp(-np.minimum(variances / largest**2 * h, 745.0))
    return found


WIDEST: Final = 0.5
"""Largest standard deviation of values in a unit range."""

SAMPLING: Final = 0.3
"""Part of an error probability that is used for the sampling of people. It is a constant: budgets
are sampled together with the values, so a choice by budgets could depend on the sampling error."""

_TINY: Final = 1e-150
"""Sums of squared weights below this are too small to be divisors."""

ON_ANY_RANGE: Final = 6.0
"""Divisor of the error probability of the sample mean. With it the bound holds simultaneously for
all ranges, also if people have several rows or no valid row.
Proof: docs/proofs/risk.md (26)."""


def finite_population(n: int) -> float:
    """Factor of the worst-case variance for sampling without replacement, for weights with sum 1.

    The variance of Σ w_i·x_σ(i) is V·n/(n−1)·Σ(w_i − 1/n)². The largest variance V of n values in a
    unit range is ¼ for even n and ¼·(1 − 1/n²) for odd n. Proof: docs/proofs/risk.md (4).
    """
    return n / (n - 1) if n % 2 == 0 else (n + 1) / n


def noise_per_square(assumption: Assumption, n: int, spread: float = WIDEST) -> float:
    """The c for which the mean squared error is proportional to Σw² + c·scale².

    Proof: docs/proofs/risk.md (4), (10).
    """
    noise = 2.0 / (spread * spread)
    if assumption.sampled:
        return noise
    # For odd n the largest variance of n values is below ¼.
    return noise / (finite_population(n) if spread == WIDEST else n / (n - 1))


def leaning(estimator: Weighing | Moments, apart: float) -> Floats:
    """The largest bias if the means of people at different budgets differ by at most `apart`.

    All people at one budget level have the same weight. So the bias is Σ(W_l − n_l/n)·m_l, where
    W_l is the total weight of a level and m_l is its mean relative to the middle of the range. The
    worst-case means are at the ends of a window of length `apart`: overweighted levels at one end,
    all others at the other end.
    Proof: docs/proofs/risk.md (4).
    """
    pull = np.abs(1.0 - estimator.total) / 2.0
    return np.asarray(apart * estimator.bias + (1.0 - apart) * pull)


def mse(estimator: Weighing | Moments, assumption: Assumption, spread: float = WIDEST) -> Floats:
    """The worst-case mean squared error on a unit range. Proof: docs/proofs/risk.md (4), (5), (10).

    Args:
        estimator: one estimator, or the moments of many.
        assumption: the assumption about the data.
        spread: largest standard deviation of the data; ½ unless the user guessed it.

    Returns:
        The largest mean squared error over all data (or distributions) on a unit range that the
        assumption allows, as an array of the shape of the moments. It is exact, with two
        exceptions. If people are included at random and budgets are related to values within δ, it
        is a proven bound. In a population with budgets related to values, budgets are also random.
        There the proven bound uses root mean squares of the moments over all samples, but the
        result uses the moments of the given budgets.

    Reference:
        Paper *limits* (1), for a population with budgets unrelated to values, and weights with sum
        1. The risks in paper *correlated* (6), (7) have the same rate, but other constants.
    """
    n, total = estimator.n, estimator.total
    pull = (1.0 - total) ** 2
    if spread < WIDEST:
        data = _guessed_square(estimator, assumption, spread)
    elif assumption.related is False and assumption.sampled:
        data = 0.25 * np.maximum(pull, estimator.square)
    elif assumption.related is False:
        # The worst case is a vertex of the unit cube, with mean j/n. The worst j is 0 or the
        # integer nearest to n/2.
        odd = (n % 2) / n**2
        balanced = pull * odd + (1.0 - odd) * n / (n - 1) * estimator.spread
        data = 0.25 * np.maximum(pull, balanced)
    elif assumption.sampled:
        data = _sampled_square(estimator, assumption)
    else:
        data = np.square(leaning(estimator, assumption.apart))
    with np.errstate(over="ignore"):
        return np.asarray(data + 0.25 * estimator.jitter + 2.0 * np.square(estimator.scale))


def _sampled_square(estimator: Weighing | Moments, assumption: Assumption) -> Floats:
    """Bound on the mean squared error for a population, without noise and random inclusion.

    Budgets may be related to values. Proof: docs/proofs/risk.md (4), (5).
    """
    plain = 0.5 / math.sqrt(estimator.sample)
    anything = np.square(estimator.bias + plain)
    if assumption.anything:
        return anything
    own = 0.25 * estimator.square
    apart = assumption.apart
    return np.minimum(anything, own + np.square(leaning(estimator, apart) + apart * plain))


def _guessed_square(estimator: Weighing | Moments, assumption: Assumption, spread: float) -> Floats:
    """Bound on the mean squared error for at most this spread.

    Noise and random inclusion are not part of it. Proof: docs/proofs/risk.md (10).
    """
    n, variance = estimator.n, spread * spread
    pull = np.square(1.0 - estimator.total)
    own, sample = estimator.square, estimator.sample
    if assumption.related is False:
        drawn = own if assumption.sampled else n / (n - 1) * estimator.spread
        # Values with variance v have a mean within √(¼ − v) of the middle.
        return np.asarray(0.25 * pull + variance * np.maximum(drawn - pull, 0.0))
    far = _guessed_leaning(estimator, assumption.apart, spread)
    if not assumption.sampled:
        return np.square(far)
    anything = np.square(_guessed_leaning(estimator, 1.0, spread) + spread / math.sqrt(sample))
    if assumption.anything:
        return np.asarray(anything)
    drawn = _drawn(assumption, sample, spread)
    return np.minimum(anything, variance * own + np.square(far + drawn))


def _guessed_leaning(estimator: Weighing | Moments, apart: float, spread: float) -> Floats:
    """The largest bias for values with at most this standard deviation.

    By the Cauchy–Schwarz inequality it is at most s·√(n·Σ(w − W/n)²), plus the bias towards the
    middle if the weights do not sum to one.
    Proof: docs/proofs/risk.md (10).
    """
    pull = np.abs(1.0 - estimator.total) / 2.0
    along = spread * np.sqrt(estimator.n * estimator.spread)
    return np.minimum(leaning(estimator, apart), along + pull)


def _drawn(assumption: Assumption, n: float, spread: float) -> float:
    """Root mean square sampling error of the mean of M(ε), the conditional mean given budget ε.

    Proof: docs/proofs/risk.md (4), (10).
    """
    return min(assumption.apart / 2.0, spread) / math.sqrt(n)


def _guessed_quantile(
    weighing: Weighing, assumption: Assumption, spread: float, jitter: float, beta: float
) -> float:
    """An approximate quantile of the error for data with this spread. It is not a bound.

    A Gaussian with variance v has the tail of Hoeffding's bound with square 4v. A bias from budgets
    related to values is added as a shift. See docs/proofs/risk.md (10).
    """
    n, variance = weighing.n, spread * spread
    drawn = weighing.square if assumption.sampled else n / (n - 1) * weighing.spread
    anything = float(_guessed_leaning(weighing, 1.0, spread))
    if assumption.related is False:
        square = 4.0 * variance * drawn + jitter
        found = deviation_of(weighing, _pull(weighing), square, beta)
        if assumption.sampled:
            return min(found, _sample_quantile(weighing, jitter, beta))
        return min(found, deviation_of(weighing, anything, jitter, beta))
    far = float(_guessed_leaning(weighing, assumption.apart, spread))
    if not assumption.sampled:
        return deviation_of(weighing, far, jitter, beta)
    found = deviation_of(weighing, anything, 4.0 * variance / weighing.sample + jitter, beta)
    if assumption.anything:
        return found
    square = 4.0 * (variance * drawn + _drawn(assumption, weighing.sample, spread) ** 2) + jitter
    return min(found, deviation_of(weighing, far, square, beta))


def quantile(
    weighing: Weighing,
    assumption: Assumption,
    confidence: float,
    coins: float = 1.0,
    spread: float = WIDEST,
    times: float = 1.0,
) -> float:
    """Quantile of the error at this confidence, on a unit range. Proof: docs/proofs/risk.md (6).

    Args:
        weighing: the estimator.
        assumption: the assumption about the data.
        confidence: strictly between 0 and 1.
        coins: squared effect of leaving out one person, in units of (half their weight)². It is 1
            if a person who is not used counts as the middle of the range, and 4 if they count as
            the lower end of the range.
        spread: ½, or a guess of the standard deviation. With a guess the result is a Gaussian
            approximation, not a bound.
        times: divisor of the error probability of the sample mean, see `ON_ANY_RANGE`.

    Returns:
        The worst-case quantile. It is exact if only the noise is random, that is, for the given
        people with budgets related to values, if everyone is used. Otherwise it is a proven bound:
        Hoeffding's bound on the weighted sum, integrated against the exact distribution of the
        noise.

    Reference:
        Paper *correlated* (46)-(62) splits the error into two halves. Its bounds are at least twice
        as wide.
    """
    beta = 1.0 - confidence
    if not math.isfinite(weighing.scale):
        return math.inf
    jitter = coins * keep_proxy(weighing)
    if spread < WIDEST:
        return _guessed_quantile(weighing, assumption, spread, jitter, beta)
    if assumption.related is False and assumption.sampled:
        return _sample_quantile(weighing, jitter, beta)

    def far(shift: float, square: float, rest: float) -> float:
        return deviation_of(weighing, shift, square + jitter, rest)

    return reach(weighing, assumption, far, beta, times)


Far: TypeAlias = Callable[[float, float, float], float]
"""Type of an error bound as a function of shift, square and error probability."""


def reach(
    weighing: Weighing, assumption: Assumption, far: Far, beta: float, times: float = 1.0
) -> float:
    """Error bound on a unit range, exceeded with probability at most beta, for any noise.

    Proof: docs/proofs/risk.md (6), (24), (25).

    Args:
        weighing: the estimator; its noise is not used.
        assumption: the assumption about the data.
        far: function of shift, square and error probability that bounds |c + S + noise|, for |c| ≤
            shift and a sum S with P(±S > s) ≤ exp(−2s²/square).
        beta: the error probability.
        times: divisor of the error probability of the sample mean, see `ON_ANY_RANGE`.
    """
    if assumption.related is False and assumption.sampled:
        return far(_pull(weighing), weighing.square, beta)
    if assumption.related is False:
        related = far(weighing.bias, 0.0, beta)
        return min(far(_pull(weighing), permutation_proxy(weighing), beta), related)
    shift = float(leaning(weighing, assumption.apart))
    if not assumption.sampled:
        return far(shift, 0.0, beta)
    return least_split(
        lambda rest: far(weighing.bias, 0.0, rest),
        None if assumption.anything else lambda rest: far(shift, weighing.square, rest),
        assumption.apart,
        lambda part: sampling_reach(weighing.sample, part / times),
        beta,
    )


def _sample_quantile(weighing: Weighing, jitter: float, beta: float) -> float:
    """Bound on the error of a sample: the smaller of Hoeffding's and the nearly Gaussian bound.

    Proof: docs/proofs/risk.md (13), (18).
    """
    pull = _pull(weighing)
    found = deviation_of(weighing, pull, weighing.square + jitter, beta)
    alone = weighing.keep is None and weighing.stairs is None
    if not alone or weighing.square < _TINY:
        return found
    return min(found, pull + SampleError(weighing).deviation(beta))


def sampling_reach(n: float, beta: float, numbers: int = 1) -> float:
    """Hoeffding's bound on the errors of means of n draws in [0, 1].

    Proof: docs/proofs/risk.md (24). With weights: docs/proofs/weights.md (9).

    Args:
        n: number of draws; for a mean with weights a that sum to one, it is 1/Σa².
        beta: probability that any of the errors exceeds the bound.
        numbers: number of means.
    """
    return math.sqrt(math.log(2.0 * numbers / beta) / (2.0 * n))


def least_split(
    anything: Callable[[float], float],
    within: Callable[[float], float] | None,
    apart: float,
    sampling: Callable[[float], float],
    beta: float,
) -> float:
    """The smaller of two error bounds, for a population with budgets related to values.

    Proof: docs/proofs/risk.md (24), (25).

    Args:
        anything: error bound for the given people as a function of the error probability, for
            budgets related to values in any way.
        within: bound on the weighted sum minus its conditional mean given the budgets, for budgets
            related to values within δ; None if they may be related in any way.
        apart: largest difference between the means at different budgets.
        sampling: bound on the difference between the unweighted mean of the people and the
            population mean.
        beta: the error probability to split.
    """
    part, rest = SAMPLING * beta, (1.0 - SAMPLING) * beta
    if within is None:
        return anything(rest) + sampling(part)
    # Budgets determine which of the two bounds is smaller, so both sampling events must hold
    # simultaneously.
    outer = sampling(part / 2.0)
    return min(anything(rest) + outer, within(rest) + apart * outer)


def _pull(weighing: Weighing) -> float:
    """The largest bias towards the middle of the range, if weights do not sum to one."""
    return abs(1.0 - weighing.total) / 2.0


def deviation_of(weighing: Weighing, shift: float, square: float, beta: float) -> float:
    """An α with P(|c + S + noise| > α) ≤ β for every |c| ≤ shift: see `laplace.deviation`."""
    if weighing.stairs is not None:
        return weighing.stairs.deviation(shift, square, beta)
    beside = weighing.closed or weighing.cube
    if beside is not None:
        return beside.deviation(shift, square, weighing.scale, beta)
    return deviation(shift, square, weighing.scale, beta)


def permutation_proxy(weighing: Weighing) -> float:
    """A v with P(S − E S > s) ≤ exp(−2s²/v), for a sum S of randomly permuted data in [0, 1].

    Reveal the permuted values one person at a time. Given the past, the conditional mean of S moves
    by (w_k − mean of the remaining weights)·(x_k − mean of the remaining values). This step is in
    an interval with the length of the first factor. So by Hoeffding's lemma v is the sum of the
    squares of the first factors. The order of people is arbitrary. Here the weights farthest from
    the mean come first, because this makes the last steps small.
    Proof: docs/proofs/risk.md (21), (22).
    """
    mean = weighing.total / weighing.n
    order = np.argsort(-np.abs(weighing.weights - mean), kind="stable")
    counts = weighing.counts[order].astype(np.float64)
    # Weights relative to the mean, so equal weights give exactly 0.
    weights = weighing.weights[order] - mean
    after = weighing.n - np.cumsum(counts)
    held = counts * weights
    sum_after = np.append(np.cumsum(held[::-1])[::-1][1:], 0.0)
    inner = (after > 0) & (counts > 0)  # empty levels have no steps
    gap = weights[inner] - sum_after[inner] / after[inner]
    # Upper bound on Σ 1/r² for r from `after` to `after + count − 1`: the first term plus an
    # integral. 1/r² is convex, so each term is at most its mean over [r − ½, r + ½].
    first, last = after[inner], after[inner] + counts[inner]
    reciprocal = 1.0 / first**2 + 1.0 / (first + 0.5) - 1.0 / (last - 0.5)
    return float(np.sum((first * gap) ** 2 * reciprocal))


def keep_proxy(weighing: Weighing) -> float:
    """The proxy variance v of the random choice of people who are used.

    Proof: docs/proofs/risk.md (23).
    """
    if weighing.keep is None:
        return 0.0
    inner = (weighing.keep > 0.0) & (weighing.keep < 1.0)
    keep, weights = weighing.keep[inner], weighing.weights[inner]
    return dot(weighing.counts[inner], kearns_saul(keep) * (weights / keep) ** 2)
