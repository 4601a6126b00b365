"""The engines that tests use: the one list of them, and how a table is made on each.

Every list of engines in the tests is taken from `ENGINES`, so a new engine is a new row there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

__all__ = ["ENGINES", "FRAMES", "QUICK", "SLOW", "SPARK", "on_engine", "written"]

Spark = Callable[[], Any]


@dataclass(frozen=True)
class Engine:
    """An engine, or a way to hand over a table.

    Attributes:
        row: the name of its row in `epsilons.door.engines.table`; of a path, that of its reader.
        frame: a function that makes a frame of a table in memory. None for files and sessions.
        file: a function that opens a file of the table, or just returns its path.
        kind: the kind of that file.
        slow: whether it takes about a second to answer.
    """

    row: str
    frame: Callable[[pl.DataFrame], Any] | None = None
    file: Callable[[Path], Any] | None = None
    kind: str = "parquet"
    slow: bool = False


def _duckdb(table: pl.DataFrame) -> Any:
    import duckdb

    return duckdb.from_arrow(table.to_arrow())


def _duckdb_file(file: Path) -> Any:
    import duckdb

    return duckdb.read_parquet(str(file))


def _nullable(table: pl.DataFrame) -> Any:
    on_arrow = table.to_pandas(use_pyarrow_extension_array=True)
    return on_arrow.convert_dtypes(dtype_backend="numpy_nullable")


def _dask(table: pl.DataFrame) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(), npartitions=2)


def _ibis(file: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(file)


SPARK: Final = "spark"

ENGINES: Final[dict[str, Engine]] = {
    "pandas": Engine("PANDAS", lambda table: table.to_pandas()),
    "pandas nullable": Engine("PANDAS", _nullable),
    "pandas on arrow": Engine(
        "PANDAS", lambda table: table.to_pandas(use_pyarrow_extension_array=True)
    ),
    "polars": Engine("POLARS", lambda table: table),
    "polars lazy": Engine("POLARS", lambda table: table.lazy()),
    "polars scan": Engine("POLARS", file=pl.scan_parquet),
    "pyarrow": Engine("PYARROW", lambda table: table.to_arrow()),
    "duckdb": Engine("DUCKDB", _duckdb),
    "duckdb file": Engine("DUCKDB", file=_duckdb_file),
    "csv": Engine("POLARS", file=str, kind="csv"),
    "parquet": Engine("POLARS", file=lambda file: file),
    "dask": Engine("DASK", _dask, slow=True),
    "ibis": Engine("IBIS", file=_ibis, slow=True),
    SPARK: Engine("PYSPARK", slow=True),
}

QUICK: Final = [name for name, engine in ENGINES.items() if not engine.slow]
SLOW: Final = [name for name, engine in ENGINES.items() if engine.slow]
FRAMES: Final = [name for name in QUICK if ENGINES[name].frame is not None]
"""Quick engines that take a table in memory."""


def on_engine(
    name: str, table: pl.DataFrame, directory: Path | None = None, spark: Spark | None = None
) -> Any:
    """Return the rows of a table as a frame of an engine, or as a file.

    Args:
        name: the name of the engine in `ENGINES`.
        table: the rows.
        directory: the directory for engines that read a file.
        spark: a function that returns a session of Spark.
    """
    engine = ENGINES[name]
    if engine.frame is not None:
        return engine.frame(table)
    if engine.file is not None:
        assert directory is not None, f"{name} needs a directory"
        return engine.file(written(table, directory / f"rows.{engine.kind}"))
    assert spark is not None, f"{name} needs a session"
    return spark().createDataFrame(table.to_arrow())


def written(table: pl.DataFrame, file: Path) -> Path:
    """Write a table to a Parquet, CSV or TSV file, completely or not at all; return the path.

    A Parquet file has several groups of rows, and contains the minimum and maximum of each column.
    These statistics ignore NaN, so an engine that relies on them would overlook it.
    """
    fresh = file.with_name(f"{os.getpid()}-{file.name}")
    if file.suffix == ".parquet":
        table.write_parquet(fresh, row_group_size=max(50, table.height // 20))
    else:
        table.write_csv(fresh, separator="\t" if file.suffix == ".tsv" else ",")
    return fresh.rename(file)
