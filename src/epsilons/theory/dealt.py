"""Coins that are dealt out: how well a private release can tell the number of ones.

The number of ones moves by one if one random person changes, whom it does not depend on. So what a
release tells of it grows with the mean of the budgets, not with the root of their squares' mean.
docs/proofs/limits.md holds the proofs.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from epsilons.theory.prefix import Crowd, sizes, sums_of
from epsilons.types import Floats, Integers

_MOST: Final = 100.0
"""Budgets above this count as this: e^200 over the fourth power of any number of people is above 1,
and leaves no bound."""

_WIDTHS: Final = 24
"""How many widths of a prior are tried."""


def dealt_square(people: Crowd) -> float:
    """A lower bound on the mean squared error of the mean of these very people, budgets by lot.

    On a unit range. It is the larger of two: the number of ones among all people is anything around
    one half of them; or values are fair coins, and those of all but the strictest k are shown.
    """
    n = people.n
    some = sizes(n)
    each = 1.0 / (some.astype(np.float64) + 1.0)
    shown = _error(each + 3.0 * each**2 + _Told(people, some).by_one(3.0 * each))
    middle = n // 2
    wide = np.unique(np.geomspace(1.0, max(middle, 1), _WIDTHS).astype(np.int64))
    everyone = _Told(people, np.full_like(wide, n))
    prior = 4.0 * np.sin(0.25 * math.pi / (wide + 1.0)) ** 2
    zeros = (n - middle - wide).astype(np.float64) + 1.0
    alone = _error(prior + everyone.by_one(1.0 / zeros))
    return float(max(shown.max(), alone.max())) / n**2


def _error(distance: Floats) -> Floats:
    """(1/H − 1)/4: the mean squared error of a whole number, if neighbours are this far apart."""
    return np.maximum(0.25 * (1.0 / distance - 1.0), 0.0)


class _Told:
    """What a release tells of the number of ones among the strictest k people, for some k.

    Args:
        people: who there is.
        some: for which k.
    """

    def __init__(self, people: Crowd, some: Integers) -> None:
        levels = np.minimum(people.levels, _MOST)
        up, down = np.expm1(levels), -np.expm1(-levels)
        self._up, self._ups = (sums_of(people, each, some) / some for each in (up, up**2))
        self._down, self._downs = (sums_of(people, each, some) / some for each in (down, down**2))
        self._left = np.sqrt(sums_of(people, np.exp(-levels), some) / some)

    def by_one(self, inverse: Floats) -> Floats:
        """A bound on the squared Hellinger distance of the laws of neighbouring numbers.

        Args:
            inverse: a bound on the mean of one over the number of those who may change.
        """
        left = self._left
        rise = np.square(self._up / (1.0 + np.sqrt(1.0 + self._up))) + self._ups * inverse
        fall = np.square(self._down / (1.0 + left)) + self._downs * inverse / left**3
        return np.asarray(np.sqrt(rise * fall))
