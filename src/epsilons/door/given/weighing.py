"""Weights that the user gives as an array: add them to rows in NumPy, or to a table in Polars."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from epsilons.budgets.levels import budgets_of_units
from epsilons.door.count.weights import Weights
from epsilons.door.given.arrays import Arrays, CellArrays, floats, other_length
from epsilons.door.given.columns import Columns
from epsilons.door.given.frames import AskedRows
from epsilons.loading import later
from epsilons.types import Floats

if TYPE_CHECKING:
    from epsilons.door.engines import weights_engine
else:
    weights_engine = later("epsilons.door.engines.weights_engine")

__all__ = ["in_arrays", "in_table"]

Held = TypeVar("Held", Arrays, CellArrays)


def in_arrays(held: Held, weights: Weights, given: AskedRows) -> Held:
    """Add the number of units of each row's person, and replace budgets by those of one unit.

    Args:
        held: rows, after all checks.
        weights: the weights of people.
        given: the arguments, with one weight for each row.

    Raises:
        ArgumentError: the weights are not a single column, or there is not one for each row.
        ColumnError: a weight is not a number.
        DataError: a weight is missing, infinite or not above 0.
    """
    own = held.cell if isinstance(held, CellArrays) else held.values
    units = weights.units(_floats(given, own.size), held.person, given.names.of("weights"))
    return replace(held, epsilon=budgets_of_units(held.epsilon, units), units=units)


def in_table(table: Columns, weights: Weights | None, given: AskedRows) -> Columns:
    """Add weights, if there are any, to a table that was made from arrays.

    Args:
        table: a table in Polars, with a known number of rows.
        weights: the weights of people, or None.
        given: the arguments, with one weight for each row.

    Raises:
        ArgumentError: the weights are not a single column, or there is not one for each row.
        ColumnError: a weight is not a number.
        DataError: a weight is missing, infinite or not above 0, and people can have many rows. If
            every row is its own person, such weights are refused when rows are counted.
    """
    import narwhals as nw

    if weights is None:
        return table
    own = nw.new_series("weights", _floats(given, table.size), backend="polars")
    frame = table.frame.with_columns(own)
    table = replace(table, frame=frame, types=frame.collect_schema())
    return weights_engine.weighed(table, weights, "weights", given.names.of("weights"))


def _floats(given: AskedRows, size: int | None) -> Floats:
    """Return one weight for each row. Only the number and the type of weights are checked."""
    name = given.names.of("weights")
    found = floats(given.marks["weights"], name, lenient=False)
    if found.size != size:
        raise other_length(given.names.values, name)
    return found
