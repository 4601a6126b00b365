"""Indices among very many breaks and labels are the same as in NumPy."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl
import pytest

from epsilons.door.engines.labels_engine import with_places
from tests.engines import on_engine


def on(engine: str, frame: pl.DataFrame) -> nw.LazyFrame[Any]:
    rows: nw.LazyFrame[Any] = nw.from_native(on_engine(engine, frame)).lazy()
    return rows


TEXT = ["it's", "b", ""]
WHOLE = [5, -(2**62), 7]
BYTES = [b"it's", b"\\x00", b"\x00"]


@pytest.mark.parametrize(
    ("engine", "labels"),
    [
        *[("polars", TEXT), ("pyarrow", TEXT)],  # not DuckDB, which compares text as bytes
        *[(engine, labels) for engine in ("polars", "duckdb") for labels in (WHOLE, BYTES)],
    ],
)
def test_a_label_has_its_own_place_and_others_have_none(engine: str, labels: list[Any]) -> None:
    others: dict[type, Any] = {str: "B", int: 6, bytes: b"b"}
    values = [labels[2], others[type(labels[0])], labels[0], labels[1], labels[0]]
    frame = pl.DataFrame({"row": range(5), "v": values})
    found = with_places(on(engine, frame), "v", labels, "place").collect()
    places = dict(zip(found["row"].to_list(), found["place"].to_list(), strict=True))
    assert [places[row] for row in range(5)] == [2, -1, 0, 1, 0]
