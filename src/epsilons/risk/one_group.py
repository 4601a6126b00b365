"""Means of some people: of those who answered, of a private subset, or of the groups of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from epsilons.frozen import storable
from epsilons.risk import mean
from epsilons.risk.assumptions import Assumption
from epsilons.risk.margins import Bounds, Margin
from epsilons.risk.weighing import Moments, Weighing
from epsilons.types import Floats

_FINE: Final = 64
"""Shares whose logarithms to the base 2 differ by less than one part in so many are taken alike."""

_NOTHING: Final = 0.25
"""The squared error of the middle of a unit range."""


def leading(weighing: Weighing, shares: Floats, assumption: Assumption) -> float:
    """The leading term of the squared errors of means of groups, summed, on a unit range.

    A mean is a quotient, whose error is about that of its numerator over the share of the group,
    here the noisy one, if people of each budget are in the group in the same proportion.

    Args:
        weighing: the estimator of the share of one cell.
        shares: of the groups.
        assumption: what is taken to be true of the data.
    """
    noise = weighing.scale
    if weighing.closed is not None:
        noise *= math.sqrt(weighing.closed.variance / 2.0)
    there = shares > 0.0
    steps = np.round(_FINE * np.log2(np.minimum(shares[there], 1.0)))
    total = _NOTHING * float(np.count_nonzero(~there))
    for step, groups in zip(*np.unique(steps, return_counts=True), strict=True):
        part = 2.0 ** (float(step) / _FINE)
        moments = Moments(
            n=max(round(weighing.n * part), 2),
            total=np.asarray(1.0),
            spread=np.asarray(weighing.spread / part),
            bias=np.asarray(weighing.bias),
            scale=np.asarray(noise / part),
        )
        total += int(groups) * min(float(mean.mse(moments, assumption)), _NOTHING)
    return total


@storable
@dataclass(frozen=True, eq=False)
class OneGroup(Margin):
    """The margin of the mean of the only group, beside those who are in none.

    Guarantee:
        That of the margin of groups: docs/proofs/groups.md.

    Attributes:
        of: the margin of groups, of which there is one.
    """

    of: Any

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
