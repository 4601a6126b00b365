"""The tally of frequencies: integers by budget level and category, and the checks they pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from epsilons.budgets import moved
from epsilons.errors import ArgumentError, DataError, MissingValueError
from epsilons.tally.categories import MISSING, UNDECLARED, Categories
from epsilons.tally.levels import Names, check_people, check_size, levels_of, standing
from epsilons.types import Floats, Integers

__all__ = [
    "LARGEST_TABLE",
    "SHARES",
    "CellGroups",
    "CellTally",
    "Parts",
    "add_up",
    "cells_on_rungs",
    "checked_cells",
    "people_of",
]

SHARES: Final = math.lcm(*range(1, 17))
"""What one person has to give to cells, where a person may have many rows: 720,720, which up to 16
rows share without a remainder."""

LARGEST_TABLE: Final = 2**28
"""The most levels times cells: 2 GiB of integers."""


@dataclass(frozen=True, eq=False)
class CellTally:
    """Integers by budget level and cell: all that a release of frequencies needs of the data.

    Attributes:
        levels: the budget of each level, ascending and distinct: the smallest ε in its group.
        counts: the people in each level.
        cells: by level and cell, the sum over people of their share of the cell, in units of
            1 / `unit`. One person adds exactly `unit` in all; on a ladder, at most that.
        unit: 1 if a row is a person; `SHARES` if people may have many rows, r of them adding
            floor(SHARES / r) each, which is nothing for more than SHARES rows. What is left of a
            person's unit, SHARES mod r, is spread evenly over all cells; on a ladder it is lost.
        categories: the label of each cell; of means by group, of each group, which has a cell of
            x and one of 1 - x. There `unit` is GRID, everyone adds exactly that, and a last cell,
            if there is one, is of those who are outside of all groups.
        people: by level and group, how many people are in it, where that was asked for.
    """

    levels: Floats
    counts: Integers
    cells: Integers
    unit: int
    categories: tuple[Any, ...]
    people: Integers | None = None

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    def with_total(self, own: int, shared: int) -> CellTally:
        """The same with one more cell, to which everyone gives a part of what they give.

        Args:
            own: the part that goes to a person's own cells.
            shared: the part that goes to the cell of all.
        """
        total = self.cells.sum(axis=1, keepdims=True)
        cells = np.concatenate([own * self.cells, shared * total], axis=1)
        return replace(self, cells=cells, unit=self.unit * (own + shared))


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows, or groups of rows that have everything here in common, in any order.

    Attributes:
        epsilon: the budget of each part (anything that is not >= 0 is a bad one), or of all.
        cell: the cell, or `UNDECLARED` or `MISSING`.
        size: how many rows.
        rows: how many rows each person in the part has in all; None if a row is a person.
        conflicts: above 0 where people have two budgets.
        nobody: above 0 where rows belong to no one.
    """

    epsilon: Floats | float
    cell: Integers
    size: Integers
    rows: Integers | None
    conflicts: Integers
    nobody: Integers


@dataclass(frozen=True, eq=False)
class Left:
    """What rows do not give of their people's units: an entry for each number of rows in a level.

    Attributes:
        group: the place of the level.
        people: how many people have so many rows.
        each: what is left of the unit of each of them.
    """

    group: Integers
    people: Integers
    each: Integers


@dataclass(frozen=True, eq=False)
class CellGroups:
    """What was counted, one entry for each level, unchecked and in any order.

    Attributes:
        levels: the smallest ε of the group, or `BAD_BUDGET`.
        people: how many people.
        cells: by level and cell, the sum of shares.
        left: what is left of people's units; None if a row is a person.
        missing: rows whose value is missing, if no cell catches them.
        undeclared: rows whose value is in no category, if no cell catches them.
        conflicts: above 0 if somebody has two budgets.
        nobody: above 0 if rows belong to no one.
        most: the most rows that one person has.
        moved: whether somebody's budget counts as another one: see `budgets.in_range`.
    """

    levels: Floats
    people: Integers
    cells: Integers
    left: Left | None
    missing: int
    undeclared: int
    conflicts: Integers
    nobody: Integers
    most: Integers
    moved: bool = False


def add_up(parts: Parts, categories: Categories) -> CellGroups:
    """Add parts up by budget level and cell, in integers.

    Raises:
        ArgumentError: there are too many levels and categories for a table of them.
    """
    levels, level_of = levels_of(parts.epsilon, parts.cell.size)
    k = len(categories.labels)
    if levels.size * k > LARGEST_TABLE:
        raise ArgumentError(
            f"categories: {k:,} cells for each of {levels.size:,} budget levels are too many. "
            "Declare fewer categories, or offer fewer budgets."
        )
    cell = parts.cell
    if categories.other is not None:
        cell = np.where(cell < 0, categories.other, cell)
    share = parts.size
    people = np.zeros(levels.size, dtype=np.int64)
    left = None
    if parts.rows is None:
        np.add.at(people, level_of, parts.size)
    else:
        # size <= n·rows for n people, so that this is at most n·SHARES, which is checked later.
        share = share * (SHARES // parts.rows)
        left = _count_people(people, level_of, parts.size, parts.rows)
    cells = np.zeros(levels.size * k, dtype=np.int64)
    inside = cell >= 0
    if inside.all():
        np.add.at(cells, level_of * k + cell, share)
    else:
        np.add.at(cells, (level_of * k + cell)[inside], share[inside])
    return CellGroups(
        levels=levels,
        people=people,
        cells=cells.reshape(levels.size, k),
        left=left,
        missing=int((cell == MISSING).sum()),
        undeclared=int((cell == UNDECLARED).sum()),
        conflicts=parts.conflicts,
        nobody=parts.nobody,
        most=np.ones(1, dtype=np.int64) if parts.rows is None else parts.rows,
        moved=moved(parts.epsilon),
    )


def people_of(
    level_of: Integers, size: Integers, rows: Integers
) -> tuple[Integers, Integers, Integers]:
    """Count people by level: in a level, those of r rows have r rows each together, exactly.

    Args:
        level_of: the level of each part.
        size: how many rows it has.
        rows: how many rows each person in it has in all parts together.

    Returns:
        For each level and number of rows that occur together: these two, and how many people.
    """
    found, kind = np.unique(rows, return_inverse=True)
    pairs, pair_of = np.unique(level_of * found.size + kind, return_inverse=True)
    together = np.zeros(pairs.size, dtype=np.int64)
    np.add.at(together, pair_of, size)
    level, kind = np.divmod(pairs, max(found.size, 1))
    return level, found[kind], together // found[kind]


def _count_people(people: Integers, level_of: Integers, size: Integers, rows: Integers) -> Left:
    """Add people to levels, and say what is left of their units."""
    level, each_has, own = people_of(level_of, size, rows)
    np.add.at(people, level, own)
    each = SHARES % each_has
    some = each > 0
    return Left(level[some], own[some], each[some])


def _completed(tally: CellTally, order: Integers, left: Left) -> CellTally:
    """Spread what is left of everyone's unit evenly over the cells; the first get what is over.

    Who has r rows gives each cell a number that r alone decides: nobody else's rows matter.
    """
    cells, k = tally.cells, len(tally.categories)
    place = np.argsort(order)[left.group]
    for level in np.unique(place).tolist():
        own = place == level
        people, (every, over) = left.people[own], np.divmod(left.each[own], k)
        more = np.zeros(k + 1, dtype=np.int64)
        more[0] = people.sum()
        np.subtract.at(more, over, people)
        cells[level] += int(people @ every) + np.cumsum(more)[:k]
    return tally


def checked_cells(
    groups: CellGroups, names: Names, categories: Categories, *, unit: int
) -> CellTally:
    """Return the tally, if it can be used.

    Args:
        groups: what was counted.
        names: what messages call the parameters.
        categories: what was declared.
        unit: what one person adds.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        MissingValueError: a value is missing, and no category catches it.
        DataError: a value is in no category; there are too few people, too many, or rows that
            belong to no one.
    """
    check_people(groups, names, unit)
    if groups.missing:
        raise MissingValueError(
            f"{names.values} has missing values (null or NaN).{names.missing} This message "
            'depends on private data: it is for the curator only. Declare other="…", a category '
            "for such values, which never refuses. Do not drop the rows yourself: the number of "
            "people is published."
        )
    if groups.undeclared:
        raise DataError(
            f"{names.values} has a value that is not among the declared categories. This message "
            'depends on private data: it is for the curator only. Declare other="…", a category '
            "for such values, which never refuses."
        )
    order = np.argsort(groups.levels)
    tally = _sorted(groups, order, categories, unit)
    return tally if groups.left is None else _completed(tally, order, groups.left)


def cells_on_rungs(
    groups: CellGroups, names: Names, categories: Categories, rungs: Floats, *, unit: int
) -> CellTally:
    """Return the tally of budgets on a public ladder: whatever the data, it can be used.

    Those who stand on no rung are left out, and values that are in no category are in no cell. Of
    two budgets of one person the smaller counts. What rows do not give of a unit is lost: it would
    be a share of cells for people who are in none. Those who count are counted by what they give to
    cells, rounded to whole people: shares are among them, and so is what is said about who has
    which budget. One person changes that number by at most one.
    """
    check_size(groups, names, unit)
    tally = _sorted(groups, standing(groups, rungs), categories, unit)
    return replace(tally, counts=(2 * tally.cells.sum(axis=1) + unit) // (2 * unit))


def _sorted(groups: CellGroups, order: Integers, categories: Categories, unit: int) -> CellTally:
    return CellTally(
        levels=groups.levels[order] + 0.0,
        counts=groups.people[order],
        cells=groups.cells[order],
        unit=unit,
        categories=categories.labels,
    )
