"""Nulls, unusual objects and lost connections, on the engines that treat them specially."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.errors import ColumnError, DataError
from epsilons.loading import later
from tests.door.asking import cells_of, sums_of

dask: Any = later("dask")
dd: Any = later("dask.dataframe")

LADDER = Ladder.declare(np.array([0.5]))


@pytest.mark.parametrize("odd", ["a", 5, [1], "\ud800", None])
@pytest.mark.parametrize("column", ["v", "w"])
def test_a_column_of_objects_on_dask_is_refused_whatever_it_holds(column: str, odd: Any) -> None:
    frame = pd.DataFrame({"v": ["a", "b", "b"], "w": ["x", "y", "z"], "e": 0.5}, dtype="str")
    entries = np.empty(3, dtype=object)
    entries[:] = [*frame[column][:2], odd]
    frame = frame.assign(**{column: pd.Series(entries, dtype=object)}).astype({"e": float})
    with dask.config.set({"dataframe.convert-string": False}):
        data = dd.from_pandas(frame, npartitions=1, sort=False)
        with pytest.raises(ColumnError, match="Python objects on Dask"):
            cells_of("v", epsilon="e", data=data, person="w", categories=["a", "b"], ladder=LADDER)


def test_a_lost_connection_says_nothing_of_the_engine() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1.0::DOUBLE AS v")
    data = connection.table("t")
    connection.close()
    with pytest.raises(DataError, match="withheld"):
        sums_of("v", epsilon=0.5, data=data, bounds=(0.0, 1.0))


def test_integers_with_gaps_that_pandas_made_floats_of_are_refused_with_a_way_out() -> None:
    data = pd.DataFrame({"v": [34, 51, None], "e": 0.5})
    asked: dict[str, Any] = {"epsilon": "e", "categories": [34, 51], "other": 0}
    with pytest.raises(ColumnError, match=r"astype\('Int64'\)"):
        cells_of("v", data=data, **asked)
    tally = cells_of("v", data=data.astype({"v": "Int64"}), **asked)
    assert tally.cells.tolist() == [[1, 1, 1]]
