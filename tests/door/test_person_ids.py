"""Ids are the same only if identical: they never become floats, text or less precise times."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.errors import ColumnError, DataError
from tests.door.asking import cells_of, grid_of_each, sums_of
from tests.door.conftest import by_itself

BIG = 2**60
HUGE = 2**63
LADDER = Ladder.declare(np.array([0.25, 1.0]))
NUMBERS = [decimal.Decimal(BIG + 1), decimal.Decimal(BIG + 2), decimal.Decimal(5)]

IDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "signed": (pa.int64(), [BIG + 1, BIG + 2, 5]),
    "unsigned": (pa.uint64(), [HUGE + 1, HUGE + 2, 5]),
    "decimal": (pa.decimal128(30, 2), NUMBERS),
    "wide decimal": (pa.decimal256(60, 2), NUMBERS),
    "instant": (pa.timestamp("ns", "UTC"), [BIG + 1, BIG + 2, 5]),
    "duration": (pa.duration("ns"), [BIG + 1, BIG + 2, 5]),
    "time": (pa.time64("ns"), [1001, 1002, 5]),
    "day": (pa.date32(), [1, 2, 5]),
    "text": (pa.string(), ["a\0", "a", "A"]),
    "bytes": (pa.binary(), [b"a\0", b"a", b"A"]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["a\0", "a", "A"]),
    "dictionary of integers": (pa.dictionary(pa.int8(), pa.int64()), [BIG + 1, BIG + 2, 5]),
}

NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "pyarrow by itself": lambda table: table,
    "polars": pl.from_arrow,
    "pandas": lambda table: table.to_pandas(types_mapper=NULLABLE.get),
    "pandas by itself": lambda table: table.to_pandas(types_mapper=NULLABLE.get),
    "pandas on arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas on arrow by itself": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "duckdb": duckdb.from_arrow,
}
UNKNOWN = [
    ("pandas", "time"),  # these types have no nanoseconds
    ("polars", "wide decimal"),
    ("duckdb", "wide decimal"),
    ("duckdb", "dictionary of integers"),
    ("duckdb", "duration"),  # refused, because DuckDB treats 30 days and a month as equal
]
KNOWN = [
    (engine, kind)
    for engine in ENGINES
    for kind in IDS
    if (engine.removesuffix(" by itself"), kind) not in UNKNOWN
]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    by_itself(name, request)
    return name


def rows(ids: Any, budgets: list[float]) -> pa.Table:
    return pa.table({"x": [1.0] * len(budgets), "e": budgets, "p": ids})


@pytest.mark.parametrize("name", ["pyarrow", "pyarrow by itself"])
def test_an_entry_that_stands_twice_in_a_dictionary_is_one(
    name: str, request: pytest.FixtureRequest
) -> None:
    by_itself(name, request)
    twice = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["a", "b", "a", None])),
        pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["b", "a"])),
    ]
    data = pa.table({"p": pa.chunked_array(twice), "x": [1.0] * 6})
    on: dict[str, Any] = {"epsilon": 1.0, "data": data, "person": "p", "ladder": LADDER}
    assert sums_of("x", bounds=(0.0, 1.0), **on).n == 2
    assert cells_of("x", edges=[0.0, 0.5, 1.0], **on).counts.tolist() == [2]
    cells = cells_of("p", epsilon=1.0, categories=["a", "b"], other="?", data=data)
    assert cells.cells.tolist() == [[3, 2, 1]]


DAY = datetime.date(2020, 1, 1)
MIXED: dict[str, list[Any]] = {
    "text and its bytes": [b"a", "a"],
    "a day and a time of it": [DAY, datetime.datetime(2020, 1, 1, 5)],
    "nanoseconds": [pd.Timestamp(BIG + 1), datetime.datetime(2006, 7, 14)],
    "a number and a name": [1, "one"],
    "a number and its name, and spaces": [1, " 1"],
    "beyond 64 bits": [2**70 + 1, 2**70 + 2],
    "an integer and a float": [2**53 + 1, 2.0**53],
}


@pytest.mark.parametrize("kind", MIXED)
def test_objects_of_several_types_are_compared_as_they_are(kind: str) -> None:
    """Ids of several types are compared unchanged.

    In a common Arrow type, some of them would be equal.
    """
    first, second = MIXED[kind]
    ids = pd.Series(
        [first, second, first, None, float("nan"), [1], decimal.Decimal("sNaN")], dtype=object
    )
    data = pd.DataFrame({"x": 1.0, "e": 1.0, "p": ids})
    on: dict[str, Any] = {"epsilon": "e", "data": data, "person": "p"}
    assert sums_of("x", bounds=(0.0, 1.0), ladder=LADDER, **on).counts.tolist() == [2]
    with pytest.raises(ColumnError, match="cannot be compared"):
        sums_of("x", bounds=(0.0, 1.0), **on)
    with pytest.raises(DataError, match="without a person"):
        sums_of("x", bounds=(0.0, 1.0), **on | {"data": data[:5]})
    named = on | {"data": data[:3]}
    assert sums_of("x", bounds=(0.0, 1.0), **named).n == 2


def test_a_number_and_the_same_number_as_text_are_one_person() -> None:
    """A number and the same number as text are one person.

    A reader infers one type for all ids, so whether an id is text depends on other people's ids.
    """
    ids = pd.Series([1, "1", "b", None, [1], decimal.Decimal("sNaN")], dtype=object)
    data = pd.DataFrame({"x": 1.0, "e": [1.0, 0.25, 1.0, 1.0, 1.0, 1.0], "p": ids})
    on: dict[str, Any] = {"epsilon": "e", "data": data, "person": "p"}
    # The person has two budgets, so the smaller one is used.
    assert sums_of("x", bounds=(0.0, 1.0), ladder=LADDER, **on).counts.tolist() == [1, 1]
    same = on | {"data": data[:3], "epsilon": 1.0}
    assert sums_of("x", bounds=(0.0, 1.0), **same).n == 2


def test_integers_of_128_bits() -> None:
    ids = pl.Series([2**100 + 1, 2**100 + 2, 2**100 + 1], dtype=pl.Int128)
    data = pl.DataFrame({"x": [1.0] * 3, "p": ids})
    on: dict[str, Any] = {"epsilon": 1.0, "data": data, "person": "p", "bounds": (0.0, 1.0)}
    assert sums_of("x", **on).n == 2


WHOLE = [BIG + 1, BIG + 2, BIG + 3, None, BIG + 1, BIG]


def test_a_large_column_of_ids_keeps_its_rows() -> None:
    """People are numbered in the order of rows, so every mean belongs to the right person."""
    draw = np.random.default_rng(5)
    ids = draw.integers(0, 300, 2000)
    values = (ids % 2).astype(np.float64)
    who = [f"person {k}" for k in ids.tolist()]
    tally, level_of, grid = grid_of_each(values, epsilon=1.0, bounds=(0.0, 1.0), person=who)
    present = np.unique(ids)
    assert tally.n == present.size == level_of.size
    assert sorted(grid.tolist()) == sorted((present % 2 * 2**30).tolist())
