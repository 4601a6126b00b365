"""Declared labels on an engine: the value of a row, as its engine holds it, and the cell it is in.

Text and integers stay as they are until rows are grouped, so that they are compared once for each
group and a dictionary of text is never written out. What is in no category is then made one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.tally.bytewise import Spelling, spelt
from epsilons.tally.categories import MISSING, UNDECLARED, Categories
from epsilons.tally.columns import Columns
from epsilons.tally.engines import engine_of
from epsilons.tally.expressions import budget_and_person, floats
from epsilons.tally.ieee import a_number
from epsilons.tally.lookup import added, index_among, with_places
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = [
    "Labels",
    "as_floats",
    "as_integers",
    "cells_in",
    "labels_of",
    "marked",
    "outside",
    "placed",
    "sorted_out",
    "values",
]

Labels = list[str] | list[bytes] | list[int]
"""Categories as the values of a table are written."""

MOST_LISTED = 4096
"""Categories that are listed in a query. More are looked up in a table that is sent along."""

MOST_BREAKS = 256
"""Breaks between bins that are compared in a query. More are searched in such a table."""


def labels_of(categories: Categories, spelling: Spelling) -> Labels:
    """Return what is declared, as the values of the table are written."""
    declared = categories.declared
    return spelt(declared, spelling) if categories.kind == "text" else list(declared)


def values(table: Columns, column: str, categories: Categories, name: str) -> list[nw.Expr]:
    """Return a column of values, called `name`, and whether it is there, if `placed` has to know.

    It is the value as it is; for bins its index among the breaks, or -1 if it is missing, where
    `placed` follows.

    Raises:
        ArgumentError: the engine cannot search so many breaks.
    """
    import narwhals as nw

    if categories.kind != "bins":
        return [nw.col(column).alias(name)]
    engine, value = engine_of(table.frame), floats(table, column)
    there = a_number(value)
    if categories.breaks.size > MOST_BREAKS:
        if table.person is not None and not engine.joins:
            raise ArgumentError(
                f"categories: {engine.name} takes at most {MOST_BREAKS} ends of bins together "
                "with person. Declare fewer bins, or give data on another engine."
            )
        return [value.alias(name), there.alias(f"{name} is there")]
    passed = [value >= point for point in categories.breaks.tolist()]
    if engine.compares_null:
        passed = [each.fill_null(False) for each in passed]
    above = [each.cast(nw.Int16) for each in passed]
    index = added(above).cast(nw.Int16)
    return [nw.when(there).then(index).otherwise(nw.lit(-1, dtype=nw.Int16)).alias(name)]


def placed(rows: nw.LazyFrame[Any], name: str, categories: Categories) -> nw.LazyFrame[Any]:
    """Search numbers among very many breaks, where `values` has left that to do."""
    import narwhals as nw

    if categories.kind != "bins" or categories.breaks.size <= MOST_BREAKS:
        return rows
    there = f"{name} is there"
    rows = index_among(rows, name, categories.breaks)
    index = nw.when(nw.col(there)).then(nw.col(name)).otherwise(-1)
    return rows.with_columns(index.alias(name)).drop(there)


def sorted_out(
    parts: nw.LazyFrame[Any],
    labels: Labels,
    categories: Categories,
    name: str = "v",
    out: str = "out",
) -> nw.LazyFrame[Any]:
    """Make one value of all that is in no category: `out` is 1 for these, and 2 for null.

    If there are very many categories, the value is the place among them. Bins are left as they are.
    """
    import narwhals as nw

    if categories.kind == "bins":
        return parts
    dtype = parts.collect_schema()[name]
    value = nw.col(name)
    null = value.is_null()
    inside = ~null
    if categories.kind == "text":
        if dtype not in (nw.String, nw.Binary):
            value = value.cast(nw.String)
    else:
        if dtype in (nw.UInt64, nw.Int128, nw.UInt128):
            inside = inside & (value <= 2**63 - 1)
            if dtype == nw.Int128:
                inside = inside & (value >= -(2**63))
        # Dask has no null to cast, and a cast of what is too large would fail.
        nothing = nw.lit(False) if dtype == nw.Boolean else nw.lit(0)
        value = nw.when(inside.fill_null(False)).then(value).otherwise(nothing).cast(nw.Int64)
    listed = len(labels) <= MOST_LISTED
    if listed:
        inside = inside & value.is_in(labels)
    inside = inside.fill_null(False)
    is_out = (~inside).cast(nw.Int64) + null.cast(nw.Int64)
    # A label stands in for what is out: a null would make floats of integers in pandas, and is not
    # joined alike by all engines.
    parts = parts.with_columns(
        nw.when(inside).then(value).otherwise(nw.lit(labels[0])).alias(name), is_out.alias(out)
    )
    if listed:
        return parts
    place = f"place of {name}"
    parts = with_places(parts, name, labels, place)
    is_out, found = nw.col(out), nw.col(place)
    return parts.with_columns(
        nw.when(is_out == 0).then(found).otherwise(-1).alias(name),
        nw.when((is_out == 0) & (found < 0)).then(1).otherwise(is_out).alias(out),
    ).drop(place)


def outside(
    parts: nw.LazyFrame[Any], categories: Categories, name: str = "v", out: str = "out"
) -> nw.LazyFrame[Any]:
    """Add `out` for bins, too: what `sorted_out` adds for all others."""
    import narwhals as nw

    if categories.kind != "bins":
        return parts
    index = nw.col(name).cast(nw.Int64)
    without = np.flatnonzero(categories.cells == UNDECLARED).tolist()
    missing, undeclared = index < 0, index.is_in(without) if without else index < -1
    place = f"place of {name}"
    if len(without) > MOST_LISTED:
        parts = with_places(parts.with_columns(index.alias(name)), name, without, place)
        undeclared = nw.col(place) >= 0
    is_out = undeclared.cast(nw.Int64) + 2 * missing.cast(nw.Int64)
    parts = parts.with_columns(is_out.alias(out))
    return parts.drop(place) if len(without) > MOST_LISTED else parts


def marked(table: Columns, categories: Categories) -> nw.LazyFrame[Any]:
    """Return whether the value of each row is `missing` or `undeclared`, 1 or 0; `e` and `who`."""
    import narwhals as nw

    value = values(table, table.values, categories, "v")
    rows = placed(table.frame.select(*value, *budget_and_person(table)), "v", categories)
    rows = sorted_out(rows, labels_of(categories, table.spelling), categories)
    rows = outside(rows, categories)
    missing, undeclared = nw.col("out") == 2, nw.col("out") == 1
    own = [name for name in ("e", "who") if name in rows.collect_schema()]
    return rows.select(
        missing.cast(nw.Int64).alias("missing"), undeclared.cast(nw.Int64).alias("undeclared"), *own
    )


def cells_in(
    result: nw.DataFrame[Any],
    labels: Labels,
    categories: Categories,
    name: str = "v",
    out: str = "out",
) -> Integers:
    """Return the cell of every value that came back, `UNDECLARED` or `MISSING`."""
    import polars as pl

    if categories.kind == "bins":
        index = as_integers(result[name])
        return np.where(index < 0, MISSING, categories.cells[index])
    is_out = as_integers(result[out])
    if len(labels) > MOST_LISTED:
        cell = as_integers(result[name])
    else:
        dtype = {str: pl.String, bytes: pl.Binary, int: pl.Int64}[type(labels[0])]
        found = result[name].to_native()
        if not isinstance(found, pl.Series):
            found = pl.Series("v", result[name].to_list(), dtype=dtype)
        cell = _places(found, pl.Series(labels, dtype=dtype))
    return np.where(is_out == 0, cell, np.where(is_out == 1, UNDECLARED, MISSING))


def _places(found: pl.Series, labels: pl.Series) -> Integers:
    """The place of each value among labels, or `UNDECLARED`."""
    import polars as pl

    if len(found) <= MOST_LISTED:  # a join of a few takes longer
        places = {label: place for place, label in enumerate(labels.to_list())}
        return np.array(
            [places.get(value, UNDECLARED) for value in found.to_list()], dtype=np.int64
        )
    table = pl.DataFrame({"v": labels, "cell": range(len(labels))})
    met = found.alias("v").to_frame().join(table, on="v", how="left", maintain_order="left")
    return met["cell"].cast(pl.Int64).fill_null(UNDECLARED).to_numpy()


def as_floats(series: nw.Series[Any]) -> Floats:
    """Return numbers in NumPy, NaN for null."""
    if series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    return np.array(series.to_list(), dtype=np.float64)


def as_integers(series: nw.Series[Any]) -> Integers:
    """Return integers in NumPy."""
    return np.asarray(series.to_numpy(), dtype=np.int64)
