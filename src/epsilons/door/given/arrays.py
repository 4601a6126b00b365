"""Check the user's arrays, assign rows to cells and count them, in NumPy."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Mapping, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.budgets.levels import (
    Classes,
    Ladder,
    float_down,
    floats_down,
    is_number,
    is_number_type,
    moved,
)
from epsilons.door.count.asks import (
    MOST_ROWS,
    Ask,
    Bounds,
    Counted,
    Faults,
    Names,
    Rules,
    levels_of,
    summed,
    valid_or_bad,
)
from epsilons.door.count.tallies import GRID, HALF, LARGEST, origin, squares, to_grid
from epsilons.door.count.units import UnitParts, cut, joined, number_cells, of_categories, of_groups
from epsilons.door.count.weights import Heads, classes_of, ends_of
from epsilons.door.given.categories import (
    MISSING,
    UNDECLARED,
    Categories,
    Grouping,
    LabelKind,
    declare,
    wrong_entry,
    wrong_type,
)
from epsilons.door.given.column import (
    INFERRED,
    Column,
    Family,
    declared,
    is_null,
    opened,
    people,
    same_labels,
)
from epsilons.door.given.menus import Chosen
from epsilons.door.given.spellings import as_cells
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.listed import shown
from epsilons.types import Booleans, Floats, Integers

__all__ = [
    "FAMILY",
    "ArrayPeople",
    "Arrays",
    "CellArrays",
    "asked_of",
    "budgets_and_people",
    "cells_of",
    "check_declared",
    "count",
    "floats",
    "fold",
    "groups_of",
    "length",
    "of_menu",
    "one_budget",
    "read",
    "read_labels",
    "unchecked",
    "unnamed",
]


# The user's arrays after checks: values and budgets in float64, and integers that identify people.


@dataclass(frozen=True, eq=False)
class Arrays:
    """Rows in memory: the value, budget and person of each row.

    Attributes:
        values: numbers; NaN and infinite ones are missing.
        epsilon: the budget of each row, or one budget for all.
        person: a number that identifies the person of each row; None if every row is its own
            person.
        group: the index of each row's group, negative if it is undeclared or missing; None without
            groups.
        asked: for each row 1 if `where` is true, 0 if it is false, negative if it is neither; None
            without `where`.
        beside: a second number for each row, or None.
        units: the number of units of each row's person, if people have weights; otherwise None.
            `epsilon` is then the budget of one unit.
    """

    values: Floats
    epsilon: Floats | float
    person: npt.NDArray[Any] | None
    group: Integers | None = None
    asked: Integers | None = None
    beside: Floats | None = None
    units: Integers | None = None


def read(
    values: object,
    epsilon: object,
    person: object,
    names: Names,
    ladder: Ladder | None = None,
    *,
    lenient: bool,
    y: object = None,
) -> Arrays:
    """Return arrays of numbers, budgets and people, after checking them.

    Args:
        values: one number for each row; None, NaN and infinities are missing values.
        epsilon: one budget for each row, or one number for all.
        person: an id for each row, of any type that can be compared; or None.
        names: the names of the columns in messages.
        ladder: the public ladder of budgets, if budgets are private. Then rows without a person are
            left out, and no entry is refused.
        lenient: whether an entry of a list, or of a column of objects, counts as missing if it is
            not a number; otherwise it is refused.
        y: a second number for each row, or None.

    Raises:
        ArgumentError: an argument is not a single column, or the lengths differ.
        ColumnError: a column does not contain numbers.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    lenient = lenient or ladder is not None
    private = ladder is not None
    numbers_ = floats(values, names.values, lenient=lenient, private=private)
    second = None
    if y is not None:
        second = floats(y, names.of("y"), lenient=lenient, private=private)
        if second.size != numbers_.size:
            raise other_length(names.values, names.of("y"))
    budgets, who = budgets_and_people(epsilon, person, names, numbers_.size, ladder)
    return Arrays(numbers_, budgets, who, beside=second)


def unnamed(given: Mapping[str, object]) -> None:
    """Refuse column names, which require `data`, and pandas columns with different index labels.

    Args:
        given: the user's arguments, by parameter.

    Raises:
        ArgumentError: an argument is a column name, or index labels differ.
    """
    for name, column in given.items():
        if isinstance(column, str):
            raise ArgumentError(
                f"{name}={shown(column)} names a column, but data is not given: "
                "give data=, a frame or the path of a file."
            )
    same_labels(**given)


def budgets_and_people(
    epsilon: object,
    person: object,
    names: Names,
    rows: int,
    ladder: Ladder | None = None,
) -> tuple[Floats | float, npt.NDArray[Any] | None]:
    """Return the budgets and the people of `rows` rows, checked as in `read`."""
    private = ladder is not None
    budgets, who, nobody = unchecked(epsilon, person, names, rows, lenient=private, private=private)
    if ladder is None:
        if nobody is not None and nobody.any():
            raise DataError(
                f"{names.person} has rows without a person (null or NaN). Give each its own "
                'person; neighbours="add-remove" leaves such rows out.'
            )
        return budgets, who
    if nobody is None and isinstance(budgets, float):
        return float(ladder.of(np.array([budgets]))[0]), who
    rungs = ladder.of(np.full(rows, budgets) if isinstance(budgets, float) else budgets)
    if nobody is not None:
        rungs[nobody] = 0.0
    return rungs, who


def unchecked(
    epsilon: object,
    person: object,
    names: Names,
    rows: int,
    *,
    lenient: bool,
    private: bool = False,
) -> tuple[Floats | float, npt.NDArray[Any] | None, Booleans | None]:
    """Return the budgets and the people of `rows` rows, and a mask of rows without a person.

    Raises:
        ArgumentError: an argument is not a single column, or the lengths differ.
        ColumnError: a column has the wrong type.
        BudgetError: `epsilon` is one number that cannot be a budget.
    """
    budgets: Floats | float | None = one_budget(epsilon)
    if budgets is None:
        budgets = _budgets(epsilon, names.epsilon, lenient=lenient, private=private)
    who = nobody = None
    if person is not None:
        who, nobody = people(person, names.person, lenient=lenient)
    for name, other in ((names.epsilon, budgets), (names.person, who)):
        if isinstance(other, np.ndarray) and other.size != rows:
            raise other_length(names.values, name)
    return budgets, who, nobody


def other_length(first: str, second: str) -> ArgumentError:
    """Return the error for two columns of different lengths, given their names."""
    return ArgumentError(
        f"{first} and {second} have different lengths: give each one entry per row."
    )


def one_budget(epsilon: object) -> float | None:
    """Return `epsilon` if it is one number for everyone, otherwise None.

    A number that is not a float64 is rounded down to a float64.
    """
    if isinstance(epsilon, Mapping) or (hasattr(epsilon, "levels") and hasattr(epsilon, "counts")):
        raise ArgumentError(
            "epsilon says how many people chose each level, but not who did: give one epsilon "
            "for each person, in the order of values."
        )
    if isinstance(epsilon, np.ndarray) and epsilon.ndim == 0:
        epsilon = epsilon[()]
    if not is_number(epsilon):
        if epsilon is None or isinstance(epsilon, (bool, np.bool_, numbers.Number)):
            raise BudgetError(
                f"epsilon={epsilon!r} is not a budget: give a number from 0 to infinity, "
                "or one for each person."
            )
        return None
    budget = float_down(epsilon) + 0.0
    if not budget >= 0.0:
        raise BudgetError(
            f"epsilon={budget!r} must not be negative or NaN: a budget is a number from 0 to "
            "infinity; 0 leaves a person out, inf makes their value public."
        )
    if budget == 0.0:
        raise BudgetError("epsilon=0 for everyone: nobody's value may be used at all.")
    return budget


def length(given: object, name: str) -> int:
    """Return the number of rows of `given`, without a conversion if it supports `len`."""
    if isinstance(given, Sized) and not isinstance(given, np.ndarray):
        return len(given)
    return len(opened(given, name).entries)


def floats(
    given: object, name: str, *, lenient: bool, kind: LabelKind = "numbers", private: bool = False
) -> Floats:
    """Return values in float64, with NaN for entries that are not numbers.

    Args:
        given: a list, an array or a series.
        name: its name in messages.
        lenient: how entries of a list, or of a column of objects, are read. If true, text is parsed
            like a cell of a file, and entries that are not numbers count as missing. Otherwise such
            entries are refused.
        kind: "numbers", which include booleans as 0 and 1, or "bins", which do not.
        private: whether a column of another declared type is read like a column of objects;
            otherwise it is refused. Nested columns are always refused.

    Raises:
        ArgumentError: it is not a single column.
        ColumnError: its declared type is not numeric, or an entry is not a number.
    """
    if isinstance(given, Chosen):
        return of_menu(given, name, lenient=lenient, private=private)
    column, truth = opened(given, name), kind == "numbers"
    entries = _numbers(column, name, kind, booleans=truth, lenient=lenient, private=private)
    if isinstance(entries, list):
        plain = _plain(entries)
        if plain is not None:
            return plain
        return np.fromiter(map(_nearest, entries), np.float64, len(entries))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(entries, dtype=np.float64)


def of_menu(given: Chosen, name: str, *, lenient: bool, private: bool = False) -> Floats:
    """Return the budgets that words stand for: see `Menu.of`. Arguments as for `cells_of`."""
    menu, of = given.menu, "the words of menu"
    cells = cells_of(given.column, menu.words, name, lenient=lenient, private=private, of=of)
    return menu.of(cells)


def _budgets(given: object, name: str, *, lenient: bool, private: bool) -> Floats:
    """Return budgets in float64, rounded down, with NaN for entries that are not numbers."""
    if isinstance(given, Chosen):
        return of_menu(given, name, lenient=lenient, private=private)
    column = opened(given, name)
    entries = _numbers(column, name, "numbers", booleans=False, lenient=lenient, private=private)
    if isinstance(entries, list):
        plain = _plain(entries)
        if plain is not None and not (np.abs(plain) >= 2.0**53).any():
            return plain
        entries = np.fromiter((np.nan if e is None else e for e in entries), object, len(entries))
    return np.ascontiguousarray(floats_down(entries))


def _numbers(
    column: Column, name: str, kind: LabelKind, *, booleans: bool, lenient: bool, private: bool
) -> npt.NDArray[Any] | list[Any]:
    """Return the entries of a column of numbers. In a list, missing entries are None.

    Raises:
        ColumnError: the declared type is not numeric, or an entry is not a number.
    """
    held, of = column.family, "categories" if booleans or kind == "bins" else "budgets"
    odd = held in ("text", "time") or (held == "boolean" and not booleans)
    if held == "nested" or (odd and not private and not column.inferred):
        raise wrong_type(kind, f"{name} must be", column.dtype, of)
    entries = column.entries
    if isinstance(entries, np.ndarray):
        if not odd:
            return entries
        entries = entries.tolist() if held == "text" else [None] * len(entries)
    if lenient:
        entries = as_cells(entries, "numbers" if booleans else "bins")
    truth = (bool, np.bool_) if booleans else ()
    unfit = {
        type_
        for type_ in set(map(type, entries))
        if not (is_number_type(type_) or issubclass(type_, truth))
    }
    if not unfit:
        return entries
    if not lenient:
        for item in entries:
            if type(item) in unfit and not is_null(item):
                raise wrong_entry(kind, f"{name} must be", type(item), of)
    return [None if type(item) in unfit else item for item in entries]


def _plain(entries: list[Any]) -> Floats | None:
    """Return a list of Python numbers and None in float64; None for any other list."""
    if set(map(type, entries)) <= {float, int, bool, type(None)}:
        with contextlib.suppress(OverflowError):  # an integer larger than any float
            return np.array(entries, dtype=np.float64)
    return None


def _nearest(item: Any) -> float:
    """Return the nearest float64. It is finite for finite numbers, and NaN for null."""
    if item is None or is_null(item):
        return np.nan
    try:
        near = float(item)
    except OverflowError:
        near = np.inf if item > 0 else -np.inf
    return min(max(near, -LARGEST), LARGEST) if near != item else near


# Labels of arrays, in NumPy: categories, groups, and the rows that `where` selects.

FAMILY: Final[dict[LabelKind, Family]] = {
    "text": "text",
    "integers": "integer",
    "booleans": "boolean",
}
"""The required type of a column of categories, by kind."""


@dataclass(frozen=True, eq=False)
class CellArrays:
    """Rows in memory: the cell, budget and person of each row. `epsilon` can be one number."""

    cell: Integers
    epsilon: Floats | float
    person: npt.NDArray[Any] | None
    units: Integers | None = None


def read_labels(
    values: object,
    epsilon: object,
    person: object,
    categories: Categories,
    names: Names,
    ladder: Ladder | None = None,
    groups: Grouping | None = None,
    columns: Mapping[str, object] | None = None,
) -> CellArrays:
    """Return the cell, budget and person of each row, after checking the arrays.

    Args:
        values: one value for each row.
        epsilon: one budget for each row, or one number for all.
        person: an id for each row, or None.
        categories: the declared categories. With `other`, no entry is refused.
        names: the names of the columns in messages.
        ladder: the public ladder of budgets, if budgets are private.
        groups: further columns of labels, or None. Each category of each group is a cell.
        columns: the columns of these groups, by parameter.

    Raises:
        ArgumentError: an argument is not a single column, or the lengths differ.
        ColumnError: a column has the wrong type.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    lenient = ladder is not None or categories.other is not None
    private = ladder is not None
    cell = cells_of(values, categories, names.values, lenient=lenient, private=private)
    if groups is not None:
        group = groups_of(groups, columns or {}, names, lenient=lenient, private=private)
        if group.size != cell.size:
            raise other_length(names.values, "by")
        cell = joined(group, cell, len(categories.labels))
    return CellArrays(cell, *budgets_and_people(epsilon, person, names, cell.size, ladder))


def groups_of(
    grouping: Grouping,
    columns: Mapping[str, object],
    names: Names,
    *,
    lenient: bool,
    private: bool,
) -> Integers:
    """Return the index of each row's group, negative if it is undeclared or missing.

    Args:
        grouping: the declared groups.
        columns: one or two columns by parameter, with one entry for each row.
        names: the names of the columns in messages.
        lenient: whether an entry of another type is parsed like a cell; otherwise it is refused.
        private: whether a column of another declared type is accepted, as in `floats`.

    Raises:
        ArgumentError: an argument is not a single column.
        ColumnError: a column has the wrong type.
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


def asked_of(
    column: object,
    names: Names,
    label: Categories | None,
    *,
    lenient: bool,
    private: bool,
) -> Integers:
    """Return for each row 1 if `where` is true, 0 if it is false, negative if it is neither.

    With a label, 1 if the entry of the column is that label, otherwise 0.
    """
    if label is not None:
        name = names.of("where")
        cell = cells_of(column, label, name, lenient=True, private=private)
        return np.where(cell == 0, 1, 0)
    truth = declare((False, True), None, None)
    return cells_of(
        column, truth, names.of("where"), lenient=lenient, private=private, of="true and false"
    )


def check_declared(
    held: Family | None, dtype: str, kind: LabelKind, name: str, of: str = "categories"
) -> None:
    """Refuse a column whose declared type does not match the kind.

    Raises:
        ColumnError: the types differ.
    """
    if held not in (FAMILY[kind], None) and dtype != INFERRED:
        raise wrong_type(kind, f"{name} must be", dtype, of)


def cells_of(
    values: object,
    categories: Categories,
    name: str,
    *,
    lenient: bool,
    private: bool = False,
    of: str = "categories",
) -> Integers:
    """Return the cell of each value.

    In a list or a column of objects, the type of an entry is data. So entries are parsed like the
    cells of a file. If an entry is refused, the message names its type, which is more helpful than
    "in no category".

    Args:
        values: one value for each row.
        categories: the declared categories.
        name: the name of the values in messages.
        lenient: whether an entry of another type is parsed like a cell; otherwise it is refused.
        private: whether a column of another declared type is accepted, as in `floats`.
        of: the word for the categories in messages.
    """
    kind = categories.kind
    if kind == "bins":
        numbers_ = floats(values, name, lenient=lenient, kind="bins", private=private)
        return categories.of_floats(numbers_)
    column = opened(values, name)
    if not private or column.family == "nested":
        check_declared(*declared(values), kind, name, of)
    entries = column.entries if isinstance(column.entries, list) else column.entries.tolist()
    unfit = {type_ for type_ in set(map(type, entries)) if not _fits(type_, kind)}
    labels = categories.declared
    places: dict[Any, int] = dict(zip(labels, range(len(labels)), strict=True))
    if unfit and lenient:
        cells, texts = as_cells(entries, kind), categories.recast.declared
        spelt: dict[Any, int] = dict(zip(texts, range(len(texts)), strict=True))

        def found(item: Any, cell: Any) -> int:
            if cell is None:
                return MISSING if is_null(item) else UNDECLARED
            if not _fits(type(cell), kind):
                return UNDECLARED
            return (places if type(item) not in unfit else spelt).get(cell, UNDECLARED)

        return np.fromiter(map(found, entries, cells), np.int64, len(entries))

    def cell(item: Any) -> int:
        if type(item) not in unfit:
            return places.get(item, UNDECLARED)
        if is_null(item):
            return MISSING
        raise wrong_entry(kind, f"{name} must be", type(item), of)

    return np.fromiter(map(cell, entries), np.int64, len(entries))


def _fits(type_: type, kind: LabelKind) -> bool:
    """Whether objects of this Python type are of the kind."""
    if kind == "text":
        return issubclass(type_, str)
    if kind == "booleans":
        return issubclass(type_, (bool, np.bool_))
    return issubclass(type_, numbers.Integral) and is_number_type(type_)


# Count arrays in NumPy, for small data. `count_engine.py` does the same on engines.


def count(held: Arrays | CellArrays, ask: Ask, rules: Rules) -> Counted:
    """Count rows for one question.

    Args:
        held: rows, after all checks: of categories if the question is about them.
        ask: the question.
        rules: how rows are counted.

    Raises:
        TypeError: the question is about two columns, and the rows are of one.
    """
    if isinstance(held, CellArrays):
        return _categories(held, rules, ask)
    people = fold(held.epsilon, held.person, held.values.size, held.units)
    if rules.some and ask.what == "numbers":
        return of_groups(_divided(held, people, ask, rules), rules, ask)
    return _counted_numbers(held, people, ask, rules)


@dataclass(frozen=True, eq=False)
class ArrayPeople:
    """The people of rows in arrays, and their budget levels.

    Attributes:
        who: the person of each row, as an index; None if every row is its own person.
        rows: the number of rows of each person.
        budgets: the smallest budget of each person, or one budget for all.
        conflicts: the number of people with two budgets.
        units: the smallest number of units of each person; None without weights.
        doubles: the number of people with two weights.
    """

    who: Integers | None
    rows: Integers
    budgets: Floats | float
    conflicts: int
    units: Integers | None = None
    doubles: int = 0

    @cached_property
    def by_level(self) -> tuple[Floats, Integers]:
        """The smallest budget of each level, and the level of each person."""
        return levels_of(self.budgets, self.rows.size)

    def on_grid(
        self, values: Floats, bounds: Bounds, *, adds: bool = False
    ) -> tuple[Integers, Integers]:
        """Return each person's integer on the grid, and their number of rows without a value.

        The integer is the rounded mean of their values, or `HALF` if they have no value. With
        `adds` it is the sum of their values, clipped to the bounds: docs/proofs/counts.md (5).
        """
        grid, valid = to_grid(values, bounds)
        nothing = origin(bounds) if adds else HALF
        if self.who is None:
            grid[~valid] = nothing
            return grid, self.rows - valid
        some = np.bincount(self.who[valid], minlength=self.rows.size).astype(np.int64)
        total = summed(self.who, grid, self.rows.size)
        if adds:
            # The integer of a value v is `nothing`, the integer of 0, plus v in grid steps. So a
            # sum of integers contains `nothing` once for each value, but must contain it only once.
            return np.clip(total - nothing * (some - 1), 0, GRID), self.rows - some
        r = np.maximum(some, 1)
        return np.where(some == 0, nothing, (2 * total + r) // (2 * r)), self.rows - some

    def added(self, numbers: Integers) -> Integers:
        """Add up people's integers by level."""
        levels, level_of = self.by_level
        return summed(level_of, numbers, levels.size)

    def faults(self, **more: int) -> Faults:
        """Return counts of faults of these people, and further faults by name."""
        most = int(self.rows.max(initial=0))
        return Faults(conflicts=self.conflicts, most=most, weights=self.doubles, **more)


def fold(
    epsilon: Floats | float,
    person: npt.NDArray[np.generic] | None,
    size: int,
    units: Integers | None = None,
) -> ArrayPeople:
    """Return the people of `size` rows with their smallest budgets and numbers of units."""
    who, rows, conflicts, doubles = None, np.broadcast_to(np.int64(1), size), 0, 0
    if person is not None:
        who = np.unique(person, return_inverse=True)[1]
        rows = np.bincount(who).astype(np.int64)
        if not isinstance(epsilon, float):
            # A minimum or maximum with NaN would be NaN.
            epsilon = valid_or_bad(epsilon)
            smallest, largest = np.full(rows.size, np.inf), np.full(rows.size, -np.inf)
            np.minimum.at(smallest, who, epsilon)
            np.maximum.at(largest, who, epsilon)
            epsilon, conflicts = smallest, int((smallest != largest).sum())
        if units is not None:
            fewest, most = ends_of(who, units, units, rows.size)
            units, doubles = fewest, int((fewest != most).sum())
    return ArrayPeople(who, rows, epsilon, conflicts, units, doubles)


def classes(arrays: Arrays) -> Classes:
    """Count people by budget level and number of units."""
    people = fold(arrays.epsilon, arrays.person, arrays.values.size, arrays.units)
    if people.units is None:
        raise TypeError("these rows have no weights")
    return classes_of(people.by_level[1], people.units, np.ones_like(people.units))


def _counted_numbers(arrays: Arrays, people: ArrayPeople, ask: Ask, rules: Rules) -> Counted:
    """Divide each person's unit into two, three or nine cells, without groups: see `units`."""
    g, gaps = people.on_grid(arrays.values, ask.ends, adds=ask.adds)
    absent = gaps == people.rows if rules.missing == "exclude" else None
    parts = {"x": g}
    if ask.what == "squares":
        parts["v"] = squares(g)
    elif ask.what == "pairs":
        if arrays.beside is None or ask.beside is None:
            raise TypeError("These rows are of one column of numbers.")
        h, more = people.on_grid(arrays.beside, ask.beside)
        gaps = gaps + more
        if absent is not None:  # if either number is missing, both are the midpoint
            absent |= more == people.rows
            g, h = np.where(absent, HALF, g), np.where(absent, HALF, h)
        parts = cut(g, h)
    if absent is not None:
        parts["absent"] = absent.astype(np.int64)
    units = people.units
    if units is not None:
        parts = {name: part * units for name, part in parts.items()}
    found = {name: people.added(part) for name, part in parts.items()}
    levels, level_of = people.by_level
    counts, heads = np.bincount(level_of, minlength=levels.size), None
    if units is not None:
        heads = Heads(counts, *ends_of(level_of, units, units, levels.size))
        counts = people.added(units)
    cells = number_cells(ask.what, counts, found, rules)
    faults = people.faults(missing=int(gaps.sum()))
    return Counted(levels, counts, cells, faults, moved(people.budgets), heads=heads)


def _categories(held: CellArrays, rules: Rules, ask: Ask) -> Counted:
    """Count people, and add up their shares by budget level and category."""
    people = fold(held.epsilon, held.person, held.cell.size, held.units)
    epsilon, each, units = people.budgets, None, people.units
    if ask.adds:  # a person is in the first category if one of their rows is
        first, one = (held.cell == 0).astype(np.int64), np.ones_like(people.rows)
        first = first if people.who is None else summed(people.who, first, one.size)
        cell = np.where(first > 0, 0, UNDECLARED)
        return of_categories(UnitParts(epsilon, cell, one, None, people.faults()), rules, ask)
    if people.who is not None:
        each = people.rows[people.who]
        epsilon = epsilon if isinstance(epsilon, float) else epsilon[people.who]
        units = None if units is None else units[people.who]
    size = np.ones(held.cell.size, dtype=np.int64)
    parts = UnitParts(epsilon, held.cell, size, each, people.faults())
    return of_categories(parts.weighed(units), rules, ask)


def _divided(arrays: Arrays, people: ArrayPeople, ask: Ask, rules: Rules) -> UnitParts:
    """Divide each person's unit among groups. Without groups, everyone is in one group."""
    grid, there = to_grid(arrays.values, ask.ends)
    group = np.zeros(grid.size, dtype=np.int64) if arrays.group is None else arrays.group
    flag = np.ones(grid.size, dtype=np.int64) if arrays.asked is None else arrays.asked
    asked, declared = flag == 1, group >= 0
    faults = people.faults(
        missing=int((asked & ~there).sum()),
        undeclared=int((asked & ~declared).sum()),
        unknown=int((flag < 0).sum()),
    )
    valued = asked & declared & there
    gaps = asked & declared & ~there & rules.in_the_middle
    if people.who is None:  # each person gives a whole unit to one group
        one, inside = people.rows, (valued | gaps).astype(np.int64)
        above = np.where(valued, grid, HALF * gaps)
        whole = (people.budgets, group, one, None, faults, inside, GRID * inside, above)
        return UnitParts(*whole).weighed(people.units)
    # A person has one entry for each group in which they have rows, including undeclared groups.
    entry, owner, place = people.who, np.arange(people.rows.size), np.zeros_like(people.rows)
    if arrays.group is not None:
        k = len(rules.groups_of)
        found, entry = np.unique(people.who * (k + 2) + (group + 2), return_inverse=True)
        owner, place = found // (k + 2), found % (k + 2) - 2

    def entries(numbers: Integers | Booleans) -> Integers:
        return summed(entry, numbers.astype(np.int64), owner.size)

    def of_owner(numbers: Integers) -> Integers:
        return summed(owner, numbers, people.rows.size)

    own, total = entries(valued), entries(np.where(valued, grid, 0))
    if rules.in_the_middle:
        # Someone without any value is in the middle of the range, in each of their groups.
        lacked, without = entries(gaps), (of_owner(own) == 0)[owner]
        own, total = np.where(without, lacked, own), np.where(without, HALF * lacked, total)
    r = np.where(people.rows < MOST_ROWS, of_owner(own), 0)[owner]
    inside = (r > 0).astype(np.int64)
    r = np.maximum(r, 1)
    points = inside * (GRID * own // r)
    above = inside * np.minimum(points, (2 * total + r) // (2 * r))
    one = np.ones_like(owner)
    several = int((of_owner((place >= 0).astype(np.int64)) > 1).sum())
    epsilon = people.budgets if isinstance(people.budgets, float) else people.budgets[owner]
    faults, each = replace(faults, several=several), of_owner(one)[owner]
    parts = UnitParts(epsilon, place, one, each, faults, inside, points, above)
    return parts.weighed(None if people.units is None else people.units[owner])
