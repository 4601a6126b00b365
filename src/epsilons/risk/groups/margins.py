"""Margins of means by private group, for a public or an unknown number of people."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.groups.bias import Leaning, Range
from epsilons.risk.groups.pairs import ABOUT, JOINTLY, OWN, GroupPair, PairSide
from epsilons.risk.groups.reach import (
    Chance,
    Heights,
    Reach,
    Way,
    binned,
    grown,
    inverted,
    least_refuted,
    noise_of,
    shrunk,
)
from epsilons.risk.margins import Behind, Bounds, Margin, weighted_ends
from epsilons.risk.means.mean import SAMPLING
from epsilons.risk.tails.combined import EDGES, PARTS, of_a_sum
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats, Integers

# Margins of means by group, where membership is private.
#
# Each group has two cells. A member with value x adds x to the first cell and 1 − x to the second.
# If A and B are the noisy shares of the two cells, A/(A + B) estimates the mean of the group. The
# test of a candidate m for the mean uses the statistic T = (1 − m)·A − m·B.
# Proof: docs/proofs/groups.md (1), (3).

GROUPS: Final = "an approximation that takes the published shares of the groups as true"
"""Description of the risk of means by group."""

LIKELY: Final = (0.6, 1.4)
"""Two group sizes, relative to an average group, for which methods are compared. Both means are at
a fifth of the range."""

LEADING_AT: Final = 0.05
"""Error probability of the bounds on bias that are used to compute risks."""

_TOGETHER: Final = 2**14
"""Number of groups that are processed in one batch."""


class GroupMargins(Margin, ABC):
    """Base class of margins of means by group. Proof: docs/proofs/groups.md (1), (3), (4).

    The cells are ordered by group: x, then 1 − x.
    """

    kind: ClassVar[str | None] = GROUPS
    staked: ClassVar[bool] = False
    others: int

    @property
    @abstractmethod
    def numbers(self) -> int:
        """Number of groups."""

    @property
    @abstractmethod
    def weighed(self) -> Weighing:
        """The estimator: its weights and its noise, in the units of `cells`."""

    @property
    @abstractmethod
    def cells(self) -> Floats:
        """The noisy weights of the cells of all groups, ordered by group: x, then 1 − x."""

    @property
    @abstractmethod
    def integers(self) -> float:
        """Error of the test statistic T that is due to rounding to integers."""

    @abstractmethod
    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """Return bounds on T, and the error probability that remains after computing them."""

    @abstractmethod
    def owned(self, assumption: Assumption, confidence: float) -> float | None:
        """Part of β for each group's own interval in a comparison; None if there is no joint test.

        The choice must not depend on the noisy cells. Proof: docs/proofs/groups.md (23).
        """

    @abstractmethod
    def jointly(self, assumption: Assumption, confidence: float) -> bool:
        """Whether joint tests of all pairs are likely to give narrower intervals than `band`.

        The choice must not depend on the drawn cells. Proof: docs/proofs/groups.md (26).
        """

    @abstractmethod
    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with its interval."""

    def error_of(self, confidence: float) -> float:
        """The error probability to use in the formulas for continuous noise."""
        return 1.0 - confidence

    @property
    def whole(self) -> bool:
        """Whether the only group contains everybody, so its total weight is known."""
        return False

    def means(self, bounds: Bounds) -> Floats:
        """The mean of each group; the middle of the bounds if its noisy weight is not positive."""
        lo, hi = bounds
        return lo + (hi - lo) * self._estimates

    def unclipped(self, bounds: Bounds) -> Floats:
        """The same means before they are clipped to the bounds."""
        lo, hi = bounds
        return lo + (hi - lo) * self._quotients

    def within(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Floats:
        """The mean of each group, moved into its own confidence interval.

        A quotient outside the range is clipped to an end of the range. If the test rejects this
        end, the mean with the smallest test statistic is used instead.
        """
        lo, hi = bounds
        found = self._estimates
        if not ((self._firsts < 0.0) | (self._firsts > self.weights)).any():
            return lo + (hi - lo) * found
        for some, heights in self.tests(assumption, confidence):
            low, high = inverted(self._firsts[some], self.weights[some], heights)
            estimates = found[some]
            outside = np.flatnonzero((estimates < low) | (estimates > high))
            if len(outside):
                least = least_refuted(
                    self._firsts[some][outside],
                    self.weights[some][outside],
                    Heights(heights.up[outside], heights.down[outside]),
                )
                estimates[outside] = np.clip(least, low[outside], high[outside])
        return lo + (hi - lo) * found

    def shrunk(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Floats:
        """The mean of each group, shrunk toward the pooled mean, and clipped to its own interval.

        Proof: docs/proofs/groups.md (30).
        """
        first, total = float(self._firsts.sum()), float(self.weights.sum())
        pooled = min(max(first / total, 0.0), 1.0) if total > 0.0 else 0.5
        variance = self.weighed.scale**2 * float(self._noise(np.array(pooled)))
        found = shrunk(self._firsts, self.weights, pooled, variance)
        lo, hi = bounds
        return lo + (hi - lo) * np.clip(found, *self.unit(assumption, confidence))

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """An interval for the mean of each group separately."""
        return scaled(bounds, self.unit(assumption, confidence))

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Simultaneous intervals for the means of all groups, by a union bound."""
        each = 1.0 - (1.0 - confidence) / self.numbers
        return scaled(bounds, self.unit(assumption, each))

    def difference(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval for the difference of two groups' means, by a joint test."""
        if first == second:
            return 0.0, 0.0
        unit = bounds[1] - bounds[0]
        pair, beta = self._pair(first, second, assumption, confidence)
        low, high = pair.difference(beta)
        return unit * low, unit * high

    def ratio(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval for the ratio of two groups' means, in data units.

        The interval is (−∞, ∞) if the second mean may be 0. Proof: docs/proofs/groups.md (24).
        """
        if first == second:
            return 1.0, 1.0
        pair, beta = self._pair(first, second, assumption, confidence)
        return pair.ratio(bounds, beta)

    def combination(
        self, weights: Floats, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """An interval for the weighted sum of the means.

        Two groups with weights of opposite signs are tested jointly. Otherwise the ends of
        simultaneous intervals are added up. Proof: docs/proofs/groups.md (28).
        """
        lo, unit = bounds[0], bounds[1] - bounds[0]
        some = np.flatnonzero(weights).tolist()
        if len(some) == 2 and weights[some].prod() < 0.0:
            first, second = sorted(some, key=lambda each: -weights[each])
            times = float(weights[first]), -float(weights[second])
            pair, beta = self._pair(first, second, assumption, confidence)
            low, high = pair.difference(beta, times)
        else:
            level = 1.0 - (1.0 - confidence) / max(len(some), 1)
            low, high = weighted_ends(weights, self.unit(assumption, level))
        start = lo * float(weights.sum())
        return start + unit * low, start + unit * high

    def leading(self, assumption: Assumption) -> Floats:
        """The leading term of the mean squared error of each group, on a unit range.

        It takes the noisy share of the group as true. It is at most 1, the error of the worst
        guess.
        """
        reach, _ = self.reach(assumption, LEADING_AT)
        shares = np.clip(self.weights, 0.0, 1.0)
        some, index = binned(shares)
        bias = reach.typical(some)[index]
        noise = self.weighed.scale**2 * self._noise(self._estimates)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (np.square(bias) + noise) / np.square(shares)
        return np.where(shares > 0.0, np.minimum(found, 1.0), 1.0)

    def _noise(self, m: Floats) -> Floats:
        """The variance of (1 − m)·z_A − m·z_B, in units of scale²."""
        square, closed = np.square(m) + np.square(1.0 - m), self.weighed.closed
        if closed is None:
            return 2.0 * square
        k, variance = closed.cells, closed.variance
        return variance * k / (k - 1.0) * (square - np.square(1.0 - 2.0 * m) / k)

    def unit(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """A confidence interval for the mean of each group, on the unit range."""
        ends = np.empty((2, self.numbers))
        for some, heights in self.tests(assumption, confidence):
            ends[:, some] = inverted(self._firsts[some], self.weights[some], heights)
        return ends[0], ends[1]

    def tests(self, assumption: Assumption, confidence: float) -> Iterator[tuple[slice, Heights]]:
        """Yield the critical values of the groups' tests in batches."""
        reach, beta = self.reach(assumption, self.error_of(confidence))
        part = beta * reach.spent
        shares, index = binned(self._most(part))
        found = reach.heights(shares, beta - part)
        up, down = found.up + self.integers, found.down + self.integers
        for start in range(0, self.numbers, _TOGETHER):
            some = slice(start, start + _TOGETHER)
            yield some, Heights(up[index[some]], down[index[some]])

    def _pair(
        self, first: int, second: int, assumption: Assumption, confidence: float
    ) -> tuple[GroupPair, float]:
        """Return two groups for a joint test, and the error probability that remains for it."""
        near = self.reach(assumption, self.error_of(confidence))[0]
        told = near.nearer(self.error_of(confidence))
        part = None if told else self.owned(assumption, confidence)
        return self._pair_with(part, (first, second), assumption, confidence)

    def _pair_with(
        self, part: float | None, groups: tuple[int, int], assumption: Assumption, confidence: float
    ) -> tuple[GroupPair, float]:
        """Return two groups for a joint test, and the error probability that remains for this test.

        Each group has its own interval, with error probability `part`·β, or ½·β if `part` is None.
        """
        beta = self.error_of(confidence)
        own = self.unit(assumption, 1.0 - (0.5 if part is None else part) * (1.0 - confidence))
        about = math.inf if part is None else self.about(ABOUT * beta)
        sides = []
        for group in groups:
            weight = float(self.weights[group])
            estimate = float(self._firsts[group]) / weight if weight > 0.0 else 0.5
            share = max(weight - about, 0.0), max(min(weight + about, 1.0), 0.0)
            sides.append(
                PairSide(weight, estimate, share, (float(own[0][group]), float(own[1][group])))
            )
        left = beta * (1.0 - 2.0 * (part or 0.0) - 4.0 * ABOUT)
        reach, left = self.reach(assumption, left)
        closed = self.weighed.closed
        cells = None if closed is None else closed.cells
        return GroupPair(reach, cells, (sides[0], sides[1]), self.integers), left

    @property
    def _firsts(self) -> Floats:
        return self.cells[::2]

    @cached_property
    def weights(self) -> Floats:
        """The noisy total weight of the people in each group."""
        return self.cells[::2] + self.cells[1::2]

    def _most(self, part: float) -> Floats:
        """Upper bound on the total weight of each group, except with probability `part`."""
        return np.ones(1) if self.whole else self.weights + self.about(part)

    def about(self, part: float) -> float:
        """One-sided bound on the error of the noisy weight of a group.

        Proof: docs/proofs/groups.md (4).
        """
        far, scale = 2.0 * self.integers, self.weighed.scale
        if scale > 0.0:
            closed = self.weighed.closed
            law = of_a_sum(None if closed is None else closed.cells, 1 + self.others)
            far += scale * float(law.reach(0, np.inf, part))
        return far

    @property
    def _quotients(self) -> Floats:
        total = self.weights
        good = total > 0.0
        with np.errstate(over="ignore"):
            return np.where(good, self._firsts / np.where(good, total, 1.0), 0.5)

    @property
    def _estimates(self) -> Floats:
        return np.asarray(np.clip(self._quotients, 0.0, 1.0))


@storable("risk.GroupedMeans")
@dataclass(frozen=True, eq=False)
class GroupedMeans(GroupMargins):
    """Margin of means by group, for people with public budgets and private membership.

    Guarantee:
        Each interval (also of a difference or a ratio) and the whole band fail to cover the true
        values with probability at most 1 − confidence. This is true for all data that the
        assumption allows, and for all memberships. A number δ for `related` refers to each group:
        the means of its people at different budgets differ by at most δ of the range. It does not
        restrict how many people at each budget are in a group. So intervals of shares allow budgets
        that are related to membership in any way.
        Proof: docs/proofs/groups.md (1), (3), (19).

    Attributes:
        weighing: the estimator of one share; its weights sum to one.
        slack: length of one lattice step of the noise, on a unit range.
        drawn: the noisy shares of the cells: x and 1 − x of each group in turn, then people in no
            group.
        outside: whether the last cell holds the people in no group.
        rounding: error of each share that is due to rounding in the tally.
        others: number of table cells that add up to the second cell of a group.
    """

    weighing: Weighing
    slack: float
    drawn: Floats
    outside: bool
    rounding: float = 0.0
    others: int = 1

    def __post_init__(self) -> None:
        if self.weighing.keep is not None:
            raise ValueError("means by group do not support sampling")
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """Number of groups."""
        return (len(self.drawn) - self.outside) // 2

    @property
    def weighed(self) -> Weighing:
        """The estimator of one share."""
        return self.weighing

    @property
    def cells(self) -> Floats:
        """The noisy shares of the cells of all groups."""
        return self.drawn[: 2 * self.numbers]

    @property
    def integers(self) -> float:
        """Error of T due to rounding to integers."""
        return self.slack * self.others + self.rounding

    @property
    def whole(self) -> bool:
        """Whether the only group contains everybody."""
        return self.numbers == 1 and not self.outside

    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """Return bounds on T, and `beta`: computing them uses none of the error probability."""
        noise = noise_of(self._noises, self.others)
        return Reach(self.weighing, assumption, *noise, self.whole), beta

    def owned(self, assumption: Assumption, confidence: float) -> float | None:
        """Return `OWN` if a joint test shortens the interval for two `LIKELY` groups, else None.

        The choice depends on public facts alone.
        """
        widths = []
        for part in (OWN, None):
            pair, beta = self._likely._pair_with(part, (0, 1), assumption, confidence)
            low, high = pair.difference(beta)
            widths.append(high - low)
        return OWN if widths[0] < widths[1] else None

    def jointly(self, assumption: Assumption, confidence: float) -> bool:
        """Whether a joint test gives a narrower interval than the band, for two `LIKELY` groups.

        The choice depends on public facts alone.
        """
        if assumption.sampled and assumption.related is not False:
            return False
        beta, likely, unit = 1.0 - confidence, self._likely, (0.0, 1.0)
        level = 1.0 - beta / math.comb(self.numbers, 2)
        low, high = likely.difference(0, 1, unit, assumption, level)
        lows, highs = likely.band(unit, assumption, confidence)
        return high - low < float((highs - lows)[:2].sum())

    @cached_property
    def _likely(self) -> GroupedMeans:
        """The same margin with two `LIKELY` groups in place of the drawn shares."""
        average = 1.0 / (self.numbers + self.outside)
        cells = np.outer(LIKELY, (0.2, 0.8)).ravel() * average
        likely = np.full(len(self.drawn), 0.5 * average)
        likely[: len(cells)] = cells
        return replace(self, drawn=likely)

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with its interval."""
        if self.whole:
            return np.ones(1), np.ones(1), np.ones(1)
        return self.sums(assumption.of_membership, confidence)

    def sums(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The weight of each group, with its interval. Proof: docs/proofs/frequencies.md (12).

        Args:
            assumption: the assumption about membership in a group.
            confidence: the confidence of each interval separately.
        """
        noise = of_a_sum(self._noises, 1 + self.others)
        reach = Reach(self.weighing, assumption, noise, 0, whole=True)
        heights = reach.heights(np.ones(1), self.error_of(confidence))
        far = self.integers * 2.0
        heights = Heights(heights.up + far, heights.down + far)
        low, high = inverted(self.weights, np.ones(self.numbers), heights)
        return np.clip(self.weights, 0.0, 1.0), low, high

    def error_of(self, confidence: float) -> float:
        """The error probability to use in the formulas for continuous noise.

        Proof: docs/proofs/groups.md (11).

        With noise that sums to zero over more than two cells, integer noise is within one lattice
        step of continuous noise, up to a factor e^{cells·slack/scale} in probability.
        """
        cells, scale = self._noises, self.weighing.scale
        if cells is None or cells == 2 or not scale > 0.0:
            return 1.0 - confidence
        return (1.0 - confidence) * math.exp(-cells * self.slack / scale)

    @property
    def _noises(self) -> int | None:
        closed = self.weighing.closed
        return None if closed is None else closed.cells


def scaled(bounds: Bounds, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Convert interval ends from the unit range to data units."""
    lo, hi = bounds
    low, high = ends
    return np.minimum(lo + (hi - lo) * low, hi), np.minimum(lo + (hi - lo) * high, hi)


# Means by group of an unknown number of people.
#
# Under add/remove, the two cells of a group are sums of weights with independent noise. Neither
# their total nor the number of people is known, and the test of a mean needs neither.
# Proof: docs/proofs/groups.md (2), (25).

_ABOUT_LEVELS: Final = 0.1
"""Part of the error probability that is used to bound the number of people on each rung."""

_ABOUT_TOTAL: Final = 0.05
"""Part of the error probability that is used to bound the total, for intervals of shares."""

_UNTOLD: Final = 0.2
"""Part of β for each group's own interval in a comparison, if people were not counted. It is then
unknown whether a joint test or separate intervals are shorter."""

_RATES: Final = np.concatenate([np.geomspace(1e-4, 0.3, 40), np.linspace(0.32, 0.9999, 60)])
"""Rates of Chernoff's bound, relative to the largest one."""


@dataclass(frozen=True, eq=False)
class RatioReach(Reach):
    """Bounds on T for groups, if the number of people is unknown.

    Proof: docs/proofs/groups.md (25).

    The estimator `weighing` contains the weight of each rung (budget level). Its counts have no
    meaning.

    Attributes:
        people: upper bound on the number of people on each rung; None if people were not counted.
        equal: whether everyone has the same weight.
    """

    people: Floats | None = None
    equal: bool = False

    @property
    def way(self) -> Way:
        """The kind of error of T other than noise.

        With equal weights there is no bias, so only a sample has such an error.
        """
        if self.equal:
            return "chance" if self.assumption.sampled else "bias"
        if self.assumption.related is False:
            return "chance"
        return "drawn" if self.assumption.sampled else "bias"

    def heights(self, shares: Floats, beta: float) -> Heights:
        """Critical values of T, for groups of at most these weights: see `Reach.heights`."""
        if self.way != "drawn":
            return super().heights(shares, beta)
        if self.nearer(beta):
            return self._around_all(shares, beta)
        part = SAMPLING * beta
        return self.noisy(self.of_sample(shares, part), beta - part)

    def nearer(self, beta: float) -> bool:  # noqa: ARG002
        """Whether δ gives a smaller bound on the bias than the weights do.

        The choice depends only on δ and on weights.
        """
        return self.way == "drawn" and self.assumption.apart < float(self._bias.alone.max())

    def leaning(self, shares: Floats) -> Heights:
        """The largest bias among the given people."""
        if self.equal:
            return Heights(*np.zeros((2, len(shares), PARTS)))
        most = self._most(shares)
        if not self.assumption.anything:
            most = np.minimum(most, self.assumption.apart * most.max(axis=1, keepdims=True))
        return Heights(most, most[:, ::-1])

    def of_sample(self, shares: Floats, part: float) -> Heights:
        """Bias among sampled people, plus the sampling error of their unweighted sum.

        T is at most its bias around the sample mean, plus the largest weight times the error of the
        unweighted sum. Proof: docs/proofs/groups.md (25).
        """
        weights = self.weighing.weights
        some = weights[weights > 0.0]
        if self.people is None and not weights.min() > 0.0:
            return Heights(*np.full((2, len(shares), PARTS), np.inf))
        unheard = 0.0 if self.people is None else float(self.people[weights <= 0.0].sum())
        heads = self.upper(unheard + shares / float(some.min()), 1.0, part * self.nuisance)
        rates = self.rates(1.0, 0.0)
        plain = Chance(rates, heads[:, None, None] * grown(rates))
        far = plain.least(math.log(2.0 / (part * (1.0 - self.nuisance))))
        up = self._most(shares).max(axis=1, keepdims=True) + float(weights.max()) * far
        return Heights(up, up[:, ::-1])

    def _around_all(self, shares: Floats, beta: float) -> Heights:
        """Critical values, if conditional means given the budgets differ by at most `apart`."""
        largest, apart = float(self.weighing.weights.max()), self.assumption.apart
        expected = self.upper(shares, largest, beta * self.nuisance)
        log = math.log(2.0 / (beta * (1.0 - self.nuisance)))
        up = apart * expected[:, None] + self.around(expected, largest, apart).least(log)
        return Heights(up, up[:, ::-1])

    def apart(self, shares: tuple[Range, Range], times: tuple[float, float]) -> float:
        """Bound on the sum of two groups' biases: the sum of their separate bounds."""
        if self.equal:
            return 0.0
        alone = float(self._bias.alone.max())
        each = zip(shares, times, strict=True)
        return sum(t * alone * share[1] / share[0] for share, t in each)

    def or_leaning(self, found: Heights, beta: float) -> Heights:  # noqa: ARG002
        """Return `found` unchanged: there is no second bound to compare it with."""
        return found

    @cached_property
    def seen(self) -> tuple[Floats, Floats]:
        """The largest weight, and how many people with this weight have a total weight of 1."""
        largest = float(self.weighing.weights.max())
        return np.array([largest]), np.array([1.0 / largest])

    @property
    def terms(self) -> tuple[Floats, Floats, bool]:
        """`seen`, and False: unlike in `Reach.terms`, the sign of T is never flipped."""
        return *self.seen, False

    def upper(self, shares: Floats, square: float, part: float) -> Floats:
        """Bound on the expected weight of a group, given its weight in the sample."""
        half = -0.5 * square * math.log(part)
        return np.asarray(np.square(math.sqrt(half) + np.sqrt(half + shares)))

    def heads(self, shares: Floats) -> Floats:
        """Infinity for each share, which is no limit: the number of people is unknown."""
        return np.full(len(shares), np.inf)

    def moments(self, weights: Floats, counts: Floats, heads: Floats, scale: float) -> Chance:
        """Bounds on moments of Σ w·u·(x − m), in proportion to the weight of the group."""
        rates = self.rates(float(weights.max()), scale)
        logs = (heads * float(counts[0]))[:, None, None] * grown(rates * float(weights[0]))
        return self.chance(rates, logs, scale)

    @property
    def _square(self) -> float:
        return float(self.weighing.weights.max())

    def _most(self, shares: Floats) -> Floats:
        if self.people is None:
            return shares[:, None] * self._bias.alone
        return self._bias.most(shares)

    @cached_property
    def _bias(self) -> Leaning:
        weights = self.weighing.weights
        return Leaning(weights, np.ones(len(weights)) if self.people is None else self.people)


@storable("risk.OpenGroups")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioGroups(Behind, GroupMargins):
    """Margin of means by group, for an unknown number of people and private membership.

    Guarantee:
        Each interval (also of a difference or a ratio) and the whole band fail to cover the true
        values with probability at most 1 − confidence. This is true for every number of people, all
        data that the assumption allows, and all memberships. A number δ has the same meaning as for
        `GroupedMeans`.
        Proof: docs/proofs/groups.md (2), (25).

    Attributes:
        weights_of: integer weight of a person on each rung.
        drawn: noisy sums of the cells in units of weight: x and 1 − x of each group in turn, then
            people in no group.
        scale: scale of the discrete Laplace noise of each sum.
        slack: length of one lattice step of that noise, in units of weight.
        outside: whether the last cell holds the people in no group.
        rounding: error of a cell that is due to rounding in the tally, as a fraction of the total
            weight.
        others: number of table cells that add up to the second cell of a group.
    """

    weights_of: Integers
    drawn: Floats
    scale: float
    slack: float
    outside: bool
    rounding: float = 0.0
    others: int = 1

    kind = GroupMargins.kind

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """Number of groups."""
        return (len(self.drawn) - self.outside) // 2

    @cached_property
    def _unit(self) -> float:
        """The unit of weight. It is so large that in practice no group has more weight."""
        return float(np.abs(self.drawn).sum()) + 1e3 * self.scale

    @cached_property
    def weighed(self) -> Weighing:
        """The weights of the rungs, and the noise."""
        weights = self.weights_of / self._unit
        return Weighing(weights, np.ones(len(weights), dtype=np.int64), self.scale / self._unit)

    @property
    def cells(self) -> Floats:
        """The noisy weights of the cells of all groups."""
        return self.drawn[: 2 * self.numbers] / self._unit

    @property
    def integers(self) -> float:
        """Error of T due to rounding to integers."""
        return self.rounding + self.slack * self.others / self._unit

    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """Return bounds on T, and the error probability that remains after bounding counts."""
        people = None
        if self.counted is not None and assumption.related is not False:
            # The counts may have been used to choose equal weights. So they use their part of the
            # error probability even if weights are equal and no bound on the counts is needed.
            part = _ABOUT_LEVELS * beta
            people = None if self.equal else self.counted.ends(part)[1]
            beta -= part
        noise = noise_of(None, self.others)
        found = RatioReach(self.weighed, assumption, *noise, people=people, equal=self.equal)
        return found, beta

    def owned(self, assumption: Assumption, confidence: float) -> float | None:  # noqa: ARG002
        """Part of β for each group's own interval in a comparison.

        The choice depends on noisy counts, not on drawn cells.
        """
        if self.counted is None:
            return _UNTOLD
        return OWN if self.scale * self.numbers < JOINTLY * self.counted.total else None

    def jointly(self, assumption: Assumption, confidence: float) -> bool:
        """Whether two groups are tested jointly. It depends on noisy counts, not on drawn cells."""
        related = assumption.sampled and assumption.related is not False
        return not related and self.owned(assumption, confidence) == OWN

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with its interval."""
        if assumption.related is not False:
            assumption = Assumption(assumption.about, True)
        largest, apart, rest, _ = self.asked(assumption, confidence)
        total = float(self.drawn.sum())
        if total <= 0.0:
            nothing = np.full(self.numbers, 0.5)
            return nothing, np.zeros(self.numbers), np.ones(self.numbers)
        weights = self.weights * self._unit
        far = self._far(total, largest, 1.0 - rest)
        far = far + 2.0 * self.rounding * total + len(self.drawn) * self.slack
        heights = Heights(far[None], far[None])
        low, high = inverted(weights, np.full(self.numbers, total), heights)
        value = np.clip(weights / total, 0.0, 1.0)
        return value, np.maximum(low - apart, 0.0), np.minimum(high + apart, 1.0)

    def _far(self, total: float, largest: float, beta: float) -> Floats:
        """Bound on |noisy weight of a group − p·noisy total|, for each bin of shares p.

        Chernoff's bound: the noises of the group's two cells have the factor 1 − p, all others have
        −p.
        Proof: docs/proofs/groups.md (25).
        """
        cells, part = len(self.drawn), _ABOUT_TOTAL * beta
        low, high = EDGES[:-1, None], EDGES[1:, None]
        rates = _RATES / self.scale
        log = math.log(2.0 / (beta - part))
        logs = -2.0 * np.log1p(-np.square(_RATES * (1.0 - low)))
        logs = logs - (cells - 2) * np.log1p(-np.square(_RATES * high))
        if largest > 0.0:
            about = -cells * np.log1p(-np.square(_RATES)) - math.log(part)
            most = max(total + self.scale * float((about / _RATES).min()), 0.0)
            half = -0.5 * largest * math.log(part)
            expected = (math.sqrt(half) + math.sqrt(half + most)) ** 2
            rates = np.minimum(rates, 60.0 / largest)
            logs = logs + expected / largest * grown(rates * largest)
        return np.asarray(((logs + log) / rates).min(axis=1))
