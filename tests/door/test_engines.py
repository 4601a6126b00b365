"""The table of engines has a row for every engine of Narwhals, and queries follow it."""

from __future__ import annotations

from typing import Any

import duckdb
import narwhals as nw
import polars as pl
import pytest

from epsilons.door.engines import entries, labels_engine
from epsilons.door.engines.table import ENGINES, Engine, engine_of, kind_of_data
from epsilons.errors import ArgumentError, ColumnError
from tests import engines
from tests.door.asking import cells_of

TABLE = pl.DataFrame({"v": [0.5, 1.5, 0.5], "e": [1.0, 1.0, 2.0], "w": ["a", "b", "a"]})


def test_every_engine_of_narwhals_has_a_row() -> None:
    assert {each.name for each in nw.Implementation} - {"UNKNOWN"} == set(ENGINES)


NOT_TESTED = {
    "MODIN": "as PANDAS",
    "CUDF": "needs a graphics card",
    "PYSPARK_CONNECT": "as PYSPARK",
    "SQLFRAME": "has only the common expressions",
}
"""Engines on which no test makes a table, and the reason."""


def test_every_engine_has_tables_in_the_tests() -> None:
    """The one list of engines of the tests has a row for every engine of the product."""
    assert {engine.row for engine in engines.ENGINES.values()} == set(ENGINES) - set(NOT_TESTED)


def test_engines_that_narwhals_calls_alike_are_asked_alike() -> None:
    for each in nw.Implementation:
        kind = ENGINES[each.name].kind if each.name in ENGINES else "other"
        assert (kind == "pandas") == each.is_pandas_like()
        assert (kind == "spark") == (each.is_pyspark() or each.is_pyspark_connect())


def test_what_sql_engines_have_in_common() -> None:
    """The table of engines assigns each property to the expected engines."""
    sql = {name for name, engine in ENGINES.items() if engine.sql}
    assert sql == {"DUCKDB", "PYSPARK", "PYSPARK_CONNECT", "IBIS"}
    assert sql == {name for name, engine in ENGINES.items() if engine.collates}
    assert {name for name, engine in ENGINES.items() if engine.nullable} == {*sql, "POLARS"}
    assert {name for name, engine in ENGINES.items() if engine.moved} == {"PANDAS", "PYARROW"}
    assert {name for name, engine in ENGINES.items() if not engine.windows} == {"DASK", "PYARROW"}
    quick = {name for name, engine in ENGINES.items() if engine.peek != "never"}
    assert quick == {"POLARS", "DUCKDB"}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (TABLE, "polars"),
        (TABLE.lazy(), "polars"),
        (TABLE.to_arrow(), "pyarrow"),
        (TABLE.to_pandas(), "pandas"),
        (duckdb.from_arrow(TABLE.to_arrow()), "duckdb"),
        ("rows.parquet", None),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_kind_of_data_is_known_before_it_is_wrapped(data: Any, kind: str | None) -> None:
    assert kind_of_data(data) == kind


class Stranger:
    """A frame of an engine that is not in the table."""

    class implementation:
        name = "STRANGER"

    def to_native(self) -> Stranger:
        return self


def test_an_engine_in_no_table_is_refused_what_needs_its_own_words() -> None:
    frame: Any = Stranger()
    assert engine_of(frame) == Engine("Stranger", "other")
    with pytest.raises(ColumnError, match="Stranger may compare text by a collation"):
        entries.written(frame, "w")
    with pytest.raises(ArgumentError, match="too many for a query on Stranger"):
        labels_engine.sent_along(frame, {"v": [1]})


def test_dask_refuses_many_bins_of_people_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr(labels_engine, "MOST_BREAKS", 2)
    data = dd.from_pandas(TABLE.to_pandas().astype({"w": "string[pyarrow]"}), npartitions=1)
    with pytest.raises(ArgumentError, match="Dask takes at most 2 ends of bins together with"):
        cells_of("v", epsilon=1.0, edges=[0.0, 1.0, 2.0, 3.0], data=data, person="w")
