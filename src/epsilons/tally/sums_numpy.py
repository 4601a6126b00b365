"""The tally of arrays in NumPy: what `sums_engine.py` does on engines, and for draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilons.ladder import keys
from epsilons.tally.arrays import Arrays
from epsilons.tally.grid import HALF, Rule, squares, to_grid
from epsilons.tally.levels import BAD_BUDGET, SumGroups
from epsilons.types import Floats, Integers

__all__ = ["OnGrid", "count"]


@dataclass(frozen=True, eq=False)
class OnGrid:
    """The groups, and for each person the index of their group and their integer on the grid."""

    groups: SumGroups
    group_of: Integers
    grid: Integers


def count(
    arrays: Arrays, bounds: tuple[float, float], rule: Rule | None = None, moments: int = 1
) -> OnGrid:
    """Count people and add up their integers by budget level, missing values at the middle.

    Args:
        arrays: checked.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        moments: 1 for sums alone, 2 for sums of squares, too.
    """
    grid, valid = to_grid(arrays.values, bounds, rule)
    epsilon = arrays.epsilon
    if not isinstance(epsilon, float):
        epsilon = np.where(epsilon >= 0.0, epsilon, BAD_BUDGET)
    if arrays.person is None:
        grid[~valid] = HALF
        gaps = (~valid).astype(np.int64)
        conflicts = np.zeros(grid.size, dtype=bool)
        rows = np.ones(grid.size, dtype=np.int64)
    else:
        who = np.unique(arrays.person, return_inverse=True)[1]
        rows = np.bincount(who).astype(np.int64)
        some = np.bincount(who[valid], minlength=rows.size).astype(np.int64)
        gaps = rows - some
        total = np.zeros(rows.size, dtype=np.int64)
        np.add.at(total, who, grid)
        r = np.maximum(some, 1)
        grid = np.where(some == 0, HALF, (2 * total + r) // (2 * r))
        conflicts = np.zeros(rows.size, dtype=bool)
        if not isinstance(epsilon, float):
            epsilon, largest = _extremes(who, epsilon, rows.size)
            conflicts = epsilon != largest
    if isinstance(epsilon, float):
        group_of = np.zeros(grid.size, dtype=np.int64)
        levels = np.array([epsilon])
    else:
        found, group_of = np.unique(keys(epsilon), return_inverse=True)
        levels = _extremes(group_of, epsilon, found.size)[0]
    return OnGrid(
        SumGroups(
            levels=levels,
            people=_sum(group_of, np.ones(grid.size, dtype=np.int64), levels.size),
            sums=_sum(group_of, grid, levels.size),
            missing=_sum(group_of, gaps, levels.size),
            conflicts=_sum(group_of, conflicts.astype(np.int64), levels.size),
            nobody=np.zeros(levels.size, dtype=np.int64),
            most=rows.max(initial=0, keepdims=True),
            squares=_sum(group_of, squares(grid), levels.size) if moments > 1 else None,
        ),
        group_of,
        grid,
    )


def _sum(index: Integers, numbers: Integers, size: int) -> Integers:
    """Add up `numbers` by index, in integers."""
    if size == 1:
        return np.array([numbers.sum()], dtype=np.int64)
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, index, numbers)
    return total


def _extremes(index: Integers, numbers: Floats, size: int) -> tuple[Floats, Floats]:
    """Return the smallest and the largest of `numbers` by index."""
    smallest, largest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(smallest, index, numbers)
    np.maximum.at(largest, index, numbers)
    return smallest, largest
