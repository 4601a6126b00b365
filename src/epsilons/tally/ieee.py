"""What is asked of floats in a query, in the words that every engine answers alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilons.tally.grid import SPLITTER

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["a_number", "finite", "rounded"]


def finite(number: nw.Expr) -> nw.Expr:
    """Return whether a float is there: false for null, NaN and infinities.

    A finite float less itself is 0, and NaN and infinities are not. No comparison would do, nor
    `is_nan`: DuckDB knows the extremes of a Parquet file, which leave NaN out, and takes `v <= c`,
    and even `isnan(v)`, for decided without a look at the rows.
    """
    return ((number - number) == 0.0).fill_null(False)


def a_number(number: nw.Expr) -> nw.Expr:
    """Return whether a float is there: false for null and NaN, and true for infinities."""
    return finite(number) | (number.abs() == math.inf).fill_null(False)


def rounded(budget: nw.Expr) -> nw.Expr:
    """A budget of at most 2⁹⁰⁰ to 9 significant bits: `grid.keys` as an expression."""
    product = budget * SPLITTER
    return product - (product - budget)
