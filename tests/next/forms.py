"""One table in every form in which somebody may hand it over."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

Columns = Mapping[str, Sequence[Any]]

NUMBERS = ("x", "weight")
"""Columns that are always of numbers, whatever the form."""


def polars(columns: Columns, folder: Path) -> pl.DataFrame:
    return pl.DataFrame(
        {name: pl.Series(name, list(held), strict=False) for name, held in columns.items()}
    )


def lazy(columns: Columns, folder: Path) -> pl.LazyFrame:
    return polars(columns, folder).lazy()


def parquet(columns: Columns, folder: Path) -> str:
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    polars(columns, folder).write_parquet(path)
    return str(path)


def parquet_folder(columns: Columns, folder: Path) -> str:
    inside = folder / f"{len(list(folder.iterdir()))}"
    inside.mkdir()
    frame = polars(columns, folder)
    half = frame.height // 2
    frame[:half].write_parquet(inside / "a.parquet")
    frame[half:].write_parquet(inside / "b.parquet")
    return str(inside)


def csv(columns: Columns, folder: Path) -> str:
    path = folder / f"{len(list(folder.iterdir()))}.csv"
    polars(columns, folder).write_csv(path)
    return str(path)


def csv_gz(columns: Columns, folder: Path) -> str:
    path = folder / f"{len(list(folder.iterdir()))}.csv.gz"
    path.write_bytes(gzip.compress(polars(columns, folder).write_csv().encode()))
    return str(path)


def mapping(columns: Columns, folder: Path) -> dict[str, list[Any]]:
    return {name: list(held) for name, held in columns.items()}


def arrays(columns: Columns, folder: Path) -> dict[str, Any]:
    return {name: pd.Series(list(held)).to_numpy() for name, held in columns.items()}


def pandas(columns: Columns, folder: Path) -> pd.DataFrame:
    frame = pd.DataFrame({name: list(held) for name, held in columns.items()})
    return frame.set_index(np.arange(len(frame))[::-1] % 7)  # an index that means nothing


def pandas_nullable(columns: Columns, folder: Path) -> pd.DataFrame:
    return pd.DataFrame({name: list(held) for name, held in columns.items()}).convert_dtypes()


def pandas_arrow(columns: Columns, folder: Path) -> pd.DataFrame:
    return pandas_nullable(columns, folder).convert_dtypes(dtype_backend="pyarrow")


def pandas_objects(columns: Columns, folder: Path) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series(list(held), dtype=object) for name, held in columns.items()}
    )


def pandas_category(columns: Columns, folder: Path) -> pd.DataFrame:
    frame = pd.DataFrame({name: list(held) for name, held in columns.items()})
    return frame.astype({name: "category" for name in frame if name not in (*NUMBERS, "epsilon")})


FORMS: dict[str, Callable[[Columns, Path], Any]] = {
    each.__name__: each
    for each in (
        polars,
        lazy,
        parquet,
        parquet_folder,
        csv,
        csv_gz,
        mapping,
        arrays,
        pandas,
        pandas_nullable,
        pandas_arrow,
        pandas_objects,
        pandas_category,
    )
}
