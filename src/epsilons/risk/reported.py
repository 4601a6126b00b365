"""Margins of estimates from local reports: over all populations, and with some who lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.frozen import storable
from epsilons.risk import local
from epsilons.risk.around import AroundCells, around
from epsilons.risk.assumptions import Assumption
from epsilons.risk.local import Sums
from epsilons.risk.margins import AnyMargin, Bounds, Margin
from epsilons.risk.mean import sampling_reach
from epsilons.types import Floats


class VectorMargin(AnyMargin, Protocol):
    """The margin of a mean vector."""

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each coordinate by itself, a range that holds its mean."""

    def radius(self, assumption: Assumption, confidence: float) -> float:
        """How far the true mean is from the estimate at most, in ℓ2."""


@storable("risk.Reported")
@dataclass(frozen=True, eq=False)
class Reported(Margin):
    """The margin of a mean, or of a share, from local reports.

    Guarantee:
        Over all populations on the range, the probability that the interval misses is at most
        1 − confidence: a Chernoff bound with the exact moment generating function of the Laplace
        part and Hoeffding's for what is bounded.

    Attributes:
        sums: sums over people, of budgets and weights alone.
        slack: what the grid may add to an error, on a unit range.
        people: how many reports there are.
    """

    sums: Sums
    slack: float
    people: int

    kind: ClassVar[str | None] = None

    def interval(
        self, raw: float, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A range that holds the truth with at least this probability, cut to the bounds."""
        lo, hi = bounds
        far, rest = _apart(self.sums, self.people, assumption, 1.0 - confidence)
        reach = (hi - lo) * far + self.reach(bounds, 1.0 - rest)
        return min(max(raw - reach, lo), hi), max(min(raw + reach, hi), lo)

    def influence(self, lies: int, raw: float, bounds: Bounds) -> float:
        """How far so many dishonest reports can have moved the estimate, in data units.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to the number of people.
        """
        lo, hi = bounds
        off = abs(raw - (lo + hi) / 2.0) / (hi - lo)
        return (hi - lo) * _moved(lies, self.people, self.sums, off)

    def mse(self, bounds: Bounds) -> float:
        """The worst-case mean squared error over all populations, in squared data units."""
        lo, hi = bounds
        return (hi - lo) ** 2 * (self.sums.variance / self.sums.weight**2 + self.slack * self.slack)

    def reach(self, bounds: Bounds, confidence: float) -> float:
        """The error not exceeded with this probability, in data units."""
        lo, hi = bounds
        sums = self.sums
        far = local.chernoff(sums.proxy, sums.tail, sums.largest, 1.0 - confidence)
        return (hi - lo) * (far / sums.weight + self.slack)


@storable("risk.ReportedCells")
@dataclass(frozen=True, eq=False)
class ReportedCells(AroundCells):
    """The margin of shares of categories from local reports.

    Attributes:
        sums: sums over people, of budgets and weights alone.
        cells: the number of categories.
        people: how many reports there are.
        middle: of what one report says of the share of a category.
    """

    sums: Sums
    cells: int
    people: int
    middle: float

    kind: ClassVar[str | None] = None

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each category by itself, a range that holds its share, cut to [0, 1]."""
        far, rest = _apart(self.sums, self.people, assumption, 1.0 - confidence)
        return around(raw, far + self.reach(rest))

    def influence(self, lies: int, raw: Floats) -> float:
        """How far so many dishonest reports can have moved the share of any category.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to the number of people.
        """
        off = float(np.abs(raw - self.middle).max())
        return _moved(lies, self.people, self.sums, off)

    def mse(self) -> float:
        """The worst-case mean squared error of a share, over all populations."""
        return self.sums.variance / self.sums.weight**2

    def reach(self, beta: float) -> float:
        """The error of one share that is exceeded with a probability of at most beta."""
        return local.chernoff(self.sums.proxy, 0.0, 0.0, beta) / self.sums.weight

    def worst(self, assumption: Assumption, confidence: float) -> float:
        """The largest error of any share not exceeded with this probability."""
        beta = (1.0 - confidence) / self.cells
        far, rest = _apart(self.sums, self.people, assumption, beta)
        return far + self.reach(rest)


@storable("risk.ReportedVector")
@dataclass(frozen=True, eq=False)
class ReportedVector(Margin):
    """The margin of the mean of vectors in a ball, from local reports.

    Guarantee:
        Over all populations in the ball. The square of the radius grows as d + ln(1/β), not as
        d·ln(1/β).

    Attributes:
        sums: sums over people, in the unit ball: of budgets and weights alone.
        dimension: of the vectors.
        ball: the radius of the ball that holds all vectors.
        people: how many reports there are.
    """

    sums: Sums
    dimension: int
    ball: float
    people: int

    kind: ClassVar[str | None] = None
    staked: ClassVar[bool] = False

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each coordinate by itself, a range that holds its mean, cut to the ball."""
        proxy = self.sums.proxy + self.sums.bounded
        far, rest = _apart(self.sums, self.people, assumption, 1.0 - confidence)
        own = local.chernoff(proxy, 0.0, 0.0, rest) / self.sums.weight
        reach = self.ball * (2.0 * far + own)
        low, high = raw - reach, raw + reach
        return np.clip(low, -self.ball, self.ball), np.clip(high, -self.ball, self.ball)

    def radius(self, assumption: Assumption, confidence: float) -> float:
        """How far the true mean is from the estimate at most, in ℓ2, with this probability."""
        sums = self.sums
        apart, beta = _apart(sums, self.people, assumption, 1.0 - confidence)
        # In ℓ2 the mean of n vectors is off by its deviation, too, beside what numbers are.
        apart += assumption.apart * math.sqrt(0.5 / self.people)
        if sums.bounded <= 0.0:
            far = math.sqrt(sums.proxy * local.chi_square(self.dimension, beta))
        elif sums.proxy <= 0.0:
            far = local.bounded_norm(sums.bounded, beta)
        else:
            far = math.sqrt(sums.proxy * local.chi_square(self.dimension, beta / 2.0))
            far += local.bounded_norm(sums.bounded, beta / 2.0)
        return self.ball * (far / sums.weight + 2.0 * apart)

    def influence(self, lies: int, raw: Floats) -> float:
        """How far so many dishonest reports can have moved the mean vector, in ℓ2.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to the number of people.
        """
        off = float(np.linalg.norm(raw)) / self.ball
        return self.ball * _moved(lies, self.people, self.sums, off)

    def mse(self) -> float:
        """The worst-case mean squared error in ℓ2, over all populations in the ball."""
        return self.ball**2 * (self.sums.variance / self.sums.weight**2)


def _apart(sums: Sums, people: int, assumption: Assumption, beta: float) -> tuple[float, float]:
    """How far budgets that tell of values take the estimate, on a unit range.

    Given their budgets, people are independent draws with the means of their levels. The weighted
    mean of these is off by the share of weight that is not where people are; and the mean of these
    people is a sample of the population's. Either is in units of how far the means are apart.

    Returns:
        The distance, and what is left of beta.
    """
    if assumption.related is False:
        return 0.0, beta
    far = local.related(sums.square, sums.weight, people) + sampling_reach(people, beta / 2.0)
    return assumption.apart * far, beta / 2.0


def _moved(lies: int, people: int, sums: Sums, off: float) -> float:
    """How far lies can have moved an estimate on a unit range."""
    whole = isinstance(lies, (int, np.integer)) and not isinstance(lies, bool)
    if not whole or not 0 <= lies <= people:
        raise ArgumentError(f"lies={lies!r} must be a whole number from 0 to {people:,}.")
    return local.influence(int(lies), people, sums, off)
