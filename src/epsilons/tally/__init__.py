"""Any table in, integers by budget level out: the only door for data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epsilons.errors import ArgumentError
from epsilons.parameters import choice
from epsilons.tally import arrays, cells_twin, twin
from epsilons.tally.categories import Categories, declare
from epsilons.tally.cells import (
    LARGEST_TABLE,
    SHARES,
    CellTally,
    cells_on_rungs,
    checked_cells,
)
from epsilons.tally.files import source
from epsilons.tally.frames import Asked, asked
from epsilons.tally.grid import GRID, Integers
from epsilons.tally.ladder import Ladder
from epsilons.tally.levels import Groups, Names, Tally, checked, on_rungs

if TYPE_CHECKING:
    from epsilons.tally.columns import Table

__all__ = [
    "GRID",
    "SHARES",
    "CellTally",
    "Ladder",
    "Tally",
    "people",
    "people_cells",
    "source",
    "tally_frequencies",
    "tally_mean",
]

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
    ladder: Ladder | None = None,
) -> Tally:
    """Put everyone's value on the grid, and count and add up by budget level, in one pass.

    Args:
        values: one number for each row, or the name of a column of `data`. Null, NaN and
            infinities are missing.
        epsilon: one budget for each row, one number for everyone, or the name of a column.
        bounds: the known range, checked by `parameters.bounds`.
        data: a frame that Narwhals reads, or the path of a Parquet or CSV file: see `source`.
        person: who each row belongs to, or the name of a column; None if a row is a person.
            A person counts once, with the mean of their rows on the grid.
        missing: "error" refuses missing values, "midpoint" puts them in the middle of the bounds.
        ladder: a public ladder of budgets, if budgets and the number of people are private. Then
            no data is refused: missing values are in the middle of the bounds,
            of two budgets the smaller counts, and whoever has none is left out.

    Returns:
        One entry for each budget level. Budgets that agree in 9 significant bits are one level,
        whose budget is the smallest of them; with a ladder, levels are its rungs.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column is not there or
            not of numbers; `BudgetError`: a budget is negative, NaN or null, or all are 0).
        DataError: there are fewer than two people, or too many; a row has no person
            (`MissingValueError`: a value is missing; `ConflictingBudgetsError`: somebody has two
            budgets). These may depend on private data and are for the curator only.
        FileError: `data` is a path, and the file cannot be read.
    """
    choice("missing", missing)

    def usable(groups: Groups, names: Names) -> Tally:
        if ladder is None:
            return checked(groups, names, missing)
        return on_rungs(groups, names, ladder.levels)

    given = asked(values, epsilon, data, person)
    names = given.names
    if given.data is None:
        rows = _arrays(given, missing, ladder)
        if rows.values.size <= SMALL:
            return usable(twin.count(rows, bounds).groups, names)
    # Narwhals and Polars are imported only when there is something for them to do.
    from epsilons.tally import columns, engine

    if given.data is None:
        table = columns.of_arrays(rows)
    else:
        table = columns.read(given.values, given.epsilon, given.data, given.person, ladder=ladder)
        names = table.called or names
    return usable(engine.count(table, bounds), names)


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
    given = asked(values, epsilon, data, person)
    if given.data is None:
        rows = _arrays(given, missing)
    else:
        from epsilons.tally import columns

        own, lenient = (given.values, given.epsilon, given.data), missing == "midpoint"
        rows = columns.in_memory(*own, given.person, given.names, lenient=lenient)
    counted = twin.count(rows, bounds)
    tally = checked(counted.groups, given.names, missing)
    # `checked` sorted the levels: a group's place among them is its level.
    place = counted.groups.levels.argsort().argsort()
    return tally, place[counted.group_of], counted.grid


def tally_frequencies(
    values: Any,
    *,
    epsilon: Any,
    categories: Any = None,
    edges: Any = None,
    other: Any = None,
    data: Any = None,
    person: Any = None,
    missing: str = "error",
    ladder: Ladder | None = None,
) -> CellTally:
    """Count people by budget level and category, in one pass.

    Args:
        values: one value for each row, or the name of a column of `data`.
        epsilon: one budget for each row, one number for everyone, or the name of a column.
        categories: declared by the caller, never taken from the data: distinct strings, integers or
            booleans; or None, and
        edges: the edges of bins of numbers, ascending, or pairs (lo, hi) that ascend and do not
            overlap. A bin holds lo <= v < hi, and the last one its upper end too.
        other: the category that catches values that are missing (null, NaN) or in no category: one
            of those declared, or a further one. Without it such values are refused.
        data: a frame that Narwhals reads, or the path of a Parquet or CSV file: see `source`.
        person: who each row belongs to, or the name of a column; None if a row is a person. Each
            of a person's r rows adds floor(SHARES / r) to its cell: nothing if r > SHARES.
        missing: "error"; a category has no midpoint.
        ladder: a public ladder of budgets, if budgets and the number of people are private. Then
            no data is refused: a value that is in no category is in no cell,
            of two budgets the smaller counts, and whoever has none is left out.

    Returns:
        One row of cells for each budget level. Budgets that agree in 9 significant bits are one
        level, whose budget is the smallest of them; with a ladder, levels are its rungs.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column is not there or
            not of the type of the categories; `BudgetError`: a budget is negative, NaN or null, or
            all are 0).
        DataError: a value is in no category; there are fewer than two people, or too many; a row
            has no person (`MissingValueError`: a value is missing; `ConflictingBudgetsError`:
            somebody has two budgets). These may depend on private data and are for the curator
            only.
        FileError: `data` is a path, and the file cannot be read.
    """
    declared = _declared(categories, edges, other, missing)
    unit = 1 if person is None else SHARES
    # Beside its rungs, data have at most two levels: on no rung, and no budget. So no table that
    # passes here is refused later, whoever is there.
    if ladder is not None and (len(ladder.levels) + 2) * len(declared.labels) > LARGEST_TABLE:
        raise ArgumentError(
            f"categories: {len(declared.labels):,} cells for each of {len(ladder.levels):,} public "
            "budget levels are too many. Declare fewer categories, or a few levels."
        )
    given = asked(values, epsilon, data, person)
    table, names = _table(given, declared, ladder), given.names
    if table is None:
        own = (given.values, given.epsilon, given.person)
        groups = cells_twin.count(*own, declared, names, ladder)
    else:
        from epsilons.tally import cells_engine

        groups = cells_engine.count(table, declared)
        names = table.called or names
    if ladder is None:
        return checked_cells(groups, names, declared, unit=unit)
    return cells_on_rungs(groups, names, declared, ladder.levels, unit=unit)


def people_cells(
    values: Any,
    *,
    epsilon: Any,
    categories: Any = None,
    edges: Any = None,
    other: Any = None,
    data: Any = None,
    person: Any = None,
    missing: str = "error",
) -> tuple[CellTally, Integers, Integers]:
    """Count data in memory and keep everyone apart, for methods that draw for each person.

    Args:
        values: as for `tally_frequencies`, and so are the others; `data` must be in memory.
        epsilon: see `values`.
        categories: see `values`.
        edges: see `values`.
        other: see `values`.
        data: see `values`.
        person: must be None: a row is a person.
        missing: see `values`.

    Returns:
        The tally, the index of each person's level, and of each person's cell.

    Raises:
        ArgumentError: `person` is given, or `data` is lazy or a file. And as `tally_frequencies`.
        DataError: as `tally_frequencies`.
    """
    declared = _declared(categories, edges, other, missing)
    if person is not None:
        raise ArgumentError(
            'person: method "sampling" for frequencies takes one row per person. '
            "Leave person out, or choose another method."
        )
    given = asked(values, epsilon, data, None)
    table = _table(given, declared, in_memory=True)
    if table is None:
        groups = cells_twin.count(given.values, given.epsilon, None, declared, given.names)
    else:
        from epsilons.tally import cells_engine

        groups = cells_engine.each(table, declared)
    tally = checked_cells(groups, given.names, declared, unit=1)
    place = groups.levels.argsort().argsort()
    return tally, place[groups.level_of], groups.cell_of


def _declared(categories: object, edges: object, other: object, missing: object) -> Categories:
    """Check what was declared before any data are touched."""
    if choice("missing", missing) == "midpoint":
        raise ArgumentError(
            'missing="midpoint" is for means: categories have no middle. '
            'Declare other="…", a category that catches missing values.'
        )
    return declare(categories, edges, other)


def _arrays(given: Asked, missing: str, ladder: Ladder | None = None) -> arrays.Arrays:
    """Check arrays of numbers."""
    lenient = missing == "midpoint"
    own = (given.values, given.epsilon, given.person)
    return arrays.read(*own, given.names, ladder, lenient=lenient)


def _table(
    given: Asked, declared: Categories, ladder: Ladder | None = None, *, in_memory: bool = False
) -> Table | None:
    """Return the rows as a table for an engine; None where NumPy counts them.

    NumPy counts small data, and columns whose entries have to be looked at one by one.
    """
    if given.data is None and arrays.length(given.values, given.names.values) <= SMALL:
        return None
    from epsilons.tally import columns

    own, kind = (given.values, given.epsilon), declared.kind
    if given.data is None:
        return columns.of_values(*own, given.person, kind, given.names, ladder)
    if in_memory:
        return columns.read_in_memory(*own, given.data, given.person, kind)
    return columns.read(*own, given.data, given.person, kind, ladder)
