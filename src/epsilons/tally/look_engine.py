"""A look at rows on an engine: one query, of which a few lines come back.

Each row gets its marks, and people are added up by how many rows they have.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from epsilons.tally import labels_engine
from epsilons.tally.categories import Categories
from epsilons.tally.columns import Columns
from epsilons.tally.expressions import belongs_to_nobody, budget_and_person, floats
from epsilons.tally.ieee import a_number, exactly, finite

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["MARKS", "marked", "query"]

MARKS: Final = ("missing", "infinite", "below", "above", "undeclared")
"""What is counted of rows, 1 or 0 in each: those that apply are there."""


def marked(
    table: Columns, bounds: tuple[float, float] | None, categories: Categories | None
) -> nw.LazyFrame[Any]:
    """Return the marks of every row, with its `e` and `who`.

    Args:
        table: a frame with checked columns.
        bounds: of numbers, if they are known.
        categories: what was declared; None for numbers.
    """
    import narwhals as nw

    if categories is not None:
        return labels_engine.marked(table, categories)
    value = floats(table, table.values)
    there, valid = a_number(value), finite(value)
    marks = {"missing": ~there, "infinite": there & ~valid}
    if bounds is not None:
        lo, hi = (exactly(end, table.frame) for end in bounds)
        marks["below"] = valid & (value < lo).fill_null(False)
        marks["above"] = valid & (value > hi).fill_null(False)
    own = [mark.cast(nw.Int64).alias(name) for name, mark in marks.items()]
    return table.frame.select(*own, *budget_and_person(table))


def query(rows: nw.LazyFrame[Any], lowest: float) -> nw.LazyFrame[Any]:
    """Add up people by how many `rows` they have: `groups`, `people`, marks, and their budgets.

    Args:
        rows: with marks, with `e` if there is a column of budgets, and `who` if there is one of
            people. Rows that belong to no one are groups, and no people.
        lowest: the lowest level of budgets.
    """
    import narwhals as nw

    there = rows.collect_schema()
    marks = [name for name in MARKS if name in there]
    folded, budgets = "who" in there, "e" in there
    person, conflict = nw.lit(1), nw.lit(0)
    people = rows
    if folded:
        own = [nw.len().alias("rows"), *[nw.col(name).sum() for name in marks]]
        if budgets:
            own += [nw.col("e").min(), nw.col("e").max().alias("e_max")]
            conflict = (nw.col("e") != nw.col("e_max")).cast(nw.Int64)
        people = rows.group_by("who").agg(*own)
        person = 1 - belongs_to_nobody(rows).cast(nw.Int64)
    else:
        people = rows.with_columns(nw.lit(1, dtype=nw.Int64).alias("rows"))
    # Casts after the aggregate: DuckDB adds 64-bit integers up in 128 bits.
    whole = ["rows", *marks]
    people = people.with_columns(
        *[nw.col(name).cast(nw.Int64) for name in whole], person.cast(nw.Int64).alias("people")
    )
    gone = nw.col("missing") + (nw.col("infinite") if "infinite" in marks else 0)
    flags = {"silent": (nw.col("rows") == gone).cast(nw.Int64) * nw.col("people")}
    extremes = []
    if budgets:
        flags["conflicts"] = conflict * nw.col("people")
        flags |= _budgets(nw.col("e"), nw.col("people"), exactly(lowest, rows))
        extremes = [nw.col("least").min(), nw.col("largest").max()]
    people = people.with_columns(*[flag.alias(name) for name, flag in flags.items()])
    summed = [*marks, "people", *[name for name in flags if name not in ("least", "largest")]]
    by_size = people.group_by("rows").agg(
        nw.len().alias("groups"), *[nw.col(name).sum() for name in summed], *extremes
    )
    return by_size.select(
        *[nw.col(name).cast(nw.Int64) for name in ("rows", "groups", *summed)],
        *(["least", "largest"] if budgets else []),
    )


def _budgets(e: nw.Expr, person: nw.Expr, lowest: nw.Expr) -> dict[str, nw.Expr]:
    """Flags of the budget `e` of someone who is a person, and what it adds to the extremes."""
    import narwhals as nw

    usable = (e >= 0.0).fill_null(False) & a_number(e)
    positive = usable & (e > 0.0).fill_null(False)
    public = (e == math.inf).fill_null(False)
    between = positive & ~public & (person == 1)
    flags = {
        "unusable": ~usable,
        "zero": usable & ~positive,
        "public": public,
        "short": positive & (e < lowest).fill_null(False),
    }
    counted = {name: flag.cast(nw.Int64) * person for name, flag in flags.items()}
    return counted | {
        "least": nw.when(between).then(e).otherwise(nw.lit(math.inf)),
        "largest": nw.when(between).then(e).otherwise(nw.lit(0.0)),
    }
