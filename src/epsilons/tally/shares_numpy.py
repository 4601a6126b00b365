"""Means by group of arrays in NumPy: what `shares_engine.py` does on engines."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.tally.arrays import Arrays
from epsilons.tally.categories import Categories, declare
from epsilons.tally.cells_numpy import cells_of
from epsilons.tally.grid import GRID, HALF, Rule, to_grid
from epsilons.tally.grouping import Grouping
from epsilons.tally.levels import BAD_BUDGET, MOST_ROWS, Names
from epsilons.tally.shares import Counting, ShareGroups, ShareParts, add_up_shares, joined
from epsilons.types import Booleans, Integers

__all__ = ["asked_of", "count", "groups_of"]


def groups_of(
    grouping: Grouping,
    columns: Mapping[str, object],
    names: Names,
    *,
    lenient: bool,
    private: bool = False,
) -> Integers:
    """Return the place of the group of each row, below 0 if it is not declared, or missing.

    Args:
        grouping: what was declared.
        columns: one entry for each row, by parameter.
        names: what messages call these.
        lenient: whether an entry of another type is read as a cell is; it is refused otherwise.
        private: whether a column of another type is read so, too.

    Raises:
        ArgumentError: something is not one column.
        ColumnError: something is not of the type that it must be.
    """
    group = np.zeros(0, dtype=np.int64)
    for place, (name, column) in enumerate(columns.items()):
        declared: Categories = grouping.declared[place]
        cell = cells_of(
            column, declared, names.of(name), lenient=lenient, private=private, of="groups"
        )
        if place and cell.size != group.size:
            raise ArgumentError("by: its two columns have different lengths.")
        group = cell if place == 0 else joined(group, cell, len(declared.labels))
    return group


def asked_of(column: object, names: Names, *, lenient: bool, private: bool = False) -> Integers:
    """Return 1 for rows that are asked, 0 for others, and a number below 0 where nobody knows."""
    truth = declare((False, True), None, None)
    return cells_of(
        column, truth, names.of("where"), lenient=lenient, private=private, of="true and false"
    )


def count(
    arrays: Arrays, bounds: tuple[float, float], rule: Rule | None, counting: Counting
) -> ShareGroups:
    """Divide everyone's unit among groups, and add up by budget level.

    Args:
        arrays: checked.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        counting: which rows count.
    """
    grid, there = to_grid(arrays.values, bounds, rule)
    rows = grid.size
    group = np.zeros(rows, dtype=np.int64) if arrays.group is None else arrays.group
    flag = np.ones(rows, dtype=np.int64) if arrays.asked is None else arrays.asked
    asked = flag == 1
    who = np.arange(rows)
    if arrays.person is not None:
        who = np.unique(arrays.person, return_inverse=True)[1]
    people = int(who.max(initial=-1)) + 1
    # An entry for each group that a person has rows in, the undeclared ones among them.
    k = len(counting.labels)
    found, entry = np.unique(who * (k + 2) + (group + 2), return_inverse=True)
    owner, place = found // (k + 2), found % (k + 2) - 2

    def by(index: Integers, numbers: Integers, size: int) -> Integers:
        total = np.zeros(size, dtype=np.int64)
        np.add.at(total, index, numbers)
        return total

    def entries(numbers: Integers | Booleans) -> Integers:
        return by(entry, numbers.astype(np.int64), found.size)

    valued = asked & there & (group >= 0)
    own, total = entries(valued), entries(np.where(valued, grid, 0))
    if counting.in_the_middle:
        # Someone who has no value at all stands in the middle of each of their groups.
        gaps = entries(asked & (group >= 0) & ~there)
        without = (by(owner, own, people) == 0)[owner]
        own, total = np.where(without, gaps, own), np.where(without, HALF * gaps, total)
    of_rows = by(who, np.ones(rows, dtype=np.int64), people)
    r = np.where(of_rows < MOST_ROWS, by(owner, own, people), 0)[owner]
    inside = r > 0
    r = np.maximum(r, 1)
    points = np.where(inside, GRID * own // r, 0)
    above = np.where(inside, np.minimum(points, (2 * total + r) // (2 * r)), 0)
    epsilon, conflicts = arrays.epsilon, np.zeros(1, dtype=np.int64)
    if not isinstance(epsilon, float):
        # NaN is neither smaller nor larger: here it must be a budget like others, a bad one.
        epsilon = np.where(epsilon >= 0.0, epsilon, BAD_BUDGET)
        smallest, largest = np.full(people, np.inf), np.full(people, -np.inf)
        np.minimum.at(smallest, who, epsilon)
        np.maximum.at(largest, who, epsilon)
        conflicts = (smallest != largest).astype(np.int64)
        epsilon = smallest[owner]
    one = np.ones(found.size, dtype=np.int64)
    return add_up_shares(
        ShareParts(
            epsilon=epsilon,
            group=place,
            entries=one,
            each=by(owner, one, people)[owner],
            inside=inside.astype(np.int64),
            points=points,
            above=above,
            missing=entries(asked & ~there),
            asked=entries(asked),
            unknown=entries(flag < 0),
            several=(by(owner, (place >= 0).astype(np.int64), people) > 1).astype(np.int64),
            conflicts=conflicts,
            nobody=np.zeros(1, dtype=np.int64),
            most=of_rows.max(initial=0, keepdims=True),
        ),
        k,
    )
