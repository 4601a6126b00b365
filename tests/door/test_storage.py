"""In SQLite, an entry of another type than its column counts as missing, as in a CSV file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.door import GRID, SHARES
from epsilons.errors import DataError, MissingValueError
from epsilons.loading import later
from tests.door.asking import cells_of, sums_of

ibis: Any = later("ibis")

NAMES = {"values": "v", "epsilon": "e", "person": "w"}
LADDER = Ladder.declare(np.array([0.1, 0.5]))
ROWS = [(1, 0.5, "ann"), (2, 0.5, "bob"), (3, 0.1, "cyd")]


def table(*rows: tuple[Any, Any, Any], value: str = "REAL", who: str = "TEXT") -> Any:
    connection = ibis.sqlite.connect()
    connection.con.execute(f"CREATE TABLE t (v {value}, e REAL, w {who})")
    connection.con.executemany("INSERT INTO t VALUES (?, ?, ?)", [*ROWS, *rows])
    return connection.table("t")


@pytest.mark.parametrize("value", ["", "abc", b"x"])
def test_a_value_that_is_text_or_a_blob_is_missing(value: Any) -> None:
    mean = {**NAMES, "data": table((value, 0.5, "zed")), "bounds": (0.0, 10.0)}
    tally = sums_of(**mean, ladder=LADDER)
    assert tally.sums[tally.levels == 0.5].tolist() == [round(0.3 * GRID) + GRID // 2]
    with pytest.raises(MissingValueError):
        sums_of(**mean)


def test_an_integer_that_is_none_is_in_no_category() -> None:
    data = table((2.5, 0.5, "zed"), value="INTEGER")
    cells = cells_of(**NAMES, data=data, categories=[1, 2, 3], other="else", ladder=LADDER)
    assert cells.cells[cells.levels == 0.5].tolist() == [[SHARES, SHARES, 0, SHARES]]


@pytest.mark.parametrize("declared", ["TEXT", "TEXT COLLATE NOCASE"])
def test_a_blob_is_not_the_person_whose_name_has_its_bytes(declared: str) -> None:
    mean = {
        **NAMES,
        "data": table((10, 0.5, b"cyd"), (10, 0.5, b"ann"), who=declared),
        "bounds": (0.0, 10.0),
    }
    tally = sums_of(**mean, ladder=LADDER)
    assert tally.counts.tolist() == [1, 2]
    assert tally.sums.tolist() == [round(0.3 * GRID), round(0.3 * GRID)]
    with pytest.raises(DataError, match="without a person"):
        sums_of(**mean)
