"""Margins of shares, for people with public budgets and for a separately released total."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from epsilons.frozen import storable
from epsilons.risk import cells
from epsilons.risk.margins import Bounds, Margin, RatioCells
from epsilons.risk.means import mean, ratio
from epsilons.risk.tails.combined import Contrast
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

_EXACT: Final = 64
"""Number of cells up to which the bound on a weighted sum uses that the noises sum to zero. For
more cells, independent noise gives an upper bound and needs less memory."""


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
        limit = self.limit(confidence)
        return cells.share_error(self.weighing, assumption, limit) + self.slack

    def worst(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence, rounding included."""
        limit = self.limit(confidence)
        return cells.band(self.weighing, assumption, self.cells, limit) + self.slack

    def off(self, weights: Floats, assumption: Assumption, confidence: float) -> float:
        """Bound on the error of a weighted sum of the raw shares.

        Proof: docs/proofs/groups.md (29).
        """
        width = float(np.ptp(weights))
        # If the noises sum to zero, adding a constant to all weights does not change the weighted
        # noise.
        middle = 0.0 if self.weighing.closed is None else (weights.max() + weights.min()) / 2.0
        around = weights - middle
        beta, slack = 1.0 - confidence, self.slack * float(np.abs(around).sum())
        some = weights[weights != 0.0]
        level = 1.0 - beta / max(len(some), 1)
        apart = float(np.abs(some).sum()) * self.error(assumption, level)
        if len(some) < 2 or self.weighing.keep is not None:
            return apart
        if not isinstance(assumption.related, bool):
            # At two budgets, each share differs by at most δ, and the differences sum to zero. So
            # the weighted sums differ by at most δ·Σ|weight − median|.
            most = float(np.abs(weights - np.median(weights)).sum()) / width
            related = assumption.apart * most
            assumption = replace(assumption, related=related if related < 1.0 else True)
        closed = self.weighing.closed if self.cells <= _EXACT else None
        noise = Contrast(around / width, self.weighing.scale, closed)
        rest = 1.0 - self.limit(1.0 - beta, 2.0)
        far = width * mean.reach(self.weighing, assumption, noise.deviation, rest) + slack
        if assumption.sampled and assumption.related is not False:
            # Budgets are random here, and would decide which of the two bounds is smaller.
            return far
        return min(far, apart)

    def apart(self, assumption: Assumption, confidence: float) -> float | None:
        """Bound on the errors of the differences of all pairs; None if the band is better.

        The choice depends on weights and noise, which are public. If budgets are sampled together
        with the values, it must not depend on budgets, so the band is used.
        Proof: docs/proofs/groups.md (26).
        """
        if assumption.sampled and assumption.related is not False:
            return None
        pair = np.zeros(self.cells)
        pair[:2] = 1.0, -1.0
        level = 1.0 - (1.0 - confidence) / math.comb(self.cells, 2)
        found = self.off(pair, assumption, level)
        return found if found < 2.0 * self.worst(assumption, confidence) else None

    def combination(
        self, raw: Floats, weights: Floats, assumption: Assumption, confidence: float
    ) -> Bounds:
        """An interval for the weighted sum of the shares.

        Proof: docs/proofs/groups.md (29).
        """
        least, most = float(weights.min()), float(weights.max())
        if least == most:
            return least, most  # if all weights are equal, the sum is known: shares sum to one
        centre, reach = float(weights @ raw), self.off(weights, assumption, confidence)
        low, high = np.clip([centre - reach, centre + reach], least, most)
        return float(low), float(high)

    @property
    def numbers(self) -> int:
        """Number of shares."""
        return self.cells

    def limit(self, confidence: float, points: float = 1.0) -> float:
        """The confidence to use for continuous noise. Proof: docs/proofs/tables.md (5).

        For more than two cells, integer noise that sums to zero is within one lattice step of
        continuous noise, up to a factor e^{k·slack/scale} in probability. For a combination of
        several cells, the exponent is at most twice as large.
        """
        closed, scale = self.weighing.closed, self.weighing.scale
        if closed is None or self.cells == 2 or not scale > 0.0:
            return confidence
        return 1.0 - (1.0 - confidence) * math.exp(-points * self.cells * self.slack / scale)


# Shares with a separately released total.


@storable("risk.OpenTotalled")
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
