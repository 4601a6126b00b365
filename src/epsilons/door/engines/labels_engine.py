"""Declared labels on an engine: values of rows as the engine stores them, and their cells.

Text and integers are unchanged until rows are grouped. They are then compared only once per group,
and a dictionary of text is never decoded. After that, all values in no category are merged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from epsilons.door.engines.entries import Spelling, spelt
from epsilons.door.engines.expressions import budget_and_person, floats
from epsilons.door.engines.floats import a_number, exactly
from epsilons.door.engines.running import as_integers
from epsilons.door.engines.table import EngineKind, engine_of
from epsilons.door.given.categories import MISSING, UNDECLARED, Categories
from epsilons.door.given.columns import Columns
from epsilons.errors import ArgumentError
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

__all__ = [
    "BRANCHES",
    "Labels",
    "added",
    "bins",
    "cells_in",
    "index_among",
    "labels_of",
    "marked",
    "numbers_of",
    "placed",
    "sent_along",
    "sorted_out",
    "with_places",
]


# Many categories: the engine looks them up in a small table that is sent to it.
#
# A few categories are written into the query, but many would make it too long. Without categories,
# the engine would return every distinct value, possibly one for each row. So a table of the
# categories is sent to the engine and joined there.

Lookup: TypeAlias = dict[str, list[Any]]
"""A small table to send to an engine: its columns by name."""

BRANCHES: Final = 64
"""The branching factor of the search tree over breaks. Each step compares a value with the breaks
of one node, so a search has few steps."""


def added(terms: Sequence[nw.Expr]) -> nw.Expr:
    """Return the sum of expressions as a shallow tree: engines limit the depth of queries."""
    while len(terms) > 1:
        pairs = [terms[i] + terms[i + 1] for i in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[len(pairs) * 2 :]]
    return terms[0]


def with_places(
    rows: nw.LazyFrame[Any], column: str, labels: Sequence[str | bytes | int], place: str
) -> nw.LazyFrame[Any]:
    """Add the index of each row's value among `labels`, or -1 if it is not a label.

    Args:
        rows: a frame of any engine.
        column: the column of values. It has the same type as the labels.
        labels: distinct labels.
        place: the name of the new column.
    """
    import narwhals as nw

    table = sent_along(rows, {column: list(labels), place: list(range(len(labels)))})
    joined = rows.join(table, on=column, how="left")
    # pandas converts integers with nulls to floats.
    return joined.with_columns(nw.col(place).fill_null(-1).cast(nw.Int64))


def index_among(rows: nw.LazyFrame[Any], column: str, breaks: Floats) -> nw.LazyFrame[Any]:
    """Replace each number by the number of breaks at or below it, as a 64-bit integer.

    The index of NaN and null is arbitrary, so the caller must test for them first.

    Args:
        rows: a frame of any engine.
        column: the column of floats.
        breaks: any number of ascending breaks. Each row is compared with `BRANCHES` at a time.
    """
    import narwhals as nw

    value, place = nw.col(column), "place of " + column
    block = BRANCHES
    while block < len(breaks):
        block *= BRANCHES
    first = np.arange(block // BRANCHES, len(breaks), block // BRANCHES)
    rows = rows.with_columns(_at_or_above(value, breaks[first].tolist()).alias(place))
    while block > BRANCHES:
        block //= BRANCHES
        step = block // BRANCHES
        # The first break of each block is omitted: it was compared when the block was selected.
        starts = np.arange(0, len(breaks), block)
        within = np.arange(step, block, step)
        columns: dict[str, list[Any]] = {place: list(range(len(starts)))}
        for branch, offset in enumerate(within.tolist()):
            at = starts + offset
            columns[f"break {branch}"] = [
                float(breaks[i]) if i < len(breaks) else None for i in at.tolist()
            ]
        rows = rows.join(sent_along(rows, columns), on=place, how="left")
        passed = [
            (value >= nw.col(f"break {branch}")).fill_null(False).cast(nw.Int64)
            for branch in range(len(within))
        ]
        rows = rows.with_columns((nw.col(place) * BRANCHES + added(passed)).alias(place))
        rows = rows.drop(*[f"break {branch}" for branch in range(len(within))])
    # So far, values below the first break have the same index as values just above it.
    below = (value < float(breaks[0])).fill_null(False).cast(nw.Int64)
    return rows.with_columns((nw.col(place) + 1 - below).alias(column)).drop(place)


def _at_or_above(value: nw.Expr, breaks: list[float]) -> nw.Expr:
    """Return the number of breaks that a value is at or above."""
    import narwhals as nw

    if not breaks:
        return nw.lit(0, dtype=nw.Int64)
    return added([(value >= point).fill_null(False).cast(nw.Int64) for point in breaks])


def sent_along(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    """Create a small table on the engine of a frame.

    Raises:
        ArgumentError: for this engine, no way to send a table is known.
    """
    makers: dict[EngineKind, Callable[[nw.LazyFrame[Any], Lookup], nw.LazyFrame[Any]]] = {
        "polars": _in_memory,
        "pandas": _in_memory,
        "pyarrow": _on_pyarrow,
        "duckdb": _on_duckdb,
        "spark": _on_spark,
        "ibis": _on_ibis,
        "dask": _on_dask,
    }
    engine = engine_of(frame)
    if engine.kind not in makers:
        raise ArgumentError(
            f"categories: there are too many for a query on {engine.name}. "
            "Declare fewer of them, or give data on another engine."
        )
    return makers[engine.kind](frame, columns)


def _in_memory(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import narwhals as nw

    return nw.from_dict(columns, backend=frame.implementation).lazy()


def _on_pyarrow(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    """Return a table with the frame's text type: PyArrow has two, and joins only equal types."""
    import pyarrow as pa

    native: Any = frame.to_native()
    types = {field.name: field.type for field in native.schema}
    made = {name: pa.array(items, types.get(name)) for name, items in columns.items()}
    return _lazy(pa.table(made))


def _on_duckdb(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    """Create a relation by a query on the frame, which runs on the frame's connection."""
    native: Any = frame.to_native()
    lists = ", ".join(f'unnest({_sql(items)}) AS "{name}"' for name, items in columns.items())
    return _lazy(native.query("ours", f"SELECT {lists}"))


def _on_spark(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import pyarrow as pa

    native: Any = frame.to_native()
    return _lazy(native.sparkSession.createDataFrame(pa.table(columns)))


def _on_ibis(_: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import ibis
    import pyarrow as pa

    return _lazy(ibis.memtable(pa.table(columns)))


def _on_dask(_: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import dask.dataframe as dd
    import pandas as pd

    return _lazy(dd.from_pandas(pd.DataFrame(columns), npartitions=1))


def _lazy(native: Any) -> nw.LazyFrame[Any]:
    import narwhals as nw

    frame: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    return frame


def _sql(items: list[Any]) -> str:
    """Return a list as DuckDB SQL. Floats are exact, because they are parsed from strings."""

    def literal(item: Any) -> str:
        if item is None:
            return "NULL"
        if isinstance(item, bytes):
            return f"from_hex('{item.hex()}')"
        return f"'{item!r}'::DOUBLE" if isinstance(item, float) else str(int(item))

    return "[" + ", ".join(map(literal, items)) + "]"


Labels = list[str] | list[bytes] | list[int]
"""Categories in the same form as the values of a table."""

MOST_LISTED = 4096
"""The largest number of categories that are listed in a query. More are looked up in a table."""

MOST_BREAKS = 256
"""The largest number of breaks between bins that are compared in a query. More are searched in a
table."""


def labels_of(categories: Categories, spelling: Spelling) -> Labels:
    """Return the declared labels in the same form as the values of the table."""
    declared = categories.declared
    return spelt(declared, spelling) if categories.kind == "text" else list(declared)


def bins(table: Columns, column: str, categories: Categories, name: str) -> list[nw.Expr]:
    """Return a column of numbers as `name`, and with many breaks also whether it is a number.

    A number is replaced by its index among the breaks of bins, or -1 if it is missing. If there are
    too many breaks for a query, `placed` finds the index later.

    Raises:
        ArgumentError: the engine cannot search this many breaks.
    """
    import narwhals as nw

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
    """Replace the numbers of bins by their indices among many breaks, if `bins` did not."""
    import narwhals as nw

    if categories.breaks.size <= MOST_BREAKS:
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
    """Merge all values in no category. The column `out` is 1 for these, 2 for null, otherwise 0.

    With many categories, values are replaced by their indices among the labels. Bins are unchanged.
    """
    import narwhals as nw

    if categories.kind == "bins":
        return _bins_sorted_out(parts, categories, name, out)
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
        # Dask cannot cast null, and a cast of a number that is too large would fail.
        nothing = nw.lit(False) if dtype == nw.Boolean else nw.lit(0)
        value = nw.when(inside.fill_null(False)).then(value).otherwise(nothing).cast(nw.Int64)
    listed = len(labels) <= MOST_LISTED
    if listed:
        inside = inside & value.is_in(labels)
    inside = inside.fill_null(False)
    is_out = (~inside).cast(nw.Int8) + null.cast(nw.Int8)
    # Undeclared values are replaced by a label. With a null, pandas would convert integers to
    # floats, and engines differ in how they join nulls.
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


def _bins_sorted_out(
    parts: nw.LazyFrame[Any], categories: Categories, name: str, out: str
) -> nw.LazyFrame[Any]:
    """Add the column `out` for bins: 1 for undeclared values, 2 for missing ones, otherwise 0."""
    import narwhals as nw

    index = nw.col(name).cast(nw.Int64)
    without = np.flatnonzero(categories.cells == UNDECLARED).tolist()
    missing, undeclared = index < 0, index.is_in(without) if without else index < -1
    place = f"place of {name}"
    if len(without) > MOST_LISTED:
        parts = with_places(parts.with_columns(index.alias(name)), name, without, place)
        undeclared = nw.col(place) >= 0
    is_out = undeclared.cast(nw.Int8) + 2 * missing.cast(nw.Int8)
    parts = parts.with_columns(is_out.alias(out))
    return parts.drop(place) if len(without) > MOST_LISTED else parts


def numbers_of(
    rows: nw.LazyFrame[Any],
    name: str,
    categories: Categories,
    spelling: Spelling,
    numbers: Callable[[Integers], Floats],
) -> nw.LazyFrame[Any]:
    """Replace each value by the number that belongs to its cell.

    Args:
        rows: a frame of any engine.
        name: the column of values.
        categories: a few declared categories.
        spelling: the form of the text of values.
        numbers: the number of each cell, and of `UNDECLARED`.
    """
    import narwhals as nw

    labels, out = labels_of(categories, spelling), f"{name} out"
    rows = sorted_out(rows, labels, categories, name, out)
    each = numbers(np.arange(-1, len(labels))).tolist()
    none, *own = (nw.lit(n) if math.isinf(n) else exactly(n, rows) for n in each)
    number = none
    for label, its in zip(labels, own, strict=True):
        number = nw.when(nw.col(name).is_in([label])).then(its).otherwise(number)
    number = nw.when(nw.col(out) == 0).then(number).otherwise(none)
    return rows.with_columns(number.alias(name)).drop(out)


def marked(table: Columns, categories: Categories) -> nw.LazyFrame[Any]:
    """Return 1 or 0 for whether each row is `missing` or `undeclared`, with `e` and `who`."""
    import narwhals as nw

    own = budget_and_person(table)
    if categories.kind == "bins":
        value = bins(table, table.values, categories, "v")
        rows = placed(table.frame.select(*value, *own), "v", categories)
    else:
        rows = table.frame.select(nw.col(table.values).alias("v"), *own)
    rows = sorted_out(rows, labels_of(categories, table.spelling), categories)
    missing, undeclared = nw.col("out") == 2, nw.col("out") == 1
    kept = [name for name in ("e", "who") if name in rows.collect_schema()]
    marks = {"missing": missing.cast(nw.Int64), "undeclared": undeclared.cast(nw.Int64)}
    return rows.select(*kept, **marks)


def cells_in(
    result: nw.DataFrame[Any],
    labels: Labels,
    categories: Categories,
    name: str = "v",
    out: str = "out",
) -> Integers:
    """Return the cell of every value in the result: an index, `UNDECLARED` or `MISSING`."""
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
        if len(found) <= MOST_LISTED:  # a join would take longer
            places = dict(zip(labels, range(len(labels)), strict=True))
            own = map(places.get, found.to_list(), repeat(UNDECLARED))
            cell = np.fromiter(own, dtype=np.int64, count=len(found))
        else:
            table = pl.DataFrame({"v": pl.Series(labels, dtype=dtype), "cell": range(len(labels))})
            met = found.alias("v").to_frame().join(table, on="v", how="left", maintain_order="left")
            cell = met["cell"].cast(pl.Int64).fill_null(UNDECLARED).to_numpy()
    return np.where(is_out == 0, cell, np.where(is_out == 1, UNDECLARED, MISSING))
