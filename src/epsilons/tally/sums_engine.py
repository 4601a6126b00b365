"""The tally on an engine: one query, one pass, the same integers on every engine.

What is written here was chosen because all engines agree on it: floor and not round, comparisons
that put NaN on the same side whether an engine sorts it last or not, casts outside of aggregates,
no division by zero, no quotient of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.budgets import moved
from epsilons.ladder import Ladder
from epsilons.tally.adding import added_up
from epsilons.tally.collect import collected
from epsilons.tally.columns import Columns
from epsilons.tally.engines import engine_of
from epsilons.tally.expressions import (
    Total,
    belongs_to_nobody,
    budget_and_person,
    double,
    few_budgets,
    floats,
    plain_budget,
    put_on_rungs,
    rungs_put_off,
    with_key,
    with_quotient,
)
from epsilons.tally.failures import guarded
from epsilons.tally.grid import GRID, HALF, Rule
from epsilons.tally.grid_engine import (
    SQUARES,
    Square,
    in_sql,
    is_moderate,
    steps_by_sizes,
    within_reach,
)
from epsilons.tally.ieee import finite, less_itself_is_0
from epsilons.tally.labels_engine import as_floats
from epsilons.tally.levels import MOST_ROWS, SumGroups, levels_of
from epsilons.tally.sql import dialect_of
from epsilons.types import Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "count",
    "fold",
    "gathered",
    "on_grid",
    "over_grid",
    "steps_of",
    "valid_rows",
    "with_squares",
    "without",
]

_SPLIT: Final = 2**15
"""The square root of GRID."""


def count(
    table: Columns,
    bounds: tuple[float, float],
    rule: Rule | None = None,
    moments: int = 1,
    *,
    exclude: bool = False,
) -> SumGroups:
    """Count people and add up their integers by budget level, missing values at the middle.

    Args:
        table: a frame with checked columns.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        moments: 1 for sums alone, 2 for sums of squares, too.
        exclude: whether people without any value are counted apart.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """

    def people(table: Columns) -> nw.LazyFrame[Any]:
        rows = _rows(table, bounds, rule)
        found = rows if table.person is None else fold(rows, budgets=isinstance(table.epsilon, str))
        if apart:
            found = found.with_columns(without("valid"))
        if moments == 1:
            return found
        valid = "valid" if "valid" in found.collect_schema() else None
        return with_squares(found, [("x", valid, "v")])

    apart = exclude and table.person is not None
    groups, more = gathered(
        table, people, (*(["v"] if moments > 1 else []), *(["absent"] if apart else []))
    )
    half = HALF * groups.missing * (table.person is None)
    absent = more.get("absent", groups.missing if exclude else None)
    return replace(groups, sums=groups.sums + half, squares=more.get("v"), absent=absent)


def without(*valid: str) -> nw.Expr:
    """Return whether a person lacks one of some numbers: `absent`, 1 or 0.

    Args:
        valid: the columns that say how many rows of a person have each number.
    """
    import narwhals as nw

    least = nw.col(valid[0]) if len(valid) == 1 else nw.min_horizontal(*map(nw.col, valid))
    return (least <= 0).cast(nw.Int64).alias("absent")


def gathered(
    table: Columns, people: Callable[[Columns], nw.LazyFrame[Any]], also: Sequence[str]
) -> tuple[SumGroups, dict[str, Integers]]:
    """Add people up by budget level, on the engine.

    Args:
        table: a frame with checked columns.
        people: makes one row of each person of a table: `x`, `e`, `valid`, and what `fold` says
            beside.
        also: further columns of whole numbers, to be added up.

    Returns:
        The groups, in which what is missing is in no sum; and the sums of the further columns.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    grouped, folded = isinstance(table.epsilon, str), table.person is not None

    def run() -> tuple[nw.DataFrame[Any], Ladder | None]:
        own, later = rungs_put_off(table)
        few = later is not None or (grouped and not folded and few_budgets(own))
        each = people(own)
        if few:
            groups = added_up(each, ["e"], _totals(each, also), table.passed)
            if engine_of(groups).streams:
                return collected(groups, table.passed), later
            each = put_on_rungs(groups, later)
        query = _by_level(each, table, also, grouped=grouped, folded=folded)
        return collected(query, table.passed), None

    result, later = guarded(run, *table.failure)
    epsilon = as_floats(result["e"]) if grouped else float(table.epsilon)
    if later is not None and not isinstance(epsilon, float):
        epsilon = later.of(epsilon)
    levels, level_of = levels_of(epsilon, len(result))

    def total(name: str) -> Integers:
        found = np.zeros(levels.size, dtype=np.int64)
        if name in result.columns:
            # In SQL the sum of nothing is null.
            numbers = [number or 0 for number in result[name].to_list()]
            np.add.at(found, level_of, np.array(numbers, dtype=np.int64))
        return found

    groups = SumGroups(
        levels=levels,
        people=total("size"),
        sums=total("x"),
        missing=total("rows" if folded else "size") - total("valid"),
        conflicts=total("conflict"),
        nobody=total("nobody"),
        most=total("most"),
        moved=moved(epsilon),
    )
    return groups, {name: total(name) for name in also}


def _rows(table: Columns, bounds: tuple[float, float], rule: Rule | None) -> nw.LazyFrame[Any]:
    """Put every row on the grid: `x`, `valid`, `e`, and `who`: see `on_grid`."""
    sql = dialect_of(table.frame)
    plain = rule is None and table.ladder is None and table.person is None
    if sql is not None and plain and is_moderate(bounds):
        value, others = double(table, table.values, sql), plain_budget(table, sql)
        return in_sql(table.frame, value, bounds, others)
    return table.frame.select(*on_grid(table, bounds, rule), *budget_and_person(table))


def on_grid(
    table: Columns,
    bounds: tuple[float, float],
    rule: Rule | None = None,
    asked: nw.Expr | None = None,
) -> list[nw.Expr]:
    """Return the value of every row on the grid, `x`.

    Where a value is missing `x` is null, or it is 0, and `valid`, which is 1 elsewhere, is 0.

    Args:
        table: a frame with checked columns.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        asked: whether a value counts, false or null where it is taken for missing.
    """
    import narwhals as nw

    value = floats(table, table.values)
    engine = engine_of(table.frame)
    if table.person is None and engine.slow_clip and rule is None and is_moderate(bounds):
        near = within_reach(value)
        near = near if asked is None else nw.when(asked).then(near)
        return [steps_by_sizes(near, bounds).cast(nw.Int64).alias("x")]
    steps = steps_of(table, value, bounds, rule)
    if table.person is None and engine.nullable:
        if engine.truncates:
            steps = _cut(table, value, bounds, rule)
        there = value.is_finite() if engine.finite else less_itself_is_0(value)
        there = there if asked is None else there & asked
        # Cast last: an engine that has the same numbers in two conditions may cast them outside of
        # both, and NaN is no integer.
        return [nw.when(there).then(steps).cast(nw.Int64).alias("x")]
    # Nulls are filled in conditions: an engine need not take null for false.
    valid = finite(value) if asked is None else finite(value) & asked.fill_null(False)
    return [
        nw.when(valid).then(steps).otherwise(0.0).cast(nw.Int64).alias("x"),
        valid.cast(nw.Int64).alias("valid"),
    ]


def steps_of(
    table: Columns, value: nw.Expr, bounds: tuple[float, float], rule: Rule | None = None
) -> nw.Expr:
    """Return a column of numbers on the grid, in floats: of what is missing it is anything."""
    # Clipped before: the floor of any float from 0 to GRID + ½ is a whole number from 0 to GRID, so
    # that no theory of rounding is needed for privacy. Spark's floor cannot take more.
    return _cut(table, value, bounds, rule).floor()


def _cut(
    table: Columns, value: nw.Expr, bounds: tuple[float, float], rule: Rule | None = None
) -> nw.Expr:
    """Return a column of numbers in steps of the grid and a half, from 0 to GRID + ½."""
    lo, hi = bounds
    if rule is None:
        steps = (value - lo) * (GRID / (hi - lo))
    else:
        steps = rule(_clipped(table, (value - lo) * (1.0 / (hi - lo)), 1.0)) * float(GRID)
    return _clipped(table, steps + 0.5, GRID + 0.5)


def _clipped(table: Columns, number: nw.Expr, most: float) -> nw.Expr:
    """Return a number cut to [0, most]."""
    import narwhals as nw

    if not engine_of(table.frame).sql:
        return number.clip(0.0, most)
    return nw.max_horizontal(nw.min_horizontal(number, nw.lit(most)), nw.lit(0.0))


def with_squares(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """Add `grid.squares` of columns, of each person; of a value that is missing null, or 0."""
    own = SQUARES.get(engine_of(rows).kind)
    if own is not None:
        return own(rows, squares)
    return rows.with_columns(*(_square(name, valid).alias(new) for name, valid, new in squares))


def _square(name: str, valid: str | None) -> nw.Expr:
    """Return `grid.squares` of a column, in floats.

    It is `over_grid` of a number with itself, in half as many words: engines read a query of a few
    milliseconds nearly as long as they run it.
    """
    import narwhals as nw

    off = (nw.col(name) - HALF).cast(nw.Float64).abs()
    a = _over(off, _SPLIT)
    b = off - a * float(_SPLIT)
    square = a * a + _over(a * b * (2.0 * _SPLIT) + b * b, GRID)
    if valid is not None:
        square = nw.when(nw.col(valid) > 0).then(square).otherwise(0.0)
    return square.cast(nw.Int64)


def over_grid(p: nw.Expr, q: nw.Expr) -> nw.Expr:
    """Return floor(p·q / GRID) of whole numbers from 0 to GRID, all in floats.

    With p = a·2¹⁵ + b and q = c·2¹⁵ + d the quotient p·q/2³⁰ is a·c + ((a·d + b·c)·2¹⁵ + b·d)/2³⁰.
    Both numbers above are whole and below 2⁵³, so that floats hold them, and quotients by powers of
    two round nothing.
    """
    a, c = _over(p, _SPLIT), _over(q, _SPLIT)
    b, d = p - a * float(_SPLIT), q - c * float(_SPLIT)
    return a * c + _over((a * d + b * c) * float(_SPLIT) + b * d, GRID)


def _over(number: nw.Expr, power: int) -> nw.Expr:
    """Return the floor of a quotient by a power of two."""
    import narwhals as nw

    return (number / nw.lit(power).cast(nw.Float64)).floor()


def valid_rows(rows: nw.LazyFrame[Any], name: str = "x", valid: str = "valid") -> Total:
    """How many rows have a value, as `on_grid` says it of a number."""
    return (valid, "sum") if valid in rows.collect_schema() else (name, "count")


def _totals(rows: nw.LazyFrame[Any], also: Sequence[str]) -> dict[str, Total]:
    """What is wanted of rows: their `size`, the sum of `x`, those that are `valid`, and more."""
    totals: dict[str, Total] = {"size": ("", "rows"), "x": ("x", "sum"), "valid": valid_rows(rows)}
    return totals | {name: (name, "sum") for name in also}


def fold(
    rows: nw.LazyFrame[Any], *, budgets: bool, numbers: Sequence[str] = ("",)
) -> nw.LazyFrame[Any]:
    """Make one row of each person: the mean of their valid rows, floor((2S + r) / 2r).

    Args:
        rows: with `x` and `valid`, of each number.
        budgets: whether there is a column of budgets.
        numbers: what the names of the columns of each number end with.
    """
    import narwhals as nw

    of_person = [nw.len().alias("rows")]
    for end in numbers:
        of_person.append(nw.col(f"x{end}").sum().alias(f"sum{end}"))
        of_person.append(nw.col(f"valid{end}").sum().alias(f"valid{end}"))
    if budgets:
        of_person += [nw.col("e").min().alias("e"), nw.col("e").max().alias("e_max")]
    people = rows.group_by("who").agg(*of_person)
    # A cast after the aggregate: DuckDB adds 64-bit integers up in 128 bits.
    # Sums of very many rows do not fit: such a person is in the middle, and never a failure.
    quotients = []
    for end in numbers:
        usable = (nw.col(f"valid{end}") > 0) & (nw.col("rows") < MOST_ROWS)
        r = nw.when(usable).then(nw.col(f"valid{end}")).otherwise(1).cast(nw.Int64)
        total = nw.when(usable).then(nw.col(f"sum{end}")).otherwise(HALF).cast(nw.Int64)
        quotients.append((2 * total + r).alias(f"above{end}"))
        quotients.append((2 * r).alias(f"below{end}"))
        quotients.append(nw.col(f"valid{end}").cast(nw.Int64).alias(f"valid{end}"))
    nobody = belongs_to_nobody(rows)
    conflict = nw.col("e") != nw.col("e_max") if budgets else nw.col("rows") < 0
    people = people.select(
        *([nw.col("e")] if budgets else []),
        *quotients,
        nw.col("rows").cast(nw.Int64).alias("rows"),
        conflict.cast(nw.Int64).alias("conflict"),
        nobody.cast(nw.Int64).alias("nobody"),
    )
    for end in numbers:
        people = with_quotient(people, f"x{end}", f"above{end}", f"below{end}")
    return people.with_columns(*(nw.col(f"x{end}").clip(0, GRID) for end in numbers))


def _by_level(
    people: nw.LazyFrame[Any], table: Columns, also: Sequence[str], *, grouped: bool, folded: bool
) -> nw.LazyFrame[Any]:
    """Add people up by level: a few rows, whatever the size of the data."""
    import narwhals as nw

    totals = _totals(people, also)
    if "size" in people.collect_schema():
        totals["size"] = ("size", "sum")
    if folded:
        totals["rows"] = ("rows", "sum")
        totals["most"] = ("rows", "max")
        totals |= {name: (name, "sum") for name in ("conflict", "nobody")}
    wholes = [nw.col(name).cast(nw.Int64) for name in totals]
    if not grouped:
        return added_up(people, [], totals, table.passed, bounded=True).select(*wholes)
    totals["e"] = ("e", "min")
    levels = added_up(with_key(people), ["key"], totals, table.passed, bounded=True)
    return levels.select(*wholes, "e")
