"""Rows out: as a Parquet file, which a ledger hands to an auditor, or as a frame in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epsilons.errors import FileError
from epsilons.tally.failures import guarded

if TYPE_CHECKING:
    import polars as pl

__all__ = ["frame", "write_frame", "write_parquet"]


def frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Columns as a Polars frame.

    Args:
        columns: lists or arrays by name, equally long. Of a list whose entries are not all of one
            type the words are taken.
    """
    import polars as pl

    def plain(column: Any) -> Any:
        mixed = isinstance(column, list) and len(set(map(type, column))) > 1
        return list(map(str, column)) if mixed else column

    return pl.DataFrame({name: plain(column) for name, column in columns.items()})


def write_parquet(
    path: Path, columns: Mapping[str, type], batches: Iterable[Sequence[Sequence[Any]]]
) -> None:
    """Write rows as a Parquet file; one that is there is replaced.

    Args:
        path: of the file.
        columns: their names, and what they hold: int, str or bytes.
        batches: rows, some at a time.

    Raises:
        FileError: the file cannot be written.
    """
    import polars as pl

    held: dict[type, Any] = {int: pl.Int64, str: pl.String, bytes: pl.Binary}
    schema = {name: held[kind] for name, kind in columns.items()}
    parts = [pl.DataFrame(schema=schema)]
    parts += [pl.DataFrame(list(rows), schema=schema, orient="row") for rows in batches]
    table = pl.concat(parts)
    guarded(lambda: table.write_parquet(path), FileError, f"{str(path)!r} cannot be written.")


def write_frame(
    path: Path, columns: Mapping[str, Any], facts: dict[str, str] | None = None
) -> None:
    """Write columns as a Parquet file; one that is there is replaced.

    Args:
        path: of the file.
        columns: as in `frame`.
        facts: about all of it, for the metadata of the file.

    Raises:
        FileError: the file cannot be written.
    """
    table = frame(columns)
    guarded(
        lambda: table.write_parquet(path, metadata=facts),
        FileError,
        f"{str(path)!r} cannot be written.",
    )
