"""Expressions of floats that give identical results on every engine, and columns of budgets."""

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


# Expressions of floats that give identical results on every engine.

SAFE: Final = 1.0 - 2.0**-48
"""One minus an upper bound on the relative error of any engine's conversion to a float."""

MOST_DIGITS: Final = 2.0**45
"""A decimal can be recovered from a nearby float if its digits, as an integer, are below this."""

HALVES: Final = 2.0**27 + 1.0
"""Veltkamp's constant. It keeps 26 significant bits, so products of halves are exact."""

STIR: Final = -1.3530931263017538
"""A float below -1 with 53 significant bits. Multiplication by it keeps distinct floats distinct,
including subnormal ones."""


def exactly(number: float, frame: nw.LazyFrame[Any]) -> nw.Expr:
    """Return an expression that evaluates to exactly this finite float.

    Ibis writes numbers into a query as decimals. A database can parse a decimal with many digits as
    an adjacent float. A rung (public budget level), or its boundary, would differ from the declared
    one. Integers are parsed exactly, and division by a power of two is exact.
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
    """Return an expression for whether a float is finite: false for null, NaN and infinities.

    A finite float minus itself is 0; NaN and infinities give NaN. Comparisons and `is_nan` would
    not work in DuckDB: it evaluates `v <= c`, and even `isnan(v)`, from the minimum and maximum in
    the metadata of a Parquet file, without reading the rows. These statistics ignore NaN.
    """
    return less_itself_is_0(number).fill_null(False)


def less_itself_is_0(number: nw.Expr) -> nw.Expr:
    """Return an expression for whether a float is finite. For null, the result is null."""
    return (number - number) == 0.0


def a_number(number: nw.Expr) -> nw.Expr:
    """Return an expression that is false for null and NaN, and true for infinities."""
    return finite(number) | (number.abs() == math.inf).fill_null(False)


def stirred(number: nw.Expr) -> nw.Expr:
    """Map floats with few significant bits, up to 2⁹⁰⁰, to distinct floats that use all bits.

    Spark hashes groups by bits that are zero in floats with few significant bits. Without this
    mapping, most groups would collide, and lookups would become linear searches.
    """
    return number * STIR


def rounded(budget: nw.Expr) -> nw.Expr:
    """Return a budget up to 2⁹⁰⁰, rounded to 9 significant bits: `levels.keys` as an expression."""
    product = budget * SPLITTER
    return product - (product - budget)


def integer_down(near: nw.Expr) -> nw.Expr:
    """Round a large integer down to a float, given a float `near` the integer.

    Up to 2⁵³, the result is exact.
    """
    import narwhals as nw

    return nw.when(near <= 2.0**53).then(near).otherwise(near * SAFE)


def decimal_down(near: nw.Expr, scale: int | None) -> nw.Expr:
    """Return the largest float that is not above a decimal, given a float `near` it.

    A decimal is an integer divided by 10^scale. If the integer is below `MOST_DIGITS`, it can be
    recovered from `near`, regardless of how the engine rounded. The quotient is then the nearest
    float to the decimal. If it is above the decimal, the next float below is used, which is
    1 − 2⁻⁵³ times the quotient. This comparison uses sums and products without rounding error. For
    larger decimals, or if the scale is unknown, the result is `near` times `SAFE`, which is below
    the decimal by a few ulps.

    Args:
        near: the decimal as a float, with a relative error of at most 2⁻⁴⁸.
        scale: the number of digits after the decimal point; None if it is unknown.
    """
    import narwhals as nw

    less = near * SAFE
    if scale is None or scale > 22:  # 10²² is the largest power that is a float
        return less
    power = 10.0**scale
    whole = (near * power + 0.5).floor()
    # Polars replaces division by a constant by multiplication with its inverse, which rounds twice.
    # So the divisor is an expression.
    quotient = whole / (near - near + power)
    below = quotient * (1.0 - 2.0**-53)
    down = nw.when(_excess(below, power, whole) <= 0.0).then(below).otherwise(less)
    down = nw.when(_excess(quotient, power, whole) <= 0.0).then(quotient).otherwise(down)
    return nw.when(near < MOST_DIGITS / power).then(down).otherwise(less)


def _excess(number: nw.Expr, power: float, whole: nw.Expr) -> nw.Expr:
    """Return number · power − whole, with an exact sign. The two terms must be close.

    This is Dekker's product. Halves of 26 bits multiply without error, so the product is exact as a
    sum of two floats. The first float minus `whole` is exact, because they are close.
    """
    high = number * HALVES - (number * HALVES - number)
    low = number - high
    power_high = power * HALVES - (power * HALVES - power)
    power_low = power - power_high
    product = number * power
    rest = high * power_high - product + high * power_low + low * power_high + low * power_low
    return product - whole + rest


# Columns of budgets on an engine: as floats that do not exceed the given budgets, and on a ladder.

BUDGET = "the budget of all"
"""The name of a constant column, if one budget for everyone is needed in each row."""

ROUNDED = "the budget, rounded down"
"""The name of a column of floats that replaces budgets of another type."""


def rounded_down(table: Columns, ladder: Ladder | None) -> Columns:
    """Convert budgets that are decimals or large integers to floats, rounding down.

    A cast would round to the nearest float, which can exceed somebody's budget.

    Raises:
        BudgetError: budgets are decimals, and the declared levels are floats just above decimals.
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
    """Return the number of digits after the decimal point in a column; None if it is unknown."""
    if not engine_of(table.frame).scales:
        native: Any = table.frame.to_native()
        dtype = native.schema()[table.epsilon]
    scale: int | None = getattr(dtype, "scale", None)
    return scale


def on_ladder(table: Columns, ladder: Ladder) -> Columns:
    """Place budgets on a ladder.

    A single budget for everyone becomes a column if there is a column of ids: a row without a
    person needs a budget of its own, which is 0.
    """
    import narwhals as nw

    if isinstance(table.epsilon, str):
        return replace(table, ladder=ladder)
    rung = float(ladder.of(np.array([table.epsilon]))[0])
    if table.person is None:
        return replace(table, epsilon=rung, ladder=ladder)
    return replace(_with_budgets(table, nw.lit(rung).alias(BUDGET), BUDGET), ladder=ladder)


def _with_budgets(table: Columns, budgets: nw.Expr, name: str) -> Columns:
    """Add a column of floats that replaces the column of budgets."""
    import narwhals as nw

    types = {**table.types, name: nw.Float64()}
    return replace(table, frame=table.frame.with_columns(budgets), epsilon=name, types=types)


def misses_decimals(ladder: Ladder, scale: int | None) -> bool:
    """Whether some decimal equal to a declared level is below its rung after rounding down.

    The float 0.1 is above the decimal 0.1, and nobody is placed on a rung above their ε.

    Args:
        ladder: a public ladder.
        scale: the number of digits after the decimal point; None if it is unknown.
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
    """Return `Ladder.of` as an expression for the engine of a frame."""
    import narwhals as nw

    lowest, top = exactly(float(ladder.levels[0]), frame), exactly(ladder.top, frame)
    usable = (epsilon >= lowest).fill_null(False) & a_number(epsilon)
    if ladder.fine:
        capped = nw.when(usable & (epsilon < top)).then(epsilon).otherwise(top)
        shrunk = capped * LESS
        near = rounded(capped)
        down = nw.when(near <= capped).then(near).otherwise(rounded(shrunk))
    else:
        down = _highest(epsilon, ladder.levels.tolist(), frame)
    return nw.when(usable).then(down).otherwise(nw.lit(0.0))


def _highest(epsilon: nw.Expr, levels: list[float], frame: nw.LazyFrame[Any]) -> nw.Expr:
    """Return the highest level at or below ε, at least the first one, by binary search."""
    import narwhals as nw

    if len(levels) == 1:
        return exactly(levels[0], frame)
    middle = len(levels) // 2
    low = _highest(epsilon, levels[:middle], frame)
    high = _highest(epsilon, levels[middle:], frame)
    return nw.when(epsilon >= exactly(levels[middle], frame)).then(high).otherwise(low)
