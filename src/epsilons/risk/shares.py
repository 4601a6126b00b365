"""Margins of shares: of public people, and of a total that was counted apart."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilons.frozen import storable
from epsilons.risk import cells, ratio
from epsilons.risk.margins import Margin, RatioCells
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats

# Margins of shares that are all within one distance of what was released.


class AroundCells(Margin, ABC):
    """What such margins share."""

    @abstractmethod
    def worst(self, assumption: Assumption, confidence: float) -> float:
        """The largest error of any share not exceeded with this probability."""

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once, cut to [0, 1]."""
        return around(raw, self.worst(assumption, confidence))

    def at_once(self, raw: Floats, assumption: Assumption, confidence: float) -> float:  # noqa: ARG002
        """The error of the worst category that is not exceeded with this probability."""
        return min(self.worst(assumption, confidence), 1.0)


def around(raw: Floats, reach: float) -> tuple[Floats, Floats]:
    """Ranges around shares, cut to [0, 1]."""
    return np.clip(raw - reach, 0.0, 1.0), np.clip(raw + reach, 0.0, 1.0)


# The margin of the shares of people whose budgets are public.


@storable("risk.WeighedCells")
@dataclass(frozen=True, eq=False)
class WeighedCells(AroundCells):
    """The margin of the shares of people whose budgets are public.

    Guarantee:
        Over all data that the assumption allows, each interval, and the band as a whole, misses
        with a probability of at most 1 − confidence: docs/proofs/frequencies.md.

    Attributes:
        weighing: the estimator on a unit range.
        slack: what integers may add to an error on a unit range.
        cells: the number of categories.
    """

    weighing: Weighing
    slack: float
    cells: int

    kind: ClassVar[str | None] = None

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each category by itself, a range that holds its share, cut to [0, 1]."""
        return around(raw, self.error(assumption, confidence))

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error of one share not exceeded with this probability, integers included."""
        limit = self._limit(confidence)
        return cells.share_error(self.weighing, assumption, limit) + self.slack

    def worst(self, assumption: Assumption, confidence: float) -> float:
        """The largest error of any share not exceeded with this probability, integers included."""
        limit = self._limit(confidence)
        return cells.band(self.weighing, assumption, self.cells, limit) + self.slack

    @property
    def numbers(self) -> int:
        """All of them."""
        return self.cells

    def _limit(self, confidence: float) -> float:
        """The confidence that noise without a lattice must have.

        Integers of more than two cells that sum to zero are within one lattice point of such noise
        but for a factor e^{k·slack/scale} of probability.
        """
        closed, scale = self.weighing.closed, self.weighing.scale
        if closed is None or self.cells == 2 or not scale > 0.0:
            return confidence
        return 1.0 - (1.0 - confidence) * math.exp(-self.cells * self.slack / scale)


# The margin of shares whose total was counted apart.


@storable("risk.TotalledCells")
@dataclass(frozen=True, eq=False, kw_only=True)
class TotalledCells(RatioCells):
    """The margin of the shares of an unknown number of people, who were also counted apart.

    Guarantee:
        As of `RatioCells`.

    Attributes:
        whole: the noisy count of all, in units of weight.
        whole_scale: of the discrete Laplace noise of that.
    """

    whole: float
    whole_scale: float

    @property
    def total(self) -> float:
        """The noisy count of all."""
        return self.whole

    def _spread(self, shares: Floats) -> Floats:
        """The variance of the noise of each share, in units of that of a count."""
        return np.asarray(1.0 + np.square(shares * (self.whole_scale / self.scale)))

    @property
    def _noises(self) -> ratio.OwnTotal | ratio.ApartTotal:
        return ratio.ApartTotal(self.scale, self.whole_scale)
