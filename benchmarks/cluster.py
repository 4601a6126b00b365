"""Predict times on a cluster: fit `costs.py` to local Spark, and extrapolate to 10¹¹ rows."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import bare, data, speed
from benchmarks.costs import (
    COLUMNS,
    Cluster,
    Model,
    Query,
    fit_model,
    predict,
    resample,
    stops,
)
from benchmarks.page import Section
from benchmarks.timing import once, seconds

__all__ = ["section"]

ROWS, CORES = 1e11, 1000
LEVELS = 50
WIDTH = 56.0
"""Bytes of one partial sum: a key, a budget, three integers, and the header of a Spark row."""

HERE = 2
"""Cores of the local Spark session."""

DRAWS = 300
OVER_CORES = (2, 10, 30, 100, 300, 1000, 3000, 10_000)

TEXT = """
No cluster was available. A cost model is fitted to Spark on this machine and extrapolated to 10¹¹
rows and 1,000 cores, three orders of magnitude in rows and two and a half in cores: **an estimate,
not a measurement**.

    t = start (+ call, if it is ours) + task · waves + row · rows/cores
        + group · groups·partitions/cores + byte · shuffled/cores

`rows/cores` refers to the busiest core, `waves` are the tasks that it runs, `groups` are the levels
that each partition sends on. Rows cost differently in the bare query and in ours; all other costs
are shared. Coefficients minimize the sum of squared relative errors, and none is negative.
"""


@dataclass(frozen=True)
class Point:
    """A query and its measured times."""

    words: str
    query: Query
    times: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return statistics.median(self.times)


def section(*, quick: bool) -> Section:
    points = measured(quick=quick)
    queries, times = [p.query for p in points], [p.seconds for p in points]
    model = fit_model(queries, times)
    models = resample(queries, times, DRAWS)
    largest = max(query.rows for query in queries)
    smaller = [p for p in points if p.query.rows < largest]
    held_out = fit_model([p.query for p in smaller], [p.seconds for p in smaller])
    cluster = Cluster(CORES, bytes_per_row=data.stored_bytes(("value", "epsilon")))
    rows = over_cores(model, models, cluster)
    ours, theirs = (predict(model, ROWS, LEVELS, WIDTH, cluster, ours=o) for o in (True, False))
    text = "\n\n".join(
        [
            TEXT.strip(),
            _left(quick=quick),
            _coefficients(model, models),
            _residuals(points, model, held_out, largest),
            _assumptions(cluster),
            _prediction(rows),
            f"At 1,000 cores ours takes {ours.total:.0f} s where the bare query takes "
            f"{theirs.total:.0f} s: **{ours.total / theirs.total:.2f} ×**. {_stages(ours)} "
            f"{_where(model, cluster)} {_careful(model, cluster)}",
        ]
    )
    return Section("A cluster on paper", text, plots={"cluster": plot(rows)})


def _left(*, quick: bool) -> str:
    if not quick:
        return "Every query was run five times after a warm-up."
    return (
        "Only in the long form: 10⁸ rows in smaller partitions, and five runs of each query in "
        "place of one."
    )


def measured(*, quick: bool) -> list[Point]:
    """Run and time a set of queries that identifies all coefficients."""
    session = speed.spark()
    runs = 1 if quick else 5
    found = []
    for rows, parts, column in ((10**6, 1, "epsilon"), (10**6, 1, "own"), (10**7, 10, "own")):
        found += list(_pair(session, rows, parts, column, runs))
    for parts in (2, 10) if quick else (1, 2, 10):
        found += list(_pair(session, 10**7, parts, "epsilon", runs))
    found.append(_exact(session, 10**6, 1, 1, runs))
    found.append(_exact(session, 10**6, 1, 50, runs))
    for reducers in (50,) if quick else (1, 50):
        found.append(_exact(session, 10**7, 10, reducers, runs))
    for records, width, reducers in ((10**5, 16, 2), (10**6, 16, 2), (10**5, 1000, 20)):
        found.append(_shuffle(session, records, width, reducers, runs))
    found += list(_largest(session, quick=quick))
    return found


def _pair(session: Any, rows: int, parts: int, column: str, runs: int) -> Iterator[Point]:
    """Time two means of a table in `parts` partitions: a bare SQL query, and this package."""
    path = data.table(rows)
    work = speed.Work("mean", column)
    groups = LEVELS if column == "epsilon" else _levels()
    works: tuple[tuple[bool, Callable[[], Any]], ...] = (
        (False, lambda: bare.spark_mean(session, path, column)),
        (True, lambda: speed.release(work, session.read.parquet(str(path)))),
    )
    with _partitioned(session, parts):
        for ours, run in works:
            query = Query(rows, parts, groups, WIDTH, 1, HERE, ours)
            words = f"{'ours' if ours else 'bare'}, {groups:,} levels"
            yield Point(words, query, _times(run, runs))


def _levels() -> int:
    """Return the number of levels after rounding 10⁵ budgets."""
    splitter = bare.SPLITTER
    product = data.OWN * splitter
    return len(np.unique(product - (product - data.OWN)))


def _exact(session: Any, rows: int, parts: int, reducers: int, runs: int) -> Point:
    """Time a bare SQL query for means, grouped by 10⁵ budgets.

    The budgets are not rounded, so every partition has many groups.
    """
    path, groups = data.table(rows), len(data.OWN)
    text = bare.sql_mean("own", f"parquet.`{path}`", **bare.SPARK).replace(
        "GROUP BY key", "GROUP BY own"
    )
    with _partitioned(session, parts), _reduced(session, reducers):
        # The model has no term for rows sent to the driver, so Spark adds up the sums itself.
        whole = f"SELECT count(*), sum(s) FROM ({text.replace('sum(x)', 'sum(x) AS s')})"
        times = _times(lambda: session.sql(whole).collect(), runs)
    sent = min(groups, rows // parts)
    query = Query(rows, parts, sent, WIDTH, reducers, HERE, False)
    return Point(f"bare, {groups:,} groups, {reducers} reducers", query, times)


def _shuffle(session: Any, records: int, width: int, reducers: int, runs: int) -> Point:
    """Time only a shuffle, of generated records of `width` bytes."""
    parts = 4
    made = session.range(0, records, 1, parts).selectExpr(
        "id",
        f"repeat(chr(97 + CAST(id % 26 AS INT)), {width - 16}) AS pad"
        if width > 16
        else "id AS pad",
    )
    column = "length(pad)" if width > 16 else "pad"

    def run() -> Any:
        return made.repartition(reducers, "id").selectExpr(f"sum({column})").collect()

    query = Query(0, parts, records / parts, float(width), reducers, HERE, False)
    return Point(f"a shuffle of {width} bytes", query, _times(run, runs))


def _largest(session: Any, *, quick: bool) -> Iterator[Point]:
    """Return times for 10⁸ rows, measured by `speed.py` in this run or measured now."""
    rows, parts = 10**8, -(-data.table(10**8).stat().st_size // 2**27)
    known = speed.MEASURED.get(("PySpark", speed.MEAN, rows))
    if known is None:
        yield from _pair(session, rows, parts, "epsilon", 1 if quick else 3)
    else:
        for ours, times in ((False, known.other), (True, known.ours)):
            query = Query(rows, parts, LEVELS, WIDTH, 1, HERE, ours)
            yield Point(f"{'ours' if ours else 'bare'}, {LEVELS} levels", query, times)
    if not quick:
        yield from _pair(session, rows, 50, "epsilon", 3)


def _times(run: Callable[[], Any], runs: int) -> tuple[float, ...]:
    run()
    return tuple(once(run) for _ in range(runs))


@contextmanager
def _partitioned(session: Any, parts: int) -> Iterator[None]:
    """Make Spark read files in `parts` partitions."""
    names = {
        "spark.sql.files.minPartitionNum": str(parts),
        "spark.sql.files.maxPartitionBytes": str(2**33),
        "spark.sql.files.openCostInBytes": "0",
    }
    with _set(session, names):
        yield


@contextmanager
def _reduced(session: Any, reducers: int) -> Iterator[None]:
    """Make Spark shuffle to `reducers` tasks."""
    names = {
        "spark.sql.shuffle.partitions": str(reducers),
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
    }
    with _set(session, names):
        yield


@contextmanager
def _set(session: Any, names: dict[str, str]) -> Iterator[None]:
    for name, value in names.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name in names:
            session.conf.unset(name)


Row = tuple[int, float, float, float, float]
"""A number of cores, the seconds that the bare query and ours take on them, and the ends of an
interval for ours."""


def over_cores(model: Model, models: list[Model], cluster: Cluster) -> list[Row]:
    """Predict the time of a mean of 10¹¹ rows for several numbers of cores."""

    def total(each: Model, cores: int, *, ours: bool) -> float:
        there = replace(cluster, cores=cores)
        return predict(each, ROWS, LEVELS, WIDTH, there, ours=ours).total

    found = []
    for cores in OVER_CORES:
        drawn = [total(each, cores, ours=True) for each in models]
        low, high = np.quantile(drawn, (0.05, 0.95)).tolist()
        bare_time, our_time = (total(model, cores, ours=o) for o in (False, True))
        found.append((cores, bare_time, our_time, low, high))
    return found


def _coefficients(model: Model, models: list[Model]) -> str:
    units = {"start": ("a job", 1e3, "ms"), "task": ("a wave of tasks", 1e3, "ms")}
    units |= {"row, bare": ("a row, bare", 1e9, "ns"), "row, ours": ("a row, ours", 1e9, "ns")}
    units |= {
        "group": ("a group of a partition", 1e9, "ns"),
        "byte": ("a shuffled byte", 1e9, "ns"),
        "call": ("our call, besides the job", 1e3, "ms"),
    }
    drawn = np.array([each.coefficients for each in models])
    lows, highs = np.quantile(drawn, (0.05, 0.95), axis=0)
    lines = ["| cost of | fitted | 90 % of refits |", "| --- | --- | --- |"]
    for name, value, low, high in zip(COLUMNS, model.coefficients, lows, highs, strict=True):
        words, factor, unit = units[name]
        lines.append(
            f"| {words} | {factor * value:.3g} {unit} | {factor * low:.3g} – {factor * high:.3g} |"
        )
    return "\n".join(lines)


def _residuals(points: list[Point], model: Model, held_out: Model, largest: float) -> str:
    lines = [
        "| query | rows | partitions | reducers | measured | model | off |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for point, off in zip(points, model.residuals, strict=True):
        query = point.query
        lines.append(
            f"| {point.words} | {query.rows:,} | {query.partitions} | {query.reducers} "
            f"| {seconds(point.seconds)} | {seconds(model.seconds(query))} | {100 * off:+.0f} % |"
        )
    far = [
        f"{p.words}: {seconds(held_out.seconds(p.query))} for {seconds(p.seconds)} "
        f"({100 * (held_out.seconds(p.query) / p.seconds - 1):+.0f} %)"
        for p in points
        if p.query.rows == largest
    ]
    check = (
        f"Cross-check: fitted without the queries of {largest:,.0f} rows, the model predicts them "
        f"as {'; '.join(far)}."
    )
    typical = f"The typical residual is {100 * model.typical:.0f} %."
    return "\n".join(lines) + f"\n\n{typical} {check}"


def _assumptions(cluster: Cluster) -> str:
    return "\n".join(
        [
            "Assumed, and not measured:",
            "",
            f"- {cluster.bytes_per_row:.1f} bytes a row in the two columns that are read (as in "
            f"the file here), {cluster.partition_bytes / 2**20:.0f} MiB per task: "
            f"{ROWS * cluster.bytes_per_row / cluster.partition_bytes:,.0f} tasks;",
            "- a core is as fast as one here; storage gives it "
            f"{cluster.per_core_bandwidth / 1e6:.0f} MB/s, and all cores together "
            f"{cluster.aggregate_bandwidth / 1e9:.0f} GB/s; reading overlaps with computing, so "
            "only the slower of the two counts;",
            f"- machines of {cluster.machine_cores} cores with {8 * cluster.network / 1e9:.0f} "
            "Gbit/s;",
            f"- the driver sends tasks out one after another, {1e3 * cluster.dispatch:g} ms each, "
            f"and takes in a merged group in {1e6 * cluster.merge:g} µs; {cluster.reducers} tasks "
            "merge the partial sums of levels × partitions;",
            f"- the last task of the scan takes {cluster.straggler:g} times as long as the others; "
            "no task fails;",
            "- the session is already running: the time to start it (some ten seconds), and to "
            "start the machines, is not counted.",
        ]
    )


def _prediction(rows: list[Row]) -> str:
    lines = [
        "| cores | bare | ours | 90 % of refits | ours / bare |",
        "| --- | --- | --- | --- | --- |",
    ]
    for cores, theirs, mine, low, high in rows:
        lines.append(
            f"| {cores:,} | {theirs:,.0f} s | {mine:,.0f} s | {low:,.0f} – {high:,.0f} s "
            f"| {mine / theirs:.2f} |"
        )
    return "The mean of 10¹¹ rows, 50 levels:\n\n" + "\n".join(lines)


def _stages(parts: Any) -> str:
    names = ("start", "scan", "straggler", "dispatch", "shuffle", "driver")
    shares = ", ".join(f"{name} {getattr(parts, name):.2g} s" for name in names)
    return f"Of ours: {shares}."


def _where(model: Model, cluster: Cluster) -> str:
    end = stops(model, ROWS, LEVELS, WIDTH, cluster)
    least = predict(model, ROWS, LEVELS, WIDTH, replace(cluster, cores=10**6), ours=True).total
    return (
        f"It stops scaling at about {end:,} cores: from there on, doubling them saves less than a "
        f"fifth, and no number of cores gets below {least:.0f} s: the driver that sends out tasks, "
        "the shared storage, and the last task set this limit (Amdahl)."
    )


def _careful(model: Model, cluster: Cluster) -> str:
    worse = replace(
        cluster, speed=0.6, per_core_bandwidth=40e6, aggregate_bandwidth=25e9, straggler=3.0
    )
    worse = replace(worse, dispatch=5e-3)
    better = replace(
        cluster, speed=1.5, per_core_bandwidth=300e6, aggregate_bandwidth=400e9, straggler=1.2
    )
    low, high = (
        predict(model, ROWS, LEVELS, WIDTH, there, ours=True).total for there in (better, worse)
    )
    return (
        "Refits show only how well this machine is known. The assumptions matter more. With "
        "cores and storage 1.5 to 4 times as good, or with cores and storage about half as good, "
        "dispatch five times slower and a last task three times as long as the others, the range "
        f"is **{low:.0f} to {high:.0f} s**. That is the honest interval."
    )


def plot(rows: list[Row]) -> Any:
    """Plot time against cores, with a line for perfect scaling."""
    import altair as alt

    first = rows[0]
    lines = [
        {"cores": cores, "seconds": time_taken, "query": name}
        for cores, theirs, mine, _, _ in rows
        for name, time_taken in (
            ("bare", theirs),
            ("ours", mine),
            ("perfect scaling", first[2] * first[0] / cores),
        )
    ]
    band = [{"cores": cores, "low": low, "high": high} for cores, _, _, low, high in rows]
    x = alt.X("cores:Q", scale=alt.Scale(type="log"), title="cores").axis(format="~s")
    log = alt.Scale(type="log")
    area = alt.Chart(alt.Data(values=band)).mark_area(opacity=0.25, color="#1f4e79")
    area = area.encode(x=x, y=alt.Y("low:Q", scale=log), y2="high:Q")
    line = alt.Chart(alt.Data(values=lines)).mark_line(point=True)
    line = line.encode(
        x=x,
        y=alt.Y("seconds:Q", scale=log, title="seconds (predicted)"),
        color=alt.Color(
            "query:N",
            title=None,
            scale=alt.Scale(
                domain=["ours", "bare", "perfect scaling"], range=["#1f4e79", "#c0504d", "#999999"]
            ),
        ),
    )
    title = "The mean of 10¹¹ rows on a cluster: a model, not a measurement"
    return alt.layer(area, line).properties(width=480, height=320, title=title)
