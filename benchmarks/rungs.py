"""Time of tallies with private budgets on declared levels, compared with public budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import bare, data
from benchmarks.timing import Result, alternate
from epsilons import door
from epsilons.budgets.levels import Ladder

ROWS = 10_000_000


def results(rows: int = ROWS, runs: int = 7) -> Iterator[Result]:
    import duckdb

    path = data.table(rows)
    connection = duckdb.connect()
    ladder = Ladder.declare(data.MENU)
    words = door.declare(data.WORDS, None, "others")
    tables: dict[str, Callable[[], Any]] = {
        "Polars": lambda: path,
        "DuckDB": lambda: connection.read_parquet(str(path)),
    }

    def mean(read: Callable[[], Any], levels: Ladder | None) -> door.Tally:
        opened = door.open(
            "value", epsilon="epsilon", data=read(), missing="midpoint", ladder=levels
        )
        return opened.count(door.Ask("numbers", (bare.LO, bare.HI)))

    def frequencies(read: Callable[[], Any], levels: Ladder | None) -> door.Tally:
        opened = door.open("word", epsilon="epsilon", data=read(), categories=words, ladder=levels)
        return opened.count(door.Ask("cells"))

    asked: dict[str, Callable[[Callable[[], Any], Ladder | None], Any]] = {
        "mean": mean,
        "frequencies": frequencies,
    }
    for name, read in tables.items():
        for what, ask in asked.items():

            def private(ask: Any = ask, read: Any = read) -> Any:
                return ask(read, ladder)

            def public(ask: Any = ask, read: Any = read) -> Any:
                return ask(read, None)

            if not (private().counts == public().counts).all():
                raise AssertionError(f"{name}: people are on other rungs")
            turns = alternate(private, public, runs=runs)
            yield turns.result(f"{name}, {rows:.0e} rows, {what}, add/remove over replace", 1.3)


if __name__ == "__main__":
    import sys

    for line in results(int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(line.row(), flush=True)
