"""Expressions and steps that all counting queries share, written once in Narwhals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from epsilons.budgets.levels import HUGE, SPLITTER, Ladder
from epsilons.door.count.asks import BAD_BUDGET
from epsilons.door.engines.floats import STIR, a_number, rounded, rung, stirred
from epsilons.door.engines.running import Passed, collected, glanced
from epsilons.door.engines.table import Dialect, dialect_of, engine_of
from epsilons.door.given.columns import Columns

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "How",
    "Total",
    "added_up",
    "belongs_to_nobody",
    "budget_and_person",
    "double",
    "few_budgets",
    "floats",
    "how_many",
    "long_counts",
    "of_somebody",
    "plain_budget",
    "put_on_rungs",
    "rungs_put_off",
    "wanted",
    "with_key",
    "with_ones",
    "with_quotient",
    "with_totals",
]


How: TypeAlias = Literal["rows", "count", "sum", "min", "max"]
Total: TypeAlias = tuple[str, How]
"""A column and its aggregate. For "rows" the column does not matter."""

PEEK = 4096
"""The number of rows that are read to choose between two queries for the same integers."""

COSTLY: Final = ("JOIN", "CROSS", "ORDER", "SORT", "GROUP", "AGGREGATE", "WINDOW")
"""Words in a query plan that show much work before the first row."""


def floats(table: Columns, column: str) -> nw.Expr:
    """Return a column of numbers in float64."""
    import narwhals as nw

    return nw.col(column) if table.types[column] == nw.Float64 else nw.col(column).cast(nw.Float64)


def budget_and_person(table: Columns) -> list[nw.Expr]:
    """Return `e`, if there is a column of budgets, and `who`, if there is a column of ids."""
    import narwhals as nw

    columns = []
    if isinstance(table.epsilon, str):
        budget = floats(table, table.epsilon)
        if table.ladder is not None:
            budget = rung(table.ladder, budget, table.frame)
            if table.person is not None:
                # With budget 0, rows that belong to no one are left out of the sum.
                nobody = _is_nobody(table.person, table.types[table.person])
                budget = nw.when(nobody).then(0.0).otherwise(budget)
        elif table.person is not None:
            # The minimum over a person's rows would ignore a null or a NaN. If every row is its own
            # person, bad budgets have keys of their own and become levels of their own.
            usable = (budget >= 0.0).fill_null(False) & a_number(budget)
            budget = nw.when(usable).then(budget).otherwise(BAD_BUDGET)
        columns.append(budget.alias("e"))
    if table.person is not None:
        who = nw.col(table.person)
        float_ids = table.types[table.person].is_float()
        columns.append((who + 0.0 if float_ids else who).alias("who"))
    return columns


def belongs_to_nobody(rows: nw.LazyFrame[Any]) -> nw.Expr:
    """Return whether `who` is null or NaN."""
    return _is_nobody("who", rows.collect_schema()["who"])


def of_somebody(rows: nw.LazyFrame[Any]) -> nw.Expr:
    """Return the number of rows of a group that belong to somebody, after `with_ones`.

    It is less than the number of all its rows if some belong to nobody.
    """
    import narwhals as nw

    own = nw.col("somebody")
    return own.sum() if "somebody" in rows.collect_schema() else nw.col("who").count()


def _is_nobody(who: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Return whether an id is null or NaN."""
    import narwhals as nw

    return ~a_number(nw.col(who)) if dtype.is_float() else nw.col(who).is_null()


def _key(budget: nw.Expr) -> nw.Expr:
    """Return the key of a budget's level, to group by: `levels.keys`, stirred.

    Stirred keys are negative. All other keys are not, unless a budget is negative.
    """
    import narwhals as nw

    return nw.when(budget <= HUGE).then(stirred(rounded(budget))).otherwise(budget)


def with_key(rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Add the `key` of the budget `e`, and turn -0.0 into 0.0 in `e`."""
    import narwhals as nw

    sql = dialect_of(rows)
    if sql is not None:
        return _keyed_in_text(rows, sql)
    # PyArrow groups 0.0 and -0.0 separately.
    rows = rows.with_columns(nw.col("e") + 0.0)
    return rows.with_columns(_key(nw.col("e")).alias("key"))


def _keyed_in_text(rows: nw.LazyFrame[Any], sql: Dialect) -> nw.LazyFrame[Any]:
    """`with_key` as SQL text, unless there is a key already."""
    names = list(rows.collect_schema())
    if "key" in names:
        return rows
    others = [sql.name(name) for name in names if name != "e"]
    return sql.selected(rows, [*others, *_budget_and_key(sql.name("e"), sql)])


def _budget_and_key(budget: str, sql: Dialect) -> list[str]:
    """A budget, with -0.0 as 0.0, and its key, in SQL."""
    number = sql.number
    budget = f"({budget} + {number(0.0)})"
    product = f"{budget} * {number(SPLITTER)}"
    key = f"({product} - ({product} - {budget})) * {number(STIR)}"
    key = f"CASE WHEN {budget} <= {number(HUGE)} THEN {key} ELSE {budget} END"
    return [f"{budget} AS e", f"{key} AS {sql.name('key')}"]


def few_budgets(table: Columns) -> bool:
    """Whether the first rows suggest few different budgets; False where reading them is not cheap.

    Grouping by the exact budgets first, and then by their keys, is up to a third faster if there
    are few, and three times slower if everyone has their own. The integers are the same.
    """
    peek = engine_of(table.frame).peek
    if peek == "if planned":
        # The first rows of a table or a file cost nothing. A join, sort or aggregation has to run
        # before its first row.
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
    return glanced(budgets.head(PEEK))["e"].n_unique() <= PEEK // 8


def plain_budget(table: Columns, sql: Dialect) -> list[str]:
    """`budget_and_person` in SQL, if every row is its own person and there is no ladder.

    On engines where `few_budgets` never looks at rows, keys are included.
    """
    if not isinstance(table.epsilon, str):
        return []
    budget = double(table, table.epsilon, sql)
    if engine_of(table.frame).peek == "never":
        return _budget_and_key(budget, sql)
    return [f"{budget} AS e"]


def double(table: Columns, column: str, sql: Dialect) -> str:
    """`floats` in SQL."""
    import narwhals as nw

    name = sql.name(column)
    return name if table.types[column] == nw.Float64 else f"CAST({name} AS DOUBLE)"


def rungs_put_off(table: Columns) -> tuple[Columns, Ladder | None]:
    """The table to read; and the ladder, if groups of its rows are to be put on it afterwards.

    Finding a rung for each row takes longer than everything else. A rung depends only on the
    budget, so rows with equal budgets share the rung of their group: the integers are the same. If
    budgets are many, or looking at the first rows is not cheap, rungs are found row by row.
    """
    if table.ladder is None or table.person is not None or not isinstance(table.epsilon, str):
        return table, None
    plain = replace(table, ladder=None)
    return (plain, table.ladder) if few_budgets(plain) else (table, None)


def put_on_rungs(groups: nw.LazyFrame[Any], ladder: Ladder | None) -> nw.LazyFrame[Any]:
    """Put the budget `e` of groups on a ladder, if their rows are not on it yet."""
    import narwhals as nw

    if ladder is None:
        return groups
    return groups.with_columns(rung(ladder, nw.col("e"), groups).alias("e"))


def with_quotient(rows: nw.LazyFrame[Any], name: str, above: str, below: str) -> nw.LazyFrame[Any]:
    """Add the floor of a quotient of integers. The quotient must be below 2³¹.

    Some engines divide integers as floats. The floor of such a quotient is off by at most one, and
    products of integers, which are exact everywhere, correct it.

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
    """Add the columns that `how_many` and `of_somebody` need on some engines.

    `one` is for more rows of one person than 32 bits hold. `somebody` is for ids that may be NaN:
    not every engine can test that within a group.

    Args:
        rows: rows of any engine.
        size: the number of all rows, if it is known.
    """
    import narwhals as nw

    if rows.collect_schema()["who"].is_float():
        somebody = ~belongs_to_nobody(rows)
        rows = rows.with_columns(somebody.cast(nw.Int64).alias("somebody"))
    if not engine_of(rows).counts_short or (size is not None and size < 2**32):
        return rows
    # Polars adds up small integers in 64 bits.
    return rows.with_columns(nw.lit(1, dtype=nw.Int8).alias("one"))


def how_many(rows: nw.LazyFrame[Any]) -> nw.Expr:
    """Return the exact number of rows of a group, after `with_ones`."""
    import narwhals as nw

    return nw.col("one").sum() if "one" in rows.collect_schema() else nw.len()


def with_totals(parts: nw.LazyFrame[Any], totals: Mapping[str, Total]) -> nw.LazyFrame[Any]:
    """Add to every row aggregates over all rows of its person, `who`.

    Args:
        parts: rows, or groups of rows, of people, after `with_ones`.
        totals: the aggregate for each new column. A new column may replace an old one.
    """
    import narwhals as nw

    def total(column: str, how: str) -> nw.Expr:
        found: nw.Expr = how_many(parts) if how == "rows" else getattr(nw.col(column), how)()
        return found

    if engine_of(parts).windows:
        own = [total(*wanted).over("who").alias(name) for name, wanted in totals.items()]
        return parts.with_columns(*own)
    # Without windows, one join does the same.
    people = parts.group_by("who").agg(
        *[total(*wanted).alias(f"{name} of all") for name, wanted in totals.items()]
    )
    joined = parts.join(people, on="who", how="left")
    # A null person joins no row. Totals of such rows have no meaning: they are refused or left out.
    found, types = [], joined.collect_schema()
    for name, (column, how) in totals.items():
        of_all = nw.col(f"{name} of all")
        alone = nw.lit(1) if how == "rows" else nw.col(column)
        whole = nw.when(of_all.is_null()).then(alone).otherwise(of_all)
        # In pandas and Dask, integers with nulls have become floats.
        whole_number = how == "rows" or types[column].is_integer()
        found.append((whole.cast(nw.Int64) if whole_number else whole).alias(name))
    return joined.with_columns(*found).drop(*[f"{name} of all" for name in totals])


# Aggregate rows by some columns: the first step of most queries.
#
# On engines that are slow to build a query, this step is one SQL text, and its few groups are
# loaded into memory. The rest of the query is the same, on the same integers.

MOST_AT_HAND: Final = 2**18
"""One more than the largest number of groups that are loaded into memory."""

SQL: Final[dict[How, str]] = {
    "rows": "count(*)",
    "count": "count({})",
    # DuckDB adds up 64-bit integers in 128 bits, and the sum of no rows is null.
    "sum": "CAST(coalesce(sum({}), 0) AS BIGINT)",
    "min": "min({})",
    "max": "max({})",
}
"""Aggregates of a column in SQL."""


def added_up(
    rows: nw.LazyFrame[Any],
    by: Sequence[str],
    totals: Mapping[str, Total],
    passed: Passed | None,
    *,
    bounded: bool = False,
) -> nw.LazyFrame[Any]:
    """Aggregate rows by some columns, for later steps that aggregate the groups again.

    Counts are 64-bit integers. A count that wraps at 2³² would change by all of 2³² for one more
    person.

    Args:
        rows: rows of any engine.
        by: the columns to group by.
        totals: the aggregates of each group, by their new names.
        passed: the counter of rows read, if progress is shown.
        bounded: whether there are few groups for any data. Keys of budgets are few, except that
            each budget above 2⁹⁰⁰ is its own key.
    """
    sql = dialect_of(rows)
    if sql is not None:
        texts = [
            f"{SQL[how].format(sql.name(column))} AS {sql.name(name)}"
            for name, (column, how) in totals.items()
        ]
        return _at_hand(sql.added_up(rows, by, texts), passed, bounded=bounded)
    found = wanted(totals)
    groups = rows.group_by(*by).agg(*found) if by else rows.select(*found)
    return long_counts(
        groups, [name for name, (_, how) in totals.items() if how in ("rows", "count")]
    )


def long_counts(groups: nw.LazyFrame[Any], counts: Sequence[str]) -> nw.LazyFrame[Any]:
    """Cast counts of rows to 64-bit integers, before counts of several groups are added up."""
    import narwhals as nw

    if not (counts and engine_of(groups).counts_short):
        return groups
    return groups.with_columns(*(nw.col(name).cast(nw.Int64) for name in counts))


def wanted(totals: Mapping[str, Total]) -> list[nw.Expr]:
    """Totals as Narwhals expressions."""
    import narwhals as nw

    made = []
    for name, (column, how) in totals.items():
        total = nw.len() if how == "rows" else getattr(nw.col(column), how)()
        made.append(total.alias(name))
    return made


def _at_hand(
    groups: nw.LazyFrame[Any], passed: Passed | None, *, bounded: bool
) -> nw.LazyFrame[Any]:
    """Load groups into memory, if they are few."""
    import narwhals as nw

    if any(dtype in (nw.Int128, nw.UInt128) for dtype in groups.collect_schema().values()):
        return groups  # groups are transferred by Arrow, which has no such integers
    # In Spark, `head` needs a stage of its own.
    few = collected(groups if bounded else groups.head(MOST_AT_HAND), passed)
    is_all = bounded or len(few) < MOST_AT_HAND
    return nw.from_native(few.to_polars().lazy()) if is_all else groups
