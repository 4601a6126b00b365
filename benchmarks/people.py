"""Time and memory of tallies of people with many rows, compared with group-bys by hand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import bare, data
from benchmarks.timing import Result, alternate
from epsilons import door
from epsilons.door.count.units import SHARES

ROWS = 10_000_000
BOUNDS = (bare.LO, bare.HI)
LABELS = list(range(100))
Query = Callable[[Path], list[Any]]


def results(*, quick: bool, rows: int = ROWS, runs: int = 5) -> Iterator[Result]:
    if quick:
        return
    yield from over_bare(rows, runs)
    yield from memory(rows)


def declared() -> door.Categories:
    return door.declare(LABELS, None, None)


def cells(source: Any) -> door.Tally:
    """Tally one unit for each person, divided among 100 categories."""
    own = door.open(
        "number", epsilon="epsilon", data=source, person="person", categories=declared()
    )
    return own.count(door.Ask("cells"))


def shares(source: Any) -> door.Tally:
    """Tally one unit for each person, divided among 100 groups, and the mean in each group."""
    groups = door.Grouping(("number",), (declared(),))
    own = door.open(
        "value", epsilon="epsilon", data=source, person="person", missing="midpoint", groups=groups
    )
    return own.count(door.Ask("numbers", BOUNDS))


def polars_cells(path: Path) -> list[Any]:
    """Count rows by category, budget and rows per person, by the fastest of five Polars queries."""
    import polars as pl

    rows = pl.scan_parquet(path).with_columns(
        pl.len().over("person").alias("rows"), pl.col("epsilon").min().over("person").alias("least")
    )
    query = rows.group_by("number", "least", "rows").agg(pl.len(), pl.col("epsilon").max())
    return query.collect(engine="streaming").rows()


def polars_shares(path: Path) -> list[Any]:
    import polars as pl

    value, n, r = pl.col("value"), pl.col("n"), pl.col("r")
    steps = ((value - bare.LO) * bare.STEP + 0.5).clip(0.0, bare.GRID + 0.5).floor()
    x = pl.when(value.is_finite()).then(steps).otherwise(bare.HALF).cast(pl.Int64).alias("x")
    entries = (
        pl.scan_parquet(path)
        .select("person", "number", "epsilon", x)
        .group_by("person", "number")
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            pl.col("x").sum(),
            pl.col("epsilon").min(),
            pl.col("epsilon").max().alias("most"),
        )
        .with_columns(n.sum().over("person").alias("r"), pl.col("epsilon").min().over("person"))
    )
    points = (bare.GRID * n) // r
    above = pl.min_horizontal((2 * pl.col("x") + r) // (2 * r), points)
    query = (
        entries.with_columns(points.alias("points"), above.alias("above"))
        .group_by("number", "epsilon")
        .agg(pl.col("points").sum(), pl.col("above").sum(), pl.col("most").max())
    )
    return query.collect(engine="streaming").rows()


def duckdb_cells(path: Path) -> list[Any]:
    import duckdb

    query = (
        "SELECT number, least, rows, count(*), max(epsilon) FROM (SELECT number, epsilon, "
        f"count(*) OVER own AS rows, min(epsilon) OVER own AS least FROM read_parquet('{path}') "
        "WINDOW own AS (PARTITION BY person)) GROUP BY number, least, rows"
    )
    return duckdb.connect().sql(query).fetchall()


def duckdb_shares(path: Path) -> list[Any]:
    import duckdb

    steps = (
        f"floor(least(greatest((value - {bare.LO!r}) * {bare.STEP!r} + 0.5, 0.0), "
        f"{bare.GRID + 0.5!r}))"
    )
    x = f"CASE WHEN isfinite(value) THEN CAST({steps} AS BIGINT) ELSE {bare.HALF} END"
    entries = (
        f"SELECT person, number, count(*) n, sum({x})::BIGINT x, min(epsilon) e, max(epsilon) most "
        f"FROM read_parquet('{path}') GROUP BY person, number"
    )
    people = (
        "SELECT number, n, x, most, (sum(n) OVER own)::BIGINT r, min(e) OVER own e "
        f"FROM ({entries}) WINDOW own AS (PARTITION BY person)"
    )
    query = (
        f"SELECT number, e, sum({bare.GRID} * n // r), "
        f"sum(least({bare.GRID} * n // r, (2 * x + r) // (2 * r))), max(most) "
        f"FROM ({people}) GROUP BY number, e"
    )
    return duckdb.connect().sql(query).fetchall()


def same_cells(found: door.Tally, rows: list[Any]) -> bool:
    """Return whether the query by hand and the tally have the same integers."""
    level = {budget: place for place, budget in enumerate(found.levels.tolist())}
    own = np.zeros_like(found.cells)
    left: dict[tuple[int, int], int] = {}
    for label, budget, of_person, count, _ in rows:
        own[level[budget], label] += count * (SHARES // of_person)
        left[level[budget], of_person] = left.get((level[budget], of_person), 0) + count
    for (place, of_person), count in left.items():
        every, over = divmod(SHARES % of_person, len(LABELS))
        own[place] += count // of_person * (every + (np.arange(len(LABELS)) < over))
    return bool((own == found.cells).all())


def same_shares(found: door.Tally, rows: list[Any]) -> bool:
    """Return whether the query by hand and the tally agree, except for group 0.

    The tally adds the remainders of all divisions to group 0.
    """
    level = {budget: place for place, budget in enumerate(found.levels.tolist())}
    pairs = found.cells.reshape(len(found.levels), len(LABELS), 2)
    return all(
        pairs[level[budget], label, 0] == above
        and (label == 0 or pairs[level[budget], label].sum() == points)
        for label, budget, points, above, _ in rows
    )


def over_bare(rows: int, runs: int) -> Iterator[Result]:
    """Time of two tallies on two engines, compared with queries by hand."""
    import duckdb

    path = data.visits(rows)
    polars_path, connection = path, duckdb.connect()
    works: list[tuple[str, Callable[[], Any], Query, Query]] = [
        ("Polars", lambda: polars_path, polars_cells, polars_shares),
        ("DuckDB", lambda: connection.read_parquet(str(path)), duckdb_cells, duckdb_shares),
    ]
    for name, read, of_cells, of_shares in works:
        if not same_cells(cells(read()), of_cells(path)):
            raise AssertionError(f"{name}: the integers of categories differ")
        if not same_shares(shares(read()), of_shares(path)):
            raise AssertionError(f"{name}: the integers of groups differ")
        told = f"{name}, {rows:.0e} rows of 3·10⁶ people"
        for asked, ours, query in (
            ("100 categories", cells, of_cells),
            ("100 groups", shares, of_shares),
        ):
            turns = alternate(
                lambda ours=ours, read=read: ours(read()),  # type: ignore[misc]
                lambda query=query: query(path),  # type: ignore[misc]
                runs=runs,
            )
            yield turns.result(f"{told}, {asked}, over the fold by hand", 1.5)


PEAK = """
import sys
from pathlib import Path
from benchmarks import people
def peak():
    status = Path("/proc/self/status").read_text()
    return next(1024 * int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)
work, small, path = getattr(people, sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
work(small)
before = peak()
work(path)
print(peak() - before)
"""


def peak(work: str, rows: int) -> float:
    """Return the peak memory of a process, in bytes, above its peak on 1,000 rows.

    So imports are not included. The peak is read from /proc, because the peak in `resource` starts
    at the memory of the parent process.
    """
    given = [work, str(data.visits(1000)), str(data.visits(rows))]
    run = subprocess.run(
        [sys.executable, "-c", PEAK, *given], check=True, capture_output=True, text=True
    )
    return float(run.stdout)


def memory(rows: int) -> Iterator[Result]:
    """Peak memory in Polars relative to the query by hand, and memory per additional row.

    With groups, an additional row usually adds an entry of a person and a group, both in our query
    and by hand. With categories it adds only a row, for which a window function or a group-by takes
    30 to 45 bytes.
    """
    told = "Polars, 3·10⁶ people"
    peaks = {}
    for asked, ours in (("100 categories", "cells"), ("100 groups", "shares")):
        peaks[ours], hand = peak(ours, rows), peak(f"polars_{ours}", rows)
        note = f"{peaks[ours] / 2**20:.0f} MiB against {hand / 2**20:.0f} MiB"
        name = f"{told}, {rows:.0e} rows, {asked}, peak memory over the fold by hand"
        yield Result(name, peaks[ours] / hand, "×", 0.5, True, note)
    twice = peak("cells", 2 * rows)
    note = f"{twice / 2**20:.0f} MiB at {2 * rows:.0e} rows"
    each = (twice - peaks["cells"]) / rows
    yield Result(f"{told}, 100 categories, memory for a row more", each, "bytes", 15, True, note)


if __name__ == "__main__":
    for line in results(quick=False, rows=int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(line.row(), flush=True)
