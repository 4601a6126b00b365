"""Margins of a variance: of a sum that came with squares, or of three cells."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from epsilons.frozen import storable
from epsilons.risk import mean
from epsilons.risk.assumptions import Assumption
from epsilons.risk.estimated import Estimated
from epsilons.risk.margins import Bounds, Margin
from epsilons.risk.moment import Seen, Spreading
from epsilons.risk.soft import AT_THE_MEANS, SoftMoments
from epsilons.risk.weighing import Weighing


class VarianceMargin(Margin, ABC):
    """What margins of variances share."""

    kind: ClassVar[str | None] = AT_THE_MEANS
    staked: ClassVar[bool] = False

    @property
    @abstractmethod
    def raw(self) -> float:
        """The variance as it was drawn, on a unit range."""

    @abstractmethod
    def variance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The variance on a unit range."""

    @abstractmethod
    def risk(self, assumption: Assumption) -> float:
        """The leading term of the mean squared error, on a unit range."""

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A range that holds the variance with at least this probability."""
        return self.variance(assumption, confidence).times(4.0 * bounds[1]).interval


@storable("risk.Varied")
@dataclass(frozen=True, eq=False)
class Varied(VarianceMargin):
    """The margin of a variance that was released beside a mean, of people who are public.

    Guarantee:
        Over all data that the assumption allows, the interval misses with a probability of at most
        1 − confidence: docs/proofs/moment.md.

    Attributes:
        weighing: the estimator of the mean on a unit range, of weights that add up to one.
        slack: what integers may add to an error on a unit range.
        offset: Σ w·(x − ½) as it was drawn.
        square: Σ w·(x − ½)² of the same.
    """

    weighing: Weighing
    slack: float
    offset: float
    square: float

    @property
    def raw(self) -> float:
        """The variance as it was drawn, on a unit range."""
        # The square of a noisy mean is larger than that of the mean, by the variance of the noise.
        return self.square - self.offset * self.offset + 2.0 * self.weighing.scale**2

    def variance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The variance on a unit range."""
        seen = Seen(self.offset, self.square, self.slack)
        ends = Spreading(self.weighing, assumption).deviation(seen, 1.0 - confidence)
        low, high = (end * end for end in ends)
        raw = self.raw if math.isfinite(self.raw) else 0.25
        return Estimated(min(max(raw, low), high), low, high)

    def risk(self, assumption: Assumption) -> float:
        """The leading term of the mean squared error, on a unit range."""
        off = min(abs(self.offset), 0.5) if math.isfinite(self.offset) else 0.5
        reach = (0.5 + off) ** 2
        scale = self.weighing.scale * math.hypot(1.0, 2.0 * off) / reach
        whole = Weighing(self.weighing.weights, self.weighing.counts, scale)
        return min(float(mean.mse(whole, assumption)) * reach * reach, 0.0625)


@storable("risk.ThreeCells")
@dataclass(frozen=True, eq=False)
class ThreeCells(VarianceMargin):
    """The margin of a variance of an unknown number of people, or of those who answered.

    Guarantee:
        As of the moments.

    Attributes:
        moments: of three cells.
    """

    moments: SoftMoments

    @property
    def raw(self) -> float:
        """The variance as it was drawn, on a unit range."""
        return self.moments.raw_variance

    def variance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The variance on a unit range."""
        return self.moments.variance(0, assumption, confidence)

    def risk(self, assumption: Assumption) -> float:
        """The leading term of the mean squared error, on a unit range."""
        return self.moments.risk(0, 0, assumption)
