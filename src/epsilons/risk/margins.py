"""Margins: how far the truth may be from a number, or from shares, that were released.

A margin is made from budgets, public facts and what was drawn, never from the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from epsilons.draws.noise import PairLaw
from epsilons.frozen import storable
from epsilons.risk import mean, ratio
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import Goal, MeanGoal, Words
from epsilons.risk.tails.joint import CubeNoise
from epsilons.risk.weighing import RELATED, SAMPLE, Assumption, SumNoise, Weighing
from epsilons.types import Floats

__all__ = ["Bracketed", "Estimated"]


LEADING: Final = "an approximation that takes the noisy number of people as true"
"""What the risk of a ratio is."""

CUT: Final = "worst case over all data, clipped to the range that was found"
"""What the risk of a mean on a range that was found is."""

Bounds = tuple[float, float]


class Margin:
    """What every margin has."""

    staked: ClassVar[bool] = True
    """Whether the caps that would have been best for a mean, or for shares, are those for it."""

    @property
    def numbers(self) -> int:
        """How many numbers the mean squared error beside it is summed over."""
        return 1

    def allows(self, assumption: Assumption) -> bool:  # noqa: ARG002
        """Whether intervals are proven if this is true of the data."""
        return True


class AnyMargin(Protocol):
    """What releases ask of the margin of anything."""

    @property
    def staked(self) -> bool:
        """Whether the caps that would have been best for a mean, or for shares, are those of it."""

    def allows(self, assumption: Assumption) -> bool:
        """Whether intervals are proven if this is true of the data."""

    @property
    def numbers(self) -> int:
        """How many numbers the mean squared error beside it is summed over."""

    @property
    def kind(self) -> str | None:
        """What the risk beside it is, in words; None if it is what risks are everywhere."""


class ScalarMargin(AnyMargin, Protocol):
    """The margin of one number."""

    def interval(
        self, raw: float, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A range that holds the truth with at least this probability."""


class CellsMargin(AnyMargin, Protocol):
    """The margin of the shares of categories."""

    def intervals(
        self,
        raw: Floats,
        assumption: Assumption,
        confidence: float,
    ) -> tuple[Floats, Floats]:
        """For each category by itself, a range that holds its share."""

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once."""

    def at_once(self, raw: Floats, assumption: Assumption, confidence: float) -> float:
        """The error of the worst category that is not exceeded with this probability."""


@storable("risk.Weighed")
@dataclass(frozen=True, eq=False)
class Weighed(Margin):
    """The margin of a weighted mean of people whose budgets are public.

    Guarantee:
        Over all data that the assumption allows, the interval misses with a probability of at most
        1 − confidence. It is exact for these very people if budgets may be related to values and
        everyone is surely used, and otherwise a proven bound: docs/proofs/risk.md.

    Attributes:
        weighing: the estimator on a unit range.
        slack: what integers may add to an error on a unit range.
    """

    weighing: Weighing
    slack: float

    kind: ClassVar[str | None] = None

    def interval(
        self, raw: float, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A range that holds the truth with at least this probability, cut to the bounds."""
        lo, hi = bounds
        reach = (hi - lo) * self.error(assumption, confidence)
        if math.isinf(reach):  # the raw value may be infinite then, and says nothing
            return lo, hi
        # Where the noise drowned everything the raw value may lie outside: the nearest bound.
        return min(max(raw - reach, lo), hi), max(min(raw + reach, hi), lo)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range not exceeded with this probability, integers included."""
        return mean.quantile(self.weighing, assumption, confidence) + self.slack


def holds_on_any_range(assumption: Assumption) -> bool:
    """Whether what is proven on a range that was given is so on one that was found in the data.

    It is if nothing but noise is random, and in a population whose budgets may tell anything: the
    mean of values cut to a range is off by no more than the range times the largest error of the
    empirical law, whichever the range is (Massart). Otherwise what was found may go with who has
    which budget.
    """
    return assumption.anything if assumption.sampled else assumption.related is not False


@storable("risk.WeighedCut")
@dataclass(frozen=True, eq=False)
class WeighedCut(Weighed):
    """The margin of a weighted mean of values cut to a range that was found.

    Guarantee:
        As of `Weighed`, for the mean of the values cut to the range, whatever range was found.
    """

    kind: ClassVar[str | None] = CUT

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range not exceeded with this probability, integers included."""
        far = mean.quantile(self.weighing, assumption, confidence, times=mean.ON_ANY_RANGE)
        return far + self.slack

    def allows(self, assumption: Assumption) -> bool:
        """Where what was found says nothing more."""
        return holds_on_any_range(assumption)


@dataclass(frozen=True, eq=False, kw_only=True)
class Behind(Margin):
    """What is known of the weights behind noisy sums.

    Attributes:
        largest: the largest weight that anyone can have.
        equal: whether everyone surely has the same weight.
        counted: how many people stand on each rung, if that was released.
    """

    largest: float
    equal: bool
    counted: LevelCount | None = None

    kind: ClassVar[str | None] = LEADING

    def asked(self, assumption: Assumption, confidence: float) -> tuple[float, float, float]:
        """What an interval is asked for.

        Returns:
            The largest weight of a sample, or 0 if the weighted mean itself is meant; how far that
            may lie from what is wanted; and the confidence that is left for the interval.
        """
        if self.equal:  # the weighted mean is the mean
            return self.largest if assumption.sampled else 0.0, 0.0, confidence
        related, sampled = assumption.related is not False, assumption.sampled
        if sampled and not related:
            return self.largest, 0.0, confidence
        # A sample varies around the means of its levels, and all means of these are within `apart`.
        varying = 0.0 if assumption.anything or (related and not sampled) else self.largest
        if self.counted is None:
            return varying, assumption.apart, confidence
        beta = (1.0 - confidence) / (3 if sampled else 2)
        far = self.counted.bias(beta)
        if sampled:
            samplings = 1 if assumption.anything else 2  # of either way: both hold at once
            far += mean.sampling_reach(max(self.counted.fewest(beta), 1), beta, samplings)
        ways = [
            (0.0, min(far, 1.0) * (1.0 if sampled or not related else assumption.apart)),
            (varying, min(far, 1.0) * assumption.apart),
        ]
        # Counts alone tell which is shorter; where they do not, the first is the whole range.
        total = self.counted.total
        costs = [min(apart + _sample_reach(most, total, beta), 1.0) for most, apart in ways]
        largest, apart = ways[costs[1] <= costs[0]]
        return largest, apart, 1.0 - beta

    def _leading(self, goal: Goal, total: float, scale: float) -> float:
        """The leading term of the risk, if the noisy total is the true one.

        Args:
            goal: which error.
            total: the noisy total, in units of weight; above 0.
            scale: of Laplace noise with the variance of the noise of the sums, in these units.
        """
        people = max(round(total / self.largest), 1)
        assumption, apart = goal.assumption, 0.0
        if not self.equal and assumption.related is False:
            # Where weights differ, that of a sample with the largest weight bounds shuffling's.
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


def _sample_reach(largest: float, total: float, beta: float) -> float:
    """About how far a sample of this total weight is off, by Hoeffding."""
    if largest <= 0.0:
        return 0.0
    return math.sqrt(largest * math.log(2.0 / beta) / (2.0 * total)) if total > 0.0 else 1.0


@storable("risk.Ratio")
@dataclass(frozen=True, eq=False, kw_only=True)
class Ratio(Behind):
    """The margin of a mean of an unknown number of people: the ratio of two noisy sums.

    Guarantee:
        For every number of people and over all data that the assumption allows, the interval misses
        with a probability of at most 1 − confidence: docs/proofs/add-remove.md.

    Attributes:
        law: of the pair of noises.
        scheme: which combinations it was added to.
        drawn: the sum and the count, in units of weight.
        slack: what the grid of values may add, on a unit range.
    """

    law: PairLaw
    scheme: ratio.Scheme
    drawn: tuple[float, float]
    slack: float

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A range that holds the truth with at least this probability, within the bounds."""
        lo, hi = bounds
        low, high = self.unit(assumption, confidence)
        return min(lo + (hi - lo) * low, hi), min(lo + (hi - lo) * high, hi)

    def unit(self, assumption: Assumption, confidence: float) -> tuple[float, float]:
        """A range of the unit range that holds the truth with at least this probability."""
        largest, apart, rest = self.asked(assumption, confidence)
        given = (self.law, self.scheme, self.drawn)
        low, high = ratio.interval(*given, largest=largest, confidence=rest)
        reach = apart + self.slack
        return max(low - reach, 0.0), min(high + reach, 1.0)

    def leading(self, goal: Goal) -> float:
        """The leading term of the risk on a unit range, if the noisy count is the true one."""
        total = self.drawn[1]
        if total <= 0.0 or not self.largest:
            return 1.0
        variance = ratio.noise_variance(self.law, self.scheme)
        return self._leading(goal, total, (variance / 2.0) ** 0.5)


@storable("risk.RatioCut")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioCut(Ratio):
    """The margin of a ratio of two noisy sums of values cut to a range that was found.

    Guarantee:
        As of `Ratio`, for the mean of the values cut to the range, whatever range was found.
    """

    def allows(self, assumption: Assumption) -> bool:
        """Where what was found says nothing more, for these very people."""
        return not assumption.sampled and holds_on_any_range(assumption)


@storable("risk.RatioCells")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioCells(Behind):
    """The margin of the shares of an unknown number of people.

    Guarantee:
        For every number of people and over all data that the assumption allows, each interval, and
        the band as a whole, misses with a probability of at most 1 − confidence:
        docs/proofs/add-remove.md.

    Attributes:
        drawn: the noisy count of each category, in units of weight.
        scale: of the discrete Laplace noise of each.
    """

    drawn: Floats
    scale: float

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """All categories."""
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
        """For each category by itself, a range that holds its share."""
        return self._intervals(assumption, confidence)

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Ranges that hold all shares at once."""
        return self._intervals(assumption, self._each(confidence))

    def at_once(self, raw: Floats, assumption: Assumption, confidence: float) -> float:
        """The error of the worst category that is not exceeded with this probability."""
        low, high = self._intervals(assumption, self._each(confidence))
        share = np.clip(raw, 0.0, 1.0)
        return float(np.maximum(share - low, high - share).max())

    def leading(self, goal: Goal, shares: Floats) -> float:
        """The leading term of the risk, if these shares are the true ones."""
        if self.total <= 0.0 or not self.largest:
            return goal.most
        spread = self._spread(shares)
        each = float(spread.mean() if goal.loss == "mse" else spread.max())
        return self._leading(goal, self.total, self.scale * each**0.5)

    def _spread(self, shares: Floats) -> Floats:
        """The variance of the noise of each share, in units of that of a count.

        It is the noise of its count less its part of the noise of the total.
        """
        return np.asarray(np.square(1.0 - shares) + (len(self.drawn) - 1) * np.square(shares))

    @property
    def _noises(self) -> ratio.OwnTotal | ratio.ApartTotal:
        return ratio.OwnTotal(self.scale, len(self.drawn))

    def _intervals(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        largest, apart, rest = self.asked(assumption, confidence)
        given = (self.drawn, self.total, self._noises)
        low, high = ratio.share_intervals(*given, largest=largest, confidence=rest)
        return np.maximum(low - apart, 0.0), np.minimum(high + apart, 1.0)

    def _each(self, confidence: float) -> float:
        """The confidence of each category by itself, so that all hold at once."""
        return 1.0 - (1.0 - confidence) / len(self.drawn)


# A number with its interval, or an array of them.

Number = TypeVar("Number")


class Bracketed(NamedTuple, Generic[Number]):
    """A number with its interval; or an array of numbers, each with its own.

    Attributes:
        value: the estimate.
        low: the lower end of its interval.
        high: the upper end.
    """

    value: Number
    low: Number
    high: Number

    @property
    def interval(self) -> tuple[Number, Number]:
        """A range that holds the truth with the confidence of the release."""
        return self.low, self.high


class Estimated(Bracketed[float]):
    """A number with its interval."""

    __slots__ = ()

    def times(self, unit: float) -> Self:
        """The same in another unit."""
        return type(self)(self.value * unit, self.low * unit, self.high * unit)


# The margin of one mean of some people: of those who answered, or of a private subset.


@storable("risk.OneGroup")
@dataclass(frozen=True, eq=False)
class OneGroup(Margin):
    """The margin of the mean of the only group, beside those who are in none.

    Guarantee:
        That of the margin of groups: docs/proofs/groups.md.

    Attributes:
        of: the margin of groups, of which there is one.
    """

    of: Any

    staked: ClassVar[bool] = False

    @property
    def kind(self) -> str | None:
        """What the risk beside it is, in words."""
        kind: str | None = self.of.kind
        return kind

    def allows(self, assumption: Assumption) -> bool:
        """Whether intervals are proven if this is true of the data."""
        return bool(self.of.allows(assumption))

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A range that holds the mean with at least this probability."""
        low, high = self.of.intervals(bounds, assumption, confidence)
        return float(low[0]), float(high[0])

    def share(self, assumption: Assumption, confidence: float) -> tuple[float, float, float]:
        """The share of these people among all, with a range that holds it."""
        value, low, high = (float(each[0]) for each in self.of.shares(assumption, confidence))
        return value, low, high


# Several means that are drawn together: which error is small, how far all may be at once.

_PARTS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The parts of an error probability that the data may take, beside the noise of all means."""


@dataclass(frozen=True)
class SeveralMeans(MeanGoal):
    """The error of each of several means is to be small, of the same people with the same weights.

    Attributes:
        means: how many are drawn together.
    """

    means: int = 1

    statistic: ClassVar[str] = "several means"

    @property
    def noise(self) -> SumNoise:
        """Of one mean: smaller than Laplace noise of as many parts of everyone's budget."""
        cube = CubeNoise(self.means)
        return SumNoise(cube.times, cube=cube)

    @property
    def by_bias(self) -> bool:
        """Only the quantile of Laplace noise has a closed slope."""
        return False


@storable("risk.WeighedTogether")
@dataclass(frozen=True, eq=False)
class WeighedTogether(Weighed):
    """The margin of one of several means that were drawn together.

    Guarantee:
        As of `Weighed` for each mean; and all of them are at once within `at_once` of the truth, on
        unit ranges, with at least the probability that is asked: docs/proofs/cube.md.

    Attributes:
        place: which of the means it is, from 0, in the order of the mechanism.
    """

    place: int

    def goal(self, words: Words) -> SeveralMeans:
        """What was to be small of each mean, had these words been said."""
        cube = self.weighing.cube
        return SeveralMeans(*words, means=1 if cube is None else cube.means)

    def at_once(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range that none of the means exceeds, integers included."""
        cube, beta = self.weighing.cube, 1.0 - confidence
        if cube is None:
            raise ValueError("means that are drawn together have the noise of the cube")
        scale = self.weighing.scale
        if assumption.related is not False and not assumption.sampled:
            # Nothing but noise is random: each mean is off by at most the same bias.
            bias = float(mean.leaning(self.weighing, assumption.apart))
            return cube.largest_quantile(bias, scale, beta) + self.slack
        ways = [mean.quantile(self.weighing, assumption, 1.0 - beta / cube.means)]
        if assumption.related is False:  # else budgets, which choose the way, go with values
            still = replace(self.weighing, scale=0.0, cube=None)
            ways += [
                mean.quantile(still, assumption, 1.0 - part * beta / cube.means)
                + cube.largest_quantile(0.0, scale, (1.0 - part) * beta)
                for part in _PARTS
            ]
        return min(ways) + self.slack
