"""Handwritten queries for five questions about one table: the fastest found for these integers.

Three columns are rounded to the grid, one is also squared, and all are added up by budget and word.
Every answer is a marginal of the resulting table. The fastest query depends on the engine. In
Polars, a cast rounds down, and squares are scaled by integer division. In DuckDB, the minimum of
two numbers takes ten times as long as a product. So clipping uses absolute values, and squares are
scaled by a shift. Clipping by CASE, by integers and their signs, and by least and greatest was
slower. Sums of 32-bit integers and of floats took the same time. This module imports nothing from
`epsilons`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.bare import GRID, HALF

Query: TypeAlias = Callable[[bool], Any]
"""A query for all five questions, or for the slowest only (means by word)."""

NUMBERS = {"x": ("value", 0.0, 100.0), "y": ("own", 0.0, 10.0), "z": ("value", 0.0, 50.0)}


def in_polars(path: Path, every: bool) -> Any:
    import polars as pl

    def on_grid(name: str) -> Any:
        column, lo, hi = NUMBERS[name]
        value = pl.col(column)
        steps = ((value - lo) * (GRID / (hi - lo)) + 0.5).clip(0.0, GRID + 0.5)
        return pl.when(value - value == 0.0).then(steps).cast(pl.Int64).alias(name)

    names = list(NUMBERS) if every else ["x"]
    rows = pl.scan_parquet(path).select("epsilon", "word", *map(on_grid, names))
    totals = [pl.len(), pl.col("x").count().alias("n"), pl.col("x").sum()]
    if every:
        off = pl.col("x") - HALF
        rows = rows.with_columns((off * off // GRID).alias("q"))
        totals += [pl.col("y").count().alias("m"), pl.col("y", "z", "q").sum()]
    return rows.group_by("epsilon", "word").agg(*totals).collect(engine="streaming").rows()


def in_duckdb(connection: Any, path: Path, every: bool) -> Any:
    asked = {name: NUMBERS[name] for name in (NUMBERS if every else ["x"])}
    raw = ", ".join(dict.fromkeys(column for column, _, _ in asked.values()))
    # All lower bounds are 0, and (x + |x|)/2 clips x at 0. The upper bound is subtracted here, so
    # the next query can clip at the upper bound in the same way.
    below = ", ".join(
        f"floor(({column} + abs({column})) * {0.5 * GRID / hi!r} + 0.5) - {float(GRID)!r} AS {name}"
        for name, (column, _, hi) in asked.items()
    )
    whole = ", ".join(
        f"CAST(CASE WHEN isfinite({column}) THEN ({name} - abs({name})) * 0.5 + {float(GRID)!r} "
        f"END AS BIGINT) AS {name}"
        for name, (column, _, _) in asked.items()
    )
    rows = f"SELECT epsilon, word, {raw}, {below} FROM read_parquet('{path}')"
    rows = f"SELECT epsilon, word, {whole} FROM ({rows})"
    totals = "count(*), count(x), sum(x)"
    if every:
        shift = GRID.bit_length() - 1
        totals += f", count(y), sum(y), sum(z), sum(((x - {HALF}) * (x - {HALF})) >> {shift})"
    query = f"SELECT epsilon, word, {totals} FROM ({rows}) GROUP BY epsilon, word"
    return connection.sql(query).fetchall()


def totals(rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the number of people, and the sums of x, of its squares, of y and of z."""
    size, _, x, _, y, z, q = (sum(int(row[place]) for row in rows) for place in range(2, 9))
    return [size, x, q, y, z]


def margins(answers: Sequence[Any]) -> list[int]:
    """Return the same numbers as `totals`, computed from the tallies of the five questions."""
    moments, _, cells, own, last = answers
    sums = (moments.sums, moments.squares, own.sums, last.sums)
    return [int(cells.cells.sum()), *(int(each.sum()) for each in sums)]
