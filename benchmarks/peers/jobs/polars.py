"""Polars without privacy: the query that yields the same integers, without noise."""

import polars as pl

PACKAGE = "polars"
GRID = 2**30


def collect(question, keys, *totals):
    """Group by the keys, and by the budget column if there is one."""
    if isinstance(question.epsilon, str):
        keys = [question.epsilon, *keys]
    rows = pl.scan_parquet(question.path)
    query = rows.group_by(*keys).agg(*totals) if keys else rows.select(*totals)
    return query.collect(engine="streaming")


def mean(question):
    low, high = question.bounds
    value = pl.col("value")
    steps = ((value - low) * (GRID / (high - low)) + 0.5).clip(0.0, GRID + 0.5).floor()
    cell = pl.when(value.is_finite()).then(steps).otherwise(GRID // 2).cast(pl.Int64)
    found = collect(question, [], pl.len().alias("n"), cell.sum().alias("total"))
    return low + (high - low) * found["total"].sum() / GRID / found["n"].sum()


def frequencies(question):
    found = collect(question, ["word"], pl.len().alias("n"))
    counts = dict(found.group_by("word").agg(pl.col("n").sum()).rows())
    return [counts.get(word, 0) for word in question.categories]
