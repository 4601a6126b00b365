"""Time of a mean and a frequency table of 10⁶ to 10⁸ Parquet rows, compared with bare queries."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import epsilons as ep
from benchmarks import bare, data
from benchmarks.page import Section
from benchmarks.timing import Ratio, Result, alternate, once, seconds, tell
from epsilons import door

__all__ = ["MEASURED", "Engine", "Work", "engines", "section", "spark"]

SIZES = (1_000_000, 10_000_000, 100_000_000)
TARGET = SIZES[-1]
WORDS = {10**6: "10⁶", 10**7: "10⁷", 10**8: "10⁸"}
PATIENCE = 15.0
"""If one bare query takes more than this many seconds, only the long form measures 10⁸ rows."""

MANY = 2.0
"""The largest allowed ratio if everyone has one of 10⁵ budgets."""

TEXT = """
The same rows, queried by hand and by `epsilons`. *Bare* is a query written in the engine's own
language that returns exactly the integers to which noise is added: null, NaN and infinities
guarded, values clipped and put on a grid of 2³⁰ steps, 64-bit sums and counts by budget
([`bare.py`](bare.py)). *Ours* is the whole call, from the file to the release: `ep.mean` and
`ep.frequencies` with all their checks. Before anything is timed, the integers of both are compared,
and they are equal. “50 levels”: everyone has one of 50 budgets; “10⁵ budgets”: one
of 100,000, which both queries round to nine bits.

Polars and DuckDB read one file; PySpark is one session of `local[2]`, its start not counted.
"""


@dataclass(frozen=True)
class Engine:
    """One engine: a function that opens a file, and bare queries.

    Attributes:
        name: name on the page.
        limit: the largest allowed ratio at 10⁸ rows and 50 levels.
        read: function that takes a path and returns the argument `data=`.
        mean: the bare mean of a file, by a budget column.
        frequencies: the bare frequency table of a file, by a budget column.
    """

    name: str
    limit: float
    read: Callable[[Path], Any]
    mean: Callable[[Path, str], Any]
    frequencies: Callable[[Path, str], Any]


@dataclass(frozen=True)
class Work:
    """One question: a statistic and one of two budget columns."""

    statistic: str
    budget: str

    @property
    def name(self) -> str:
        return f"{self.statistic}, {'50 levels' if self.budget == 'epsilon' else '10⁵ budgets'}"


MEAN, OWN_MEAN = Work("mean", "epsilon"), Work("mean", "own")
TABLE, OWN_TABLE = Work("frequencies", "epsilon"), Work("frequencies", "own")

MEASURED: dict[tuple[str, Work, int], Ratio] = {}
"""Times measured in this run, which the cluster model also uses."""


def section(*, quick: bool) -> Section:
    rows = []
    found: list[Result] = []
    late: list[str] = []
    for engine in engines():
        for size, work, runs in plan(engine.name, quick=quick):
            ratio = compare(engine, work, size, runs, quick=quick)
            name = f"{engine.name}, {WORDS[size]} rows, {work.name}"
            if ratio is None:
                late.append(name)
                continue
            MEASURED[engine.name, work, size] = ratio
            rows.append((engine, work, size, ratio))
            if size == TARGET or (quick and work is OWN_MEAN):
                limit = engine.limit if work.budget == "epsilon" else MANY
                found.append(tell(ratio.result(f"{name}: over the bare query", limit)))
    return Section(
        "Speed compared with the bare engine",
        TEXT + _left(late, quick=quick) + table(rows),
        tuple(found),
        {"speed": plot(rows)},
        fast=(_said(rows),) if rows else (),
    )


def _said(rows: list[tuple[Engine, Work, int, Ratio]]) -> str:
    """Return a sentence with the time of each engine for the mean of the largest table."""
    largest = max(size for _, _, size, _ in rows)
    each = [
        f"{engine.name} {seconds(statistics.median(ratio.ours))}, {ratio.figure:.2f} × the bare "
        "query"
        for engine, work, size, ratio in rows
        if (work, size) == (MEAN, largest)
    ]
    return (
        f"The mean of {WORDS[largest]} rows with 50 different budgets, from file to release, "
        f"compared with a bare query that finds the same integers: {'; '.join(each)}."
    )


def plan(engine: str, *, quick: bool) -> Iterator[tuple[int, Work, int]]:
    """Yield the sizes, questions and repetitions to measure on an engine, smallest first."""
    slow = engine == "PySpark"
    for size in SIZES:
        if not quick:
            yield from ((size, work, 5) for work in (MEAN, OWN_MEAN, TABLE, OWN_TABLE))
        elif not (slow and size == SIZES[0]):
            runs = 3 if slow else 5
            yield size, MEAN, runs
            if not slow:
                yield size, TABLE, 3 if size == TARGET else runs
            if size == 10**7:
                yield size, OWN_MEAN, runs


def _left(late: list[str], *, quick: bool) -> str:
    if not quick:
        return "\n"
    slow = (
        f" One bare query took over {PATIENCE:g} s on this machine, so these are left out too: "
        f"{'; '.join(late)}."
        if late
        else ""
    )
    return (
        "\nOnly in the long form: 10⁵ budgets at 10⁸ rows and in frequencies, frequencies and 10⁶ "
        "rows on PySpark, more repetitions (with three pairs an interval is their range, 75 %), "
        "and the comparison of integers at 10⁸ rows, which here uses fewer rows."
        f"{slow}\n\n"
    )


def compare(engine: Engine, work: Work, size: int, runs: int, *, quick: bool) -> Ratio | None:
    """Time our release and the bare query alternately, after checking that their integers agree.

    The quick form does not check the integers of the largest table.

    Returns:
        Their times; None if the query is too slow for the quick form.
    """
    path = data.table(size)
    query = engine.mean if work.statistic == "mean" else engine.frequencies
    if quick and size == TARGET:
        # The integers were already compared on fewer rows. This run also warms the file cache.
        if once(lambda: query(path, work.budget)) > PATIENCE:
            return None
    else:
        same(engine, work, path)
    return alternate(
        lambda: release(work, engine.read(path)),
        lambda: query(path, work.budget),
        runs,
        warm=False,
    )


def release(work: Work, table: Any) -> Any:
    """Run the entire call, from the table to the release."""
    if work.statistic == "mean":
        return ep.mean("value", epsilon=work.budget, bounds=(bare.LO, bare.HI), data=table)
    return ep.frequencies("word", epsilon=work.budget, categories=data.WORDS, data=table)


def same(engine: Engine, work: Work, path: Path) -> None:
    """Check that our tally and the bare query have the same integers.

    Raises:
        AssertionError: they differ.
    """
    if work.statistic == "mean":
        rows = door.open("value", epsilon=work.budget, data=engine.read(path))
        sums = rows.count(door.Ask("numbers", (bare.LO, bare.HI)))
        columns = (sums.levels.tolist(), sums.counts.tolist(), sums.sums.tolist())
        ours: Any = bare.as_sums(zip(*columns, strict=True))
        theirs: Any = bare.as_sums(engine.mean(path, work.budget))
    else:
        declared = door.declare(data.WORDS, None, None)
        rows = door.open("word", epsilon=work.budget, data=engine.read(path), categories=declared)
        cells = rows.count(door.Ask("cells"))
        levels, places = cells.cells.nonzero()
        ours = bare.as_counts(
            (cells.levels[level], cells.categories[place], cells.cells[level, place])
            for level, place in zip(levels.tolist(), places.tolist(), strict=True)
        )
        theirs = bare.as_counts(engine.frequencies(path, work.budget))
    if ours != theirs:
        raise AssertionError(f"{engine.name}, {work.name}: the bare query has other integers")


def engines() -> Iterator[Engine]:
    """Yield the engines to measure."""
    yield Engine("Polars", 1.25, lambda path: path, bare.polars_mean, bare.polars_frequencies)
    import duckdb

    connection = duckdb.connect()
    connection.sql("SET enable_progress_bar = false")
    yield Engine(
        "DuckDB",
        1.25,
        lambda path: connection.read_parquet(str(path)),
        lambda path, budget: bare.duckdb_mean(connection, path, budget),
        lambda path, budget: bare.duckdb_frequencies(connection, path, budget),
    )
    session = spark()
    yield Engine(
        "PySpark",
        1.3,
        lambda path: session.read.parquet(str(path)),
        lambda path, budget: bare.spark_mean(session, path, budget),
        lambda path, budget: bare.spark_frequencies(session, path, budget),
    )


@lru_cache(maxsize=1)
def spark() -> Any:
    """Return the Spark session of this run.

    Raises:
        RuntimeError: Java is not installed.
    """
    if shutil.which("java") is None:
        raise RuntimeError("PySpark needs Java 17, which is not on the path")
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .appName("epsilons benchmarks")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )


def table(rows: list[tuple[Engine, Work, int, Ratio]]) -> str:
    """Return a Markdown table of all measurements, with or without limits."""
    import statistics

    lines = [
        "| engine | rows | what | bare | ours | ours / bare | interval |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for engine, work, size, ratio in rows:
        low, high, confidence = ratio.interval
        ours, other = statistics.median(ratio.ours), statistics.median(ratio.other)
        lines.append(
            f"| {engine.name} | {size:,} | {work.name} | {seconds(other)} | {seconds(ours)} "
            f"| {ratio.figure:.2f} | {low:.2f} – {high:.2f} ({100 * confidence:.0f} %) |"
        )
    return "\n".join(lines)


def plot(rows: list[tuple[Engine, Work, int, Ratio]]) -> Any:
    """Plot seconds against rows for each engine, for the bare query and for ours."""
    import altair as alt

    points = [
        {
            "engine": engine.name,
            "rows": size,
            "seconds": sorted(times)[len(times) // 2],
            "query": query,
            "what": work.statistic,
        }
        for engine, work, size, ratio in rows
        if work.budget == "epsilon"
        for query, times in (("bare", ratio.other), ("ours", ratio.ours))
    ]
    return (
        alt.Chart(alt.Data(values=points))
        .mark_line(point=True)
        .encode(
            x=alt.X("rows:Q", scale=alt.Scale(type="log"), title="rows").axis(
                format="~s", values=list(SIZES)
            ),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds"),
            color=alt.Color("engine:N", title="engine"),
            strokeDash=alt.StrokeDash(
                "query:N",
                title="query",
                legend=alt.Legend(symbolType="stroke"),
                scale=alt.Scale(domain=["ours", "bare"], range=[[1, 0], [5, 3]]),
            ),
            column=alt.Column("what:N", title=None, sort=["mean", "frequencies"]),
        )
        .properties(width=260, height=260)
    )
