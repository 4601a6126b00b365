"""Buckets of the float64 line on an engine: one query, one pass, the same integers everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.ladder import HUGE
from epsilons.tally.collect import collected
from epsilons.tally.columns import Columns
from epsilons.tally.expressions import (
    belongs_to_nobody,
    budget_and_person,
    floats,
)
from epsilons.tally.failures import guarded
from epsilons.tally.ieee import finite, rounded, stirred
from epsilons.tally.levels import BAD_BUDGET
from epsilons.tally.line import (
    LEVEL_SPLITTER,
    LINE_SPLITTER,
    NO_CELL,
    NO_KEY,
    SHRINK,
    LineGroups,
    Window,
    coarse,
)
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["count"]


def count(table: Columns, window: Window | None) -> LineGroups:
    """Count people by level and bucket.

    Args:
        table: a frame with checked columns.
        window: cells to zoom in on; None for the whole line.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    grouped = isinstance(table.epsilon, str)
    folded = table.person is not None
    result = guarded(
        lambda: collected(_query(table, window, grouped=grouped, folded=folded), table.passed),
        *table.failure,
    )
    size = len(result)
    budgets = _floats(result, "e") if grouped else np.full(size, table.epsilon)
    usable = budgets >= 0.0
    nothing = np.zeros(1, dtype=np.int64)
    return LineGroups(
        keys=np.where(usable, coarse(np.where(usable, budgets, 0.0)), BAD_BUDGET),
        budgets=np.where(usable, budgets, BAD_BUDGET),
        cells=_floats(result, "cell") if window is None else _whole(result, "cell"),
        people=_whole(result, "people"),
        conflicts=_whole(result, "conflicts") if folded and size else nothing,
        nobody=_whole(result, "nobody") if folded and size else nothing,
        most=_whole(result, "most") if folded and size else nothing + 1,
    )


def _query(
    table: Columns, window: Window | None, *, grouped: bool, folded: bool
) -> nw.LazyFrame[Any]:
    """People by level and bucket: `key`, `e`, `cell`, `people`, and flags."""
    import narwhals as nw

    value = floats(table, table.values)
    valid = finite(value)
    if folded:
        rows = table.frame.select(nw.when(valid).then(value).alias("v"), *budget_and_person(table))
        rows = _fold(rows, budgets=grouped)
        value = nw.col("v")
        valid = finite(value)
        rows = rows.with_columns(_cell(value, valid, window).alias("cell"))
    else:
        cell = _cell(value, valid, window).alias("cell")
        rows = table.frame.select(cell, *budget_and_person(table))
    totals = [nw.len().alias("people")]
    by = ["cell"]
    if grouped:
        rows = rows.with_columns(nw.col("e") + 0.0)
        rows = rows.with_columns(_coarse(nw.col("e")).alias("key"))
        by.append("key")
        totals.append(nw.col("e").min().alias("e"))
    if folded:
        totals += [
            nw.col("conflict").sum().alias("conflicts"),
            nw.col("nobody").sum().alias("nobody"),
            nw.col("rows").max().alias("most"),
        ]
    return rows.group_by(*by).agg(*totals)


def _fold(rows: nw.LazyFrame[Any], *, budgets: bool) -> nw.LazyFrame[Any]:
    """Make one row of each person: halfway between their extremes, at their smallest budget."""
    import narwhals as nw

    of_person = [
        nw.len().alias("rows"),
        nw.col("v").min().alias("low"),
        nw.col("v").max().alias("high"),
    ]
    if budgets:
        of_person += [nw.col("e").min().alias("e"), nw.col("e").max().alias("e_max")]
    people = rows.group_by("who").agg(*of_person)
    conflict = nw.col("e") != nw.col("e_max") if budgets else nw.col("rows") < 0
    return people.select(
        *([nw.col("e")] if budgets else []),
        (nw.col("low") / 2.0 + nw.col("high") / 2.0).alias("v"),
        nw.col("rows").cast(nw.Int64),
        conflict.cast(nw.Int64).alias("conflict"),
        belongs_to_nobody(rows).cast(nw.Int64).alias("nobody"),
    )


def _cell(value: nw.Expr, valid: nw.Expr, window: Window | None) -> nw.Expr:
    """The bucket of a value: `line.rounded`, or the index of a cell of the window."""
    import narwhals as nw

    if window is not None:
        steps = ((value - window.lo) * (1.0 / window.width)).clip(-0.5, window.cells + 0.5).floor()
        return nw.when(valid).then(steps).otherwise(float(NO_CELL)).cast(nw.Int64)
    scaled = value * SHRINK
    product = scaled * LINE_SPLITTER
    return nw.when(valid).then(product - (product - scaled)).otherwise(NO_KEY)


def _coarse(budget: nw.Expr) -> nw.Expr:
    """What budgets of one level have in common, to group by: `line.coarse`, stirred."""
    import narwhals as nw

    fine = rounded(budget)
    product = fine * LEVEL_SPLITTER
    return nw.when(budget <= HUGE).then(stirred(product - (product - fine))).otherwise(budget)


def _floats(result: nw.DataFrame[Any], name: str) -> Floats:
    """A column of numbers in NumPy, NaN for null."""
    series = result[name]
    if series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    return np.array(series.to_list(), dtype=np.float64)


def _whole(result: nw.DataFrame[Any], name: str) -> Integers:
    """A column of integers in NumPy."""
    return np.asarray(result[name].to_numpy(), dtype=np.int64)
