"""Noise that falls in stairs, as risk reads it: its scale, its tail, and how far it takes a sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from epsilons.frozen import storable
from epsilons.noise import Law, Pieces
from epsilons.risk import pieces, tails

_SMOOTH: Final = 0.125
"""Below this rate there are hundreds of stairs that matter, and Laplace noise is at most one unit
away: docs/proofs/risk.md."""


@storable("risk.StairNoise")
@dataclass(frozen=True, eq=False)
class StairNoise:
    """Staircase noise on a unit range.

    Attributes:
        law: the law, on a lattice.
        unit: what one unit of the law, `law.pieces.steps` lattice points, is on the unit range.
    """

    law: Law
    unit: float

    @cached_property
    def scale(self) -> float:
        """The scale of the Laplace noise that has the same variance."""
        return math.sqrt(self.law.variance / 2.0) / self._shape.steps * self.unit

    def deviation(self, shift: float, square: float, beta: float) -> float:
        """The α with P(|c + S + X| > α) ≤ β for every |c| ≤ shift; X is the noise.

        S has P(±S > s) ≤ exp(−2s²/square), and is independent of X. Without S (`square` is 0) it is
        the smallest such α.
        """
        if square <= 0.0:
            return self._alone(shift, beta)
        sigma = math.sqrt(square) / 2.0

        def excess(beyond: float) -> float:
            """Of errors beyond shift + beyond."""
            return self.tail(beyond, sigma) + self.tail(shift + beyond, sigma) - beta

        return shift + tails.least(excess, sigma + self.scale)

    def tail(self, alpha: float, sigma: float) -> float:
        """A bound on P(S + X > alpha), where P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0; σ is above 0."""
        if self._shape.rate < _SMOOTH:
            return tails.tail(alpha - self.unit, sigma, self.unit / float(self._shape.rate))
        return self._pieces.tail(alpha / self.unit, sigma / self.unit)

    def exceeds(self, alpha: float) -> float:
        """P(X > alpha), each lattice point being spread over one lattice step."""
        if alpha < 0.0:
            return 1.0 - self.exceeds(-alpha)
        at, rate = alpha / self.unit, float(self._shape.rate)
        inner = (self._shape.inner - 0.5) / self._shape.steps
        beyond = 0.5 / (1.0 + inner * math.expm1(rate))  # P(X > inner)
        if at <= inner:
            return beyond + (0.5 - beyond) * (1.0 - at / inner)
        stair = math.floor(at - inner)
        part = 1.0 + (at - inner - stair) * math.expm1(-rate)
        return beyond * math.exp(-min(rate * stair, 745.0)) * part

    def _alone(self, shift: float, beta: float) -> float:
        """The smallest α with P(|c + X| > α) ≤ β for every |c| ≤ shift: the worst c is an end."""
        return tails.quantile_of(self.exceeds, shift, self.scale, beta)

    @cached_property
    def _shape(self) -> Pieces:
        return self.law.pieces

    @cached_property
    def _pieces(self) -> pieces.Flat:
        return pieces.staircase(self._shape)


def stair_noise(law: Law, unit: float) -> StairNoise | None:
    """The noise on a unit range, if its law declares stairs; None if it falls at every point.

    Args:
        law: on a lattice.
        unit: what one unit of the law is on the unit range.
    """
    return StairNoise(law, unit) if law.pieces.steps > 1 else None
