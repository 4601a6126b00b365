"""Cells of arrays in NumPy: what `cells_engine.py` does on engines, for small data."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from epsilons.errors import ColumnError
from epsilons.tally.arrays import budgets_and_people, column, floats, is_null
from epsilons.tally.categories import MISSING, UNDECLARED, Categories, Kind, wrong_type
from epsilons.tally.cells import CellGroups, Parts, add_up
from epsilons.tally.grid import Integers
from epsilons.tally.ladder import Ladder

__all__ = ["count", "entries"]

NAMES = ("values", "epsilon", "person")
TYPED = {"text": "U", "integers": "iu", "booleans": "b"}


def count(
    values: object,
    epsilon: object,
    person: object,
    categories: Categories,
    ladder: Ladder | None = None,
) -> CellGroups:
    """Count people and add up their shares by budget level and cell.

    Args:
        values: one value for each row.
        epsilon: one budget for each row, or one number for all.
        person: who each row belongs to, or None.
        categories: what was declared.
        ladder: the public ladder that budgets stand on, if they are private.

    Raises:
        ArgumentError: something is not one column, or the lengths differ.
        ColumnError: something is not of the type that it must be.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    cell = _cells(values, categories)
    budgets, who = budgets_and_people(epsilon, person, NAMES, cell.size, ladder)
    rows: Integers | None = None
    conflicts = np.zeros(1, dtype=np.int64)
    if who is not None:
        index = np.unique(who, return_inverse=True)[1]
        rows_of = np.bincount(index)
        rows = rows_of[index]
        if not isinstance(budgets, float):
            # NaN is neither smaller nor larger: here it must be a budget like others, a bad one.
            budgets = np.where(budgets >= 0.0, budgets, -1.0)
            smallest, largest = np.full(rows_of.size, np.inf), np.full(rows_of.size, -np.inf)
            np.minimum.at(smallest, index, budgets)
            np.maximum.at(largest, index, budgets)
            budgets = smallest[index]
            conflicts = (smallest != largest).astype(np.int64)
    parts = Parts(
        epsilon=budgets,
        cell=cell,
        size=np.ones(cell.size, dtype=np.int64),
        rows=rows,
        conflicts=conflicts,
        nobody=np.zeros(1, dtype=np.int64),
    )
    return add_up(parts, categories)


def _cells(values: object, categories: Categories) -> Integers:
    """Return the cell of each value."""
    if categories.kind == "bins":
        return categories.of_floats(floats(values, "values", booleans=False))
    given = entries(values, categories.kind)
    places: dict[Any, int] = {label: place for place, label in enumerate(categories.declared)}
    places[None] = MISSING
    return np.fromiter((places.get(item, UNDECLARED) for item in given), np.int64, len(given))


def entries(values: object, kind: Kind) -> list[Any]:
    """Return values of text, integers or booleans as Python objects, None where one is missing.

    Raises:
        ArgumentError: it is not one column.
        ColumnError: it holds something of another type.
    """
    array = column(values, "values")
    if array.dtype.kind in TYPED[kind] and isinstance(values, np.ndarray):
        return list(values.tolist())  # which says None where a masked array is masked
    if isinstance(values, np.ndarray) and array.dtype.kind != "O":
        raise wrong_type(kind, "values must be", array.dtype)
    # A list of text and None would become all text, and integers with nulls floats.
    items: list[Any]
    for method in ("to_pylist", "to_list"):  # PyArrow; pandas and Polars
        if hasattr(values, method):
            items = getattr(values, method)()
            break
    else:
        items = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[call-overload]
    types = set(map(type, items))
    if all(_fits(type_, kind) for type_ in types):
        return items
    items = [None if is_null(item) else item for item in items]
    for type_ in set(map(type, items)) - {type(None)}:
        if not _fits(type_, kind):
            raise _holds(type_, kind)
    return items


def _fits(type_: type, kind: Kind) -> bool:
    """Whether objects of a type are of the kind."""
    if kind == "text":
        return issubclass(type_, str)
    boolean = issubclass(type_, (bool, np.bool_))
    return boolean if kind == "booleans" else issubclass(type_, numbers.Integral) and not boolean


def _holds(type_: type, kind: Kind) -> ColumnError:
    return wrong_type(kind, "values must be", f"object, and some are {type_.__name__}")
