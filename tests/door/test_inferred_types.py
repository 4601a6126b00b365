"""Under add/remove, where no data may be refused, types that a reader infers have no effect.

Each table is read twice: unchanged, and with one more person, whose cell makes the reader infer
another type for the column. The integers of all other people must not change.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import epsilons as ep
import epsilons.door.rows
from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import Grouping, declare_groups, open as open_rows
from epsilons.errors import ColumnError
from tests.door.asking import cells_of, sums_of

LADDER = Ladder.declare(np.array([0.5, 1.0]))
BOUNDS = (0.0, 10.0)
HEADER = "value,budget,group,flag"
ROWS = ["3,1,1,true", "10,0.5,2,false", "0.5,1,2,true", "7,1.0,1,true"]
ODD: dict[str, str] = {
    "a value of text": "n.a.,1,1,true",
    "a value that is a date": "2026-01-31,1,1,true",
    "a value that is true": "true,1,1,true",
    "no value": ",1,1,true",
    "a budget of text": "5,lots,1,true",
    "a group of text": "5,1,x,true",
    "a blank group": "5,1, ,true",
    "no group": "5,1,,true",
    "a group that is a fraction": "5,1,1.5,true",
    "a flag of text": "5,1,1,maybe",
    "no flag": "5,1,1,",
    "a huge value": "1e300,1,1,true",
    "nothing that fits": "n.a.,lots,x,maybe",
}
"""Rows of one additional person, each with an unusual entry."""


def _pandas(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text))


def _objects(text: str) -> pd.DataFrame:
    """Return text as columns of objects, as pandas did before version 3."""
    frame = _pandas(text)
    odd = {name: object for name in frame if frame[name].dtype in ("str", "string", "object")}
    return frame.astype(odd)


def _categories(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), dtype={"group": "category", "value": "category"})


def _duckdb(text: str) -> Any:
    connection = duckdb.connect()
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text)
        file.flush()
        return connection.from_arrow(connection.read_csv(file.name).to_arrow_table())


def _ibis(text: str) -> Any:
    import ibis

    connection = ibis.duckdb.connect()
    connection.con.register("rows", pyarrow.csv.read_csv(io.BytesIO(text.encode())))
    return connection.table("rows")


READERS: dict[str, Callable[[str], Any]] = {
    "pandas": _pandas,
    "pandas before 3": _objects,
    "pandas, categories": _categories,
    "pandas on arrow": lambda text: pd.read_csv(io.StringIO(text), dtype_backend="pyarrow"),
    "pandas, nullable": lambda text: pd.read_csv(io.StringIO(text), dtype_backend="numpy_nullable"),
    "polars": lambda text: pl.read_csv(io.StringIO(text), infer_schema_length=None),
    "polars lazy": lambda text: pl.read_csv(
        io.StringIO(text), infer_schema_length=None, try_parse_dates=True
    ).lazy(),
    "pyarrow": lambda text: pyarrow.csv.read_csv(io.BytesIO(text.encode())),
    "duckdb": _duckdb,
    "ibis": _ibis,
}


def _table(rows: list[str]) -> str:
    return "\n".join([HEADER, *rows]) + "\n"


GROUPS = ([1, 2], ["1", "2"])


def counted(data: Any, groups: list[Any]) -> tuple[list[float], list[list[int]]]:
    """Count means by group, for the people whose flag is true; return the levels and the cells.

    This reads values, budgets, groups and flags, so a wrong type of any column would show.
    """
    by = Grouping(("group",), (declare_groups(groups),))
    rows = open_rows(
        "value",
        epsilon="budget",
        data=data,
        ladder=LADDER,
        missing="midpoint",
        groups=by,
        where="flag",
    )
    found = rows.count(door.Ask("numbers", BOUNDS))
    return found.levels.tolist(), found.cells.tolist()


@pytest.mark.parametrize("labels", [["1", "2"], [1, 2]], ids=str)
@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize(
    "form",
    [
        list,
        lambda items: np.array(items, dtype=object),
        lambda items: pd.Series(items, dtype=object),
        lambda items: np.array([str(item) for item in items]),
        lambda items: pl.Series([str(item) for item in items]),
        lambda items: pa.array([str(item) for item in items]),
        lambda items: pd.array([str(item) for item in items], dtype="string"),
        lambda items: np.array([float(item) for item in items]),
        lambda items: pl.Series([float(item) for item in items]),
    ],
    ids=["list", "objects", "series", "U", "polars", "arrow", "string", "floats", "polars floats"],
)
def test_arrays_are_read_as_cells(
    form: Any, labels: list[Any], large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr(epsilons.door.rows, "SMALL", 0)
    given: Any = form([1, "1", 2, 2.0, "1"])
    found = cells_of(given, epsilon=1.0, categories=labels, ladder=LADDER)
    spelt = "2.0" in [str(item) for item in np.asarray(given, dtype=object)] and labels[0] == "1"
    assert found.cells.tolist()[-1][0] == 3
    assert found.cells.tolist()[-1][1] == (1 if spelt and not _holds_numbers(given) else 2)
    numbers = sums_of(form([1, "1", 2, 2.0, "1"]), epsilon=1.0, bounds=(1.0, 2.0), ladder=LADDER)
    assert numbers.sums.tolist()[-1] == 2 * 2**30
    budgets = sums_of(
        [1.0] * 5, epsilon=form([1, "1", 2, 2.0, "1"]), bounds=(0.0, 1.0), ladder=LADDER
    )
    assert budgets.counts.tolist()[-1] == 5


def _holds_numbers(given: Any) -> bool:
    return any(isinstance(item, (int, float)) for item in list(given))


def test_types_that_a_file_states_are_still_refused(tmp_path: Path) -> None:
    """A type that a file declares can be refused: in Parquet, a text column is not numeric."""
    frame = pl.DataFrame({"v": ["3", "4"], "e": [1.0, 1.0]})
    frame.write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ColumnError, match="values='v' must be a column of numbers"):
        sums_of("v", epsilon="e", bounds=BOUNDS, data=str(tmp_path / "rows.parquet"), ladder=LADDER)
    with pytest.raises(ColumnError, match="values='v' must be a column of numbers"):
        sums_of("v", epsilon="e", bounds=BOUNDS, data=frame)  # refused under replace
    nested = pl.DataFrame({"v": [[3.0], [4.0]], "e": [1.0, 1.0]})
    with pytest.raises(ColumnError, match="values='v' must be a column of numbers"):
        sums_of("v", epsilon="e", bounds=BOUNDS, data=nested, ladder=LADDER)


def test_a_release_is_made_whatever_one_cell_says() -> None:
    """The public functions return a release, whatever one cell contains."""
    for odd in ODD.values():
        release = ep.mean(
            "value",
            epsilon="budget",
            bounds=BOUNDS,
            data=_pandas(_table([*ROWS, odd])),
            neighbours="add-remove",
            levels=[0.5, 1.0],
            source=ep.Seeded(1),
        )
        assert BOUNDS[0] <= release.value <= BOUNDS[1]


def test_minus_infinity_is_the_same_number_in_every_column(tmp_path: Path) -> None:
    """A cell with "-inf" is in the bin from −∞, in a file and in columns of text."""
    texts = [
        "-inf",
        " -Infinity",
        "-INF\t",
        "-1e400",
        "5",
        "inf",
        "- inf",
        "--inf",
        "+-inf",
        "n.a.",
    ]
    frame = pl.DataFrame({"v": texts * 4, "e": ["1", "0.5"] * 20})
    frame.write_csv(tmp_path / "people.csv")
    every = {
        "file": str(tmp_path / "people.csv"),
        "polars": frame,
        "categorical": frame.with_columns(pl.col("v").cast(pl.Categorical)),
        "pandas": frame.to_pandas(),
        "duckdb": duckdb.sql("SELECT * FROM frame"),
    }
    edges = [float("-inf"), 0.0, 10.0, float("inf")]
    for name, data in every.items():
        told = {"epsilon": "e", "data": data, "ladder": LADDER}
        found = cells_of("v", edges=edges, other="other", **told)
        assert (found.cells.sum(axis=0) // found.unit).tolist() == [16, 4, 4, 16], name
