"""Tables of up to 10⁸ rows, made once and kept in benchmarks/data, which Git ignores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "data"
MENU = np.geomspace(0.01, 10.0, 50)
OWN = np.geomspace(0.01, 10.0, 100_000)
WORDS = [f"category {k:02d}" for k in range(100)]
SIZES = {10**6: "10⁶", 10**7: "10⁷", 10**8: "10⁸"}
PART = 10**6
"""Rows that are made at a time. They are a row group of the file."""


def table(rows: int) -> Path:
    """Return a Parquet file with one row for each person, made if it does not exist.

    Its columns are `value` (a float), `epsilon` (one of 50 budgets), `own` (one of 10⁵ budgets) and
    `word` (one of 100 categories).
    """
    import pyarrow.parquet as pq

    path = FOLDER / f"people-{rows}.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")  # another process can make it, too
        with pq.ParquetWriter(unfinished, part(0, 1).schema, compression="zstd") as writer:
            for index in range(rows // PART):
                writer.write_table(part(index, PART), row_group_size=PART)
        unfinished.rename(path)
    return path


def part(index: int, size: int) -> Any:
    """Return some rows of a table."""
    import polars as pl

    rng = np.random.default_rng([11, index])
    return pl.DataFrame(
        {
            "value": rng.normal(50.0, 20.0, size),
            "epsilon": rng.choice(MENU, size),
            "own": rng.choice(OWN, size),
            "word": pl.Series(WORDS)[rng.integers(0, len(WORDS), size)],
        }
    ).to_arrow(compat_level=pl.CompatLevel.oldest())
