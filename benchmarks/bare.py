"""Bare queries, written by hand for each engine, that return the same integers as a tally.

A bare query computes the integers to which noise is added, and ignores privacy. It rounds values to
a grid of 2³⁰ steps (null, NaN and infinities to its middle). Then it adds 64-bit integers and
counts rows, by budget. With very many budgets it groups by budgets rounded to nine bits, as a tally
does. This module imports nothing from `epsilons`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

LO, HI = 0.0, 100.0
GRID = 2**30
HALF = GRID // 2
SPLITTER = 2.0**44 + 1.0
STEP = GRID / (HI - LO)


def polars_mean(path: Path, budget: str) -> Any:
    import polars as pl

    value = pl.col("value")
    steps = ((value - LO) * STEP + 0.5).clip(0.0, GRID + 0.5).floor()
    cell = pl.when(value.is_finite()).then(steps).otherwise(HALF).cast(pl.Int64).alias("x")
    totals = [pl.len(), pl.col("x").sum()]
    rows = pl.scan_parquet(path)
    if budget == "own":
        rows = rows.select(cell, polars_key().alias("key"), "own")
        query = rows.group_by("key").agg(pl.col("own").min(), *totals).drop("key")
    else:
        query = rows.select(budget, cell).group_by(budget).agg(*totals)
    return query.collect(engine="streaming").rows()


def polars_frequencies(path: Path, budget: str) -> Any:
    import polars as pl

    rows = pl.scan_parquet(path)
    if budget == "own":
        rows = rows.select(polars_key().alias("key"), "own", "word")
        query = rows.group_by("key", "word").agg(pl.col("own").min(), pl.len())
        query = query.select("own", "word", "len")
    else:
        query = rows.group_by(budget, "word").agg(pl.len())
    return query.collect(engine="streaming").rows()


def polars_key() -> Any:
    import polars as pl

    product = pl.col("own") * SPLITTER
    return product - (product - pl.col("own"))


def sql_mean(budget: str, source: str, finite: str) -> str:
    """Return the SQL query for a mean; dialects differ in how they ask for finite numbers."""
    steps = f"floor(least(greatest((value - {LO!r}) * {STEP!r} + 0.5, 0.0), {GRID + 0.5!r}))"
    cell = f"CASE WHEN {finite} THEN CAST({steps} AS BIGINT) ELSE {HALF} END"
    if budget == "own":
        return (
            f"SELECT min(own), count(*), sum(x) FROM (SELECT own, {KEY} AS key, "
            f"{cell} AS x FROM {source}) AS rows GROUP BY key"
        )
    return f"SELECT {budget}, count(*), sum({cell}) FROM {source} GROUP BY {budget}"


def sql_frequencies(budget: str, source: str) -> str:
    if budget == "own":
        return (
            f"SELECT min(own), word, count(*) FROM (SELECT own, word, {KEY} AS key "
            f"FROM {source}) AS rows GROUP BY key, word"
        )
    return f"SELECT {budget}, word, count(*) FROM {source} GROUP BY {budget}, word"


# In Spark SQL, 1.0 is a decimal. With an exponent it is a double, in both dialects.
KEY = f"own * {SPLITTER:e} - (own * {SPLITTER:e} - own)"
FINITE = {
    "DuckDB": "isfinite(value)",
    "PySpark": f"abs(value) <= {math.nextafter(math.inf, 0.0)!r}",
}


def duckdb_mean(connection: Any, path: Path, budget: str) -> Any:
    source = f"read_parquet('{path}')"
    return connection.sql(sql_mean(budget, source, FINITE["DuckDB"])).fetchall()


def duckdb_frequencies(connection: Any, path: Path, budget: str) -> Any:
    return connection.sql(sql_frequencies(budget, f"read_parquet('{path}')")).fetchall()


def spark_mean(session: Any, path: Path, budget: str) -> Any:
    return session.sql(sql_mean(budget, f"parquet.`{path}`", FINITE["PySpark"])).collect()


def spark_frequencies(session: Any, path: Path, budget: str) -> Any:
    return session.sql(sql_frequencies(budget, f"parquet.`{path}`")).collect()
