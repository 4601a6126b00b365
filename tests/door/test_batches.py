"""On every engine, batches contain each row exactly once, and have a limited size."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from epsilons.door import batches
from epsilons.door.batches import Batch, Bytes, Content, fold
from epsilons.errors import ArgumentError, ColumnError, DataError, FileError
from tests.local.engines import ENGINES, frame

COLUMNS: dict[str, Content] = {
    "number": "numbers",
    "whole": "integers",
    "bit": "bits",
    "sent": "bytes",
}
RNG = np.random.default_rng(7)
TABLE = pl.DataFrame(
    {
        "number": RNG.normal(size=1000),
        "whole": RNG.integers(-9, 9, 1000),
        "bit": RNG.random(1000) < 0.5,
        "sent": [b"x" * (i % 3) + bytes([i % 7]) for i in range(1000)],
        "else": ["y"] * 1000,
    }
)


def joined(column: Any) -> list[bytes]:
    """Return the entries of a column of bytes, in order."""
    found: list[bytes] = [b""] * sum(len(rows) for rows, _ in column.groups)
    for rows, matrix in column.groups:
        for row, entry in zip(rows.tolist(), matrix, strict=True):
            found[row] = entry.tobytes()
    return found


def listed(parts: Iterator[Batch]) -> list[tuple[Any, ...]] | None:
    """Return all rows as tuples."""
    rows: list[tuple[Any, ...]] = []
    for part in parts:
        columns = [joined(c) if isinstance(c, Bytes) else c.tolist() for c in part.values()]
        rows += zip(*columns, strict=True)
    return rows or None


def sizes(parts: Iterator[Batch]) -> list[int]:
    """Return the number of rows in each batch."""
    return [len(part["number"]) for part in parts]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_row_once(engine: str, tmp_path: Path) -> None:
    found = fold(frame(engine, TABLE, tmp_path), COLUMNS, listed, operator.add)
    assert found == TABLE.select(*COLUMNS).rows()
    assert found is not None
    assert all(type(row[0]) is float for row in found)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows(engine: str, tmp_path: Path) -> None:
    data = frame(engine, TABLE.clear(), tmp_path)
    assert fold(data, {"number": "numbers"}, listed, operator.add) is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("with_bytes", [False, True])
def test_batches_are_of_bounded_size(
    engine: str, with_bytes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (batches, batches):
        monkeypatch.setattr(module, "ROWS", 100)
        monkeypatch.setattr(module, "SMALL", 7)
        monkeypatch.setattr(module, "FEW", 7)
    columns: dict[str, Content] = COLUMNS if with_bytes else {"number": "numbers"}
    found = fold(frame(engine, TABLE, tmp_path), columns, sizes, operator.add)
    assert found is not None
    assert sum(found) == 1000
    assert len(found) >= 8
    assert max(found) < 140


@pytest.mark.parametrize("engine", ["polars", "polars lazy", "parquet", "pyarrow", "duckdb"])
def test_long_entries_make_short_batches(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "SIZE", 5000)
    monkeypatch.setattr(batches, "SMALL", 3)
    long = TABLE.with_columns(sent=pl.lit(b"z" * 1000))
    found = fold(frame(engine, long, tmp_path), COLUMNS, sizes, operator.add)
    assert found is not None
    assert sum(found) == 1000
    assert max(found) <= 7 if engine != "duckdb" else len(found) > 1


@given(st.lists(st.binary(max_size=40), max_size=60))
def test_bytes_are_taken_apart_by_length(entries: list[bytes]) -> None:
    ways = [Bytes.of(entries), batches._lengths_apart(pl.Series(entries, dtype=pl.Binary))]
    for column in ways:
        assert joined(column) == entries
        widths = [matrix.shape[1] for _, matrix in column.groups]
        assert sorted(set(widths)) == widths
        assert all((np.diff(rows) > 0).all() for rows, _ in column.groups)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_work_refuses_is_raised(engine: str, tmp_path: Path) -> None:
    def work(parts: Iterator[Batch]) -> int:
        next(parts)
        raise DataError("A row is not as it must be.")

    with pytest.raises(DataError, match="as it must be"):
        fold(frame(engine, TABLE, tmp_path), COLUMNS, work, operator.add)


def test_what_an_engine_says_is_withheld() -> None:
    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise RuntimeError("Ann earns 98765")

    lazy = TABLE.lazy().map_batches(fail, schema=TABLE.schema)
    schema = pa.schema({"number": pa.float64()})

    def rows() -> Iterator[Any]:
        yield pa.record_batch({"number": [1.0]})
        raise ValueError("Ann earns 98765")

    reader = pa.RecordBatchReader.from_batches(schema, rows())
    for data in (lazy, reader):
        with pytest.raises(DataError, match="withheld") as caught:
            fold(data, {"number": "numbers"}, sizes, operator.add)
        assert "98765" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_types_are_judged_before_rows(tmp_path: Path) -> None:
    def never(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError

    lazy = TABLE.lazy().map_batches(never, schema=TABLE.schema)
    for name, need in [
        ("else", "numbers"),
        ("sent", "integers"),
        ("number", "integers"),
        ("number", "bits"),
        ("number", "bytes"),
        ("else", "bytes"),
        ("none", "numbers"),
    ]:
        needed: Any = {name: need}
        with pytest.raises(ColumnError, match=repr(name)):
            fold(lazy, needed, sizes, operator.add)
    huge = TABLE.with_columns(pl.col("whole").cast(pl.Int128))
    with pytest.raises(ColumnError, match="'whole' must be a column of integers"):
        fold(huge, {"whole": "integers"}, sizes, operator.add)
    objects = TABLE.to_pandas().assign(sent="98765")
    with pytest.raises(ColumnError, match="'sent' must be a column of bytes") as caught:
        fold(objects, {"sent": "bytes"}, sizes, operator.add)
    assert "98765" not in str(caught.value)
    with pytest.raises(ArgumentError, match="not a table"):
        fold({"number": [1.0]}, {"number": "numbers"}, sizes, operator.add)
    with pytest.raises(FileError, match="parquet"):
        fold(tmp_path / "rows.csv", {"number": "numbers"}, sizes, operator.add)


def test_other_columns_may_be_of_any_type() -> None:
    strange = pa.array([(1, 2, 3)], type=pa.month_day_nano_interval())
    table = pa.table({"number": [1.0], "strange": strange})
    with pytest.raises(Exception):  # noqa: B017, PT011  (an unknown type)
        pl.from_arrow(table)
    for data in (table, table.to_reader()):
        assert fold(data, {"number": "numbers"}, sizes, operator.add) == [1]


def test_results_and_refusals_survive_the_way_from_an_executor() -> None:
    parts = TABLE.to_arrow().to_batches(max_chunksize=300)
    sealed = list(batches._worked(parts, columns=COLUMNS, work=listed))
    sealed += list(batches._worked(parts, columns=COLUMNS, work=listed))
    assert [batch.num_rows for batch in sealed] == [1, 1]
    (merged,) = batches._merged(sealed, merge=operator.add)
    assert batches._opened(merged["result"][0].as_py()) == 2 * TABLE.select(*COLUMNS).rows()
    assert list(batches._worked([], columns=COLUMNS, work=listed)) == []
    holes = TABLE.with_columns(whole=pl.lit(None, dtype=pl.Int64)).to_arrow().to_batches()
    refusal = list(batches._worked(holes, columns=COLUMNS, work=listed))
    (merged,) = batches._merged([*sealed, *refusal], merge=operator.add)
    with pytest.raises(DataError, match="'whole' is missing"):
        batches._opened(merged["result"][0].as_py())
    assert pickle.loads(pickle.dumps(Bytes.of([b"a"]))).groups[0][1].tolist() == [[97]]
