"""Columns of budgets on an engine: as floats that are not above what was given, and on a ladder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.errors import BudgetError
from epsilons.ladder import LESS, Ladder
from epsilons.tally.engines import engine_of
from epsilons.tally.ieee import (
    MOST_DIGITS,
    a_number,
    decimal_down,
    exactly,
    integer_down,
    rounded,
)

if TYPE_CHECKING:
    import narwhals as nw

    from epsilons.tally.columns import Columns

__all__ = ["misses_decimals", "on_ladder", "rounded_down", "rung"]

BUDGET = "the budget of all"
"""A column of one number, where a budget is needed for each row."""

ROUNDED = "the budget, rounded down"
"""A column of floats, where budgets are not."""


def rounded_down(table: Columns, ladder: Ladder | None) -> Columns:
    """Make floats of budgets that are decimals or large integers, none of them above what it was.

    A cast would round to the nearest, and so may take more than somebody offered.

    Raises:
        BudgetError: the budgets are decimals, and declared levels are floats right above decimals.
    """
    import narwhals as nw

    if not isinstance(table.epsilon, str):
        return table
    dtype = table.types[table.epsilon]
    near = nw.col(table.epsilon).cast(nw.Float64)
    if dtype.is_decimal():
        scale = _scale(table, dtype)
        if ladder is not None and misses_decimals(ladder, scale):
            raise BudgetError(
                f"levels: {table.showing('epsilon')} is a column of decimals ({dtype}), and a "
                "float such as 0.1 is a little above the decimal: nobody there would reach that "
                "level. Declare levels=[decimal.Decimal('0.1'), …], or make floats of the column "
                "first."
            )
        down = decimal_down(near, scale)
    elif dtype in (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128):
        down = integer_down(near)
    else:
        return table
    return _with_budgets(table, down.alias(ROUNDED), ROUNDED)


def _scale(table: Columns, dtype: Any) -> int | None:
    """The digits after the point of a column of decimals; None if nobody says."""
    if not engine_of(table.frame).scales:
        native: Any = table.frame.to_native()
        dtype = native.schema()[table.epsilon]
    scale: int | None = getattr(dtype, "scale", None)
    return scale


def on_ladder(table: Columns, ladder: Ladder) -> Columns:
    """Put budgets on a ladder. One budget for all becomes a column where some rows have nobody."""
    import narwhals as nw

    if isinstance(table.epsilon, str):
        return replace(table, ladder=ladder)
    rung = float(ladder.of(np.array([table.epsilon]))[0])
    if table.person is None:
        return replace(table, epsilon=rung, ladder=ladder)
    return replace(_with_budgets(table, nw.lit(rung).alias(BUDGET), BUDGET), ladder=ladder)


def _with_budgets(table: Columns, budgets: nw.Expr, name: str) -> Columns:
    """Add a column of floats, which are the budgets from now on."""
    import narwhals as nw

    types = {**table.types, name: nw.Float64()}
    return replace(table, frame=table.frame.with_columns(budgets), epsilon=name, types=types)


def misses_decimals(ladder: Ladder, scale: int | None) -> bool:
    """Whether someone at a declared level in decimals, rounded down, stands below its rung.

    The float 0.1 is above the decimal 0.1, and nobody is put on a rung that is above their ε.

    Args:
        ladder: public.
        scale: the digits of the decimals after the point; None if they are not known.
    """
    if ladder.fine or scale is None:
        return not ladder.fine
    for level in ladder.levels.tolist():
        whole = round(Fraction(level) * 10**scale)
        decimal = Fraction(whole, 10**scale)
        if float(decimal) == level and (decimal < level or whole >= MOST_DIGITS):
            return True
    return False


def rung(ladder: Ladder, epsilon: nw.Expr, frame: nw.LazyFrame[Any]) -> nw.Expr:
    """`Ladder.of`, as an expression of the engine of a frame."""
    import narwhals as nw

    lowest, top = exactly(float(ladder.levels[0]), frame), exactly(ladder.top, frame)
    usable = (epsilon >= lowest).fill_null(False) & a_number(epsilon)
    if ladder.fine:
        capped = nw.when(usable & (epsilon < top)).then(epsilon).otherwise(top)
        shrunk = capped * LESS
        near = rounded(capped)
        down = nw.when(near <= capped).then(near).otherwise(rounded(shrunk))
    else:
        down = _highest(epsilon, [exactly(level, frame) for level in ladder.levels.tolist()])
    return nw.when(usable).then(down).otherwise(nw.lit(0.0))


def _highest(epsilon: nw.Expr, levels: list[nw.Expr]) -> nw.Expr:
    """Return the highest level at or below ε, the first of them at least: a search by halves."""
    import narwhals as nw

    if len(levels) == 1:
        return levels[0]
    middle = len(levels) // 2
    low, high = _highest(epsilon, levels[:middle]), _highest(epsilon, levels[middle:])
    return nw.when(epsilon >= levels[middle]).then(high).otherwise(low)
