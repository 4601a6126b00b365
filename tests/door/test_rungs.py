"""Tallies are the same, whether rungs (budget levels) are found by group or row by row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

from epsilons import door
from epsilons.budgets.levels import Ladder

LADDERS = {
    "declared": Ladder.declare(np.array([0.1, 0.25, 0.5, 1.0, 3.0])),
    "fine": Ladder.up_to(3.0),
}
ODD = [0.0, -0.0, -1.0, math.nan, math.inf, None, 5e-324, 0.1, math.nextafter(0.1, 0.0), 3.0, 1e308]


def some_rows(distinct: int) -> pl.DataFrame:
    """Return rows with this many distinct budgets, and the unusual budgets in `ODD`."""
    rng = np.random.default_rng(distinct)
    menu = [*ODD, *rng.uniform(0.01, 4.0, distinct).tolist()]
    budgets = [menu[place] for place in rng.integers(0, len(menu), 3000)]
    words = rng.choice(["a", "b", "c"], 3000).tolist()
    values = [*rng.uniform(-1.0, 5.0, 2998).tolist(), None, math.nan]
    return pl.DataFrame({"value": values, "word": words, "epsilon": budgets})


def on(engine: str, frame: pl.DataFrame, folder: Path) -> Any:
    """Return a table on an engine, read from a file with column statistics, which ignore NaN."""
    path = folder / "rows.parquet"
    if not path.exists():
        frame.write_parquet(path, statistics=True)
    return duckdb.read_parquet(str(path)) if engine == "duckdb" else pl.scan_parquet(path)


def rungs(frame: pl.DataFrame, ladder: Ladder) -> list[float]:
    """Return the rung of each row, computed by NumPy."""
    own = frame["epsilon"].cast(pl.Float64).fill_null(math.nan).to_numpy()
    return [float(level) for level in ladder.of(own)]


def same(ones: list[Any], others: list[Any]) -> None:
    """Check that levels and totals are the same integers."""
    for one, other in zip(ones, others, strict=True):
        assert one.levels.tolist() == other.levels.tolist()
        assert one.counts.tolist() == other.counts.tolist()
        assert one.cells.tolist() == other.cells.tolist()


def test_labels_of_128_bits_stay_where_they_are() -> None:
    large = 2**62 + 1
    rows = duckdb.sql(
        f"SELECT CASE WHEN i % 3 = 2 THEN {2**70}::HUGEINT ELSE {large}::HUGEINT + i % 3 END "
        "AS word, 1.0::DOUBLE AS epsilon FROM range(90) t(i)"
    )
    declared = door.declare([large, large + 1], None, "others")
    found = door.open("word", epsilon="epsilon", data=rows, categories=declared)
    cells: Any = found.count(door.Ask("cells"))
    assert cells.cells.tolist() == [[30, 30, 30]]
