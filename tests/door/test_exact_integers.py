"""Integers that no float can represent are exact on every engine."""

from __future__ import annotations

import math
import random

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

from epsilons.door import Ask
from epsilons.door.count.asks import Names, Rules
from epsilons.door.engines.fold_engine import folded
from epsilons.door.engines.plan import QueryPlan, wanted
from epsilons.door.given.columns import Columns
from tests.door.asking import sums_of
from tests.engines import on_engine


@pytest.mark.parametrize("engine", ["polars", "pandas", "duckdb"])
def test_means_of_very_many_rows_are_exact(engine: str) -> None:
    # Each row stands for millions of rows of one person, already added up. A quotient of floats
    # would be off by one.
    draw = random.Random(5)
    sizes = [draw.randrange(2**27, 2**31) for _ in range(300)]
    sums = [
        min(
            size * 2**30,
            (draw.randrange(2**29, 2**30) * 2 * size - size) // 2 + draw.choice([-1, 0, 1]),
        )
        for size in sizes
    ]
    frame = pl.DataFrame({"x0": sums, "x0 is valid": sizes, "who": range(300)})
    rows = nw.from_native(on_engine(engine, frame)).lazy()
    table = Columns(rows, "x", 1.0, "who")
    rules = Rules(Names(), "error", 1, None, None)
    plan = QueryPlan(table, [wanted(Ask("numbers", (0.0, 1.0)), rules, table)])
    found = folded(plan, rows).select("x0 below", "x0").collect()
    expected = [(2 * total + r) // (2 * r) for total, r in zip(sums, sizes, strict=True)]
    by_size = dict(zip(found["x0 below"].to_list(), found["x0"].to_list(), strict=True))
    assert [by_size[2 * size] for size in sizes] == expected
    floats = [math.floor(float(2 * s + r) / float(2 * r)) for s, r in zip(sums, sizes, strict=True)]
    assert floats != expected


def test_people_of_mixed_types_stay_in_pandas() -> None:
    # A numeric id and the same id as text are one person.
    for ids in ([1, "one", 1], [1, 2, "1"]):
        who = pd.Series(ids, dtype=object)
        data = pd.DataFrame({"v": [0.0, 1.0, 1.0], "p": who})
        tally = sums_of("v", epsilon=1.0, bounds=(0.0, 1.0), data=data, person="p")
        assert tally.counts.tolist() == [2]
        assert tally.sums.tolist() == [2**29 + 2**30]


@pytest.mark.parametrize("engine", ["polars", "pandas", "pandas on arrow", "pyarrow", "duckdb"])
def test_integers_that_floats_do_not_hold(engine: str) -> None:
    frame = pl.DataFrame({"v": [2**60 + 1, -(2**62) - 7, 2**53 + 1, 3]})
    bounds = (0.0, 2.0**61)
    tally = sums_of("v", epsilon=1.0, bounds=bounds, data=on_engine(engine, frame))
    assert tally.sums.tolist() == [2**29 + 2**22]
