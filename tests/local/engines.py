"""Tables of reports on every engine that starts quickly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.testing import assert_allclose

from epsilons.local import State
from tests.engines import QUICK, on_engine

NO_BYTES = ("csv", "pandas nullable")
ENGINES = [*(name for name in QUICK if name not in NO_BYTES), "record batches"]


def frame(engine: str, table: pl.DataFrame, directory: Path) -> Any:
    """Return the table as a frame of an engine."""
    if engine == "record batches":
        return table.to_arrow().to_reader(max_chunksize=37)
    return on_engine(engine, table, directory)


def same(one: State, two: State) -> None:
    """Check that two states are equal.

    Counts are exact, and sums may differ by rounding (in float32 for vectors).
    """
    assert (one.kind, one.parameters, one.weights) == (two.kind, two.parameters, two.weights)
    assert (one.n, one.private) == (two.n, two.private)
    mine, theirs = one.levels.bins, two.levels.bins
    assert np.array_equal(mine.keys, theirs.keys)
    assert np.array_equal(mine.people, theirs.people)
    assert_allclose(mine.budgets, theirs.budgets, rtol=1e-12)
    digits = 1e-5 if one.kind == "vector" else 1e-11
    assert_allclose(one.total, two.total, rtol=digits, atol=digits * np.abs(two.total).max())
    assert_allclose(one.sums, two.sums, rtol=1e-12)


Make = Callable[[pl.DataFrame], Any]
