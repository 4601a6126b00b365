"""Paths of Parquet and CSV files, scanned lazily by Polars."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from epsilons.errors import FileError
from epsilons.tally.categories import Kind
from epsilons.tally.failures import guarded

if TYPE_CHECKING:
    import polars as pl

__all__ = ["UNREADABLE", "rows_of", "scan"]

INFERENCE_ROWS = 10_000
"""Rows of a CSV file from which the types of its columns are guessed at first."""

UNREADABLE = (
    "data={path!r} could not be read as {kind_of_file} ({{kind}}). Is it whole, and is it "
    "{kind_of_file}? In a CSV file every entry of a column of numbers must be a number or empty. "
    "The engine's own message is withheld, because it may show a private value."
)


def scan(
    path: str | os.PathLike[str], *, types: dict[str, Kind], person: str | None
) -> tuple[pl.LazyFrame, str]:
    """Return a lazy frame of the file, and what to say if it cannot be read.

    Args:
        path: a file whose name ends in .parquet or .csv.
        types: what the columns of values and of budgets are to be.
        person: the column that says who a row belongs to.

    Raises:
        FileError: it is not there, or not what its name says.
    """
    file = Path(os.path.expanduser(os.fspath(path)))
    kind = {".parquet": "Parquet", ".csv": "CSV"}.get(file.suffix.lower())
    if kind is None:
        raise FileError(
            f"data={str(path)!r} must be a file whose name ends in .parquet or .csv. "
            "Anything else: read it yourself, and give the frame."
        )
    if not file.is_file():
        what = "is a directory, not a file" if file.is_dir() else "does not exist"
        raise FileError(f"data={str(path)!r} {what}.")
    # Braces in a path must survive the second formatting, of the kind of failure.
    shown = str(path).replace("{", "{{").replace("}", "}}")
    unreadable = UNREADABLE.format(path=shown, kind_of_file=kind)

    def open_() -> pl.LazyFrame:
        import polars as pl

        if kind == "Parquet":
            return pl.scan_parquet(file, glob=False)
        return _scan_csv(file, types, person)

    return guarded(open_, FileError, unreadable), unreadable


def rows_of(parquet: pl.LazyFrame) -> int:
    """How many rows a Parquet file says that it has."""
    import polars as pl

    return int(parquet.select(pl.len()).collect().item())


def _scan_csv(file: Path, kinds: dict[str, Kind], person: str | None) -> pl.LazyFrame:
    """Scan a CSV file with types that no later row can belie silently."""
    import polars as pl

    def scanned(
        rows: int | None, types: dict[str, pl.DataType | type[pl.DataType]] | None = None
    ) -> pl.LazyFrame:
        return pl.scan_csv(file, glob=False, infer_schema_length=rows, schema_overrides=types)

    schema = scanned(INFERENCE_ROWS).collect_schema()
    typed = [column for column, kind in kinds.items() if kind != "text"]
    if any(schema.get(column) == pl.String for column in typed):
        # Perhaps the first rows were only empty: look at all rows before calling it text.
        schema = scanned(None).collect_schema()
    types: dict[str, pl.DataType | type[pl.DataType]] = {}
    for column in set(kinds) & set(schema):
        text = schema[column] == pl.String
        if kinds[column] == "text":
            types[column] = pl.String  # 007 and 7 are two categories
        elif kinds[column] in ("integers", "booleans"):
            types[column] = schema[column]
        elif schema[column].is_numeric() or (
            text and scanned(0).select(pl.col(column).count()).collect().item() == 0
        ):
            # Whole numbers in the first rows do not promise whole numbers below, and a column
            # without any entry is called text by Polars.
            types[column] = pl.Float64
    if person is not None and person in schema:
        types[person] = pl.String  # as numbers, 007 and 7 would be one person
    return scanned(INFERENCE_ROWS, types)
