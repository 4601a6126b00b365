"""Intervals of a mean that is released with its spread, or with adaptively chosen weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from epsilons.budgets.levels import dot
from epsilons.frozen import storable
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import Bounds, Estimated, Weighed
from epsilons.risk.means import mean
from epsilons.risk.means.mean import SampleError
from epsilons.risk.tails.laplace import GIVEN, ErrorDivision, bisect, chosen, laplace_quantile, tail
from epsilons.risk.weighing import SAMPLE, Assumption, Weighing
from epsilons.types import Floats

# The error of a weighted sum of values from a population with a known standard deviation.
#
# Proof: docs/proofs/moment.md (4), (5).

_SLOPES: Final = 96
"""Number of exponents λ at which moments are bounded. Each gives a bound on the tail, and the
smallest is used."""

_STEEPEST: Final = 60.0
"""Largest exponent λ, relative to 1/(largest weight); its exponential does not overflow."""

_NODES: Final = 128
"""Largest number of distinct weights that are used exactly. If there are more, they are merged."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum Σ a_i·(X_i − μ) of values in [0, 1] that are independent or negatively associated.

    Proof: docs/proofs/moment.md (5), (6), (8).

    Attributes:
        weights: the distinct coefficients a ≥ 0.
        counts: number of terms with each coefficient.
    """

    weights: Floats
    counts: Floats

    @cached_property
    def square(self) -> float:
        """The sum of all squared coefficients, Σ a²."""
        return dot(self.counts, np.square(self.weights))

    @cached_property
    def largest(self) -> float:
        """The largest coefficient."""
        return float(self.weights.max(initial=0.0))

    def bernstein(self, sigma: float, log: float) -> float:
        """Bernstein's bound on the sum; it is exceeded with probability at most e^−log.

        The values have standard deviation at most sigma. Proof: docs/proofs/moment.md (6).
        """
        part = self.largest * log / 3.0
        return part + math.sqrt(part * part + 2.0 * self.square * sigma * sigma * log)

    def reach(self, sigma: float, scale: float, beta: float) -> float:
        """An h with P(|Σ a·(X − μ) + L| > h) ≤ β, if the standard deviation is at most sigma.

        L is independent Laplace noise of this scale. Proof: docs/proofs/moment.md (5).
        """
        if self.largest <= 0.0:
            return -scale * math.log(beta)
        tail = TailBound.of(self, sigma)

        def excess(far: float) -> float:
            return 2.0 * tail.beyond(far, scale) - beta

        high = math.sqrt(self.square) * max(sigma, 1e-3) + scale
        while excess(high) > 0.0:
            high *= 2.0
        return bisect(excess, 0.0, high)

    def above(self, sigma: float) -> Callable[[Floats], Floats]:
        """Bound on P(Σ a·(X − μ) > s) as a function of s ≥ 0.

        The values have standard deviation at most sigma.

        Proof: docs/proofs/moment.md (5).
        """
        if self.largest <= 0.0:
            return np.zeros_like
        tail = TailBound.of(self, sigma)

        def bound(s: Floats) -> Floats:
            return np.asarray(np.exp((tail.logs - tail.slopes * s[..., None]).min(axis=-1)))

        return bound

    @cached_property
    def few(self) -> tuple[Floats, Floats]:
        """Weights merged into at most _NODES nodes, with counts; no bound on moments gets smaller.

        The bound on moments is convex in the weight. So a term between two nodes can be split
        between both nodes, with fractions that preserve the total weight.
        Proof: docs/proofs/moment.md (5).
        """
        used = self.weights > 0.0
        weights, counts = self.weights[used], self.counts[used]
        if len(weights) <= _NODES:
            return weights, counts
        nodes = np.geomspace(weights.min(), weights.max(), _NODES)
        nodes[0], nodes[-1] = weights.min(), weights.max()
        at = np.clip(np.searchsorted(nodes, weights, side="right") - 1, 0, _NODES - 2)
        part = (weights - nodes[at]) / (nodes[at + 1] - nodes[at])
        found = np.bincount(at, counts * (1.0 - part), _NODES)
        found += np.bincount(at + 1, counts * part, _NODES)
        return nodes, found.astype(np.float64)


def log_moment(slope: Floats, sigma: float) -> Floats:
    """The largest ln E e^{λ(X − μ)} over values X in [0, 1] with at most this deviation, λ ≥ 0.

    The maximum is attained by a 0/1 variable with this deviation, or with a smaller one if that is
    worse for this λ. Proof: docs/proofs/moment.md (4).
    """
    rare = (1.0 - math.sqrt(max(1.0 - 4.0 * sigma * sigma, 0.0))) / 2.0
    grown = np.expm1(slope)
    small = slope < 1e-4
    own, more = np.where(small, 1.0, slope), np.where(small, 1.0, grown)
    worst = np.where(small, 0.5 - slope / 12.0, 1.0 / own - 1.0 / more)
    share = np.minimum(rare, worst)
    return np.asarray(np.log1p(share * grown) - slope * share)


@dataclass(frozen=True, eq=False)
class TailBound:
    """Bound on P(S > s): the smallest e^{K − λs} over a set of λ that includes 0.

    Its logarithm is piecewise linear, so the integral against Laplace noise has a closed form.
    Proof: docs/proofs/moment.md (5).

    Attributes:
        slopes: the rates λ, ascending from 0.
        logs: the K of each rate.
        ends: the points s from which the next λ gives the smaller bound.
    """

    slopes: Floats
    logs: Floats
    ends: Floats

    @classmethod
    def through(cls, slopes: Floats, logs: Floats) -> TailBound:
        """The bound from these rates λ > 0, ascending, and the K of each."""
        slopes, logs = np.append(0.0, slopes), np.append(0.0, logs)
        # If K is convex in λ, these ends are ascending, except for rounding. All ends are valid.
        ends = np.maximum.accumulate(np.diff(logs) / np.diff(slopes))
        return cls(slopes, logs, ends)

    @classmethod
    def of(cls, terms: Terms, sigma: float) -> TailBound:
        """The bound for this sum, if the standard deviation is at most sigma."""
        deviation = math.sqrt(terms.square) * sigma
        top = _STEEPEST / terms.largest
        low = top / 1000.0
        if deviation > 0.0:
            top = min(top, 40.0 / deviation)
            low = min(0.2 / deviation, top / 100.0)
        weights, counts = terms.few
        slopes = np.geomspace(low, top, _SLOPES)
        return cls.through(slopes, log_moment(np.outer(slopes, weights), sigma) @ counts)

    def beyond(self, far: float, scale: float) -> float:
        """Bound on P(S + L > far)."""
        if scale <= 0.0:
            return math.exp(min(float(np.min(self.logs - self.slopes * far)), 0.0))
        # Below the first end the bound on P(S > s) is 1, so only L matters.
        first = far - float(self.ends[0])
        half = 0.5 * math.exp(-abs(first) / scale)
        gone = half if first >= 0.0 else 1.0 - half
        starts, stops = self.ends, np.append(self.ends[1:], math.inf)
        # The density of L is evaluated at far − s, which is positive for s below `far`.
        before = starts, np.maximum(np.minimum(stops, far), starts)
        after = np.minimum(np.maximum(starts, far), stops), stops
        both = [
            self._part(far, sign / scale, *ends) for sign, ends in ((1.0, before), (-1.0, after))
        ]
        return min(gone + sum(both) / (2.0 * scale), 1.0)

    def _part(self, far: float, rate: float, starts: Floats, stops: Floats) -> float:
        """∫ e^{K − λs + rate·(s − far)} ds over the pieces, from starts to stops."""
        slopes, logs = rate - self.slopes[1:], self.logs[1:]
        endless = np.isinf(stops)  # the last piece; its integrand decreases
        at = np.where((slopes > 0.0) & ~endless, stops, starts)  # the maximum of the integrand
        highest = np.exp(np.minimum(logs - self.slopes[1:] * at + rate * (at - far), 0.0))
        length = np.where(endless, 0.0, stops - starts)
        fall = np.abs(slopes) * length
        some = np.where(fall > 1e-9, fall, 1.0)
        parts = np.where(fall > 1e-9, -np.expm1(-some) / some, 1.0) * length
        return float(highest @ np.where(endless, 1.0 / np.abs(slopes), parts))


# Bounds on the error of a mean that use the spread released with it, on a unit range.

EXPECTED: Final = 0.2
"""Standard deviation, as a fraction of the range, that forecasts of intervals assume if the user
gives no guess. It is between 0.29 (uniform) and 0.17 (Gaussian on a range of six standard
deviations)."""

DECIDED_AT: Final = 0.95
"""Confidence level for the decision whether intervals use the spread. One decision applies to all
confidence levels."""

MOST_LOST: Final = 1.05
"""Largest accepted factor by which an interval widens if the spread is as large as possible."""

_NUISANCE: Final = 0.05
"""For error probabilities above this, the parts that are used for the spread stay constant."""

_NOISE, _OFFSET, _SQUARES, _CENTRE = 0.02, 0.01, 0.04, 0.01
"""Parts of the error probability for the noise of the squares, the noise of the mean, the squares
of a sample, and the mean of a sample."""

_DROWNED: Final = 1e100
"""Numbers on a unit range with a larger absolute value are unusable."""

_OF_SPREAD: Final = (0.3, 0.2, 0.4, 0.1)
"""The same four parts for an interval of the spread, as fractions of β/2 for each end."""

Way = Literal["chance", "bias"]
"""The quantity that the spread bounds: the random error of a weighted mean, or its bias."""


class Seen(NamedTuple):
    """The released numbers on a unit range, for weights that sum to one.

    Attributes:
        offset: Σ w·(x − ½) plus noise.
        square: Σ w·(x − ½)² plus noise.
        slack: error of each sum that is due to rounding to integers.
    """

    offset: float
    square: float
    slack: float


class Parts(NamedTuple):
    """Error probabilities of the steps of a bound. Proof: docs/proofs/moment.md (10)."""

    noise: float
    offset: float
    squares: float
    centre: float

    @classmethod
    def of(cls, beta: float) -> Parts:
        """The parts for an interval with error probability beta."""
        return cls(*(part * min(beta, _NUISANCE) for part in (_NOISE, _OFFSET, _SQUARES, _CENTRE)))


@dataclass(frozen=True, eq=False)
class Spreading:
    """Error bounds that use the spread of a weighted mean, for weights that sum to one.

    Proof: docs/proofs/moment.md (2), (3), (6), (7), (8), (9), (11).
    Proof: docs/proofs/adaptive.md (4), (5).

    Attributes:
        weighing: the estimator.
        assumption: the assumption about the data.
        division: how β is divided if the estimator was chosen among several, perhaps based on the
            data.
    """

    weighing: Weighing
    assumption: Assumption
    division: ErrorDivision = GIVEN

    def usual(self, beta: float) -> float:
        """Bound on the error for all data, at error probability beta, without rounding."""

        def far(rest: float) -> float:
            return mean.quantile(self.weighing, self.assumption, 1.0 - rest)

        return chosen(far, self.weighing.scale, self.division, beta)

    def error(self, way: Way, seen: Seen, beta: float) -> float:
        """Bound on the error, at error probability beta, without rounding.

        Args:
            way: the quantity that the spread bounds.
            seen: the released numbers.
            beta: the error probability.
        """
        parts = Parts.of(beta)
        return self._reach(way, self.most(seen, parts.noise, parts.offset), parts, beta)

    def way(self, expected: float) -> Way | None:
        """The quantity that the spread is used to bound; None if intervals do not use the spread.

        A use of the spread is a candidate if, for the largest possible spread, its interval is not
        much wider than the interval for all data. The candidate with the narrowest forecast
        interval is used, if it is narrower than the interval for all data. The choice depends only
        on public facts, not on noisy numbers. If noisy numbers decided, the shorter of two
        intervals could fail with the sum of both error probabilities.
        Proof: docs/proofs/moment.md (10).

        Args:
            expected: forecast standard deviation, for data around the middle of the range.
        """
        beta = 1.0 - DECIDED_AT
        parts = Parts.of(beta)
        usual = self.usual(beta)
        variance = self.most(Seen(0.0, expected * expected, 0.0), parts.noise, parts.offset)
        found = [
            (self._reach(way, variance, parts, beta), way)
            for way in self._ways
            if self._reach(way, 0.25, parts, beta) <= MOST_LOST * usual
        ]
        likely, best = min(found, default=(math.inf, None))
        return best if likely < usual else None

    @property
    def _ways(self) -> tuple[Way, ...]:
        """The quantities that the spread can bound.

        There are none if budgets are random and related to values.
        """
        if abs(self.weighing.total - 1.0) > 1e-9 or not math.isfinite(self.weighing.scale):
            return ()
        if self.assumption.related is False:
            return ("chance",) if self.assumption.sampled else ("chance", "bias")
        return () if self.assumption.sampled else ("bias",)

    def deviation(self, seen: Seen, beta: float) -> tuple[float, float]:
        """A confidence interval for the standard deviation, with error probability at most beta.

        The target is the standard deviation of the population, or of the given people with equal
        weights. If budgets may be related to values, people with small weights can have a larger
        spread than others, within limits that follow from the weights.
        Proof: docs/proofs/moment.md (11).
        """
        parts = Parts(*(part * beta / 2.0 for part in _OF_SPREAD))
        low = self.least(seen, parts.noise, parts.offset)
        high = self.most(seen, parts.noise, parts.offset)
        sampled, related = self.assumption.sampled, self.assumption.related is not False
        weights = self.weighing.weights[self.weighing.counts > 0]
        n = self.weighing.n
        if related:
            low /= n * float(weights.max())
            alike = n * float(weights.min())
            high = min(high / alike, 0.25) if alike > 0.0 else 0.25
        if related and not sampled:
            return math.sqrt(low), math.sqrt(high)
        plain = self
        if related:
            plain = Spreading(Weighing(np.array([1.0 / n]), np.array([n]), 0.0), SAMPLE)
        times = plain.division.times
        squares, centre = parts.squares / times, parts.centre / times
        most = plain.largest_deviation(high, squares, centre)
        return plain._smallest(low, squares + centre), most

    def least(self, seen: Seen, noise: float, offset: float) -> float:
        """Lower bound on the weighted variance of the given people: see `most`."""
        if not self._readable(seen):
            return 0.0
        scale = self.weighing.scale
        square = seen.square - seen.slack + scale * math.log(2.0 * noise)
        far = abs(seen.offset) + seen.slack - scale * math.log(offset)
        return min(max(square - far * far, 0.0), 0.25)

    def most(self, seen: Seen, noise: float, offset: float) -> float:
        """Upper bound on the weighted variance of the given people.

        Proof: docs/proofs/moment.md (3).

        Args:
            seen: the released numbers.
            noise: probability that the noise of the squares is below the assumed lower bound.
            offset: probability that the noise of the mean exceeds the assumed bound.
        """
        if not self._readable(seen):
            return 0.25
        scale = self.weighing.scale
        square = seen.square + seen.slack - scale * math.log(2.0 * noise)
        far = max(abs(seen.offset) - seen.slack + scale * math.log(offset), 0.0)
        return min(max(square - far * far, 0.0), 0.25)

    def _readable(self, seen: Seen) -> bool:
        """Whether the released numbers are finite and not extremely large."""
        numbers = (self.weighing.scale, seen.offset, seen.square)
        return all(math.isfinite(number) and abs(number) < _DROWNED for number in numbers)

    def _reach(self, way: Way, variance: float, parts: Parts, beta: float) -> float:
        """Bound on the error of the mean, for people with at most this weighted variance."""
        scale = self.weighing.scale
        rest = beta - parts.noise - parts.offset
        if way == "bias":
            known = float(mean.leaning(self.weighing, self.assumption.apart or 1.0))
            return laplace_quantile(min(known, self._leaning(variance)), scale, rest)
        rest -= parts.squares + parts.centre
        times = self.division.times
        squares, centre = parts.squares / times, parts.centre / times
        deviation = self.largest_deviation(variance, squares, centre)
        sampled = (
            SampleError(self.weighing, deviation * deviation) if self.assumption.sampled else None
        )

        def far(rest: float) -> float:
            usual = mean.quantile(self.weighing, self.assumption, 1.0 - rest)
            found = min(self.terms.reach(deviation, scale, rest), usual)
            return found if sampled is None else min(found, sampled.deviation(rest))

        return chosen(far, scale, self.division, rest)

    def _leaning(self, variance: float) -> float:
        """The largest bias among the given people, if their weighted variance is at most this.

        The bound follows from the Cauchy–Schwarz inequality. For people with the smallest weights,
        the range gives a second bound; the best split between the two is used.
        Proof: docs/proofs/moment.md (9).
        """
        order = np.argsort(self.weighing.weights, kind="stable")
        weights, counts = self.weighing.weights[order], self.weighing.counts[order]
        apart = weights - 1.0 / self.weighing.n
        by_range = np.append(0.0, np.cumsum(counts * np.abs(apart)))
        with np.errstate(divide="ignore", invalid="ignore"):
            each = counts * np.square(apart) / weights
        each = np.where(counts > 0, each, 0.0)
        by_variance = np.append(np.cumsum(each[::-1])[::-1], 0.0)
        root = np.sqrt(by_variance) * math.sqrt(variance) if variance > 0.0 else 0.0 * by_range
        found = np.where(np.isfinite(by_variance), by_range + root, math.inf)
        return float(found.min())

    @cached_property
    def _above(self) -> Terms:
        """The coefficients of the values; for a permutation, weights minus the smallest weight."""
        counts = self.weighing.counts.astype(np.float64)
        there = counts > 0.0
        weights = self.weighing.weights[there]
        if not self.assumption.sampled:
            weights = weights - weights.min()
        return Terms(weights, counts[there])

    @cached_property
    def terms(self) -> Terms:
        """The coefficients of `_above`, or for a permutation an equivalent set, if that is better.

        For a permutation, each coefficient can be replaced by the largest coefficient minus it: the
        permuted values X − μ sum to 0, so this changes only the sign of the sum. The coefficients
        with the smaller sum of squares are used.
        """
        above = self._above
        if self.assumption.sampled:
            return above
        below = Terms(above.largest - above.weights, above.counts)
        return below if below.square < above.square else above

    def _smallest(self, variance: float, squares: float) -> float:
        """Lower bound on the standard deviation, given the weighted variance of a sample."""
        log = -math.log(squares)

        def excess(sigma: float) -> float:
            return variance - sigma * sigma - self._above.bernstein(sigma, log)

        return bisect(excess, 0.0, math.sqrt(variance))

    def largest_deviation(self, variance: float, squares: float, centre: float) -> float:
        """Upper bound on the standard deviation, given the weighted variance of a sample."""
        lost = math.sqrt(-2.0 * self._above.square * math.log(squares))
        log = math.log(2.0 / centre)
        # `most` is a first upper bound. It uses Hoeffding's bound on the error of the sample mean,
        # which does not depend on sigma.
        plain = math.sqrt(0.25 * lost * lost + variance + self.terms.square * log / 2.0)
        most = min(lost / 2.0 + plain, mean.WIDEST)

        def excess(sigma: float) -> float:
            off = self.terms.bernstein(sigma, log)
            return variance - sigma * sigma + lost * sigma + off * off

        if lost >= most or excess(most) >= 0.0:
            return most
        return bisect(excess, lost, most)


# Margin of a mean that is released with its spread.


class Spread(Estimated):
    """The weighted standard deviation of the data, in data units, with its interval."""

    __slots__ = ()


@storable("risk.WeighedSpread")
@dataclass(frozen=True, eq=False)
class WeighedSpread(Weighed):
    """Margin of a weighted mean and its spread, for people with public budgets.

    Guarantee:
        For all data that the assumption allows, the intervals of the mean and of the standard
        deviation each fail to cover the true value with probability at most 1 − confidence. The
        decision whether the first interval uses the spread depends only on weights and noise.
        Proof: docs/proofs/moment.md (2), (10), (11).

    Attributes:
        offset: Σ w·(x − ½) plus noise on a unit range, for weights that sum to one.
        square: Σ w·(x − ½)² plus noise, for the same weights.
        expected: standard deviation, as a fraction of the range, that the forecast assumes.
    """

    offset: float
    square: float
    expected: float = EXPECTED

    kind: ClassVar[str | None] = None

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error on a unit range, at this confidence, rounding included."""
        way = self.way(assumption)
        if way is None:
            return super().error(assumption, confidence)
        spreading = Spreading(self.weighing, assumption, self.division(assumption))
        return spreading.error(way, self._seen, 1.0 - confidence) + self.slack

    def way(self, assumption: Assumption) -> Way | None:
        """The quantity that the spread is used to bound; None if intervals do not use the spread.

        It depends only on public facts.
        """
        own = self.weighing, assumption, self.division(assumption), self.expected
        return way_of(Spreading, *own)

    def times(self, assumption: Assumption) -> int:  # noqa: ARG002
        """Number of estimators from which this one was chosen: 1."""
        return 1

    def division(self, assumption: Assumption) -> ErrorDivision:
        """How an error probability is divided among the estimators that could have been chosen."""
        return ErrorDivision.evenly(self.times(assumption))

    def uses_spread(self, assumption: Assumption) -> bool:
        """Whether intervals use the noisy spread; this depends only on public facts."""
        return self.way(assumption) is not None

    def spread(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Spread:
        """The standard deviation with its interval, at this confidence.

        Proof: docs/proofs/moment.md (11).
        """
        spreading = Spreading(self._alike, assumption, self.division(assumption))
        low, high = spreading.deviation(self._seen, 1.0 - confidence)
        # The expected square of a noisy mean is the square of the mean plus the variance of the
        # noise.
        noise = 2.0 * self._alike.scale * self._alike.scale
        found = self.square - self.offset * self.offset + noise
        variance = min(max(found, 0.0), 0.25) if math.isfinite(found) else 0.25
        unit = bounds[1] - bounds[0]
        value = min(max(math.sqrt(variance), low), high)
        return Spread(value, low, high).times(unit)

    @cached_property
    def _alike(self) -> Weighing:
        """The estimator with weights scaled to sum to one."""
        whole = self.weighing
        if abs(whole.total - 1.0) < 1e-9:
            return whole
        return Weighing(whole.weights / whole.total, whole.counts, whole.scale / whole.total)

    @property
    def _seen(self) -> Seen:
        return Seen(self.offset, self.square, self.slack / min(self.weighing.total, 1.0))


@lru_cache(maxsize=64)
def way_of(
    spreading: type[Spreading],
    weighing: Weighing,
    assumption: Assumption,
    division: ErrorDivision,
    expected: float,
) -> Way | None:
    """`Spreading.way`, cached because a release needs it repeatedly."""
    return spreading(weighing, assumption, division).way(expected)


# A mean with weights that were chosen from a few candidates by a first stage on the same data.
#
# The first stage and the mean use the same people, so the choice of weights can be correlated with
# the error. So claims about the chosen weights must hold simultaneously for all candidates. Data
# are on a unit range.

_EXCESS: Final = 0.05
"""Contribution of rare large sampling errors to a mean squared error, relative to the smallest mean
squared error of any candidate."""

_LEAST: Final = 1e-200
"""Smallest positive squared error that is distinguished from 0."""


@storable("risk.WeighedAdaptively")
@dataclass(frozen=True, eq=False, kw_only=True)
class WeighedAdaptively(WeighedSpread):
    """Margin of a weighted mean, with weights chosen by a first stage on the same data.

    Guarantee:
        For all data that the assumption allows, the intervals of the mean and of the standard
        deviation each fail to cover the true value with probability at most 1 − confidence. The
        choice of weights can depend on the data in any way.
        Proof: docs/proofs/adaptive.md (2), (3), (4), (5).

    Attributes:
        among: number of distinct candidate weights for these budgets.
        choices: largest number of distinct candidate weights that any budgets can have.
    """

    among: int
    choices: int

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error on a unit range, at this confidence, rounding included."""
        if self.uses_spread(assumption):
            return super().error(assumption, confidence)
        return self.usual(assumption, confidence) + self.slack

    def usual(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error for all data, at this confidence, without rounding."""
        beta = 1.0 - confidence
        if assumption.sampled and assumption.related is not False and not assumption.anything:
            # Budgets are sampled with the values, so the number of distinct candidates is random.
            return mean.quantile(self.weighing, assumption, 1.0 - beta / self.choices)
        return Spreading(self.weighing, assumption, self.division(assumption)).usual(beta)

    def times(self, assumption: Assumption) -> int:
        """Number of candidates that a union bound must cover: 1 if budgets are related to values.

        If budgets may be related to values, claims hold for each data set separately, or for the
        unweighted mean of its people, which does not depend on weights.
        Proof: docs/proofs/adaptive.md (3).
        """
        return self.among if assumption.related is False else 1


@storable("risk.WeighedInStages")
@dataclass(frozen=True, eq=False, kw_only=True)
class WeighedInStages(WeighedAdaptively):
    """Margin of a weighted mean, with weights chosen by a first stage, and a sharper union bound.

    Guarantee:
        The guarantee of `WeighedAdaptively`. The error probability is split between the noise and
        all candidate weights, by the function `divided`, from public facts alone.
        Proof: docs/proofs/adaptive.md (4), (7).

    Attributes:
        noise: the part of the error probability for the noise alone.
        own: the part for these weights. The parts of all candidates and of the noise add up to at
            most 1.
    """

    noise: float
    own: float

    def division(self, assumption: Assumption) -> ErrorDivision:
        """How an error probability is divided among the estimators that could have been chosen."""
        times = self.times(assumption)
        return GIVEN if times == 1 else ErrorDivision(times, self.noise, self.own)


_RAREST: Final = 1e-3
"""Smallest part of the error probability for the noise. The smallest part for each candidate is
this divided by the number of candidates."""

_ROUNDED: Final = 1e-9
"""Relative allowance for rounding errors: the parts add up to slightly less than 1."""

_TINIEST: Final = 1e-200
"""Smallest standard deviation of a sum that is distinguished from 0."""


def divided(
    choices: Sequence[Weighing], spreads: Sequence[float], assumption: Assumption
) -> tuple[ErrorDivision, ...]:
    """Divide the error probability so the intervals of all candidates widen by the same factor.

    The division assumes that the weighted sum of each candidate has a sub-Gaussian tail with the
    standard deviation that the candidate is best for. If this is wrong, intervals are still valid,
    but widen by different factors.
    Proof: docs/proofs/adaptive.md (7).

    Args:
        choices: the candidate weights; only distinct ones count.
        spreads: the standard deviation that each is best for, as a fraction of the range.
        assumption: the assumption about the data.

    Returns:
        The division for each candidate. The noise has the same part in all of them.
    """
    beta = 1.0 - DECIDED_AT
    keys = [(tuple(each.weights.tolist()), each.scale) for each in choices]
    first = {key: at for at, key in reversed(list(enumerate(keys)))}
    sums = {}
    for key, at in first.items():
        each = choices[at]
        square = each.square if assumption.sampled else each.spread * each.n / (each.n - 1)
        sums[key] = max(spreads[at] * math.sqrt(square), _TINIEST), each.scale
    if len(sums) == 1:
        return (GIVEN,) * len(choices)

    def missed(key: Any, far: float) -> float:
        return min(2.0 * tail(far, *sums[key]), 1.0)

    def alone(key: Any, far: float) -> float:
        scale = sums[key][1]
        return math.exp(-far / scale) if scale > 0.0 else 0.0

    def given(key: Any) -> float:
        """The half-width of the interval if there were no other candidates."""
        return bisect(lambda far: missed(key, far) - beta, 0.0, 40.0 * sum(sums[key]))

    single = {key: given(key) for key in sums}

    def parts(wider: float) -> tuple[float, dict[Any, float]]:
        reach = {key: wider * far for key, far in single.items()}
        noise = max(max(alone(*each) for each in reach.items()), _RAREST * beta)
        least = _RAREST * beta / len(reach)
        return noise, {key: max(missed(key, h) - alone(key, h), least) for key, h in reach.items()}

    def over(wider: float) -> float:
        noise, own = parts(wider)
        return noise + sum(own.values()) - beta

    noise, own = parts(bisect(over, 1.0, 40.0))
    whole = (noise + sum(own.values())) * (1.0 + _ROUNDED)
    return tuple(ErrorDivision(len(own), noise / whole, own[key] / whole) for key in keys)


def risk_of(
    goal: MeanGoal, margin: WeighedAdaptively, choices: Sequence[Weighing]
) -> tuple[float, bool]:
    """The risk of a mean with weights chosen by a first stage, on a unit range.

    Proof: docs/proofs/adaptive.md (2), (6).

    Args:
        goal: the assumption about the data, and the error to minimize.
        margin: margin of the mean.
        choices: all candidate weights.

    Returns:
        The risk, and whether it is an exact worst case with these weights.
    """
    assumption = goal.assumption
    fixed = not assumption.sampled and assumption.related is not False
    if goal.loss == "pac":
        return margin.usual(assumption, goal.confidence), fixed
    if assumption.related is not False:
        anything = replace(assumption, related=True) if assumption.sampled else assumption
        return float(mean.mse(margin.weighing, anything)), fixed
    least = min(float(mean.mse(each, assumption)) for each in choices)
    return _square(margin.weighing, assumption, _EXCESS * least, margin.among), False


def _square(weighing: Weighing, assumption: Assumption, excess: float, among: int) -> float:
    """Bound on the mean squared error of the chosen weights, valid for every way of choosing.

    If P(|S| > s) ≤ 2·exp(−2s²/v), the mean of (S² − a)₊ is at most v·exp(−2a/v). The a with
    v·exp(−2a/v) = excess/among is used. Proof: docs/proofs/adaptive.md (6).
    """
    if among == 1:
        return float(mean.mse(weighing, assumption))
    v = weighing.square if assumption.sampled else mean.permutation_proxy(weighing)
    most = 1.0 if assumption.sampled else weighing.bias**2
    often = v * among / max(excess, _LEAST)
    far = v / 2.0 * math.log(often) if often > 1.0 else 0.0
    return min(far, most) + excess + 2.0 * weighing.scale**2
