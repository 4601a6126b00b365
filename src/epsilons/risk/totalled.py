"""The margin of shares whose total was counted apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilons.frozen import storable
from epsilons.risk import ratio
from epsilons.risk.margins import RatioCells
from epsilons.types import Floats


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
