"""Counting in NumPy, of arrays: what `count_engine.py` does on engines, for small data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from epsilons.budgets import moved
from epsilons.tally.arrays import Arrays
from epsilons.tally.asks import Ask, Bounds, Rules
from epsilons.tally.cells_numpy import CellArrays
from epsilons.tally.counted import BAD_BUDGET, MOST_ROWS, Counted, Faults, levels_of
from epsilons.tally.grid import GRID, HALF, Rule, squares, to_grid
from epsilons.tally.units import Parts, cut, number_cells, of_categories, of_groups
from epsilons.types import Booleans, Floats, Integers

__all__ = ["People", "count", "fold"]

_NO_NUMBERS: Final = "These rows are of categories, or of one column of numbers."


def count(held: Arrays | CellArrays, ask: Ask, rules: Rules) -> Counted:
    """Count what is asked.

    Args:
        held: checked.
        ask: what is counted.
        rules: how.

    Raises:
        TypeError: these rows have no such columns.
    """
    if isinstance(held, CellArrays):
        if ask.what != "cells":
            raise TypeError(_NO_NUMBERS)
        return _categories(held, rules)
    if ask.what == "cells":
        raise TypeError("These rows are of numbers: no categories were declared.")
    if rules.some and ask.what == "numbers":
        return _by_group(held, ask, rules)
    return _numbers(held, ask, rules)


@dataclass(frozen=True, eq=False)
class People:
    """Who the rows of arrays belong to, and the level of each person.

    Attributes:
        who: the person of each row, by number; None if a row is a person.
        rows: how many rows each person has.
        budgets: the smallest budget of each person, or that of all.
        conflicts: how many people have two budgets.
        levels: the smallest budget of each level.
        level_of: the level of each person.
    """

    who: Integers | None
    rows: Integers
    budgets: Floats | float
    conflicts: int
    levels: Floats
    level_of: Integers

    def on_grid(
        self, values: Floats, bounds: Bounds, rule: Rule | None = None
    ) -> tuple[Integers, Integers]:
        """Everyone's integer, missing values at the middle, and how many of their rows miss one."""
        grid, valid = to_grid(values, bounds, rule)
        if self.who is None:
            grid[~valid] = HALF
            return grid, (~valid).astype(np.int64)
        some = np.bincount(self.who[valid], minlength=self.rows.size).astype(np.int64)
        r = np.maximum(some, 1)
        total = _sum(self.who, grid, self.rows.size)
        return np.where(some == 0, HALF, (2 * total + r) // (2 * r)), self.rows - some

    def added(self, numbers: Integers) -> Integers:
        """Whole numbers of people, added up by level."""
        return _sum(self.level_of, numbers, self.levels.size)

    def faults(self, missing: int) -> Faults:
        """What may have to be refused, where so many values are missing."""
        most = int(self.rows.max(initial=0))
        return Faults(missing=missing, conflicts=self.conflicts, most=most)


def fold(epsilon: Floats | float, person: npt.NDArray[np.generic] | None, size: int) -> People:
    """Find the people of so many rows, and their levels."""
    who, rows, conflicts = None, np.ones(size, dtype=np.int64), 0
    if not isinstance(epsilon, float):
        # NaN is neither smaller nor larger: here it must be a budget like others, a bad one.
        epsilon = np.where(epsilon >= 0.0, epsilon, BAD_BUDGET)
    if person is not None:
        who = np.unique(person, return_inverse=True)[1]
        rows = np.bincount(who).astype(np.int64)
        if not isinstance(epsilon, float):
            smallest, largest = np.full(rows.size, np.inf), np.full(rows.size, -np.inf)
            np.minimum.at(smallest, who, epsilon)
            np.maximum.at(largest, who, epsilon)
            epsilon, conflicts = smallest, int((smallest != largest).sum())
    return People(who, rows, epsilon, conflicts, *levels_of(epsilon, rows.size))


def _numbers(arrays: Arrays, ask: Ask, rules: Rules) -> Counted:
    """Divide the units of people who are all in one group."""
    people = fold(arrays.epsilon, arrays.person, arrays.values.size)
    g, gaps = people.on_grid(arrays.values, ask.ends, ask.rule)
    exclude = rules.missing == "exclude"
    absent = gaps == people.rows if exclude else None
    parts = {"x": g}
    if ask.what == "squares":
        parts["v"] = squares(g)
    elif ask.what == "pairs":
        if arrays.beside is None or ask.beside is None:
            raise TypeError(_NO_NUMBERS)
        h, more = people.on_grid(arrays.beside, ask.beside)
        gaps = gaps + more
        if absent is not None:  # who lacks one number stands in the middle of both
            absent |= more == people.rows
            g, h = np.where(absent, HALF, g), np.where(absent, HALF, h)
        parts = cut(g, h)
    if absent is not None:
        parts["absent"] = absent.astype(np.int64)
    found = {name: people.added(part) for name, part in parts.items()}
    counts = np.bincount(people.level_of, minlength=people.levels.size)
    cells = number_cells(ask.what, counts, found, rules)
    faults = people.faults(int(gaps.sum()))
    return Counted(people.levels, counts, cells, faults, moved(people.budgets))


def _categories(held: CellArrays, rules: Rules) -> Counted:
    """Count people and add up their shares by budget level and category."""
    people = fold(held.epsilon, held.person, held.cell.size)
    epsilon, each = people.budgets, None
    if people.who is not None:
        each = people.rows[people.who]
        epsilon = epsilon if isinstance(epsilon, float) else epsilon[people.who]
    size = np.ones(held.cell.size, dtype=np.int64)
    return of_categories(Parts(epsilon, held.cell, size, each, people.faults(0)), rules)


def _by_group(arrays: Arrays, ask: Ask, rules: Rules) -> Counted:
    """Divide everyone's unit among groups."""
    grid, there = to_grid(arrays.values, ask.ends, ask.rule)
    rows = grid.size
    group = np.zeros(rows, dtype=np.int64) if arrays.group is None else arrays.group
    flag = np.ones(rows, dtype=np.int64) if arrays.asked is None else arrays.asked
    asked = flag == 1
    people = fold(arrays.epsilon, arrays.person, rows)
    who, everyone = np.arange(rows) if people.who is None else people.who, people.rows.size
    # An entry for each group that a person has rows in, the undeclared ones among them.
    k = len(rules.groups_of)
    found, entry = np.unique(who * (k + 2) + (group + 2), return_inverse=True)
    owner, place = found // (k + 2), found % (k + 2) - 2

    def entries(numbers: Integers | Booleans) -> Integers:
        return _sum(entry, numbers.astype(np.int64), found.size)

    def of_owner(numbers: Integers) -> Integers:
        return _sum(owner, numbers, everyone)

    valued = asked & there & (group >= 0)
    own, total = entries(valued), entries(np.where(valued, grid, 0))
    if rules.in_the_middle:
        # Someone who has no value at all stands in the middle of each of their groups.
        gaps = entries(asked & (group >= 0) & ~there)
        without = (of_owner(own) == 0)[owner]
        own, total = np.where(without, gaps, own), np.where(without, HALF * gaps, total)
    r = np.where(people.rows < MOST_ROWS, of_owner(own), 0)[owner]
    inside = r > 0
    r = np.maximum(r, 1)
    points = np.where(inside, GRID * own // r, 0)
    above = np.where(inside, np.minimum(points, (2 * total + r) // (2 * r)), 0)
    one = np.ones(found.size, dtype=np.int64)
    faults = Faults(
        missing=int((asked & ~there).sum()),
        undeclared=int((asked & (group < 0)).sum()),
        unknown=int((flag < 0).sum()),
        several=int((of_owner((place >= 0).astype(np.int64)) > 1).sum()),
        conflicts=people.conflicts,
        most=int(people.rows.max(initial=0)),
    )
    epsilon = people.budgets if isinstance(people.budgets, float) else people.budgets[owner]
    each = of_owner(one)[owner]
    parts = Parts(epsilon, place, one, each, faults, inside.astype(np.int64), points, above)
    return of_groups(parts, rules)


def _sum(index: Integers, numbers: Integers, size: int) -> Integers:
    """Add up `numbers` by index, in integers."""
    if size == 1:
        return np.array([numbers.sum()], dtype=np.int64)
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, index, numbers)
    return total
