"""Tables of several columns: every engine counts the same cells as a loop over the rows."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import Grouping, declare
from epsilons.door.count.units import SHARES
from epsilons.errors import DataError, MissingValueError
from tests.door.conftest import on_engine

PLACES, SIZES, BINS = ["n", "ü", ""], [1, 2], [(0.0, 18.0), (18.0, 65.0)]
LEVELS = [0.25, 1.0]
BY = {
    "two": (("place",), (declare(PLACES, None, None),)),
    "three": (("place", "size"), (declare(PLACES, None, None), declare(SIZES, None, None))),
}
BINNED = declare(None, [0, 18, 65], None)


def rows_of(*, gaps: bool) -> pl.DataFrame:
    """Return rows of 40 people. With `gaps`, some labels are undeclared or missing."""
    draw = random.Random(int(gaps))
    places, sizes = ([*PLACES, "s", None], [*SIZES, 3]) if gaps else (PLACES, SIZES)
    ages = [3.0, 17.0, 18.0, 40.0, 65.0, *([90.0, None] if gaps else [])]
    rows = []
    for person in range(40):
        budget = draw.choice(LEVELS)
        for _ in range(draw.choice([1, 1, 2, 7])):
            labels = draw.choice(ages), draw.choice(places), draw.choice(sizes)
            rows.append((f"p{person}", budget, *labels))
    return pl.DataFrame(rows, schema=["who", "e", "age", "place", "size"], orient="row")


def by_hand(table: pl.DataFrame, names: tuple[str, ...], *, person: bool) -> list[list[int]]:
    """Return the cells of each level, counted row by row.

    Nobody has more than 7 rows, and no unit has a remainder.
    """
    labels = [*({"place": PLACES, "size": SIZES}[name] for name in names), BINS]
    every = list(product(*labels))
    found = {level: [0] * len(every) for level in LEVELS}
    own: dict[str, int] = {}
    for who in table["who"]:
        own[who] = own.get(who, 0) + 1
    for row in table.iter_rows(named=True):
        age = next(
            (b for b in BINS if row["age"] is not None and b[0] <= row["age"] < b[1]),
            BINS[1] if row["age"] == 65.0 else None,
        )
        key = (*(row[name] for name in names), age)
        if key in every:
            share = SHARES // own[row["who"]] if person else 1
            found[row["e"]][every.index(key)] += share
    return [found[level] for level in LEVELS]


def opened(engine: str, table: pl.DataFrame, name: str, data: Any, **given: Any) -> door.Rows:
    by, declared = BY[name]
    if engine == "numpy":
        arrays = tuple(table[each].to_list() for each in by)
        if "person" in given:
            given["person"] = table["who"].to_list()
        return door.open(
            table["age"].to_list(),
            epsilon=table["e"].to_list(),
            categories=BINNED,
            groups=Grouping(arrays, declared),
            **given,
        )
    groups = Grouping(by, declared)
    return door.open("age", epsilon="e", data=data, categories=BINNED, groups=groups, **given)


@pytest.mark.parametrize("engine", ["numpy", "polars", "pyarrow by itself", "duckdb", "csv"])
def test_a_row_without_a_declared_label_is_refused_or_in_no_cell(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = rows_of(gaps=True)
    data = None if engine == "numpy" else on_engine(engine, table, tmp_path, request)
    ladder = Ladder.declare(np.array(LEVELS))
    found = opened(engine, table, "two", data, ladder=ladder).count(door.Ask("cells"))
    assert found.cells.tolist() == by_hand(table, ("place",), person=False)
    with pytest.raises(MissingValueError, match=r"by.*values.* has missing values.*label first"):
        opened(engine, table, "two", data).count(door.Ask("cells"))
    full = table.drop_nulls()
    data = None if engine == "numpy" else on_engine(engine, full, tmp_path, request)
    with pytest.raises(DataError, match=r"not among the declared categories.*label first"):
        opened(engine, full, "two", data).count(door.Ask("cells"))


def test_arrays_of_different_lengths_are_refused() -> None:
    groups = Grouping((["n", "n"],), (declare(["n", "s"], None, None),))
    with pytest.raises(ValueError, match="values and by have different lengths"):
        door.open([1.0, 2.0, 3.0], epsilon=1.0, categories=BINNED, groups=groups)
