"""Names and numbers of all kinds pass through SQL queries unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
import pytest

from epsilons.door.engines.table import DIALECTS

Put = Callable[[pl.DataFrame], Any]


@pytest.fixture(params=["duckdb", "spark"])
def put(request: pytest.FixtureRequest) -> Put:
    """Return a function that creates a table on an engine with SQL."""
    if request.param == "duckdb":
        connection = duckdb.connect()
        return lambda frame: connection.from_arrow(frame.to_arrow())
    session = request.getfixturevalue("spark")
    return lambda frame: session.createDataFrame(frame.to_arrow())


NAMES = [
    'a "quoted" name',
    "with ` ticks `",
    "a.b",
    "a·b",
    "it's",
    "; DROP",
    "**",
    "--",
    "{0}",
    "ε",
]
CASES = ["A.B", "a·b", "other"]


def test_a_quotation_mark_in_a_name_is_doubled() -> None:
    assert DIALECTS["duckdb"].name('a"b') == '"a""b"'
    assert DIALECTS["spark"].name("a`b") == "`a``b`"


BOUNDS = [
    (0.0, 1.0),
    (-7.0, 3.25),
    (1e-3, 1e-3 + 1e-12),
    (-1e9, 0.1),
    (1e300, 1.1e300),
    (-1, 2**60),
]
