"""Every engine returns levels with many digits exactly as declared.

Ibis writes numbers into queries as decimals, and a database can parse a decimal as the float next
to it. A rung (budget level) that came back as another float would be mistaken for the rung above.
"""

from __future__ import annotations

import math
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.errors import DataError
from tests.door.asking import cells_of, sums_of

LEVELS = [
    math.nextafter(0.1, 0.0), 0.1 + 0.2, 0.7000000000000001, 1.1 * 1.1, math.nextafter(2.0, 0.0),
    1e-5 / 3.0, 2.0**-40 * 1.37, 1234.5678901234567,
]  # fmt: skip


def on_ibis(backend: str, columns: dict[str, list[float]]) -> Any:
    import ibis

    if backend == "duckdb":
        connection = ibis.duckdb.connect()
        connection.con.register("rows", pl.DataFrame(columns).to_arrow())
    else:
        connection = ibis.sqlite.connect()
        connection.raw_sql(f"CREATE TABLE rows ({', '.join(f'{name} REAL' for name in columns)})")
        marks = ", ".join("?" * len(columns))
        connection.con.executemany(
            f"INSERT INTO rows VALUES ({marks})", list(zip(*columns.values(), strict=True))
        )
    return connection.table("rows")


ENGINES = ["polars", "ibis on duckdb", "ibis on sqlite"]


def table(name: str, columns: dict[str, list[float]]) -> Any:
    if name == "polars":
        return pl.DataFrame(columns)
    return on_ibis(name.split()[-1], columns)


@pytest.mark.parametrize("name", ENGINES)
def test_whoever_has_a_level_stands_on_it_and_whoever_is_just_below_does_not(name: str) -> None:
    ladder = Ladder.declare(np.array(LEVELS))
    below = [math.nextafter(level, 0.0) for level in ladder.levels]
    budgets = [*ladder.levels.tolist(), *below]
    data = table(name, {"v": [0.0] * len(budgets), "e": budgets})
    found = sums_of("v", epsilon="e", bounds=(0, 1), data=data, ladder=ladder)
    assert found.levels.tolist() == ladder.levels.tolist()
    # A budget just below a level belongs to the next lower level. Below the lowest level, it
    # belongs to none.
    assert found.counts.tolist() == [2] * (len(LEVELS) - 1) + [1]
    cells = cells_of("v", epsilon="e", edges=[0, 1, 2], data=data, ladder=ladder)
    assert cells.levels.tolist() == ladder.levels.tolist()
    assert cells.counts.tolist() == found.counts.tolist()


@pytest.mark.parametrize("name", ENGINES)
def test_a_fine_ladder_has_its_own_rungs(name: str) -> None:
    budgets = [0.1, 0.3, 0.1 + 0.2, 1 / 3, 5e-3, 0.55, 0.7, 3.0]
    ladder = Ladder.up_to(0.55)
    data = table(name, {"v": [0.0] * len(budgets), "e": budgets})
    found = sums_of("v", epsilon="e", bounds=(0, 1), data=data, ladder=ladder)
    assert found.levels.tolist() == np.unique(ladder.of(np.array(budgets))).tolist()


def test_a_rung_that_comes_back_as_another_number_is_no_rung(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    off = "epsilons.door.engines.floats.exactly"
    monkeypatch.setattr(off, lambda number, _: nw.lit(number * 1.0001))
    ladder = Ladder.declare(np.array([0.5, 1.0]))
    data = pl.DataFrame({"v": [0.0, 1.0], "e": [0.7, 2.0], "who": [1, 2]})
    for ask in (
        # The column of people is needed: without it, and with few budgets, NumPy would find the
        # rungs.
        lambda: sums_of("v", epsilon="e", bounds=(0, 1), data=data, ladder=ladder, person="who"),
        lambda: cells_of("v", epsilon="e", edges=[0, 1, 2], data=data, ladder=ladder),
    ):
        with pytest.raises(DataError, match="does not return exactly the levels"):
            ask()
