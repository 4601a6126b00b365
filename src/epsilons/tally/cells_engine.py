"""Cells on an engine: one query, one pass, the same integers on every engine.

Rows are grouped by budget and value as they are, so that text is compared once for each group and
a dictionary of text is never written out. What is in no category is then made one group, so that
no more comes back than levels × categories. With people of many rows, groups are also kept apart
by how many rows their people have: who shares, and how much, is then arithmetic of integers that
no engine does. That is at most levels × categories × different numbers of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.tally.bytewise import spelt
from epsilons.tally.categories import MISSING, UNDECLARED, Categories
from epsilons.tally.cells import CellGroups, Parts, add_up
from epsilons.tally.collect import collected
from epsilons.tally.columns import Columns
from epsilons.tally.engines import engine_of
from epsilons.tally.expressions import (
    belongs_to_nobody,
    budget_and_person,
    few_budgets,
    floats,
    with_key,
)
from epsilons.tally.failures import guarded
from epsilons.tally.ieee import a_number
from epsilons.tally.lookup import added, index_among, with_places
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["count", "each", "marked"]

Labels = list[str] | list[bytes] | list[int]
"""Categories as the values of a table are written."""

MOST_LISTED = 4096
"""Categories that are listed in a query. More are looked up in a table that is sent along."""

PIECE = 2**23
"""Rows that are counted at a time in Polars where groups are many: it keeps rows until the end
whose group is not among the last few thousand. Where they are few, all are counted at once."""

MOST_BREAKS = 256
"""Breaks between bins that are compared in a query. More are searched in such a table."""


def count(table: Columns, categories: Categories) -> CellGroups:
    """Count people and add up their shares by budget level and cell.

    Args:
        table: a frame with checked columns.
        categories: what was declared.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    grouped = isinstance(table.epsilon, str)
    folded = table.person is not None
    labels = _labels(table, categories)

    def run() -> nw.DataFrame[Any]:
        import narwhals as nw

        few = not grouped or folded or few_budgets(_rows(table, categories, indexed=True))
        found = []
        for piece in [table] if few else table.pieces(PIECE):
            rows = _rows(piece, categories, indexed=True)
            if folded:
                parts = _of_people(rows, budgets=grouped)
            else:
                parts = _of_rows(rows, budgets=grouped, few=few)
            parts = _sorted_out(parts, labels, categories, indexed=True)
            query = _parts(parts, budgets=grouped, folded=folded)
            found.append(collected(query, table.passed))
        return found[0] if len(found) == 1 else nw.concat(found)

    result = guarded(run, *table.failure)

    nothing = np.zeros(1, dtype=np.int64)
    return add_up(
        Parts(
            epsilon=_floats(result["e"]) if grouped else float(table.epsilon),
            cell=guarded(lambda: _cells(result, labels, categories, indexed=True), *table.failure),
            size=_whole(result["size"]),
            rows=_whole(result["rows"]) if folded else None,
            conflicts=_whole(result["conflict"]) if folded else nothing,
            nobody=_whole(result["nobody"]) if folded else nothing,
        ),
        categories,
    )


def each(table: Columns, categories: Categories) -> CellGroups:
    """Find the cell of every row of a frame in memory, in order, where a row is a person."""
    labels = _labels(table, categories)

    def run() -> nw.DataFrame[Any]:
        rows = _rows(table, categories, indexed=False)
        return _sorted_out(rows, labels, categories, indexed=False).collect()

    result = guarded(run, *table.failure)
    nothing = np.zeros(1, dtype=np.int64)
    return add_up(
        Parts(
            epsilon=_floats(result["e"])
            if isinstance(table.epsilon, str)
            else float(table.epsilon),
            cell=guarded(lambda: _cells(result, labels, categories, indexed=False), *table.failure),
            size=np.ones(len(result), dtype=np.int64),
            rows=None,
            conflicts=nothing,
            nobody=nothing,
        ),
        categories,
    )


def marked(table: Columns, categories: Categories) -> nw.LazyFrame[Any]:
    """Return whether the value of each row is `missing` or `undeclared`, 1 or 0; `e` and `who`."""
    import narwhals as nw

    rows = _rows(table, categories, indexed=True)
    rows = _sorted_out(rows, _labels(table, categories), categories, indexed=True)
    if categories.kind == "bins":
        index = nw.col("v").cast(nw.Int64)
        outside = np.flatnonzero(categories.cells == UNDECLARED).tolist()
        missing, undeclared = index < 0, index.is_in(outside) if outside else index < -1
        if len(outside) > MOST_LISTED:
            rows = with_places(rows.with_columns(index.alias("v")), "v", outside, "place")
            undeclared = nw.col("place") >= 0
    else:
        missing, undeclared = nw.col("out") == 2, nw.col("out") == 1
    own = [name for name in ("e", "who") if name in rows.collect_schema()]
    return rows.select(
        missing.cast(nw.Int64).alias("missing"), undeclared.cast(nw.Int64).alias("undeclared"), *own
    )


def _labels(table: Columns, categories: Categories) -> Labels:
    """Return what is declared, as the values of the table are written."""
    declared = categories.declared
    return spelt(declared, table.spelling) if categories.kind == "text" else list(declared)


def _rows(table: Columns, categories: Categories, *, indexed: bool) -> nw.LazyFrame[Any]:
    """Return `v`, `e` and `who` of every row.

    `v` is the value as it is; for bins, if `indexed`, its index among the breaks, or -1 if it is
    missing; and else the number, or null.
    """
    import narwhals as nw

    engine, value = engine_of(table.frame), nw.col(table.values)
    if categories.kind == "bins":
        value = floats(table, table.values)
        there = a_number(value)
        if not indexed:
            value = nw.when(there).then(value + 0.0)
        elif categories.breaks.size <= MOST_BREAKS:
            passed = [value >= point for point in categories.breaks.tolist()]
            if engine.compares_null:
                passed = [each.fill_null(False) for each in passed]
            above = [each.cast(nw.Int16) for each in passed]
            index = added(above).cast(nw.Int16)
            value = nw.when(there).then(index).otherwise(nw.lit(-1, dtype=nw.Int16))
        else:
            if table.person is not None and not engine.joins:
                raise ArgumentError(
                    f"categories: {engine.name} takes at most {MOST_BREAKS} ends of bins together "
                    "with person. Declare fewer bins, or give data on another engine."
                )
            own = budget_and_person(table)
            rows = table.frame.select(value.alias("v"), there.alias("there"), *own)
            rows = index_among(rows, "v", categories.breaks)
            index = nw.when(nw.col("there")).then(nw.col("v")).otherwise(-1)
            return rows.with_columns(index.alias("v")).drop("there")
    return table.frame.select(value.alias("v"), *budget_and_person(table))


def _of_rows(rows: nw.LazyFrame[Any], *, budgets: bool, few: bool) -> nw.LazyFrame[Any]:
    """Group rows that are people by budget and value: `size`, and `e`."""
    import narwhals as nw

    size = nw.len().alias("size")
    if not budgets:
        return rows.group_by("v").agg(size)
    if few:
        return rows.group_by("e", "v").agg(size)
    return with_key(rows).group_by("key", "v").agg(size, nw.col("e").min().alias("e"))


def _of_people(rows: nw.LazyFrame[Any], *, budgets: bool) -> nw.LazyFrame[Any]:
    """Give every row the smallest `e` of its person, how many `rows` they have, and flags.

    A window over rows is twice as fast as groups by person and value, of which there are nearly as
    many as rows; and unlike a join it reads the data once.
    """
    import narwhals as nw

    parts = rows.with_columns(nw.lit(1, dtype=nw.Int64).alias("size"))
    if not engine_of(rows).windows:
        parts = _joined(parts, budgets=budgets)
    else:
        own = [nw.col("size").sum().over("who").alias("rows")]
        if budgets:
            own += [nw.col("e").min().over("who"), nw.col("e").max().over("who").alias("e_max")]
        parts = parts.with_columns(*own)
    conflict = nw.col("e") != nw.col("e_max") if budgets else nw.col("rows") < 0
    parts = parts.with_columns(
        conflict.cast(nw.Int64).alias("conflict"),
        belongs_to_nobody(rows).cast(nw.Int64).alias("nobody"),
    )
    by = ["v", "rows", *(["e"] if budgets else [])]
    return parts.group_by(*by).agg(
        nw.col("size").sum(), nw.col("conflict").max(), nw.col("nobody").max()
    )


def _joined(parts: nw.LazyFrame[Any], *, budgets: bool) -> nw.LazyFrame[Any]:
    """Do by one join what is done elsewhere by windows."""
    import narwhals as nw

    own = [nw.len().alias("rows")]
    if budgets:
        own += [nw.col("e").min().alias("e_min"), nw.col("e").max().alias("e_max")]
    people = parts.group_by("who").agg(*own)
    parts = parts.join(people, on="who", how="left")
    # Nobody is joined to nobody: what is null then has no meaning, and is refused or left out.
    parts = parts.with_columns(nw.col("rows").fill_null(1).cast(nw.Int64))
    if not budgets:
        return parts
    least = nw.when(nw.col("e_min").is_null()).then(nw.col("e")).otherwise(nw.col("e_min"))
    most = nw.when(nw.col("e_max").is_null()).then(nw.col("e")).otherwise(nw.col("e_max"))
    return parts.with_columns(least.alias("e"), most.alias("e_max")).drop("e_min")


def _sorted_out(
    parts: nw.LazyFrame[Any], labels: Labels, categories: Categories, *, indexed: bool
) -> nw.LazyFrame[Any]:
    """Make one `v` of all that is in no category: `out` is 1 for these, and 2 for null.

    If `indexed` and there are very many categories, `v` is the place among them.
    """
    import narwhals as nw

    if categories.kind == "bins":
        return parts
    dtype = parts.collect_schema()["v"]
    value = nw.col("v")
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
    if indexed and listed:
        inside = inside & value.is_in(labels)
    inside = inside.fill_null(False)
    out = (~inside).cast(nw.Int64) + null.cast(nw.Int64)
    # A label stands in for what is out: a null would make floats of integers in pandas, and is not
    # joined alike by all engines.
    parts = parts.with_columns(
        nw.when(inside).then(value).otherwise(nw.lit(labels[0])).alias("v"), out.alias("out")
    )
    if listed or not indexed:
        return parts
    parts = with_places(parts, "v", labels, "place")
    out, place = nw.col("out"), nw.col("place")
    return parts.with_columns(
        nw.when(out == 0).then(place).otherwise(-1).alias("v"),
        nw.when((out == 0) & (place < 0)).then(1).otherwise(out).alias("out"),
    ).drop("place")


def _parts(parts: nw.LazyFrame[Any], *, budgets: bool, folded: bool) -> nw.LazyFrame[Any]:
    """Add groups up by level, value, and how many rows their people have."""
    import narwhals as nw

    by = ["v", *(["out"] if "out" in parts.collect_schema() else [])]
    totals = [nw.col("size").sum().alias("size")]
    flags = []
    if folded:
        by.append("rows")
        flags = ["conflict", "nobody"]
        totals += [nw.col(flag).max().alias(flag) for flag in flags]
    if budgets:
        parts = with_key(parts)
        by.append("key")
        totals.append(nw.col("e").min().alias("e"))
    added = parts.group_by(*by).agg(*totals)
    wholes = ["size", *flags, *(["rows"] if folded else [])]
    return added.select(
        *[name for name in by if name in ("v", "out")],
        *[nw.col(name).cast(nw.Int64) for name in wholes],
        *(["e"] if budgets else []),
    )


def _floats(series: nw.Series[Any]) -> Floats:
    """Return numbers in NumPy, NaN for null."""
    if series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    return np.array(series.to_list(), dtype=np.float64)


def _whole(series: nw.Series[Any]) -> Integers:
    """Return integers in NumPy."""
    return np.asarray(series.to_numpy(), dtype=np.int64)


def _cells(
    result: nw.DataFrame[Any], labels: Labels, categories: Categories, *, indexed: bool
) -> Integers:
    """Return the cell of every `v`."""
    import polars as pl

    if categories.kind == "bins" and indexed:
        index = _whole(result["v"])
        return np.where(index < 0, MISSING, categories.cells[index])
    if categories.kind == "bins":
        return categories.of_floats(_floats(result["v"]))
    if indexed and len(labels) > MOST_LISTED:
        out = _whole(result["out"])
        return np.where(out == 0, _whole(result["v"]), np.where(out == 1, UNDECLARED, MISSING))
    dtype = {str: pl.String, bytes: pl.Binary, int: pl.Int64}[type(labels[0])]
    values = result["v"].to_native()
    if not isinstance(values, pl.Series):
        values = pl.Series("v", result["v"].to_list(), dtype=dtype)
    places = pl.DataFrame({"v": pl.Series(labels, dtype=dtype), "cell": range(len(labels))})
    found = values.alias("v").to_frame().join(places, on="v", how="left", maintain_order="left")
    cell = found["cell"].cast(pl.Int64).fill_null(UNDECLARED).to_numpy()
    out = _whole(result["out"])
    return np.where(out == 0, cell, np.where(out == 1, UNDECLARED, MISSING))
