"""Expressions of floats that every engine computes alike, and columns of budgets."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.budgets.levels import LESS, SPLITTER, Ladder
from epsilons.door.engines.table import engine_of
from epsilons.errors import BudgetError

if TYPE_CHECKING:
    import narwhals as nw

    from epsilons.door.given.columns import Columns

__all__ = [
    "MOST_DIGITS",
    "a_number",
    "decimal_down",
    "exactly",
    "finite",
    "integer_down",
    "less_itself_is_0",
    "misses_decimals",
    "on_ladder",
    "rounded",
    "rounded_down",
    "rung",
    "stirred",
]


# Expressions of floats that every engine computes alike.

SAFE: Final = 1.0 - 2.0**-48
"""One minus a relative error that no engine reaches when it converts a number to a float."""

MOST_DIGITS: Final = 2.0**45
"""A decimal whose digits, read as an integer, are below this can be recovered from a nearby
float."""

HALVES: Final = 2.0**27 + 1.0
"""Veltkamp's constant: it leaves 26 significant bits, so products of halves are exact."""

STIR: Final = -1.3530931263017538
"""A number of 53 significant bits, below -1. Times it, different floats stay different, including
subnormal ones."""


def exactly(number: float, frame: nw.LazyFrame[Any]) -> nw.Expr:
    """Return an expression that evaluates to exactly this finite float.

    Ibis writes numbers into a query as decimals. A database may read one with many digits as an
    adjacent float: a rung, or the end of one, would then differ from the one that was declared.
    Integers are read exactly, and division by a power of two is exact.
    """
    import narwhals as nw

    if engine_of(frame).floats or number.is_integer():
        return nw.lit(number)
    above, below = number.as_integer_ratio()
    found = nw.lit(above).cast(nw.Float64)
    while below > 1:
        part = min(below, 2**52)
        found = found / nw.lit(part).cast(nw.Float64)
        below //= part
    return found


def finite(number: nw.Expr) -> nw.Expr:
    """Return whether a float is finite: false for null, NaN and infinities.

    A finite float minus itself is 0; that is not so for NaN and infinities. Comparisons and
    `is_nan` would not work: from the extremes that a Parquet file states, which leave out NaN,
    DuckDB decides `v <= c`, and even `isnan(v)`, without reading the rows.
    """
    return less_itself_is_0(number).fill_null(False)


def less_itself_is_0(number: nw.Expr) -> nw.Expr:
    """Return whether a float is finite; null for null."""
    return (number - number) == 0.0


def a_number(number: nw.Expr) -> nw.Expr:
    """Return whether a float is a number: false for null and NaN, true for infinities."""
    return finite(number) | (number.abs() == math.inf).fill_null(False)


def stirred(number: nw.Expr) -> nw.Expr:
    """Return a distinct float, with all bits in use, for each float of few bits up to 2⁹⁰⁰.

    Spark hashes a group by bits that are zero in floats of few significant bits. All of these would
    collide in a few places, and be searched one after another.
    """
    return number * STIR


def rounded(budget: nw.Expr) -> nw.Expr:
    """A budget of at most 2⁹⁰⁰, rounded to 9 significant bits: `levels.keys` as an expression."""
    product = budget * SPLITTER
    return product - (product - budget)


def integer_down(near: nw.Expr) -> nw.Expr:
    """A float at most an integer, from the `near` float. Integers up to 2⁵³ are exact."""
    import narwhals as nw

    return nw.when(near <= 2.0**53).then(near).otherwise(near * SAFE)


def decimal_down(near: nw.Expr, scale: int | None) -> nw.Expr:
    """The largest float that is not above a decimal, from a float `near` it.

    A decimal is an integer over 10^scale. If the integer is below `MOST_DIGITS`, it is recovered
    from `near`, however the engine rounded. The quotient of the two is the nearest float, which may
    be above the decimal; then the next float below is used, which is 1 − 2⁻⁵³ times the quotient.
    Sums and products without rounding error decide whether a float is above. Larger decimals, and
    those of unknown scale, become `near` times `SAFE`: less by some ulps, and not above.

    Args:
        near: the decimal as a float, with a relative error of at most 2⁻⁴⁸.
        scale: the number of digits after the point; None if it is not known.
    """
    import narwhals as nw

    less = near * SAFE
    if scale is None or scale > 22:  # 10²² is the last power that is a float
        return less
    power = 10.0**scale
    whole = (near * power + 0.5).floor()
    # Polars turns division by a constant into multiplication by its inverse, which rounds twice.
    # So the divisor is an expression.
    quotient = whole / (near - near + power)
    below = quotient * (1.0 - 2.0**-53)
    down = nw.when(_excess(below, power, whole) <= 0.0).then(below).otherwise(less)
    down = nw.when(_excess(quotient, power, whole) <= 0.0).then(quotient).otherwise(down)
    return nw.when(near < MOST_DIGITS / power).then(down).otherwise(less)


def _excess(number: nw.Expr, power: float, whole: nw.Expr) -> nw.Expr:
    """Return number · power − whole, which are near each other. The sign is exact.

    Dekker's product: halves of 26 bits multiply without error, so the product is exact as the sum
    of two floats. The first of them minus `whole` is exact, because they are near each other.
    """
    high = number * HALVES - (number * HALVES - number)
    low = number - high
    power_high = power * HALVES - (power * HALVES - power)
    power_low = power - power_high
    product = number * power
    rest = high * power_high - product + high * power_low + low * power_high + low * power_low
    return product - whole + rest


# Columns of budgets on an engine: as floats that are not above the given budgets, and on a ladder.

BUDGET = "the budget of all"
"""The name of a constant column, where a single budget is needed for each row."""

ROUNDED = "the budget, rounded down"
"""The name of a column of floats, where the given budgets are not floats."""


def rounded_down(table: Columns, ladder: Ladder | None) -> Columns:
    """Convert budgets that are decimals or large integers to floats, rounding down.

    A cast rounds to nearest, and so might spend more than somebody offered.

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
    """The number of digits after the point in a column of decimals; None if it is not known."""
    if not engine_of(table.frame).scales:
        native: Any = table.frame.to_native()
        dtype = native.schema()[table.epsilon]
    scale: int | None = getattr(dtype, "scale", None)
    return scale


def on_ladder(table: Columns, ladder: Ladder) -> Columns:
    """Put budgets on a ladder. A single budget becomes a column if rows may belong to nobody."""
    import narwhals as nw

    if isinstance(table.epsilon, str):
        return replace(table, ladder=ladder)
    rung = float(ladder.of(np.array([table.epsilon]))[0])
    if table.person is None:
        return replace(table, epsilon=rung, ladder=ladder)
    return replace(_with_budgets(table, nw.lit(rung).alias(BUDGET), BUDGET), ladder=ladder)


def _with_budgets(table: Columns, budgets: nw.Expr, name: str) -> Columns:
    """Add a column of floats that replaces the budgets."""
    import narwhals as nw

    types = {**table.types, name: nw.Float64()}
    return replace(table, frame=table.frame.with_columns(budgets), epsilon=name, types=types)


def misses_decimals(ladder: Ladder, scale: int | None) -> bool:
    """Whether a decimal that equals a declared level is below its rung after rounding down.

    The float 0.1 is above the decimal 0.1, and nobody is put on a rung above their ε.

    Args:
        ladder: a public ladder.
        scale: the number of digits after the point; None if it is not known.
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
    """`Ladder.of` as an expression of the engine of a frame."""
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
    """Return the highest level at or below ε, at least the first one, by binary search."""
    import narwhals as nw

    if len(levels) == 1:
        return levels[0]
    middle = len(levels) // 2
    low, high = _highest(epsilon, levels[:middle]), _highest(epsilon, levels[middle:])
    return nw.when(epsilon >= levels[middle]).then(high).otherwise(low)
