"""Files in which the type of a column is data: CSV, JSON lines, Excel. Cells are read as text."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, cast

import numpy as np
import numpy.typing as npt

from epsilons.door.count.asks import said
from epsilons.door.count.tallies import LARGEST
from epsilons.door.engines.running import guarded, meant
from epsilons.door.given.categories import LabelKind
from epsilons.door.given.spellings import PLAIN, NumberMarks, as_text, dtype_of, parsed
from epsilons.errors import ColumnError, FileError, MissingExtraError
from epsilons.types import Integers

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "LONGEST",
    "NEWLINE",
    "QUOTE",
    "CellFile",
    "ExcelFile",
    "Failure",
    "JsonFile",
    "Role",
    "TextFile",
    "records",
    "without_blank_lines",
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


def records(file: BinaryIO, separator: bytes) -> Iterator[bytes]:
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
class CellFile(ABC):
    """A file in which the type of a column is data, so cells are parsed one by one.

    Attributes:
        path: its path.
        failure: the exception to raise if it cannot be read, and its message.
        marks: the marks in numbers that are written as text.
        called: what such a file is called in messages.
    """

    called: ClassVar[str]
    path: Path
    failure: Failure
    marks: NumberMarks = field(default=PLAIN, kw_only=True)

    def scan(self, roles: list[Role]) -> pl.LazyFrame:
        """Return a lazy frame with one column for each role, named after its parameter.

        The types depend only on the roles. Cells that cannot be parsed as their type are null.

        Raises:
            ColumnError: the file does not name a column, or names it more than once.
            FileError: the file cannot be read.
        """
        from polars.io.plugins import register_io_source

        read = self.frames(roles)

        def rows(
            columns: list[str] | None,
            condition: pl.Expr | None,
            most: int | None,
            _size: int | None,
        ) -> Iterator[pl.DataFrame]:
            for frame in read([r for r in roles if not columns or r.parameter in columns]):
                if most is not None:
                    frame = frame.head(most)
                    most -= frame.height
                yield frame if condition is None else frame.filter(condition)
                if most == 0:
                    return

        schema = {role.parameter: dtype_of(role.kind) for role in roles}
        return register_io_source(rows, schema=schema)

    @abstractmethod
    def frames(self, roles: list[Role]) -> Callable[[list[Role]], Iterator[pl.DataFrame]]:
        """Return a function that reads the columns of some of these roles, after checking them."""


@dataclass(frozen=True)
class TextFile(CellFile):
    """A CSV or TSV file. The first line names the columns, and each other line is a row.

    Line ends within quotes do not end a row.

    Attributes:
        separator: one ASCII character between columns.
    """

    called: ClassVar[str] = "a CSV file"
    separator: str

    def frames(self, roles: list[Role]) -> Callable[[list[Role]], Iterator[pl.DataFrame]]:
        """Return a function that reads columns: see `CellFile.frames`."""
        header = guarded(self.failure, self._header)
        names = _fields(header, self.separator)
        places = _places(roles, names, lambda role: self._unknown(role, header, roles))

        def read(wanted: list[Role]) -> Iterator[pl.DataFrame]:
            for block in self._blocks():
                yield self._frame(block, len(names), wanted, places)

        return read

    def _frame(
        self, block: bytes, columns: int, roles: list[Role], places: dict[str, int]
    ) -> pl.DataFrame:
        """Parse a block of records. Short rows have null cells; surplus cells are ignored."""
        import polars as pl

        wanted = sorted({places[role.parameter] for role in roles})
        cells = _cells(block, self.separator, columns, wanted)
        if columns > 1 and _has_empty_rows(cells):
            # An empty line is not a row, except in a file of one column: there its cell is empty.
            rows = without_blank_lines(block)
            if len(rows) < len(block):
                cells = _cells(rows, self.separator, columns, wanted)
        found = [
            parsed(cells[str(places[role.parameter])], role.kind, self.marks).alias(role.parameter)
            for role in roles
        ]
        return pl.DataFrame(found)

    def _records(self, file: BinaryIO) -> tuple[bytes, Iterator[bytes]]:
        """Return the first record, which names the columns, and blocks of all other records."""
        blocks = records(file, self.separator.encode())
        for first in blocks:
            block = first.lstrip(b"\r\n")
            if block:
                end = block.index(NEWLINE) + 1
                while block.count(QUOTE, 0, end) % 2:
                    end = block.index(NEWLINE, end) + 1
                rest = block[end:]
                return block[:end], chain([rest] if rest else [], blocks)
        return b"", iter(())

    def _header(self) -> bytes:
        with _opened(self.path) as file:
            return self._records(file)[0]

    def _blocks(self) -> Iterator[bytes]:
        with _opened(self.path) as file:
            yield from self._records(file)[1]

    def _unknown(self, role: Role, header: bytes, roles: list[Role]) -> str:
        """Return the end of the message for an unknown column: see `_places`.

        It does not quote the first line. Without a header, that line contains somebody's data.
        """
        wanted = {each.column for each in roles}
        mine = SHOWN.get(self.separator, repr(self.separator))
        for separator, shown in SHOWN.items():
            if separator != self.separator and wanted <= set(_fields(header, separator)):
                return (
                    f", where {mine} separates columns. The file seems to be separated by {shown}: "
                    f"give separator={shown}."
                )
        if not header:
            return ": the file is empty."
        # If the first line has another of the wanted names, it does name columns.
        names = set(_fields(header, self.separator))
        hint = meant(role.parameter, role.column, names if _are_names(wanted & names) else ())
        if hint:
            return f".{hint}"
        hint = "" if _is_utf8(header) else " It is not UTF-8: save the file as UTF-8."
        return (
            f". The first line of a CSV file must name its columns, with {mine} between them. "
            "That line is not shown here, since without names "
            f"it is somebody's data.{hint}"
        )


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


def _places(
    roles: list[Role], names: Sequence[str | None], unknown: Callable[[Role], str]
) -> dict[str, int]:
    """Return the index of each role's column, by parameter.

    Args:
        roles: the columns that the user named.
        names: the names of all columns, in order.
        unknown: a function that returns the end of the message for a column that does not exist.

    Raises:
        ColumnError: the file does not name a column, or names it more than once.
    """
    for role in roles:
        times = names.count(role.column)
        if times != 1:
            named = f"{said(role.parameter, {r.parameter for r in roles})}={role.column!r}"
            raise ColumnError(
                f"{named} is the name of {times} columns of data: rename all but one of them."
                if times
                else f"{named} is not a column of data{unknown(role)}"
            )
    return {role.parameter: names.index(role.column) for role in roles}


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file behind its byte order mark. It is unzipped if its name ends in .gz."""
    zipped = path.name.lower().endswith(".gz")
    with cast(BinaryIO, gzip.GzipFile(path)) if zipped else path.open("rb") as file:
        if file.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            file.seek(0)
        yield file


# JSON lines and Excel sheets. Each cell has its own type, so no reader may find one for a column:
# cells are converted to the text that spells them, and then parsed like the cells of a CSV file.

LINES: Final = 2**14
"""The number of lines to convert at a time."""

_ERRORS: Final = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
"""The errors of Excel's formulas."""


@dataclass(frozen=True)
class JsonFile(CellFile):
    """A file with one JSON object on each line. A key that an object does not have is missing."""

    called: ClassVar[str] = "a file of JSON lines"

    def frames(self, roles: list[Role]) -> Callable[[list[Role]], Iterator[pl.DataFrame]]:  # noqa: ARG002
        """Return a function that reads columns: see `CellFile.frames`.

        No column is refused: JSON lines have no header, and the keys of a line are data.
        """

        def read(wanted: list[Role]) -> Iterator[pl.DataFrame]:
            with _opened(self.path) as file:
                rows = (_json(line) for line in file if line.strip())
                while batch := list(islice(rows, LINES)):
                    columns = [[row.get(role.column) for row in batch] for role in wanted]
                    yield _of_entries(wanted, columns, self.marks)

        return read


def _json(line: bytes) -> dict[str, Any]:
    """Return the object on a line; without any key if the line is not an object."""
    try:
        found = json.loads(line.decode("utf-8", errors="replace"), parse_float=_finite)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _finite(text: str) -> float:
    """Parse a number. 1e999 is the largest float: infinity would make a record public."""
    return min(max(float(text), -LARGEST), LARGEST)


@dataclass(frozen=True)
class ExcelFile(CellFile):
    """A sheet of an Excel workbook. Its first row that is not empty names the columns.

    A cell that contains a formula has the value that Excel stored with it. Of merged cells, only
    the first one has a value. Rows without any value are not rows.

    Attributes:
        sheet: the name of the sheet; None for the first one.
    """

    called: ClassVar[str] = "an Excel sheet"
    sheet: str | None

    def frames(self, roles: list[Role]) -> Callable[[list[Role]], Iterator[pl.DataFrame]]:
        """Return a function that reads columns: see `CellFile.frames`. The file is read once."""
        header, *rows = guarded(self.failure, self._rows) or [()]
        names = as_text(header).to_list()
        unknown = (
            ". The first row of a sheet must name its columns. That row is not shown here, since "
            "without names it is somebody's data. A sheet other than the first is given as "
            "data='people.xlsx#Sheet'."
        )
        places = _places(roles, names, lambda _: unknown)
        if sum(name is not None for name in names) > 1:
            rows = [row for row in rows if any(cell is not None for cell in row)]

        def read(wanted: list[Role]) -> Iterator[pl.DataFrame]:
            columns = []
            for role in wanted:
                place = places[role.parameter]
                columns.append([_entry(row[place]) if place < len(row) else None for row in rows])
            yield _of_entries(wanted, columns, self.marks)

        return read

    def _rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the sheet, from the first one that is not empty.

        openpyxl converts each cell separately. If it cannot convert a date, it warns and quotes the
        number in the cell. Such warnings are suppressed, because that number is private.

        Raises:
            MissingExtraError: openpyxl is not installed.
            FileError: there is no such sheet.
        """
        try:
            from openpyxl import load_workbook
        except ImportError:
            raise MissingExtraError(
                f"data={str(self.path)!r} is an Excel workbook, which takes another package to "
                "read: run pip install '.[excel]' in the folder of epsilons."
            ) from None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(self.path, read_only=True, data_only=True)
            try:
                sheets = {sheet.title: sheet for sheet in book.worksheets}
                sheet = sheets.get(self.sheet) if self.sheet else next(iter(sheets.values()), None)
                if sheet is None:
                    raise FileError(
                        f"data: there is no sheet {self.sheet!r} in {str(self.path)!r}. The sheets "
                        f"are {', '.join(map(repr, sheets))}."
                    )
                sheet.reset_dimensions()  # the dimensions stated in a file can be wrong
                rows = sheet.iter_rows(values_only=True)
                return list(dropwhile(lambda row: all(cell is None for cell in row), rows))
            finally:
                book.close()


def _entry(cell: Any) -> Any:
    """Return the entry of a cell of a workbook; None for an error, such as #N/A."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    return None if cell in _ERRORS else cell


def _of_entries(roles: list[Role], columns: list[list[Any]], marks: NumberMarks) -> pl.DataFrame:
    """Return the entries of some columns, each parsed like the text that spells it."""
    import polars as pl

    found = []
    for role, entries in zip(roles, columns, strict=True):
        own = PLAIN if role.kind in ("text", "booleans") else marks
        found.append(parsed(as_text(entries, own), role.kind).alias(role.parameter))
    return pl.DataFrame(found)
