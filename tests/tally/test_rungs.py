"""Budgets on rungs, by group or row by row: the same integers, whichever way was chosen."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from epsilons import tally
from epsilons.ladder import Ladder
from epsilons.tally import expressions
from epsilons.tally.expressions import rungs_put_off

LADDERS = {
    "declared": Ladder.declare(np.array([0.1, 0.25, 0.5, 1.0, 3.0])),
    "fine": Ladder.up_to(3.0),
}
ODD = [0.0, -0.0, -1.0, math.nan, math.inf, None, 5e-324, 0.1, math.nextafter(0.1, 0.0), 3.0, 1e308]


def some_rows(distinct: int) -> pl.DataFrame:
    """Rows of a number of different budgets, odd ones among them."""
    rng = np.random.default_rng(distinct)
    menu = [*ODD, *rng.uniform(0.01, 4.0, distinct).tolist()]
    budgets = [menu[place] for place in rng.integers(0, len(menu), 3000)]
    words = rng.choice(["a", "b", "c"], 3000).tolist()
    values = [*rng.uniform(-1.0, 5.0, 2998).tolist(), None, math.nan]
    return pl.DataFrame({"value": values, "word": words, "epsilon": budgets})


def on(engine: str, frame: pl.DataFrame, folder: Path) -> Any:
    """A table on an engine, from a file that states its extremes, of which NaN is none."""
    path = folder / "rows.parquet"
    if not path.exists():
        frame.write_parquet(path, statistics=True)
    return duckdb.read_parquet(str(path)) if engine == "duckdb" else pl.scan_parquet(path)


def rungs(frame: pl.DataFrame, ladder: Ladder) -> list[float]:
    """The rung of each row, by NumPy."""
    own = frame["epsilon"].cast(pl.Float64).fill_null(math.nan).to_numpy()
    return [float(level) for level in ladder.of(own)]


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("distinct", [20, 2500], ids=["few", "many"])
def test_every_row_counts_at_its_rung(
    engine: str, distinct: int, ladder: Ladder, tmp_path: Path
) -> None:
    frame = some_rows(distinct)
    words = tally.declare(["a", "b"], None, "others")
    groups = tally.Grouping(("word",), (tally.declare(["a", "b"], None, None),))

    def opened(values: str, **more: Any) -> tally.Rows:
        data = on(engine, frame, tmp_path)
        return tally.open(values, epsilon="epsilon", data=data, ladder=ladder, **more)

    asked = [
        (opened("word", categories=words), tally.Ask("cells")),
        (opened("value", missing="midpoint"), tally.Ask("sums", (0.0, 4.0))),
        (opened("value", missing="midpoint", groups=groups), tally.Ask("shares", (0.0, 4.0))),
    ]
    own = rungs(frame, ladder)
    counts = {level: own.count(level) for level in set(own) if level > 0.0}
    for rows, ask in asked:
        assert (rungs_put_off(rows.held)[1] is not None) == (distinct == 20)  # type: ignore[arg-type]
        found = rows.answer(ask)
        people = dict(zip(found.levels.tolist(), found.counts.tolist(), strict=True))
        assert {level: size for level, size in people.items() if level and size} == counts


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("what", ["cells", "sums", "shares", "all at once"])
def test_both_ways_have_the_same_integers(
    engine: str, what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frame, ladder = some_rows(20), LADDERS["declared"]
    words = tally.declare(["a", "b"], None, "others")
    groups = tally.Grouping(("word",), (tally.declare(["a", "b"], None, None),))

    def found() -> list[Any]:
        data = on(engine, frame, tmp_path)

        def opened(values: str, **more: Any) -> tally.Rows:
            return tally.open(values, epsilon="epsilon", data=data, ladder=ladder, **more)

        every = {
            "cells": (opened("word", categories=words), tally.Ask("cells")),
            "sums": (opened("value", missing="midpoint"), tally.Ask("sums", (0.0, 4.0))),
            "shares": (
                opened("value", missing="midpoint", groups=groups),
                tally.Ask("shares", (0.0, 4.0)),
            ),
        }
        if what == "all at once":
            return tally.together(list(every.values()))
        rows, ask = every[what]
        return [rows.answer(ask)]

    put_off = found()
    monkeypatch.setattr(expressions, "few_budgets", lambda _: False)
    for one, other in zip(put_off, found(), strict=True):
        assert one.levels.tolist() == other.levels.tolist()
        own = "cells" if hasattr(one, "cells") else "sums"
        assert getattr(one, own).tolist() == getattr(other, own).tolist()
