"""What the spread of the data, released beside a mean, says of how far the mean is off.

The formulas are derived in `docs/proofs/moment.md`. Data are on a unit range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from epsilons.risk import mean
from epsilons.risk.assumptions import SAMPLE, Assumption
from epsilons.risk.sampled import Sampled
from epsilons.risk.sums import Terms
from epsilons.risk.tails import bisect, chosen, laplace_quantile
from epsilons.risk.weighing import Weighing

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
        sampled = Sampled(self.weighing, deviation * deviation) if self.assumption.sampled else None

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
