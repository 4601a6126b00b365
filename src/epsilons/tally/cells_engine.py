"""Cells on an engine: one query, one pass, the same integers on every engine.

Rows are grouped by budget and value as they are, so that text is compared once for each group and
a dictionary of text is never written out. What is in no category is then made one group, so that
no more comes back than levels × categories, or the groups that `adding.py` brings. With people of
many rows, groups are also kept apart by how many rows their people have: who shares, and how much,
is then arithmetic of integers that no engine does. That is at most levels × categories × different
numbers of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.tally.adding import added_up, long_counts
from epsilons.tally.categories import Categories
from epsilons.tally.cells import CellGroups, Parts, add_up
from epsilons.tally.collect import collected
from epsilons.tally.columns import Columns
from epsilons.tally.engines import engine_of
from epsilons.tally.expressions import (
    Total,
    budget_and_person,
    few_budgets,
    how_many,
    of_somebody,
    put_on_rungs,
    rungs_put_off,
    with_key,
    with_ones,
    with_totals,
)
from epsilons.tally.failures import guarded
from epsilons.tally.labels_engine import (
    Labels,
    as_floats,
    as_integers,
    cells_in,
    labels_of,
    outside,
    placed,
    sorted_out,
    values,
)
from epsilons.tally.parts import by_people

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["count", "marked"]

PIECE = 2**23
"""Rows that are counted at a time in Polars where groups are many: it keeps rows until the end
whose group is not among the last few thousand. Where they are few, all are counted at once."""


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

        own, later = rungs_put_off(table)
        few = not grouped or folded or later is not None
        few = few or few_budgets(own)
        found = []
        pieces = [own] if few else own.pieces(PIECE)
        for piece in by_people(own) if folded else pieces:
            rows = _rows(piece, categories)
            if folded:
                parts = _of_people(with_ones(rows, own.size), budgets=grouped)
            else:
                groups = _of_rows(rows, table, budgets=grouped, few=few)
                parts = put_on_rungs(groups, later)
            parts = sorted_out(parts, labels, categories)
            # What was brought from elsewhere is few: NumPy adds it up.
            if engine_of(parts) == engine_of(rows):
                parts = _parts(parts, budgets=grouped, folded=folded)
            found.append(collected(parts, table.passed))
        return found[0] if len(found) == 1 else nw.concat(found)

    result = guarded(run, *table.failure)

    nothing = np.zeros(1, dtype=np.int64)
    return add_up(
        Parts(
            epsilon=as_floats(result["e"]) if grouped else float(table.epsilon),
            cell=guarded(lambda: cells_in(result, labels, categories), *table.failure),
            size=as_integers(result["size"]),
            rows=as_integers(result["rows"]) if folded else None,
            conflicts=as_integers(result["conflict"]) if folded else nothing,
            nobody=as_integers(result["nobody"]) if folded else nothing,
        ),
        categories,
    )


def marked(table: Columns, categories: Categories) -> nw.LazyFrame[Any]:
    """Return whether the value of each row is `missing` or `undeclared`, 1 or 0; `e` and `who`."""
    import narwhals as nw

    rows = _rows(table, categories)
    rows = sorted_out(rows, _labels(table, categories), categories)
    rows = outside(rows, categories)
    missing, undeclared = nw.col("out") == 2, nw.col("out") == 1
    own = [name for name in ("e", "who") if name in rows.collect_schema()]
    return rows.select(
        missing.cast(nw.Int64).alias("missing"), undeclared.cast(nw.Int64).alias("undeclared"), *own
    )


def _labels(table: Columns, categories: Categories) -> Labels:
    """Return what is declared, as the values of the table are written."""
    return labels_of(categories, table.spelling)


def _rows(table: Columns, categories: Categories) -> nw.LazyFrame[Any]:
    """Return `v`, `e` and `who` of every row: for `v`, see `labels_engine.values`."""
    value = values(table, table.values, categories, "v")
    rows = table.frame.select(*value, *budget_and_person(table))
    return placed(rows, "v", categories)


def _of_rows(
    rows: nw.LazyFrame[Any], table: Columns, *, budgets: bool, few: bool
) -> nw.LazyFrame[Any]:
    """Group rows that are people by budget and value: `size`, and `e`."""
    size: dict[str, Total] = {"size": ("", "rows")}
    if budgets and not few:
        return added_up(with_key(rows), ["key", "v"], size | {"e": ("e", "min")}, table.passed)
    return added_up(rows, ["e", "v"] if budgets else ["v"], size, table.passed)


def _of_people(rows: nw.LazyFrame[Any], *, budgets: bool) -> nw.LazyFrame[Any]:
    """Group rows by the smallest `e` of their person, how many `rows` they have, and value.

    Only these two are put beside rows: what is asked of groups need not be kept for each row.
    """
    import narwhals as nw

    totals: dict[str, Total] = {"rows": ("who", "rows")}
    by, added = ["v", "rows"], [how_many(rows).alias("size"), of_somebody(rows).alias("known")]
    if budgets:
        totals["least"] = ("e", "min")
        by.append("least")
        added.append(nw.col("e").max().alias("e_max"))
    rows = with_totals(rows, totals)
    groups = rows.group_by(*by).agg(*added)
    groups = long_counts(groups, ("rows", "size", "known"))
    conflict = nw.col("least") != nw.col("e_max") if budgets else nw.col("rows") < 0
    return groups.select(
        "v",
        "rows",
        *([nw.col("least").alias("e")] if budgets else []),
        "size",
        conflict.cast(nw.Int64).alias("conflict"),
        (nw.col("known") < nw.col("size")).cast(nw.Int64).alias("nobody"),
    )


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
