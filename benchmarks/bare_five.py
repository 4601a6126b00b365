"""Handwritten queries for five questions about one table: the fastest found for these integers.

Three columns are rounded to the grid, one is also squared, and all are added up by budget and word.
Every answer is a marginal of the resulting table. The fastest query depends on the engine. In
Polars, a cast rounds down, and squares are scaled by integer division. In DuckDB, the minimum of
two numbers takes ten times as long as a product. So clipping uses absolute values, and squares are
scaled by a shift. Numbers that are not finite become NaN, of which TRY_CAST makes null; a test for
them took a tenth longer. Clipping by CASE, by integers and their signs, and by least and greatest
was slower. Sums of 32-bit integers and of floats took the same time.

Ten bins of a column have a query of their own. It compares values with all edges: a quotient would
be rounded, and a value next to an edge could be in the wrong bin. This module imports nothing from
`epsilons`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.bare import GRID, HALF

Query: TypeAlias = Callable[[str, bool], Any]
"""A query by budget and word for some of `NUMBERS`, with or without the squares of the first."""

NUMBERS = {"x": ("value", 0.0, 100.0), "y": ("own", 0.0, 10.0), "z": ("value", 0.0, 50.0)}
EDGES = [10.0 * k for k in range(11)]


def in_polars(path: Path, names: str, squares: bool) -> Any:
    import polars as pl

    def on_grid(name: str) -> Any:
        column, lo, hi = NUMBERS[name]
        value = pl.col(column)
        steps = ((value - lo if lo else value) * (GRID / (hi - lo)) + 0.5).clip(0.0, GRID + 0.5)
        return pl.when(value - value == 0.0).then(steps).cast(pl.Int64).alias(name)

    rows = pl.scan_parquet(path).select("epsilon", "word", *map(on_grid, names))
    totals = [pl.len(), pl.col("x", "y").count().name.suffix(" n"), pl.col(*names).sum()]
    if squares:
        off = pl.col("x") - HALF
        rows = rows.with_columns((off * off // GRID).alias("q"))
        totals.append(pl.col("q").sum())
    return rows.group_by("epsilon", "word").agg(*totals).collect(engine="streaming").rows()


def in_duckdb(connection: Any, path: Path, names: str, squares: bool) -> Any:
    asked = {name: NUMBERS[name] for name in names}
    # All lower bounds are 0, and (x + |x|)/2 clips x at 0. The upper bound is subtracted here, so
    # the next query can clip at the upper bound in the same way.
    below = ", ".join(
        f"floor(({column} + abs({column})) * {0.5 * GRID / hi!r} + 0.5) - {float(GRID)!r} AS {name}"
        for name, (column, _, hi) in asked.items()
    )
    whole = ", ".join(
        f"TRY_CAST(({name} - abs({name})) * 0.5 + {float(GRID)!r} AS BIGINT) AS {name}"
        for name in asked
    )
    rows = f"SELECT epsilon, word, {below} FROM read_parquet('{path}')"
    rows = f"SELECT epsilon, word, {whole} FROM ({rows})"
    totals = ", ".join(["count(*), count(x), count(y)", *(f"sum({name})" for name in names)])
    if squares:
        totals += f", sum(((x - {HALF}) * (x - {HALF})) >> {GRID.bit_length() - 1})"
    query = f"SELECT epsilon, word, {totals} FROM ({rows}) GROUP BY epsilon, word"
    return connection.sql(query).fetchall()


def bins_in_polars(path: Path) -> Any:
    """Count rows by budget and number of edges at or below the value; 0 edges for null and NaN."""
    import polars as pl

    value = pl.col("value")
    first, *others = ((value >= edge).cast(pl.Int8) for edge in EDGES)
    there = pl.when(value - value == 0.0).then(sum(others, first)).otherwise(0).alias("bin")
    rows = pl.scan_parquet(path).select("epsilon", there)
    return rows.group_by("epsilon", "bin").agg(pl.len()).collect(engine="streaming").rows()


def bins_in_duckdb(connection: Any, path: Path) -> Any:
    """Count rows as `bins_in_polars` does."""
    passed = " + ".join(f"CAST(value >= {edge!r} AS TINYINT)" for edge in EDGES)
    place = f"CASE WHEN isfinite(value) THEN {passed} ELSE 0 END"
    rows = f"SELECT epsilon, {place} AS bin FROM read_parquet('{path}')"
    return connection.sql(f"SELECT epsilon, bin, count(*) FROM ({rows}) GROUP BY ALL").fetchall()


def totals(rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the number of people, and the sums of x, of its squares, of y and of z."""
    size, _, _, x, y, z, q = (sum(int(row[place]) for row in rows) for place in range(2, 9))
    return [size, x, q, y, z]


def margins(answers: Sequence[Any]) -> list[int]:
    """Return the same numbers as `totals`, computed from the tallies of the five questions."""
    moments, _, cells, own, last = answers
    sums = (moments.sums, moments.squares, own.sums, last.sums)
    return [int(cells.cells.sum()), *(int(each.sum()) for each in sums)]


def in_bins(rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the number of people in each bin, and in none."""
    counts = [0] * (len(EDGES) + 1)
    for _, place, count in rows:
        counts[int(place)] += int(count)
    return [*counts[1:-1], counts[0] + counts[-1]]
