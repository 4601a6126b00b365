"""Reports as tables: there and back; on every engine the same state, and the same refusals."""

from __future__ import annotations

import hashlib
import math
import struct
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import epsilons as ep
from epsilons import local
from epsilons.errors import ArgumentError, ColumnError, DataError, EpsilonsError, FileError
from epsilons.local.randomizer import Randomizer
from epsilons.local.reports import Reports
from epsilons.tally.batches import MERGERS
from tests.local.engines import ENGINES, Make, frame, same
from tests.local.test_randomizer import BUDGETS, CASES, MENU, PEOPLE, reports_of

SECRET = 987.654321
ORDER = np.random.default_rng(3).permutation(PEOPLE)


def shuffled(name: str) -> dict[str, Any]:
    """The columns of some reports, in another order of people."""
    return {key: column[ORDER] for key, column in reports_of(name).to_columns().items()}


def entries(name: str) -> list[bytes]:
    """Reports of one person each, and three batches of several."""
    mechanism, values = CASES[name]
    some = [*range(40), *range(PEOPLE - 5, PEOPLE)]
    found = [mechanism.randomize(values[i], BUDGETS[i], ep.Seeded(i)).to_bytes() for i in some]
    for cut in (slice(0, 7), slice(200, 210), slice(280, PEOPLE)):
        batch = mechanism.randomize_many(values[cut], BUDGETS[cut], ep.Seeded(9))
        found.append(batch.to_bytes())
    return found


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda table: frame(request.param, table, tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_columns_go_there_and_back(name: str) -> None:
    mechanism, _ = CASES[name]
    reports = reports_of(name)
    columns = reports.to_columns()
    assert {len(column) for column in columns.values()} == {PEOPLE}
    back = Reports.from_columns(columns, mechanism=mechanism)
    assert back.to_bytes() == reports.to_bytes()
    as_lists = {key: column.tolist() for key, column in columns.items()}
    assert Reports.from_columns(as_lists, mechanism=mechanism).to_bytes() == reports.to_bytes()
    assert columns["mechanism"][0] == mechanism.fingerprint
    same(
        mechanism.state(Reports.from_columns(shuffled(name), mechanism=mechanism)),
        mechanism.state(reports),
    )


@pytest.mark.parametrize("make_frame", [pl.DataFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("name", CASES)
def test_every_frame_takes_the_columns(name: str, make_frame: Any) -> None:
    mechanism, _ = CASES[name]
    state = mechanism.state(data=make_frame(shuffled(name)))
    same(state, mechanism.state(reports_of(name)))


@pytest.mark.parametrize("name", CASES)
def test_the_same_state_from_every_engine(make: Make, name: str) -> None:
    mechanism, _ = CASES[name]
    table = pl.DataFrame(shuffled(name)).with_columns(pl.lit("x").alias("more"))
    same(mechanism.state(data=make(table)), mechanism.state(reports_of(name)))
    release = mechanism.estimate(data=make(table), weights="uniform", confidence=0.5)
    expected = mechanism.estimate(reports_of(name), weights="uniform", confidence=0.5)
    assert (release.n, release.confidence) == (PEOPLE, 0.5)
    assert [row.people for row in release.spent] == [row.people for row in expected.spent]
    np.testing.assert_allclose(release.raw, expected.raw, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_the_same_state_from_bytes(make: Make, name: str) -> None:
    mechanism, _ = CASES[name]
    rows = entries(name)
    one_by_one = mechanism.state(rows[0])
    for row in rows[1:]:
        one_by_one += mechanism.state(row)
    same(mechanism.state("sent", data=make(pl.DataFrame({"sent": rows}))), one_by_one)


def test_other_types_of_numbers(make: Make) -> None:
    """Budgets as integers or decimals, bits as integers, and seeds as unsigned ones."""
    bit, _ = CASES["bit"]
    reports = bit.randomize_many([True, False, True], [1.0, 2.0, 4.0], ep.Seeded(1))
    table = pl.DataFrame(reports.to_columns())
    for dtype in (pl.Int32, pl.UInt64, pl.Float32, pl.Decimal(10, 2)):
        if isinstance(dtype, pl.Decimal) and isinstance(make(table), pd.DataFrame):
            continue  # there they are mere objects, unless Arrow holds them
        other = table.with_columns(pl.col("epsilon").cast(dtype), pl.col("answer").cast(pl.Int8))
        same(bit.state(data=make(other)), bit.state(reports))
    vector, _ = CASES["vector"]
    narrow = {"signs": pl.UInt8, "distance": pl.Int16, "answer": pl.UInt32}
    other = pl.DataFrame(shuffled("vector")).with_columns(
        *(pl.col(name).cast(dtype) for name, dtype in narrow.items()),
        pl.col("seed").reinterpret(signed=False),
    )
    same(vector.state(data=make(other)), vector.state(reports_of("vector")))


def test_one_seeded_report_makes_all_of_them_simulated(make: Make) -> None:
    bit = local.Bit()
    secret = bit.randomize_many([True] * 90, 1.0)
    seeded = bit.randomize_many([True], 1.0, ep.Seeded(1))
    tables = [pl.DataFrame(reports.to_columns()) for reports in (secret, seeded)]
    assert bit.state(data=make(tables[0])).private
    assert not bit.state(data=make(pl.concat(tables))).private
    sent = [bit.randomize(True, 1.0).to_bytes() for _ in range(9)]
    assert bit.state("sent", data=make(pl.DataFrame({"sent": sent}))).private
    sent.append(seeded.to_bytes())
    assert not bit.state("sent", data=make(pl.DataFrame({"sent": sent}))).private


def refused(
    mechanism: Randomizer, data: Any, column: str | None = None, what: str = "."
) -> EpsilonsError:
    """The refusal: by name, in words, with no value and nothing of the engine behind it."""
    with pytest.raises((DataError, ColumnError), match=what) as caught:
        mechanism.estimate(column, data=data)
    error = caught.value
    assert len(str(error)) > 20
    assert "987" not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


BIT = pl.DataFrame(local.Bit().randomize_many([True, False] * 60, 1.5, ep.Seeded(4)).to_columns())
AT_70 = pl.int_range(pl.len()) == 70


def at_70(column: str, value: Any) -> pl.DataFrame:
    """A table of bits in which one row has something else."""
    changed = pl.when(AT_70).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    return BIT.with_columns(changed)


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
    other = local.Mean((-2, 6.5)) if mechanism.kind == "mean" else local.Vector(5, radius=2.5)
    if other.kind == mechanism.kind and name != "vector of one":
        refused(other, make(pl.DataFrame(shuffled(name))), None, "not made by this mechanism")


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
    """What `state` says of an entry by itself, it says of a column with it."""
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
    table = pl.DataFrame(shuffled("rappor"))
    long = pl.when(AT_70).then(pl.lit(b"987")).otherwise(pl.col("answer")).alias("answer")
    refused(rappor, make(table.with_columns(long)), what="a bit for each category")
    spill = pl.when(AT_70).then(pl.lit(b"\0\2")).otherwise(pl.col("answer")).alias("answer")
    refused(rappor, make(table.with_columns(spill)), what="must be zero")
    vector, _ = CASES["vector"]
    table = pl.DataFrame(shuffled("vector"))
    short = pl.when(AT_70).then(pl.lit(b"987")).otherwise(pl.col("vector")).alias("vector")
    refused(vector, make(table.with_columns(short)), what="not of its dimension")
    open_ = pl.when(AT_70).then(pl.lit(b"9" * 40)).otherwise(pl.col("vector")).alias("vector")
    refused(vector, make(table.with_columns(open_)), what="with signs, or without")
    wide = pl.when(AT_70).then(987).otherwise(pl.col("distance")).alias("distance")
    refused(vector, make(table.with_columns(wide)), what="out of range")
    hadamard, _ = CASES["hadamard"]
    table = pl.DataFrame(shuffled("hadamard"))
    for row in (-987, 987, 2**40):
        beyond = pl.when(AT_70).then(row).otherwise(pl.col("row")).alias("row")
        refused(hadamard, make(table.with_columns(beyond)), what="malformed")
    mean, _ = CASES["mean"]
    table = pl.DataFrame(shuffled("mean"))
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
        Reports.from_columns(shuffled("rappor") | {"answer": [3] * PEOPLE}, mechanism=rappor)


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


def test_fingerprints_tell_mechanisms_apart() -> None:
    made = {(mechanism.kind, mechanism.parameters) for mechanism, _ in CASES.values()}
    found = {mechanism.fingerprint for mechanism, _ in CASES.values()}
    assert len(found) == len(made)
    digest = hashlib.sha256(b"\2" + struct.pack("<dd", -2.0, 6.0)).digest()
    assert struct.unpack("<q", digest[:8]) == (local.Mean((-2, 6)).fingerprint,)


@given(
    st.lists(st.sampled_from(MENU), min_size=1, max_size=30),
    st.sampled_from(sorted(CASES)),
    st.integers(0, 2**32),
)
def test_any_reports_survive_a_table(budgets: list[float], name: str, seed: int) -> None:
    mechanism, values = CASES[name]
    reports = mechanism.randomize_many(values[: len(budgets)], budgets, ep.Seeded(seed))
    table = pl.DataFrame(reports.to_columns())
    columns = {key: table[key].to_numpy() for key in table.columns}
    assert Reports.from_columns(columns, mechanism=mechanism).to_bytes() == reports.to_bytes()


def test_dask_and_ibis() -> None:
    dd, ibis = pytest.importorskip("dask.dataframe"), pytest.importorskip("ibis")
    (bit, _), reports = CASES["bit"], reports_of("bit")
    table = pl.DataFrame(reports.to_columns())
    same(bit.state(data=dd.from_pandas(table.to_pandas(), npartitions=3)), bit.state(reports))
    refused(bit, dd.from_pandas(at_70("epsilon", -SECRET).to_pandas(), npartitions=3))
    refused(bit, dd.from_pandas(BIT.clear().to_pandas(), npartitions=1), what="no report")
    database = ibis.polars.connect({"reports": table, "bad": at_70("answer", None)})
    same(bit.state(data=database.table("reports")), bit.state(reports))
    refused(bit, database.table("bad"))


def check_on_spark(spark: Any) -> None:
    """The same states and refusals from Spark, to which only merged states come back."""

    def held(table: pl.DataFrame) -> Any:
        return spark.createDataFrame(table.to_arrow())

    (bit, _), (mean, _), rows = CASES["bit"], CASES["mean"], entries("mean")
    data = held(pl.DataFrame(shuffled("bit")))
    kind = type(data)
    collect, seen = kind.collect, []

    def counted(frame: Any) -> Any:
        rows = collect(frame)
        assert frame.columns == ["result"]
        seen.append(len(rows))
        return rows

    never = mock.Mock(side_effect=AssertionError("rows came to the driver"))
    with (
        mock.patch.object(kind, "collect", counted),
        mock.patch.object(kind, "toPandas", never),
        mock.patch.object(kind, "toArrow", never),
        mock.patch.object(kind, "toLocalIterator", never),
    ):
        same(bit.state(data=data.repartition(2)), bit.state(reports_of("bit")))
        expected = mean.state(rows[0])
        for row in rows[1:]:
            expected += mean.state(row)
        same(mean.state("sent", data=held(pl.DataFrame({"sent": rows}))), expected)
        refused(mean, held(pl.DataFrame({"sent": [*rows, rows[0][:-1]]})), "sent", "cut short")
        refused(bit, data.filter("epsilon < 0"), what="no report")
        assert len(seen) == 4
        refused(bit, data, "epsilon", "must be a column of bytes")
        refused(bit, data.drop("answer"), what="'answer' is not a column")
    assert len(seen) == 4, "schemas are judged without a job"
    assert max(seen) <= MERGERS
