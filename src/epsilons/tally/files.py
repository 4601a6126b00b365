"""Paths of Parquet and CSV files, scanned lazily by Polars."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from epsilons.errors import ArgumentError, FileError
from epsilons.tally.csv_files import Failure, TextFile
from epsilons.tally.failures import guarded

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ParquetFile", "Separated", "is_file", "open_file", "source"]

PARQUET: Final = ".parquet"

SEPARATORS: Final = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
"""What files of text are separated by, if nobody says it, by how their names end."""

UNREADABLE: Final = (
    "data={path!r} could not be read as {kind_of_file} ({{kind}}). Is it complete, and is it "
    "{kind_of_file}? The engine's own message is withheld, because it may show a private value."
)


@dataclass(frozen=True)
class Separated:
    """The path of a CSV file, and what separates its columns."""

    path: str | os.PathLike[str]
    separator: str


def source(data: object, separator: object) -> object:
    """Return `data`, with the separator of its columns if that is given.

    Args:
        data: anything; with a separator, the path of a CSV or TSV file.
        separator: one character, or None for a comma in .csv files and a tab in .tsv files.

    Raises:
        ArgumentError: the separator cannot be one, or `data` has no use for it.
    """
    if separator is None:
        return data
    if not (isinstance(separator, str) and len(separator) == 1 and separator.isascii()) or (
        separator.isalnum() or separator in '"\r\n.+-'
    ):
        raise ArgumentError(
            "separator must be one ASCII character that is no letter, digit, quote, dot, sign or "
            r"end of line, such as ';' or '\t'."
        )
    if not isinstance(data, (str, os.PathLike)) or _ending(data) not in SEPARATORS:
        raise ArgumentError(
            "separator is for files with names that end in .csv, .tsv, .csv.gz or .tsv.gz, and "
            "data is not one. Leave separator out."
        )
    return Separated(data, separator)


def is_file(data: object) -> bool:
    """Whether `data` is a path, and not a frame."""
    return isinstance(data, (str, os.PathLike, Separated))


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, whose types stand in it.

    Attributes:
        path: where it is.
        failure: what to raise if it cannot be read.
    """

    path: Path
    failure: Failure

    def scan(self) -> pl.LazyFrame:
        """Return a lazy frame.

        Raises:
            FileError: it is no Parquet file.
        """

        def run() -> pl.LazyFrame:
            import polars as pl

            return pl.scan_parquet(self.path, glob=False)

        return guarded(run, *self.failure)

    def rows(self, scanned: pl.LazyFrame) -> int:
        """Return how many rows the file says that it has.

        Args:
            scanned: what `scan` returned.

        Raises:
            FileError: it is no Parquet file.
        """
        import polars as pl

        counted = scanned.select(pl.len())
        return int(guarded(lambda: counted.collect().item(), *self.failure))


def open_file(data: str | os.PathLike[str] | Separated) -> ParquetFile | TextFile:
    """Return the file at a path, as what its name says that it is.

    Raises:
        FileError: it is not there, or its name says that it is something else.
    """
    path = data.path if isinstance(data, Separated) else data
    ending = _ending(path)
    if ending is None:
        raise FileError(
            f"data={str(path)!r} must be a file whose name ends in .parquet, .csv, .tsv, .csv.gz "
            "or .tsv.gz. Read any other file yourself, and give the frame."
        )
    if ending == PARQUET:
        return ParquetFile(*_found(path, "Parquet"))
    file, failure = _found(path, ending.removeprefix(".").upper())
    separator = data.separator if isinstance(data, Separated) else SEPARATORS[ending]
    return TextFile(file, separator, ending.endswith(".gz"), failure)


def _found(path: str | os.PathLike[str], kind: str) -> tuple[Path, Failure]:
    """Return where a file is, and what to raise if it cannot be read."""
    file = Path(os.path.expanduser(os.fspath(path)))
    if not file.is_file():
        what = "is a directory, not a file" if file.is_dir() else "does not exist"
        raise FileError(f"data={str(path)!r} {what}.")
    # Braces in a path must survive the second formatting, of the kind of failure.
    shown = str(path).replace("{", "{{").replace("}", "}}")
    return file, (FileError, UNREADABLE.format(path=shown, kind_of_file=kind))


def _ending(path: str | os.PathLike[str]) -> str | None:
    """Return how the name of a file ends, if it is one that can be read."""
    name = os.fspath(path).lower()
    return next((end for end in (PARQUET, *SEPARATORS) if name.endswith(end)), None)
