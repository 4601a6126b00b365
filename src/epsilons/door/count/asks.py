"""What is asked of rows, as data, and what was counted, with the checks that it passes."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from epsilons.budgets.levels import LEAST, Ladder, in_range, is_number, keys
from epsilons.door.count.tallies import GRID, NINE, THREE, TWO, Rule, Tally
from epsilons.door.given.categories import Categories, Grouping, LabelKind
from epsilons.errors import BudgetError, ConflictingBudgetsError, DataError, MissingValueError
from epsilons.types import Floats, Integers

__all__ = [
    "BAD_BUDGET",
    "EVERYBODY",
    "MOST_ROWS",
    "Ask",
    "Bounds",
    "Counted",
    "Faults",
    "Names",
    "Rules",
    "What",
    "check_people",
    "check_size",
    "checked",
    "levels_of",
    "on_rungs",
    "standing",
    "summed",
]


# What was counted, and the checks that it passes before it is a tally, whoever counted it.

BAD_BUDGET = -1.0
"""What a budget that is null, NaN or negative is written as while people are counted."""

MOST_ROWS = 2**31
"""Rows of one person that cannot be averaged in 64-bit integers: then they count as the middle,
and where that may be told, they are refused."""


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


@dataclass(frozen=True)
class Faults:
    """What a refusal needs to know: how many there are of each, or 0.

    Attributes:
        missing: rows that are asked and whose value is missing, if no cell catches them.
        undeclared: rows whose value, or group, is not declared, if no cell catches them.
        unknown: rows of which nobody knows if they are asked.
        several: people who are in two groups, if that was looked for.
        conflicts: people with two budgets.
        nobody: rows, or groups of rows, that belong to no one, because the person is null.
        most: the most rows that one person has.
        undivided: levels whose people did not divide one unit each, as only an engine can be blamed
            for.
    """

    missing: int = 0
    undeclared: int = 0
    unknown: int = 0
    several: int = 0
    conflicts: int = 0
    nobody: int = 0
    most: int = 0
    undivided: int = 0


@dataclass(frozen=True, eq=False)
class Counted:
    """What was counted for one question, one entry for each level, unchecked and in any order.

    Attributes:
        levels: the smallest ε of the group, or `BAD_BUDGET`.
        people: how many people.
        cells: by level and cell, what they give to it.
        faults: what may have to be refused.
        moved: whether somebody's budget counts as another one: see `budgets.in_range`.
        members: by level and group, how many people have rows in it, if there are groups.
    """

    levels: Floats
    people: Integers
    cells: Integers
    faults: Faults
    moved: bool = False
    members: Integers | None = None


def checked(counted: Counted, rules: Rules, ask: Ask, names: Names) -> Tally:
    """Return the tally, if it can be used.

    Args:
        counted: what was counted.
        rules: how rows are counted.
        ask: what was asked.
        names: what messages call the parameters.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        MissingValueError: a value is missing and is refused.
        DataError: a value is in no category, the group of a row is not declared, or nobody knows if
            it is asked; there are too few people, too many, or rows that belong to no one; somebody
            is in two public groups.
    """
    check_people(counted.levels, counted.people, counted.faults, names, rules.unit_of(ask))
    _refuse(counted.faults, rules, names, apart=ask.apart)
    _check_divided(counted.faults)
    # Polars drops the + 0.0 that makes -0.0 an ordinary zero; it groups them together all the same.
    order = np.argsort(counted.levels)
    return Tally(
        levels=counted.levels[order] + 0.0,
        counts=counted.people[order],
        cells=counted.cells[order],
        unit=rules.unit_of(ask),
        categories=rules.labels(ask),
        people=counted.members[order] if ask.apart and counted.members is not None else None,
    )


def on_rungs(counted: Counted, rules: Rules, ask: Ask, rungs: Floats, names: Names) -> Tally:
    """Return the tally of budgets on a public ladder: whatever the data, it can be used.

    Those who stand on no rung are left out. A missing number is in the middle, so is a person of
    very many rows, values that are in no category are in no cell, and of two budgets of one person
    the smaller counts. What rows do not give of a unit of categories is lost: it would be a share
    of cells for people who are in none. Those who count are counted by what they give to cells,
    rounded to whole people: shares are among them, and so is what is said about who has which
    budget. One person changes that number by at most one.

    Args:
        counted: what was counted.
        rules: how rows are counted.
        ask: what was asked.
        rungs: those of the ladder.
        names: what messages call the parameters.

    Raises:
        DataError: there are too many people, or the engine is at fault.
    """
    unit = rules.unit_of(ask)
    check_size(counted.people, names, unit)
    _check_divided(counted.faults)
    order = standing(counted.levels, rungs)
    cells = counted.cells[order]
    whole, rest = np.divmod(cells.sum(axis=1), unit)
    return Tally(
        levels=counted.levels[order] + 0.0,
        counts=whole + (2 * rest >= unit),
        cells=cells,
        unit=unit,
        categories=rules.labels(ask),
    )


def standing(levels: Floats, rungs: Floats) -> Integers:
    """Return the groups that stand on a rung, in the order of rungs.

    Raises:
        DataError: an engine wrote a rung as another number. Its people would be taken for those
            of the next rung, whose budget is larger than theirs.
    """
    order: Integers = np.argsort(levels)
    order = order[levels[order] > 0.0]
    if not np.isin(levels[order], rungs).all():
        raise DataError(
            "epsilon: the engine of data does not return exactly the levels that it was given. "
            "Give the rows on another engine, such as Polars, PyArrow or DuckDB."
        )
    return order


def _check_divided(faults: Faults) -> None:
    """See that everyone has divided one unit, and no more than one.

    Raises:
        DataError: an engine does not divide integers as it should.
    """
    if faults.undivided:
        raise DataError(
            "data: its engine does not return integers that add up to one unit for each person. "
            "Give the rows on another engine, such as Polars, PyArrow or DuckDB."
        )


_CURATOR: Final = "This message depends on private data: it is for the curator only."
_KEEP: Final = "Do not drop the rows yourself: the number of people is published."
_EXCLUDE: Final = (
    'missing="exclude" leaves such rows out and never refuses. Do not drop them yourself: the '
    "number of people is published."
)
_OTHER: Final = 'Declare other="…", a category for such values, which never refuses.'


def _refuse(faults: Faults, rules: Rules, names: Names, *, apart: bool) -> None:
    """Refuse values that cannot be counted, where that may be told."""
    cells = rules.categories is not None
    if faults.missing and (cells or rules.missing == "error"):
        raise MissingValueError(_missing(rules, names))
    if faults.undeclared and cells:
        raise DataError(
            f"{names.values} has a value that is not among the declared categories. {_CURATOR} "
            f"{_OTHER}"
        )
    if rules.missing != "exclude" and faults.undeclared:
        raise DataError(
            f"{_by(names)} has a group that is missing, or not among the declared groups. "
            f"{_CURATOR} {_EXCLUDE}"
        )
    if rules.missing != "exclude" and faults.unknown:
        raise DataError(
            f"{names.of('where')} has entries that are neither true nor false. {_CURATOR} "
            'missing="exclude" treats them as false and never refuses; or fill them in first.'
        )
    if apart and faults.several:
        raise DataError(
            f"{_by(names)}: somebody is in two groups. If groups are public, everyone is in "
            f"one of them: give all rows of a person the same group. {_CURATOR}"
        )


def _missing(rules: Rules, names: Names) -> str:
    """What is said where values are missing, and what to do."""
    if rules.categories is not None:
        return (
            f"{names.values} has missing values (null or NaN).{names.missing} {_CURATOR} {_OTHER} "
            f"{_KEEP}"
        )
    told = f"{names.either} has missing values (null, NaN or infinite).{names.missing} {_CURATOR} "
    if rules.some:
        return (
            f'{told}missing="midpoint" puts such values in the middle of the bounds and never '
            f"refuses; {_EXCLUDE}"
        )
    return (
        f'{told}missing="exclude" asks those who have a value, and keeps secret who they are; '
        f'missing="midpoint" counts such values as the middle of the bounds. {_KEEP}'
    )


def _by(names: Names) -> str:
    """What messages call the columns of groups."""
    return " and ".join(name for own, name in names.marks.items() if own != "where") or "by"


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


def summed(index: Integers, numbers: Integers, size: int) -> Integers:
    """Add up whole numbers that have the same index, from 0 to `size`."""
    if size == 1:
        return np.array([numbers.sum()], dtype=np.int64)
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, index, numbers)
    return total


def check_people(levels: Floats, people: Integers, faults: Faults, names: Names, unit: int) -> None:
    """Check everything but the values.

    Args:
        levels: the smallest ε of each level.
        people: how many people it has.
        faults: what may have to be refused.
        names: what messages call the parameters.
        unit: the most that one person adds to a sum.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        DataError: there are too few people, too many, or rows that belong to no one.
    """
    n = check_size(people, names, unit)
    if faults.most >= MOST_ROWS:
        raise DataError(
            f"{names.person} has too many rows for sums in 64-bit integers: at most "
            f"{MOST_ROWS - 1:,} for each person."
        )
    if n == 0:
        raise DataError(f"{names.either} is empty: there are no people.")
    if not (levels >= 0.0).all():
        raise BudgetError(
            f"{names.epsilon} has budgets that are negative, NaN or missing. A budget is a number "
            "from 0 to infinity: 0 leaves a person out, inf makes their value public."
            f"{names.unusable}"
        )
    if faults.nobody:
        raise DataError(
            f"{names.person} has rows without a person (null or NaN). "
            'Give each its own person; neighbours="add-remove" leaves such rows out. This message '
            "is for the curator only."
        )
    if faults.conflicts:
        raise ConflictingBudgetsError(
            f"{names.epsilon} differs between rows of the same {names.person}. "
            "Everyone has one budget: give all rows of a person their smallest one. "
            "This message is for the curator only."
        )
    if n < 2:
        raise DataError(
            f"{names.either} has only one person: the result would be their value. At least two "
            "people are needed."
        )
    if not (levels > 0.0).any():
        raise BudgetError(
            f"{names.epsilon} is 0 for everyone: nobody's value may be used at all. Somebody must "
            f"have a budget of at least {LEAST:.2g}: anything below that counts as 0."
        )


def check_size(people: Integers, names: Names, unit: int) -> int:
    """Return how many people there are, if their sums fit 64-bit integers.

    This is the one check that stays where the number of people is private: where a row is a person
    of a mean, more than 8.6 billion of them are needed to fail it.

    Raises:
        DataError: there are too many.
    """
    counts = people.tolist()  # Python integers do not wrap
    n: int = sum(counts)
    if n * unit >= 2**63 or min(counts, default=0) < 0:
        raise DataError(
            f"{names.either} has too many people for sums in 64-bit integers: at most "
            f"{(2**63 - 1) // unit:,}."
        )
    return n


# What is asked of rows, as data: so several questions of one table can be counted at once.

EVERYBODY: Final = (None,)
"""The labels where there is one group, which holds everybody."""

Bounds: TypeAlias = tuple[float, float]

What = Literal["numbers", "squares", "pairs", "cells"]
"""How everyone divides their unit: among x and 1 − x, in the cells of their groups, if there are
such; among x², 2x(1 − x) and (1 − x)²; among nine cells, those of the squares of two columns; or
among the declared categories."""


@dataclass(frozen=True)
class Ask:
    """One question to rows.

    Attributes:
        what: what everyone's unit is divided among.
        bounds: the known range, of numbers: checked by `parameters.bounds`.
        rule: what is added up in place of u, a value as its share of the range: see `grid.Rule`.
        beside: the known range of the second column, of pairs.
        apart: whether groups are public: people are also counted by level and group, whatever they
            answer, and whoever is in two groups is refused.
    """

    what: What
    bounds: Bounds | None = None
    rule: Rule | None = None
    beside: Bounds | None = None
    apart: bool = False

    @property
    def ends(self) -> Bounds:
        """The range of numbers.

        Raises:
            TypeError: the question is one of categories.
        """
        if self.bounds is None:
            raise TypeError("numbers are put on a grid between bounds")
        return self.bounds


@dataclass(frozen=True, eq=False)
class Rules:
    """How rows are counted, whoever holds them and whatever is asked of them.

    Attributes:
        names: what messages call the parameters.
        missing: what is done with missing values: "error", "midpoint" or "exclude".
        unit: what one person divides among categories.
        categories: what was declared; None for numbers.
        ladder: the public ladder, if budgets are private.
        groups: what was declared; None for one group that holds everybody.
        some: whether not everyone need be in the one group.
        source: the table as it was given; None for arrays.
        values: the column of values in it, as it was given.
        epsilon: the budgets, as they were given.
        where: which rows are asked, as it was given.
        beside: the second column of numbers, as it was given.
    """

    names: Names
    missing: str
    unit: int
    categories: Categories | None
    ladder: Ladder | None
    groups: Grouping | None = None
    some: bool = False
    source: Any = None
    values: Any = None
    epsilon: Any = None
    where: Any = None
    beside: Any = None

    @property
    def private(self) -> bool:
        """Whether budgets and the number of people are."""
        return self.ladder is not None

    @property
    def groups_of(self) -> tuple[Any, ...]:
        """The labels of the groups."""
        return EVERYBODY if self.groups is None else self.groups.labels

    @property
    def outside(self) -> bool:
        """Whether somebody may be outside of all groups, or without a value: a last cell.

        On a ladder those without any of the numbers of three cells or of nine are in none.
        """
        asked = "where" in self.names.marks
        return asked or self.missing == "exclude" or (self.private and self.groups is not None)

    @property
    def in_the_middle(self) -> bool:
        """Whether someone without any value stands in the middle."""
        return self.missing == "midpoint" or (self.private and self.missing != "exclude")

    def labels(self, ask: Ask) -> tuple[Any, ...]:
        """What the cells of a tally stand for."""
        if self.categories is not None:
            return self.categories.labels
        if self.some and ask.what == "numbers":
            return self.groups_of
        return {"numbers": TWO, "squares": THREE}.get(ask.what, NINE)

    def unit_of(self, ask: Ask) -> int:
        """What one person divides."""
        return self.unit if ask.what == "cells" else GRID

    @property
    def labelled(self) -> list[tuple[Any, Categories]]:
        """The columns of labels, and what was declared of them."""
        if self.categories is not None:
            return [(self.values, self.categories)]
        groups = self.groups
        return [] if groups is None else list(zip(groups.by, groups.declared, strict=True))

    @property
    def columns(self) -> list[tuple[Any, LabelKind]]:
        """All columns, and what their entries must be."""
        found: list[tuple[Any, LabelKind]] = [(column, each.kind) for column, each in self.labelled]
        if self.categories is None:
            found.append((self.values, "numbers"))
        if self.beside is not None:
            found.append((self.beside, "numbers"))
        return found if self.where is None else [*found, (self.where, "booleans")]
