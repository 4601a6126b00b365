"""Any table becomes one lazy Polars frame. No other module knows where rows are kept."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import polars as pl

from epsilons_next.checks import kind_of, listed
from epsilons_next.data.entries import Column, Kind, marked
from epsilons_next.errors import ArgumentError, ColumnError, DataError, EpsilonsError, FileError

__all__ = ["Table", "open_table", "quietly"]

T = TypeVar("T")


@dataclass(frozen=True)
class Table:
    """The columns that are needed.

    Args:
        frame: one row for each row of the table; columns are named by their places.
        columns: by their names in the table.
        stamp: what is another where files were changed; None if nothing tells.
    """

    frame: pl.LazyFrame
    columns: Mapping[str, Column]
    stamp: object


def open_table(data: Any, names: Sequence[str]) -> Table:
    """Find the named columns of any table, without reading a row of a file or a lazy frame.

    Args:
        data: a frame of Polars or pandas, the path of Parquet or CSV files, or a mapping of arrays.
        names: the columns that are needed.

    Raises:
        ArgumentError: this is no table.
        ColumnError: a column is not there, there twice, or of a type that means nothing here.
        FileError: a file cannot be read.
    """
    names = list(dict.fromkeys(names))
    stamp, kinds = None, dict[str, Kind]()
    if isinstance(data, (str, os.PathLike)):
        frame, stamp, text = _scan(os.fspath(data))
        kinds = dict.fromkeys(names, "file text") if text else kinds
    elif isinstance(data, (pl.DataFrame, pl.LazyFrame)):
        frame = data.lazy()
    else:
        columns = quietly(
            lambda: [_column(name, entries) for name, entries in _arrays(data, names)],
            "The table cannot be opened",
        )
        if len({len(column) for column, _ in columns}) > 1:
            raise ArgumentError("data: the arrays of a mapping are equally long.")
        frame = pl.LazyFrame({column.name: column for column, _ in columns})
        kinds = {column.name: "objects" for column, mark in columns if mark}
    failed = FileError if stamp else DataError
    schema = quietly(frame.collect_schema, "The table cannot be opened", failed)
    _present(names, schema.names(), known="file text" not in kinds.values())
    columns_of, chosen = {}, []
    for i, name in enumerate(names):
        kind = kinds.get(name) or _kind(name, schema[name])
        columns_of[name] = Column(name, f"column {i}", kind, schema[name])
        entry = pl.nth(schema.names().index(name))  # a name could be read as a pattern
        entry = entry if kind in ("number", "truth") else entry.cast(pl.String)
        if schema[name].is_decimal():  # exact, and equal ones are equal text
            entry = entry.str.replace(r"^(-?[0-9]+(?:\.[0-9]*[1-9])?)\.?0*$", "n${1}")
        chosen.append(entry.alias(f"column {i}"))
    return Table(frame.select(chosen), columns_of, stamp)


def quietly(work: Callable[[], T], failed: str, kind: type[EpsilonsError] = DataError) -> T:
    """Do something that an engine may refuse in words that show entries, and forget these words."""
    name = ""
    try:
        return work()
    except EpsilonsError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        name = type(error).__name__
    # Out of the handler, so that the engine's own error is not the context of this one.
    raise kind(f"{failed}: its engine stopped ({name}).")


def _scan(path: str) -> tuple[pl.LazyFrame, object, bool]:
    """Open a file, a folder of Parquet files, or a pattern. Cells of a CSV file stay text."""
    folder = os.path.isdir(path)
    pattern = os.path.join(path, "**/*.parquet") if folder else path
    files = sorted(glob.glob(pattern, recursive=folder)) or [path] * (not folder)
    csv = all(name.lower().endswith((".csv", ".csv.gz")) for name in files)
    if not files or not (csv or all(name.lower().endswith(".parquet") for name in files)):
        raise FileError(
            f"data: {os.path.basename(path)!r} is neither Parquet (.parquet) nor CSV (.csv, "
            ".csv.gz). Read it yourself, and give the frame."
        )
    try:
        stats = [os.stat(name) for name in files]
        stamp = tuple(
            (each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for each in stats
        )
    except OSError:
        stamp = ()
    if not stamp:
        raise FileError(f"data: there is no file {os.path.basename(path)!r} that can be read.")
    lazily: Callable[..., pl.LazyFrame] = pl.scan_csv if csv else pl.scan_parquet
    options = {"infer_schema": False} if csv else {"hive_partitioning": False}
    return lazily(files, glob=False, **options), stamp, csv


def _arrays(data: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the named columns of a pandas frame or a mapping of arrays."""
    pandas = type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")
    if not pandas and not isinstance(data, Mapping):
        raise ArgumentError(
            "data: a frame of Polars or pandas, the path of a Parquet or CSV file, or a mapping of "
            f"arrays; this is {kind_of(data)}."
        )
    held = [each for each in (data.columns if pandas else data) if isinstance(each, str)]
    _present(names, held, known=True)
    return [(name, data[name]) for name in names]


def _present(names: Sequence[str], held: list[str], *, known: bool) -> None:
    for name in names:
        if name not in held:  # without a header, the first line of a text file is an entry
            its = f"Its columns are {listed(held)}" if known else "A file of text begins with names"
            raise ColumnError(f'"{name}" is no column of the data. {its}.')
        if held.count(name) > 1 or f"{name}_duplicated_0" in held:
            raise ColumnError(f'"{name}" is the name of two columns: rename one of them.')


def _kind(name: str, dtype: pl.DataType) -> Kind:
    if dtype.is_numeric():
        return "objects" if dtype.is_decimal() else "number"
    if dtype == pl.Boolean:
        return "truth"
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        return "text"
    if isinstance(dtype, pl.Null):
        return "file text"  # there is no entry
    raise ColumnError(f'"{name}" holds neither numbers nor text ({dtype}): convert it first.')


def _column(name: str, entries: Any) -> tuple[pl.Series, bool]:
    """Return an array as a column of Polars, and whether its entries are marked.

    What is neither a column of Arrow nor an array of numbers is read entry by entry.
    """
    entries = getattr(entries, "array", entries)
    kind = type(entries)
    arrow = kind.__module__.startswith("pyarrow") or kind.__name__.startswith("Arrow")
    if isinstance(entries, pl.Series) or arrow:
        return pl.Series(name, getattr(entries, "__arrow_array__", lambda: entries)()), False
    gaps, dtype = None, getattr(entries, "dtype", None)
    plain = getattr(dtype, "numpy_dtype", dtype if isinstance(dtype, np.dtype) else None)
    if plain is None or isinstance(entries, np.ma.MaskedArray):
        entries = entries.tolist() if hasattr(entries, "tolist") else entries
    elif hasattr(entries, "isna") and plain.kind in "iufb":  # a gap would make floats of integers
        gaps, entries = entries.isna(), entries.to_numpy(plain, na_value=0)
    if not isinstance(entries, (list, tuple)):
        array = np.asarray(entries)
        if array.ndim != 1 or array.dtype.kind not in "iufbOUT":
            raise ColumnError(f'"{name}" is no column of numbers or text ({array.dtype}).')
        if array.dtype.kind in "iufb":
            native = np.float64 if array.dtype.kind == "f" else array.dtype.newbyteorder("=")
            column = pl.Series(name, array.astype(native, copy=False))
            return (column if gaps is None else column.set(pl.Series(gaps), None)), False
        entries = array
    return pl.Series(name, [marked(each) for each in entries], pl.String), True
