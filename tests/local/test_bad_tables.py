"""Invalid tables of reports are refused on every engine, with plain messages."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import local
from epsilons.errors import ArgumentError, ColumnError, DataError, FileError
from epsilons.local.randomizer import Randomizer
from epsilons.local.reports import Reports
from tests.local.engines import Make, same
from tests.local.tables import AT_70, BIT, SECRET, at_70, refused, reordered
from tests.local.test_randomizer import BUDGETS, CASES, PEOPLE, reports_of


@pytest.mark.parametrize(
    "table",
    [
        BIT.clear(),
        BIT.drop("epsilon"),
        BIT.drop("answer"),
        BIT.drop("private"),
        BIT.drop("mechanism"),
        BIT.with_columns(pl.lit(str(SECRET)).alias("epsilon")),
        BIT.with_columns(pl.lit(str(SECRET)).alias("answer")),
        BIT.with_columns(pl.lit(SECRET).alias("answer")),
        BIT.with_columns(pl.lit(SECRET).alias("mechanism")),
        at_70("epsilon", None),
        at_70("answer", None),
        at_70("private", None),
        at_70("mechanism", None),
        at_70("epsilon", -SECRET),
        at_70("epsilon", math.nan),
        BIT.with_columns(pl.when(AT_70).then(987).otherwise(1).alias("answer")),
        BIT.with_columns(pl.when(AT_70).then(987).otherwise(1).alias("private")),
        at_70("mechanism", 987),
    ],
    ids=[
        "empty",
        "no epsilon",
        "no answer",
        "no private",
        "no mechanism",
        "text for epsilon",
        "text for answer",
        "numbers for answer",
        "numbers for mechanism",
        "null epsilon",
        "null answer",
        "null private",
        "null mechanism",
        "negative epsilon",
        "epsilon is nan",
        "answer is no bit",
        "private is no bit",
        "another mechanism",
    ],
)
def test_bad_tables_are_refused(make: Make, table: pl.DataFrame) -> None:
    refused(local.Bit(), make(table))


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


@pytest.mark.parametrize("name", CASES)
def test_tables_of_other_mechanisms_are_refused(make: Make, name: str) -> None:
    mechanism, _ = CASES[name]
    for other_name, table in TABLES.items():
        made_by, _ = CASES[other_name]
        if (made_by.kind, made_by.parameters) != (mechanism.kind, mechanism.parameters):
            refused(mechanism, make(table))
    other: Randomizer = local.Vector(5, radius=2.5)
    if isinstance(mechanism, local.Mean):
        other = local.Mean((-2, 6.5), mechanism.method)
    if other.kind == mechanism.kind and name != "vector of one":
        refused(other, make(pl.DataFrame(reordered(name))), None, "not made by this mechanism")


BAD_BYTES = {
    "empty": b"",
    "short": local.Bit().randomize(True, 1.0).to_bytes()[:-1],
    "long": local.Bit().randomize(True, 1.0).to_bytes() + b"\0",
    "bits that must be zero": local.Bit().randomize(True, 1.0).to_bytes()[:-1] + b"\2",
    "magic": b"987X" + local.Bit().randomize(True, 1.0).to_bytes()[4:],
    "another mechanism": local.Mean((0, 1)).randomize(0.5, 1.0).to_bytes(),
    "a batch of another": local.Mean((0, 1)).randomize_many([0.5, 0.1], 1.0).to_bytes(),
    "nobody": local.Bit().randomize_many([], 1.0).to_bytes(),
    "negative": local.Bit().randomize(True, 1.0).to_bytes().replace(b"\xf0\x3f", b"\xf0\xbf"),
    "nan": local.Bit().randomize(True, 1.0).to_bytes().replace(b"\xf0\x3f", b"\xf8\x7f"),
    "null": None,
}


@pytest.mark.parametrize("bad", BAD_BYTES)
def test_one_bad_entry_of_bytes_is_refused(make: Make, bad: str) -> None:
    rows = [local.Bit().randomize(True, 1.0).to_bytes() for _ in range(60)]
    rows.insert(50, BAD_BYTES[bad])  # type: ignore[arg-type]
    refused(local.Bit(), make(pl.DataFrame({"sent": rows})), "sent")


@pytest.mark.parametrize("name", CASES)
def test_changed_bytes_are_refused_or_are_other_reports(name: str) -> None:
    """A column in which one bit was changed is accepted if and only if each of its entries is."""
    mechanism, values = CASES[name]
    good = mechanism.randomize(values[0], BUDGETS[0], ep.Seeded(1)).to_bytes()
    draw = np.random.default_rng(8)
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << int(draw.integers(8))
        table = pl.DataFrame({"sent": [good, bytes(bad)]})
        try:
            alone = mechanism.state(good) + mechanism.state(bytes(bad))
        except DataError:
            with pytest.raises(DataError):
                mechanism.state("sent", data=table)
        else:
            same(mechanism.state("sent", data=table), alone)


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
