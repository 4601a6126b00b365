"""Labels of arrays in NumPy: categories, groups, and which rows are asked."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.budgets import is_number_type
from epsilons.errors import ArgumentError
from epsilons.ladder import Ladder
from epsilons.tally.arrays import budgets_and_people, floats
from epsilons.tally.categories import (
    MISSING,
    UNDECLARED,
    Categories,
    Grouping,
    Kind,
    declare,
    wrong_entry,
    wrong_type,
)
from epsilons.tally.counted import Names
from epsilons.tally.given import INFERRED, Family, declared, is_null, opened
from epsilons.tally.spellings import as_cells
from epsilons.tally.units import joined
from epsilons.types import Floats, Integers

__all__ = ["FAMILY", "CellArrays", "asked_of", "cells_of", "check_declared", "groups_of", "read"]

FAMILY: Final[dict[Kind, Family]] = {"text": "text", "integers": "integer", "booleans": "boolean"}
"""What the type of a column must declare for categories of a kind."""


@dataclass(frozen=True, eq=False)
class CellArrays:
    """Rows in memory: the cell of each, the budget of each (or of all), and the person of each."""

    cell: Integers
    epsilon: Floats | float
    person: npt.NDArray[Any] | None


def read(
    values: object,
    epsilon: object,
    person: object,
    categories: Categories,
    names: Names,
    ladder: Ladder | None = None,
) -> CellArrays:
    """Check arrays, and find the cell of each row.

    Args:
        values: one value for each row.
        epsilon: one budget for each row, or one number for all.
        person: who each row belongs to, or None.
        categories: what was declared. With `other`, no entry is refused.
        names: what messages call the three.
        ladder: the public ladder that budgets stand on, if they are private.

    Raises:
        ArgumentError: something is not one column, or the lengths differ.
        ColumnError: something is not of the type that it must be.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    lenient = ladder is not None or categories.other is not None
    private = ladder is not None
    cell = cells_of(values, categories, names.values, lenient=lenient, private=private)
    return CellArrays(cell, *budgets_and_people(epsilon, person, names, cell.size, ladder))


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


def check_declared(values: object, kind: Kind, name: str, of: str = "categories") -> None:
    """Refuse a column whose type declares that it holds something else than the kind needs.

    Raises:
        ColumnError: it does.
    """
    held, dtype = declared(values)
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

    In a list or a column of objects the type of an entry is data: it is read as a cell of a file
    is. If that is refused, it is with its type, which is kinder than "in no category".

    Args:
        values: one for each row.
        categories: what was declared.
        name: what messages call the values.
        lenient: whether an entry of another type is read as a cell is; it is refused otherwise.
        private: whether a column of another type is read so, too, and nothing is refused.
        of: what the categories are, for messages.
    """
    kind = categories.kind
    if kind == "bins":
        numbers_ = floats(values, name, lenient=lenient, kind="bins", private=private)
        return categories.of_floats(numbers_)
    column = opened(values, name)
    if not private or column.family == "nested":
        check_declared(values, kind, name, of)
    entries = column.entries if isinstance(column.entries, list) else column.entries.tolist()
    unfit = {type_ for type_ in set(map(type, entries)) if not _fits(type_, kind)}
    places: dict[Any, int] = {label: place for place, label in enumerate(categories.declared)}
    if unfit and lenient:
        cells, texts = as_cells(entries, kind), categories.recast.declared
        spelt: dict[Any, int] = {label: place for place, label in enumerate(texts)}

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


def _fits(type_: type, kind: Kind) -> bool:
    """Whether objects of a type are of the kind."""
    if kind == "text":
        return issubclass(type_, str)
    if kind == "booleans":
        return issubclass(type_, (bool, np.bool_))
    return issubclass(type_, numbers.Integral) and is_number_type(type_)
