"""The risk of a mean: worst-case mean squared error, and the error not exceeded.

The formulas are derived in `docs/proofs/risk.md`.
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

# The error of a weighted mean of a sample plus Laplace noise, whatever the population is.
#
# Hoeffding's bound is that of a coin, and pays for knowing nothing of the shape of a sum. But a sum
# of many small terms is nearly Gaussian: by Berry and Esseen no probability is off by more than a
# constant that falls with their number, unless the population hardly varies; and if it hardly
# varies, Bennett's bound is small. Beside noise a sum is nearer still to a Gaussian one. So the
# worst population is sought over its variance: docs/proofs/risk.md.

BERRY_ESSEEN: Final = 0.56
"""Shevtsova's constant of 2010, for terms that need not have the same law."""

WIDEST_VARIANCE: Final = 0.25
"""The largest variance of values in a unit range."""

_NEAR: Final = 0.25 * (1.0 - (np.arange(13.0) / 20.0) ** 2)
_FINE: Final = np.append(_NEAR, 0.16 * 2.0 ** (-np.arange(1.0, 97.0) / 16.0))
_COARSE: Final = np.append(_NEAR, _FINE[len(_NEAR) + 3 :: 4])
"""Ends of pieces of variances, falling: what varies less than the last is Bennett's alone. They are
fixed, so that a bound for a larger variance is never smaller."""

_STEPS: Final = 0.1 * np.sinh(np.arange(407.0) / 80.0)
_CELLS: Final = np.concatenate([-_STEPS[:0:-1], _STEPS])
"""Where cells of errors begin, in units of Hoeffding's deviation, finer near 0: beyond the last is
one more."""

_LARGEST_RATIO: Final = 1e9


def hoeffding(square: float) -> tuple[Floats, Floats]:
    """The same as `SampleError.chances` of any S with P(S > s) ≤ exp(−2s²/square)."""
    return _CELLS * (math.sqrt(square) / 2.0), np.exp(-0.5 * np.maximum(_CELLS, 0.0) ** 2)[None, :]


class SampleError:
    """How often Σw·(X − μ) + L is far from 0, for X drawn from any one population on a unit range.

    Guarantee:
        `beyond(a)` is at least P(|Σw·(X − μ) + L| > a) for every population on a unit range of at
        most the given variance, X independent, L Laplace noise, one cell of a closed table or one
        of several means.
        Proof: docs/proofs/risk.md.

    Args:
        weighing: the weights, all of people who are surely used, and the scale of the noise.
        variance: the largest that the population may have.
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
        # In a piece of variances the lower end is worst for how far from Gaussian a sum may be:
        # E|X − μ|³ ≤ v·max(μ, 1 − μ), and μ(1 − μ) ≥ v.
        lower = ends[1:]
        skew = (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * lower, 0.0))) / (2.0 * np.sqrt(lower))
        off = BERRY_ESSEEN * skew * (cube / square**1.5)
        tails[:-1] = np.minimum(tails[:-1], gaussian[first:] + off[:, None])
        # In each piece, a bound on P(S > x) at the start of each cell of x.
        self._tails = np.minimum(tails, np.exp(-0.5 * np.maximum(_CELLS, 0.0) ** 2))
        self._nearly = nearly_gaussian(weighing, ends[::-1])

    @property
    def chances(self) -> tuple[Floats, Floats]:
        """Where cells of errors begin, and in each piece of variances a bound on P(S > that)."""
        return self._from, self._tails

    def beyond(self, a: float) -> float:
        """A bound on the probability of an error of more than `a`, which is at least 0."""
        if self._sigma > _LARGEST_RATIO * self._scale:
            cell = int(np.searchsorted(self._from, a, side="right")) - 1
            return min(2.0 * float(self._tails[:, cell].max()), 1.0)
        # S + L > a is S > x where L is a − x, cell by cell; in the first one S may be anything.
        above = self._noise_above(a - self._from)
        masses = np.append(above[1:], 1.0) - above
        either = 2.0 * (self._tails @ masses + above[0])
        if self._nearly is not None:
            either[:-1] = np.minimum(either[:-1], self._nearly.beyond(a)[::-1])
        return min(float(either.max()), 1.0)

    def _noise_above(self, at: Floats) -> Floats:
        """P(L > at); or of one cell of a table, of noise that is no smaller; or of one mean."""
        if self._exceeds is not None:
            return self._exceeds(at / self._scale)
        half = 0.5 * np.exp(-np.minimum(np.abs(at) / self._scale, 745.0))
        return np.where(at >= 0.0, half, 1.0 - half)

    def deviation(self, beta: float) -> float:
        """The error that is not exceeded but with this probability."""
        high = self._sigma + self._scale
        while self.beyond(high) > beta:
            high *= 2.0
        return bisect(lambda a: self.beyond(a) - beta, 0.0, high)


def _noise_of(weighing: Weighing) -> Above | None:
    """The tail of noise that is no Laplace noise, in units of its scale."""
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
    """The largest P(G > x) for Gaussian sums of a variance in each piece, at the start of cells."""
    factors = 0.5 / np.sqrt(ends[:, None])
    # Above 0 the upper end of a piece has the larger tail, and below 0 the lower one.
    at = np.where(_CELLS > 0.0, factors[:-1] * _CELLS, factors[1:] * _CELLS)
    return np.array([[upper_tail(z) for z in row] for row in at.tolist()])


def _bennett(x: Floats, variances: Floats, largest: float) -> Floats:
    """Bennett's bound on P(S > x) for sums of these variances, of terms of at most `largest`."""
    u = np.maximum(x, 0.0) * largest / variances
    # (1 + u)·ln(1 + u) − u, which cancels for small u: there it is at least u²/2 − u³/6.
    exact = (1.0 + u) * np.log1p(u) - u
    h = np.where(u < 1e-3, u * u / 2.0 - u**3 / 6.0, exact)
    return np.asarray(np.exp(-np.minimum(variances / largest**2 * h, 745.0)))


WIDEST: Final = 0.5
"""The largest standard deviation of values in a unit range."""

SAMPLING: Final = 0.3
"""The part of an error probability that the sampling of people takes. It must not follow budgets:
these are drawn with the values, and a part that they choose could go with what went wrong."""

_TINY: Final = 1e-150
"""Sums of squared weights below this are nothing that floats can divide by."""

ON_ANY_RANGE: Final = 6.0
"""How many times likelier the mean of a sample is off on some range of all than on a given one:
people may have several rows, or none that is valid."""


def finite_population(n: int) -> float:
    """The factor by which sampling without replacement changes the worst variance, at total 1.

    The variance of Σ w_i·x_σ(i) is V·n/(n−1)·Σ(w_i − 1/n)²; the largest population variance V of
    n values in a unit range is ¼ for even n and ¼·(1 − 1/n²) for odd n.
    """
    return n / (n - 1) if n % 2 == 0 else (n + 1) / n


def noise_per_square(assumption: Assumption, n: int, spread: float = WIDEST) -> float:
    """The constant c with which mean squared error is proportional to Σw² + c·scale²."""
    noise = 2.0 / (spread * spread)
    if assumption.sampled:
        return noise
    # The variance of n values that is as large as it can be is below ¼ if n is odd.
    return noise / (finite_population(n) if spread == WIDEST else n / (n - 1))


def leaning(estimator: Weighing | Moments, apart: float) -> Floats:
    """The largest bias if the means of people at different budgets are at most `apart`.

    People of one level have one weight, so the bias is Σ(W_l − n_l/n)·m_l for the means m_l of the
    levels, around the middle of the range. Means within a window of this length do worst with those
    that weigh too much at one end of it and the others at the other end.
    """
    pull = np.abs(1.0 - estimator.total) / 2.0
    return np.asarray(apart * estimator.bias + (1.0 - apart) * pull)


def mse(estimator: Weighing | Moments, assumption: Assumption, spread: float = WIDEST) -> Floats:
    """The worst-case mean squared error on a unit range.

    Args:
        estimator: one estimator, or the moments of many.
        assumption: what is assumed about the data.
        spread: the largest standard deviation that the data may have: one half, unless guessed.

    Returns:
        The largest mean squared error over all data (or distributions) on a unit range that the
        assumption allows, an array of the shape of the moments. It is exact but with coins if
        budgets tell little, where it is a proven bound; and in a population in which budgets and
        values are related, where budgets are random, too: there what is proven has root mean
        squares over all budgets in the place of these.

    Reference:
        Paper *limits* (1) for (population, False) with total 1; docs/proofs/risk.md for the rest.
        Printed risks of paper *correlated* (6), (7) are of the same order, not equal.
    """
    n, total = estimator.n, estimator.total
    pull = (1.0 - total) ** 2
    if spread < WIDEST:
        data = _guessed_square(estimator, assumption, spread)
    elif assumption.related is False and assumption.sampled:
        data = 0.25 * np.maximum(pull, estimator.spread + total**2 / n)
    elif assumption.related is False:
        # At the vertices of the cube the mean is j/n: the worst j is 0, or the one nearest to n/2.
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
    """The mean square of everything but noise and coins, in a population with related budgets."""
    plain = 0.5 / math.sqrt(estimator.n)
    anything = np.square(estimator.bias + plain)
    if assumption.anything:
        return anything
    own = 0.25 * (estimator.spread + np.square(estimator.total) / estimator.n)
    apart = assumption.apart
    return np.minimum(anything, own + np.square(leaning(estimator, apart) + apart * plain))


def _guessed_square(estimator: Weighing | Moments, assumption: Assumption, spread: float) -> Floats:
    """The mean square of everything but noise and coins, for data of at most this deviation."""
    n, variance = estimator.n, spread * spread
    pull = np.square(1.0 - estimator.total)
    own = estimator.spread + np.square(estimator.total) / n
    if assumption.related is False:
        drawn = own if assumption.sampled else n / (n - 1) * estimator.spread
        # Values of the variance v have a mean within √(¼ − v) of the middle.
        return np.asarray(0.25 * pull + variance * np.maximum(drawn - pull, 0.0))
    far = _guessed_leaning(estimator, assumption.apart, spread)
    if not assumption.sampled:
        return np.square(far)
    anything = np.square(_guessed_leaning(estimator, 1.0, spread) + spread / math.sqrt(n))
    if assumption.anything:
        return np.asarray(anything)
    return np.minimum(anything, variance * own + np.square(far + _drawn(assumption, n, spread)))


def _guessed_leaning(estimator: Weighing | Moments, apart: float, spread: float) -> Floats:
    """The largest bias if budgets tell of values of at most this deviation.

    It is no farther than s·√(n·Σ(w − W/n)²), by Cauchy and Schwarz, beside the pull to the middle.
    """
    pull = np.abs(1.0 - estimator.total) / 2.0
    along = spread * np.sqrt(estimator.n * estimator.spread)
    return np.minimum(leaning(estimator, apart), along + pull)


def _drawn(assumption: Assumption, n: int, spread: float) -> float:
    """How far the means that budgets tell are moved by who is drawn, as a root mean square."""
    return min(assumption.apart / 2.0, spread) / math.sqrt(n)


def _guessed_quantile(
    weighing: Weighing, assumption: Assumption, spread: float, jitter: float, beta: float
) -> float:
    """The error not exceeded for data of this spread: what is expected, and no bound.

    A Gaussian of the variance v has the tail that Hoeffding's bound has for 4v; what budgets tell
    is no chance, but a shift.
    """
    n, variance = weighing.n, spread * spread
    drawn = weighing.square if assumption.sampled else n / (n - 1) * weighing.spread
    anything = float(_guessed_leaning(weighing, 1.0, spread))
    if assumption.related is False:
        square = 4.0 * variance * drawn + jitter
        found = _deviation(weighing, _pull(weighing), square, beta)
        if assumption.sampled:
            return min(found, _sample_quantile(weighing, jitter, beta))
        return min(found, _deviation(weighing, anything, jitter, beta))
    far = float(_guessed_leaning(weighing, assumption.apart, spread))
    if not assumption.sampled:
        return _deviation(weighing, far, jitter, beta)
    found = _deviation(weighing, anything, 4.0 * variance / n + jitter, beta)
    if assumption.anything:
        return found
    square = 4.0 * (variance * drawn + _drawn(assumption, n, spread) ** 2) + jitter
    return min(found, _deviation(weighing, far, square, beta))


def quantile(
    weighing: Weighing,
    assumption: Assumption,
    confidence: float,
    coins: float = 1.0,
    spread: float = WIDEST,
    times: float = 1.0,
) -> float:
    """An error on a unit range that is not exceeded with probability `confidence`.

    Args:
        weighing: the estimator.
        assumption: what is assumed about the data.
        confidence: strictly between 0 and 1.
        coins: the square of what a coin moves, in units of half a weight: 1 where a person who is
            not used counts as the middle of the range, 4 where they count as its lower end.
        spread: one half; or a guess of the standard deviation, with which this is what is expected,
            and no bound: the tail of a Gaussian in place of Hoeffding's.
        times: how many times likelier than on one range the mean of a sample is off, if that.

    Returns:
        The exact worst-case quantile where nothing but the noise is random (people whose budgets
        are related to their values, everyone surely used); otherwise a proven bound: Hoeffding's
        tail of the weighted sum, integrated against the exact law of the noise.

    Reference:
        docs/proofs/risk.md. Paper *correlated* (46)-(62) splits the error in two halves, and is
        wider by a factor of two and more.
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
        return _deviation(weighing, shift, square + jitter, rest)

    return reach(weighing, assumption, far, beta, times)


Far: TypeAlias = Callable[[float, float, float], float]
"""How far a shift, a sum and noise go but with a probability: see `tails.deviation`."""


def reach(
    weighing: Weighing, assumption: Assumption, far: Far, beta: float, times: float = 1.0
) -> float:
    """An error on a unit range that is not exceeded but with this probability, whatever the noise.

    Args:
        weighing: the estimator, whose noise is not looked at.
        assumption: what is assumed about the data.
        far: how far the noise goes, with a shift of at most so much, and a sum S with
            P(±S > s) ≤ exp(−2s²/square).
        beta: the probability.
        times: how many times likelier than on one range the mean of a sample is off, if that.
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
        lambda part: sampling_reach(weighing.n, part / times),
        beta,
    )


def _sample_quantile(weighing: Weighing, jitter: float, beta: float) -> float:
    """The error of a sample: by Hoeffding, or nearer to the Gaussian that it nearly is."""
    pull = _pull(weighing)
    found = _deviation(weighing, pull, weighing.square + jitter, beta)
    alone = weighing.keep is None and weighing.stairs is None
    if not alone or weighing.square < _TINY:
        return found
    return min(found, pull + SampleError(weighing).deviation(beta))


def sampling_reach(n: int, beta: float, numbers: int = 1) -> float:
    """How far means of n draws in a unit range are from their expectations, by Hoeffding.

    Args:
        n: how many draws.
        beta: the probability with which any of them may be farther.
        numbers: how many means.
    """
    return math.sqrt(math.log(2.0 * numbers / beta) / (2.0 * n))


def least_split(
    anything: Callable[[float], float],
    within: Callable[[float], float] | None,
    apart: float,
    sampling: Callable[[float], float],
    beta: float,
) -> float:
    """The smaller error not exceeded in a population with related budgets.

    Args:
        anything: the error of these people, not exceeded but with a given probability, whatever
            budgets tell.
        within: the error of the weighted sum around what it is expected to be with these budgets,
            if budgets tell little; None if they may tell anything.
        apart: how far the means at different budgets may be apart.
        sampling: how far the plain mean of so many people may be from that of the population.
        beta: the probability to split.
    """
    part, rest = SAMPLING * beta, (1.0 - SAMPLING) * beta
    if within is None:
        return anything(rest) + sampling(part)
    # Budgets tell which of the two is smaller, so both samplings must hold at once.
    outer = sampling(part / 2.0)
    return min(anything(rest) + outer, within(rest) + apart * outer)


def _pull(weighing: Weighing) -> float:
    """How far the middle is preferred by weights that do not sum to one."""
    return abs(1.0 - weighing.total) / 2.0


def _deviation(weighing: Weighing, shift: float, square: float, beta: float) -> float:
    """How far the noise of this estimator, a sum and a shift take it: see `tails.deviation`."""
    if weighing.stairs is not None:
        return weighing.stairs.deviation(shift, square, beta)
    beside = weighing.closed or weighing.cube
    if beside is not None:
        return beside.deviation(shift, square, weighing.scale, beta)
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
    return dot(weighing.counts[inner], kearns_saul(keep) * (weights / keep) ** 2)
