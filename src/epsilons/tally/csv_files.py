"""CSV and TSV files, scanned block by block: every column has its type before a row is read."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from epsilons.errors import ColumnError, FileError
from epsilons.tally.categories import Kind
from epsilons.tally.counted import said
from epsilons.tally.failures import guarded
from epsilons.tally.records import NEWLINE, QUOTE, records, without_blank_lines
from epsilons.tally.spellings import dtype_of, parsed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Failure", "Role", "TextFile"]

Failure = tuple[type[FileError], str]
"""What to raise if a file cannot be read, and its message."""

SHOWN: Final = {",": "','", ";": "';'", "\t": r"'\t'", "|": "'|'"}
"""What files are seen to be separated by, as one writes it in Python."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Role:
    """A column that the user named.

    Attributes:
        parameter: by which it was named, and what it is called in the frame.
        column: its name in the first line of the file.
        kind: what its cells are read as.
    """

    parameter: str
    column: str
    kind: Kind


@dataclass(frozen=True)
class TextFile:
    """A file of which each line is a row, but for quoted ends of lines, and the first one names.

    Attributes:
        path: where it is.
        separator: one ASCII character.
        zipped: whether it is compressed by gzip.
        failure: what to raise if it cannot be read.
    """

    path: Path
    separator: str
    zipped: bool
    failure: Failure

    def scan(self, roles: list[Role]) -> pl.LazyFrame:
        """Return a lazy frame with one column for each role, called as its parameter.

        Its types follow from roles alone: cells that are not of them are null.

        Raises:
            ColumnError: a column is not named in the first line, or more than once.
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
        """Return the first record, which names the columns, and blocks of all others."""
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
        """Say why a column cannot be found, without a word of the first line.

        Without names it is somebody's data.
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


def _fields(header: bytes, separator: str) -> list[str]:
    """Return the names that the first record holds."""
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
    """Parse a block of records: rows that are too short lack cells, more cells are passed over."""
    import polars as pl

    wanted = sorted({places[role.parameter] for role in roles})
    cells = _cells(block, separator, columns, wanted)
    if columns > 1 and _has_empty_rows(cells):
        # An empty line is no row. (In a file of one column it is one, whose cell is empty.)
        rows = without_blank_lines(block)
        cells = cells if len(rows) == len(block) else _cells(rows, separator, columns, wanted)
    found = [
        parsed(cells[str(places[role.parameter])], role.kind).alias(role.parameter)
        for role in roles
    ]
    return pl.DataFrame(found)


def _cells(block: bytes, separator: str, columns: int, wanted: list[int]) -> pl.DataFrame:
    """Return the cells of some columns as text, null where they are empty."""
    import polars as pl

    # The names are put before each block, because Polars takes the number of columns from there.
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
    """Whether some row is null throughout, as an empty line is."""
    import polars as pl

    if not all(column.null_count() for column in cells):
        return False
    return bool(cells.select(pl.all_horizontal(pl.all().is_null()).any()).item())
