"""Rows added up by what they have in common: the first step of most queries.

Where an engine takes long to read a query, this step is one text of SQL, and the few groups that it
makes are brought into memory: what follows is the same query, of the same integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from epsilons.tally.collect import collected
from epsilons.tally.engines import engine_of
from epsilons.tally.expressions import How, Total
from epsilons.tally.progress import Passed
from epsilons.tally.sql import dialect_of

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["added_up", "long_counts", "wanted"]

MOST_AT_HAND: Final = 2**18
"""Groups that are brought into memory, and one more."""

SQL: Final[dict[How, str]] = {
    "rows": "count(*)",
    "count": "count({})",
    # DuckDB adds 64-bit integers up in 128 bits, and the sum of nothing is null.
    "sum": "CAST(coalesce(sum({}), 0) AS BIGINT)",
    "min": "min({})",
    "max": "max({})",
}
"""What is wanted of a column, in SQL."""


def added_up(
    rows: nw.LazyFrame[Any],
    by: Sequence[str],
    totals: Mapping[str, Total],
    passed: Passed | None,
    *,
    bounded: bool = False,
) -> nw.LazyFrame[Any]:
    """Add rows up by some columns, ready to be sorted out and added up again.

    Counts are 64-bit integers: those that wrap at 2³² would move by all of that for one person
    more.

    Args:
        rows: of any engine.
        by: what rows of one group have in common.
        totals: what is wanted of each group, by its new name.
        passed: what counts the rows that are read, where somebody looks on.
        bounded: whether they are few for any data: keys of budgets are, but for budgets above
            2⁹⁰⁰, each of which is its own.
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
    """Make 64-bit integers of counts of rows, before those of several groups are added up."""
    import narwhals as nw

    if not (counts and engine_of(groups).counts_short):
        return groups
    return groups.with_columns(*(nw.col(name).cast(nw.Int64) for name in counts))


def wanted(totals: Mapping[str, Total]) -> list[nw.Expr]:
    """Write totals in Narwhals."""
    import narwhals as nw

    made = []
    for name, (column, how) in totals.items():
        total = nw.len() if how == "rows" else getattr(nw.col(column), how)()
        made.append(total.alias(name))
    return made


def _at_hand(
    groups: nw.LazyFrame[Any], passed: Passed | None, *, bounded: bool
) -> nw.LazyFrame[Any]:
    """Bring groups into memory, if they are few."""
    import narwhals as nw

    if any(dtype in (nw.Int128, nw.UInt128) for dtype in groups.collect_schema().values()):
        return groups  # Arrow, by which groups come, has no such integers
    # In Spark the first of them are found by a stage of their own.
    few = collected(groups if bounded else groups.head(MOST_AT_HAND), passed)
    is_all = bounded or len(few) < MOST_AT_HAND
    return nw.from_native(few.to_polars().lazy()) if is_all else groups
