"""Buckets of the float64 line on an engine, in one pass, with identical integers on all engines."""

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
    Aggregate,
    added_up,
    budget_and_person,
    by_person,
    few_budgets,
    floats,
    of_somebody,
    with_ones,
)
from epsilons.door.engines.floats import finite, rounded, stirred
from epsilons.door.engines.labels_engine import sent_along
from epsilons.door.engines.running import as_floats, as_integers, collected, guarded
from epsilons.door.engines.table import engine_of
from epsilons.door.given.columns import Columns
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["budgets", "count", "weigh"]

RUNS: Final = 4
"""In order of budget, weights form runs of equal weights. If there are at most this many runs, the
weight of a budget is found by comparisons instead of a lookup."""

MOST: Final = 4096
"""The largest number of budgets that can be looked up for each row."""

_PEOPLE: Final[dict[str, Aggregate]] = {"people": ("", "rows")}


def count(table: Columns, window: Window | None) -> LineGroups:
    """Count people by level and bucket.

    Args:
        table: a frame with checked columns.
        window: the cells to count in; None for the whole line.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    grouped = isinstance(table.epsilon, str)
    folded = table.person is not None

    def run() -> nw.DataFrame[Any]:
        return collected(_query(table, window, grouped=grouped, folded=folded), table.passed)

    result = guarded(table.failure, run)
    size, people = len(result), as_integers(result["people"])
    cells = as_floats(result["cell"]) if window is None else as_integers(result["cell"])
    given = as_floats(result["e"]) if grouped else np.full(size, table.epsilon)
    budgets = in_range(given)
    usable = budgets >= 0.0
    gone = people[cells == (NO_KEY if window is None else NO_CELL)]
    faults = Faults(missing=int(gone.sum()), most=1)
    if folded and size:
        faults = Faults(
            missing=int(as_integers(result["missing"]).sum()),
            conflicts=int(as_integers(result["conflicts"]).sum()) if grouped else 0,
            nobody=int((people - as_integers(result["somebody"])).sum()),
            most=int(as_integers(result["most"]).max()),
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
    """Count people by exact budget, for tables without ids and with few budgets.

    Args:
        table: a frame with checked columns. Only the column of budgets is read.

    Returns:
        The budgets as given (NaN for null), and the number of people with each; None if there can
        be many budgets.

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
        return collected(added_up(rows, ["e"], _PEOPLE), table.passed)

    result = guarded(table.failure, run)
    if result is None or len(result) > MOST:
        return None
    return as_floats(result["e"]), as_integers(result["people"])


def weigh(
    table: Columns, window: Window | None, own: Floats, weights: Sequence[Integers]
) -> tuple[Floats | Integers, list[Integers]]:
    """Add up the weights of people by bucket, for tables in which every row is its own person.

    Args:
        table: a frame with checked columns.
        window: the cells to count in; None for the whole line.
        own: the budgets of people who have a weight, ascending and distinct, without NaN.
        weights: one or more arrays; each holds a person's weight by budget.

    Returns:
        The bucket of each group, as a float or as an index in a window, as in `LineGroups`; and for
        each array of weights the sum over the people in the bucket.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    plain = replace(table, ladder=None)
    columns = {f"w{k}": each for k, each in enumerate(weights)}

    def run() -> nw.DataFrame[Any]:
        value = floats(plain, plain.values)
        # After rounding, values that are not finite are NaN, and null is null. Both are missing.
        cell = _bucket(value) if window is None else _cell(value, finite(value), window)
        rows = plain.frame.select(cell.alias("cell"), *budget_and_person(plain))
        rows = _with_weights(rows, own, columns)
        totals: dict[str, Aggregate] = {name: (name, "sum") for name in columns}
        return collected(added_up(rows, ["cell"], totals), table.passed)

    result = guarded(table.failure, run)
    sums = [as_integers(result[name]) for name in columns]
    if window is not None:
        return as_integers(result["cell"]), sums
    cells = as_floats(result["cell"])
    return np.where(np.isnan(cells), NO_KEY, cells), sums


def _with_weights(
    rows: nw.LazyFrame[Any], own: Floats, columns: Mapping[str, Integers]
) -> nw.LazyFrame[Any]:
    """Add the weight of each budget `e`; null if the budget is not in `own`.

    If most people have the same weight, as with a cap, comparisons are a third faster than a
    lookup. They are used only in Polars, which compares NaN as larger than all numbers. DuckDB can
    evaluate comparisons from the minimum and maximum in a file's metadata, which ignore NaN.
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
    """Return a query for people by level and bucket: `key`, `e`, `cell`, `people`, and flags."""
    import narwhals as nw

    value = floats(table, table.values)
    valid = finite(value)
    by, totals = ["cell"], _PEOPLE
    if folded:
        rows = table.frame.select(nw.when(valid).then(value).alias("v"), *budget_and_person(table))
        extremes: dict[str, Aggregate] = {"low": ("v", "min"), "high": ("v", "max")}
        rows = by_person(rows, {"valid": ("v", "count"), **extremes})
        # Halve first: the sum can overflow.
        own = [
            (nw.col("low") / 2.0 + nw.col("high") / 2.0).alias("v"),
            (nw.col("size").cast(nw.Int64) - nw.col("valid").cast(nw.Int64)).alias("missing"),
        ]
        if grouped:
            own.append((nw.col("e") != nw.col("e_max")).cast(nw.Int64).alias("conflict"))
            totals = totals | {"conflicts": ("conflict", "sum")}
        rows = with_ones(rows, table.size).with_columns(*own)
        totals = totals | {"somebody": of_somebody(rows), "most": ("size", "max")}
        totals = totals | {"missing": ("missing", "sum")}
        value = nw.col("v")
        rows = rows.with_columns(_cell(value, finite(value), window).alias("cell"))
    else:
        cell = _cell(value, valid, window).alias("cell")
        rows = table.frame.select(cell, *budget_and_person(table))
    if grouped:
        rows = rows.with_columns(nw.col("e") + 0.0)
        rows = rows.with_columns(_coarse(nw.col("e")).alias("key"))
        by, totals = ["cell", "key"], totals | {"e": ("e", "min")}
    return added_up(rows, by, totals)


def _cell(value: nw.Expr, valid: nw.Expr, window: Window | None) -> nw.Expr:
    """Return the bucket of a value: `line.rounded`, or the index of a cell in the window."""
    import narwhals as nw

    if window is not None:
        steps = ((value - window.lo) * (1.0 / window.width)).clip(-0.5, window.cells + 0.5).floor()
        return nw.when(valid).then(steps).otherwise(float(NO_CELL)).cast(nw.Int64)
    return nw.when(valid).then(_bucket(value)).otherwise(NO_KEY)


def _bucket(value: nw.Expr) -> nw.Expr:
    """Return the bucket of a finite value on the line: `line.rounded`."""
    scaled = value * SHRINK
    product = scaled * LINE_SPLITTER
    return product - (product - scaled)


def _coarse(budget: nw.Expr) -> nw.Expr:
    """Return the key of a budget's level for a group-by: `line.coarse`, then `stirred`."""
    import narwhals as nw

    fine = rounded(budget)
    product = fine * LEVEL_SPLITTER
    return nw.when(budget <= HUGE).then(stirred(product - (product - fine))).otherwise(budget)
