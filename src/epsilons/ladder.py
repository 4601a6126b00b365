"""A public ladder of budgets: where budgets are private, everyone stands on the rung below theirs.

Under add/remove nothing may depend on which budgets are present. A rung is a function of a person's
own ε and of public numbers alone, and never above ε. Two rungs never share a key, so that a level
of the tally is a rung, whoever is there.

The tally writes `keys` and `Ladder.of` as expressions of engines, too: property tests hold them
together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from epsilons.budgets import LARGEST
from epsilons.errors import BudgetError
from epsilons.types import Floats

__all__ = ["HUGE", "LESS", "SMALLEST", "SPLITTER", "Ladder", "keys"]

SPLITTER: Final = 2.0**44 + 1.0
"""Veltkamp's constant that leaves 53 - 44 = 9 significant bits."""

HUGE: Final = 2.0**900
"""Budgets above it, infinity among them, are their own keys: times SPLITTER they may overflow."""

MOST_DECLARED: Final = 256
"""The most rungs that a caller may declare."""

SMALLEST: Final = 2.0**-40
"""The lowest cap, and the lowest level that may be declared: far above the least budget, so that
no rung of any ladder is below that."""

DEPTH: Final = 2.0**-20
"""The lowest fine rung relative to the highest: whoever is below it is left out of the sum."""

LESS: Final = 1.0 - 2.0**-9
"""What a number times it is, to 9 significant bits, is below the number: see `_down`."""


def keys(epsilon: Floats) -> Floats:
    """Return `epsilon`, which must not be negative, rounded to 9 significant bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = epsilon * SPLITTER
        rounded: Floats = product - (product - epsilon)
    return np.where(epsilon <= HUGE, rounded, epsilon)


@dataclass(frozen=True, eq=False)
class Ladder:
    """Public rungs, ascending.

    Attributes:
        levels: the rungs, all above 0 and finite.
        fine: whether they are all the numbers of 9 significant bits between the ends; otherwise
            they were declared.

    Guarantee:
        The rung of ε is at most ε; it is 0 for an ε below the lowest, and for one that is missing,
        NaN or negative; and it depends on ε and the ladder alone.
    """

    levels: Floats
    fine: bool

    @classmethod
    def declare(cls, levels: Floats) -> Ladder:
        """The ladder of declared levels.

        Args:
            levels: numbers above 0, in any order; those above 2²⁰, ∞ among them, stand for 2²⁰.

        Raises:
            BudgetError: there are none or too many, one is not a number above 0, or two are so
                close that the tally would take them for one.
        """
        rungs = np.unique(np.minimum(levels, LARGEST))
        if not 1 <= len(rungs) <= MOST_DECLARED or not (rungs >= SMALLEST).all():
            raise BudgetError(
                f"levels must be 1 to {MOST_DECLARED} budgets, numbers from {SMALLEST:.2g} up: "
                "the budgets that people were offered."
            )
        if len(np.unique(keys(rungs))) < len(rungs):
            raise BudgetError(
                "levels: two of them agree in nine significant bits, which is a difference of less "
                "than 0.4 %. Leave one of them out."
            )
        return cls(rungs, fine=False)

    @classmethod
    def up_to(cls, cap: float) -> Ladder:
        """All numbers of 9 significant bits up to a cap."""
        top = float(_down(np.array([min(cap, LARGEST)]))[0])
        steps = np.arange(256.0, 512.0)
        _, exponent = math.frexp(top)
        octaves = np.arange(-31, 1) + (exponent - 9)
        rungs = np.ldexp(steps[None, :], octaves[:, None]).ravel()
        return cls(rungs[(rungs <= top) & (rungs >= top * DEPTH)], fine=True)

    @property
    def top(self) -> float:
        """The highest rung."""
        return float(self.levels[-1])

    def of(self, epsilon: Floats) -> Floats:
        """The rung of each ε; 0 for those who stand on none."""
        with np.errstate(invalid="ignore"):
            usable = (epsilon >= self.levels[0]) & (epsilon <= math.inf)
        capped = np.minimum(np.where(usable, epsilon, 0.0), self.top)
        if self.fine:
            return _down(capped)
        place = np.searchsorted(self.levels, capped, side="right")
        return np.concatenate([[0.0], self.levels])[place]


def _down(epsilon: Floats) -> Floats:
    """Round down to 9 significant bits.

    Where rounding to nearest went up, ε·(1 − 2⁻⁹) is rounded instead, and that is below ε:
    (1 − 2⁻⁹)(1 + 2⁻⁹) < 1.
    """
    near = keys(epsilon)
    return np.where(near <= epsilon, near, keys(epsilon * LESS))
