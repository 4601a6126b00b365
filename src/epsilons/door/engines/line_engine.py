"""Buckets of the float64 line on an engine: one query, one pass, the same integers everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.budgets.levels import HUGE, in_range, moved
from epsilons.door.count.asks import BAD_BUDGET, Faults
from epsilons.door.count.line import (
    LEVEL_SPLITTER,
    LINE_SPLITTER,
    NO_CELL,
    NO_KEY,
    SHRINK,
    LineGroups,
    Window,
    coarse,
)
from epsilons.door.engines.expressions import (
    Total,
    added_up,
    belongs_to_nobody,
    budget_and_person,
    few_budgets,
    floats,
)
from epsilons.door.engines.floats import finite, rounded, stirred
from epsilons.door.engines.labels_engine import sent_along
from epsilons.door.engines.running import collected, guarded
from epsilons.door.engines.table import engine_of
from epsilons.door.given.columns import Columns
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["budgets", "count", "weigh"]

RUNS: Final = 4
"""The most runs of equal weights, in the order of budgets, that are found by comparisons."""

MOST: Final = 4096
"""The most budgets that are looked up for each row."""


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
    given = _floats(result, "e") if grouped else np.full(size, table.epsilon)
    budgets = in_range(given)
    usable = budgets >= 0.0
    cells = _floats(result, "cell") if window is None else _whole(result, "cell")
    people = _whole(result, "people")
    gone = people[cells == (NO_KEY if window is None else NO_CELL)]
    faults = Faults(missing=int(gone.sum()), most=1)
    if folded and size:
        faults = Faults(
            missing=int(_whole(result, "missing").sum()),
            conflicts=int(_whole(result, "conflicts").sum()),
            nobody=int(_whole(result, "nobody").sum()),
            most=int(_whole(result, "most").max()),
        )
    return LineGroups(
        keys=np.where(usable, coarse(np.where(usable, budgets, 0.0)), BAD_BUDGET),
        budgets=np.where(usable, budgets, BAD_BUDGET),
        cells=cells,
        people=people,
        faults=faults,
        moved=moved(given),
    )


def budgets(table: Columns) -> tuple[Floats, Integers] | None:
    """Count people by exact budget, NaN for null, where a row is a person and budgets are few.

    Args:
        table: a frame with checked columns. Only the column of budgets is read.

    Returns:
        The budgets, as they were given, and the people of each; None if budgets may be many.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    if table.person is not None or not isinstance(table.epsilon, str):
        return None
    plain = replace(table, ladder=None)

    def run() -> nw.DataFrame[Any] | None:
        if not few_budgets(plain):
            return None
        rows = plain.frame.select(*budget_and_person(plain))
        people: dict[str, Total] = {"people": ("", "rows")}
        return collected(added_up(rows, ["e"], people, table.passed), table.passed)

    result = guarded(run, *table.failure)
    if result is None or len(result) > MOST:
        return None
    return _floats(result, "e"), _whole(result, "people")


def weigh(
    table: Columns, window: Window | None, own: Floats, weights: Sequence[Integers]
) -> tuple[Floats | Integers, list[Integers]]:
    """Add the weights of people up by bucket, where a row is a person.

    Args:
        table: a frame with checked columns.
        window: cells to zoom in on; None for the whole line.
        own: the budgets of people who have a weight, ascending, all different, none of them NaN.
        weights: one or more sets of weights; each has the weight of a person by budget.

    Returns:
        The float (or the index in a window) of each bucket, as in `LineGroups`; and for each set of
        weights the sum over the people in it.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    plain = replace(table, ladder=None)
    columns = {f"w{k}": each for k, each in enumerate(weights)}

    def run() -> nw.DataFrame[Any]:
        value = floats(plain, plain.values)
        # Values that are not finite are NaN after rounding, and null stays null: both are missing.
        cell = _bucket(value) if window is None else _cell(value, finite(value), window)
        rows = plain.frame.select(cell.alias("cell"), *budget_and_person(plain))
        rows = _with_weights(rows, own, columns)
        totals: dict[str, Total] = {name: (name, "sum") for name in columns}
        return collected(added_up(rows, ["cell"], totals, table.passed), table.passed)

    result = guarded(run, *table.failure)
    sums = [_whole(result, name) for name in columns]
    if window is not None:
        return _whole(result, "cell"), sums
    cells = _floats(result, "cell")
    return np.where(np.isnan(cells), NO_KEY, cells), sums


def _with_weights(
    rows: nw.LazyFrame[Any], own: Floats, columns: Mapping[str, Integers]
) -> nw.LazyFrame[Any]:
    """Add the weights of the budget `e`, null for a budget that is not in `own`.

    If most people have the same weight, as with a cap, comparisons are a third faster than a
    lookup. In Polars, NaN is above all numbers in every comparison. DuckDB may decide comparisons
    by the extremes that a file states, which leave out NaN.
    """
    import narwhals as nw

    weights = np.stack(list(columns.values()))
    starts = [0, *(np.flatnonzero((np.diff(weights) != 0).any(axis=0)) + 1).tolist()]
    if len(starts) > RUNS or engine_of(rows).kind != "polars":
        along = {"e": own.tolist()} | {name: each.tolist() for name, each in columns.items()}
        return rows.join(sent_along(rows, along), on="e", how="left")
    budget = nw.col("e")
    known = (budget >= float(own[0])) & (budget <= float(own[-1]))
    made = []
    for name, each in columns.items():
        weight = nw.lit(int(each[0]), dtype=nw.Int64)
        for start in starts[1:]:
            more = nw.lit(int(each[start]), dtype=nw.Int64)
            weight = nw.when(budget >= float(own[start])).then(more).otherwise(weight)
        made.append(nw.when(known).then(weight).alias(name))
    return rows.with_columns(*made)


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
            nw.col("missing").sum(),
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
        nw.col("v").count().alias("valid"),
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
        (nw.col("rows").cast(nw.Int64) - nw.col("valid").cast(nw.Int64)).alias("missing"),
        conflict.cast(nw.Int64).alias("conflict"),
        belongs_to_nobody(rows).cast(nw.Int64).alias("nobody"),
    )


def _cell(value: nw.Expr, valid: nw.Expr, window: Window | None) -> nw.Expr:
    """The bucket of a value: `line.rounded`, or the index of a cell of the window."""
    import narwhals as nw

    if window is not None:
        steps = ((value - window.lo) * (1.0 / window.width)).clip(-0.5, window.cells + 0.5).floor()
        return nw.when(valid).then(steps).otherwise(float(NO_CELL)).cast(nw.Int64)
    return nw.when(valid).then(_bucket(value)).otherwise(NO_KEY)


def _bucket(value: nw.Expr) -> nw.Expr:
    """The bucket of a finite value on the line: `line.rounded`."""
    scaled = value * SHRINK
    product = scaled * LINE_SPLITTER
    return product - (product - scaled)


def _coarse(budget: nw.Expr) -> nw.Expr:
    """The key of a budget's level, to group by: `line.coarse`, stirred."""
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
