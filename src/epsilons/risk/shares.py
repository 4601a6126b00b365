"""Margins of shares, for people with public budgets and for a separately released total."""

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

# Margins with the same half-width for all shares.


class AroundCells(Margin, ABC):
    """Base class of margins with one half-width for all shares.

    Proof: docs/proofs/frequencies.md (6).
    """

    @abstractmethod
    def worst(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence."""

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Simultaneous intervals for all shares, clipped to [0, 1]."""
        return around(raw, self.worst(assumption, confidence))

    def at_once(self, raw: Floats, assumption: Assumption, confidence: float) -> float:  # noqa: ARG002
        """Bound on the largest error of any share, at most 1."""
        return min(self.worst(assumption, confidence), 1.0)


def around(raw: Floats, reach: float) -> tuple[Floats, Floats]:
    """Intervals of this half-width around shares, clipped to [0, 1]."""
    return np.clip(raw - reach, 0.0, 1.0), np.clip(raw + reach, 0.0, 1.0)


# Shares of people with public budgets.


@storable("risk.WeighedCells")
@dataclass(frozen=True, eq=False)
class WeighedCells(AroundCells):
    """Margin of the shares of people with public budgets.

    Guarantee:
        For all data that the assumption allows, each interval and the whole band fail to cover the
        true shares with probability at most 1 − confidence.
        Proof: docs/proofs/frequencies.md (6), (7), (8).

    Attributes:
        weighing: the estimator on a unit range.
        slack: error from rounding to integers, on a unit range.
        cells: number of categories.
    """

    weighing: Weighing
    slack: float
    cells: int

    kind: ClassVar[str | None] = None

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """An interval for each share separately, clipped to [0, 1]."""
        return around(raw, self.error(assumption, confidence))

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error of one share, at this confidence, rounding included."""
        limit = self._limit(confidence)
        return cells.share_error(self.weighing, assumption, limit) + self.slack

    def worst(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence, rounding included."""
        limit = self._limit(confidence)
        return cells.band(self.weighing, assumption, self.cells, limit) + self.slack

    @property
    def numbers(self) -> int:
        """Number of shares."""
        return self.cells

    def _limit(self, confidence: float) -> float:
        """The confidence to use in the formulas for continuous noise.

        Proof: docs/proofs/tables.md (5).

        With noise that sums to zero over more than two cells, integer noise is within one lattice
        point of continuous noise, up to a factor e^{k·slack/scale} in probability.
        """
        closed, scale = self.weighing.closed, self.weighing.scale
        if closed is None or self.cells == 2 or not scale > 0.0:
            return confidence
        return 1.0 - (1.0 - confidence) * math.exp(-self.cells * self.slack / scale)


# Shares with a separately released total.


@storable("risk.TotalledCells")
@dataclass(frozen=True, eq=False, kw_only=True)
class TotalledCells(RatioCells):
    """Margin of the shares of an unknown number of people, with a separate noisy total.

    Guarantee:
        The guarantee of `RatioCells`. Proof: docs/proofs/add-remove.md (13).

    Attributes:
        whole: the noisy count of all people, in units of weight.
        whole_scale: scale of the discrete Laplace noise of `whole`.
    """

    whole: float
    whole_scale: float

    @property
    def total(self) -> float:
        """The noisy count of all people."""
        return self.whole

    def _spread(self, shares: Floats) -> Floats:
        """The noise variance of each share, in units of the variance of a count."""
        return np.asarray(1.0 + np.square(shares * (self.whole_scale / self.scale)))

    @property
    def _noises(self) -> ratio.OwnTotal | ratio.ApartTotal:
        return ratio.ApartTotal(self.scale, self.whole_scale)
