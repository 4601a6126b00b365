"""How people divide their unit among cells: from rows that were added up to what was counted.

**Categories.** Someone with r rows has SHARES points, of which each row gives floor(SHARES / r) to
its cell. What is left is spread evenly over all cells; on a ladder it is lost.

**Numbers.** Everyone has GRID points. Someone whose number is g on the grid gives g of them to the
cell of x. With squares there are three cells: a = floor(g²/G), 2g − 2a and G − 2g + a, which stand
for x², 2x(1 − x) and (1 − x)². All three of a first number, each divided as a second one is, are
nine cells that sum to G exactly, whatever both are.

**Numbers by group.** Someone with r rows that count, r_j of them in group j with integers on the
grid that sum to S_j, gives t_j = floor(GRID·r_j / r) points to the group: the nearest integer to
S_j / r, and at most t_j, to its cell of x, and the rest to its cell of 1 - x. What is left of the
unit, less than their number of groups, goes to the cell of 1 - x of the first group. Someone of
whom no row counts is outside, with the whole unit. docs/proofs/shares.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from epsilons.budgets.levels import moved
from epsilons.door.count.asks import Counted, Faults, Rules, What, levels_of, summed
from epsilons.door.count.tallies import GRID, HALF, over_grid, three_cells
from epsilons.door.given.categories import MISSING, UNDECLARED, Categories
from epsilons.errors import ArgumentError
from epsilons.types import Floats, Integers

__all__ = [
    "BELOW",
    "LARGEST_TABLE",
    "SHARES",
    "UnitParts",
    "caught",
    "check_table",
    "cut",
    "joined",
    "nine_cells",
    "number_cells",
    "of_categories",
    "of_groups",
    "people_of",
]

SHARES: Final = math.lcm(*range(1, 17))
"""What one person has to give to categories, where a person may have many rows: 720,720, which up
to 16 rows share without a remainder."""

LARGEST_TABLE: Final = 2**28
"""The most levels times cells: 2 GiB of integers."""

_MIDDLE: Final = GRID // 4 * np.array([1, 2, 1])
_CENTRE: Final = GRID // 16 * np.outer([1, 2, 1], [1, 2, 1]).ravel()
"""What someone in the middle adds to three cells, and to nine: exactly, for GRID is a power of 2.
Who is absent was counted there, and is taken out again."""

BELOW: Final = tuple(f"t{i}{j}" for i in range(3) for j in range(2))
"""The names of what is counted of pairs: of each of the three cells of the first number, its parts
in the first cell of the second number, and in the first two."""


@dataclass(frozen=True, eq=False)
class UnitParts:
    """Rows of people, or entries of them, that have everything here in common, in any order.

    Of categories these are rows. Of numbers by group a person has an entry for each group that they
    have rows in.

    Attributes:
        epsilon: the budget of each part (anything that is not >= 0 is a bad one), or of all.
        cell: the place of the category or of the group, or `UNDECLARED` or `MISSING`.
        size: how many rows or entries.
        each: how many of them each of these people has in all parts; None if one.
        inside: how many of the entries are of people of whom some row counts.
        points: what these give to the group.
        above: what of that is in the cell of x.
        faults: what may have to be refused, apart from what `cell` says of categories.
    """

    epsilon: Floats | float
    cell: Integers
    size: Integers
    each: Integers | None
    faults: Faults
    inside: Integers | None = None
    points: Integers | None = None
    above: Integers | None = None


def people_of(
    level_of: Integers, size: Integers, each: Integers | None
) -> tuple[Integers, Integers, Integers]:
    """Count people by level: in a level, those of r rows have r rows each together, exactly.

    Args:
        level_of: the level of each part.
        size: how many rows it has.
        each: how many rows each person in it has in all parts together; None if one.

    Returns:
        For each level and number of rows that occur together: these two, and how many people.
    """
    if each is None:
        return level_of, np.ones_like(size), size
    found, kind = np.unique(each, return_inverse=True)
    pairs, pair_of = np.unique(level_of * found.size + kind, return_inverse=True)
    together = summed(pair_of, size, pairs.size)
    level, kind = np.divmod(pairs, max(found.size, 1))
    return level, found[kind], together // found[kind]


def of_categories(parts: UnitParts, rules: Rules) -> Counted:
    """Add rows up by budget level and category.

    Raises:
        ArgumentError: there are too many levels and categories for a table of them.
    """
    categories = rules.categories
    if categories is None:
        raise TypeError("These rows are of numbers: no categories were declared.")
    levels, level_of = levels_of(parts.epsilon, parts.cell.size)
    k = len(categories.labels)
    check_table("categories", k, levels.size)
    cell = caught(parts.cell, categories)
    level, each, own = people_of(level_of, parts.size, parts.each)
    people = summed(level, own, levels.size)
    # size <= n·each for n people, so that this is at most n·SHARES, which is checked later.
    share = parts.size if parts.each is None else parts.size * (SHARES // parts.each)
    inside = cell >= 0
    place = level_of * k + cell
    if not inside.all():
        place, share = place[inside], share[inside]
    cells = summed(place, share, levels.size * k).reshape(levels.size, k)
    if parts.each is not None and not rules.private:
        _spread(cells, level, own, SHARES % each)
    faults = replace(
        parts.faults,
        missing=int((cell == MISSING).sum()),
        undeclared=int((cell == UNDECLARED).sum()),
    )
    return Counted(levels, people, cells, faults, moved(parts.epsilon))


def check_table(name: str, cells: int, levels: int) -> None:
    """Refuse more cells, of categories or of groups, than a table has room for.

    Raises:
        ArgumentError: there are more.
    """
    if levels * cells > LARGEST_TABLE:
        raise ArgumentError(
            f"{name}: {cells:,} cells for each of {levels:,} budget levels are too many. "
            f"Declare fewer {name}, or offer fewer budgets."
        )


def caught(cell: Integers, categories: Categories) -> Integers:
    """The cell of values, where a category catches those that are in no other."""
    return cell if categories.other is None else np.where(cell < 0, categories.other, cell)


def _spread(cells: Integers, level: Integers, people: Integers, left: Integers) -> None:
    """Spread what is left of everyone's unit evenly over the cells; the first get what is over.

    Who has r rows gives each cell a number that r alone decides: nobody else's rows matter.
    """
    k = cells.shape[1]
    for place in np.unique(level[left > 0]).tolist():
        own = level == place
        every, over = np.divmod(left[own], k)
        more = np.zeros(k + 1, dtype=np.int64)
        more[0] = people[own].sum()
        np.subtract.at(more, over, people[own])
        cells[place] += int(people[own] @ every) + np.cumsum(more)[:k]


def of_groups(parts: UnitParts, rules: Rules) -> Counted:
    """Add entries up by budget level and group: x and 1 - x of each, and last those outside.

    Raises:
        ArgumentError: there are too many levels and groups for a table of them.
    """
    inside, points, above = parts.inside, parts.points, parts.above
    if inside is None or points is None or above is None:
        raise TypeError("units were not divided")
    levels, level_of = levels_of(parts.epsilon, parts.cell.size)
    groups = len(rules.groups_of)
    check_table("groups", 2 * groups, levels.size)
    declared = parts.cell >= 0
    place = (level_of * groups + parts.cell)[declared]

    def table(numbers: Integers) -> Integers:
        found = summed(place, numbers[declared], levels.size * groups)
        return found.reshape(levels.size, groups)

    def counted(entries: Integers) -> Integers:
        level, _, own = people_of(level_of, entries, parts.each)
        return summed(level, own, levels.size)

    divided = _Divided(
        counted(parts.size), counted(inside), table(points), table(above), table(parts.size)
    )
    faults = replace(parts.faults, undivided=divided.wrong)
    cells = divided.cells(outside=rules.outside)
    return Counted(levels, divided.people, cells, faults, moved(parts.epsilon), divided.members)


@dataclass(frozen=True, eq=False)
class _Divided:
    """Units of people, divided among groups.

    Attributes:
        people: by level, how many there are.
        inside: how many of them are inside.
        points: by level and group, what they give to it.
        above: what of that is in the cell of x.
        members: by level and group, how many people have rows in it.
    """

    people: Integers
    inside: Integers
    points: Integers
    above: Integers
    members: Integers

    @property
    def left(self) -> Integers:
        """What is left of units."""
        given: Integers = self.points.sum(axis=1)
        return GRID * self.inside - given

    @property
    def wrong(self) -> int:
        """The levels in which somebody has not divided one unit, or more than one.

        What is left of a unit is less than its person's number of groups, whatever the data are.
        """
        whole = (self.left >= 0) & (self.left <= self.members.sum(axis=1))
        parts = ((self.above >= 0) & (self.above <= self.points)).all(axis=1)
        return int((~(whole & (self.inside <= self.people) & parts)).sum())

    def cells(self, *, outside: bool) -> Integers:
        """Lay the cells out: x and 1 - x of each group in turn, and last those outside."""
        levels, k = self.points.shape
        cells = np.zeros((levels, 2 * k + outside), dtype=np.int64)
        cells[:, 0 : 2 * k : 2] = self.above
        cells[:, 1 : 2 * k : 2] = self.points - self.above
        cells[:, 1] += self.left
        without = self.people - self.inside
        if outside:
            cells[:, -1] = GRID * without
        else:
            # Where nobody may be outside, only someone of too many rows is here, in the middle.
            cells[:, :2] += HALF * without[:, np.newaxis]
        return cells


def joined(first: Integers, second: Integers, size: int) -> Integers:
    """The place of pairs, of which the second runs fastest; below 0 where either is."""
    return np.where(np.minimum(first, second) < 0, np.minimum(first, second), first * size + second)


def number_cells(
    what: What, people: Integers, found: Mapping[str, Integers], rules: Rules
) -> Integers:
    """Return the cells of numbers of people who are all in one group, by level.

    Args:
        what: two cells, three, or nine.
        people: how many there are.
        found: Σ g, which is `x`; of squares Σ `grid.squares` of g, which is `v`; of pairs the sums
            of `cut`; and how many people lack a number, `absent`, if they are excluded.
        rules: what becomes of these.
    """
    if what == "numbers":
        return np.stack([found["x"], people * GRID - found["x"]], axis=1)
    if what == "squares":
        cells, middle = three_cells(people, found["x"], found["v"]), _MIDDLE
    else:
        cells, middle = nine_cells(people, found), _CENTRE
    if rules.missing == "exclude":
        cells = cells - found["absent"][:, None] * middle
        if not rules.private:
            cells = np.column_stack([cells, GRID * found["absent"]])
    return cells


def cut(g: Integers, h: Integers) -> dict[str, Integers]:
    """Return the parts of everyone's unit from which nine cells follow, by name.

    Args:
        g: the first number of each person, from 0 to GRID.
        h: the second.
    """
    a, b = over_grid(g, g), over_grid(h, h)
    first = (a, 2 * g - 2 * a, GRID - 2 * g + a)
    second = (b, 2 * h - b)
    parts = [over_grid(each, below) for each in first for below in second]
    return {"x": g, "a": a, **dict(zip(BELOW, parts, strict=True))}


def nine_cells(people: Integers, found: Mapping[str, Integers]) -> Integers:
    """Return the nine cells of two numbers, by level, the second number running fastest.

    Args:
        people: how many there are.
        found: the sums of what `cut` says.
    """
    a, g = found["a"], found["x"]
    rows = (a, 2 * g - 2 * a, people * GRID - 2 * g + a)
    cells = []
    for i in range(3):
        one, two = found[BELOW[2 * i]], found[BELOW[2 * i + 1]]
        cells += [one, two - one, rows[i] - two]
    return np.stack(cells, axis=1)
