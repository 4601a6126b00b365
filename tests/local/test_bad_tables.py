"""Invalid tables of reports are refused on every engine, with plain messages."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from epsilons import local
from epsilons.errors import ArgumentError, ColumnError, FileError
from epsilons.local.reports import Reports
from tests.local.engines import Make
from tests.local.tables import AT_70, BIT, refused, reordered
from tests.local.test_randomizer import CASES, PEOPLE, reports_of


def test_a_missing_column_is_named(make: Make) -> None:
    table = BIT.rename({"answer": "anwser"})
    error = refused(local.Bit(), make(table), what=r"'answer' is not a column.*'anwser'\?")
    assert isinstance(error, ColumnError)
    error = refused(local.Bit(), make(table), "sent", "'sent' is not a column of data")
    assert isinstance(error, ColumnError)
    refused(local.Bit(), make(BIT), "epsilon", "'epsilon' must be a column of bytes, but is")


TABLES = {
    name: pl.DataFrame(reports_of(name).to_columns())
    for name in ("bit", "mean bit", "duchi", "hadamard", "rappor")
}


def test_answers_of_the_wrong_size_are_refused(make: Make) -> None:
    rappor, _ = CASES["rappor"]
    table = pl.DataFrame(reordered("rappor"))
    long = pl.when(AT_70).then(pl.lit(b"987")).otherwise(pl.col("answer")).alias("answer")
    refused(rappor, make(table.with_columns(long)), what="one bit for each category")
    spill = pl.when(AT_70).then(pl.lit(b"\0\2")).otherwise(pl.col("answer")).alias("answer")
    refused(rappor, make(table.with_columns(spill)), what="must be zero")
    vector, _ = CASES["vector"]
    table = pl.DataFrame(reordered("vector"))
    short = pl.when(AT_70).then(pl.lit(b"987")).otherwise(pl.col("vector")).alias("vector")
    refused(vector, make(table.with_columns(short)), what="wrong dimension")
    open_ = pl.when(AT_70).then(pl.lit(b"9" * 40)).otherwise(pl.col("vector")).alias("vector")
    refused(vector, make(table.with_columns(open_)), what="either signs or a vector")
    wide = pl.when(AT_70).then(987).otherwise(pl.col("distance")).alias("distance")
    refused(vector, make(table.with_columns(wide)), what="out of range")
    hadamard, _ = CASES["hadamard"]
    table = pl.DataFrame(reordered("hadamard"))
    for row in (-987, 987, 2**40):
        beyond = pl.when(AT_70).then(row).otherwise(pl.col("row")).alias("row")
        refused(hadamard, make(table.with_columns(beyond)), what="malformed")
    mean, _ = CASES["mean"]
    table = pl.DataFrame(reordered("mean"))
    far = pl.when(AT_70).then(2**62 + 987).otherwise(pl.col("answer")).alias("answer")
    refused(mean, make(table.with_columns(far)), what="malformed")


@pytest.mark.parametrize("bad", ["epsilon", "answer", "private", "mechanism"])
def test_bad_columns_are_refused(bad: str) -> None:
    columns = {name: BIT[name].to_numpy() for name in BIT.columns}
    for other in (columns[bad][:-1], columns[bad].reshape(2, -1), ["987"] * len(BIT)):
        with pytest.raises(ColumnError) as caught:
            Reports.from_columns(columns | {bad: other}, mechanism=local.Bit())
        assert "987" not in str(caught.value)
    del columns[bad]
    with pytest.raises(ColumnError, match=bad):
        Reports.from_columns(columns, mechanism=local.Bit())
    rappor, _ = CASES["rappor"]
    with pytest.raises(ColumnError, match="bytes"):
        Reports.from_columns(reordered("rappor") | {"answer": [3] * PEOPLE}, mechanism=rappor)


def test_arguments_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    bit = local.Bit()
    for call in (bit.state, bit.estimate):
        with pytest.raises(ArgumentError, match="Give reports"):
            call()
        with pytest.raises(ArgumentError, match="name of a column"):
            call(b"EPSR", data=BIT)
        with pytest.raises(ArgumentError, match="not a table"):
            call(data=[1, 2, 3])
        with pytest.raises(ArgumentError, match="weights"):
            call(data=BIT, weights="none")
        with pytest.raises(FileError, match="Parquet"):
            call(data=tmp_path / "reports.csv")
        with pytest.raises(FileError, match="does not exist"):
            call(data=tmp_path / "reports.parquet")
    with pytest.raises(ArgumentError, match="name of its column"):
        bit.estimate("sent")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 987 PAR1")
    with pytest.raises(FileError, match="could not be read") as caught:
        bit.estimate(data=tmp_path / "broken.parquet")
    assert "987" not in str(caught.value)
    with pytest.raises(ArgumentError, match="confidence"):
        bit.estimate(data=BIT, confidence=2.0)
