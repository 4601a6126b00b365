"""Time of means by 100 groups, and of several questions in one scan, compared with bare queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks import bare, bare_five, data
from benchmarks.timing import Result, alternate, once
from epsilons import door

ROWS = 10_000_000
BOUNDS = (bare.LO, bare.HI)


def results(rows: int = ROWS, runs: int = 7) -> Iterator[Result]:
    yield from by_group(rows, runs)
    yield from several(rows, runs)
    yield from many_groups()


def polars_groups(path: Path) -> Any:
    import polars as pl

    value = pl.col("value")
    steps = ((value - bare.LO) * bare.STEP + 0.5).clip(0.0, bare.GRID + 0.5).floor()
    cell = pl.when(value.is_finite()).then(steps).otherwise(bare.HALF).cast(pl.Int64).alias("x")
    rows = pl.scan_parquet(path).select("epsilon", "word", cell)
    query = rows.group_by("epsilon", "word").agg(pl.len(), pl.col("x").sum())
    return query.collect(engine="streaming").rows()


def duckdb_groups(connection: Any, path: Path) -> Any:
    steps = (
        f"floor(least(greatest((value - {bare.LO!r}) * {bare.STEP!r} + 0.5, 0.0), "
        f"{bare.GRID + 0.5!r}))"
    )
    cell = f"CASE WHEN isfinite(value) THEN CAST({steps} AS BIGINT) ELSE {bare.HALF} END"
    return connection.sql(
        f"SELECT epsilon, word, count(*), sum({cell}) FROM read_parquet('{path}') "
        "GROUP BY epsilon, word"
    ).fetchall()


def ours(read: Callable[[], Any]) -> door.Tally:
    """Tally the means by group, read from the file."""
    groups = door.Grouping(("word",), (door.declare(data.WORDS, None, None),))
    rows = door.open("value", epsilon="epsilon", data=read(), missing="midpoint", groups=groups)
    return rows.count(door.Ask("numbers", BOUNDS))


def same(found: door.Tally, rows: Any) -> bool:
    """Return whether a bare query and the tally have the same integers."""
    cells = np.zeros_like(found.cells)
    place = {word: index for index, word in enumerate(data.WORDS)}
    level = {budget: index for index, budget in enumerate(found.levels.tolist())}
    for budget, word, count, total in rows:
        own = cells[level[float(budget)]]
        own[2 * place[word]] = int(total)
        own[2 * place[word] + 1] = bare.GRID * int(count) - int(total)
    return bool((cells == found.cells).all())


def by_group(rows: int, runs: int) -> Iterator[Result]:
    """Time of means by 100 groups × 50 levels, compared with the bare query."""
    import duckdb

    path = data.table(rows)
    connection = duckdb.connect()
    works: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "Polars": (lambda: path, lambda: polars_groups(path)),
        "DuckDB": (
            lambda: connection.read_parquet(str(path)),
            lambda: duckdb_groups(connection, path),
        ),
    }
    for name, (read, bare_query) in works.items():
        if not same(ours(read), bare_query()):
            raise AssertionError(f"{name}: the integers differ")
        turns = alternate(lambda read=read: ours(read), bare_query, runs=runs)  # type: ignore[misc]
        yield turns.result(f"{name}, {rows:.0e} rows, 100 groups × 50 levels, over bare", 1.4)


def asked(source: Any, *, bins: bool) -> list[tuple[door.Rows, door.Ask]]:
    """Return five questions about one table. The second is the slowest.

    Args:
        source: the table.
        bins: whether the last question has its own labels, which requires a separate scan.
    """
    words = door.declare(data.WORDS, None, None)
    edges = door.declare(None, bare_five.EDGES, "others")

    def opened(values: str, **more: Any) -> door.Rows:
        return door.open(values, epsilon="epsilon", data=source, **more)

    groups = door.Grouping(("word",), (words,))
    last = (opened("value", missing="midpoint"), door.Ask("numbers", (0.0, 50.0)))
    if bins:
        last = (opened("value", categories=edges), door.Ask("cells"))
    return [
        (opened("value", missing="midpoint"), door.Ask("squares", BOUNDS)),
        (opened("value", missing="midpoint", groups=groups), door.Ask("numbers", BOUNDS)),
        (opened("word", categories=words), door.Ask("cells")),
        (opened("own"), door.Ask("numbers", (0.0, 10.0))),
        last,
    ]


def published(source: Any) -> Any:
    """Read the file and release five questions."""
    questions = [
        ep.Mean("value", bounds=BOUNDS, missing="midpoint"),
        ep.Mean("value", bounds=BOUNDS, by="word", groups=data.WORDS, missing="midpoint"),
        ep.Frequencies("word", categories=data.WORDS),
        ep.Mean("own", bounds=(0.0, 10.0)),
        ep.Mean("value", bounds=(0.0, 50.0), missing="midpoint"),
    ]
    return ep.publish(questions, epsilon="epsilon", data=source)


OVER_HAND = 1.25
"""The largest allowed ratio of five questions to the queries by hand for the same integers."""


def several(rows: int, runs: int) -> Iterator[Result]:
    """Time of five questions in one call, compared with the same by hand.

    By hand, five questions take 1.5 to 2 times as long as the slowest of them. So the limits are
    for the ratio to the queries by hand, and not for the ratio to one question.
    """
    import duckdb

    path = data.table(rows)
    connection = duckdb.connect()
    tables: dict[str, tuple[Callable[[], Any], bare_five.Query, Callable[[], Any]]] = {
        "Polars": (
            lambda: path,
            lambda names, squares: bare_five.in_polars(path, names, squares),
            lambda: bare_five.bins_in_polars(path),
        ),
        "DuckDB": (
            lambda: connection.read_parquet(str(path)),
            lambda names, squares: bare_five.in_duckdb(connection, path, names, squares),
            lambda: bare_five.bins_in_duckdb(connection, path),
        ),
    }
    for name, (read, by_hand, bins_by_hand) in tables.items():

        def five(read: Callable[[], Any] = read, bins: bool = False) -> Any:
            questions = asked(read(), bins=bins)
            door.scan(questions)
            return [rows.count(ask) for rows, ask in questions]

        def in_two(by_hand: Any = by_hand, bins_by_hand: Any = bins_by_hand) -> None:
            by_hand("xy", True)
            bins_by_hand()

        if bare_five.margins(five()) != bare_five.totals(by_hand("xyz", True)):
            raise AssertionError(f"{name}: the integers of five questions differ")
        if five(bins=True)[-1].cells.sum(axis=0).tolist() != bare_five.in_bins(bins_by_hand()):
            raise AssertionError(f"{name}: the integers of bins differ")
        compared: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            # These questions need no squares: together, their intervals do without.
            "one publish": (
                lambda read=read: published(read()),  # type: ignore[misc]
                lambda by_hand=by_hand: by_hand("xyz", False),  # type: ignore[misc]
            ),
            "one scan": (five, lambda by_hand=by_hand: by_hand("xyz", True)),  # type: ignore[misc]
            "other labels, two scans": (lambda five=five: five(bins=True), in_two),  # type: ignore[misc]
        }
        for how, (own, hand) in compared.items():
            line = f"{name}, {rows:.0e} rows, five questions, {how}, over the same by hand"
            yield alternate(own, hand, runs=runs).result(line, OVER_HAND)


def many_groups() -> Iterator[Result]:
    """Time of all work after the scan, for 10⁵ groups."""
    from epsilons.door.count.asks import Faults, Names, Rules, checked
    from epsilons.door.count.units import UnitParts, of_groups

    rng = np.random.default_rng(5)
    size, levels = 100_000, data.MENU[:50]
    group = np.tile(np.arange(size), len(levels))
    entries = rng.poisson(2.0, group.size).astype(np.int64)
    points, budgets = bare.GRID * entries, np.repeat(levels, size)
    parts = UnitParts(budgets, group, entries, None, Faults(), entries, points, points // 3)
    groups = door.Grouping(("group",), (door.declare(list(range(size)), None, None),))
    rules = Rules(Names(), "exclude", 1, None, None, groups, some=True)

    ask = door.Ask("numbers", BOUNDS)

    def after() -> None:
        checked(of_groups(parts, rules, ask), rules, ask, Names())

    after()
    seconds = sorted(once(after) for _ in range(3))[1]
    yield Result("10⁵ groups × 50 levels, after the scan", seconds, "s", 3, True)


if __name__ == "__main__":
    import sys

    for line in results(int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(line.row(), flush=True)
