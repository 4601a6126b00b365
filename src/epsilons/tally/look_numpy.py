"""The marks of rows in memory: what `look_engine.marked` does on engines, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.tally import arrays
from epsilons.tally.categories import MISSING, UNDECLARED, Categories
from epsilons.tally.cells_numpy import cells_of
from epsilons.tally.counted import BAD_BUDGET
from epsilons.tally.frames import Asked
from epsilons.types import Booleans

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Marked", "marked"]


@dataclass(frozen=True, eq=False)
class Marked:
    """Rows with their marks.

    Attributes:
        frame: the marks, `e` if there is a column of budgets, and `who` if there is one of people.
        epsilon: the name of that column, or the budget of everyone.
    """

    frame: nw.LazyFrame[Any]
    epsilon: str | float


def marked(
    given: Asked, bounds: tuple[float, float] | None, categories: Categories | None
) -> Marked:
    """Return the marks of every row of arrays. No entry is refused.

    Args:
        given: arrays.
        bounds: of numbers, if they are known.
        categories: what was declared; None for numbers.

    Raises:
        ArgumentError: something is not one column, or the lengths differ.
        ColumnError: something is not of the type that it must be.
        BudgetError: `epsilon` is one number that cannot be a budget.
    """
    import narwhals as nw
    import polars as pl

    names = given.names
    if categories is None:
        marks = _of_numbers(arrays.floats(given.values, names.values, lenient=True), bounds)
    else:
        cell = cells_of(given.values, categories, names.values, lenient=True)
        marks = {"missing": cell == MISSING, "undeclared": cell == UNDECLARED}
    size = marks["missing"].size
    budgets, who, nobody = arrays.unchecked(given.epsilon, given.person, names, size, lenient=True)
    table: dict[str, Any] = {name: mark.astype(np.int64) for name, mark in marks.items()}
    if not isinstance(budgets, float):
        table["e"] = np.where(budgets >= 0.0, budgets, BAD_BUDGET)
    frame = pl.DataFrame(table)
    if who is not None:
        code = pl.Series("who", np.unique(who, return_inverse=True)[1].astype(np.int64))
        none = pl.Series("nobody", nobody)
        frame = frame.with_columns(pl.when(~none).then(code).alias("who"))
    rows: nw.LazyFrame[Any] = nw.from_native(frame.lazy())
    return Marked(rows, budgets if isinstance(budgets, float) else "e")


def _of_numbers(values: Any, bounds: tuple[float, float] | None) -> dict[str, Booleans]:
    valid = np.isfinite(values)
    marks: dict[str, Booleans] = {"missing": np.isnan(values), "infinite": np.isinf(values)}
    if bounds is not None:
        lo, hi = bounds
        marks["below"], marks["above"] = valid & (values < lo), valid & (values > hi)
    return marks
