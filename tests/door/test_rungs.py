"""Tallies are the same, whether rungs (budget levels) are found by group or row by row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door.engines import count_engine, expressions
from epsilons.door.engines.expressions import rungs_put_off
from tests.door.asking import together

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


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("distinct", [20, 2500], ids=["few", "many"])
def test_every_row_counts_at_its_rung(
    engine: str, distinct: int, ladder: Ladder, tmp_path: Path
) -> None:
    frame = some_rows(distinct)
    words = door.declare(["a", "b"], None, "others")
    groups = door.Grouping(("word",), (door.declare(["a", "b"], None, None),))

    def opened(values: str, **more: Any) -> door.Rows:
        data = on(engine, frame, tmp_path)
        return door.open(values, epsilon="epsilon", data=data, ladder=ladder, **more)

    asked = [
        (opened("word", categories=words), door.Ask("cells")),
        (opened("value", missing="midpoint"), door.Ask("numbers", (0.0, 4.0))),
        (opened("value", missing="midpoint", groups=groups), door.Ask("numbers", (0.0, 4.0))),
    ]
    own = rungs(frame, ladder)
    counts = {level: own.count(level) for level in set(own) if level > 0.0}
    for rows, ask in asked:
        put_off = rungs_put_off(rows.held, ladder)[1]  # type: ignore[arg-type]
        assert (put_off is not None) == (distinct == 20)
        found = rows.count(ask)
        people = dict(zip(found.levels.tolist(), found.counts.tolist(), strict=True))
        assert {level: size for level, size in people.items() if level and size} == counts


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("what", ["cells", "sums", "shares", "all at once"])
def test_both_ways_have_the_same_integers(
    engine: str, what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frame, ladder = some_rows(20), LADDERS["declared"]
    words = door.declare(["a", "b"], None, "others")
    groups = door.Grouping(("word",), (door.declare(["a", "b"], None, None),))

    def found() -> list[Any]:
        data = on(engine, frame, tmp_path)

        def opened(values: str, **more: Any) -> door.Rows:
            return door.open(values, epsilon="epsilon", data=data, ladder=ladder, **more)

        every = {
            "cells": (opened("word", categories=words), door.Ask("cells")),
            "sums": (opened("value", missing="midpoint"), door.Ask("numbers", (0.0, 4.0))),
            "shares": (
                opened("value", missing="midpoint", groups=groups),
                door.Ask("numbers", (0.0, 4.0)),
            ),
        }
        if what == "all at once":
            return together(list(every.values()))
        rows, ask = every[what]
        return [rows.count(ask)]

    put_off = found()
    monkeypatch.setattr(expressions, "few_budgets", lambda _: False)
    same(put_off, found())


def same(ones: list[Any], others: list[Any]) -> None:
    """Check that levels and totals are the same integers."""
    for one, other in zip(ones, others, strict=True):
        assert one.levels.tolist() == other.levels.tolist()
        assert one.counts.tolist() == other.counts.tolist()
        assert one.cells.tolist() == other.cells.tolist()


@pytest.mark.parametrize("few", [False, True], ids=["by key", "by budget"])
@pytest.mark.parametrize("spare", [-1, 0, 1], ids=["one too many", "just full", "room for one"])
def test_groups_need_not_fit_into_memory(
    few: bool, spare: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Totals are the same, whether groups are aggregated in memory or on the engine."""
    rng = np.random.default_rng(7)
    budgets, words = [0.5, 1.0, 2.0], ["a", "b", "c", "d"]
    every = [(budget, word) for budget in budgets for word in words]
    places = [*range(len(every)), *rng.integers(0, len(every), 400).tolist()]
    frame = pl.DataFrame(
        {
            "epsilon": [every[place][0] for place in places],
            "word": [every[place][1] for place in places],
            "value": rng.uniform(0.0, 4.0, len(places)),
        }
    )
    groups = door.Grouping(("word",), (door.declare(["a", "b"], None, None),))

    def found(engine: str) -> list[Any]:
        data = on(engine, frame, tmp_path)

        def opened(values: str, **more: Any) -> door.Rows:
            return door.open(values, epsilon="epsilon", data=data, **more)

        asked = [
            (opened("word", categories=door.declare(["a", "b"], None, "o")), door.Ask("cells")),
            (opened("value", groups=groups, missing="exclude"), door.Ask("numbers", (0.0, 4.0))),
            (opened("value"), door.Ask("squares", (0.0, 4.0))),
        ]
        return [*(rows.count(ask) for rows, ask in asked), *together(asked)]

    expected = found("polars")
    for sums in (len(budgets), len(every)):
        monkeypatch.setattr(expressions, "MOST_AT_HAND", sums + spare)
        monkeypatch.setattr(count_engine, "few_budgets", lambda _: few)
        same(expected, found("duckdb"))


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
