"""Means by group on an engine: one query, one pass, the same integers on every engine.

Where a row is a person, one group-by of budget and group is all. With people of many rows the first
group-by is of person and group; what a person has over all of their groups is put beside each entry
of that smaller table, their unit is divided there, and a second group-by adds entries up by level
and group, and by how many entries their people have: so people are counted exactly, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.ladder import Ladder
from epsilons.tally.adding import added_up, long_counts, wanted
from epsilons.tally.categories import Categories
from epsilons.tally.cells_engine import PIECE
from epsilons.tally.collect import collected
from epsilons.tally.columns import Columns, Mark
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
    with_quotient,
    with_totals,
)
from epsilons.tally.failures import guarded
from epsilons.tally.grid import GRID, HALF, Rule
from epsilons.tally.grouping import Grouping
from epsilons.tally.labels_engine import (
    as_floats,
    as_integers,
    cells_in,
    labels_of,
    outside,
    placed,
    sorted_out,
    values,
)
from epsilons.tally.levels import MOST_ROWS
from epsilons.tally.parts import by_people
from epsilons.tally.shares import (
    Counting,
    ShareGroups,
    ShareParts,
    add_up_shares,
    joined,
    parts_of_rows,
)
from epsilons.tally.sums_engine import on_grid, valid_rows
from epsilons.types import Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["count"]


@dataclass(frozen=True, eq=False)
class _Query:
    """What one query asks for.

    Attributes:
        table: a frame with checked columns.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        counting: which rows count.
        apart: whether to look for people in two groups.
        declared: the categories of each column of groups.
        marks: these columns, in the same order.
        where: the column that says which rows are asked, or None.
    """

    table: Columns
    bounds: tuple[float, float]
    rule: Rule | None
    counting: Counting
    apart: bool
    declared: Sequence[Categories]
    marks: Sequence[Mark] = field(default_factory=tuple)
    where: str | None = None

    @property
    def budgets(self) -> bool:
        """Whether there is a column of budgets."""
        return isinstance(self.table.epsilon, str)

    @property
    def groups(self) -> list[tuple[str, str]]:
        """The names of the value and of its `out`, of each column of groups."""
        return [(f"v{place}", f"out{place}") for place in range(len(self.declared))]


def count(
    table: Columns,
    bounds: tuple[float, float],
    rule: Rule | None,
    grouping: Grouping | None,
    counting: Counting,
    *,
    apart: bool,
) -> ShareGroups:
    """Divide everyone's unit among groups, and add up by budget level.

    Args:
        table: a frame with checked columns, of which the first marks are those of groups.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        grouping: what was declared; None for one group that holds everybody.
        counting: which rows count.
        apart: whether to look for people in two groups.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    declared = () if grouping is None else grouping.declared
    asked = [mark.column for mark in table.marks[len(declared) :]]
    marks = table.marks[: len(declared)]
    query = _Query(
        table, bounds, rule, counting, apart, declared, marks, asked[0] if asked else None
    )

    def run() -> nw.DataFrame[Any]:
        import narwhals as nw

        found = [collected(each, table.passed) for each in _queries(query)]
        return found[0] if len(found) == 1 else nw.concat(found)

    result = guarded(run, *table.failure)
    parts = guarded(lambda: _parts(query, result), *table.failure)
    return add_up_shares(parts, len(counting.labels))


def _queries(query: _Query) -> list[nw.LazyFrame[Any]]:
    """Return the queries: one, or one for each piece of a large table with very many budgets."""
    table = query.table
    if table.person is not None:
        return [_of_people(query, _rows(query, part)) for part in by_people(table)]
    table, later = rungs_put_off(table)
    few = not query.budgets or later is not None or few_budgets(table)
    pieces = [table] if few else table.pieces(PIECE)
    return [_of_rows(query, _rows(query, piece), few=few, later=later) for piece in pieces]


def _rows(query: _Query, table: Columns) -> nw.LazyFrame[Any]:
    """Return `x`, `valid`, `asked`, `known`, the values of groups, `e` and `who` of every row."""
    import narwhals as nw

    columns: list[nw.Expr] = []
    flag: nw.Expr | None = None
    if query.where is not None:
        flag = nw.col(query.where)
        columns = [
            flag.fill_null(False).cast(nw.Int64).alias("asked"),
            (~flag.is_null()).cast(nw.Int64).alias("known"),
        ]
    groups = list(zip(query.groups, query.marks, query.declared, strict=True))
    for (name, _), mark, declared in groups:
        columns += values(table, mark.column, declared, name)
    grid = on_grid(table, query.bounds, query.rule, flag)
    rows = table.frame.select(*grid, *columns, *budget_and_person(table))
    for (name, _), _, declared in groups:
        rows = placed(rows, name, declared)
    return rows


def _added(rows: nw.LazyFrame[Any]) -> dict[str, Total]:
    """What is added up of rows.

    It is how many there are, how many have a value, what these are on the grid, how many are asked,
    and of how many it is known whether they are.
    """
    found: dict[str, Total] = {"size": ("", "rows"), "n": valid_rows(rows), "s": ("x", "sum")}
    if "asked" in rows.collect_schema():
        found |= {"asked": ("asked", "sum"), "known": ("known", "sum")}
    return found


def _grouped(
    rows: nw.LazyFrame[Any], by: Sequence[str], totals: Sequence[nw.Expr]
) -> nw.LazyFrame[Any]:
    """Group rows by some columns, or add all of them up."""
    return rows.group_by(*by).agg(*totals) if by else rows.select(*totals)


def _of_rows(
    query: _Query, rows: nw.LazyFrame[Any], *, few: bool, later: Ladder | None
) -> nw.LazyFrame[Any]:
    """Add up rows that are people by level and group; `later` is the ladder of groups."""
    import narwhals as nw

    by = [name for name, _ in query.groups]
    totals, smallest = _added(rows), nw.col("e").min().alias("e")
    whole = list(totals)
    if query.budgets and few:
        by = ["e", *by]
    elif query.budgets:
        rows, by, totals = with_key(rows), ["key", *by], totals | {"e": ("e", "min")}
    parts = put_on_rungs(added_up(rows, by, totals, query.table.passed), later)
    by, parts = _sorted(query, parts)
    if query.budgets:
        parts, by = with_key(parts), [*by, "key"]
    again = [nw.col(name).sum() for name in whole]
    parts = _grouped(parts, by, [*again, smallest] if query.budgets else again)
    return _selected(query, parts, whole)


def _sorted(query: _Query, parts: nw.LazyFrame[Any]) -> tuple[list[str], nw.LazyFrame[Any]]:
    """Make one group of all that is in none, and return the columns that tell groups apart."""
    by: list[str] = []
    for (name, out), mark, declared in zip(query.groups, query.marks, query.declared, strict=True):
        parts = sorted_out(parts, labels_of(declared, mark.spelling), declared, name, out)
        parts = outside(parts, declared, name, out)
        by += [name, out]
    return by, parts


def _selected(query: _Query, parts: nw.LazyFrame[Any], whole: Sequence[str]) -> nw.LazyFrame[Any]:
    """Cast after the aggregate: DuckDB adds 64-bit integers up in 128 bits."""
    import narwhals as nw

    own = [name for pair in query.groups for name in pair]
    return parts.select(
        *own, *[nw.col(name).cast(nw.Int64) for name in whole], *(["e"] if query.budgets else [])
    )


def _of_people(query: _Query, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Divide people's units among their groups, and add up by level and group."""
    import narwhals as nw

    names = [name for name, _ in query.groups]
    totals = _added(rows)
    if query.budgets:
        totals |= {"e": ("e", "min"), "e_max": ("e", "max")}
    entries = rows.group_by("who", *names).agg(*wanted(totals))
    by, entries = _sorted(query, entries)
    entries = _divided(query, _with_people(query, entries))
    conflict = nw.col("e_max") != nw.col("e") if query.budgets else nw.col("rows") < 0
    entries = entries.with_columns(conflict.cast(nw.Int64).alias("conflict"))
    whole = ["size", "n", "inside", "points", "above"]
    if query.where is not None:
        whole += ["asked", "known"]
    added = [how_many(entries).alias("entries"), *[nw.col(name).sum() for name in whole]]
    added.append(of_somebody(entries).alias("of_somebody"))
    flags = ["rows", "conflict", *(["declared"] if query.apart else [])]
    added += [nw.col(name).max() for name in flags]
    by.append("each")
    if query.budgets:
        entries = with_key(entries)
        by.append("key")
        added.append(nw.col("e").min().alias("e"))
    parts = long_counts(entries.group_by(*by).agg(*added), ("entries", "of_somebody"))
    nobody = nw.col("of_somebody") < nw.col("entries")
    parts = parts.with_columns(nobody.cast(nw.Int64).alias("nobody"))
    return _selected(query, parts, ["entries", "each", *whole, *flags, "nobody"])


def _with_people(query: _Query, entries: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Put beside each entry what its person has over all of theirs.

    `own`, `sum` and `gaps`, rows that are asked without a value, are those of declared groups, and
    `r` and `r_gaps` the sums of `own` and `gaps`; `rows` are all rows, `each` is the number of
    entries, `declared` that of declared groups, and `e` the smallest budget from now on.
    """
    import narwhals as nw

    inside = nw.lit(True)
    for _, out in query.groups:
        inside = inside & (nw.col(out) == 0)
    asked = nw.col("asked") if query.where is not None else nw.col("size")
    own = {"own": nw.col("n"), "sum": nw.col("s")}
    totals: dict[str, Total] = {
        "r": ("own", "sum"),
        "rows": ("size", "sum"),
        "each": ("who", "rows"),
    }
    if query.counting.in_the_middle:
        own["gaps"] = asked - nw.col("n")
        totals["r_gaps"] = ("gaps", "sum")
    if query.apart:
        own["inside"] = nw.lit(1)
        totals["declared"] = ("inside", "sum")
    if query.budgets:
        totals["e"] = ("e", "min")
    entries = with_ones(entries, query.table.size).with_columns(
        nw.col("size").cast(nw.Int64),
        nw.col("n").cast(nw.Int64),
        *[nw.col(out).cast(nw.Int8) for _, out in query.groups],
    )
    entries = entries.with_columns(
        *[
            nw.when(inside).then(number).otherwise(0).cast(nw.Int64).alias(name)
            for name, number in own.items()
        ]
    )
    if query.groups:
        entries = with_totals(entries, totals)
    else:  # an entry is a person
        entries = entries.with_columns(
            *[
                (nw.lit(1) if how == "rows" else nw.col(column)).alias(name)
                for name, (column, how) in totals.items()
            ]
        )
    # Cast after the aggregate: DuckDB adds 64-bit integers up in 128 bits.
    sums = [name for name, (_, how) in totals.items() if how == "sum"]
    return entries.with_columns(*[nw.col(name).cast(nw.Int64) for name in sums])


def _divided(query: _Query, entries: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Divide everyone's unit: `points` of the group, `above` those of x; `inside` is 1 or 0."""
    import narwhals as nw

    own, total, r = nw.col("own"), nw.col("sum"), nw.col("r")
    if query.counting.in_the_middle:
        # Someone who has no value at all stands in the middle of each of their groups.
        some, gaps = r > 0, nw.col("gaps")
        own = nw.when(some).then(own).otherwise(gaps)
        total = nw.when(some).then(total).otherwise(HALF * gaps)
        r = nw.when(some).then(r).otherwise(nw.col("r_gaps"))
    # Sums of very many rows do not fit: nothing of such a person counts, and it is no failure.
    usable = (r > 0) & (nw.col("rows") < MOST_ROWS)
    entries = entries.with_columns(
        usable.cast(nw.Int64).alias("inside"),
        nw.when(usable).then(r).otherwise(1).alias("r"),
        nw.when(usable).then(own).otherwise(0).alias("own"),
        nw.when(usable).then(total).otherwise(0).alias("sum"),
    )
    own, total, r = nw.col("own"), nw.col("sum"), nw.col("r")
    entries = entries.with_columns(
        (GRID * own).alias("high"), (2 * total + r).alias("high_x"), (2 * r).alias("low_x")
    )
    entries = with_quotient(entries, "points", "high", "r")
    entries = with_quotient(entries, "above", "high_x", "low_x")
    points, above = nw.col("points"), nw.col("above")
    return entries.with_columns(
        nw.when(above > points).then(points).otherwise(above).alias("above")
    )


def _parts(query: _Query, result: nw.DataFrame[Any]) -> ShareParts:
    """Read what came back."""
    lines = len(result)

    def total(name: str) -> Integers:
        # In SQL the sum of nothing is null.
        return as_integers(result[name].fill_null(0))

    group = np.zeros(lines, dtype=np.int64)
    for place, ((name, out), mark) in enumerate(zip(query.groups, query.marks, strict=True)):
        declared = query.declared[place]
        cell = cells_in(result, labels_of(declared, mark.spelling), declared, name, out)
        group = cell if place == 0 else joined(group, cell, len(declared.labels))
    epsilon = as_floats(result["e"]) if query.budgets else float(query.table.epsilon)
    size, own = total("size"), total("n")
    where = (total("asked"), total("known")) if query.where is not None else None
    if query.table.person is None:
        return parts_of_rows(epsilon, group, (size, own, total("s")), where, query.counting)
    nothing: Integers = np.zeros(lines, dtype=np.int64)
    asked, known = where or (size, size)
    return ShareParts(
        epsilon=epsilon,
        group=group,
        entries=total("entries"),
        each=total("each"),
        inside=total("inside"),
        points=total("points"),
        above=total("above"),
        missing=asked - own,
        asked=asked,
        unknown=size - known,
        several=(total("declared") > 1).astype(np.int64) if query.apart else nothing,
        conflicts=total("conflict"),
        nobody=total("nobody"),
        most=total("rows"),
    )
