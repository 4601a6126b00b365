"""What is asked of floats in a query, in the words that every engine answers alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from epsilons.ladder import SPLITTER
from epsilons.tally.engines import engine_of

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "MOST_DIGITS",
    "a_number",
    "decimal_down",
    "exactly",
    "finite",
    "integer_down",
    "less_itself_is_0",
    "rounded",
    "stirred",
]

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
