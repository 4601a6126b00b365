"""Any table in, integers by budget level out: the only door for data."""

from __future__ import annotations

from typing import Any

from epsilons.errors import ArgumentError
from epsilons.parameters import choice
from epsilons.tally import arrays, twin
from epsilons.tally.grid import GRID, Integers
from epsilons.tally.levels import Names, Tally, checked

__all__ = ["GRID", "Tally", "people", "tally_mean"]

SMALL = 10**5
"""Rows of arrays up to which NumPy is faster than starting an engine."""


def tally_mean(
    values: Any,
    *,
    epsilon: Any,
    bounds: tuple[float, float],
    data: Any = None,
    person: Any = None,
    missing: str = "error",
) -> Tally:
    """Put everyone's value on the grid, and count and add up by budget level, in one pass.

    Args:
        values: one number for each row, or the name of a column of `data`. Null, NaN and
            infinities are missing.
        epsilon: one budget for each row, one number for everyone, or the name of a column.
        bounds: the known range, checked by `parameters.bounds`.
        data: a frame that Narwhals reads, or the path of a .parquet or .csv file.
        person: who each row belongs to, or the name of a column; None if a row is a person.
            A person counts once, with the mean of their rows on the grid.
        missing: "error" refuses missing values, "midpoint" puts them in the middle of the bounds.

    Returns:
        One entry for each budget level. Budgets that agree in 9 significant bits are one level,
        whose budget is the smallest of them.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column is not there or
            not of numbers; `BudgetError`: a budget is negative, NaN or null, or all are 0).
        DataError: there are fewer than two people, or too many; a row has no person
            (`MissingValueError`: a value is missing; `ConflictingBudgetsError`: somebody has two
            budgets). These may depend on private data and are for the curator only.
        FileError: `data` is a path, and the file cannot be read.
    """
    choice("missing", missing)
    if data is None:
        rows = _arrays(values, epsilon, person)
        if rows.values.size <= SMALL:
            return checked(twin.count(rows, bounds).groups, Names(), missing)
    # Narwhals and Polars are imported only when there is something for them to do.
    from epsilons.tally import columns, engine

    if data is None:
        table, names = columns.of_arrays(rows), Names()
    else:
        table = columns.read(values, epsilon, data, person)
        names = table.names
    return checked(engine.count(table, bounds), names, missing)


def people(
    values: Any,
    *,
    epsilon: Any,
    bounds: tuple[float, float],
    data: Any = None,
    person: Any = None,
    missing: str = "error",
) -> tuple[Tally, Integers, Integers]:
    """Tally data in memory and keep everyone apart, for methods that draw for each person.

    Args:
        values: as for `tally_mean`, and so are the others; `data` must be in memory.
        epsilon: see `values`.
        bounds: see `values`.
        data: see `values`.
        person: see `values`.
        missing: see `values`.

    Returns:
        The tally, the index of each person's level, and each person's integer in [0, GRID].

    Raises:
        ArgumentError: `data` is lazy or a file. And as `tally_mean`.
        DataError: as `tally_mean`.
    """
    choice("missing", missing)
    names = Names()
    if data is None:
        rows = _arrays(values, epsilon, person)
    else:
        from epsilons.tally import columns

        rows = columns.in_memory(values, epsilon, data, person)
        names = Names.of_columns(values, epsilon, person)
    counted = twin.count(rows, bounds)
    tally = checked(counted.groups, names, missing)
    # `checked` sorted the levels: a group's place among them is its level.
    place = counted.groups.levels.argsort().argsort()
    return tally, place[counted.group_of], counted.grid


def _arrays(values: object, epsilon: object, person: object) -> arrays.Arrays:
    """Check arrays, which must not be names of columns, since there is no data."""
    for name, given in (("values", values), ("epsilon", epsilon), ("person", person)):
        if isinstance(given, str):
            raise ArgumentError(
                f"{name}={given!r} names a column, but data is not given: "
                "give data=, a frame or the path of a file."
            )
    return arrays.read(values, epsilon, person, ("values", "epsilon", "person"))
