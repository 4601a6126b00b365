"""The tally itself, and the checks that every tally passes, whichever engine counted it."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from epsilons.budgets import LEAST, in_range, is_number
from epsilons.errors import BudgetError, ConflictingBudgetsError, DataError, MissingValueError
from epsilons.ladder import keys
from epsilons.tally.grid import GRID
from epsilons.types import Floats, Integers

__all__ = [
    "BAD_BUDGET",
    "Groups",
    "Names",
    "SumGroups",
    "Tally",
    "check_people",
    "check_size",
    "checked",
    "levels_of",
    "on_rungs",
    "standing",
    "usable",
]

BAD_BUDGET = -1.0
"""What a budget that is null, NaN or negative is written as while people are counted."""

MOST_ROWS = 2**31
"""Rows of one person that cannot be averaged in 64-bit integers: then they count as the middle,
and where that may be told, they are refused."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Integers by budget level: all that a release needs to know of the data.

    Attributes:
        levels: the budget of each level, ascending and distinct: the smallest ε in its group.
        counts: the people in each level.
        sums: the sum, over the people of each level, of their integer in [0, GRID].
        squares: the same of `grid.squares` of their integer, if that was asked for.
    """

    levels: Floats
    counts: Integers
    sums: Integers
    squares: Integers | None = None

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Names:
    """What messages call the three things that the user gave.

    Attributes:
        values: the values.
        epsilon: the budgets.
        person: whose row it is.
        missing: what else a value may be that is missing, where that is not plain: a sentence.
        unusable: what else a budget may be that is missing: a sentence.
        marks: what else was named, by parameter: the groups of rows, and whether they are asked.
    """

    values: str = "values"
    epsilon: str = "epsilon"
    person: str = "person"
    missing: str = ""
    unusable: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_columns(
        cls, values: Any, epsilon: Any, person: Any, marks: Mapping[str, Any] | None = None
    ) -> Names:
        """Name the columns that the user named, which pandas allows to be more than text."""
        marks = marks or {}
        return cls(
            f"{said('values', marks)}={values!r}",
            "epsilon" if is_number(epsilon) else f"epsilon={epsilon!r}",
            f"person={person!r}",
            marks={name: f"{name}={column!r}" for name, column in marks.items()},
        )

    @classmethod
    def of_arrays(cls, marks: Collection[str]) -> Names:
        """Name arrays as their parameters."""
        return cls(said("values", marks), marks={name: name for name in marks})

    @property
    def either(self) -> str:
        """The values, of one column or of two."""
        return f"{self.values} or {self.of('y')}" if "y" in self.marks else self.values

    def of(self, parameter: str) -> str:
        """What a further column is called."""
        return self.marks.get(parameter, parameter)


def said(parameter: str, others: Container[str]) -> str:
    """What users call a parameter: the values of two columns are x and y."""
    return "x" if parameter == "values" and "y" in others else parameter


@dataclass(frozen=True, eq=False)
class SumGroups:
    """What an engine counted, one entry for each level, unchecked and in any order.

    Attributes:
        levels: the smallest ε of the group, or `BAD_BUDGET`.
        people: how many people.
        sums: the sum of their integers.
        missing: rows whose value is missing.
        conflicts: people with two budgets.
        nobody: groups of rows that belong to no one, because the person is null.
        most: the most rows that one person has.
        squares: the sum of the squares of their integers, if that was asked for.
        absent: how many people have no value, if that was asked for.
        moved: whether somebody's budget counts as another one: see `budgets.in_range`.
    """

    levels: Floats
    people: Integers
    sums: Integers
    missing: Integers
    conflicts: Integers
    nobody: Integers
    most: Integers
    squares: Integers | None = None
    absent: Integers | None = None
    moved: bool = False


class Groups(Protocol):
    """What every count of people says of them: see `SumGroups`, `CellGroups`, `LineGroups`."""

    @property
    def levels(self) -> Floats:
        """The smallest ε of each group."""

    @property
    def people(self) -> Integers:
        """How many people."""

    @property
    def conflicts(self) -> Integers:
        """People with two budgets."""

    @property
    def nobody(self) -> Integers:
        """Rows that belong to no one."""

    @property
    def most(self) -> Integers:
        """The most rows of one person."""


def checked(groups: SumGroups, names: Names, missing: str) -> Tally:
    """Return the tally, if it can be used.

    Args:
        groups: what was counted.
        names: what messages call the parameters.
        missing: "error" refuses missing values; "midpoint" has already put them in the middle.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        MissingValueError: a value is missing and `missing` is "error".
        DataError: there are too few people, too many, or rows that belong to no one.
    """
    order = usable(groups, names, missing)
    # Polars drops the + 0.0 that makes -0.0 an ordinary zero; it groups them together all the same.
    squares = None if groups.squares is None else groups.squares[order]
    return Tally(groups.levels[order] + 0.0, groups.people[order], groups.sums[order], squares)


def usable(groups: SumGroups, names: Names, missing: str) -> Integers:
    """Return the groups in the order of their levels, if they can be used: see `checked`."""
    check_people(groups, names, GRID)
    if missing == "error" and groups.missing.any():
        raise MissingValueError(
            f"{names.values} has missing values (null, NaN or infinite).{names.missing} This "
            'message depends on private data: it is for the curator only. missing="exclude" asks '
            "those who have a value, and keeps secret who they are; "
            'missing="midpoint" counts such values as the middle of the bounds. Do not drop the '
            "rows yourself: the number of people is published."
        )
    return np.argsort(groups.levels)


def on_rungs(groups: SumGroups, names: Names, rungs: Floats) -> Tally:
    """Return the tally of budgets on a public ladder: whatever the data, it can be used.

    Those who stand on no rung are left out. A missing value is in the middle, so is a person of
    very many rows, and of two budgets of one person the smaller counts.

    Args:
        groups: what was counted.
        names: what messages call the parameters.
        rungs: those of the ladder.
    """
    check_size(groups, names, GRID)
    order = standing(groups, rungs)
    return Tally(groups.levels[order], groups.people[order], groups.sums[order])


def standing(groups: Groups, rungs: Floats) -> Integers:
    """Return the groups that stand on a rung, in the order of rungs.

    Raises:
        DataError: an engine wrote a rung as another number. Its people would be taken for those
            of the next rung, whose budget is larger than theirs.
    """
    order: Integers = np.argsort(groups.levels)
    order = order[groups.levels[order] > 0.0]
    if not np.isin(groups.levels[order], rungs).all():
        raise DataError(
            "epsilon: the engine of data does not return exactly the levels that it was given. "
            "Give the rows on another engine, such as Polars, PyArrow or DuckDB."
        )
    return order


def levels_of(epsilon: Floats | float, size: int) -> tuple[Floats, Integers]:
    """Return the smallest budget of each level, and the level of each of so many parts.

    Args:
        epsilon: the budget of each part (anything that is not >= 0 is a bad one), or of all: it
            counts as `budgets.in_range` says.
        size: how many parts there are.
    """
    if isinstance(epsilon, float):
        return in_range(np.array([epsilon])), np.zeros(size, dtype=np.int64)
    epsilon = in_range(np.where(epsilon >= 0.0, epsilon, BAD_BUDGET))
    found, level_of = np.unique(keys(epsilon), return_inverse=True)
    levels = np.full(found.size, np.inf)
    np.minimum.at(levels, level_of, epsilon)
    return levels, level_of


def check_people(groups: Groups, names: Names, unit: int) -> None:
    """Check everything but the values.

    Args:
        groups: what was counted.
        names: what messages call the parameters.
        unit: the most that one person adds to a sum.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        DataError: there are too few people, too many, or rows that belong to no one.
    """
    n = check_size(groups, names, unit)
    if groups.most.max(initial=0) >= MOST_ROWS:
        raise DataError(
            f"{names.person} has too many rows for sums in 64-bit integers: at most "
            f"{MOST_ROWS - 1:,} for each person."
        )
    if n == 0:
        raise DataError(f"{names.values} is empty: there are no people.")
    if not (groups.levels >= 0.0).all():
        raise BudgetError(
            f"{names.epsilon} has budgets that are negative, NaN or missing. A budget is a number "
            "from 0 to infinity: 0 leaves a person out, inf makes their value public."
            f"{names.unusable}"
        )
    if groups.nobody.any():
        raise DataError(
            f"{names.person} has rows without a person (null or NaN). "
            'Give each its own person; neighbours="add-remove" leaves such rows out. This message '
            "is for the curator only."
        )
    if groups.conflicts.any():
        raise ConflictingBudgetsError(
            f"{names.epsilon} differs between rows of the same {names.person}. "
            "Everyone has one budget: give all rows of a person their smallest one. "
            "This message is for the curator only."
        )
    if n < 2:
        raise DataError(
            f"{names.values} has only one person: the result would be their value. At least two "
            "people are needed."
        )
    if not (groups.levels > 0.0).any():
        raise BudgetError(
            f"{names.epsilon} is 0 for everyone: nobody's value may be used at all. Somebody must "
            f"have a budget of at least {LEAST:.2g}: anything below that counts as 0."
        )


def check_size(groups: Groups, names: Names, unit: int) -> int:
    """Return how many people there are, if their sums fit 64-bit integers.

    This is the one check that stays where the number of people is private: where a row is a person
    of a mean, more than 8.6 billion of them are needed to fail it.

    Raises:
        DataError: there are too many.
    """
    people = [int(count) for count in groups.people]  # Python integers do not wrap
    n = sum(people)
    if n * unit >= 2**63 or min(people, default=0) < 0:
        raise DataError(
            f"{names.values} has too many people for sums in 64-bit integers: at most "
            f"{(2**63 - 1) // unit:,}."
        )
    return n
