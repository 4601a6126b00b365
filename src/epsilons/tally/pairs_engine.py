"""The tally of two columns of numbers on an engine: what `pairs.py` does in NumPy, as one query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from epsilons.tally.columns import Columns
from epsilons.tally.expressions import budget_and_person, floats
from epsilons.tally.grid import GRID, HALF
from epsilons.tally.ieee import finite
from epsilons.tally.levels import SumGroups
from epsilons.tally.pairs import BELOW
from epsilons.tally.sums_engine import fold, gathered, over_grid, steps_of, without
from epsilons.types import Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["count"]

Bounds = tuple[float, float]

_ENDS = ("", "2")
"""What the names of the columns of either number end with."""


def count(
    table: Columns, bounds: Bounds, beside: Bounds, *, exclude: bool
) -> tuple[SumGroups, dict[str, Integers]]:
    """Count people and add up the parts of their units by budget level, in one pass.

    Args:
        table: a frame with checked columns, of two of numbers.
        bounds: the lower and the upper end of the grid of the first.
        beside: those of the second.
        exclude: whether who lacks one of the two numbers is absent: both are in the middle then.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """

    def people(table: Columns) -> nw.LazyFrame[Any]:
        import narwhals as nw

        each, rows = _rows(table, (bounds, beside)), nw.lit(1)
        if table.person is not None:
            each = fold(each, budgets=isinstance(table.epsilon, str), numbers=_ENDS)
            rows = nw.col("rows")
        if exclude:
            each = each.with_columns(without("valid", "valid2"))
            gone = nw.col("absent") > 0
            each = each.with_columns(
                nw.when(gone).then(HALF).otherwise(nw.col(name)).cast(nw.Int64).alias(name)
                for name in ("x", "x2")
            )
        # What is missing is in the middle; who has both numbers has one row that is valid.
        both = nw.col("valid") + nw.col("valid2") - rows
        return _parts(each.with_columns(both.alias("valid")))

    groups, parts = gathered(table, people, ("a", *BELOW, *(["absent"] if exclude else [])))
    return replace(groups, absent=parts.pop("absent", None)), parts


def _rows(table: Columns, ends: tuple[Bounds, Bounds]) -> nw.LazyFrame[Any]:
    """Put both numbers of every row on the grid: `x` and `x2`, with `valid` and `valid2`.

    Where a value is missing it is not valid, and 0; where a row is a person, it is in the middle.
    """
    import narwhals as nw

    nothing = float(HALF if table.person is None else 0)
    columns = []
    for column, bounds, end in zip((table.values, table.beside), ends, _ENDS, strict=True):
        if column is None:
            raise TypeError("these rows are of one column of numbers")
        value = floats(table, column)
        # Nulls are filled in conditions: an engine need not take null for false.
        valid = finite(value)
        steps = nw.when(valid).then(steps_of(table, value, bounds)).otherwise(nothing)
        columns.append(steps.cast(nw.Int64).alias(f"x{end}"))
        columns.append(valid.cast(nw.Int64).alias(f"valid{end}"))
    return table.frame.select(*columns, *budget_and_person(table))


def _parts(people: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Add what `pairs.cut` says of each person; the columns of the second number are left out."""
    import narwhals as nw

    def number(name: str) -> nw.Expr:
        return nw.col(name).cast(nw.Float64)

    g, h = number("x"), number("x2")
    people = people.with_columns(over_grid(g, g).alias("a"), over_grid(h, h).alias("b"))
    a, b = nw.col("a"), nw.col("b")
    first = (a, 2.0 * (g - a), float(GRID) - 2.0 * g + a)
    second = (b, 2.0 * h - b)
    parts = [over_grid(each, below) for each in first for below in second]
    named = [part.cast(nw.Int64).alias(name) for part, name in zip(parts, BELOW, strict=True)]
    people = people.with_columns(*named)
    return people.with_columns(a.cast(nw.Int64))
