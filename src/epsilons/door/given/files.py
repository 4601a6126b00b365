"""Open files of people's data by their path, in several formats; and write Parquet files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from epsilons.door.engines.running import guarded
from epsilons.door.given.cells import CellFile, ExcelFile, Failure, JsonFile, TextFile
from epsilons.door.given.spellings import PLAIN, NumberMarks
from epsilons.errors import ArgumentError, FileError
from epsilons.results.report.numbers import distinct

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FILES",
    "ParquetFile",
    "Told",
    "frame",
    "is_text",
    "numbers_frame",
    "open_file",
    "source",
    "write_frame",
    "write_parquet",
]


# Files by path. The extension of a file's name determines its format.

PARQUET: Final = ".parquet"

SEPARATORS: Final = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
"""The default separators of text files, by file name extension."""

JSON: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
EXCEL: Final = ".xlsx"
ENDINGS: Final = (PARQUET, *SEPARATORS, *JSON, EXCEL)

FORMATS: Final = ".parquet, .csv, .tsv, .jsonl, .ndjson or .xlsx (text files also with .gz)"

UNREADABLE: Final = (
    "data={path!r} could not be read as {kind_of_file} ({{kind}}). Is it complete, and is it "
    "{kind_of_file}? The engine's own message is withheld, because it may show a private value."
)


@dataclass(frozen=True)
class Told:
    """The path of a text file, and its format as the user declares it."""

    path: str | os.PathLike[str]
    separator: str | None
    marks: NumberMarks


FILES: Final = (str, os.PathLike, Told)
"""The types of `data` that are paths of files, rather than frames."""


def source(
    data: object, separator: object = None, decimal: object = None, thousands: object = None
) -> object:
    """Return `data`; if a separator or a number mark is given, wrap it in `Told` with that format.

    Args:
        data: anything; with other arguments, the path of a file whose cells are text.
        separator: one character, or None for a comma in .csv files and a tab in .tsv files.
        decimal: the decimal mark, or None for a point.
        thousands: the mark between thousands, or None if there is none.

    Raises:
        ArgumentError: an argument is invalid, or `data` is not such a file.
    """
    if separator is None and decimal is None and thousands is None:
        return data
    if (decimal is not None or thousands is not None) and not is_text(data):
        raise ArgumentError(
            f"{'thousands' if decimal is None else 'decimal'} is for numbers in a file of text "
            "(.csv, .tsv, .jsonl, .xlsx), and data is not one. Convert the column to numbers first."
        )
    marks = NumberMarks("." if decimal is None else decimal, thousands)  # type: ignore[arg-type]
    if separator is None:
        return Told(data, None, marks)  # type: ignore[arg-type]
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
    return Told(data, separator, marks)


def is_text(data: object) -> bool:
    """Whether `data` is the path of a file of text, for which `source` takes marks of numbers."""
    return isinstance(data, (str, os.PathLike)) and _ending(data) not in (None, PARQUET)


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, or several with the same columns. They store the types of their columns.

    Attributes:
        paths: their paths.
        failure: the exception to raise if they cannot be read, and its message.
    """

    paths: tuple[Path, ...]
    failure: Failure

    def scan(self) -> pl.LazyFrame:
        """Return a lazy frame.

        Raises:
            FileError: a file is not a Parquet file, or declares other columns than the first one.
        """

        def run() -> tuple[pl.LazyFrame, list[Path]]:
            import polars as pl

            others = []
            if len(self.paths) > 1:
                first, *rest = (list(pl.read_parquet_schema(path).items()) for path in self.paths)
                others = [p for p, own in zip(self.paths[1:], rest, strict=True) if own != first]
            return pl.scan_parquet(list(self.paths), glob=False), others

        scanned, others = guarded(self.failure, run)
        if others:
            raise FileError(
                f"data: {others[0].name!r} has other columns than {self.paths[0].name!r}, or "
                "columns of other types. Files that are read together have the same columns, in "
                "the same order."
            )
        return scanned

    def rows(self, scanned: pl.LazyFrame) -> int:
        """Return the number of rows according to the file's metadata.

        Args:
            scanned: the frame that `scan` returned.

        Raises:
            FileError: a file is not a Parquet file.
        """
        import polars as pl

        return int(guarded(self.failure, scanned.select(pl.len()).collect).item())


def open_file(data: str | os.PathLike[str] | Told) -> ParquetFile | CellFile:
    """Return the file at a path. The extension of its name determines its format.

    A folder, or a pattern such as part-*.parquet, stands for several Parquet files. The name of a
    sheet can follow the path of a workbook: people.xlsx#Sheet.

    Raises:
        FileError: it does not exist, or its extension is not supported.
    """
    told = data if isinstance(data, Told) else Told(data, None, PLAIN)
    path = os.fspath(told.path)
    several = _several(path)
    if several is not None:
        return ParquetFile(several, _failure(path, "Parquet"))
    ending = _ending(path)
    if ending is None:
        raise FileError(
            f"data={path!r} must be a file whose name ends in {FORMATS}. Read any other file "
            "yourself, and give the frame."
        )
    sheet = None
    if ending == EXCEL:
        path, sheet = _sheet(path)
    file = _found(path)
    failure = _failure(path, ending.removeprefix(".").upper() if ending != PARQUET else "Parquet")
    if ending == PARQUET:
        return ParquetFile((file,), failure)
    if ending == EXCEL:
        return ExcelFile(file, failure, sheet, marks=told.marks)
    if ending in JSON:
        return JsonFile(file, failure, marks=told.marks)
    separator = told.separator or SEPARATORS[ending]
    return TextFile(file, failure, separator, marks=told.marks)


def _several(path: str) -> tuple[Path, ...] | None:
    """Return the Parquet files in a folder, or those that match a pattern; None for one file.

    Files with names that start with _ or . are not data. Engines write such files next to data.

    Raises:
        FileError: there are none, or a file that matches the pattern is not a Parquet file.
    """
    place = os.path.expanduser(path)
    if os.path.isdir(place):
        found = [each for each in Path(place).iterdir() if each.name.endswith(PARQUET)]
    elif glob.has_magic(place) and not os.path.exists(place):
        found = [Path(each) for each in glob.glob(place)]
        if not all(each.name.endswith(PARQUET) for each in found):
            raise FileError(
                f"data={path!r} also matches files that are not Parquet files. Several files can "
                "be read together if all of them are: end the pattern in .parquet."
            )
    else:
        return None
    kept = sorted(each for each in found if each.is_file() and each.name[0] not in "._")
    if not kept:
        what = "is a directory without" if os.path.isdir(place) else "matches no"
        raise FileError(f"data={path!r} {what} files whose names end in .parquet.")
    return tuple(kept)


def _sheet(path: str) -> tuple[str, str | None]:
    """Split the path of a workbook from the name of a sheet, which is None if there is none."""
    if path.lower().endswith(EXCEL):
        return path, None
    at = path.lower().index(f"{EXCEL}#") + len(EXCEL)
    return path[:at], path[at + 1 :] or None


def _found(path: str) -> Path:
    """Return the path of a file that exists."""
    file = Path(os.path.expanduser(path))
    if not file.is_file():
        raise FileError(f"data={path!r} does not exist.")
    return file


def _failure(path: str, kind: str) -> Failure:
    """Return the exception to raise if a file cannot be read."""
    # A second `format` inserts the kind of failure, so braces in a path are doubled.
    shown = path.replace("{", "{{").replace("}", "}}")
    return FileError, UNREADABLE.format(path=shown, kind_of_file=kind)


def _ending(path: str | os.PathLike[str]) -> str | None:
    """Return the extension of a file name if it is supported, otherwise None."""
    name = os.fspath(path).lower()
    if f"{EXCEL}#" in name:
        return EXCEL
    return next((end for end in ENDINGS if name.endswith(end)), None)


# Output: a Parquet file, which a ledger gives to an auditor, or a frame in memory.


def frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return columns as a Polars frame.

    Args:
        columns: lists or arrays by name, of equal length. Entries of a list with several types are
            converted to text.
    """
    import polars as pl

    def plain(column: Any) -> Any:
        mixed = isinstance(column, list) and len(set(map(type, column))) > 1
        return list(map(str, column)) if mixed else column

    return pl.DataFrame({name: plain(column) for name, column in columns.items()})


def numbers_frame(
    rows: Iterable[tuple[str, float, float, float]], more: Mapping[str, Any]
) -> pl.DataFrame:
    """Return numbers as a Polars frame: name, value, low and high, and further columns after these.

    Args:
        rows: the name of each number, the number, and the ends of its interval. NaN stands for an
            interval that a number does not have.
        more: the further columns by name. If a name is already taken, a number is appended.
    """
    first = ("name", "value", "low", "high")
    given = dict(zip(first, map(list, zip(*rows, strict=True)), strict=False))
    numbers = [each for name in first[1:] for each in given.get(name, ())]
    if not all(isinstance(each, int) for each in numbers):
        given |= {name: list(map(float, given[name])) for name in first[1:] if name in given}
    named = distinct([*first, *more])[len(first) :]
    return frame(
        {name: given.get(name, []) for name in first} | dict(zip(named, more.values(), strict=True))
    )


def write_parquet(
    path: Path, columns: Mapping[str, type], batches: Iterable[Sequence[Sequence[Any]]]
) -> None:
    """Write rows as a Parquet file. An existing file is replaced.

    Args:
        path: the path of the file.
        columns: the names and types of the columns: int, str or bytes.
        batches: the rows, in batches.

    Raises:
        FileError: the file cannot be written.
    """
    import polars as pl

    held: dict[type, Any] = {int: pl.Int64, str: pl.String, bytes: pl.Binary}
    schema = {name: held[kind] for name, kind in columns.items()}
    parts = [pl.DataFrame(schema=schema)]
    parts += [pl.DataFrame(list(rows), schema=schema, orient="row") for rows in batches]
    table = pl.concat(parts)
    guarded((FileError, f"{str(path)!r} cannot be written."), table.write_parquet, path)


def write_frame(
    path: Path, columns: Mapping[str, Any], facts: dict[str, str] | None = None
) -> None:
    """Write columns as a Parquet file. An existing file is replaced.

    Args:
        path: the path of the file.
        columns: as in `frame`.
        facts: facts about the file, for its metadata.

    Raises:
        FileError: the file cannot be written.
    """
    table = frame(columns)
    failure = FileError, f"{str(path)!r} cannot be written."
    guarded(failure, table.write_parquet, path, metadata=facts)
