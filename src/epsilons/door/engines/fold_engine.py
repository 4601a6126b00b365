"""Count on an engine where people may have several rows: aggregate by person first.

**Numbers.** The first group-by is by person: the mean of their rows that have a value. The second
adds people up by level.

**Numbers by group.** The first group-by is by person and group. Aggregates over all groups of a
person are added to each entry of that smaller table, and people's units are divided there. The
second group-by adds entries up by level, by group, and by the number of entries that their people
have. So people are also counted exactly.

**Categories.** Rows are grouped by value, by the smallest budget of their person, and by the number
of rows of the person. Shares are then computed from these groups in integers, outside the engine.
There are at most levels × categories × different numbers of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.budgets.levels import moved
from epsilons.door.count.asks import MOST_ROWS, Counted, Faults, levels_of
from epsilons.door.count.tallies import GRID, HALF
from epsilons.door.count.units import (
    BELOW,
    UnitParts,
    joined,
    number_cells,
    of_categories,
    of_groups,
)
from epsilons.door.engines.count_engine import Wanted
from epsilons.door.engines.expressions import (
    Total,
    added_up,
    belongs_to_nobody,
    budget_and_person,
    how_many,
    long_counts,
    of_somebody,
    with_key,
    with_ones,
    with_quotient,
    with_totals,
)
from epsilons.door.engines.expressions import wanted as expressed
from epsilons.door.engines.grid_engine import (
    both_on_grid,
    lacking,
    on_grid,
    valid_rows,
    with_parts,
    with_squares,
)
from epsilons.door.engines.labels_engine import (
    as_floats,
    as_integers,
    cells_in,
    labels_of,
    outside,
    placed,
    sorted_out,
    values,
)
from epsilons.door.engines.running import collected, guarded
from epsilons.door.engines.table import engine_of
from epsilons.door.given.columns import Columns
from epsilons.types import Integers

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["by_people", "count"]

PART: Final = 2**22
"""Rows of people that Polars holds at a time: it keeps all rows until it knows how many each person
has. More rows are read again for each part of the people, which takes a sixth longer each time."""

MOST_PARTS: Final = 3
"""The largest number of parts into which people are divided. Each part reads all rows."""


def count(asked: Wanted, table: Columns) -> Counted:
    """Count one question.

    Args:
        asked: the question.
        table: a frame with checked columns, including a column of ids.

    Raises:
        ArgumentError: there are too many levels and labels for a table of them.
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    if asked.ask.what == "cells":
        return _categories(asked, table)
    if asked.rules.some and asked.ask.what == "numbers":
        return _by_group(asked, table)
    return _numbers(asked, table)


def _budgets(table: Columns) -> bool:
    """Whether there is a column of budgets."""
    return isinstance(table.epsilon, str)


def _numbers(asked: Wanted, table: Columns) -> Counted:
    """Divide the units of people who are all in one group."""
    budgets, exclude = _budgets(table), asked.rules.missing == "exclude"
    also: tuple[str, ...] = ()
    if asked.ask.what == "squares":
        also = ("v", *(["x is absent"] if exclude else []))
    elif asked.ask.what == "pairs":
        also = ("x2 is valid", *(f"x {part}" for part in ("a", *BELOW)))
        also += ("x is absent",) if exclude else ()

    def run() -> nw.DataFrame[Any]:
        people = _people(asked, table)
        return collected(_by_level(people, table, also, budgets=budgets), table.passed)

    result = guarded(run, *table.failure)
    epsilon = as_floats(result["e"]) if budgets else float(table.epsilon)
    levels, level_of = levels_of(epsilon, len(result))

    def whole(name: str) -> Integers:
        return as_integers(result[name].fill_null(0))  # in SQL the sum of nothing is null

    def total(name: str) -> Integers:
        found = np.zeros(levels.size, dtype=np.int64)
        np.add.at(found, level_of, whole(name))
        return found

    numbers = 2 if asked.ask.what == "pairs" else 1
    valid = sum(int(whole(f"x{end} is valid").sum()) for end in ("", "2")[:numbers])
    faults = Faults(
        missing=numbers * int(whole("rows").sum()) - valid,
        conflicts=int(whole("conflict").sum()),
        nobody=int(whole("nobody").sum()),
        most=int(whole("most").max(initial=0)),
    )
    found = {name.removeprefix("x ").removeprefix("is "): total(name) for name in ("x", *also)}
    people = total("size")
    cells = number_cells(asked.ask.what, people, found, asked.rules)
    return Counted(levels, people, cells, faults, moved(epsilon))


def _people(asked: Wanted, table: Columns) -> nw.LazyFrame[Any]:
    """Make one row of each person: `x`, and what else is added up of them."""
    import narwhals as nw

    ask, exclude = asked.ask, asked.rules.missing == "exclude"
    if ask.what == "pairs":
        numbers = []
        for name, (mark, bounds) in zip(("x", "x2"), asked.both, strict=True):
            numbers += both_on_grid(table, mark.column, bounds, name)
        rows = table.frame.select(*numbers, *budget_and_person(table))
        people = _fold(rows, ("x", "x2"), budgets=_budgets(table))
        return with_parts(lacking(people, "x") if exclude else people, "x")
    grid = on_grid(table, asked.values.column, ask.ends, ask.rule)
    named = [one.alias(name) for one, name in zip(grid, ("x", "x is valid"), strict=True)]
    rows = table.frame.select(*named, *budget_and_person(table))
    people = _fold(rows, ("x",), budgets=_budgets(table))
    if ask.what == "squares":
        if exclude:
            absent = (nw.col("x is valid") <= 0).cast(nw.Int64)
            people = people.with_columns(absent.alias("x is absent"))
        people = with_squares(people, [("x", "x is valid", "v")])
    return people


def _fold(rows: nw.LazyFrame[Any], numbers: Sequence[str], *, budgets: bool) -> nw.LazyFrame[Any]:
    """Make one row of each person: the mean of their valid rows, floor((2S + r) / 2r).

    Args:
        rows: with each number, and where it `is valid`.
        numbers: the names of the columns.
        budgets: whether there is a column of budgets.
    """
    import narwhals as nw

    of_person = [nw.len().alias("rows")]
    for name in numbers:
        of_person.append(nw.col(name).sum().alias(f"{name} sum"))
        of_person.append(nw.col(f"{name} is valid").sum().alias(f"{name} is valid"))
    if budgets:
        of_person += [nw.col("e").min().alias("e"), nw.col("e").max().alias("e_max")]
    people = rows.group_by("who").agg(*of_person)
    # A cast after the aggregate: DuckDB adds 64-bit integers up in 128 bits.
    # Sums of very many rows do not fit: such a person is in the middle, and never a failure.
    quotients = []
    for name in numbers:
        valid = nw.col(f"{name} is valid")
        usable = (valid > 0) & (nw.col("rows") < MOST_ROWS)
        r = nw.when(usable).then(valid).otherwise(1).cast(nw.Int64)
        total = nw.when(usable).then(nw.col(f"{name} sum")).otherwise(HALF).cast(nw.Int64)
        quotients.append((2 * total + r).alias(f"{name} above"))
        quotients.append((2 * r).alias(f"{name} below"))
        quotients.append(valid.cast(nw.Int64).alias(f"{name} is valid"))
    nobody = belongs_to_nobody(rows)
    conflict = nw.col("e") != nw.col("e_max") if budgets else nw.col("rows") < 0
    people = people.select(
        *([nw.col("e")] if budgets else []),
        *quotients,
        nw.col("rows").cast(nw.Int64).alias("rows"),
        conflict.cast(nw.Int64).alias("conflict"),
        nobody.cast(nw.Int64).alias("nobody"),
    )
    for name in numbers:
        people = with_quotient(people, name, f"{name} above", f"{name} below")
    return people.with_columns(*(nw.col(name).clip(0, GRID) for name in numbers))


def _by_level(
    people: nw.LazyFrame[Any], table: Columns, also: Sequence[str], *, budgets: bool
) -> nw.LazyFrame[Any]:
    """Add people up by level: a few rows, whatever the size of the data."""
    import narwhals as nw

    totals: dict[str, Total] = {"size": ("", "rows"), "most": ("rows", "max")}
    sums = ("x", "x is valid", "rows", "conflict", "nobody", *also)
    totals |= {name: (name, "sum") for name in sums}
    wholes = [nw.col(name).cast(nw.Int64) for name in totals]
    if not budgets:
        return added_up(people, [], totals, table.passed, bounded=True).select(*wholes)
    totals["e"] = ("e", "min")
    levels = added_up(with_key(people), ["key"], totals, table.passed, bounded=True)
    return levels.select(*wholes, "e")


def _categories(asked: Wanted, table: Columns) -> Counted:
    """Count people and add up their shares by budget level and category."""
    ((mark, categories),) = asked.labels
    budgets, labels = _budgets(table), labels_of(categories, mark.spelling)

    def run() -> nw.DataFrame[Any]:
        import narwhals as nw

        found = []
        for part in by_people(table):
            value = values(part, mark.column, categories, "v")
            rows = part.frame.select(*value, *budget_and_person(part))
            rows = with_ones(placed(rows, "v", categories), table.size)
            parts = sorted_out(_rows_of_people(rows, budgets=budgets), labels, categories)
            found.append(collected(_by_value(parts, budgets=budgets), table.passed))
        return found[0] if len(found) == 1 else nw.concat(found)

    result = guarded(run, *table.failure)
    rows = as_integers(result["rows"])
    faults = Faults(
        conflicts=int(as_integers(result["conflict"]).sum()),
        nobody=int(as_integers(result["nobody"]).sum()),
        most=int(rows.max(initial=0)),
    )
    epsilon = as_floats(result["e"]) if budgets else float(table.epsilon)
    cell = guarded(lambda: cells_in(result, labels, categories), *table.failure)
    parts = UnitParts(epsilon, cell, as_integers(result["size"]), rows, faults)
    return of_categories(parts, asked.rules)


def _rows_of_people(rows: nw.LazyFrame[Any], *, budgets: bool) -> nw.LazyFrame[Any]:
    """Group rows by the smallest `e` of their person, how many `rows` they have, and value.

    Only these two are added to rows: aggregates of groups need not be kept for each row.
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


def _by_value(parts: nw.LazyFrame[Any], *, budgets: bool) -> nw.LazyFrame[Any]:
    """Add groups up by level, value, and how many rows their people have."""
    import narwhals as nw

    by = ["v", *(["out"] if "out" in parts.collect_schema() else []), "rows"]
    flags = ("conflict", "nobody")
    totals = [nw.col("size").sum().alias("size")]
    totals += [nw.col(flag).max().alias(flag) for flag in flags]
    if budgets:
        parts = with_key(parts)
        by.append("key")
        totals.append(nw.col("e").min().alias("e"))
    added = parts.group_by(*by).agg(*totals)
    return added.select(
        *[name for name in by if name in ("v", "out")],
        *[nw.col(name).cast(nw.Int64) for name in ("size", *flags, "rows")],
        *(["e"] if budgets else []),
    )


def _by_group(asked: Wanted, table: Columns) -> Counted:
    """Divide everyone's unit among groups, and add up by budget level."""

    def run() -> nw.DataFrame[Any]:
        import narwhals as nw

        parts = [_entries(asked, part) for part in by_people(table)]
        found = [collected(each, table.passed) for each in parts]
        return found[0] if len(found) == 1 else nw.concat(found)

    result = guarded(run, *table.failure)
    parts = guarded(lambda: _parts(asked, table, result), *table.failure)
    return of_groups(parts, asked.rules)


def _groups(asked: Wanted) -> list[tuple[str, str]]:
    """The names of the value and of its `out`, of each column of groups."""
    return [(f"v{place}", f"out{place}") for place in range(len(asked.labels))]


def _entries(asked: Wanted, table: Columns) -> nw.LazyFrame[Any]:
    """Divide people's units among their groups, and add up by level and group."""
    import narwhals as nw

    columns: list[nw.Expr] = []
    flag: nw.Expr | None = None
    if asked.where is not None:
        flag = nw.col(asked.where.column)
        columns = [
            flag.fill_null(False).cast(nw.Int64).alias("asked"),
            (~flag.is_null()).cast(nw.Int64).alias("known"),
        ]
    groups = list(zip(_groups(asked), asked.labels, strict=True))
    for (name, _), (mark, declared) in groups:
        columns += values(table, mark.column, declared, name)
    grid = on_grid(table, asked.values.column, asked.ask.ends, asked.ask.rule, flag)
    rows = table.frame.select(*grid, *columns, *budget_and_person(table))
    for (name, _), (_, declared) in groups:
        rows = placed(rows, name, declared)
    totals: dict[str, Total] = {"size": ("", "rows"), "n": valid_rows(rows), "s": ("x", "sum")}
    if flag is not None:
        totals |= {"asked": ("asked", "sum"), "known": ("known", "sum")}
    budgets = _budgets(table)
    if budgets:
        totals |= {"e": ("e", "min"), "e_max": ("e", "max")}
    entries = rows.group_by("who", *(name for (name, _), _ in groups)).agg(*expressed(totals))
    by: list[str] = []
    for (name, out), (mark, declared) in groups:
        entries = sorted_out(entries, labels_of(declared, mark.spelling), declared, name, out)
        entries = outside(entries, declared, name, out)
        by += [name, out]
    entries = _divided(asked, _with_people(asked, entries, table))
    conflict = nw.col("e_max") != nw.col("e") if budgets else nw.col("rows") < 0
    entries = entries.with_columns(conflict.cast(nw.Int64).alias("conflict"))
    whole = ["size", "n", "inside", "points", "above"]
    if asked.where is not None:
        whole += ["asked", "known"]
    added = [how_many(entries).alias("entries"), *[nw.col(name).sum() for name in whole]]
    added.append(of_somebody(entries).alias("of_somebody"))
    flags = ["rows", "conflict", *(["declared"] if asked.ask.apart else [])]
    added += [nw.col(name).max() for name in flags]
    by.append("each")
    if budgets:
        entries = with_key(entries)
        by.append("key")
        added.append(nw.col("e").min().alias("e"))
    parts = long_counts(entries.group_by(*by).agg(*added), ("entries", "of_somebody"))
    nobody = nw.col("of_somebody") < nw.col("entries")
    parts = parts.with_columns(nobody.cast(nw.Int64).alias("nobody"))
    # Cast after the aggregate: DuckDB adds 64-bit integers up in 128 bits.
    whole = ["entries", "each", *whole, *flags, "nobody"]
    own = [name for pair, _ in groups for name in pair]
    return parts.select(
        *own, *[nw.col(name).cast(nw.Int64) for name in whole], *(["e"] if budgets else [])
    )


def _with_people(asked: Wanted, entries: nw.LazyFrame[Any], table: Columns) -> nw.LazyFrame[Any]:
    """Add to each entry aggregates over all entries of its person.

    `own`, `sum` and `gaps` (selected rows without a value) count declared groups only, and `r` and
    `r_gaps` are the person's sums of `own` and `gaps`. `rows` is the number of all rows, `each`
    that of entries, `declared` that of declared groups. `e` becomes the smallest budget.
    """
    import narwhals as nw

    inside = nw.lit(True)
    for _, out in _groups(asked):
        inside = inside & (nw.col(out) == 0)
    of_rows = nw.col("asked" if asked.where is not None else "size")
    own = {"own": nw.col("n"), "sum": nw.col("s")}
    totals: dict[str, Total] = {
        "r": ("own", "sum"),
        "rows": ("size", "sum"),
        "each": ("who", "rows"),
    }
    if asked.rules.in_the_middle:
        own["gaps"] = of_rows - nw.col("n")
        totals["r_gaps"] = ("gaps", "sum")
    if asked.ask.apart:
        own["inside"] = nw.lit(1)
        totals["declared"] = ("inside", "sum")
    if _budgets(table):
        totals["e"] = ("e", "min")
    entries = with_ones(entries, table.size).with_columns(
        nw.col("size").cast(nw.Int64),
        nw.col("n").cast(nw.Int64),
        *[nw.col(out).cast(nw.Int8) for _, out in _groups(asked)],
    )
    entries = entries.with_columns(
        *[
            nw.when(inside).then(number).otherwise(0).cast(nw.Int64).alias(name)
            for name, number in own.items()
        ]
    )
    if asked.labels:
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


def _divided(asked: Wanted, entries: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Divide everyone's unit: `points` of the group, `above` those of x; `inside` is 1 or 0."""
    import narwhals as nw

    own, total, r = nw.col("own"), nw.col("sum"), nw.col("r")
    if asked.rules.in_the_middle:
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


def _parts(asked: Wanted, table: Columns, result: nw.DataFrame[Any]) -> UnitParts:
    """Read what came back."""
    lines = len(result)

    def total(name: str) -> Integers:
        return as_integers(result[name].fill_null(0))  # in SQL the sum of nothing is null

    group = np.zeros(lines, dtype=np.int64)
    for place, ((name, out), (mark, declared)) in enumerate(
        zip(_groups(asked), asked.labels, strict=True)
    ):
        cell = cells_in(result, labels_of(declared, mark.spelling), declared, name, out)
        group = cell if place == 0 else joined(group, cell, len(declared.labels))
    size = total("size")
    of_rows, known = size, size
    if asked.where is not None:
        of_rows, known = total("asked"), total("known")
    return UnitParts(
        epsilon=as_floats(result["e"]) if _budgets(table) else float(table.epsilon),
        cell=group,
        size=total("entries"),
        each=total("each"),
        inside=total("inside"),
        points=total("points"),
        above=total("above"),
        faults=Faults(
            missing=int((of_rows - total("n")).sum()),
            undeclared=int(of_rows[group < 0].sum()),
            unknown=int((size - known).sum()),
            several=int((total("declared") > 1).sum()) if asked.ask.apart else 0,
            conflicts=int(total("conflict").sum()),
            nobody=int(total("nobody").sum()),
            most=int(total("rows").max(initial=0)),
        ),
    )


def by_people(table: Columns) -> list[Columns]:
    """Parts of a large table in Polars, each with all rows of some of its people.

    Everyone is in exactly one part, which depends only on their id.
    """
    import narwhals as nw
    import polars as pl

    if table.person is None or table.size is None or not engine_of(table.frame).streams:
        return [table]
    parts = min(MOST_PARTS, -(-table.size // PART))
    native: pl.LazyFrame = table.frame.to_native()
    # For other types, equal ids may have different hashes, or hashes that differ between reads.
    dtype = native.collect_schema()[table.person]
    if parts < 2 or not (dtype.is_integer() or dtype in (pl.String, pl.Binary)):
        return [table]
    place = pl.col(table.person).hash() % parts
    return [
        replace(table, frame=nw.from_native(native.filter(place == part))) for part in range(parts)
    ]
