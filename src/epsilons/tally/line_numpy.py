"""Buckets of the float64 line in NumPy: what `line_engine.py` does on engines, for small data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epsilons.budgets import in_range, moved
from epsilons.ladder import keys
from epsilons.tally.arrays import Arrays
from epsilons.tally.counted import BAD_BUDGET, Faults
from epsilons.tally.line import NO_CELL, NO_KEY, LineGroups, Window, coarse, rounded
from epsilons.types import Floats, Integers

__all__ = ["Folded", "count", "fold"]


@dataclass(frozen=True, eq=False)
class Folded:
    """One entry for each person: their value (NaN if missing) and their budget; and faults."""

    values: Floats
    budgets: Floats
    conflicts: int
    most: int
    moved: bool = False

    @cached_property
    def coarse_keys(self) -> Floats:
        """The level of each person on the line; of a bad budget, a level of its own."""
        usable = self.budgets >= 0.0
        return np.where(usable, coarse(np.maximum(self.budgets, 0.0)), BAD_BUDGET)

    def levels(self) -> tuple[Floats, Integers, Integers]:
        """The levels of `Rows.count`, ascending, the people of each, and the level of everyone."""
        found, level_of = np.unique(keys(self.budgets), return_inverse=True)
        smallest = np.full(found.size, np.inf)
        np.minimum.at(smallest, level_of, self.budgets)
        return smallest, np.bincount(level_of).astype(np.int64), level_of.astype(np.int64)


def fold(rows: Arrays) -> Folded:
    """Make one entry of each person: halfway between their extremes, at their smallest budget."""
    valid = np.isfinite(rows.values)
    values = np.where(valid, rows.values, np.nan)
    epsilon = rows.epsilon
    if isinstance(epsilon, float):
        budgets = np.full(values.size, epsilon)
    else:
        budgets = np.where(epsilon >= 0.0, epsilon, BAD_BUDGET) + 0.0
    other = moved(budgets)
    if rows.person is None:
        return Folded(values, in_range(budgets), 0, 1, other)
    who = np.unique(rows.person, return_inverse=True)[1]
    sizes = np.bincount(who)
    low, high = np.full(sizes.size, np.inf), np.full(sizes.size, -np.inf)
    np.minimum.at(low, who[valid], values[valid])
    np.maximum.at(high, who[valid], values[valid])
    with np.errstate(invalid="ignore"):
        middle = low / 2.0 + high / 2.0  # halves first: a sum may overflow
    smallest, largest = np.full(sizes.size, np.inf), np.full(sizes.size, -np.inf)
    np.minimum.at(smallest, who, budgets)
    np.maximum.at(largest, who, budgets)
    conflicts = int((smallest != largest).sum())
    smallest = in_range(smallest)
    return Folded(middle, smallest, conflicts, int(sizes.max(initial=0)), other)


def count(people: Folded, window: Window | None) -> LineGroups:
    """Count people by level and bucket."""
    keys_of, cells = people.coarse_keys, _cells(people.values, window)
    order = np.lexsort((cells, keys_of))
    level, cells, budgets = keys_of[order], cells[order], people.budgets[order]
    fresh = np.ones(level.size, dtype=bool)
    fresh[1:] = (level[1:] != level[:-1]) | (cells[1:] != cells[:-1])
    starts = np.flatnonzero(fresh)
    return LineGroups(
        keys=level[starts],
        budgets=np.minimum.reduceat(budgets, starts) if level.size else budgets,
        cells=cells[starts],
        people=np.diff(starts, append=level.size).astype(np.int64),
        faults=Faults(conflicts=people.conflicts, most=people.most),
        moved=people.moved,
    )


def _cells(values: Floats, window: Window | None) -> Floats | Integers:
    """The bucket of every value."""
    there = ~np.isnan(values)
    safe = np.where(there, values, 0.0)
    if window is None:
        return np.where(there, rounded(safe), NO_KEY)
    with np.errstate(over="ignore"):
        steps = (safe - window.lo) * (1.0 / window.width)
    steps = np.floor(np.clip(steps, -0.5, window.cells + 0.5))
    return np.where(there, steps, NO_CELL).astype(np.int64)
