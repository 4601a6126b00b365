"""What is asked of floats in a query, in the words that every engine answers alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from epsilons.tally.grid import SPLITTER

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["a_number", "finite", "less_itself_is_0", "rounded", "stirred"]

STIR: Final = -1.3530931263017538
"""A number of 53 significant bits, below -1: different floats times it are different, subnormal
ones, too."""


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
    """A budget of at most 2⁹⁰⁰ to 9 significant bits: `grid.keys` as an expression."""
    product = budget * SPLITTER
    return product - (product - budget)
