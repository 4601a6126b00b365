"""Questions about rows, the resulting counts, and the checks that counts must pass."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from epsilons.budgets.levels import LEAST, Ladder, in_range, is_number, keys, moved
from epsilons.door.count.tallies import GRID, HALF, NINE, THREE, TWO, Tally, origin
from epsilons.door.count.weights import Heads, Weights
from epsilons.door.given.categories import ANSWERS, Categories, Grouping, LabelKind
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
    "summed",
    "valid_or_bad",
]


# Results of counting, and the checks that turn them into a tally. NumPy and all engines use these.

BAD_BUDGET = -1.0
"""The value that replaces null, NaN and negative budgets during counting."""

MOST_ROWS = 2**31
"""From this number of rows on, one person's rows cannot be averaged in 64-bit integers. If refusals
may depend on the data, such a person is refused; otherwise they count as the middle of the
range."""


@dataclass(frozen=True)
class Names:
    """Column names for messages.

    Attributes:
        values: the name of the column of values.
        epsilon: the name of the column of budgets.
        person: the name of the column of ids.
        missing: a sentence that names further values that count as missing, if any.
        unusable: a sentence that names further budgets that count as missing, if any.
        chosen: whether budgets are given by the words of a menu.
        marks: names of further columns by parameter: groups, `where`, `y` and `weights`.
    """

    values: str = "values"
    epsilon: str = "epsilon"
    person: str = "person"
    missing: str = ""
    unusable: str = ""
    chosen: bool = False
    marks: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_columns(
        cls, values: Any, epsilon: Any, person: Any, marks: Mapping[str, Any] | None = None
    ) -> Names:
        """Return the names of columns of a table. In pandas a name need not be text."""
        marks, shown = marks or {}, {}
        for name, column in marks.items():
            shown[name] = f"{name}={column!r}"
        return cls(
            f"{said('values', marks)}={values!r}",
            "epsilon" if is_number(epsilon) else f"epsilon={epsilon!r}",
            f"person={person!r}",
            marks=shown,
        )

    @classmethod
    def of_arrays(cls, marks: Collection[str]) -> Names:
        """Return the names of arrays, which are the names of their parameters."""
        return cls(said("values", marks), marks=dict(zip(marks, marks, strict=True)))

    @property
    def either(self) -> str:
        """The name of the column of values, or the names of both columns if there are two."""
        return f"{self.values} or {self.of('y')}" if "y" in self.marks else self.values

    def of(self, parameter: str) -> str:
        """Return the name of a further column, given its parameter."""
        return self.marks.get(parameter, parameter)


def said(parameter: str, others: Container[str]) -> str:
    """Return the public name of a parameter. The values of two columns are called x and y."""
    return "x" if parameter == "values" and "y" in others else parameter


@dataclass(frozen=True)
class Faults:
    """Counts of each kind of fault in the data. Refusals depend on these counts.

    Attributes:
        missing: selected rows with a missing value, unless a cell is reserved for these.
        undeclared: rows with an undeclared value or group, unless a cell is reserved for these.
        unknown: rows where `where` is neither true nor false.
        several: people in two groups, if the question needs this count.
        conflicts: people with two budgets.
        nobody: rows, or groups of rows, that have no person, because the id is null.
        most: the largest number of rows of one person.
        weights: people with two weights.
    """

    missing: int = 0
    undeclared: int = 0
    unknown: int = 0
    several: int = 0
    conflicts: int = 0
    nobody: int = 0
    most: int = 0
    weights: int = 0


@dataclass(frozen=True, eq=False)
class Counted:
    """Unchecked counts for one question, with one entry for each level, ascending.

    Attributes:
        levels: the smallest ε of the level, or `BAD_BUDGET`.
        people: the number of people; with weights, the number of their units.
        cells: by level and cell, the sum of people's contributions to the cell.
        faults: counts of faults that may lead to a refusal.
        moved: whether `levels.in_range` changed somebody's budget.
        members: by level and group, the number of people with rows in the group; None without
            groups.
        heads: the number of people, if `people` are units of weight; otherwise None.
    """

    levels: Floats
    people: Integers
    cells: Integers
    faults: Faults
    moved: bool = False
    members: Integers | None = None
    heads: Heads | None = None


def checked(counted: Counted, rules: Rules, ask: Ask, names: Names) -> Tally:
    """Return the tally, after all checks on counts.

    Args:
        counted: unchecked counts.
        rules: how rows are counted.
        ask: the question.
        names: the names of the parameters in messages.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        MissingValueError: a value is missing, and missing values are refused.
        DataError: a value is in no category, the group of a row is not declared, or `where` is
            neither true nor false; there are too few or too many people, or rows without a person;
            somebody is in two public groups.
    """
    check_people(counted.levels, counted.people, counted.faults, names, rules.unit_of(ask))
    if names.missing and counted.faults.missing >= int(counted.people.sum()):
        # All values are missing: the column may contain answers such as "yes", not numbers.
        names = replace(names, missing=f"{names.missing} {ANSWERS}")
    _refuse(counted.faults, rules, names, ask)
    # Adding 0.0 turns -0.0 into 0.0. It is done here, not in the query, because Polars would
    # optimize the addition away. Its group-by already merges both zeros into one level.
    return Tally(
        levels=counted.levels + 0.0,
        counts=counted.people,
        cells=counted.cells,
        unit=rules.unit_of(ask),
        categories=rules.labels(ask),
        people=counted.members if ask.apart else None,
        heads=counted.heads,
        weight=rules.weight,
        rounded=None if rules.weights is None else rules.weights.rounding,
    )


def on_rungs(counted: Counted, rules: Rules, ask: Ask, rungs: Floats, names: Names) -> Tally:
    """Return the tally of people on the rungs of a public ladder (its budget levels).

    No data is refused, except for too many people. People on no rung are left out. A missing number
    counts as the middle of the range, and so do the numbers of a person with too many rows. Values
    in no category are in no cell. If a person has two budgets, the smaller one counts. If a
    person's rows do not use up the unit that the person divides among categories, the remainder is
    dropped. Otherwise people in no category would contribute to the cells. The number of people at
    a level is the sum of all contributions to cells, rounded to an integer. Shares, and statements
    about who has which budget, refer to these people. One person changes that number by at most
    one.

    Args:
        counted: unchecked counts.
        rules: how rows are counted.
        ask: the question.
        rungs: the rungs of the ladder.
        names: the names of the parameters in messages.

    Raises:
        DataError: there are too many people, or the engine is at fault.
    """
    unit = rules.unit_of(ask)
    check_size(counted.people, names, unit)
    placed = counted.levels > 0.0
    levels, cells = counted.levels[placed], counted.cells[placed]
    # People at a level that is not a rung would count at the next rung, above their budget.
    if not np.isin(levels, rungs).all():
        raise DataError(
            "epsilon: the engine of data does not return exactly the levels that it was given. "
            "Give the rows on another engine, such as Polars, PyArrow or DuckDB."
        )
    whole, rest = np.divmod(cells.sum(axis=1), unit)
    return Tally(
        levels=levels + 0.0,
        counts=whole + (2 * rest >= unit),
        cells=cells,
        unit=unit,
        categories=rules.labels(ask),
    )


_CURATOR: Final = "This message depends on private data: it is for the curator only."
_KEEP: Final = "Do not drop the rows yourself: the number of people is published."
_EXCLUDE: Final = (
    'missing="exclude" leaves such rows out and never refuses. Do not drop them yourself: the '
    "number of people is published."
)
_OTHER: Final = 'Declare other="…", a category for such values, which never refuses.'
_NUMBER: Final = re.compile(r"[+-]?\d+([.,]\d*)?")
_SPELT: Final = (
    "Categories of text are compared letter by letter, so 1 is not 1.0: declare them as the column "
    "spells them. "
)
_LABEL: Final = (
    'Give such values a label first, such as "unknown", and declare it: then none is refused.'
)


def _refuse(faults: Faults, rules: Rules, names: Names, ask: Ask) -> None:
    """Refuse values that cannot be counted, if refusals are allowed to depend on the data."""
    cells = rules.categories is not None
    if faults.missing and (cells or rules.missing == "error"):
        raise MissingValueError(_missing(rules, names, ask))
    if faults.undeclared and cells:
        raise DataError(
            f"{_either(names)} has a value that is not among the declared categories. {_CURATOR} "
            f"{_spelt(rules)}{_OTHER if rules.groups is None else _LABEL}"
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
    if ask.apart and faults.several:
        raise DataError(
            f"{_by(names)}: somebody is in two groups. If groups are public, everyone is in "
            f"one of them: give all rows of a person the same group. {_CURATOR}"
        )


def _spelt(rules: Rules) -> str:
    """Advice if numbers were declared as text: another spelling is another category."""
    declared = rules.categories
    if declared is None or declared.kind != "text":
        return ""
    return _SPELT if any(_NUMBER.fullmatch(each) for each in declared.declared) else ""


def _missing(rules: Rules, names: Names, ask: Ask) -> str:
    """Return the message for missing values, with advice."""
    if rules.categories is not None:
        return (
            f"{_either(names)} has missing values (null or NaN).{names.missing} {_CURATOR} "
            f"{_OTHER if rules.groups is None else _LABEL} {_KEEP}"
        )
    told = f"{names.either} has missing values (null, NaN or infinite).{names.missing} {_CURATOR} "
    if ask.adds:
        return f'{told}missing="exclude" lets such values add 0 and never refuses. {_KEEP}'
    if rules.some:
        return (
            f'{told}missing="midpoint" puts such values in the middle of the bounds and never '
            f"refuses; {_EXCLUDE}"
        )
    return (
        f'{told}missing="exclude" asks those who have a value, and keeps secret who they are; '
        f'missing="midpoint" counts such values as the middle of the bounds. {_KEEP}'
    )


def _either(names: Names) -> str:
    """The names of the columns of categories, for messages."""
    marks = (name for own, name in names.marks.items() if own != "weights")
    return " or ".join((*marks, names.values))


def _by(names: Names) -> str:
    """Return the names of the columns of groups, for messages."""
    others = ("where", "weights")
    return " and ".join(name for own, name in names.marks.items() if own not in others) or "by"


def valid_or_bad(epsilon: Floats) -> Floats:
    """Return budgets, with `BAD_BUDGET` in place of those that are not >= 0."""
    valid = epsilon >= 0.0
    return epsilon if valid.all() else np.where(valid, epsilon, BAD_BUDGET)


def levels_of(epsilon: Floats | float, size: int) -> tuple[Floats, Integers]:
    """Return the smallest budget of each level, and the level of each entry.

    Args:
        epsilon: the budget of each entry, or one budget for all, before `levels.in_range`. Budgets
            that are not >= 0 are invalid.
        size: the number of entries.
    """
    if isinstance(epsilon, float):
        return in_range(np.array([epsilon])), np.zeros(size, dtype=np.int64)
    epsilon = valid_or_bad(epsilon)
    # A key has 9 significant bits, so the first 20 bits of its float64 identify it, and a table can
    # take the place of sorting. Adding 0 gives −0 the bits of 0.
    key = keys(epsilon)
    key += 0.0
    code = key.view(np.int64)
    code >>= 44
    code -= code.min(initial=0)
    there = np.zeros(int(code.max(initial=0)) + 1, dtype=np.bool_)
    there[code] = True
    found = np.flatnonzero(there)
    place = np.empty(there.size, dtype=np.int64)
    place[found] = np.arange(found.size)
    level_of = place[code]
    levels = np.full(found.size, np.inf)
    np.minimum.at(levels, level_of, epsilon)
    # Hardly any data have budgets out of range, and moving every entry takes long.
    return levels_of(in_range(epsilon), size) if moved(levels) else (levels, level_of)


def summed(index: Integers, numbers: Integers, size: int) -> Integers:
    """Add up integers by index, and return `size` sums."""
    if size == 1:
        return np.array([numbers.sum()], dtype=np.int64)
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, index, numbers)
    return total


def check_people(levels: Floats, people: Integers, faults: Faults, names: Names, unit: int) -> None:
    """Check budgets and people, but not values.

    Args:
        levels: the smallest ε of each level.
        people: the number of people in each level; with weights, the number of their units.
        faults: counts of faults that may lead to a refusal.
        names: the names of the parameters in messages.
        unit: the largest contribution of one person to a sum.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        ConflictingBudgetsError: somebody has two budgets.
        DataError: there are too few or too many people, or rows without a person; or somebody has
            two weights.
    """
    n = check_size(people, names, unit)
    if faults.most >= MOST_ROWS:
        raise DataError(
            f"{names.person} has too many rows for sums in 64-bit integers: at most "
            f"{MOST_ROWS - 1:,} for each person."
        )
    if n == 0:
        raise DataError(f"{names.either} is empty: there are no people.")
    if names.chosen and not (levels >= 0.0).all():
        unknown = int(people[~(levels >= 0.0)].sum())
        raise BudgetError(
            f"{names.epsilon} has words that are missing or not in menu, for {unknown:,} of {n:,} "
            "people. Declare every word that people could choose, and for those who chose none "
            "fill in a word whose budget is 0."
        )
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
    if faults.weights:
        raise DataError(
            f"{names.of('weights')} differs between rows of the same {names.person}. Everyone has "
            "one weight: give all rows of a person the same."
        )
    if faults.conflicts:
        raise ConflictingBudgetsError(
            f"{names.epsilon} differs between rows of the same {names.person}. "
            "Everyone has one budget: give all rows of a person their smallest one. "
            "This message is for the curator only."
        )
    if n < 2:  # with weights too: a single person counts as one unit, whatever their weight
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
    """Return the number of people, after checking that their sums fit 64-bit integers.

    Of all checks, only this one also applies if the number of people is private. For a mean in
    which every row is its own person, it fails only for more than 8.6 billion people.

    Raises:
        DataError: there are too many people.
    """
    counts = people.tolist()  # Python integers do not wrap
    n: int = sum(counts)
    if n * unit >= 2**63 or min(counts, default=0) < 0:
        raise DataError(
            f"{names.either} has too many people for sums in 64-bit integers: at most "
            f"{(2**63 - 1) // unit:,}."
        )
    return n


# Questions as objects, so several questions about one table can be counted in one scan.

EVERYBODY: Final = (None,)
"""The group labels of a question without groups: one group holds everyone."""

Bounds: TypeAlias = tuple[float, float]

What = Literal["numbers", "squares", "pairs", "cells"]
"""The cells of a question; each person divides one unit among them. "numbers": x and 1 − x, for
each group if there are groups. "squares": x², 2x(1 − x) and (1 − x)². "pairs": nine cells of two
columns and their squares. "cells": the declared categories."""


@dataclass(frozen=True)
class Ask:
    """One question about rows.

    Attributes:
        what: the kind of cells among which each person divides their unit.
        bounds: the known range of numbers, checked by `parameters.bounds`.
        beside: the known range of the second column, for pairs.
        apart: whether groups are public. Then people are also counted by level and group,
            regardless of their values, and anyone in two groups is refused.
        adds: whether a person's rows are added up, so a missing row adds 0; otherwise a person's
            number is the mean of their rows. For categories, whether a person gives their whole
            unit to the first category if one of their rows is in it, and to `other` if not.
    """

    what: What
    bounds: Bounds | None = None
    beside: Bounds | None = None
    apart: bool = False
    adds: bool = False

    @property
    def nothing(self) -> int:
        """The grid point of a person without a value: the middle, or 0 if rows are added up."""
        return origin(self.ends) if self.adds else HALF

    @property
    def ends(self) -> Bounds:
        """The known range of numbers.

        Raises:
            TypeError: the question is about categories.
        """
        if self.bounds is None:
            raise TypeError("numbers are put on a grid between bounds")
        return self.bounds


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules by which rows are counted, on any engine and for any question.

    Attributes:
        names: column names for messages.
        missing: how missing values are treated: "error", "midpoint" or "exclude".
        unit: the integer that one person divides among categories.
        categories: the declared categories of the values; None for numbers.
        ladder: the public ladder, if budgets are private.
        groups: the declared groups; None for one group that holds everybody. With categories they
            are further columns of labels, and each combination of labels is a cell.
        some: whether there are groups, or people can be outside the one group of all rows.
        source: the table as the user gave it; None for arrays.
        values: the column of values as the user gave it.
        epsilon: the budgets as the user gave them.
        where: the condition that selects rows, as the user gave it.
        beside: the second column of numbers as the user gave it.
        weights: the weights of people; None if everyone counts equally.
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
    weights: Weights | None = None

    @property
    def weight(self) -> float:
        """The weight of one unit; 1 without weights."""
        return 1.0 if self.weights is None or self.weights.unit is None else self.weights.unit

    @property
    def private(self) -> bool:
        """Whether budgets and the number of people are private."""
        return self.ladder is not None

    @property
    def groups_of(self) -> tuple[Any, ...]:
        """The labels of the groups."""
        return EVERYBODY if self.groups is None else self.groups.labels

    @property
    def outside(self) -> bool:
        """Whether there is a last cell, for people outside all groups or without a value.

        On a ladder, questions with three or nine cells do not use it: people without a number are
        then in no cell.
        """
        if "where" in self.names.marks or self.missing == "exclude":
            return True
        return self.ladder is not None and self.groups is not None

    @property
    def in_the_middle(self) -> bool:
        """Whether someone without any value counts as the middle of the range."""
        return self.missing == "midpoint" or (self.ladder is not None and self.missing != "exclude")

    def labels(self, ask: Ask) -> tuple[Any, ...]:
        """Return the labels of the cells of a tally."""
        if ask.adds:
            return TWO
        if self.categories is not None:
            return self.cells
        if self.some and ask.what == "numbers":
            return self.groups_of
        return {"numbers": TWO, "squares": THREE}.get(ask.what, NINE)

    @cached_property
    def cells(self) -> tuple[Any, ...]:
        """The labels of cells; for several columns, tuples whose last label varies fastest."""
        if self.groups is None and self.categories is not None:
            return self.categories.labels
        return tuple(product(*(each.labels for _, each in self.labelled)))

    def unit_of(self, ask: Ask) -> int:
        """Return the integer that each person divides among cells."""
        return self.unit if ask.what == "cells" and not ask.adds else GRID

    @property
    def labelled(self) -> list[tuple[Any, Categories]]:
        """The columns of labels, each with its declared labels: of groups, then of categories."""
        groups, own = self.groups, self.categories
        found = [] if groups is None else list(zip(groups.by, groups.declared, strict=True))
        return found if own is None else [*found, (self.values, own)]

    @property
    def columns(self) -> list[tuple[Any, LabelKind]]:
        """All columns, each with the required kind of entries."""
        found: list[tuple[Any, LabelKind]] = [(column, each.kind) for column, each in self.labelled]
        if self.categories is None:
            found.append((self.values, "numbers"))
        if self.beside is not None:
            found.append((self.beside, "numbers"))
        return found if self.where is None else [*found, (self.where, "booleans")]
