"""Margins of means by private group: of people whose number is public, or unknown."""

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
    ROWS,
    Chance,
    Heights,
    Reach,
    Way,
    binned,
    grown,
    inverted,
    least_refuted,
)
from epsilons.risk.margins import Behind, Bounds, Margin
from epsilons.risk.mean import SAMPLING
from epsilons.risk.tails.combined import EDGES, PARTS, Combined, of_a_sum, of_means
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats, Integers

# Margins of means by group, where who is in which group is private.
#
# Everyone divides one unit among two cells for each group: x of them in the first, 1 − x in the
# second. The noisy shares A and B of a group's cells tell its mean, A/(A + B). What is proven about
# that is in `docs/proofs/groups.md`.

GROUPS: Final = "an approximation that takes the published shares of the groups as true"
"""What the risk of means by group is."""

LIKELY: Final = (0.6, 1.4)
"""Two groups that are compared, in parts of an average one; their means are at a fifth."""

LEADING_AT: Final = 0.05
"""The error probability at which biases are told by counts, where risks are."""

_TOGETHER: Final = 2**14
"""Groups that are worked on together."""


class GroupMargins(Margin, ABC):
    """What margins of means by group share, on cells x and 1 − x of each group in turn."""

    kind: ClassVar[str | None] = GROUPS
    staked: ClassVar[bool] = False

    @property
    @abstractmethod
    def numbers(self) -> int:
        """All groups."""

    @property
    @abstractmethod
    def weighed(self) -> Weighing:
        """What is known of weights and noise, in the unit of `cells`."""

    @property
    @abstractmethod
    def cells(self) -> Floats:
        """The noisy weights of the cells of all groups: x and 1 − x of each in turn."""

    @property
    @abstractmethod
    def integers(self) -> float:
        """What integers may add to T: to both cells the same, in parts that sum to one."""

    @abstractmethod
    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """How far a test is off, and what is left of an error probability."""

    @abstractmethod
    def owned(self, assumption: Assumption, confidence: float) -> float | None:
        """Which part of β each group's own interval takes in a pair; None: there is nothing else.

        What was drawn of the cells must not choose.
        """

    @abstractmethod
    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with a range that holds it."""

    def error_of(self, confidence: float) -> float:
        """The probability that noise without a lattice may miss with."""
        return 1.0 - confidence

    @property
    def whole(self) -> bool:
        """Whether there is one group of everybody, whose weight is known."""
        return False

    def means(self, bounds: Bounds) -> Floats:
        """The mean of each group, within the bounds; the middle where nothing can be said."""
        lo, hi = bounds
        return lo + (hi - lo) * self._estimates

    def within(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Floats:
        """The mean of each group, inside its own interval.

        A quotient outside the range is clipped to an end, which the test of the interval may
        reject. Then the mean that the test accepts most takes its place.
        """
        lo, hi = bounds
        found = self._estimates
        if not ((self._firsts < 0.0) | (self._firsts > self.weights)).any():
            return lo + (hi - lo) * found
        for some, heights in self._tests(assumption, confidence):
            low, high = inverted(self._firsts[some], self.weights[some], heights)
            estimates = found[some]
            outside = np.flatnonzero((estimates < low) | (estimates > high))
            if len(outside):
                estimates[outside] = least_refuted(
                    self._firsts[some][outside],
                    self.weights[some][outside],
                    Heights(heights.up[outside], heights.down[outside]),
                )
        return lo + (hi - lo) * found

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each group by itself, a range that holds its mean."""
        return scaled(bounds, self.unit(assumption, confidence))

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Ranges that hold the means of all groups at once."""
        each = 1.0 - (1.0 - confidence) / self.numbers
        return scaled(bounds, self.unit(assumption, each))

    def difference(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A range that holds the mean of one group less that of another, tested jointly."""
        if first == second:
            return 0.0, 0.0
        unit = bounds[1] - bounds[0]
        pair, beta = self._pair(first, second, assumption, confidence)
        low, high = pair.difference(beta)
        return unit * low, unit * high

    def ratio(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A range that holds the mean of one group over that of another, in data units.

        From −∞ to ∞ where the second mean may be 0.
        """
        if first == second:
            return 1.0, 1.0
        pair, beta = self._pair(first, second, assumption, confidence)
        return pair.ratio(bounds, beta)

    def leading(self, assumption: Assumption) -> Floats:
        """For each group, the leading term of its mean squared error on a unit range.

        At the noisy share of the group, and at most that of the worst guess: 1.
        """
        reach, _ = self.reach(assumption, LEADING_AT)
        shares = np.clip(self.weights, 0.0, 1.0)
        some, index = binned(shares)
        bias = reach.typical(some)[index]
        noise = self.weighed.scale**2 * self._variance
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (np.square(bias) + noise) / np.square(shares)
        return np.where(shares > 0.0, np.minimum(found, 1.0), 1.0)

    @property
    def _variance(self) -> Floats:
        """Of (1 − m)·z_A − m·z_B at the estimates, in units of the scale."""
        m = self._estimates
        square, closed = np.square(m) + np.square(1.0 - m), self.weighed.closed
        if closed is None:
            return 2.0 * square
        k, variance = closed.cells, closed.variance
        return variance * k / (k - 1.0) * (square - np.square(1.0 - 2.0 * m) / k)

    def unit(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """For each group, a range of the unit range that holds its mean."""
        ends = np.empty((2, self.numbers))
        for some, heights in self._tests(assumption, confidence):
            ends[:, some] = inverted(self._firsts[some], self.weights[some], heights)
        return ends[0], ends[1]

    def _tests(self, assumption: Assumption, confidence: float) -> Iterator[tuple[slice, Heights]]:
        """How far the test of each group may be off, for some groups after the other."""
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
        """Two groups, and the error probability that is left for their combination."""
        near = self.reach(assumption, self.error_of(confidence))[0]
        told = near.nearer(self.error_of(confidence))
        part = None if told else self.owned(assumption, confidence)
        return self._pair_with(part, (first, second), assumption, confidence)

    def _pair_with(
        self, part: float | None, groups: tuple[int, int], assumption: Assumption, confidence: float
    ) -> tuple[GroupPair, float]:
        """Two groups whose own intervals take this part of β each; None: half of it."""
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
        """What the people of each group weigh together, with noise."""
        return self.cells[::2] + self.cells[1::2]

    def _most(self, part: float) -> Floats:
        """What the people of each group weigh at most, but with this probability."""
        return np.ones(1) if self.whole else self.weights + self.about(part)

    def about(self, part: float) -> float:
        """How far the weight of a group may be from what was drawn, to one side."""
        far, scale = 2.0 * self.integers, self.weighed.scale
        if scale > 0.0:
            closed = self.weighed.closed
            law = of_a_sum(None if closed is None else closed.cells)
            far += scale * float(law.reach(0, np.inf, part))
        return far

    @property
    def _estimates(self) -> Floats:
        total = self.weights
        good = total > 0.0
        with np.errstate(over="ignore"):
            found = np.clip(self._firsts / np.where(good, total, 1.0), 0.0, 1.0)
        return np.where(good, found, 0.5)


@storable("risk.GroupedMeans")
@dataclass(frozen=True, eq=False)
class GroupedMeans(GroupMargins):
    """The margin of means by group, of people whose budgets are public and whose groups are not.

    Guarantee:
        Over all data that the assumption allows, and however people are in groups, each interval,
        that of each difference and ratio, and the band as a whole miss with a probability of at
        most 1 − confidence. A number δ for `related` is read within groups: the means of people of
        one group at different budgets differ by at most δ of the range. Of how many people at which
        budget are in a group it says nothing, so shares of groups have the intervals of budgets
        that may tell anything. Proof: docs/proofs/groups.md.

    Attributes:
        weighing: the estimator of one share; its weights sum to one.
        slack: what a lattice point of noise is, on a unit range.
        drawn: the noisy shares of the cells: x and 1 − x of each group in turn, and those who are
            outside of all groups.
        outside: whether the last cell is of those who are outside.
        rounding: what integers of the tally may add to each share.
    """

    weighing: Weighing
    slack: float
    drawn: Floats
    outside: bool
    rounding: float = 0.0

    def __post_init__(self) -> None:
        if self.weighing.keep is not None:
            raise ValueError("means by group are of people who are all surely used")
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """All groups."""
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
        """What integers may add to T."""
        return self.slack + self.rounding

    @property
    def whole(self) -> bool:
        """Whether there is one group of everybody."""
        return self.numbers == 1 and not self.outside

    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """How far a test is off, and what is left of an error probability: all of it."""
        return Reach(self.weighing, assumption, self._of_means, ROWS, self.whole), beta

    def owned(self, assumption: Assumption, confidence: float) -> float | None:
        """Whichever would be shorter for `LIKELY` groups: public facts alone tell."""
        average = 1.0 / (self.numbers + self.outside)
        cells = np.outer(LIKELY, (0.2, 0.8)).ravel() * average
        likely = np.full(len(self.drawn), 0.5 * average)
        likely[: len(cells)] = cells
        widths = []
        for part in (OWN, None):
            pair, beta = replace(self, drawn=likely)._pair_with(
                part, (0, 1), assumption, confidence
            )
            low, high = pair.difference(beta)
            widths.append(high - low)
        return OWN if widths[0] < widths[1] else None

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with a range that holds it."""
        if self.whole:
            return np.ones(1), np.ones(1), np.ones(1)
        if assumption.related is not False:
            assumption = Assumption(assumption.about, True)
        reach = Reach(self.weighing, assumption, of_a_sum(self._noises), 0, whole=True)
        heights = reach.heights(np.ones(1), self.error_of(confidence))
        far = self.integers * 2.0
        heights = Heights(heights.up + far, heights.down + far)
        low, high = inverted(self.weights, np.ones(self.numbers), heights)
        return np.clip(self.weights, 0.0, 1.0), low, high

    def error_of(self, confidence: float) -> float:
        """The probability that noise without a lattice may miss with.

        Integers of more than two cells that sum to zero are within one lattice point of such noise
        but for a factor e^{cells·slack/scale} of probability.
        """
        cells, scale = self._noises, self.weighing.scale
        if cells is None or cells == 2 or not scale > 0.0:
            return 1.0 - confidence
        return (1.0 - confidence) * math.exp(-cells * self.slack / scale)

    @property
    def _noises(self) -> int | None:
        closed = self.weighing.closed
        return None if closed is None else closed.cells

    @property
    def _of_means(self) -> Combined:
        return of_means(self._noises)


def scaled(bounds: Bounds, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Ends on a unit range in data units."""
    lo, hi = bounds
    low, high = ends
    return np.minimum(lo + (hi - lo) * low, hi), np.minimum(lo + (hi - lo) * high, hi)


# The margin of means by group of an unknown number of people.
#
# Under add/remove the two cells of a group are sums of weights, each with noise of its own, and
# neither their total nor how many people there are is known. A test of a mean needs neither: see
# `grouped`. Derived in `docs/proofs/groups.md`.

_ABOUT_LEVELS: Final = 0.1
"""The part of the error probability that bounds how many people stand on each rung."""

_ABOUT_TOTAL: Final = 0.05
"""The part that bounds the total, where shares are asked for."""

_UNTOLD: Final = 0.2
"""The part of β that each group's own interval takes in a pair where nobody counted people: which
of the two ways is shorter is not known before."""

_RATES: Final = np.concatenate([np.geomspace(1e-4, 0.3, 40), np.linspace(0.32, 0.9999, 60)])
"""The rates of Chernoff's bound, relative to the largest."""


@dataclass(frozen=True, eq=False)
class OpenReach(Reach):
    """The error of T, of groups among people of whom nobody knows how many there are.

    The weighing has the weights of the rungs in place of those of levels, and says nothing of how
    many people have them.

    Attributes:
        people: how many people stand on each rung at most; None if nobody counted them.
        equal: whether everyone surely has the same weight.
    """

    people: Floats | None = None
    equal: bool = False

    @property
    def way(self) -> Way:
        """What T is off by, beside noise: if weights are equal, by a sample's chance or nothing."""
        if self.equal:
            return "chance" if self.assumption.sampled else "bias"
        if self.assumption.related is False:
            return "chance"
        return "drawn" if self.assumption.sampled else "bias"

    def heights(self, shares: Floats, beta: float) -> Heights:
        """How far T may be off, for groups that weigh at most so much: see `Reach.heights`."""
        if self.way != "drawn":
            return super().heights(shares, beta)
        if self.nearer(beta):
            return self._around_all(shares, beta)
        part = SAMPLING * beta
        return self.noisy(self.of_sample(shares, part), beta - part)

    def nearer(self, beta: float) -> bool:  # noqa: ARG002
        """Whether a bound on means says more than one on weights: these alone tell."""
        return self.way == "drawn" and self.assumption.apart < float(self._bias.alone.max())

    def leaning(self, shares: Floats) -> Heights:
        """The bias among these people."""
        if self.equal:
            return Heights(*np.zeros((2, len(shares), PARTS)))
        most = self._most(shares)
        if not self.assumption.anything:
            most = np.minimum(most, self.assumption.apart * most.max(axis=1, keepdims=True))
        return Heights(most, most[:, ::-1])

    def of_sample(self, shares: Floats, part: float) -> Heights:
        """The bias among people who were drawn, and how far their plain sum is off.

        T is at most its bias around the mean of these people, and the largest weight for each unit
        that their plain sum is off.
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
        """Around what is expected with these budgets, of which all means are within `apart`."""
        largest, apart = float(self.weighing.weights.max()), self.assumption.apart
        expected = self.upper(shares, largest, beta * self.nuisance)
        log = math.log(2.0 / (beta * (1.0 - self.nuisance)))
        up = apart * expected[:, None] + self.around(expected, largest, apart).least(log)
        return Heights(up, up[:, ::-1])

    def apart(self, shares: tuple[Range, Range], times: tuple[float, float]) -> float:
        """The largest of the sum of two groups' biases: of each by itself."""
        if self.equal:
            return 0.0
        alone = float(self._bias.alone.max())
        each = zip(shares, times, strict=True)
        return sum(t * alone * share[1] / share[0] for share, t in each)

    def or_leaning(self, found: Heights, beta: float) -> Heights:  # noqa: ARG002
        """Nothing else is known of people who are shuffled."""
        return found

    @cached_property
    def seen(self) -> tuple[Floats, Floats]:
        """As of people of the largest weight, so many that their sum is that of a group."""
        largest = float(self.weighing.weights.max())
        return np.array([largest]), np.array([1.0 / largest])

    @property
    def terms(self) -> tuple[Floats, Floats, bool]:
        """The same, and not turned around."""
        return *self.seen, False

    def upper(self, shares: Floats, square: float, part: float) -> Floats:
        """A bound on what is expected, given what was drawn: see `Reach.upper`."""
        half = -0.5 * square * math.log(part)
        return np.asarray(np.square(math.sqrt(half) + np.sqrt(half + shares)))

    def heads(self, shares: Floats) -> Floats:
        """Nobody knows how many people there are."""
        return np.full(len(shares), np.inf)

    def moments(self, weights: Floats, counts: Floats, heads: Floats, scale: float) -> Chance:
        """Of Σ w·u·(x − m): in proportion to the weight of the group, at the largest weight."""
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


@storable("risk.OpenGroupedMeans")
@dataclass(frozen=True, eq=False, kw_only=True)
class OpenGroupedMeans(Behind, GroupMargins):
    """The margin of means by group, of an unknown number of people in private groups.

    Guarantee:
        For every number of people, over all data that the assumption allows, and however people are
        in groups, each interval, that of each difference and ratio, and the band as a whole miss
        with a probability of at most 1 − confidence. A number δ is read as by `GroupedMeans`.
        Proof: docs/proofs/groups.md.

    Attributes:
        weights_of: the whole weight of a person on each rung.
        drawn: the noisy sums of the cells, in units of weight: x and 1 − x of each group in turn,
            and those who are outside of all groups.
        scale: of the discrete Laplace noise of each.
        slack: what a lattice point of that is.
        outside: whether the last cell is of those who are outside.
        rounding: what integers of the tally may add to the share of a cell, for each unit of it.
    """

    weights_of: Integers
    drawn: Floats
    scale: float
    slack: float
    outside: bool
    rounding: float = 0.0

    kind = GroupMargins.kind

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """All groups."""
        return (len(self.drawn) - self.outside) // 2

    @cached_property
    def _unit(self) -> float:
        """What is counted as 1: more than any group may weigh, but for what never occurs."""
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
        """What integers may add to T."""
        return self.rounding + self.slack / self._unit

    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """How far a test is off, and what is left of an error probability."""
        people = None
        if self.counted is not None and not self.equal and assumption.related is not False:
            part = _ABOUT_LEVELS * beta
            people = self.counted.ends(part)[1]
            beta -= part
        noise = of_means(None)
        found = OpenReach(self.weighed, assumption, noise, ROWS, people=people, equal=self.equal)
        return found, beta

    def owned(self, assumption: Assumption, confidence: float) -> float | None:  # noqa: ARG002
        """The noise of the counts, which is not that of the cells, may tell what is shorter."""
        if self.counted is None:
            return _UNTOLD
        return OWN if self.scale * self.numbers < JOINTLY * self.counted.total else None

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with a range that holds it."""
        if assumption.related is not False:
            assumption = Assumption(assumption.about, True)
        largest, apart, rest = self.asked(assumption, confidence)
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
        """How far a group's weight less p times the total is off, for each part of shares p.

        Two noises count by 1 − p, all others by p: Chernoff's bound.
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
