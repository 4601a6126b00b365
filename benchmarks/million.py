"""Time of a call on a million rows, minus a fixed overhead, divided by the time of the bare query.

The overhead is ten milliseconds for the call itself. On DuckDB, the time of the statements that a
call needs besides its query is measured and added: see `statements`. The limit for the ratio is
1.15, because our mean also computes sums of squares, which make intervals narrower.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import bare, data
from benchmarks.speed import MEAN, TABLE, Engine, Work, release, same
from benchmarks.timing import Ratio, Result, alternate, once

ROWS = 10**6
CALL = 0.010
"""The allowed overhead of a call, in seconds."""

LIMIT = 1.15

STEPS = 6
"""The steps of our query for a mean on DuckDB: columns are selected, numbers are put on the grid in
two steps, squared, added up by budget, and the first groups are read."""


def results() -> Iterator[Result]:
    path = data.table(ROWS)
    for engine in engines(path):
        for work in (MEAN, TABLE):
            same(engine, work, path)
            query = engine.mean if work is MEAN else engine.frequencies
            turns = alternate(*_turns(engine, work, path, query), runs=15)
            own, less = CALL, "10 ms"
            if engine.name == "DuckDB":
                own, less = CALL + statements(engine.read(path)), "10 ms and other statements"
            name = f"{engine.name}, 10⁶ rows, {work.name}: less {less}, over the bare query"
            yield besides(turns, own).result(name, LIMIT)


def besides(turns: Ratio, own: float) -> Ratio:
    """Return the same times, with the allowed overhead `own` subtracted from our times."""
    return Ratio(tuple(max(mine - own, 0.0) for mine in turns.ours), turns.other)


def statements(table: Any, runs: int = 7) -> float:
    """Return the time of the statements that a call on DuckDB needs besides its query.

    DuckDB binds each step of a query when the step is made. The plan of the table, and the budgets
    of its first rows, show whether to group by budgets or by their levels.
    """

    def asked() -> None:
        table.explain()
        table.project("epsilon").limit(4096).fetchall()
        for _ in range(STEPS):
            table.project("value, epsilon")

    return statistics.median(once(asked) for _ in range(runs))


def _turns(
    engine: Engine, work: Work, path: Path, query: Callable[[Path, str], Any]
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return lambda: release(work, engine.read(path)), lambda: query(path, work.budget)


def engines(path: Path) -> Iterator[Engine]:
    """Yield the engines that start fast. PyArrow keeps its rows in memory."""
    import duckdb
    import polars as pl
    import pyarrow.parquet as pq

    yield Engine("Polars", LIMIT, lambda path: path, bare.polars_mean, bare.polars_frequencies)
    connection = duckdb.connect()
    connection.sql("SET enable_progress_bar = false")
    yield Engine(
        "DuckDB",
        LIMIT,
        lambda path: connection.read_parquet(str(path)),
        lambda path, budget: bare.duckdb_mean(connection, path, budget),
        lambda path, budget: bare.duckdb_frequencies(connection, path, budget),
    )
    held = pq.read_table(path)

    def asked(*columns: str) -> pl.LazyFrame:
        # PyArrow's own group-by is several times slower, so the bare query also uses Polars. Polars
        # reads numbers without a copy, but must convert text.
        frame = pl.from_arrow(held.select(columns))
        assert isinstance(frame, pl.DataFrame)
        return frame.lazy()

    yield Engine(
        "PyArrow",
        LIMIT,
        lambda _: held,
        lambda _, budget: bare.polars_mean_of(asked("value", budget), budget),
        lambda _, budget: bare.polars_frequencies_of(asked("word", budget), budget),
    )
