"""Copies of a table in which one person is changed, in the same format as the original.

A person's rows are found by comparing ids, independently of the tally. If an engine treats
different ids as equal (a collation), Python compares the ids one by one.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.listed import shown
from epsilons.verify.replaying.columns import (
    LOOKED_AT,
    ColumnKind,
    HeldColumn,
    HeldSeries,
    New,
    Someone,
    column_of,
    kind_of,
    spread_out,
)

if TYPE_CHECKING:
    import narwhals as nw


# CSV files with one person changed; records are copied as raw bytes.


class TextForm(NamedTuple):
    """How a CSV file is written: the user's arguments."""

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None


@dataclass(frozen=True, eq=False)
class TextTable:
    """The records of a CSV file.

    Attributes:
        path: path of the file.
        text: the content of the file, in bytes.
        ends: the end of each record, starting with the header.
        names: column names, by parameter.
        at: the index of each column in a record.
        separator: separator of columns.
        folder: the folder for changed copies.
        kind: the kind of all cells.
    """

    path: Path
    text: bytes
    ends: Any
    names: dict[str, Any]
    at: dict[str, int]
    separator: str
    folder: Path
    kind: ColumnKind
    ordered: bool = field(default=True, init=False)

    @classmethod
    def read(
        cls, path: Path, names: dict[str, Any], text_form: TextForm, folder: Path
    ) -> TextTable:
        """Read an entire file.

        Raises:
            ArgumentError: a column is missing.
        """
        lower = path.name.lower()
        text = path.read_bytes()
        text = gzip.decompress(text) if lower.endswith(".gz") else text
        if not text.endswith(b"\n"):
            text += b"\n"
        mark = text_form.separator or ("\t" if ".tsv" in lower else ",")
        ends = _ends(text, mark.encode())
        header = _cells(text[: int(ends[0])], mark)
        header[0] = header[0].removeprefix("\ufeff")
        for role, name in names.items():
            if name not in header:
                raise ArgumentError(f"{role}={shown(name)} is not a column of data.")
        at = {role: header.index(name) for role, name in names.items()}
        marks = text_form.decimal or ".", text_form.thousands or ""
        kind = ColumnKind("cells", nullable=False, decimal=marks[0], thousands=marks[1])
        return cls(path, text, ends, names, at, mark, folder, kind)

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The kind of each column; a cell can contain any text."""
        return dict.fromkeys(self.names, self.kind)

    def _record(self, place: int) -> bytes:
        return self.text[int(self.ends[place]) : int(self.ends[place + 1])]

    def _row(self, place: int) -> dict[str, Any]:
        cells = _cells(self._record(place), self.separator)
        own = {role: cells[at] if at < len(cells) else "" for role, at in self.at.items()}
        return {**own, "row": place}

    def __len__(self) -> int:
        return len(self.ends) - 1

    def sample(self) -> list[dict[str, Any]]:
        """Return some rows, evenly spaced."""
        return [self._row(at) for at in spread_out(len(self))]

    def _places(self, person: Any) -> Any:
        """Return the indices of the records that have this id in the person column."""
        name = str(person).encode("utf-8", "surrogatepass").replace(b'"', b'""')
        if not name:
            return np.zeros(0, dtype=int)
        starts = np.array([m.start() for m in re.finditer(re.escape(name), self.text)])
        found = np.unique(np.searchsorted(self.ends, starts, side="right")) - 1
        own = [at for at in found.tolist() if at >= 0 and self._row(at)["person"] == person]
        return np.array(own, dtype=int)

    def someone(self, row: dict[str, Any]) -> Someone:
        """Return the person to whom a row belongs."""
        places = np.array([row["row"]])
        if row.get("person"):
            places = self._places(row["person"])
        return Someone([self._row(at) for at in places[:LOOKED_AT].tolist()], places)

    def has(self, person: Any) -> bool:
        """Whether this id exists in the table."""
        return len(self._places(person)) > 0

    def changed(
        self, who: Any, rows: list[dict[str, Any]], place: str, seed: int
    ) -> dict[str, Any]:
        """Return the arguments of a call on a copy of the file with other rows for one person."""
        gone = np.zeros(0, dtype=int) if who is None else who.places
        like = int(gone[0]) if len(gone) else 0
        new = b"".join(self._made(row, like) for row in rows)
        head = self.text[: int(self.ends[0])]
        if place == "shuffled":
            kept = np.setdiff1d(np.arange(len(self)), gone)
            order = np.random.default_rng(seed).permutation(kept).tolist()
            cut = len(order) // 2
            before, after = (
                b"".join(map(self._record, part)) for part in (order[:cut], order[cut:])
            )
        else:
            at = {"first": 0, "last": len(self)}.get(place, like if len(gone) else len(self) // 2)
            before, after = self._without(gone, 0, at), self._without(gone, at, len(self))
        return {**self.names, "data": self._written(head + before + new + after)}

    def _without(self, gone: Any, start: int, end: int) -> bytes:
        """Return the records from start to end, except removed records."""
        parts, at = [], start
        for place in [*gone[(gone >= start) & (gone < end)].tolist(), end]:
            parts.append(self.text[int(self.ends[at]) : int(self.ends[place])])
            at = place + 1
        return b"".join(parts)

    def _made(self, row: dict[str, Any], like: int) -> bytes:
        """Return a copy of the record `like` with these cells."""
        cells: list[Any] = list(_cells(self._record(like), self.separator)) if len(self) else []
        cells += [""] * (max(self.at.values()) + 1 - len(cells))
        for role, at in self.at.items():
            cells[at] = row.get(role, "")
        return self.separator.encode().join(map(self._cell, cells)) + b"\n"

    def _cell(self, cell: Any) -> bytes:
        if isinstance(cell, bytes):
            return cell  # raw bytes that no writer would produce, such as invalid UTF-8
        text = "" if cell is None else str(cell)
        if any(mark in text for mark in (self.separator, '"', "\n", "\r")):
            text = '"' + text.replace('"', '""') + '"'
        return text.encode("utf-8", "surrogatepass")

    def _written(self, text: bytes) -> str:
        path = self.folder / f"{len(list(self.folder.iterdir()))}-{self.path.name}"
        packed = self.path.name.lower().endswith(".gz")
        path.write_bytes(gzip.compress(text, 1) if packed else text)
        return str(path)


def _cells(record: bytes, separator: str) -> list[str]:
    text = record.decode("utf-8", "replace")
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [""])


def _ends(text: bytes, separator: bytes) -> Any:
    """Return the end of each record: a line end outside quotes."""
    if b'"' not in text:
        return np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")) + 1
    mark = re.escape(separator)
    quoted = rb'"(?:[^"]|"")*+"(?=[\r\n]|' + mark + rb")"
    one = rb"(?:" + quoted + rb"|[^\n" + mark + rb"]*+)"
    record = re.compile(rb"(?>" + one + rb"(?:" + mark + one + rb")*+)\r?\n")
    return np.array([found.end() for found in record.finditer(text)])


Row = dict[str, Any]
"""The entries of a row, by parameter: values, epsilon, person."""


class GivenTable(Protocol):
    """A table that can produce copies of itself with one person changed."""

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The kind of entries of each column."""

    @property
    def ordered(self) -> bool:
        """Whether rows have an order that can be changed."""

    def sample(self) -> list[Row]:
        """Return some rows, each with its number as "row" if rows are numbered."""

    def someone(self, row: Row) -> Someone:
        """Return the person to whom a row belongs, with all of their rows."""

    def has(self, person: Any) -> bool:
        """Whether this id exists in the table."""

    def changed(self, who: Someone | None, rows: list[Row], place: str, seed: int) -> Row:
        """Return the arguments of a call on a copy of the table with other rows for one person.

        Args:
            who: the person to remove; None to add a new person.
            rows: the new rows.
            place: "same", "first", "last" or "shuffled".
            seed: seed of the shuffled order.
        """


def table_of(given: Row, data: Any, text_form: TextForm, folder: Path) -> GivenTable:
    """Return the given data as a table that can be changed.

    Args:
        given: values, epsilon and person: columns, or names of columns of the data.
        data: a frame, the path of a file, or None.
        text_form: how a CSV file is written.
        folder: the folder for changed copies of a file.

    Raises:
        ArgumentError: data of this type cannot be changed.
    """
    names = {role: each for role, each in given.items() if _is_column(role, each)}
    if data is None:
        columns = {role: column_of(each, role) for role, each in names.items()}
        return ColumnTable(columns, lambda made: made)
    import narwhals as nw

    if isinstance(data, (str, os.PathLike)):
        path = Path(os.path.expanduser(os.fspath(data)))
        if any(each in path.name.lower() for each in (".jsonl", ".ndjson", ".xlsx")):
            raise ArgumentError(
                f"data={shown(data)}: replay changes CSV and Parquet files. Write the table to one "
                "of these, or give a frame."
            )
        if not path.name.lower().endswith(".parquet") and not path.is_dir():
            return TextTable.read(path, names, text_form, folder)
        own = f"{path}/[!._]*.parquet" if path.is_dir() else str(path)
        held = nw.read_parquet(own, backend="polars")
        return _of_frame(held.to_native(), names, partial(_written, folder, itertools.count(1)))
    data = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_like_dataframe(data):
        # pandas allows duplicate column names, which Narwhals rejects.
        return _of_frame(data, names, lambda made: made)
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return Lazy(_by_place(data, frame, names), names)
    if isinstance(frame, nw.DataFrame):
        return _of_frame(data, names, lambda made: made)
    raise ArgumentError(
        f"data is of type {type(data).__name__}, which replay cannot change: give a frame that "
        "Narwhals reads, or the path of a file."
    )


def _by_place(data: Any, frame: nw.LazyFrame[Any], names: Row) -> nw.LazyFrame[Any]:
    """Return the named columns, renamed to their parameters.

    An engine can resolve a name to another column, for example if it ignores case. So columns are
    selected by position on engines that support it.
    """
    import narwhals as nw

    kind = frame.implementation.name
    placed = kind == "DUCKDB" or kind.startswith("PYSPARK")
    own = list(data.columns if placed else frame.collect_schema())
    at = {role: own.index(name) for role, name in names.items()}
    found: nw.LazyFrame[Any]
    if kind == "DUCKDB":
        places = [f'#{place + 1} AS "{role}"' for role, place in at.items()]
        found = nw.from_native(data.project(", ".join(places)))
        return found
    if kind.startswith("PYSPARK"):
        numbered = data.toDF(*(f"c{place}" for place in range(len(own))))
        places = [f"c{place} AS `{role}`" for role, place in at.items()]
        found = nw.from_native(numbered.selectExpr(*places))
        return found
    return frame.select(*(nw.nth(place).alias(role) for role, place in at.items()))


def _is_column(role: str, given: Any) -> bool:
    """Whether an argument is a column, and not a single budget for everyone or None."""
    if given is None:
        return False
    return (
        role != "epsilon"
        or isinstance(given, str)
        or getattr(given, "ndim", hasattr(given, "__len__")) > 0
    )


def _written(folder: Path, numbers: Iterator[int], frame: Any) -> str:
    """Write a frame to the next of several numbered Parquet files, and return its path."""
    import narwhals as nw

    path = folder / f"{next(numbers)}.parquet"
    nw.from_native(frame, eager_only=True).write_parquet(path)
    return str(path)


def _of_frame(data: Any, names: Row, written: Callable[[Any], Any]) -> ColumnTable:
    """Return the columns of a frame in memory, with a function that rebuilds the frame."""
    columns = {role: HeldSeries(data[name]) for role, name in names.items()}

    def frame(made: Row) -> Row:
        parts = {names[role]: each for role, each in made.items()}
        space = next(iter(columns.values())).space
        whole = space.table(parts) if hasattr(space, "table") else type(data)(parts)
        return {**names, "data": written(whole)}

    return ColumnTable(dict(columns), frame)


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Columns in memory, from a frame or given separately.

    Attributes:
        columns: the columns, by parameter.
        together: function from changed columns to the arguments of a call.
    """

    columns: dict[str, HeldColumn]
    together: Callable[[Row], Row]
    ordered: bool = field(default=True, init=False)

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The kind of entries of each column."""
        return {role: column.kind for role, column in self.columns.items()}

    @property
    def _first(self) -> HeldColumn:
        """The value column, or the first of two; the other columns are aligned with it."""
        return next(iter(self.columns.values()))

    def sample(self) -> list[Row]:
        """Return some rows, evenly spaced."""
        return [self._row(at) for at in spread_out(len(self._first))]

    def _row(self, at: int) -> Row:
        own = {role: column.entry(self._at(role, at)) for role, column in self.columns.items()}
        return {**own, "row": at}

    def _at(self, role: str, places: Any) -> Any:
        """Return the positions of rows in a column, by pandas labels if the order differs."""
        labels, own = self._first.labels, self.columns[role].labels
        if labels is None or own is None or labels.equals(own):
            return places
        found = own.get_indexer(labels[np.atleast_1d(places)])
        return found if isinstance(places, np.ndarray) else int(found[0])

    def someone(self, row: Row) -> Someone:
        """Return the person to whom a row belongs."""
        places = np.array([row["row"]])
        if "person" in self.columns and row["person"] is not None:
            places = self.columns["person"].places(row["person"])
            ids, values = self.columns["person"].labels, self._first.labels
            if ids is not None and values is not None and not ids.equals(values):
                places = np.sort(values.get_indexer(ids[places]))
        return Someone([self._row(at) for at in places[:LOOKED_AT].tolist()], places)

    def has(self, person: Any) -> bool:
        """Whether this id exists in the table."""
        return len(self.columns["person"].places(person)) > 0

    def changed(self, who: Someone | None, rows: list[Row], place: str, seed: int) -> Row:
        """Return the arguments of a call on a copy of the table with other rows for one person."""
        size = len(self._first)
        gone = np.zeros(0, dtype=int) if who is None else who.places
        labels = self._labels(gone, len(rows))
        order = np.random.default_rng(seed).permutation(size - len(gone) + len(rows))
        made = {}
        for role, column in self.columns.items():
            new = New([row.get(role) for row in rows], labels)
            pieces = _pieces(size, self._at(role, gone), new, place)
            joined = column.joined(pieces)
            if place == "shuffled":
                joined = type(column)(joined).joined([order])
            made[role] = joined
        return self.together(made)

    def _labels(self, gone: Any, count: int) -> list[Any]:
        """Return labels for the new rows: the labels of removed rows, then unused labels."""
        labels = (column.labels for column in self.columns.values())
        index = next((each for each in labels if each is not None), None)
        if index is None:
            return []
        own: list[Any] = index[gone].tolist()[:count]
        numbers = str(index.dtype).startswith(("int", "uint"))
        start = int(index.max()) + 1 if numbers and len(index) else 0
        return own + [start + i if numbers else f"new {i}" for i in range(count - len(own))]


def _pieces(size: int, gone: Any, new: New, place: str) -> Any:
    """Return the remaining rows, as slices or indices, with the new rows at `place`."""
    at = int(gone.min()) if len(gone) else size // 2
    if len(gone) <= 1:
        before, after = [slice(0, at)], [slice(at + len(gone), size)]
    else:
        kept = np.ones(size, dtype=bool)
        kept[gone] = False
        rest = np.flatnonzero(kept)
        cut = int(np.searchsorted(rest, at))
        before, after = [rest[:cut]], [rest[cut:]]  # type: ignore[list-item]
    if place == "first":
        return [new, *before, *after]
    return [*before, new, *after] if place == "same" else [*before, *after, new]


@dataclass(frozen=True, eq=False)
class Lazy:
    """A lazy frame of an engine: rows have no order, and queries produce the changes.

    Attributes:
        frame: the used columns, renamed to their parameters.
        names: the user's column names, by parameter.
    """

    frame: nw.LazyFrame[Any]
    names: Row
    ordered: bool = field(default=False, init=False)

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The kind of entries of each column."""
        schema = self.frame.collect_schema()
        return {role: kind_of(schema[role], nullable=True) for role in self.names}

    def _rows(self, frame: nw.LazyFrame[Any]) -> list[Row]:
        return list(frame.collect().rows(named=True))

    def sample(self) -> list[Row]:
        """Return some rows, chosen by the engine."""
        return self._rows(self.frame.head(LOOKED_AT // 10))

    def _like(self, row: Row) -> Any:
        """Return a filter for the rows of a person.

        If the engine treats different ids as equal, the filter also selects other people's rows.
        """
        import narwhals as nw

        roles = ["person"] if row.get("person") is not None else list(self.names)
        known = [role for role in roles if row[role] is not None and row[role] == row[role]]
        parts = [nw.col(role) == row[role] for role in known]
        return nw.all_horizontal(*parts, ignore_nulls=False)

    def someone(self, row: Row) -> Someone:
        """Return the person to whom a row belongs."""
        if "person" not in self.names:
            return Someone([row])
        found = self._rows(self.frame.filter(self._like(row)))
        return Someone([each for each in found if each["person"] == row["person"]])

    def has(self, person: Any) -> bool:
        """Whether this id exists in the table."""
        import narwhals as nw

        found = self._rows(self.frame.filter(nw.col("person") == person))
        return any(each["person"] == person for each in found)

    def changed(self, who: Someone | None, rows: list[Row], place: str, seed: int) -> Row:
        """Return the arguments of a call on a copy of the table with other rows for one person."""
        import narwhals as nw

        del seed
        parts = [self.frame]
        if who is not None:
            like = self._like(who.rows[0])
            rest = self.frame.filter(~like | like.is_null())
            parts = [rest, *self._back(who, like)]
        new = [self._made(row, count) for row, count in _runs(rows)]
        whole = nw.concat([*new, *parts] if place == "first" else [*parts, *new])
        return {**self.names, "data": self._renamed(whole)}

    def _renamed(self, frame: nw.LazyFrame[Any]) -> Any:
        """Return a native table with the user's column names, even if they differ only in case."""
        import narwhals as nw

        native: Any = frame.to_native()
        kind = frame.implementation.name
        last = {name: role for role, name in self.names.items()}  # a column can have two roles
        if kind == "DUCKDB":
            quoted = {name.replace('"', '""'): role for name, role in last.items()}
            return native.project(", ".join(f'"{role}" AS "{q}"' for q, role in quoted.items()))
        if kind.startswith("PYSPARK"):
            return native.select(*last.values()).toDF(*last)
        return frame.select(*(nw.col(role).alias(name) for name, role in last.items())).to_native()

    def _back(self, who: Someone, like: Any) -> list[nw.LazyFrame[Any]]:
        """Return the rows that the filter removed although they belong to another person."""
        if "person" not in self.names:
            import narwhals as nw

            alike = int(self.frame.filter(like).select(nw.len()).collect().item())
            return [self.frame.filter(like).head(alike - 1)] if alike > 1 else []
        found = self._rows(self.frame.filter(like))
        others = [each for each in found if each["person"] != who.rows[0]["person"]]
        return [self._made(row, 1) for row in others]

    def _made(self, row: Row, count: int) -> nw.LazyFrame[Any]:
        """Return rows with these entries: rows of the table with every entry replaced."""
        import narwhals as nw

        schema = self.frame.collect_schema()

        def entry(role: str) -> Any:
            if row.get(role) is None:  # a null of the column's type, which every engine supports
                gone = nw.col(role).is_null()
                return nw.when(gone & ~gone).then(nw.col(role)).alias(role)
            return nw.lit(row[role]).cast(schema[role]).alias(role)

        entries = [entry(role) for role in self.names]
        return self.frame.head(count).with_columns(*entries)


def _runs(rows: list[Row]) -> list[tuple[Row, int]]:
    """Return a run-length encoding of consecutive rows that are the same object."""
    found: list[tuple[Row, int]] = []
    for row in rows:
        if found and found[-1][0] is row:
            found[-1] = (row, found[-1][1] + 1)
        else:
            found.append((row, 1))
    return found
