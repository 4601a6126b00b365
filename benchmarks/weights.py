"""The time of a mean of people with weights, in multiples of the same mean without weights.

Both means are measured alternately, in one run. If there are few pairs of budget and weight, rows
are grouped by these pairs. Then weights cost little more than reading one more column. On Polars, a
mean that also reads this column and takes its minimum takes 1.3 times as long. If everyone has a
different weight, all weights are read first, and each row is multiplied by its units (its weight as
an integer). The bare queries for these integers take 1.9 to 2.4 times (Polars) and 2.2 to 2.5 times
(DuckDB) as long as those for a mean without weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import epsilons as ep
from benchmarks import data
from benchmarks.timing import Result, alternate, busy, once

LO, HI = 0.0, 100.0
FEW, MANY = 1.5, 3.0
"""The largest allowed ratios of CPU time: with 40 weights, and with one for each person."""


def results() -> Iterator[Result]:
    for engine, mean in _means():
        for column, words, limit in (("strata", "40 weights", FEW), ("each", "10⁷ weights", MANY)):

            def ours(mean: Callable[..., Any] = mean, column: str = column) -> Any:
                return mean(weights=column)

            for clock, spent, most in ((busy, "CPU", limit), (once, "wall-clock", 1.5 * limit)):
                turns = alternate(ours, mean, 5, clock=clock)
                name = f"mean with {words}, 10⁷ rows, {engine}, against none: {spent} time"
                yield turns.result(name, most)


def _means() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each engine with a function that publishes a mean, with or without a weight column."""
    import duckdb
    import polars as pl

    path = data.weights_parquet()
    asked: dict[str, Any] = {"bounds": (LO, HI)}
    yield "Polars", lambda **own: ep.mean("value", epsilon="epsilon", data=path, **asked, **own)
    connection = duckdb.connect()
    connection.sql("SET enable_progress_bar = false")
    table = connection.read_parquet(str(path))
    yield "DuckDB", lambda **own: ep.mean("value", epsilon="epsilon", data=table, **asked, **own)
    held = {name: column.to_numpy() for name, column in pl.read_parquet(path).to_dict().items()}

    def of_arrays(weights: str | None = None) -> Any:
        own: dict[str, Any] = {} if weights is None else {"weights": held[weights]}
        return ep.mean(held["value"], epsilon=held["epsilon"], **asked, **own)

    yield "NumPy", of_arrays
