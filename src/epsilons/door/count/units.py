"""Divide each person's unit among cells: from aggregated rows to counts by level and cell.

**Categories.** Each person has SHARES points. If they have r rows, each row gives
floor(SHARES / r) points to its cell. The remainder is spread evenly over all cells; on a ladder it
is dropped.

**Numbers.** Each person has GRID points. If their number is g on the grid, they give g points to
the cell of x and the rest to the cell of 1 − x. With squares there are three cells, where G = GRID:
a = floor(g²/G), 2g − 2a and G − 2g + a, for x², 2x(1 − x) and (1 − x)². With two numbers, each of
the three cells of the first number is divided into the three cells of the second. These nine cells
sum to G exactly, for all values of both numbers.

**Numbers by group.** Suppose that a person has r rows that count, and r_j of these are in group j.
Let S_j be the sum of these r_j integers on the grid. The person gives t_j = floor(GRID·r_j / r)
points to group j: min(t_j, S_j / r rounded to the nearest integer) to its cell of x, and the rest
to its cell of 1 - x. The remainder of the unit is less than their number of groups. It is added to
the cell of 1 - x of the first group. If no row of a person counts, their whole unit is added to the
cell for people outside all groups. See docs/proofs/shares.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from epsilons.budgets.levels import moved
from epsilons.door.count.asks import Ask, Counted, Faults, Rules, What, levels_of, summed
from epsilons.door.count.tallies import GRID, HALF, over_grid, require, three_cells
from epsilons.door.count.weights import Heads, ends_of
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
"""The points that each person divides among categories, if people can have several rows. The number
is 720,720, which is divisible by every number of rows up to 16."""

LARGEST_TABLE: Final = 2**28
"""The largest allowed number of levels times cells: 2 GiB of integers."""

_MIDDLE: Final = GRID // 4 * np.array([1, 2, 1])
_CENTRE: Final = GRID // 16 * np.outer([1, 2, 1], [1, 2, 1]).ravel()
"""The contributions of a person in the middle of the range to three cells, and to nine. They are
exact, because GRID is a power of 2. Absent people are first counted in the middle, and then
subtracted."""

BELOW: Final = tuple(f"t{i}{j}" for i in range(3) for j in range(2))
"""Names of the sums that engines return for pairs. There are two for each of the three cells of the
first number: how much of it is in the first cell of the second number, and how much is in the first
two cells."""


@dataclass(frozen=True, eq=False)
class UnitParts:
    """Aggregated rows or entries, in parts. All people of a part have the same number of rows.

    A part belongs to one budget and one cell. Parts are in any order. For categories they hold
    rows. For numbers by group they hold entries: a person has one entry for each group in which
    they have rows.

    Attributes:
        epsilon: the budget of each part, or one budget for all parts. Budgets that are not >= 0 are
            invalid.
        cell: the index of the category or group, or `UNDECLARED` or `MISSING`.
        size: the number of rows or entries.
        each: the number of rows or entries that each person of the part has in all parts; None if
            it is always one.
        inside: the number of entries of people with at least one row that counts.
        points: the points that these people give to the group.
        above: the points that are in the cell of x.
        faults: counts of faults that may lead to a refusal. For categories, missing and undeclared
            values are counted from `cell` instead.
        heads: the number of rows or entries, and the smallest and largest number of units of their
            people, if everything else is multiplied by these units; otherwise None.
    """

    epsilon: Floats | float
    cell: Integers
    size: Integers
    each: Integers | None
    faults: Faults
    inside: Integers | None = None
    points: Integers | None = None
    above: Integers | None = None
    heads: Heads | None = None

    def weighed(self, units: Integers | None) -> UnitParts:
        """Return the parts with everything multiplied by the units of their people.

        Args:
            units: the number of units of the people of each part; None without weights.
        """
        if units is None:
            return self
        heads = Heads(self.size, units, units)
        if self.inside is None or self.points is None or self.above is None:
            return replace(self, size=self.size * units, heads=heads)
        parts = {name: getattr(self, name) * units for name in ("size", "inside", "points")}
        return replace(self, **parts, above=self.above * units, heads=heads)


def people_of(
    level_of: Integers, size: Integers, each: Integers | None
) -> tuple[Integers, Integers, Integers]:
    """Count people by level and number of rows. If n people have r rows each, they have n·r rows.

    Args:
        level_of: the level of each part.
        size: the number of rows of each part.
        each: the number of rows of each person of the part, over all parts; None if it is one.

    Returns:
        For each pair of a level and a number of rows that occurs: the level, the number of rows,
        and the number of people.
    """
    if each is None:
        return level_of, np.ones_like(size), size
    found, kind = np.unique(each, return_inverse=True)
    pairs, pair_of = np.unique(level_of * found.size + kind, return_inverse=True)
    together = summed(pair_of, size, pairs.size)
    level, kind = np.divmod(pairs, max(found.size, 1))
    return level, found[kind], together // found[kind]


def of_categories(parts: UnitParts, rules: Rules, ask: Ask) -> Counted:
    """Add rows up by budget level and category. If `ask.adds`, each row is one person.

    Raises:
        ArgumentError: the table of levels and categories would be too large.
    """
    categories = rules.categories
    if categories is None:
        raise TypeError("These rows are of numbers: no categories were declared.")
    levels, level_of = levels_of(parts.epsilon, parts.cell.size)
    k = len(rules.cells)
    check_table("categories", k, levels.size)
    cell = caught(parts.cell, categories)
    level, each, own = people_of(level_of, parts.size, parts.each)
    people = summed(level, own, levels.size)
    heads = None
    if parts.heads is not None:
        at, _, some = people_of(level_of, parts.heads.number, parts.each)
        heads = _heads(parts.heads, level_of, summed(at, some, levels.size))
    # size <= n·each for n people, so this is at most n·SHARES, which is checked later.
    share = parts.size if parts.each is None else parts.size * (SHARES // parts.each)
    share = GRID * parts.size if ask.adds else share
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
    return Counted(levels, people, cells, faults, moved(parts.epsilon), heads=heads)


def _heads(parts: Heads, level_of: Integers, number: Integers) -> Heads:
    """Return people with weights by level, given the level of each part and their numbers."""
    return Heads(number, *ends_of(level_of, parts.fewest, parts.most, len(number)))


def check_table(name: str, cells: int, levels: int) -> None:
    """Refuse a table of levels and cells that would be too large.

    Raises:
        ArgumentError: the table has more than `LARGEST_TABLE` cells.
    """
    if levels * cells > LARGEST_TABLE:
        raise ArgumentError(
            f"{name}: {cells:,} cells for each of {levels:,} budget levels are too many. "
            f"Declare fewer {name}, or offer fewer budgets."
        )


def caught(cell: Integers, categories: Categories) -> Integers:
    """Return cells of values.

    Values in no category are in the category `other`, if there is one.
    """
    return cell if categories.other is None else np.where(cell < 0, categories.other, cell)


def _spread(cells: Integers, level: Integers, people: Integers, left: Integers) -> None:
    """Spread the remainders of units evenly over the cells. The first cells get the extra points.

    A person's contribution to each cell depends only on their own number of rows.
    """
    k = cells.shape[1]
    for place in np.unique(level[left > 0]).tolist():
        own = level == place
        every, over = np.divmod(left[own], k)
        more = np.zeros(k + 1, dtype=np.int64)
        more[0] = people[own].sum()
        np.subtract.at(more, over, people[own])
        cells[place] += int(people[own] @ every) + np.cumsum(more)[:k]


def of_groups(parts: UnitParts, rules: Rules, ask: Ask) -> Counted:
    """Add up entries by budget level: two cells for each group, and one for people outside.

    Raises:
        ArgumentError: the table of levels and groups would be too large.
        PrivacyError: an engine divides integers incorrectly.
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

    people, heard, members = counted(parts.size), counted(inside), table(parts.size)
    given, first = table(points), table(above)
    # People divide one unit each, and the remainder of a unit is less than its person's number of
    # groups. Only a fault of the engine can break this.
    left = GRID * heard - given.sum(axis=1)
    whole = (left >= 0) & (left <= members.sum(axis=1)) & (heard <= people)
    whole &= ((first >= 0) & (first <= given)).all(axis=1)
    many = int(people.sum()) >= 2**63 // GRID  # sums overflow: `check_size` refuses them
    require(many or whole.all(), "parts of units")
    cells = np.zeros((levels.size, 2 * groups + rules.outside), dtype=np.int64)
    cells[:, 0 : 2 * groups : 2] = first
    cells[:, 1 : 2 * groups : 2] = given - first
    cells[:, 1] += left
    if rules.outside:
        cells[:, -1] = GRID * (people - heard)
    else:
        # Without a cell for people outside, only people with too many rows are not heard. They
        # count as the middle of the range.
        cells[:, :2] += HALF * (people - heard)[:, np.newaxis]
    heads = None
    if parts.heads is not None:
        own = parts.heads.number
        heads = _heads(parts.heads, level_of, table(own) if ask.apart else counted(own))
    return Counted(levels, people, cells, parts.faults, moved(parts.epsilon), members, heads)


def joined(first: Integers, second: Integers, size: int) -> Integers:
    """Return indices of pairs, negative if either index is. The second index varies fastest."""
    return np.where(np.minimum(first, second) < 0, np.minimum(first, second), first * size + second)


def number_cells(
    what: What, people: Integers, found: Mapping[str, Integers], rules: Rules
) -> Integers:
    """Return the cells of numbers without groups, by level.

    Args:
        what: the kind of cells: two, three or nine.
        people: the number of people, by level.
        found: sums by name: `x` is Σ g; for squares, `v` is Σ `tallies.squares` of g; for pairs,
            the sums of the parts in `cut`; `absent` is the number of people without a number, if
            these are excluded.
        rules: whether people without a number are excluded, and whether they have a cell.
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
    """Return the parts of each person's unit that determine the nine cells, by name.

    Args:
        g: the first number of each person, from 0 to GRID.
        h: the second number of each person, from 0 to GRID.
    """
    a, b = over_grid(g, g), over_grid(h, h)
    first = (a, 2 * g - 2 * a, GRID - 2 * g + a)
    second = (b, 2 * h - b)
    parts = [over_grid(each, below) for each in first for below in second]
    return {"x": g, "a": a, **dict(zip(BELOW, parts, strict=True))}


def nine_cells(people: Integers, found: Mapping[str, Integers]) -> Integers:
    """Return the nine cells of two numbers, by level. The second number varies fastest.

    Args:
        people: the number of people, by level.
        found: the sums of the parts in `cut`, by name.
    """
    a, g = found["a"], found["x"]
    rows = (a, 2 * g - 2 * a, people * GRID - 2 * g + a)
    cells = []
    for i in range(3):
        one, two = found[BELOW[2 * i]], found[BELOW[2 * i + 1]]
        cells += [one, two - one, rows[i] - two]
    return np.stack(cells, axis=1)
