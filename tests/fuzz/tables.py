"""Rows in every form in which a user can pass them."""

from __future__ import annotations

import csv
import functools
import io
import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv

from tests import engines

NAMES = ("value", "budget", "who")

Columns = dict[str, tuple[str, list[Any]]]  # name: (kind of entries, entries)

POLARS: dict[str, Any] = {
    "float": pl.Float64,
    "int": pl.Int64,
    "uint": pl.UInt64,
    "text": pl.String,
    "bool": pl.Boolean,
    "decimal": pl.Decimal(20, 6),
    "category": pl.Categorical,
}


def typed(columns: Columns) -> pl.DataFrame:
    """Return a frame with a declared type for each column."""
    return pl.DataFrame(
        [pl.Series(name, items, dtype=POLARS[kind]) for name, (kind, items) in columns.items()]
    )


def _numpy(columns: Columns) -> dict[str, Any]:
    def array(kind: str, items: list[Any]) -> Any:
        types = {"float": np.float64, "int": np.int64, "uint": np.uint64, "bool": np.bool_}
        if kind == "float":
            return np.array([np.nan if i is None else i for i in items], dtype=np.float64)
        if kind in types and None not in items:
            return np.array(items, dtype=types[kind])
        if kind == "text" and None not in items:
            return np.array(items, dtype=np.str_)
        return _objects(items)

    return {name: array(*column) for name, column in columns.items()}


def _objects(items: Sequence[Any]) -> Any:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _pandas(columns: Columns) -> pd.DataFrame:
    """Return a pandas frame, with nullable types for integers and booleans."""
    types = {"int": "Int64", "uint": "UInt64", "bool": "boolean", "float": "float64"}
    made = {}
    for name, (kind, items) in columns.items():
        if kind in types:
            made[name] = pd.Series(items, dtype=types[kind])
        elif kind == "category":
            made[name] = pd.Series(items, dtype="category")
        else:
            made[name] = pd.Series(items, dtype=object)
    return pd.DataFrame(made)


def _pandas_objects(columns: Columns) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series(items, dtype=object) for name, (_, items) in columns.items()}
    )


def _relation(columns: Columns, *, collated: str = "", default: str = "") -> Any:
    """Return a table on a new DuckDB connection, optionally with a collation."""
    connection = duckdb.connect()
    connection.register("given", typed(columns).to_arrow())
    parts = [
        f'"{name}" COLLATE {collated} AS "{name}"' if collated and kind == "text" else f'"{name}"'
        for name, (kind, _) in columns.items()
    ]
    connection.execute(f"CREATE TABLE rows AS SELECT {', '.join(parts)} FROM given")
    if default:
        connection.execute(f"SET default_collation = {default}")
    return connection.table("rows")


def _collated_table(columns: Columns) -> Any:
    """Return a DuckDB table in which text columns are declared with a collation."""
    connection = duckdb.connect()
    connection.register("given", typed(columns).to_arrow())
    types = {
        "float": "DOUBLE",
        "int": "BIGINT",
        "uint": "UBIGINT",
        "bool": "BOOLEAN",
        "decimal": "DECIMAL(20, 6)",
        "text": "VARCHAR COLLATE NOCASE",
    }
    declared = ", ".join(f'"{name}" {types[kind]}' for name, (kind, _) in columns.items())
    connection.execute(f"CREATE TABLE rows ({declared})")
    connection.execute("INSERT INTO rows SELECT * FROM given")
    return connection.table("rows")


def _ibis(columns: Columns) -> Any:
    import ibis

    connection = ibis.duckdb.connect()
    connection.con.register("rows", typed(columns).to_arrow())
    return connection.table("rows")


def _sqlite(columns: Columns) -> Any:
    """Return a table of Ibis on SQLite, with case-insensitive text columns."""
    import ibis

    connection = ibis.sqlite.connect()
    types = {"float": "REAL", "int": "INTEGER", "text": "TEXT COLLATE NOCASE", "bool": "BOOLEAN"}
    declared = ", ".join(f'"{name}" {types[kind]}' for name, (kind, _) in columns.items())
    connection.raw_sql(f"CREATE TABLE rows ({declared})")
    lists = zip(*(items for _, items in columns.values()), strict=True)
    marks = ", ".join("?" * len(columns))
    connection.con.executemany(f"INSERT INTO rows VALUES ({marks})", list(lists))
    return connection.table("rows")


def _pandas_array(kind: str, items: list[Any]) -> Any:
    """Return a pandas extension array. NumPy does not have its type."""
    types: dict[str, Any] = {"int": "Int64", "uint": "UInt64", "bool": "boolean", "text": "string"}
    types |= {"float": "Float64", "category": "category"}
    if kind == "decimal":
        return pd.array(items, dtype=pd.ArrowDtype(pa.decimal128(20, 6)))
    return pd.array(items, dtype=types[kind])


def _arrow_array(kind: str, items: list[Any]) -> Any:
    """Return a chunked Arrow array, dictionary-encoded if the column is categorical."""
    column = typed({"c": (kind, items)}).to_arrow().column(0)
    half = len(items) // 2
    chunks = [*column.slice(0, half).chunks, *column.slice(half).chunks]
    return pa.chunked_array(chunks, type=column.type)


def _dask(columns: Columns) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(_pandas(columns), npartitions=2)


def cell(item: Any) -> str:
    """Return an entry as a cell of a CSV file."""
    if item is None:
        return ""
    return str(item).lower() if isinstance(item, bool) else str(item)


def csv_of(columns: Columns, raw: tuple[int, bytes] | None, file: Path) -> Path:
    """Write a CSV file, optionally with one extra raw line."""
    lines: list[bytes] = []
    for row in [list(columns), *zip(*(items for _, items in columns.values()), strict=True)]:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow([cell(item) for item in row])
        lines.append(text.getvalue().encode("utf-8", "surrogatepass"))
    if raw is not None:
        lines.insert(1 + raw[0], raw[1] + b"\n")
    file.write_bytes(b"".join(lines))
    return file


def jsonl_of(columns: Columns, raw: tuple[int, bytes] | None, file: Path) -> Path:
    """Write JSON lines, optionally with one extra raw line. A null is written or left out."""

    def plain(item: Any) -> Any:
        if isinstance(item, bytes):
            return [item.decode()]
        return float(item) if isinstance(item, Decimal) else item

    lines: list[bytes] = []
    rows = list(zip(*(items for _, items in columns.values()), strict=True))
    for place, row in enumerate(rows):
        named = dict(zip(columns, map(plain, row), strict=True))
        kept = {name: item for name, item in named.items() if item is not None or place % 2}
        lines.append(json.dumps(kept).encode() + b"\n")
    if raw is not None:
        lines.insert(raw[0], raw[1] + b"\n")
    file.write_bytes(b"".join(lines))
    return file


def xlsx_of(columns: Columns, file: Path) -> Path:
    """Write a workbook in which every cell has the type of its entry."""
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    def plain(item: Any) -> Any:
        if isinstance(item, float) and not math.isfinite(item):
            return "nan" if math.isnan(item) else "inf"
        if isinstance(item, (bytes, tuple)) or (isinstance(item, int) and abs(item) > 2**53):
            return str(item)
        if isinstance(item, str):
            text = item.encode("utf-8", "replace").decode()
            return ILLEGAL_CHARACTERS_RE.sub("", text)
        return item

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append([*columns, "row"])
    rows = zip(*(items for _, items in columns.values()), strict=True)
    for place, row in enumerate(rows):
        sheet.append([*map(plain, row), place])
        for cell_ in sheet[sheet.max_row]:
            if isinstance(cell_.value, str):
                cell_.data_type = "s"  # even if it begins with "="
            if cell_.column == 1 and cell_.value in (10, -1e300):
                cell_.number_format = "yyyy-mm-dd"
    book.save(file)
    return file


def folder_of(columns: Columns, folder: Path) -> Path:
    """Write several Parquet files. A person's rows can be in any of them."""
    folder.mkdir(exist_ok=True)
    table, half = typed(columns), len(next(iter(columns.values()))[1]) // 2
    table[:half].write_parquet(folder / "a.parquet")
    table[half:].write_parquet(folder / "b.parquet")
    return folder


def _read_by_duckdb(file: str) -> Any:
    """Return a relation with the types that DuckDB inferred.

    The relation is in memory, so the file can be deleted.
    """
    connection = duckdb.connect()
    return connection.from_arrow(connection.read_csv(file).to_arrow_table())


READERS: dict[str, Callable[[str], Any]] = {
    "pandas.read_csv": pd.read_csv,
    "pandas.read_csv, as before 3": lambda file: pd.read_csv(file).astype(
        {name: object for name, dtype in pd.read_csv(file).dtypes.items() if str(dtype) == "str"}
    ),
    "pandas.read_csv on arrow": lambda file: pd.read_csv(file, dtype_backend="pyarrow"),
    "polars.read_csv": lambda file: pl.read_csv(
        file, infer_schema_length=None, try_parse_dates=True
    ),
    "polars.read_csv, lazy": lambda file: pl.read_csv(file, infer_schema_length=None).lazy(),
    "pyarrow.csv.read_csv": pyarrow.csv.read_csv,
    "duckdb.read_csv": _read_by_duckdb,
}
"""Readers that infer the type of a column from all of its cells."""

DECOYS = ("none", "none", "case", "doubles", "ours")
"""Ways to add decoy columns and to rename the used columns; see `shown_as`."""

OURS = ("the budget, rounded down", "a'", "what a ledger offers", "x", "key", "e'", "by_0_")


def shown_as(columns: Columns, decoys: str) -> tuple[Columns, dict[str, str]]:
    """Add decoy columns before the used columns; return all columns and the new names.

    Args:
        columns: the used columns.
        decoys: "case": decoys have the same names in upper case; "doubles": all decoys are named
            "id", and the used columns have the names "id_1" and so on, which a subquery gives to
            repeated columns; "ours": the used columns have names that our queries use internally.
    """
    size = len(next(iter(columns.values()))[1])
    other = ("float", [8.0 + row for row in range(size)])
    names = {name: name for name in columns}
    if decoys == "case":
        names |= {f"decoy {name}": name.upper() for name in columns}
    elif decoys == "doubles":
        names |= {name: f"id_{place + 1}" for place, name in enumerate(columns)}
        names |= {f"decoy {place}": "id" for place in range(len(columns) + 1)}
    elif decoys == "ours":
        names = dict(zip(columns, OURS, strict=False))
        names |= {f"decoy {name}": name for name in ("values", "epsilon", "person", "e", "who")}
    return {**{key: other for key in names if key not in columns}, **columns}, names


def _made(name: str, columns: Columns) -> Any:
    return engines.on_engine(name, typed(columns))


def renamed(form: str, frame: Any, names: dict[str, str]) -> Any:
    """Return a frame with its columns renamed, in the same order."""
    if all(old == new for old, new in names.items()):
        return frame
    if form.startswith("duckdb"):
        return frame.project(", ".join(f'"{old}" AS "{names[old]}"' for old in frame.columns))
    if form.startswith("ibis"):
        return frame.select(**{names[old]: frame[old] for old in frame.columns})
    if form.startswith("polars"):
        return frame.rename(names)
    if form == "pyarrow":
        return frame.rename_columns([names[old] for old in frame.column_names])
    if form == "dask":
        return frame.rename(columns=names)
    return frame.set_axis([names[old] for old in frame.columns], axis=1)


FRAMES: dict[str, Callable[[Columns], Any]] = {
    **{name: functools.partial(_made, name) for name in engines.FRAMES},
    "pandas": _pandas,
    "dask": _dask,
    "duckdb": _relation,
    "duckdb, collated column": _collated_table,
    "duckdb, collated expression": lambda columns: _relation(columns, collated="NOCASE"),
    "duckdb, default collation": lambda columns: _relation(columns, default="nocase"),
    "ibis": _ibis,
    "ibis on sqlite": _sqlite,
}
"""Engines with declared column types."""

PLACED = tuple(form for form in FRAMES if not form.startswith(("ibis", "polars", "dask")))
"""Engines in which two columns can have the same name."""

FILES: dict[str, Callable[[Columns, tuple[int, bytes] | None, Path], Path]] = {
    "csv": lambda columns, raw, folder: csv_of(columns, raw, folder / "rows.csv"),
    "jsonl": lambda columns, raw, folder: jsonl_of(columns, raw, folder / "rows.jsonl"),
    "xlsx": lambda columns, _raw, folder: xlsx_of(columns, folder / "rows.xlsx"),
    "parquet folder": lambda columns, _raw, folder: folder_of(columns, folder / "rows"),
}
"""Kinds of files, each with a function that writes one. Only CSV and JSON lines can have an extra
raw line; the others ignore it."""

UNTYPED = ("lists", "series", "pandas of objects", "csv", "jsonl", "xlsx")
"""Forms in which the type of a column depends on its entries."""

COLLATED = tuple(form for form in FRAMES if "collat" in form or "sqlite" in form)

GROUPS: dict[str, tuple[str, ...]] = {
    "arrays": ("arrays", "polars series", "pandas arrays", "arrow arrays"),
    "objects": ("lists", "series", "pandas of objects"),
    "files": tuple(FILES),
    "engines": tuple(form for form in FRAMES if form not in COLLATED),
    "collations": COLLATED,
    "readers": tuple(READERS),
}
"""Forms that are fuzzed together. Each group tends to find a different kind of bug."""


def arguments(
    form: str,
    columns: Columns,
    raw: tuple[int, bytes] | None,
    directory: Path,
    decoys: str = "none",
) -> dict[str, Any]:
    """Return the arguments of a call: `values`, `epsilon`, and if needed `person` and `data`."""
    given: dict[str, Any]
    if form == "arrays":
        given = _numpy(columns)
    elif form == "polars series":
        given = {s.name: s for s in typed(columns)}
    elif form == "pandas arrays":
        given = {name: _pandas_array(*column) for name, column in columns.items()}
    elif form == "arrow arrays":
        given = {name: _arrow_array(*column) for name, column in columns.items()}
    elif form == "lists":
        given = {name: list(items) for name, (_, items) in columns.items()}
    elif form == "series":
        given = {
            name: pd.Series(_objects(items), dtype=object) for name, (_, items) in columns.items()
        }
    else:
        given = {name: name for name in columns}
        if form in FILES:
            given["data"] = str(FILES[form](columns, raw, directory))
        elif form in READERS:
            given["data"] = READERS[form](str(csv_of(columns, raw, directory / "rows.csv")))
        elif form == "pandas of objects":
            given["data"] = _pandas_objects(columns)
        else:
            every, names = shown_as(columns, decoys)
            given = {name: names[name] for name in columns}
            given["data"] = renamed(form, FRAMES[form](every), names)
    parameters = {"value": "values", "budget": "epsilon", "who": "person"}
    return {parameters.get(name, name): each for name, each in given.items()}


def exact_decimal(number: float) -> Decimal:
    """Return a budget as a decimal with six places."""
    return Decimal(str(number)).quantize(Decimal("0.000001"))
