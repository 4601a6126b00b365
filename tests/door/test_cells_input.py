"""Invalid categories, values and column types are refused, and messages reveal no data."""

from __future__ import annotations

import math
import traceback
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epsilons.door.count import units
from epsilons.door.given.categories import declare
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ColumnError,
    DataError,
    EpsilonsError,
    MissingValueError,
)
from tests.door.asking import cell_of_each, cells_of
from tests.door.conftest import declared_as
from tests.engines import on_engine

SECRET = "8675309"
FRAME = pl.DataFrame(
    {
        "text": ["a", "b", "a"],
        "whole": [1, 2, 1],
        "float": [1.0, 2.0, 1.0],
        "flag": [True, False, True],
        "list": [["a"], ["b"], ["a"]],
    }
)

BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a string": ({"categories": "ab"}, ArgumentError, "categories must be a list"),
    "a set": ({"categories": {"a", "b"}}, ArgumentError, "of type set"),
    "a mapping": ({"categories": {"a": 1}}, ArgumentError, "of type dict"),
    "a number": ({"categories": 3}, ArgumentError, "of type int"),
    "a generator": ({"categories": (c for c in "ab")}, ArgumentError, "of type generator"),
    "a scalar array": ({"categories": np.array("a")}, ArgumentError, "categories must be"),
    "a cube": ({"categories": np.zeros((2, 2, 2))}, ArgumentError, "categories must be"),
    "empty": ({"categories": []}, ArgumentError, "categories are none"),
    "one": ({"categories": ["a"]}, ArgumentError, "at least two"),
    "one, and itself": ({"categories": ["a"], "other": "a"}, ArgumentError, "at least two"),
    "too many": ({"categories": range(10**6 + 1)}, ArgumentError, "more than 1,000,000"),
    "duplicates": ({"categories": ["a", "b", "a"]}, ArgumentError, "duplicates"),
    "duplicate integers": ({"categories": [1, 1]}, ArgumentError, "duplicates"),
    "mixed": ({"categories": ["a", 1]}, ArgumentError, "not all of one type"),
    "mixed with None": ({"categories": ["a", None]}, ArgumentError, "not all of one type"),
    "booleans and integers": ({"categories": [True, 2]}, ArgumentError, "not all of one type"),
    "bytes": ({"categories": [b"a", b"b"]}, ArgumentError, "not all of one type"),
    "surrogates": ({"categories": ["a", "\ud800"]}, ArgumentError, "Unicode"),
    "huge integers": ({"categories": [1, 2**63]}, ArgumentError, "64 bits"),
    "NaN": ({"categories": None, "edges": [0.0, math.nan]}, ArgumentError, "edges.*NaN"),
    "one edge": (
        {"categories": None, "edges": [0.0]},
        ArgumentError,
        "at least two numbers",
    ),
    "edges that descend": ({"categories": None, "edges": [1.0, 0.0]}, ArgumentError, "ascending"),
    "equal edges": ({"categories": None, "edges": [0.0, -0.0, 1.0]}, ArgumentError, "ascending"),
    "huge edges": ({"categories": None, "edges": [0.0, 10**400]}, ArgumentError, "too large"),
    "triples": (
        {"categories": None, "edges": [(0, 1, 2), (3, 4, 5)]},
        ArgumentError,
        "not all numbers",
    ),
    "pairs of text": (
        {"categories": None, "edges": [("a", "b"), ("c", "d")]},
        ArgumentError,
        "not all numbers",
    ),
    "pairs of booleans": (
        {"categories": None, "edges": [(False, True), (2, 3)]},
        ArgumentError,
        "not all num",
    ),
    "pairs with NaN": (
        {"categories": None, "edges": [(0, math.nan), (1, 2)]},
        ArgumentError,
        "NaN",
    ),
    "an empty bin": (
        {"categories": None, "edges": [(0, 0), (1, 2)]},
        ArgumentError,
        "lo must be below hi",
    ),
    "bins that overlap": (
        {"categories": None, "edges": [(0, 2), (1, 3)]},
        ArgumentError,
        "overlap",
    ),
    "bins that descend": ({"categories": None, "edges": [(1, 2), (0, 1)]}, ArgumentError, "ascend"),
    "other a list": ({"other": ["a"]}, ArgumentError, "other must be a label"),
    "other NaN": ({"other": math.nan}, ArgumentError, "other must be a label"),
    "other a pair": ({"other": (0, 1)}, ArgumentError, "other is a pair"),
    "other True": ({"categories": [0, 1], "other": True}, ArgumentError, "another type than"),
    "midpoint": ({"missing": "midpoint"}, ArgumentError, "Declare other="),
    "midpoint and other": ({"missing": "midpoint", "other": "x"}, ArgumentError, "no middle"),
    "missing unknown": ({"missing": "drop"}, ArgumentError, "not known"),
    "values a name": ({"values": "v"}, ArgumentError, "data is not given"),
    "values of numbers": ({"values": [1.0, 2.0]}, ColumnError, "values must be text"),
    "values of integers": ({"values": np.array([1, 2])}, ColumnError, "values must be text"),
    "values of mixed objects": ({"values": ["a", 1]}, ColumnError, "something of type int"),
    "values too long": (
        {"values": [*"aab"]},
        ArgumentError,
        "values and epsilon have different lengths",
    ),
    "values two-dimensional": ({"values": np.array([["a"]])}, ArgumentError, "one column"),
    "values of lists": ({"values": [["a"], ["b"]]}, ColumnError, "One column is meant"),
    "values a scalar": ({"values": np.array("a")}, ArgumentError, "values must be a list"),
    "values a number": ({"values": 3}, ArgumentError, "values must be a list"),
    "values empty": ({"values": [], "epsilon": []}, DataError, "empty"),
    "one person": ({"values": ["a"], "epsilon": 1.0}, DataError, "two people"),
    "whole floats": ({"values": [1.0, 2.0], "categories": [1, 2]}, ColumnError, "cast.*bins"),
    "whole floats in NumPy": (
        {"values": np.array([1.0, 2.0]), "categories": [1, 2]},
        ColumnError,
        "cast it first, or declare edges",
    ),
    "booleans for integers": ({"values": [True, False], "categories": [0, 1]}, ColumnError, "int"),
    "integers for booleans": (
        {"values": [0, 1], "categories": [True, False]},
        ColumnError,
        "must be booleans",
    ),
    "booleans for bins": (
        {"values": [True, False], "categories": None, "edges": [0, 0.5, 1]},
        ColumnError,
        "must be numbers",
    ),
    "text for bins": (
        {"values": ["1", "2"], "categories": None, "edges": [0, 3, 4]},
        ColumnError,
        "numb",
    ),
    "neither": ({"categories": None}, ArgumentError, "Give either categories or edges: neither"),
    "both": ({"edges": [0, 1, 2]}, ArgumentError, "Give either categories or edges: both"),
    "floats as categories": ({"categories": [0.0, 1.0, 2.0]}, ArgumentError, r"floats.*edges=\["),
    "a float among integers": ({"categories": [0, 1.0, 2]}, ArgumentError, r"floats.*edges=\["),
    "pairs as categories": ({"categories": [(0, 1), (1, 2)]}, ArgumentError, r"pairs.*edges=\["),
    "text as edges": ({"categories": None, "edges": ["a", "b"]}, ArgumentError, "not all numbers"),
    "booleans as edges": (
        {"categories": None, "edges": [False, True]},
        ArgumentError,
        "not all numbers",
    ),
    "pairs among edges": (
        {"categories": None, "edges": [(0, 1), 1, 2]},
        ArgumentError,
        "not all numbers",
    ),
    "one bin": ({"categories": None, "edges": [0, 1]}, ArgumentError, "edges must define"),
    "edges a word": ({"categories": None, "edges": "012"}, ArgumentError, "edges must be a list"),
    "no edges": ({"categories": None, "edges": []}, ArgumentError, "edges are none"),
    "epsilon negative": ({"epsilon": [1.0, -1.0]}, BudgetError, "negative"),
    "None among values": ({"values": ["a", None]}, MissingValueError, "curator only"),
    "NaN among text": ({"values": ["a", math.nan]}, MissingValueError, "curator only"),
    "masked": (
        {"values": np.ma.masked_array([1, 2], mask=[True, False]), "categories": [1, 2]},
        MissingValueError,
        "curator only",
    ),
    "undeclared": ({"values": ["a", "z"]}, DataError, "not among the declared categories"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("function", [cells_of, cell_of_each])
def test_bad_input_is_refused(function: Any, name: str) -> None:
    arguments, error, message = BAD[name]
    given = {"values": ["a", "b"], "epsilon": [0.5, 1.0], "categories": ["a", "b"]} | arguments
    apart = {"data", "person", "missing"}
    if function is cell_of_each and (apart & given.keys() or name == "values a name"):
        pytest.skip("it takes arrays, an entry for each person")
    with pytest.raises(error, match=message) as caught:
        function(given.pop("values"), **given)
    assert type(caught.value) is error
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


FITS: dict[str, list[Any]] = {
    "text": ["a", "b"],
    "whole": [1, 2],
    "float": [0.0, 1.5, 3.0],
    "flag": [False, True],
}


@pytest.mark.parametrize("column", FRAME.columns)
@pytest.mark.parametrize("declared", FITS)
@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow", "duckdb"])
def test_types_are_judged_from_the_schema(column: str, declared: str, engine: str) -> None:
    given: dict[str, Any] = {"epsilon": 1.0, "data": on_engine(engine, FRAME)}
    given |= declared_as(FITS[declared])
    if column == declared or (column, declared) == ("whole", "float"):
        expected = [1, 2] if declared == "flag" else [2, 1]
        assert cells_of(column, **given).cells.tolist() == [expected]
        return
    with pytest.raises(ColumnError, match=f"values='{column}' must be "):
        cells_of(column, **given)


@pytest.mark.parametrize(
    "categories",
    [
        ("a", "b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        pd.Series(["a", "b"]),
        pd.Series(["a", "b"], dtype="category"),
        pl.Series(["a", "b"]),
        pa.array(["a", "b"]),
    ],
    ids=lambda c: type(c).__name__,
)
def test_categories_of_many_kinds(categories: Any) -> None:
    assert declare(categories, None, None).labels == ("a", "b")


def test_categories_that_are_numbers() -> None:
    assert declare(range(3), None, None).labels == (0, 1, 2)
    assert declare(np.arange(2), None, "x").labels == (0, 1, "x")
    assert declare([np.int8(1), 0], None, None).labels == (1, 0)
    assert declare(np.array([True, False]), None, None).kind == "booleans"


def test_edges_are_integers_floats_or_pairs() -> None:
    assert declare(None, [0, 1.0, 2], None).labels == ((0, 1), (1, 2))
    assert declare(None, range(3), None).labels == ((0, 1), (1, 2))
    assert declare(None, np.arange(3), None).labels == ((0, 1), (1, 2))
    assert declare(None, np.linspace(0, 1, 3), None).labels == ((0.0, 0.5), (0.5, 1.0))
    assert declare(None, np.array([[0, 1], [2, 3]]), None).labels == ((0, 1), (2, 3))
    assert declare(None, [(np.int64(0), 1), (1, math.inf)], (0, 1)).other == 0
    assert declare(None, [-0.0, 1], "x").breaks.tolist() == [0.0, math.nextafter(1.0, 2.0)]
    assert not np.signbit(declare(None, [-0.0, 1], "x").breaks).any()


def test_categories_of_one_word() -> None:
    assert declare(["a"], None, "b").labels == ("a", "b")


@pytest.mark.parametrize("engine", ["polars", "enum", "pandas", "pyarrow", "duckdb"])
@pytest.mark.parametrize("person", [None, "p"])
def test_dictionaries_of_text(engine: str, person: str | None) -> None:
    text = pa.array(["a", "z", None, "b", "a"]).dictionary_encode()
    arrow = pa.table({"v": text, "p": [1, 2, 3, 4, 5]})
    frame = pl.DataFrame(arrow)
    data: Any = {
        "polars": lambda: frame,
        "enum": lambda: frame.with_columns(pl.col("v").cast(pl.Enum(["z", "b", "a", "y"]))),
        "pandas": arrow.to_pandas,
        "pyarrow": lambda: arrow,
        "duckdb": lambda: duckdb.from_arrow(arrow),
    }[engine]()
    tally = cells_of("v", epsilon=1.0, categories=["a", "b"], other="c", data=data, person=person)
    assert (tally.cells // tally.unit).tolist() == [[2, 1, 2]]


@pytest.mark.parametrize("by_itself", [False, True])
@pytest.mark.parametrize("form", ["pandas", "pyarrow"])
def test_dictionaries_of_integers_are_not_text(
    monkeypatch: pytest.MonkeyPatch, form: str, by_itself: bool
) -> None:
    if by_itself:
        monkeypatch.setattr("epsilons.door.given.columns.moved", lambda table: table)
    data: Any = pa.table({"v": pa.array([1, 2, 1]).dictionary_encode()})
    if form == "pandas":
        data = data.to_pandas()
    with pytest.raises(ColumnError, match="must be a column of text"):
        cells_of("v", epsilon=1.0, categories=["1", "2"], data=data)


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.Int16, pl.UInt32, pl.UInt64, pl.Int128])
@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb", "array"])
def test_integers_of_all_widths(dtype: Any, engine: str) -> None:
    wide = dtype in (pl.UInt64, pl.Int128)
    if dtype == pl.Int128:
        engine = "polars"  # Arrow has no such type
    largest = 2**63 - 1 if wide else 100
    values = [0, 7, largest, 2**64 - 1 if wide else 101]
    frame = pl.DataFrame({"v": pl.Series(values, dtype=dtype)})
    given: dict[str, Any] = {"epsilon": 1.0, "categories": [7, largest], "other": "x"}
    if engine == "array":
        found = cells_of(frame["v"].to_numpy(), **given)
    else:
        found = cells_of("v", data=on_engine(engine, frame), **given)
    assert found.cells.tolist() == [[1, 1, 2]]


def test_text_in_csv_is_never_a_number(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("v,e\n007,1\n7,1\n7,1\n,2\n")
    given: dict[str, Any] = {"epsilon": "e", "other": "x", "data": file}
    assert cells_of("v", categories=["007", "7"], **given).cells.tolist() == [
        [1, 2, 0],
        [0, 0, 1],
    ]
    assert cells_of("v", categories=[7, 8], **given).cells.tolist() == [
        [3, 0, 0],
        [0, 0, 1],
    ]
    late = tmp_path / "late.csv"
    late.write_text("v,e\n" + ",1\n" * 20_000 + "5,1\n")
    given["data"] = late
    assert cells_of("v", categories=[5, 6], **given).cells.tolist() == [[1, 0, 20_000]]


@pytest.mark.parametrize("categories", [["a", "b"], [1, 2], [True, False], [0.0, 1.0, 2.0]])
def test_nothing_leaks(tmp_path: Path, categories: list[Any]) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("v,e\n" + "1,1\n" * 20_000 + f"x{SECRET},1\n")
    lazy = pl.LazyFrame({"v": ["1", f"x{SECRET}"]}).select(
        pl.col("v").cast(pl.Int64), e=pl.lit(1.0)
    )
    relation = duckdb.sql(f"select x::int as v, 1.0 as e from (values ('1'), ('x{SECRET}')) t(x)")
    arrays: list[Any] = [["a", SECRET], [1, int(SECRET)], [1.0, float(SECRET)], [object(), SECRET]]
    for data in (file, lazy, relation, *arrays):
        given: Any = ("v", "e", data) if not isinstance(data, list) else (data, 1.0, None)
        with pytest.raises(EpsilonsError) as caught:
            cells_of(given[0], epsilon=given[1], data=given[2], **declared_as(categories))
        shown = "".join(traceback.format_exception(caught.value, chain=True))
        assert SECRET not in shown
        assert caught.value.__cause__ is None


def test_a_table_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "LARGEST_TABLE", 3)
    with pytest.raises(ArgumentError, match="2 cells for each of 2 budget levels"):
        cells_of(["a", "b"], epsilon=[1.0, 2.0], categories=["a", "b"])
