"""Margins of error: intervals around released numbers and shares.

A margin is computed from budgets, public facts and released (noisy) numbers, never from the data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from epsilons.draws.noise import PairLaw
from epsilons.frozen import remembered, storable
from epsilons.risk.counted import LevelCount, most_squares
from epsilons.risk.goals import Goal
from epsilons.risk.means import mean, ratio
from epsilons.risk.weighing import RELATED, SAMPLE, Assumption, Weighing
from epsilons.types import Floats, Integers

LEADING: Final = "an approximation that takes the noisy number of people as true"
"""Description of the risk of a ratio."""

CUT: Final = "worst case over all data, clipped to the range that was found"
"""Description of the risk of a mean on a range that was estimated from the data."""

_GRID_SHARE: Final = 0.01
"""The fraction of the error probability of a total that is reserved for the upper bound on the
number of people. This bound limits the rounding error of values on a grid."""

Bounds = tuple[float, float]


def reopened(ends: tuple[Any, Any], raw: Any, limits: Bounds) -> tuple[Any, Any]:
    """Extend intervals further into the range, if noise pushed a number outside its interval.

    An interval then reaches into the range at least as far as the number was drawn outside it. The
    new interval contains the old one, so it covers the true value with at least the same
    probability. Proof: docs/proofs/risk.md (33).

    Args:
        ends: the ends of the clipped intervals: two numbers, or two arrays.
        raw: the numbers before they were clipped.
        limits: the range of possible numbers.
    """
    (low, high), (lo, hi) = ends, limits
    with np.errstate(invalid="ignore"):  # numbers and ends can be infinite
        far = np.fmax(np.fmax(low - raw, raw - high), 0.0)
        least = np.fmin(low, np.fmax(high - far, lo))
        most = np.fmax(high, np.fmin(low + far, hi))
    return (least, most) if np.ndim(raw) else (float(least), float(most))


class Margin(Protocol):
    """The interface of all margins, with what is true of most of them."""

    staked: ClassVar[bool] = True
    """Whether the best budget cap for this estimate can be computed as for a mean or shares."""

    @property
    def kind(self) -> str | None:
        """Description of the risk; None if it is a worst case over all data."""

    @property
    def numbers(self) -> int:
        """Number of released numbers over which the mean squared error is summed."""
        return 1

    def allows(self, assumption: Assumption) -> bool:  # noqa: ARG002
        """Whether the intervals are proven to be valid under this assumption."""
        return True


class ScalarMargin(Margin, Protocol):
    """Margin of one number."""

    def interval(
        self, raw: float, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval for the number."""


class CellsMargin(Margin, Protocol):
    """Margin of the shares of categories."""

    def intervals(
        self,
        raw: Floats,
        assumption: Assumption,
        confidence: float,
    ) -> tuple[Floats, Floats]:
        """A confidence interval for each share separately."""

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Simultaneous confidence intervals for all shares."""

    def at_once(self, raw: Floats, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence."""


@storable("risk.Weighed")
@dataclass(frozen=True, eq=False)
class Weighed(Margin):
    """Margin of a weighted mean of people with public budgets.

    Guarantee:
        For all data that the assumption allows, the interval fails to cover the true value with
        probability at most 1 − confidence. It is exact for the given people if budgets may be
        related to values and everyone is used. Otherwise it is a proven bound.
        Proof: docs/proofs/risk.md (6), (9).

    Attributes:
        weighing: the estimator on a unit range.
        slack: error from rounding to integers, on a unit range.
    """

    weighing: Weighing
    slack: float

    kind: ClassVar[str | None] = None

    def interval(
        self, raw: float, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval, clipped to the bounds."""
        lo, hi = bounds
        reach = (hi - lo) * self.error(assumption, confidence)
        if math.isinf(reach):  # the raw value can also be infinite
            return lo, hi
        # With very large noise the whole interval can be outside the bounds. Then it is clipped to
        # the nearest bound.
        return min(max(raw - reach, lo), hi), max(min(raw + reach, hi), lo)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error on a unit range, at this confidence, rounding included."""
        return mean.quantile(self.weighing, assumption, confidence) + self.slack


def holds_on_any_range(assumption: Assumption) -> bool:
    """Whether claims for a fixed range also hold for a range that was estimated from the data.

    They do if only noise is random. They also do for a population whose budgets may be related to
    values in any way: for every range, the error of the sample mean of the clipped values is at
    most the width of the range times the largest error of the empirical distribution (Massart). In
    the other cases the range can depend on who has which budget.
    Proof: docs/proofs/risk.md (7), (26).
    """
    return assumption.anything if assumption.sampled else assumption.related is not False


@storable("risk.WeighedCut")
@dataclass(frozen=True, eq=False)
class WeighedCut(Weighed):
    """Margin of a weighted mean of values clipped to a range that was estimated from the data.

    Guarantee:
        The guarantee of `Weighed`, for the mean of the values clipped to any estimated range.
        Proof: docs/proofs/risk.md (7).
    """

    kind: ClassVar[str | None] = CUT

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error on a unit range, at this confidence, rounding included."""
        far = mean.quantile(self.weighing, assumption, confidence, times=mean.ON_ANY_RANGE)
        return far + self.slack

    def allows(self, assumption: Assumption) -> bool:
        """Whether claims for a fixed range also hold for an estimated one: `holds_on_any_range`."""
        return holds_on_any_range(assumption)


_COUNTS_UNRELATED: Final = 0.1
_COUNTS_WITHIN: Final = 0.5
_COUNTS: Final = 1.0 / 3.0
"""Parts of the error probability that are used for bounds on counts. The first is for the given
people with budgets unrelated to values. The second is for the given people with means that differ
by at most δ. The third is for all other cases with budgets related to values. Counts are not used
for a population with budgets unrelated to values."""

MOST_WEIGHTS: Final = 64
"""If there are more different weights than this, Σ k² is bounded by the largest one times Σ k."""


class Asked(NamedTuple):
    """The interval to compute from noisy sums. Proof: docs/proofs/add-remove.md (10), (17).

    Attributes:
        largest: the largest weight of a sample, or 0 for an interval of the weighted mean itself.
        apart: a bound on the distance between the interval's target and the true mean.
        rest: the confidence that remains for the interval.
        squares: function of an upper bound on Σ k. It returns a v with P(Σ k·(x − m) > s) ≤
            exp(−2s²/v). If it is None, v is `largest` times that upper bound.
    """

    largest: float
    apart: float
    rest: float
    squares: Callable[[float], float] | None = None

    def square(self, total: float) -> float:
        """The v of `squares` for this upper bound on Σ k; 0 for the weighted mean itself."""
        if self.squares is None or self.largest <= 0.0:
            return self.largest * total
        return self.squares(total)


@dataclass(frozen=True, eq=False, kw_only=True)
class Behind(Margin):
    """Base class of margins of noisy sums, with public facts about the weights.

    If people were counted, the choice of weights can depend on the noisy counts in any way.
    Proof: docs/proofs/add-remove.md (10), (17).

    Attributes:
        largest: the largest possible weight.
        equal: whether everyone has the same weight.
        counted: noisy counts of people on each rung (public budget level), if they were released.
    """

    largest: float
    equal: bool
    counted: LevelCount | None = None

    kind: ClassVar[str | None] = LEADING

    def asked(self, assumption: Assumption, confidence: float) -> Asked:
        """Return the interval to compute. Proof: docs/proofs/add-remove.md (10), (17).

        The weights may have been chosen by means of the counts. So the counts' part of the error
        probability is set aside even if weights are equal and the interval needs no counts.
        """
        beta, sampled, related = 1.0 - confidence, assumption.sampled, assumption.related
        part = self._part(assumption) * beta
        rest, largest = 1.0 - beta + part, self.largest
        squares = partial(self._squares, part=part, sampled=sampled) if related is False else None
        if self.equal:  # the weighted mean equals the mean
            return Asked(largest if sampled else 0.0, 0.0, rest, squares)
        if related is False and (sampled or self.counted is None):
            return Asked(largest, 0.0, rest, squares)
        # A sample varies around the means of its budget levels, which differ by at most `apart`.
        varying = 0.0 if assumption.anything or not sampled else largest
        if self.counted is None:
            return Asked(varying, assumption.apart, rest)
        # The choice between two bounds must depend only on the noisy counts.
        total, far = self.counted.total, self.counted.bias(part)
        if sampled:
            # Each bound has a sampling error, and all bounds must hold simultaneously.
            samplings = 1 if assumption.anything else 2
            far += mean.sampling_reach(max(self.counted.fewest(part), 1), part, samplings)
            near = min(far, 1.0) * assumption.apart
            # In a tie the second bound is used: the interval of the first can be the whole range.
            chance = min(near + sample_reach(varying * total, total, part), 1.0)
            found = Asked(varying, near, 1.0 - part)
            return found if chance <= min(far, 1.0) else Asked(0.0, min(far, 1.0), 1.0 - part)
        if related is not False:
            return Asked(0.0, far * assumption.apart, rest)
        square = self._squares(total, part, sampled=False)
        by_far = far < sample_reach(square, total, beta)
        return Asked(0.0, far, rest) if by_far else Asked(largest, 0.0, rest, squares)

    def _part(self, assumption: Assumption) -> float:
        """The part of the error probability that is used for bounds on counts."""
        if self.counted is None:
            return 0.0
        if assumption.related is False:
            return 0.0 if assumption.sampled else _COUNTS_UNRELATED
        near = not (assumption.sampled or assumption.anything)
        return _COUNTS_WITHIN if near else _COUNTS

    def _squares(self, total: float, part: float, *, sampled: bool) -> float:
        """A v with P(Σ k·(x − m) > s) ≤ exp(−2s²/v), if budgets are unrelated to values.

        Args:
            total: upper bound on the sum of everyone's weights.
            part: the error probability of bounds on counts; 0 if they are not used.
            sampled: whether people are a sample.
        """
        if self.counted is None or part == 0.0:
            return self.largest * total
        weights = self.counted.weights
        if len(np.unique(weights)) > MOST_WEIGHTS:
            return self.largest * total
        return most_squares(weights, total, self._heads(part), sampled=sampled)

    def _heads(self, part: float) -> Floats:
        """Upper bounds on the numbers of people on all rungs, except with probability `part`.

        They hold whenever the bounds that limit the bias hold. So counts can be used to choose
        between the two, at no further error probability.
        """
        assert self.counted is not None
        return self.counted.ends(part)[1]

    def _alone(self, total: float, assumption: Assumption) -> float:  # noqa: ARG002
        """A number of people with equal weights whose mean varies at least as much as this one."""
        return total / self.largest

    def _leading(self, goal: Goal, total: float, scale: float) -> float:
        """The leading term of the risk, taking the noisy total as true.

        Args:
            goal: the error to compute.
            total: the noisy total, in units of weight, above 0.
            scale: scale of Laplace noise with the same variance as the noise of the sums, in these
                units.
        """
        assumption, apart = goal.assumption, 0.0
        people = max(round(min(self._alone(total, assumption), _MOST_PEOPLE)), 1)
        if not self.equal and assumption.related is False:
            # With unequal weights, the error of a sample with the largest weight is an upper bound
            # on the error of a random permutation.
            assumption = SAMPLE
        elif not self.equal:
            far = 1.0 if self.counted is None else self.counted.bias(1.0 - goal.confidence)
            if assumption.sampled:
                far += 0.5 / math.sqrt(people)
            apart = min(far, 1.0)
            one_mean = assumption.anything or not assumption.sampled
            assumption = RELATED if one_mean else SAMPLE
        counts = np.array([max(people, 2)], dtype=np.int64)
        weighing = Weighing(1.0 / counts, counts, scale / total)
        unit = replace(goal, assumption=assumption).risk(weighing)
        return min(unit + goal.told(apart), goal.most)


_MOST_PEOPLE: Final = 2.0**62
"""More people than any release has. The number fits an int64."""


def sample_reach(square: float, total: float, beta: float) -> float:
    """Approximate error of a sample with this Σ k² and Σ k, by Hoeffding's inequality."""
    return min(math.sqrt(square * math.log(2.0 / beta) / 2.0) / total, 1.0) if total > 0.0 else 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class OneMean(Behind, ABC):
    """Base class of margins of the mean of an unknown number of people.

    Proof: docs/proofs/add-remove.md (3), (5).
    """

    @property
    @abstractmethod
    def sums(self) -> tuple[float, float]:
        """The noisy Σ k·x and Σ k."""

    @abstractmethod
    def unit(self, assumption: Assumption, confidence: float) -> tuple[float, float]:
        """A confidence interval on the unit range."""

    @property
    @abstractmethod
    def _sum_scale(self) -> float:
        """The scale of Laplace noise with the variance of the noise of Σ k·(x − mean)."""

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A confidence interval within the bounds."""
        lo, hi = bounds
        low, high = self.unit(assumption, confidence)
        return min(lo + (hi - lo) * low, hi), min(lo + (hi - lo) * high, hi)

    def leading(self, goal: Goal) -> float:
        """The leading term of the risk on a unit range, taking the noisy count as true."""
        total = self.sums[1]
        if total <= 0.0 or not self.largest:
            return 1.0
        return self._leading(goal, total, self._sum_scale)


@storable("risk.OpenRatio")
@dataclass(frozen=True, eq=False, kw_only=True)
class Ratio(OneMean):
    """Margin of the mean of an unknown number of people: a ratio of two noisy sums.

    Guarantee:
        For every number of people and all data that the assumption allows, the interval fails to
        cover the true mean with probability at most 1 − confidence.
        Proof: docs/proofs/add-remove.md (3), (5), (10).

    Attributes:
        law: joint distribution of the two noises.
        scheme: the two linear combinations to which noise was added.
        drawn: the noisy sum and the noisy count, in units of weight.
        slack: error from rounding values to a grid, on a unit range.
    """

    law: PairLaw
    scheme: ratio.Scheme
    drawn: tuple[float, float]
    slack: float

    def unit(self, assumption: Assumption, confidence: float) -> tuple[float, float]:
        """A confidence interval on the unit range."""
        asked = self.asked(assumption, confidence)
        low, high = ratio.interval(
            self.law,
            self.scheme,
            self.drawn,
            largest=asked.largest,
            confidence=asked.rest,
            squares=asked.square,
        )
        reach = asked.apart + self.slack
        return max(low - reach, 0.0), min(high + reach, 1.0)

    @property
    def sums(self) -> tuple[float, float]:
        """The noisy Σ k·x and Σ k."""
        return self.drawn

    def total(self, bounds: Bounds, confidence: float) -> Estimated:
        """The sum of everyone's values with an interval, if everyone has the same weight.

        Proof: docs/proofs/counts.md (4).
        """
        (lo, hi), (t, total), beta = bounds, self.drawn, 1.0 - confidence
        noise = ratio.noise_of(self.law, self._parts(bounds))
        far = ratio.quantile(noise, beta * (1.0 - _GRID_SHARE) / 2.0)
        value = ((hi - lo) * t + lo * total) / self.largest
        # Each value is rounded to a grid. The rounding error of the sum is at most `slack` times an
        # upper bound on the number of people, which the noisy total gives.
        about = ratio.quantile(ratio.noise_of(self.law, self.scheme.total), beta * _GRID_SHARE)
        grid = self.slack * (hi - lo) * max(total + about, 0.0) / self.largest
        reach = far / self.largest + grid
        return Estimated(value, value - reach, value + reach)

    def _parts(self, bounds: Bounds) -> tuple[float, float]:
        """The coefficients of the two noises in the noise of weight·(sum of values)."""
        (lo, hi), (start, whole) = bounds, (self.scheme.start, self.scheme.total)
        return (hi - lo) * start[0] + lo * whole[0], (hi - lo) * start[1] + lo * whole[1]

    @property
    def _sum_scale(self) -> float:
        return float((ratio.noise_variance(self.law, self.scheme) / 2.0) ** 0.5)


_LEADING_AT: Final = 0.05
"""The error probability of bounds on counts, if these bounds are used in leading terms."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OnRungs(OneMean):
    """Base class of margins that store the weights that people can have.

    Proof: docs/proofs/add-remove.md (15), (16).

    Attributes:
        rungs: the weights that people can have; empty if there are very many.
    """

    rungs: Integers

    def _squares(self, total: float, part: float, *, sampled: bool) -> float:
        if len(self.rungs) and (self.counted is None or part == 0.0):
            return most_squares(self.rungs, total, None, sampled=sampled)
        return super()._squares(total, part, sampled=sampled)

    def _alone(self, total: float, assumption: Assumption) -> float:
        """A number of people with equal weights whose mean varies at least as much as this one."""
        if self.equal or assumption.related is not False:
            return super()._alone(total, assumption)
        part = self._part(assumption) * _LEADING_AT
        square = self._squares(total, part, sampled=assumption.sampled)
        return total * total / square if square > 0.0 else math.inf


@storable("risk.OpenMean")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioMean(OnRungs, Ratio):
    """Margin of the mean of an unknown number of people, from a list of their possible weights.

    Guarantee:
        The guarantee of `Ratio`. Proof: docs/proofs/add-remove.md (15), (16), (17).
    """


@storable("risk.OpenCut")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioCut(Ratio):
    """Margin of a ratio of two noisy sums, on a range that was estimated from the data.

    Guarantee:
        The guarantee of `Ratio`, for the mean of the values clipped to any estimated range.
        Proof: docs/proofs/add-remove.md (11).
    """

    def allows(self, assumption: Assumption) -> bool:
        """Whether claims hold for every estimated range. For a population they never do."""
        return not assumption.sampled and holds_on_any_range(assumption)


@storable("risk.RatioTotal")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioTotal(Ratio):
    """Margin of the sum of values of an unknown number of people, who all have the same weight.

    Guarantee:
        For every number of people and all data, the interval fails to cover the true sum with
        probability at most 1 − confidence. Proof: docs/proofs/counts.md (4).

    Attributes:
        values: the range of one person's value.
    """

    values: Bounds

    staked: ClassVar[bool] = False
    kind: ClassVar[str | None] = None

    def allows(self, assumption: Assumption) -> bool:
        """Whether this is the weakest assumption.

        Everyone has the same weight, so all assumptions have the same interval, and one is shown.
        """
        return assumption.anything

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,  # noqa: ARG002
        assumption: Assumption,  # noqa: ARG002
        confidence: float,
    ) -> Bounds:
        """A confidence interval. If values have only one sign, no end has the other sign."""
        lo, hi = self.values
        ends = self.total(self.values, confidence).interval
        low, high = (max(end, 0.0) if lo >= 0.0 else end for end in ends)
        return (min(low, 0.0), min(high, 0.0)) if hi <= 0.0 else (low, high)

    def risk(self, loss: str, confidence: float) -> float:
        """The variance of the noise for the loss "mse"; otherwise the error at this confidence."""
        first, second = self._parts(self.values)
        if loss != "mse":
            noise = ratio.noise_of(self.law, (first, second))
            return ratio.quantile(noise, (1.0 - confidence) / 2.0) / self.largest
        squares = self.law.variance * (first * first + second * second)
        both = squares + 2.0 * self.law.covariance * first * second
        return both / (float(self.law.steps) * self.largest) ** 2


@storable("risk.OpenCells")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioCells(Behind):
    """Margin of the shares of an unknown number of people.

    Guarantee:
        For every number of people and all data that the assumption allows, each interval and the
        whole band fail to cover the true shares with probability at most 1 − confidence.
        Proof: docs/proofs/add-remove.md (3), (12).

    Attributes:
        drawn: the noisy count of each category, in units of weight.
        scale: scale of the discrete Laplace noise of each count.
    """

    drawn: Floats
    scale: float

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """Number of categories."""
        return len(self.drawn)

    @property
    def total(self) -> float:
        """The noisy total: the sum of all counts."""
        return math.fsum(self.drawn.tolist())

    def intervals(
        self,
        raw: Floats,  # noqa: ARG002
        assumption: Assumption,
        confidence: float,
    ) -> tuple[Floats, Floats]:
        """A confidence interval for each share separately."""
        return self._intervals(assumption, confidence)

    def sums(
        self, drawn: Floats, added: int, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """A confidence interval for each share of a sum of `added` counts.

        Proof: docs/proofs/frequencies.md (12).
        """
        asked = self.asked(assumption, confidence)
        low, high = ratio.share_intervals(
            drawn,
            self.total,
            replace(self._noises, added=added),
            largest=asked.largest,
            confidence=asked.rest,
            squares=asked.square,
        )
        return np.maximum(low - asked.apart, 0.0), np.minimum(high + asked.apart, 1.0)

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Simultaneous confidence intervals for all shares, by a union bound."""
        return self._intervals(assumption, self._each(confidence))

    def at_once(self, raw: Floats, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence."""
        low, high = self._intervals(assumption, self._each(confidence))
        share = np.clip(raw, 0.0, 1.0)
        return float(np.maximum(share - low, high - share).max())

    @property
    def crowded(self) -> Self:
        """The same margin if everyone is in the first category, whose share has the most noise.

        Proof: docs/proofs/add-remove.md (14).
        """
        first = np.arange(len(self.drawn)) == 0
        return replace(self, drawn=np.where(first, self.total, 0.0))

    def leading(self, goal: Goal, shares: Floats) -> float:
        """The leading term of the risk, taking these shares as true."""
        if self.total <= 0.0 or not self.largest:
            return goal.most
        spread = self._spread(shares)
        each = float(spread.mean() if goal.loss == "mse" else spread.max())
        return self._leading(goal, self.total, self.scale * each**0.5)

    def _spread(self, shares: Floats) -> Floats:
        """The noise variance of each share, in units of the variance of a count.

        The noise of a share is the noise of its count minus the share times the noise of the total.
        """
        return np.asarray(np.square(1.0 - shares) + (len(self.drawn) - 1) * np.square(shares))

    @property
    def _noises(self) -> ratio.OwnTotal | ratio.ApartTotal:
        return ratio.OwnTotal(self.scale, len(self.drawn))

    @remembered
    def _intervals(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        return self.sums(self.drawn, 1, assumption, confidence)

    def _each(self, confidence: float) -> float:
        """The confidence that each interval needs for all of them to hold simultaneously."""
        return 1.0 - (1.0 - confidence) / len(self.drawn)


# Estimates with confidence intervals.

Number = TypeVar("Number")


class Bracketed(NamedTuple, Generic[Number]):
    """An estimate with its confidence interval, or arrays of estimates and intervals.

    Attributes:
        value: the estimate.
        low: lower end of the interval.
        high: upper end.
    """

    value: Number
    low: Number
    high: Number

    @property
    def interval(self) -> tuple[Number, Number]:
        """The interval, at the confidence of the release."""
        return self.low, self.high


class Estimated(Bracketed[float]):
    """A number with its confidence interval."""

    __slots__ = ()

    def times(self, unit: float) -> Self:
        """Convert the number and its interval to another unit."""
        return type(self)(self.value * unit, self.low * unit, self.high * unit)


def weighted_ends(weights: Floats, ends: tuple[Floats, Floats]) -> Bounds:
    """The ends of an interval for a weighted sum, from simultaneous intervals of its terms.

    Proof: docs/proofs/groups.md (28).
    """
    sums = np.sort(np.array([ends[0] * weights, ends[1] * weights]), axis=0)
    sums = np.where(weights == 0.0, 0.0, sums).sum(axis=1)
    return float(sums[0]), float(sums[1])


# The mean of some of the people: of those who answered, or of a private subset.


@storable("risk.OneGroup")
@dataclass(frozen=True, eq=False)
class OneGroup(Margin):
    """Margin of the mean of a single group; all other people are in no group.

    Guarantee:
        The guarantee of the margin of groups. Proof: docs/proofs/groups.md (1), (2).

    Attributes:
        of: the margin of groups, for one group.
    """

    of: Any

    staked: ClassVar[bool] = False

    @property
    def kind(self) -> str | None:
        """Description of the risk."""
        kind: str | None = self.of.kind
        return kind

    def allows(self, assumption: Assumption) -> bool:
        """Whether the intervals are proven to be valid under this assumption."""
        return bool(self.of.allows(assumption))

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A confidence interval for the mean."""
        low, high = self.of.intervals(bounds, assumption, confidence)
        return float(low[0]), float(high[0])

    def unclipped(self, bounds: Bounds) -> float:
        """The mean before it was clipped to the bounds."""
        return float(self.of.unclipped(bounds)[0])

    def share(self, assumption: Assumption, confidence: float) -> tuple[float, float, float]:
        """The share of the group among all people, with a confidence interval."""
        value, low, high = (float(each[0]) for each in self.of.shares(assumption, confidence))
        return value, low, high
