"""Floats in a query, in the words that every engine answers alike, and columns of budgets."""

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


# What is asked of floats in a query, in the words that every engine answers alike.

SAFE: Final = 1.0 - 2.0**-48
"""No engine is so far off when it makes a float of a number that is none."""

MOST_DIGITS: Final = 2.0**45
"""A decimal whose digits are a number below it is found from a float near it."""

HALVES: Final = 2.0**27 + 1.0
"""Veltkamp's constant that leaves 26 significant bits: products of halves are exact."""

STIR: Final = -1.3530931263017538
"""A number of 53 significant bits, below -1: different floats times it are different, subnormal
ones, too."""


def exactly(number: float, frame: nw.LazyFrame[Any]) -> nw.Expr:
    """Return a finite float as an expression that is that very float.

    Ibis writes numbers into a query as decimals. What a database makes of one with many digits may
    be the float beside it: a rung, or an end of one, that is not the one which was declared. Whole
    numbers are read as they are, and to divide by a power of two rounds nothing.
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
    """Return whether a float is there: false for null, NaN and infinities.

    A finite float less itself is 0, and NaN and infinities are not. No comparison would do, nor
    `is_nan`: DuckDB knows the extremes of a Parquet file, which leave NaN out, and takes `v <= c`,
    and even `isnan(v)`, for decided without a look at the rows.
    """
    return less_itself_is_0(number).fill_null(False)


def less_itself_is_0(number: nw.Expr) -> nw.Expr:
    """Return whether a float is finite, and null for null."""
    return (number - number) == 0.0


def a_number(number: nw.Expr) -> nw.Expr:
    """Return whether a float is there: false for null and NaN, and true for infinities."""
    return finite(number) | (number.abs() == math.inf).fill_null(False)


def stirred(number: nw.Expr) -> nw.Expr:
    """Return another float for each float of at most 2⁹⁰⁰ and few bits, to group by.

    Spark finds a group by the bits of a float that are zero in numbers of few significant bits:
    all of them would meet in a few places, and be looked for one after another.
    """
    return number * STIR


def rounded(budget: nw.Expr) -> nw.Expr:
    """A budget of at most 2⁹⁰⁰ to 9 significant bits: `ladder.keys` as an expression."""
    product = budget * SPLITTER
    return product - (product - budget)


def integer_down(near: nw.Expr) -> nw.Expr:
    """The float of an integer, made less where it may be above it: integers to 2⁵³ are floats."""
    import narwhals as nw

    return nw.when(near <= 2.0**53).then(near).otherwise(near * SAFE)


def decimal_down(near: nw.Expr, scale: int | None) -> nw.Expr:
    """The largest float that is not above a decimal, from a float `near` it.

    A decimal is a whole number over 10^scale. Where that number is below `MOST_DIGITS` it is found
    from `near`, however the engine rounded. Their quotient is the nearest float, which may be
    above; then the float below is taken, which is 1 − 2⁻⁵³ times it. Whether a float is above is
    asked in sums and products alone, without an error. Larger decimals, and those whose scale is
    not known, become `near` times `SAFE`: less by some ulps, and not above.

    Args:
        near: the decimal as a float, with a relative error of at most 2⁻⁴⁸.
        scale: the digits after the point; None if they are not known.
    """
    import narwhals as nw

    less = near * SAFE
    if scale is None or scale > 22:  # 10²² is the last power that is a float
        return less
    power = 10.0**scale
    whole = (near * power + 0.5).floor()
    # Polars makes a product with the inverse of a quotient by a constant, and that rounds twice.
    quotient = whole / (near - near + power)
    below = quotient * (1.0 - 2.0**-53)
    down = nw.when(_excess(below, power, whole) <= 0.0).then(below).otherwise(less)
    down = nw.when(_excess(quotient, power, whole) <= 0.0).then(quotient).otherwise(down)
    return nw.when(near < MOST_DIGITS / power).then(down).otherwise(less)


def _excess(number: nw.Expr, power: float, whole: nw.Expr) -> nw.Expr:
    """What number · power, which is near `whole`, exceeds it by: its sign is right.

    Dekker's product: halves of 26 bits multiply without an error, and so does the whole as two
    floats. The first of them less `whole` is exact, since they are near each other.
    """
    high = number * HALVES - (number * HALVES - number)
    low = number - high
    power_high = power * HALVES - (power * HALVES - power)
    power_low = power - power_high
    product = number * power
    rest = high * power_high - product + high * power_low + low * power_high + low * power_low
    return product - whole + rest


# Columns of budgets on an engine: as floats that are not above what was given, and on a ladder.

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
