"""Margins of means by group, where who is in which group is private.

Everyone divides one unit among two cells for each group: x of them in the first, 1 − x in the
second. The noisy shares A and B of a group's cells tell its mean, A/(A + B). What is proven about
that is in `docs/proofs/groups.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.assumptions import Assumption
from epsilons.risk.combined import Combined, of_a_sum, of_means
from epsilons.risk.group_pairs import ABOUT, OWN, Pair, Side
from epsilons.risk.group_reach import ROWS, Heights, Reach, binned, inverted
from epsilons.risk.margins import Bounds, Margin
from epsilons.risk.weighing import Weighing
from epsilons.types import Booleans, Floats

GROUPS: Final = "leading term at the noisy shares of the groups"
"""What the risk of means by group is."""

TELLING: Final = 0.8
"""An interval of more than this part of the range tells nothing."""

_TOGETHER: Final = 2**14
"""Groups that are worked on together."""


@storable
@dataclass(frozen=True, eq=False)
class GroupedMeans(Margin):
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

    kind: ClassVar[str | None] = GROUPS

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """All groups."""
        return (len(self.drawn) - self.outside) // 2

    def means(self, bounds: Bounds) -> Floats:
        """The mean of each group, within the bounds; the middle where nothing can be said."""
        lo, hi = bounds
        return lo + (hi - lo) * self._estimates

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each group by itself, a range that holds its mean."""
        return scaled(bounds, self.unit(assumption, confidence))

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Ranges that hold the means of all groups at once."""
        return scaled(bounds, self.unit(assumption, self._each(confidence)))

    def at_once(self, bounds: Bounds, assumption: Assumption, confidence: float) -> float:
        """The error of the worst group that is not exceeded with this probability."""
        low, high = self.band(bounds, assumption, confidence)
        value = self.means(bounds)
        return float(np.maximum(value - low, high - value).max())

    def tells(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Booleans:
        """For each group, whether its interval says anything: where it is not nearly the range."""
        low, high = self.intervals(bounds, assumption, confidence)
        return np.asarray(high - low <= TELLING * (bounds[1] - bounds[0]))

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with a range that holds it."""
        value = np.clip(self._weights, 0.0, 1.0)
        if self._whole:
            return np.ones(1), np.ones(1), np.ones(1)
        if assumption.related is not False:
            assumption = Assumption(assumption.about, True)
        reach = Reach(self.weighing, assumption, self._of_sums, 0, whole=True)
        heights = reach.heights(np.ones(1), self._beta(confidence))
        far = self._integers * 2.0
        heights = Heights(heights.up + far, heights.down + far)
        low, high = inverted(self._weights, np.ones(self.numbers), heights)
        return value, low, high

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

    def _pair(
        self, first: int, second: int, assumption: Assumption, confidence: float
    ) -> tuple[Pair, float]:
        beta = self._beta(confidence)
        own = self.unit(assumption, 1.0 - OWN * (1.0 - confidence))
        about = self._about(ABOUT * beta)
        reach = Reach(self.weighing, assumption, self._of_means, ROWS)
        sides = []
        for group in (first, second):
            weight = float(self._weights[group])
            estimate = float(self._firsts[group]) / weight if weight > 0.0 else 0.5
            share = max(weight - about, 0.0), max(min(weight + about, 1.0), 0.0)
            sides.append(
                Side(weight, estimate, share, (float(own[0][group]), float(own[1][group])))
            )
        pair = Pair(reach, self._cells, (sides[0], sides[1]), self._integers)
        return pair, beta * (1.0 - 2.0 * OWN - 4.0 * ABOUT)

    def unit(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """For each group, a range of the unit range that holds its mean."""
        beta = self._beta(confidence)
        reach = Reach(self.weighing, assumption, self._of_means, ROWS, self._whole)
        part = beta * reach.spent
        shares, index = binned(self._most(part))
        found = reach.heights(shares, beta - part)
        up, down = found.up + self._integers, found.down + self._integers
        ends = np.empty((2, self.numbers))
        for start in range(0, self.numbers, _TOGETHER):
            some = slice(start, start + _TOGETHER)
            heights = Heights(up[index[some]], down[index[some]])
            ends[:, some] = inverted(self._firsts[some], self._totals[some], heights)
        return ends[0], ends[1]

    @cached_property
    def _firsts(self) -> Floats:
        return self.drawn[: 2 * self.numbers : 2]

    @cached_property
    def _weights(self) -> Floats:
        """What the people of each group weigh together, with noise."""
        return self._firsts + self.drawn[1 : 2 * self.numbers : 2]

    @property
    def _whole(self) -> bool:
        """Whether there is one group of everybody."""
        return self.numbers == 1 and not self.outside

    @property
    def _totals(self) -> Floats:
        return np.ones(1) if self._whole else self._weights

    def _most(self, part: float) -> Floats:
        """What the people of each group weigh at most, but with this probability."""
        return np.ones(1) if self._whole else self._weights + self._about(part)

    def _about(self, part: float) -> float:
        """How far the weight of a group may be from what was drawn, to one side."""
        far = 2.0 * self._integers
        if self.weighing.scale > 0.0:
            far += self.weighing.scale * float(self._of_sums.reach(0, np.array(1e9), part))
        return far

    @property
    def _integers(self) -> float:
        """What integers may add to T: to both shares the same, in parts that sum to one."""
        return self.slack + self.rounding

    @property
    def _cells(self) -> int | None:
        closed = self.weighing.closed
        return None if closed is None else closed.cells

    @property
    def _of_means(self) -> Combined:
        return of_means(self._cells)

    @property
    def _of_sums(self) -> Combined:
        return of_a_sum(self._cells)

    @property
    def _estimates(self) -> Floats:
        total = self._totals
        good = total > 0.0
        with np.errstate(over="ignore"):
            found = np.clip(self._firsts / np.where(good, total, 1.0), 0.0, 1.0)
        return np.where(good, found, 0.5)

    def _beta(self, confidence: float) -> float:
        """The probability that noise without a lattice may miss with.

        Integers of more than two cells that sum to zero are within one lattice point of such noise
        but for a factor e^{cells·slack/scale} of probability.
        """
        cells, scale = self._cells, self.weighing.scale
        if cells is None or cells == 2 or not scale > 0.0:
            return 1.0 - confidence
        return (1.0 - confidence) * math.exp(-cells * self.slack / scale)

    def _each(self, confidence: float) -> float:
        """The confidence of each group by itself, so that all hold at once."""
        return 1.0 - (1.0 - confidence) / self.numbers


def scaled(bounds: Bounds, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Ends on a unit range in data units."""
    lo, hi = bounds
    low, high = ends
    return np.minimum(lo + (hi - lo) * low, hi), np.minimum(lo + (hi - lo) * high, hi)
