"""The margin of the shares of people whose budgets are public."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from epsilons.frozen import storable
from epsilons.risk import cells
from epsilons.risk.around import AroundCells, around
from epsilons.risk.assumptions import Assumption
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats


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
