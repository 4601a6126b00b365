"""Releases under add/remove: the number of people is private, and so are all budgets.

What they say beside the estimate comes from public facts and from the noisy sums themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epsilons.budgets import Floats
from epsilons.release.base import Spent, left
from epsilons.release.frequencies import FrequencyRelease
from epsilons.release.mean import MeanRelease
from epsilons.risk.margins import LEADING, CellsMargin, Ratio, RatioCells, ScalarMargin

_ROWS = 8
"""Rungs of a fine ladder that are shown."""

_PUBLIC = 2.0**20


def shown_levels(rungs: Floats) -> Floats:
    """The rungs as people know them: the highest one that can be stands for public records."""
    return np.where(rungs >= _PUBLIC, math.inf, rungs)


@dataclass(frozen=True, eq=False)
class SpendingRule:
    """What a person with a budget ε spends: a rule, since who is there is private.

    Attributes:
        levels: the rungs of the public ladder; a person stands on the highest that is not above ε.
        spent: what a person on each rung spends.
    """

    levels: Floats
    spent: Floats

    def __call__(self, epsilon: float) -> float:
        """What a person with this budget spends; nothing, if it is NaN."""
        if not epsilon >= self.levels[0]:
            return 0.0
        rung = int(np.searchsorted(self.levels, epsilon, side="right")) - 1
        return float(self.spent[rung])

    def __iter__(self) -> Iterator[Spent]:
        """A row for each rung, or for some of them if there are very many."""
        count = len(self.levels)
        shown = range(count)
        if count > 256:
            caps = self.levels[-1] * 2.0 ** np.arange(1 - _ROWS, 1)
            shown = np.searchsorted(self.levels, caps).tolist()
        levels = shown_levels(self.levels)
        for rung in shown:
            level, spent = float(levels[rung]), float(self.spent[rung])
            yield Spent(level, None, spent, left(level, spent))


@dataclass(frozen=True, eq=False, kw_only=True)
class RatioMeanRelease(MeanRelease):
    """A published mean of an unknown number of people.

    Attributes:
        n: the noisy number of people; None if it was not released.
        spent: a rule from ε to what was spent; iterating over it gives a row for each rung.
        sums: the noisy numbers that `value` and the interval are computed from.
    """

    n: float | None
    spent: SpendingRule
    sums: Ratio

    @property
    def risk_kind(self) -> str:
        """What `risk` is."""
        return LEADING

    @property
    def margin(self) -> ScalarMargin:
        """How far the truth may be from what was drawn."""
        return self.sums


@dataclass(frozen=True, eq=False, kw_only=True)
class RatioFrequencyRelease(FrequencyRelease):
    """Published frequencies of an unknown number of people.

    Attributes:
        n: the noisy number of people; None if it was not released.
        spent: a rule from ε to what was spent; iterating over it gives a row for each rung.
        sums: the noisy counts that `value` and the intervals are computed from.
    """

    n: float | None
    spent: SpendingRule
    sums: RatioCells

    @property
    def risk_kind(self) -> str:
        """What `risk` is."""
        return LEADING

    @property
    def margin(self) -> CellsMargin:
        """How far the true shares may be from what was drawn."""
        return self.sums
