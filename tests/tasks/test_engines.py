"""Tasks 23 and 24: tables that are held by DuckDB, Ibis or Polars give the same release."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import epsilons as ep
from tests.tasks.people import readers

AGE: dict[str, Any] = {"values": "age", "epsilon": "consent", "bounds": (15, 50)}


def test_23_a_million_rows_in_duckdb() -> None:
    table = duckdb.sql(
        "SELECT (range * 7919) % 101 AS score, CASE WHEN range % 10 = 0 THEN 0.1 ELSE 1 END AS e "
        "FROM range(1000000)"
    )
    release = ep.mean("score", epsilon="e", bounds=(0, 100), data=table)
    assert release.n == 1_000_000
    low, high = release.interval(0.9999)
    assert low < np.mean(np.arange(1_000_000) * 7919 % 101) < high


def test_24_every_table_gives_the_same_release() -> None:
    ibis = pytest.importorskip("ibis")
    tables = [
        readers(),
        pl.from_pandas(readers()).lazy(),
        duckdb.from_df(readers()),
        ibis.memtable(readers()),
    ]
    found = [ep.mean(data=table, source=ep.Seeded(1), **AGE).to_json() for table in tables]
    assert len(set(found)) == 1
