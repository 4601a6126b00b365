"""Narwhals expressions that all counting queries share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from epsilons.budgets.levels import HUGE, SPLITTER, Ladder
from epsilons.door.count.asks import BAD_BUDGET
from epsilons.door.engines.floats import STIR, a_number, rounded, rung, stirred
from epsilons.door.engines.running import Passed, collected, glanced
from epsilons.door.engines.table import Dialect, dialect_of, engine_of
from epsilons.door.given.columns import Columns

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "MOST_AT_HAND",
    "Aggregate",
    "How",
    "added_up",
    "at_hand",
    "budget_and_person",
    "by_person",
    "double",
    "few_budgets",
    "floats",
    "grouped",
    "is_nobody",
    "of_somebody",
    "plain_budget",
    "put_on_rungs",
    "rungs_put_off",
    "with_key",
    "with_ones",
    "with_quotient",
    "with_totals",
]


How: TypeAlias = Literal["rows", "count", "sum", "min", "max"]
Aggregate: TypeAlias = tuple[str, How]
"""A column and its aggregate. For "rows" the column is ignored."""

PEEK = 4096
"""The number of rows that are read to choose between two equivalent queries."""

FEW: Final = PEEK // 8
FEW_PAIRS: Final = 7 * PEEK // 8
"""A table is assumed to have few budgets, or few pairs of budget and weight, if these rows have at
most this many different ones. If a table has 15,000 equally frequent pairs, about `FEW_PAIRS` of
them are in its first rows. For few pairs, the query by pairs takes half as long as the query by
budgets. With more than about 30,000 pairs, the query by budgets is faster."""

COSTLY: Final = ("JOIN", "CROSS", "ORDER", "SORT", "GROUP", "AGGREGATE", "WINDOW")
"""Words in a query plan that indicate expensive work before the first row."""


def floats(table: Columns, column: str) -> nw.Expr:
    """Return a column of numbers as float64."""
    import narwhals as nw

    return nw.col(column) if table.types[column] == nw.Float64 else nw.col(column).cast(nw.Float64)


def budget_and_person(table: Columns) -> list[nw.Expr]:
    """Return budget `e`, id `who`, number of units `d` and weight `w`, if the table has them."""
    import narwhals as nw

    columns = []
    if isinstance(table.epsilon, str):
        budget = floats(table, table.epsilon)
        if table.ladder is not None:
            budget = rung(table.ladder, budget, table.frame)
            if table.person is not None:
                # Rows without a person get a budget of 0, so they are left out of the sum.
                nobody = is_nobody(table.person, table.types[table.person])
                budget = nw.when(nobody).then(0.0).otherwise(budget)
        elif table.person is not None:
            # The minimum over a person's rows would ignore nulls and NaN. If every row is its own
            # person, invalid budgets have separate keys and become separate levels.
            usable = (budget >= 0.0).fill_null(False) & a_number(budget)
            budget = nw.when(usable).then(budget).otherwise(BAD_BUDGET)
        columns.append(budget.alias("e"))
    if table.person is not None:
        who = nw.col(table.person)
        float_ids = table.types[table.person].is_float()
        columns.append((who + 0.0 if float_ids else who).alias("who"))
    if table.units is not None:
        columns.append(nw.col(table.units).alias("d"))
    if table.weights is not None:
        columns.append(floats(table, table.weights[0]).alias("w"))
    return columns


def of_somebody(rows: nw.LazyFrame[Any]) -> Aggregate:
    """Return the aggregate that counts rows with a person. Rows must come from `with_ones`.

    If a group has more rows than this, some of its rows have no person.
    """
    return ("somebody", "sum") if "somebody" in rows.collect_schema() else ("who", "count")


def is_nobody(who: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Return an expression for whether the id of a person is null or NaN."""
    import narwhals as nw

    return ~a_number(nw.col(who)) if dtype.is_float() else nw.col(who).is_null()


def _key(budget: nw.Expr) -> nw.Expr:
    """Return the key of a budget's level for a group-by: `levels.keys`, then `floats.stirred`.

    Budgets above `HUGE` are their own keys. All other keys are negative, so the two never coincide.
    """
    import narwhals as nw

    return nw.when(budget <= HUGE).then(stirred(rounded(budget))).otherwise(budget)


def with_key(rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Add the `key` of the budget `e`, and replace -0.0 by 0.0 in `e`."""
    import narwhals as nw

    sql = dialect_of(rows)
    if sql is None:
        # PyArrow distinguishes 0.0 from -0.0.
        rows = rows.with_columns(nw.col("e") + 0.0)
        return rows.with_columns(_key(nw.col("e")).alias("key"))
    names = list(rows.collect_schema())
    if "key" in names:  # `plain_budget` has added it
        return rows
    names.remove("e")
    return sql.selected(rows, [*map(sql.name, names), *_budget_and_key(sql.name("e"), sql)])


def _budget_and_key(budget: str, sql: Dialect) -> list[str]:
    """Return SQL for a budget, with 0.0 in place of -0.0, and for its key."""
    number = sql.number
    budget = f"({budget} + {number(0.0)})"
    product = f"{budget} * {number(SPLITTER)}"
    key = f"({product} - ({product} - {budget})) * {number(STIR)}"
    key = f"CASE WHEN {budget} <= {number(HUGE)} THEN {key} ELSE {budget} END"
    return [f"{budget} AS e", f"{key} AS {sql.name('key')}"]


def few_budgets(table: Columns) -> bool:
    """Whether the first rows contain few different budgets; False if they are expensive to read.

    If there are few budgets, grouping by exact budgets first, and then by their keys, is up to a
    third faster. If everyone has a different budget, it is three times slower. The result is the
    same. If rows have weights that are not converted to units, pairs of a budget and a weight are
    counted instead of budgets.
    """
    peek = engine_of(table.frame).peek
    if peek == "if planned":
        # The first rows of a table or a file are cheap to read. A join, sort or aggregation must
        # finish before its first row.
        plan = table.frame.to_native().explain()
        if any(word in plan for word in COSTLY):
            return False
    elif peek == "never":
        return False
    sql = dialect_of(table.frame)
    if sql is not None and table.ladder is None:
        budgets = sql.selected(table.frame, plain_budget(table, sql))
    else:
        budgets = table.frame.select(*budget_and_person(replace(table, person=None)))
    if table.weights is None:
        return glanced(budgets.head(PEEK))["e"].n_unique() <= FEW
    return len(glanced(budgets.head(PEEK)).unique()) <= FEW_PAIRS


def plain_budget(table: Columns, sql: Dialect) -> list[str]:
    """Return `budget_and_person` in SQL, for tables without a column of ids and without a ladder.

    The key of the budget is added if `few_budgets` never reads rows on this engine.
    """
    others = [] if table.units is None else [f"{sql.name(table.units)} AS d"]
    if table.weights is not None:
        others.append(f"{double(table, table.weights[0], sql)} AS w")
    if not isinstance(table.epsilon, str):
        return others
    budget = double(table, table.epsilon, sql)
    if engine_of(table.frame).peek == "never":
        return [*_budget_and_key(budget, sql), *others]
    return [f"{budget} AS e", *others]


def double(table: Columns, column: str, sql: Dialect) -> str:
    """Return `floats` in SQL."""
    import narwhals as nw

    name = sql.name(column)
    return name if table.types[column] == nw.Float64 else f"CAST({name} AS DOUBLE)"


def rungs_put_off(table: Columns, ladder: Ladder) -> tuple[Columns, Ladder | None]:
    """Return the table to read, and the ladder if budgets are placed on it after a group-by.

    Finding the rung (public budget level) of each row takes longer than all other steps. A rung
    depends only on the budget, so one lookup for each group of equal budgets gives the same
    integers. If there are many budgets, or the first rows are expensive to read, rungs are found
    row by row.

    Args:
        table: a table with a column of budgets, in which every row is its own person.
        ladder: its ladder.
    """
    plain = replace(table, ladder=None)
    return (plain, ladder) if few_budgets(plain) else (table, None)


def put_on_rungs(groups: nw.LazyFrame[Any], ladder: Ladder | None) -> nw.LazyFrame[Any]:
    """Replace the budgets `e` of groups by their rungs, if there is a ladder to apply."""
    import narwhals as nw

    if ladder is None:
        return groups
    return groups.with_columns(rung(ladder, nw.col("e"), groups).alias("e"))


def with_quotient(rows: nw.LazyFrame[Any], name: str, above: str, below: str) -> nw.LazyFrame[Any]:
    """Add a column with the floor of a quotient of integers. The quotient must be below 2³¹.

    Some engines divide integers as floats. The floor of such a quotient is off by at most one. It
    is corrected by products of integers, which are exact on all engines.

    Args:
        rows: rows of any engine.
        name: the name of the new column.
        above: a column of 64-bit integers from 0 to 2⁶².
        below: a column of 64-bit integers above 0.
    """
    import narwhals as nw

    high, low, near = nw.col(above), nw.col(below), nw.col(name)
    if engine_of(rows).divides:
        return rows.with_columns((high // low).alias(name))
    guess = (high.cast(nw.Float64) / low.cast(nw.Float64)).floor().cast(nw.Int64)
    less, more = near * low > high, (near + 1) * low <= high
    return rows.with_columns(guess.alias(name)).with_columns(
        (near - less.cast(nw.Int64) + more.cast(nw.Int64)).alias(name)
    )


def with_ones(rows: nw.LazyFrame[Any], size: int | None) -> nw.LazyFrame[Any]:
    """Add columns for counts that an engine cannot compute directly.

    `one` is added up where an engine's own row count would overflow 32 bits. `somebody` is for ids
    that can be NaN, because not every engine can test for NaN within a group.

    Args:
        rows: rows of any engine.
        size: the number of all rows, if known.
    """
    import narwhals as nw

    dtype = rows.collect_schema()["who"]
    if dtype.is_float():
        somebody = ~is_nobody("who", dtype)
        rows = rows.with_columns(somebody.cast(nw.Int64).alias("somebody"))
    if not engine_of(rows).counts_short or (size is not None and size < 2**32):
        return rows
    # Polars adds up small integers in 64 bits.
    return rows.with_columns(nw.lit(1, dtype=nw.Int8).alias("one"))


def with_totals(parts: nw.LazyFrame[Any], totals: Mapping[str, Aggregate]) -> nw.LazyFrame[Any]:
    """Add to every row aggregates over all rows of its person, `who`.

    Args:
        parts: rows of people, or groups of rows, after `with_ones`.
        totals: the aggregate for each new column. A new column can replace an old one.
    """
    import narwhals as nw

    found = _expressed(parts, totals)
    if engine_of(parts).windows:
        for name in totals:
            found[name] = found[name].over("who")
        return parts.with_columns(**found)
    # Without window functions, the totals are joined.
    people = parts.group_by("who").agg(*(found[name].alias(f"{name} of all") for name in totals))
    joined = parts.join(people, on="who", how="left")
    # Null ids do not join, so rows without a person have no totals. They keep their own entries,
    # and are refused or left out later.
    given, types = [], joined.collect_schema()
    for name, (column, how) in totals.items():
        of_all = nw.col(f"{name} of all")
        alone = nw.lit(1) if how == "rows" else nw.col(column)
        whole = nw.when(of_all.is_null()).then(alone).otherwise(of_all)
        # pandas and Dask convert integers with nulls to floats.
        whole_number = how == "rows" or types[column].is_integer()
        given.append((whole.cast(nw.Int64) if whole_number else whole).alias(name))
    return joined.with_columns(*given).drop(*[f"{name} of all" for name in totals])


# Aggregate rows by some columns: the first step of most queries.
#
# Some engines take long to plan a query. For these, this step is written in SQL, and its groups are
# loaded into memory if they are few. The remaining steps are the same and give the same integers.

MOST_AT_HAND: Final = 2**18
"""One more than the largest number of groups that are loaded into memory."""

SQL: Final[dict[How, str]] = {
    "rows": "count(*)",
    "count": "count({})",
    # DuckDB adds up 64-bit integers in 128 bits. The sum of no rows is null.
    "sum": "CAST(coalesce(sum({}), 0) AS BIGINT)",
    "min": "min({})",
    "max": "max({})",
}
"""Aggregates of a column in SQL."""


def added_up(
    rows: nw.LazyFrame[Any], by: Sequence[str], totals: Mapping[str, Aggregate]
) -> nw.LazyFrame[Any]:
    """Aggregate rows by some columns.

    Counts are 64-bit integers. If a count wrapped at 2³², one person could change it by 2³².

    Args:
        rows: rows of any engine.
        by: the columns to group by.
        totals: the aggregate for each new column.
    """
    import narwhals as nw

    sql = dialect_of(rows)
    if sql is not None:
        texts = []
        for name, (column, how) in totals.items():
            texts.append(f"{SQL[how].format(sql.name(column))} AS {sql.name(name)}")
        native = sql.add_up(rows.to_native(), list(map(sql.name, by)), texts)
        return cast("nw.LazyFrame[Any]", nw.from_native(native))
    groups = grouped(rows, by, totals)
    counts = [name for name, (_, how) in totals.items() if how in ("rows", "count")]
    if not (counts and engine_of(groups).counts_short):
        return groups
    return groups.with_columns(*(nw.col(name).cast(nw.Int64) for name in counts))


def grouped(
    rows: nw.LazyFrame[Any], by: Sequence[str], totals: Mapping[str, Aggregate]
) -> nw.LazyFrame[Any]:
    """Aggregate rows by some columns in Narwhals. The width of integers depends on the engine."""
    found = _expressed(rows, totals)
    return rows.group_by(*by).agg(**found) if by else rows.select(**found)


def by_person(
    rows: nw.LazyFrame[Any], totals: Mapping[str, Aggregate], keys: Sequence[str] = ()
) -> nw.LazyFrame[Any]:
    """Aggregate the rows of each person: `size`, the smallest budget `e`, and the largest, `e_max`.

    Units `d` are treated like budgets.

    Args:
        rows: rows with `who`, with `e` if there is a column of budgets, and with `d` if there is
            a column of units.
        totals: further aggregates, each for a new column.
        keys: further columns to group by.
    """
    own: dict[str, Aggregate] = {"size": ("", "rows"), **totals}
    there = rows.collect_schema()
    for name in ("e", "d"):
        if name in there:
            own |= {name: (name, "min"), f"{name}_max": (name, "max")}
    return grouped(rows, ["who", *keys], own)


def _expressed(rows: nw.LazyFrame[Any], totals: Mapping[str, Aggregate]) -> dict[str, nw.Expr]:
    """Return aggregates as Narwhals expressions. Counts of rows from `with_ones` are exact."""
    import narwhals as nw

    ones = "one" in rows.collect_schema()
    found: dict[str, nw.Expr] = {}
    for name, (column, how) in totals.items():
        if how == "rows":
            found[name] = nw.col("one").sum() if ones else nw.len()
        else:
            found[name] = getattr(nw.col(column), how)()
    return found


def at_hand(
    groups: nw.LazyFrame[Any], passed: Passed | None, *, bounded: bool
) -> nw.LazyFrame[Any]:
    """Load groups into memory if they are few and the engine takes long to plan a query.

    Args:
        groups: the result of `added_up`.
        passed: a counter of the rows that are read, if progress is shown.
        bounded: whether the number of groups is small for any data. That is so for keys of budgets,
            unless budgets exceed 2⁹⁰⁰: above that, each budget is its own key.
    """
    import narwhals as nw

    if dialect_of(groups) is None:
        return groups
    if any(dtype in (nw.Int128, nw.UInt128) for dtype in groups.collect_schema().values()):
        return groups  # they would be transferred by Arrow, which has no 128-bit integers
    # In Spark, `head` needs an additional stage.
    few = collected(groups if bounded else groups.head(MOST_AT_HAND), passed)
    is_all = bounded or len(few) < MOST_AT_HAND
    return nw.from_native(few.to_polars().lazy()) if is_all else groups
