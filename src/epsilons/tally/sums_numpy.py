"""The tally of arrays in NumPy: what `sums_engine.py` does on engines."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from epsilons.budgets import moved
from epsilons.tally.arrays import Arrays
from epsilons.tally.grid import HALF, Rule, squares, to_grid
from epsilons.tally.levels import BAD_BUDGET, SumGroups, levels_of
from epsilons.tally.pairs import cut
from epsilons.types import Booleans, Floats, Integers

__all__ = ["People", "count", "count_pairs", "fold"]


def count(
    arrays: Arrays, bounds: tuple[float, float], rule: Rule | None = None, moments: int = 1
) -> SumGroups:
    """Count people and add up their integers by budget level, missing values at the middle.

    Args:
        arrays: checked.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        moments: 1 for sums alone, 2 for sums of squares, too.
    """
    people = fold(arrays)
    grid, gaps = people.on_grid(arrays.values, bounds, rule)
    groups = people.groups(grid, gaps)
    if moments > 1:
        absent = people.added((gaps == people.rows).astype(np.int64))
        groups = replace(groups, squares=people.added(squares(grid)), absent=absent)
    return groups


@dataclass(frozen=True, eq=False)
class People:
    """Who the rows of arrays belong to, and the level of each person.

    Attributes:
        who: the person of each row, by number; None if a row is a person.
        rows: how many rows each person has.
        levels: the smallest budget of each level.
        group_of: the level of each person.
        conflicts: whether a person has two budgets.
        moved: whether somebody's budget counts as another one.
    """

    who: Integers | None
    rows: Integers
    levels: Floats
    group_of: Integers
    conflicts: Booleans
    moved: bool

    def on_grid(
        self, values: Floats, bounds: tuple[float, float], rule: Rule | None = None
    ) -> tuple[Integers, Integers]:
        """Everyone's integer, missing values at the middle, and how many of their rows miss one."""
        grid, valid = to_grid(values, bounds, rule)
        if self.who is None:
            grid[~valid] = HALF
            return grid, (~valid).astype(np.int64)
        some = np.bincount(self.who[valid], minlength=self.rows.size).astype(np.int64)
        total = np.zeros(self.rows.size, dtype=np.int64)
        np.add.at(total, self.who, grid)
        r = np.maximum(some, 1)
        return np.where(some == 0, HALF, (2 * total + r) // (2 * r)), self.rows - some

    def added(self, numbers: Integers) -> Integers:
        """Whole numbers of people, added up by level."""
        return _sum(self.group_of, numbers, self.levels.size)

    def groups(self, grid: Integers, gaps: Integers) -> SumGroups:
        """The groups of these integers."""
        return SumGroups(
            levels=self.levels,
            people=self.added(np.ones(grid.size, dtype=np.int64)),
            sums=self.added(grid),
            missing=self.added(gaps),
            conflicts=self.added(self.conflicts.astype(np.int64)),
            nobody=np.zeros(self.levels.size, dtype=np.int64),
            most=self.rows.max(initial=0, keepdims=True),
            moved=self.moved,
        )


def fold(arrays: Arrays) -> People:
    """Find the people of the rows, and their levels."""
    epsilon = arrays.epsilon
    if not isinstance(epsilon, float):
        epsilon = np.where(epsilon >= 0.0, epsilon, BAD_BUDGET)
    who = None
    rows = np.ones(arrays.values.size, dtype=np.int64)
    conflicts = np.zeros(rows.size, dtype=bool)
    if arrays.person is not None:
        who = np.unique(arrays.person, return_inverse=True)[1]
        rows = np.bincount(who).astype(np.int64)
        conflicts = np.zeros(rows.size, dtype=bool)
        if not isinstance(epsilon, float):
            epsilon, largest = _extremes(who, epsilon, rows.size)
            conflicts = epsilon != largest
    return People(who, rows, *levels_of(epsilon, rows.size), conflicts, moved(epsilon))


def count_pairs(
    arrays: Arrays, bounds: tuple[float, float], beside: tuple[float, float], *, exclude: bool
) -> tuple[SumGroups, dict[str, Integers]]:
    """Count people and add up the parts of their units by budget level: see `pairs.cut`.

    Args:
        arrays: checked, of two numbers for each row.
        bounds: the lower and the upper end of the grid of the first.
        beside: those of the second.
        exclude: whether who lacks one of the two numbers is absent: both are in the middle then.
    """
    if arrays.beside is None:
        raise TypeError("these rows are of one column of numbers")
    people = fold(arrays)
    g, gaps = people.on_grid(arrays.values, bounds)
    h, more = people.on_grid(arrays.beside, beside)
    absent = None
    if exclude:
        lacks = (gaps == people.rows) | (more == people.rows)
        g, h = np.where(lacks, HALF, g), np.where(lacks, HALF, h)
        absent = people.added(lacks.astype(np.int64))
    parts = {name: people.added(part) for name, part in cut(g, h).items()}
    return replace(people.groups(g, gaps + more), absent=absent), parts


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
