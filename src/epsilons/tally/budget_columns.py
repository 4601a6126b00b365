"""Columns of budgets on an engine: as floats that are not above what was given, and on a ladder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.errors import BudgetError
from epsilons.tally.failures import guarded
from epsilons.tally.ieee import decimal_down, integer_down
from epsilons.tally.ladder import Ladder

if TYPE_CHECKING:
    from epsilons.tally.columns import Table

__all__ = ["on_ladder", "rounded_down"]

BUDGET = "the budget of all"
"""A column of one number, where a budget is needed for each row."""

ROUNDED = "the budget, rounded down"
"""A column of floats, where budgets are not."""


def rounded_down(table: Table, ladder: Ladder | None) -> Table:
    """Make floats of budgets that are decimals or large integers, none of them above what it was.

    A cast would round to the nearest, and so may take more than somebody offered.

    Raises:
        BudgetError: the budgets are decimals, and declared levels are floats right above decimals.
    """
    import narwhals as nw

    if not isinstance(table.epsilon, str):
        return table
    dtype = guarded(table.frame.collect_schema, *table.failure)[table.epsilon]
    near = nw.col(table.epsilon).cast(nw.Float64)
    if dtype.is_decimal():
        scale = _scale(table, dtype)
        if ladder is not None and ladder.misses_decimals(scale):
            raise BudgetError(
                f"levels: epsilon={table.epsilon!r} is a column of decimals ({dtype}), and a float "
                "such as 0.1 is a little above the decimal: nobody there would reach that level. "
                "Declare levels=[decimal.Decimal('0.1'), …], or make floats of the column first."
            )
        down = decimal_down(near, scale)
    elif dtype in (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128):
        down = integer_down(near)
    else:
        return table
    return replace(table, frame=table.frame.with_columns(down.alias(ROUNDED)), epsilon=ROUNDED)


def _scale(table: Table, dtype: Any) -> int | None:
    """The digits after the point of a column of decimals; None if nobody says."""
    import narwhals as nw

    if table.frame.implementation is nw.Implementation.IBIS:  # Narwhals guesses where it is silent
        native: Any = table.frame.to_native()
        dtype = native.schema()[table.epsilon]
    scale: int | None = getattr(dtype, "scale", None)
    return scale


def on_ladder(table: Table, ladder: Ladder) -> Table:
    """Put budgets on a ladder. One budget for all becomes a column where some rows have nobody."""
    import narwhals as nw

    if isinstance(table.epsilon, str):
        return replace(table, ladder=ladder)
    rung = float(ladder.of(np.array([table.epsilon]))[0])
    if table.person is None:
        return replace(table, epsilon=rung, ladder=ladder)
    frame = table.frame.with_columns(nw.lit(rung).alias(BUDGET))
    return replace(table, frame=frame, epsilon=BUDGET, ladder=ladder)
