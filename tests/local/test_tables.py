"""Reports survive a round trip through tables, and have the same state on every engine."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import epsilons as ep
from epsilons import local
from epsilons.local.reports import Reports
from tests.local.engines import Make, same
from tests.local.tables import BIT, SECRET, at_70, refused, reordered
from tests.local.test_randomizer import CASES, MENU, PEOPLE, reports_of


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
        mechanism.state(Reports.from_columns(reordered(name), mechanism=mechanism)),
        mechanism.state(reports),
    )


@pytest.mark.parametrize("make_frame", [pl.DataFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("name", CASES)
def test_every_frame_takes_the_columns(name: str, make_frame: Any) -> None:
    mechanism, _ = CASES[name]
    state = mechanism.state(data=make_frame(reordered(name)))
    same(state, mechanism.state(reports_of(name)))


def test_other_types_of_numbers(make: Make) -> None:
    """Budgets may be integers or decimals, bits may be integers, and seeds may be unsigned."""
    bit, _ = CASES["bit"]
    reports = bit.randomize_many([True, False, True], [1.0, 2.0, 4.0], ep.Seeded(1))
    table = pl.DataFrame(reports.to_columns())
    for dtype in (pl.Int32, pl.UInt64, pl.Float32, pl.Decimal(10, 2)):
        if isinstance(dtype, pl.Decimal) and isinstance(make(table), pd.DataFrame):
            continue  # pandas without Arrow stores decimals as objects
        other = table.with_columns(pl.col("epsilon").cast(dtype), pl.col("answer").cast(pl.Int8))
        same(bit.state(data=make(other)), bit.state(reports))
    vector, _ = CASES["vector"]
    narrow = {"signs": pl.UInt8, "distance": pl.Int16, "answer": pl.UInt32}
    other = pl.DataFrame(reordered("vector")).with_columns(
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
