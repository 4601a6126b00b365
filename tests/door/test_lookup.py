"""Indices among very many breaks and labels are the same as in NumPy."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons.door.engines.labels_engine import BRANCHES, index_among, with_places
from tests.engines import on_engine


def on(engine: str, frame: pl.DataFrame) -> nw.LazyFrame[Any]:
    rows: nw.LazyFrame[Any] = nw.from_native(on_engine(engine, frame)).lazy()
    return rows


@pytest.mark.parametrize("size", [1, BRANCHES, BRANCHES + 1, 300, BRANCHES**2 + 1])
@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb"])
def test_as_many_breaks_are_passed_as_numpy_counts(engine: str, size: int) -> None:
    """The index equals NumPy's, for values at the breaks, next to them, and beyond all breaks."""
    breaks = np.cumsum(np.random.default_rng(size).uniform(0.5, 2.0, size)) - 20.0
    near = [breaks, np.nextafter(breaks, -np.inf), np.nextafter(breaks, np.inf)]
    values = np.concatenate([*near, [-np.inf, -1e300, 1e300, np.inf]])
    frame = pl.DataFrame({"row": range(values.size), "v": values})
    found = index_among(on(engine, frame), "v", breaks).collect()
    places = dict(zip(found["row"].to_list(), found["v"].to_list(), strict=True))
    expected = np.searchsorted(breaks, values, side="right").tolist()
    assert [places[row] for row in range(values.size)] == expected


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
