"""Reduce each person's rows to one entry, or to one entry for each of their groups.

An entry has the same columns as a row of a table in which every row is its own person. So
`count_engine.py` aggregates entries and such rows in the same way.

**Numbers.** Rows are grouped by person and group. Each entry of this smaller table also gets its
person's totals over all groups, which are needed to divide the person's unit. Without groups there
is one entry per person, with the mean or the sum of their rows.

**Categories.** Each row is an entry, with its person's number of rows and smallest budget. NumPy
then computes shares from these integers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from epsilons.door.count.asks import MOST_ROWS
from epsilons.door.count.tallies import GRID, HALF
from epsilons.door.engines.expressions import (
    Aggregate,
    by_person,
    with_ones,
    with_quotient,
    with_totals,
)
from epsilons.door.engines.grid_engine import valid_rows
from epsilons.door.engines.labels_engine import added, labels_of
from epsilons.door.engines.plan import QueryPlan
from epsilons.door.given.columns import Columns

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["by_people", "folded"]

PART: Final = 2**22
"""The number of rows that Polars folds at a time. It holds all rows in memory until it knows each
person's number of rows, so larger tables are divided into parts by person. All rows are read again
for each part, which takes a sixth longer each time."""

MOST_PARTS: Final = 3
"""The largest number of parts into which people are divided."""


def folded(plan: QueryPlan, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Reduce people's rows to entries.

    Args:
        plan: the columns of one question.
        rows: rows with the columns of the plan.

    Returns:
        Entries with the columns of the plan. `e` is the smallest budget of a person, and a number
        is the mean or the sum of their rows. With labels there are two more columns: the person's
        `points` in the group, and `each`, their number of entries.
    """
    if not plan.columns:
        return (_in_the_first if plan.every[0].ask.adds else _with_each_row)(plan, rows)
    totals: dict[str, Aggregate] = {}
    for name in plan.columns:
        totals |= {name: (name, "sum"), f"{name} is valid": valid_rows(rows, name)}
    for name in plan.flags.values():
        totals |= {each: (each, "sum") for each in (name, f"{name} is known")}
    entries = with_ones(by_person(rows, totals, plan.by), plan.table.size)
    return _divided(plan, _with_people(plan, entries) if plan.labels else entries)


def _with_each_row(plan: QueryPlan, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Add to each row its person's number of rows and smallest budget.

    Other totals are aggregated over groups of rows later, so they are not needed in each row.
    """
    import narwhals as nw

    totals: dict[str, Aggregate] = {"each": ("who", "rows")}
    rows = with_ones(rows, plan.table.size)
    if not plan.budgets:
        return with_totals(rows, totals)
    least: dict[str, Aggregate] = {"least": ("e", "min")}
    least |= {"fewest": ("d", "min")} if plan.weighed else {}
    rows = with_totals(rows, {**totals, **least})
    columns = [_differs("least", "e").alias("conflict"), nw.col("least").alias("e")]
    if plan.weighed:
        columns += [_differs("fewest", "d").alias("doubles"), nw.col("fewest").alias("d")]
    return rows.with_columns(*columns)


def _differs(first: str, second: str) -> nw.Expr:
    """Return 1 where two columns differ, otherwise 0."""
    import narwhals as nw

    return (nw.col(first) != nw.col(second)).cast(nw.Int64)


def _in_the_first(plan: QueryPlan, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return one entry for each person: the label if one of their rows has it, otherwise null."""
    import narwhals as nw

    ((name, _, mark, declared),) = plan.labels.values()
    rows, out = plan.sorted_out(rows), f"{name} out"
    people = with_ones(by_person(rows, {out: (out, "min")}), plan.table.size)
    label = nw.lit(labels_of(declared, mark.spelling)[0])
    columns = [nw.when(nw.col(out) == 0).then(label).alias(name), nw.lit(1).alias("each")]
    if plan.budgets:
        columns.append((nw.col("e") != nw.col("e_max")).cast(nw.Int64).alias("conflict"))
    return people.with_columns(*columns).drop(out)


def _asked(plan: QueryPlan) -> nw.Expr:
    """Return the number of rows of an entry that `where` selects."""
    import narwhals as nw

    return nw.col(next(iter(plan.flags.values()), "size")).cast(nw.Int64)


def _with_people(plan: QueryPlan, entries: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Add to each entry its person's totals over all of their entries.

    `own` (rows with a value), `sum` and `gaps` (selected rows without a value) include declared
    groups only. `r` and `r_gaps` are the person's sums of `own` and `gaps`. `rows`, `each` and
    `declared` are the person's numbers of rows, entries and declared groups. `e` becomes their
    smallest budget.
    """
    import narwhals as nw

    (asked,), (name,) = plan.every, plan.columns
    entries = plan.sorted_out(entries)
    declared = nw.lit(True)
    for out in plan.places[1::2]:
        declared = declared & (nw.col(out) == 0)
    valid = nw.col(f"{name} is valid").cast(nw.Int64)
    own = {"own": valid, "sum": nw.when(valid > 0).then(nw.col(name)).otherwise(0)}
    totals: dict[str, Aggregate] = {
        "r": ("own", "sum"),
        "rows": ("size", "sum"),
        "each": ("who", "rows"),
    }
    if asked.rules.in_the_middle:
        own["gaps"] = _asked(plan) - valid
        totals["r_gaps"] = ("gaps", "sum")
    if plan.apart:
        own["declared"] = nw.lit(1)
        totals["declared"] = ("declared", "sum")
    if plan.budgets:
        totals["e"] = ("e", "min")
    if plan.weighed:
        totals["d"] = ("d", "min")
    for part, number in own.items():
        own[part] = nw.when(declared).then(number).otherwise(0).cast(nw.Int64)
    return with_totals(entries.with_columns(nw.col("size").cast(nw.Int64), **own), totals)


def _divided(plan: QueryPlan, entries: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Divide each person's unit: docs/proofs/shares.md, or docs/proofs/tally.md without groups."""
    import narwhals as nw

    # DuckDB adds up 64-bit integers in 128 bits, so sums are cast.
    (asked,) = plan.every
    rows, whole = nw.col("rows" if plan.labels else "size"), nw.Int64
    columns, missing = [rows.cast(whole).alias("rows")], []
    for name in plan.columns:
        own = r = nw.col(f"{name} is valid")
        total, gaps = nw.col(name), _asked(plan) - own.cast(whole)
        missing.append(r_gaps := gaps)
        if plan.labels:
            own, total, gaps, r, r_gaps = map(nw.col, ("own", "sum", "gaps", "r", "r_gaps"))
        if asked.rules.in_the_middle and (plan.labels or plan.flags):
            # Someone without any value is in the middle of the range, in each of their groups.
            # Without groups and `where`, such people are added when levels are added up.
            some = r > 0
            own = nw.when(some).then(own).otherwise(gaps)
            total = nw.when(some).then(total).otherwise(HALF * gaps)
            r = nw.when(some).then(r).otherwise(r_gaps)
        # Sums over too many rows would overflow. Such a person counts as having no value, and the
        # query does not fail.
        usable = (r > 0) & (rows < MOST_ROWS)
        if asked.ask.adds:
            # The integer of a value v is `nothing`, the integer of 0, plus v in grid steps. So a
            # sum of r integers contains `nothing` r times, but must contain it only once.
            total = total - asked.ask.nothing * (r.cast(whole) - 1)
            total = nw.when(usable).then(total).otherwise(0).cast(whole).clip(0, GRID)
            columns += [usable.cast(whole).alias(f"{name} is valid"), total.alias(name)]
            continue
        r = nw.when(usable).then(r).otherwise(1).cast(whole)
        total = nw.when(usable).then(total).otherwise(HALF if plan.pairs else 0).cast(whole)
        columns += [
            usable.cast(whole).alias(f"{name} is valid"),
            (2 * total + r).alias(f"{name} above"),
            (2 * r).alias(f"{name} below"),
        ]
        if plan.labels:
            own = nw.when(usable).then(own).otherwise(0).cast(whole)
            columns += [(GRID * own).alias("high"), r.alias("low")]
    columns.append(added(missing).alias("missing"))
    if plan.budgets:
        columns.append(_differs("e", "e_max").alias("conflict"))
    if plan.weighed:
        columns.append(_differs("d", "d_max").alias("doubles"))
    entries = entries.with_columns(*columns)
    if asked.ask.adds:
        return entries
    for name in plan.columns:
        entries = with_quotient(entries, name, f"{name} above", f"{name} below")
    if not plan.labels:
        return entries.with_columns(*(nw.col(name).clip(0, GRID) for name in plan.columns))
    entries = with_quotient(entries, "points", "high", "low")
    above, points = nw.col(name), nw.col("points")
    return entries.with_columns(nw.when(above > points).then(points).otherwise(above).alias(name))


def by_people(table: Columns) -> list[Columns]:
    """Divide a large table, which is in Polars, into parts, each with all rows of some people.

    A person's part depends only on their id.
    """
    import narwhals as nw
    import polars as pl

    if table.person is None or table.size is None:
        return [table]
    parts = min(MOST_PARTS, -(-table.size // PART))
    native: pl.LazyFrame = table.frame.to_native()
    # For other types, equal ids can have different hashes, or hashes can differ between reads.
    dtype = native.collect_schema()[table.person]
    if parts < 2 or not (dtype.is_integer() or dtype in (pl.String, pl.Binary)):
        return [table]
    place = pl.col(table.person).hash() % parts
    return [
        replace(table, frame=nw.from_native(native.filter(place == part))) for part in range(parts)
    ]
