"""The tally of means by group: one unit each, divided among public cells, and the checks it passes.

Everyone has GRID points. Someone with r rows that count, r_j of them in group j with integers on
the grid that sum to S_j, gives t_j = floor(GRID·r_j / r) points to the group: the nearest integer
to S_j / r, and at most t_j, to its cell of x, and the rest to its cell of 1 - x. What is left of
the unit, less than their number of groups, goes to the cell of 1 - x of the first group. Someone of
whom no row counts is outside, with the whole unit. docs/proofs/shares.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from epsilons.budgets import moved
from epsilons.errors import ArgumentError, DataError, MissingValueError
from epsilons.tally.cells import LARGEST_TABLE, CellTally, people_of
from epsilons.tally.grid import GRID, HALF
from epsilons.tally.levels import Names, check_people, check_size, levels_of, standing
from epsilons.types import Floats, Integers

__all__ = [
    "EVERYBODY",
    "Counting",
    "ShareGroups",
    "ShareParts",
    "add_up_shares",
    "joined",
    "shares_of",
]

EVERYBODY: Final = (None,)
"""The labels where there is one group, which holds everybody."""

_CURATOR: Final = "This message depends on private data: it is for the curator only."
_EXCLUDE: Final = (
    'missing="exclude" leaves such rows out and never refuses. Do not drop them yourself: the '
    "number of people is published."
)


@dataclass(frozen=True, eq=False)
class Counting:
    """Which rows count, and where the others go.

    Attributes:
        labels: of the groups.
        missing: what is done with missing values: "error", "midpoint" or "exclude".
        private: whether budgets and the number of people are.
        outside: whether somebody may be outside of all groups: a last column.
    """

    labels: tuple[Any, ...]
    missing: str
    private: bool
    outside: bool

    @property
    def in_the_middle(self) -> bool:
        """Whether someone without any value stands in the middle."""
        return self.missing == "midpoint" or (self.private and self.missing != "exclude")


@dataclass(frozen=True, eq=False)
class ShareParts:
    """Entries, one for each group that a person has rows in, added up in any way.

    Attributes:
        epsilon: the budget of the people of each part, or of all.
        group: the place of the group, `UNDECLARED` or `MISSING`.
        entries: how many.
        each: how many entries each of these people has.
        inside: how many of the entries are of people of whom some row counts.
        points: what these give to the group.
        above: what of that is in the cell of x.
        missing: rows that are asked and whose value is missing.
        asked: rows that are asked.
        unknown: rows of which nobody knows if they are asked.
        several: entries of people who are in two declared groups, if that was looked for.
        conflicts: above 0 if somebody has two budgets.
        nobody: above 0 if rows belong to no one.
        most: the most rows that one person has.
    """

    epsilon: Floats | float
    group: Integers
    entries: Integers
    each: Integers
    inside: Integers
    points: Integers
    above: Integers
    missing: Integers
    asked: Integers
    unknown: Integers
    several: Integers
    conflicts: Integers
    nobody: Integers
    most: Integers


@dataclass(frozen=True, eq=False)
class ShareGroups:
    """What was counted, one entry for each level, unchecked and in any order.

    Attributes:
        levels: the smallest ε of the group, or `BAD_BUDGET`.
        people: how many people.
        inside: how many of them are inside.
        points: by level and group, what they give to it.
        above: what of that is in the cell of x.
        members: by level and group, how many people have rows in it.
        missing: rows that are asked and whose value is missing.
        undeclared: rows that are asked and whose group is missing or not declared.
        unknown: rows of which nobody knows if they are asked.
        several: above 0 if somebody is in two groups.
        conflicts: above 0 if somebody has two budgets.
        nobody: above 0 if rows belong to no one.
        most: the most rows that one person has.
        moved: whether somebody's budget counts as another one: see `budgets.in_range`.
    """

    levels: Floats
    people: Integers
    inside: Integers
    points: Integers
    above: Integers
    members: Integers
    missing: int
    undeclared: int
    unknown: int
    several: int
    conflicts: Integers
    nobody: Integers
    most: Integers
    moved: bool = False


def parts_of_rows(
    epsilon: Floats | float,
    group: Integers,
    added: tuple[Integers, Integers, Integers],
    where: tuple[Integers, Integers] | None,
    counting: Counting,
) -> ShareParts:
    """Divide the units of rows that are people: each has a whole one.

    Args:
        epsilon: the budget of each line, or of all.
        group: the place of its group, below 0 if it is not declared.
        added: how many rows it has, how many of these have a value and are asked, and what these
            are on the grid, together.
        where: how many are asked, and of how many that is known; None if all are.
        counting: which rows count.
    """
    size, own, total = added
    asked, known = where or (size, size)
    gaps = (asked - own) * counting.in_the_middle
    inside = np.where(group < 0, 0, own + gaps)
    nothing: Integers = np.zeros(group.size, dtype=np.int64)
    return ShareParts(
        epsilon=epsilon,
        group=group,
        entries=size,
        each=np.ones(group.size, dtype=np.int64),
        inside=inside,
        points=GRID * inside,
        above=np.where(group < 0, 0, total + HALF * gaps),
        missing=asked - own,
        asked=asked,
        unknown=size - known,
        several=nothing,
        conflicts=nothing,
        nobody=nothing,
        most=np.ones(1, dtype=np.int64),
    )


def add_up_shares(parts: ShareParts, groups: int) -> ShareGroups:
    """Add parts up by budget level and group, in integers.

    Raises:
        ArgumentError: there are too many levels and groups for a table of them.
    """
    levels, level_of = levels_of(parts.epsilon, parts.group.size)
    if levels.size * 2 * groups > LARGEST_TABLE:
        raise ArgumentError(
            f"groups: {2 * groups:,} cells for each of {levels.size:,} budget levels are too many. "
            "Declare fewer groups, or offer fewer budgets."
        )
    declared = parts.group >= 0
    place = np.where(declared, level_of * groups + parts.group, 0)

    def table(numbers: Integers) -> Integers:
        total = np.zeros(levels.size * groups, dtype=np.int64)
        np.add.at(total, place[declared], numbers[declared])
        return total.reshape(levels.size, groups)

    def counted(entries: Integers) -> Integers:
        total = np.zeros(levels.size, dtype=np.int64)
        level, _, own = people_of(level_of, entries, parts.each)
        np.add.at(total, level, own)
        return total

    return ShareGroups(
        levels=levels,
        people=counted(parts.entries),
        inside=counted(parts.inside),
        points=table(parts.points),
        above=table(parts.above),
        members=table(parts.entries),
        missing=int(parts.missing.sum()),
        undeclared=int(parts.asked[~declared].sum()),
        unknown=int(parts.unknown.sum()),
        several=int(parts.several.max(initial=0)),
        conflicts=parts.conflicts,
        nobody=parts.nobody,
        most=parts.most,
        moved=moved(parts.epsilon),
    )


def joined(first: Integers, second: Integers, size: int) -> Integers:
    """The place of pairs, of which the second runs fastest; below 0 where either is."""
    return np.where(np.minimum(first, second) < 0, np.minimum(first, second), first * size + second)


def shares_of(
    groups: ShareGroups, names: Names, counting: Counting, rungs: Floats | None, *, apart: bool
) -> CellTally:
    """Return the tally, if it can be used.

    Args:
        groups: what was counted.
        names: what messages call the parameters.
        counting: which rows count.
        rungs: those of the ladder, where budgets are private: whatever the data, it can be used.
        apart: whether to count people by group, and to refuse whoever is in two.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        MissingValueError: a value is missing and is refused.
        DataError: the group of a row is not declared, or nobody knows if it is asked; there are too
            few people, too many, or rows that belong to no one; somebody is in two groups.
    """
    if rungs is None:
        _check(groups, names, counting)
        if apart and groups.several:
            raise DataError(
                f"{_by(names)}: somebody is in two groups. If groups are public, everyone is in "
                f"one of them: give all rows of a person the same group. {_CURATOR}"
            )
        order = np.argsort(groups.levels)
    else:
        check_size(groups, names, GRID)
        order = standing(groups, rungs)
    counts = groups.people[order]
    _check_units(groups)
    cells = _cells(groups, order, outside=counting.outside)
    return CellTally(
        levels=groups.levels[order] + 0.0,
        counts=counts,
        cells=cells,
        unit=GRID,
        categories=counting.labels,
        people=groups.members[order] if apart else None,
    )


def _cells(groups: ShareGroups, order: Integers, *, outside: bool) -> Integers:
    """Lay the cells out: x and 1 - x of each group in turn, and last the cell of those outside."""
    points, above = groups.points[order], groups.above[order]
    levels, k = points.shape
    cells = np.zeros((levels, 2 * k + outside), dtype=np.int64)
    cells[:, 0 : 2 * k : 2] = above
    cells[:, 1 : 2 * k : 2] = points - above
    inside = groups.inside[order]
    cells[:, 1] += GRID * inside - points.sum(axis=1)
    without = groups.people[order] - inside
    if outside:
        cells[:, -1] = GRID * without
    else:
        # Where nobody may be outside, only someone of too many rows is here, and in the middle.
        cells[:, :2] += HALF * without[:, np.newaxis]
    return cells


def _check_units(groups: ShareGroups) -> None:
    """See that everyone has divided one unit, and no more than one.

    What is left of a unit is less than its person's number of groups, whatever the data are.

    Raises:
        DataError: an engine does not divide integers as it should.
    """
    left = GRID * groups.inside - groups.points.sum(axis=1)
    whole = (left >= 0) & (left <= groups.members.sum(axis=1)) & (groups.inside <= groups.people)
    parts = (groups.above >= 0) & (groups.above <= groups.points)
    if not (whole.all() and parts.all()):
        raise DataError(
            "data: its engine does not return integers that add up to one unit for each person. "
            "Give the rows on another engine, such as Polars, PyArrow or DuckDB."
        )


def _by(names: Names) -> str:
    """What messages call the columns of groups."""
    return " and ".join(name for own, name in names.marks.items() if own != "where") or "by"


def _check(groups: ShareGroups, names: Names, counting: Counting) -> None:
    """Refuse what cannot be counted, where that may be told."""
    check_people(groups, names, GRID)
    if counting.missing == "error" and groups.missing:
        raise MissingValueError(
            f"{names.values} has missing values (null, NaN or infinite).{names.missing} {_CURATOR} "
            'missing="midpoint" puts such values in the middle of the bounds and never refuses; '
            f"{_EXCLUDE}"
        )
    if counting.missing == "exclude":
        return
    if groups.undeclared:
        raise DataError(
            f"{_by(names)} has a group that is missing, or not among the declared groups. "
            f"{_CURATOR} {_EXCLUDE}"
        )
    if groups.unknown:
        raise DataError(
            f"{names.of('where')} has entries that are neither true nor false. {_CURATOR} "
            'missing="exclude" treats them as false and never refuses; or fill them in first.'
        )
