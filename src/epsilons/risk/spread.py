"""A mean with its spread: what it says of the error, and weights that a first look chose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar, Final, Literal, NamedTuple

import numpy as np

from epsilons.budgets.levels import dot
from epsilons.frozen import storable
from epsilons.risk import mean
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import Bounds, Estimated, Weighed
from epsilons.risk.mean import SampleError
from epsilons.risk.tails.laplace import bisect, chosen, laplace_quantile
from epsilons.risk.weighing import SAMPLE, Assumption, Weighing
from epsilons.types import Floats

# How far a weighted sum of values of one population is off, if their deviation is known.
#
# The formulas are derived in `docs/proofs/moment.md`.

_SLOPES: Final = 96
"""Exponents at which moments are bounded: any of them gives a bound, and the best is taken."""

_STEEPEST: Final = 60.0
"""The largest exponent, in parts of the largest weight: its exponential is a float."""

_NODES: Final = 128
"""Weights up to which each is looked at by itself."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum Σ a_i·(X_i − μ) of values in [0, 1] that are independent, or associated negatively.

    Attributes:
        weights: the coefficients a from 0, each once.
        counts: how many terms have each.
    """

    weights: Floats
    counts: Floats

    @cached_property
    def square(self) -> float:
        """Σ a²."""
        return dot(self.counts, np.square(self.weights))

    @cached_property
    def largest(self) -> float:
        """The largest coefficient."""
        return float(self.weights.max(initial=0.0))

    def bernstein(self, sigma: float, log: float) -> float:
        """What the sum exceeds with a probability of at most e^−log, of this deviation or less."""
        part = self.largest * log / 3.0
        return part + math.sqrt(part * part + 2.0 * self.square * sigma * sigma * log)

    def reach(self, sigma: float, scale: float, beta: float) -> float:
        """The h with P(|Σ a·(X − μ) + L| > h) ≤ β, for values of at most this deviation.

        L is Laplace noise of this scale, and independent.
        """
        if self.largest <= 0.0:
            return -scale * math.log(beta)
        tail = _Tail.of(self, sigma)

        def excess(far: float) -> float:
            return 2.0 * tail.beyond(far, scale) - beta

        high = math.sqrt(self.square) * max(sigma, 1e-3) + scale
        while excess(high) > 0.0:
            high *= 2.0
        return bisect(excess, 0.0, high)

    @cached_property
    def few(self) -> tuple[Floats, Floats]:
        """Few weights and how many have them, whose bounds on moments are not smaller.

        A bound on moments is convex in the weight, so that a weight between two nodes may be
        counted at both of them, in parts that keep its sum.
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
    """The largest ln E e^{λ(X − μ)} of values in [0, 1] of at most this deviation, for λ ≥ 0.

    It is that of a rare 1 among zeros: of the deviation itself, or of the smaller one that is worst
    for this λ.
    """
    rare = (1.0 - math.sqrt(max(1.0 - 4.0 * sigma * sigma, 0.0))) / 2.0
    grown = np.expm1(slope)
    small = slope < 1e-4
    worst = np.where(small, 0.5 - slope / 12.0, 1.0 / np.where(small, 1.0, slope) - 1.0 / grown)
    share = np.minimum(rare, worst)
    return np.asarray(np.log1p(share * grown) - slope * share)


@dataclass(frozen=True, eq=False)
class _Tail:
    """A bound on P(S > s): the least of e^{K − λs} over some λ, of which 0 is one.

    Its logarithm is a broken line, so that its integral against Laplace noise is a sum.

    Attributes:
        slopes: the λ, ascending from 0.
        logs: the K of each.
        ends: where the best λ is the next one.
    """

    slopes: Floats
    logs: Floats
    ends: Floats

    @classmethod
    def of(cls, terms: Terms, sigma: float) -> _Tail:
        deviation = math.sqrt(terms.square) * sigma
        top = _STEEPEST / terms.largest
        low = top / 1000.0
        if deviation > 0.0:
            top = min(top, 40.0 / deviation)
            low = min(0.2 / deviation, top / 100.0)
        weights, counts = terms.few
        slopes = np.geomspace(low, top, _SLOPES)
        logs = log_moment(np.outer(slopes, weights), sigma) @ counts
        slopes, logs = np.append(0.0, slopes), np.append(0.0, logs)
        # K is convex: these ends ascend, but for rounding.
        ends = np.maximum.accumulate(np.diff(logs) / np.diff(slopes))
        return cls(slopes, logs, ends)

    def beyond(self, far: float, scale: float) -> float:
        """A bound on P(S + L > far)."""
        if scale <= 0.0:
            return math.exp(min(float(np.min(self.logs - self.slopes * far)), 0.0))
        # Left of the first end S is anything: L alone must be beyond what is left.
        first = far - float(self.ends[0])
        half = 0.5 * math.exp(-abs(first) / scale)
        gone = half if first >= 0.0 else 1.0 - half
        starts, stops = self.ends, np.append(self.ends[1:], math.inf)
        # For s below `far` the noise is above 0, for s above it is below.
        before = starts, np.maximum(np.minimum(stops, far), starts)
        after = np.minimum(np.maximum(starts, far), stops), stops
        both = [
            self._part(far, sign / scale, *ends) for sign, ends in ((1.0, before), (-1.0, after))
        ]
        return min(gone + sum(both) / (2.0 * scale), 1.0)

    def _part(self, far: float, rate: float, starts: Floats, stops: Floats) -> float:
        """∫ e^{K − λs + rate·(s − far)} ds over the pieces, from starts to stops."""
        slopes, logs = rate - self.slopes[1:], self.logs[1:]
        endless = np.isinf(stops)  # the last piece, if it falls
        at = np.where((slopes > 0.0) & ~endless, stops, starts)  # where it is largest
        highest = np.exp(np.minimum(logs - self.slopes[1:] * at + rate * (at - far), 0.0))
        length = np.where(endless, 0.0, stops - starts)
        fall = np.abs(slopes) * length
        some = np.where(fall > 1e-9, fall, 1.0)
        parts = np.where(fall > 1e-9, -np.expm1(-some) / some, 1.0) * length
        return float(highest @ np.where(endless, 1.0 / np.abs(slopes), parts))


# What the spread of the data, released beside a mean, says of how far the mean is off.
#
# The formulas are derived in `docs/proofs/moment.md`. Data are on a unit range.

EXPECTED: Final = 0.2
"""The standard deviation of the data, in parts of the range, at which intervals are forecast if
nobody guessed another: between 0.29 of a uniform column and 0.17 of a Gaussian one whose range is
six of its deviations."""

DECIDED_AT: Final = 0.95
"""The confidence at which it is decided whether the spread is used, for all confidences."""

MOST_LOST: Final = 1.05
"""How much wider an interval may become where the spread turns out to be as large as it can be."""

_NUISANCE: Final = 0.05
"""Probabilities of errors of which parts are spent on the spread: those of a larger one are not
larger."""

_NOISE, _OFFSET, _SQUARES, _CENTRE = 0.02, 0.01, 0.04, 0.01
"""The parts that are spent: on the noise of squares, on that of the mean, on the squares of a
sample, and on the mean of a sample."""

_DROWNED: Final = 1e100
"""Numbers on a unit range of which nothing can be read."""

_OF_SPREAD: Final = (0.3, 0.2, 0.4, 0.1)
"""The same parts, of the interval of the spread itself: of one half of its error for each end."""

Way = Literal["chance", "bias"]
"""What a spread bounds: how far chance takes a weighted mean, or how far its people lean."""


class Seen(NamedTuple):
    """What was released on a unit range, with weights that add up to one.

    Attributes:
        offset: Σ w·(x − ½), with noise.
        square: Σ w·(x − ½)², with noise.
        slack: what integers may add to either.
    """

    offset: float
    square: float
    slack: float


class Parts(NamedTuple):
    """The probabilities with which steps on the way to a deviation may fail."""

    noise: float
    offset: float
    squares: float
    centre: float

    @classmethod
    def of(cls, beta: float) -> Parts:
        """Those of an interval that misses with this probability."""
        return cls(*(part * min(beta, _NUISANCE) for part in (_NOISE, _OFFSET, _SQUARES, _CENTRE)))


@dataclass(frozen=True, eq=False)
class Spreading:
    """A weighted mean whose weights add up to one, with what its spread says.

    Attributes:
        weighing: the estimator.
        assumption: what is assumed about the data.
        times: among how many such estimators this one was chosen by what may go with the data.
    """

    weighing: Weighing
    assumption: Assumption
    times: int = 1

    def usual(self, beta: float) -> float:
        """The error of any data not exceeded but with this probability, integers not counted."""

        def far(rest: float) -> float:
            return mean.quantile(self.weighing, self.assumption, 1.0 - rest)

        return chosen(far, self.weighing.scale, self.times, beta)

    def error(self, way: Way, seen: Seen, beta: float) -> float:
        """The error not exceeded but with this probability, integers not counted.

        Args:
            way: what the spread is used for.
            seen: what was released.
            beta: the probability.
        """
        parts = Parts.of(beta)
        return self._reach(way, self.most(seen, parts.noise, parts.offset), parts, beta)

    def way(self, expected: float) -> Way | None:
        """What the spread is used for, from public facts alone; None if it is not.

        Of the ways whose interval is not much wider than that of any data, where the forecast is as
        wrong as can be, the one is taken that is forecast to be the narrowest, if it is narrower
        than that. It must not follow what was drawn: who takes the shorter of two intervals may
        miss as often as both.

        Args:
            expected: the standard deviation at which it is forecast, of data around the middle.
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
        """What is proven: nothing, where budgets are random, and go with values."""
        if abs(self.weighing.total - 1.0) > 1e-9 or not math.isfinite(self.weighing.scale):
            return ()
        if self.assumption.related is False:
            return ("chance",) if self.assumption.sampled else ("chance", "bias")
        return () if self.assumption.sampled else ("bias",)

    def deviation(self, seen: Seen, beta: float) -> tuple[float, float]:
        """A range that holds the standard deviation but with this probability.

        It is that of the population, or of these very people, each counted alike. Where budgets may
        go with values, people whose weights are small may vary more than others, by as much as
        weights allow.
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
        squares, centre = parts.squares / plain.times, parts.centre / plain.times
        return plain._smallest(low, squares + centre), plain._deviation(high, squares, centre)

    def least(self, seen: Seen, noise: float, offset: float) -> float:
        """The smallest weighted variance of these people that noise allows: see `most`."""
        if not self._readable(seen):
            return 0.0
        scale = self.weighing.scale
        square = seen.square - seen.slack + scale * math.log(2.0 * noise)
        far = abs(seen.offset) + seen.slack - scale * math.log(offset)
        return min(max(square - far * far, 0.0), 0.25)

    def most(self, seen: Seen, noise: float, offset: float) -> float:
        """The largest weighted variance of these people that noise allows.

        Args:
            seen: what was released.
            noise: the probability with which the noise of the squares may be farther below 0.
            offset: that with which the noise of the mean may be farther from 0.
        """
        if not self._readable(seen):
            return 0.25
        scale = self.weighing.scale
        square = seen.square + seen.slack - scale * math.log(2.0 * noise)
        far = max(abs(seen.offset) - seen.slack + scale * math.log(offset), 0.0)
        return min(max(square - far * far, 0.0), 0.25)

    def _readable(self, seen: Seen) -> bool:
        """Whether anything is left beside the noise, which may be beyond all floats."""
        numbers = (self.weighing.scale, seen.offset, seen.square)
        return all(math.isfinite(number) and abs(number) < _DROWNED for number in numbers)

    def _reach(self, way: Way, variance: float, parts: Parts, beta: float) -> float:
        """How far the mean may be off, of people of at most this weighted variance."""
        scale = self.weighing.scale
        rest = beta - parts.noise - parts.offset
        if way == "bias":
            known = float(mean.leaning(self.weighing, self.assumption.apart or 1.0))
            return laplace_quantile(min(known, self._leaning(variance)), scale, rest)
        rest -= parts.squares + parts.centre
        squares, centre = parts.squares / self.times, parts.centre / self.times
        deviation = self._deviation(variance, squares, centre)
        sampled = (
            SampleError(self.weighing, deviation * deviation) if self.assumption.sampled else None
        )

        def far(rest: float) -> float:
            usual = mean.quantile(self.weighing, self.assumption, 1.0 - rest)
            found = min(self._terms.reach(deviation, scale, rest), usual)
            return found if sampled is None else min(found, sampled.deviation(rest))

        return chosen(far, scale, self.times, rest)

    def _leaning(self, variance: float) -> float:
        """The largest bias among these people, if their weighted variance is at most this.

        By Cauchy and Schwarz; those of the smallest weights may count by the range instead.
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
        """What weighs the values: of people who are shuffled, weights above the least."""
        counts = self.weighing.counts.astype(np.float64)
        there = counts > 0.0
        weights = self.weighing.weights[there]
        if not self.assumption.sampled:
            weights = weights - weights.min()
        return Terms(weights, counts[there])

    @cached_property
    def _terms(self) -> Terms:
        """The same, or weights below the largest, if these are less: the sum is the same."""
        above = self._above
        if self.assumption.sampled:
            return above
        below = Terms(above.largest - above.weights, above.counts)
        return below if below.square < above.square else above

    def _smallest(self, variance: float, squares: float) -> float:
        """The smallest standard deviation that such a weighted variance of a sample allows."""
        log = -math.log(squares)

        def excess(sigma: float) -> float:
            return variance - sigma * sigma - self._above.bernstein(sigma, log)

        return bisect(excess, 0.0, math.sqrt(variance))

    def _deviation(self, variance: float, squares: float, centre: float) -> float:
        """The largest standard deviation that such a weighted variance of a sample allows."""
        lost = math.sqrt(-2.0 * self._above.square * math.log(squares))
        log = math.log(2.0 / centre)
        # Hoeffding's bound on the mean of the sample does not depend on the deviation.
        plain = math.sqrt(0.25 * lost * lost + variance + self._terms.square * log / 2.0)
        most = min(lost / 2.0 + plain, mean.WIDEST)

        def excess(sigma: float) -> float:
            off = self._terms.bernstein(sigma, log)
            return variance - sigma * sigma + lost * sigma + off * off

        if lost >= most or excess(most) >= 0.0:
            return most
        return bisect(excess, lost, most)


# The margin of a mean that was released with its spread.


class Spread(Estimated):
    """The standard deviation of the data, of people as they are weighted, in data units."""

    __slots__ = ()


@storable("risk.WeighedSpread")
@dataclass(frozen=True, eq=False)
class WeighedSpread(Weighed):
    """The margin of a weighted mean of people whose budgets are public, with their spread.

    Guarantee:
        Over all data that the assumption allows, the interval misses with a probability of at most
        1 − confidence, and so does that of the standard deviation. Whether the spread is used for
        the first follows from weights and noise alone: docs/proofs/moment.md.

    Attributes:
        offset: Σ w·(x − ½) on a unit range as it was drawn, of weights that add up to one.
        square: Σ w·(x − ½)² of the same.
        expected: the standard deviation, in parts of the range, at which intervals are forecast.
    """

    offset: float
    square: float
    expected: float = EXPECTED

    kind: ClassVar[str | None] = None

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range not exceeded with this probability, integers included."""
        times = self.times(assumption)
        way = _way(self.weighing, assumption, times, self.expected)
        if way is None:
            return super().error(assumption, confidence)
        spreading = Spreading(self.weighing, assumption, times)
        return spreading.error(way, self._seen, 1.0 - confidence) + self.slack

    def times(self, assumption: Assumption) -> int:  # noqa: ARG002
        """Among how many estimators this one was chosen by what may go with the data: itself."""
        return 1

    def uses_spread(self, assumption: Assumption) -> bool:
        """Whether intervals come from the spread that was drawn: public facts alone decide."""
        return _way(self.weighing, assumption, self.times(assumption), self.expected) is not None

    def spread(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Spread:
        """The standard deviation, with a range that holds it with at least this probability."""
        spreading = Spreading(self._alike, assumption, self.times(assumption))
        low, high = spreading.deviation(self._seen, 1.0 - confidence)
        # The square of a noisy mean is larger than that of the mean, by the variance of the noise.
        noise = 2.0 * self._alike.scale * self._alike.scale
        found = self.square - self.offset * self.offset + noise
        variance = min(max(found, 0.0), 0.25) if math.isfinite(found) else 0.25
        unit = bounds[1] - bounds[0]
        value = min(max(math.sqrt(variance), low), high)
        return Spread(value, low, high).times(unit)

    @cached_property
    def _alike(self) -> Weighing:
        """The weights that add up to one: those of a mean may be smaller."""
        whole = self.weighing
        if abs(whole.total - 1.0) < 1e-9:
            return whole
        return Weighing(whole.weights / whole.total, whole.counts, whole.scale / whole.total)

    @property
    def _seen(self) -> Seen:
        return Seen(self.offset, self.square, self.slack / min(self.weighing.total, 1.0))


@lru_cache(maxsize=64)
def _way(weighing: Weighing, assumption: Assumption, times: int, expected: float) -> Way | None:
    """See `Spreading.way`, which a release asks again and again."""
    return Spreading(weighing, assumption, times).way(expected)


# A mean whose weights were chosen among a few by a first look at the data.
#
# The first look and the mean see the same people. So what went wrong may go with which weights were
# chosen, and what is said of weights that are given has to be said of all of them at once. The
# formulas are derived in `docs/proofs/adaptive.md`. Data are on a unit range.

_EXCESS: Final = 0.05
"""What rare sums may add to a mean squared error, in parts of the smallest among the choices."""

_LEAST: Final = 1e-200
"""Squared errors below this are nothing."""


@storable("risk.WeighedAdaptively")
@dataclass(frozen=True, eq=False, kw_only=True)
class WeighedAdaptively(WeighedSpread):
    """The margin of a weighted mean whose weights were chosen by a first look at the data.

    Guarantee:
        Over all data that the assumption allows, the interval misses with a probability of at most
        1 − confidence, and so does that of the standard deviation, however the choice goes with the
        data: docs/proofs/adaptive.md.

    Attributes:
        among: how many different weights there were to choose from, with these budgets.
        choices: how many there are with any budgets.
    """

    among: int
    choices: int

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range not exceeded with this probability, integers included."""
        if self.uses_spread(assumption):
            return super().error(assumption, confidence)
        return self.usual(assumption, confidence) + self.slack

    def usual(self, assumption: Assumption, confidence: float) -> float:
        """The error of any data not exceeded with this probability, integers not counted."""
        beta = 1.0 - confidence
        if assumption.sampled and assumption.related is not False and not assumption.anything:
            # Budgets are drawn with the values, so also how many of the choices differ.
            return mean.quantile(self.weighing, assumption, 1.0 - beta / self.choices)
        return Spreading(self.weighing, assumption, self.times(assumption)).usual(beta)

    def times(self, assumption: Assumption) -> int:
        """As many as there are, where people, or who has which budget, are random.

        Where budgets may go with values, what is claimed holds for each data set by itself, or for
        the plain mean of its people, which no weights move.
        """
        return self.among if assumption.related is False else 1


def risk_of(
    goal: MeanGoal, margin: WeighedAdaptively, choices: Sequence[Weighing]
) -> tuple[float, bool]:
    """The risk of a mean whose weights were chosen by a first look, on a unit range.

    Args:
        goal: what is assumed about the data, and which error is small.
        margin: of the mean.
        choices: all weights that there were to choose from.

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
    """A bound on the mean squared error of weights that were chosen, over all choices together.

    With P(|S| > s) ≤ 2·exp(−2s²/v) the mean of (S² − a)₊ is at most v·exp(−2a/v): a is where that
    is one part of the excess.
    """
    if among == 1:
        return float(mean.mse(weighing, assumption))
    v = weighing.square if assumption.sampled else mean.permutation_proxy(weighing)
    most = 1.0 if assumption.sampled else weighing.bias**2
    often = v * among / max(excess, _LEAST)
    far = v / 2.0 * math.log(often) if often > 1.0 else 0.0
    return min(far, most) + excess + 2.0 * weighing.scale**2
