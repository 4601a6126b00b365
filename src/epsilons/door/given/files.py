"""Read Parquet and CSV files block by block, and write Parquet files."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, cast

import numpy as np
import numpy.typing as npt

from epsilons.door.count.asks import said
from epsilons.door.engines.running import guarded, meant
from epsilons.door.given.categories import LabelKind
from epsilons.door.given.spellings import dtype_of, parsed
from epsilons.errors import ArgumentError, ColumnError, FileError
from epsilons.results.report.numbers import distinct
from epsilons.types import Integers

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "LONGEST",
    "NEWLINE",
    "QUOTE",
    "Failure",
    "ParquetFile",
    "Role",
    "Separated",
    "TextFile",
    "frame",
    "is_file",
    "open_file",
    "records",
    "source",
    "without_blank_lines",
    "write_frame",
    "write_parquet",
]


# A CSV file is split into blocks of complete records. No row changes how another is parsed.
#
# A record ends at a line end outside quotes. A field is quoted if it begins with a quote and ends
# with a quote before a separator or a line end. Within a quoted field, a doubled quote represents
# one quote. All other quotes are ordinary characters: in the middle of a field, at the start of a
# field that is never closed, or before any other character than a separator.
#
# Polars treats every second quote as a closing quote, even a stray one, and then misreads other
# people's rows. So it only gets blocks in which every quote opens or closes a field. Most files
# have no stray quotes, which NumPy detects quickly. Blocks with stray quotes are rewritten.

QUOTE: Final = b'"'
NEWLINE: Final = b"\n"

BLOCK: Final = 2**22
"""The number of bytes to read at a time."""

FIRST: Final = 2**18
"""The number of bytes of the first read: enough for the header and a few thousand rows."""

LONGEST: Final = 2**24
"""The largest number of bytes of a quoted field. A quote that is not closed within this length does
not open a field. So an unclosed quote cannot include the rest of the file, or hold it in memory."""

_BLANK = re.compile(rb"^\r?\n", re.MULTILINE)
_QUOTED_OR_BLANK = re.compile(rb'("[^"]*")|^\r?\n', re.MULTILINE)


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; empty at the end."""


def records(file: Readable, separator: bytes) -> Iterator[bytes]:
    """Yield the records of a file, in blocks that every CSV reader parses the same way.

    Args:
        file: a file, read from its current position.
        separator: the byte that separates columns.
    """
    rest, size = b"", FIRST
    while chunk := file.read(size):
        block, rest = _whole(rest + chunk, separator, final=False)
        if block:
            yield block
        # Each read scans an unfinished record again. To limit this, the size of reads doubles.
        size = max(min(2 * size, BLOCK), len(rest))
    if rest:
        # A line end is added, so a quote at the end of the file is also followed by a character.
        yield _whole(rest if rest.endswith(NEWLINE) else rest + NEWLINE, separator, final=True)[0]


def without_blank_lines(block: bytes) -> bytes:
    """Return a block from `records` without its empty lines, which are not rows."""
    empty = (b"\n\n", b"\n\r\n")
    if not (block.startswith((b"\n", b"\r\n")) or any(lines in block for lines in empty)):
        return block
    if QUOTE not in block:
        return _BLANK.sub(b"", block)
    return _QUOTED_OR_BLANK.sub(lambda found: found[1] or b"", block)


def _whole(buffer: bytes, separator: bytes, *, final: bool) -> tuple[bytes, bytes]:
    """Return the complete records at the start of a buffer, and the remaining bytes."""
    if QUOTE not in buffer:
        cut = buffer.rfind(NEWLINE) + 1
        return buffer[:cut], buffer[cut:]
    end = _end_if_regular(buffer, separator)
    if end == 0 or (final and end < len(buffer)):
        return _mended(buffer, separator, final=final)
    return buffer[:end], buffer[end:]


def _end_if_regular(buffer: bytes, separator: bytes) -> int:
    """Return the end of the last complete record, if all quotes before it open or close fields.

    Returns:
        The index after that record; 0 if there is a stray quote, or no complete record.
    """
    array = np.frombuffer(buffer, dtype=np.uint8)
    quotes = np.flatnonzero(array == QUOTE[0])
    # Without stray quotes, every second quote closes a field, and records end only outside fields.
    end, pairs = 0, len(quotes) // 2
    upper = int(quotes[-1]) if len(quotes) % 2 else len(buffer)
    while end == 0:
        lower = int(quotes[2 * pairs - 1]) if pairs else 0
        end = buffer.rfind(NEWLINE, lower, upper) + 1
        if pairs == 0:
            break
        if end == 0:
            upper, pairs = int(quotes[2 * pairs - 2]), pairs - 1
    if end == 0 or pairs == 0:
        return end
    opens, closes = quotes[: 2 * pairs : 2], quotes[1 : 2 * pairs : 2]
    if _all_open_or_close(array, opens, closes, separator):
        return end
    return 0


def _all_open_or_close(
    array: npt.NDArray[np.uint8], opens: Integers, closes: Integers, separator: bytes
) -> bool:
    """Whether quotes alternately open and close a field, or are doubled within a field."""
    newline = NEWLINE[0]
    before, after = array[opens - 1], array[closes + 1]
    opened = (before == separator[0]) | (before == newline)
    opened[0] |= opens[0] == 0
    closed = (after == separator[0]) | (after == newline)
    if not closed.all():
        line = np.flatnonzero(after == ord(b"\r"))
        closed[line] = array[closes[line] + 2] == newline
    if opened.all() and closed.all() and closes[-1] <= LONGEST:
        return True
    twice = opens[1:] == closes[:-1] + 1
    opened[1:] |= twice
    closed[:-1] |= twice
    starts = opens[np.concatenate([[True], ~twice])]
    ends = closes[np.concatenate([~twice, [True]])]
    return bool(opened.all() and closed.all() and (ends - starts).max() <= LONGEST)


def _mended(buffer: bytes, separator: bytes, *, final: bool) -> tuple[bytes, bytes]:
    """Quote fields with stray quotes. Return the complete records, and the remaining bytes."""
    ends = re.compile(b"[" + re.escape(separator) + b"\n]")
    whole: list[bytes] = []
    record: list[bytes] = []
    # Bytes before `done` are in the lists above, bytes before `at` have been read, and bytes before
    # `rest` are part of complete records.
    done = at = rest = 0
    while True:
        quote = buffer.find(QUOTE, at)
        newline = buffer.rfind(NEWLINE, at, quote if quote >= 0 else len(buffer))
        if newline >= 0:
            whole += [*record, buffer[done : newline + 1]]
            record = []
            done = rest = newline + 1
        if quote < 0:
            break
        start = max(buffer.rfind(separator, at, quote), newline) + 1
        end: int | None = -1
        if start == quote:
            end = _end_of_quoted(buffer, quote, separator, final=final)
        if end is None:
            break
        if end == -1:
            found = ends.search(buffer, quote)
            if found is None:
                break
            at = found.start()
            stop = at - 1 if buffer[at - 1 : at + 1] == b"\r\n" else at
            field = buffer[start:stop].replace(QUOTE, QUOTE + QUOTE)
            record += [buffer[done:start], QUOTE, field, QUOTE]
            done = stop
        else:
            at = end
    return b"".join(whole), buffer[rest:]


def _end_of_quoted(buffer: bytes, quote: int, separator: bytes, *, final: bool) -> int | None:
    """Return the end of the field that a quote opens; -1 if it opens no field.

    None if this depends on bytes after the buffer.
    """
    at = quote + 1
    while True:
        at = buffer.find(QUOTE, at, quote + LONGEST + 1)
        if at < 0:
            return None if not final and len(buffer) - quote <= LONGEST else -1
        after = buffer[at + 1 : at + 3]
        if after[:1] == QUOTE:
            at += 2
        elif after[:1] in (separator, NEWLINE) or after == b"\r\n":
            return at + 1
        else:
            return None if not final and after in (b"", b"\r") else -1


# CSV and TSV files are scanned block by block. The types of columns are fixed before rows are read.

Failure = tuple[type[FileError], str]
"""The exception to raise if a file cannot be read, and its message."""

SHOWN: Final = {",": "','", ";": "';'", "\t": r"'\t'", "|": "'|'"}
"""Separators that are detected, each as a Python literal."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Role:
    """A column that the user named.

    Attributes:
        parameter: the parameter that names it, which is also its name in the frame.
        column: its name in the first line of the file.
        kind: the kind that its cells are parsed as.
    """

    parameter: str
    column: str
    kind: LabelKind


@dataclass(frozen=True)
class TextFile:
    """A CSV or TSV file. The first line names the columns, and each other line is a row.

    Line ends within quotes do not end a row.

    Attributes:
        path: its path.
        separator: one ASCII character between columns.
        zipped: whether it is compressed with gzip.
        failure: the exception to raise if it cannot be read, and its message.
    """

    path: Path
    separator: str
    zipped: bool
    failure: Failure

    def scan(self, roles: list[Role]) -> pl.LazyFrame:
        """Return a lazy frame with one column for each role, named after its parameter.

        The types depend only on the roles. Cells that cannot be parsed as their type are null.

        Raises:
            ColumnError: the first line does not name a column, or names it more than once.
            FileError: the file cannot be read.
        """
        from polars.io.plugins import register_io_source

        header = guarded(self._header, *self.failure)
        names = _fields(header, self.separator)
        for role in roles:
            if names.count(role.column) != 1:
                raise ColumnError(self._problem(role, header, names.count(role.column), roles))
        places = {role.parameter: names.index(role.column) for role in roles}

        def rows(
            columns: list[str] | None,
            condition: pl.Expr | None,
            most: int | None,
            _size: int | None,
        ) -> Iterator[pl.DataFrame]:
            wanted = [role for role in roles if not columns or role.parameter in columns]
            for block in self._blocks():
                frame = _frame(block, self.separator, len(names), wanted, places)
                if most is not None:
                    frame = frame.head(most)
                    most -= frame.height
                yield frame if condition is None else frame.filter(condition)
                if most == 0:
                    return

        schema = {role.parameter: dtype_of(role.kind) for role in roles}
        return register_io_source(rows, schema=schema)

    def _open(self) -> BinaryIO:
        return cast(BinaryIO, gzip.GzipFile(self.path)) if self.zipped else self.path.open("rb")

    def _records(self, file: BinaryIO) -> tuple[bytes, Iterator[bytes]]:
        """Return the first record, which names the columns, and blocks of all other records."""
        if file.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            file.seek(0)
        blocks = records(file, self.separator.encode())
        for first in blocks:
            block = first.lstrip(b"\r\n")
            if block:
                end = block.index(NEWLINE) + 1
                while block.count(QUOTE, 0, end) % 2:
                    end = block.index(NEWLINE, end) + 1
                return block[:end], _chained(block[end:], blocks)
        return b"", iter(())

    def _header(self) -> bytes:
        with self._open() as file:
            return self._records(file)[0]

    def _blocks(self) -> Iterator[bytes]:
        with self._open() as file:
            yield from self._records(file)[1]

    def _problem(self, role: Role, header: bytes, times: int, roles: list[Role]) -> str:
        """Return the message for a column that cannot be found. It does not quote the first line.

        If a file has no header, its first line contains somebody's data.
        """
        parameter = said(role.parameter, {each.parameter for each in roles})
        named = f"{parameter}={role.column!r}"
        if times:
            return f"{named} is the name of {times} columns of data: rename all but one of them."
        wanted = {each.column for each in roles}
        mine = SHOWN.get(self.separator, repr(self.separator))
        for separator, shown in SHOWN.items():
            if separator != self.separator and wanted <= set(_fields(header, separator)):
                return (
                    f"{named} is not a column of data, where {mine} separates columns. The file "
                    f"seems to be separated by {shown}: give separator={shown}."
                )
        if not header:
            return f"{named} is not a column of data: the file is empty."
        # If the first line has another of the wanted names, it does name columns.
        names = set(_fields(header, self.separator))
        hint = meant(parameter, role.column, names if _are_names(wanted & names) else ())
        if hint:
            return f"{named} is not a column of data.{hint}"
        hint = "" if _is_utf8(header) else " It is not UTF-8: save the file as UTF-8."
        return (
            f"{named} is not a column of data. The first line of a CSV file must name its "
            f"columns, with {mine} between them. That line is not shown here, since without names "
            f"it is somebody's data.{hint}"
        )


def _chained(first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from others


def _are_names(found: Iterable[str]) -> bool:
    """Whether one of these words of a first line can only be the name of a column."""
    return any(word.strip()[:1].isalpha() for word in found)


def _fields(header: bytes, separator: str) -> list[str]:
    """Return the column names in the first record."""
    line = header.decode("utf-8", errors="replace").removesuffix("\n").removesuffix("\r")
    mark = re.escape(separator)
    found = re.findall(f'{mark}("(?:[^"]|"")*"|[^{mark}]*)', separator + line)
    return [
        name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name
        for name in found
    ]


def _is_utf8(header: bytes) -> bool:
    try:
        header.decode()
    except UnicodeDecodeError:
        return False
    return True


def _frame(
    block: bytes, separator: str, columns: int, roles: list[Role], places: dict[str, int]
) -> pl.DataFrame:
    """Parse a block of records. Short rows have null cells; surplus cells are ignored."""
    import polars as pl

    wanted = sorted({places[role.parameter] for role in roles})
    cells = _cells(block, separator, columns, wanted)
    if columns > 1 and _has_empty_rows(cells):
        # An empty line is not a row, except in a file of one column: there its cell is empty.
        rows = without_blank_lines(block)
        cells = cells if len(rows) == len(block) else _cells(rows, separator, columns, wanted)
    found = [
        parsed(cells[str(places[role.parameter])], role.kind).alias(role.parameter)
        for role in roles
    ]
    return pl.DataFrame(found)


def _cells(block: bytes, separator: str, columns: int, wanted: list[int]) -> pl.DataFrame:
    """Return the cells of the columns `wanted` as text, and null for empty cells."""
    import polars as pl

    # Each block gets a header, because Polars takes the number of columns from it.
    names = [str(place) for place in range(columns)]
    return pl.read_csv(
        separator.join(names).encode() + NEWLINE + block,
        columns=wanted,
        schema=dict.fromkeys(names, pl.String),
        separator=separator,
        quote_char='"' if QUOTE in block else None,
        encoding="utf8" if block.isascii() else "utf8-lossy",
        truncate_ragged_lines=True,
        infer_schema=False,
    )


def _has_empty_rows(cells: pl.DataFrame) -> bool:
    """Whether all cells of some row are null, as in an empty line."""
    import polars as pl

    if not all(column.null_count() for column in cells):
        return False
    return bool(cells.select(pl.all_horizontal(pl.all().is_null()).any()).item())


# Parquet and CSV files by path, scanned lazily by Polars.

PARQUET: Final = ".parquet"

SEPARATORS: Final = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
"""The default separators of text files, by file name extension."""

UNREADABLE: Final = (
    "data={path!r} could not be read as {kind_of_file} ({{kind}}). Is it complete, and is it "
    "{kind_of_file}? The engine's own message is withheld, because it may show a private value."
)


@dataclass(frozen=True)
class Separated:
    """The path of a CSV file, and the separator of its columns."""

    path: str | os.PathLike[str]
    separator: str


def source(data: object, separator: object) -> object:
    """Return `data`, combined with the separator of its columns if one is given.

    Args:
        data: anything; with a separator, the path of a CSV or TSV file.
        separator: one character, or None for a comma in .csv files and a tab in .tsv files.

    Raises:
        ArgumentError: the separator is invalid, or `data` is not a CSV or TSV file.
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
    """Whether `data` is the path of a file, rather than a frame."""
    return isinstance(data, (str, os.PathLike, Separated))


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, which stores the types of its columns.

    Attributes:
        path: its path.
        failure: the exception to raise if it cannot be read, and its message.
    """

    path: Path
    failure: Failure

    def scan(self) -> pl.LazyFrame:
        """Return a lazy frame.

        Raises:
            FileError: it is not a Parquet file.
        """

        def run() -> pl.LazyFrame:
            import polars as pl

            return pl.scan_parquet(self.path, glob=False)

        return guarded(run, *self.failure)

    def rows(self, scanned: pl.LazyFrame) -> int:
        """Return the number of rows according to the file's metadata.

        Args:
            scanned: the frame that `scan` returned.

        Raises:
            FileError: it is not a Parquet file.
        """
        import polars as pl

        counted = scanned.select(pl.len())
        return int(guarded(lambda: counted.collect().item(), *self.failure))


def open_file(data: str | os.PathLike[str] | Separated) -> ParquetFile | TextFile:
    """Return the file at a path. The extension of its name determines its format.

    Raises:
        FileError: it does not exist, or its extension is not supported.
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
    """Return the path of a file, and the exception to raise if it cannot be read."""
    file = Path(os.path.expanduser(os.fspath(path)))
    if not file.is_file():
        what = "is a directory, not a file" if file.is_dir() else "does not exist"
        raise FileError(f"data={str(path)!r} {what}.")
    # A second `format` inserts the kind of failure, so braces in a path are doubled.
    shown = str(path).replace("{", "{{").replace("}", "}}")
    return file, (FileError, UNREADABLE.format(path=shown, kind_of_file=kind))


def _ending(path: str | os.PathLike[str]) -> str | None:
    """Return the extension of a file name if it is supported, otherwise None."""
    name = os.fspath(path).lower()
    return next((end for end in (PARQUET, *SEPARATORS) if name.endswith(end)), None)


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
        more: the further columns by name. One that has the name of another is numbered.
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
    guarded(lambda: table.write_parquet(path), FileError, f"{str(path)!r} cannot be written.")


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
    guarded(
        lambda: table.write_parquet(path, metadata=facts),
        FileError,
        f"{str(path)!r} cannot be written.",
    )
