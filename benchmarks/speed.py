"""Time of a mean and a frequency table of 10⁶ to 10⁸ Parquet rows, compared with bare queries."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import epsilons as ep
from benchmarks import bare, data, page
from benchmarks.timing import alternate

TITLE = "Speed compared with the bare engine"
TEXT = """The same rows, queried by hand and by `epsilons`. *Bare* is a query in the engine's \
own language that returns exactly the integers to which noise is added: null, NaN and infinities \
guarded, values clipped and put on a grid of 2³⁰ steps, 64-bit sums and counts by budget \
([`bare.py`](bare.py)). *Ours* is the whole call, from the file to the release: `ep.mean` and \
`ep.frequencies` with all their checks. Before anything is timed, both are compared, without \
noise, and they are equal. “50 levels”: everyone has one of 50 budgets; “10⁵ budgets”: one of \
100,000, which both queries round to nine bits. Polars and DuckDB read one file; PySpark is one \
session of `local[2]`, its start not counted."""
BUDGETS = {"epsilon": "50 levels", "own": "10⁵ budgets"}


@dataclass(frozen=True)
class Engine:
    """An engine: a function that opens a file for `data=`, and its bare queries."""

    name: str
    read: Callable[[Path], Any]
    mean: Callable[[Path, str], Any]
    frequencies: Callable[[Path, str], Any]


def section(*, quick: bool) -> str:
    """Return the section of the page."""
    rows = []
    for engine in engines():
        for size in list(data.SIZES)[: 2 if quick else 3]:
            for budget in list(BUDGETS)[: 1 if quick else 2]:
                for statistic in ("mean", "frequencies"):
                    found = compare(engine, statistic, budget, data.table(size))
                    rows.append([engine.name, f"{size:,}", f"{statistic}, {BUDGETS[budget]}"])
                    rows[-1] += found
                    print(" | ".join(rows[-1]), flush=True)
    heads = ["engine", "rows", "what", "bare", "ours", "ours / bare", "interval"]
    return f"{TEXT}\n\n{page.table(heads, rows)}"


def compare(engine: Engine, statistic: str, budget: str, path: Path) -> list[str]:
    """Time our release and the bare query alternately, after checking that they agree."""
    query = engine.mean if statistic == "mean" else engine.frequencies
    found = query(path, budget)
    exact = release(statistic, math.inf, engine.read(path)).value
    if statistic == "mean":
        people, total = (sum(column) for column in list(zip(*found, strict=True))[1:])
        same = math.isclose(exact, bare.LO + total / bare.STEP / people, rel_tol=1e-12)
    else:
        counts = dict.fromkeys(data.WORDS, 0)
        for _, word, count in found:
            counts[word] += count
        people = sum(counts.values())
        same = [round(share * people) for share in exact] == [*counts.values()]
    if not same:
        raise AssertionError(f"{engine.name}, {statistic}: the bare query has other integers")
    return alternate(
        lambda: release(statistic, budget, engine.read(path)), lambda: query(path, budget), 5
    ).cells


def release(statistic: str, epsilon: Any, table: Any) -> Any:
    """Run the entire call, from the table to the release."""
    if statistic == "mean":
        return ep.mean("value", epsilon=epsilon, bounds=(bare.LO, bare.HI), data=table)
    return ep.frequencies("word", epsilon=epsilon, categories=data.WORDS, data=table)


def engines() -> Iterator[Engine]:
    """Yield the engines to measure.

    Raises:
        RuntimeError: Java is not installed.
    """
    yield Engine("Polars", lambda path: path, bare.polars_mean, bare.polars_frequencies)
    import duckdb

    connection = duckdb.connect()
    connection.sql("SET enable_progress_bar = false")
    yield Engine(
        "DuckDB",
        lambda path: connection.read_parquet(str(path)),
        lambda path, budget: bare.duckdb_mean(connection, path, budget),
        lambda path, budget: bare.duckdb_frequencies(connection, path, budget),
    )
    if shutil.which("java") is None:
        raise RuntimeError("PySpark needs Java 17, which is not on the path")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield Engine(
        "PySpark",
        lambda path: session.read.parquet(str(path)),
        lambda path, budget: bare.spark_mean(session, path, budget),
        lambda path, budget: bare.spark_frequencies(session, path, budget),
    )
    session.stop()
