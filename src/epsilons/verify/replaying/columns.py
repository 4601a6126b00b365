"""Columns in memory that can be sliced and joined again without changing their type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from epsilons.errors import ArgumentError

ROLES: Final = ("values", "x", "y", "epsilon", "person", "by", "by_2", "where", "weights")
"""The parameters that name columns; `by_2` is the second of two group columns."""

LOOKED_AT: Final = 1000
"""The largest number of rows to consider when people are chosen for changes."""

Pieces = list["slice | np.ndarray[Any, Any] | New"]


@dataclass(frozen=True)
class New:
    """New entries of a column, and the labels of their rows."""

    entries: list[Any]
    labels: list[Any]


@dataclass(frozen=True)
class Someone:
    """The person who changes.

    Attributes:
        rows: their rows.
        places: the positions of these rows, if rows have an order.
    """

    rows: list[dict[str, Any]]
    places: Any = None


@dataclass(frozen=True)
class ColumnKind:
    """The kind of entries that a column can contain.

    Attributes:
        family: "float", "integer", "text", "boolean", "objects" (anything), "cells" (text of a
            file) or "other" (only entries that are already in the column).
        nullable: whether an entry can be null.
        least: the smallest integer.
        most: the largest integer.
        decimal: the decimal mark in cells.
        thousands: the mark between thousands in cells; "" if there is none.
    """

    family: str
    nullable: bool
    least: int = -(2**63)
    most: int = 2**63 - 1
    decimal: str = "."
    thousands: str = ""

    def cell(self, entry: Any) -> str:
        """Return an entry as a cell, with the decimal mark of the file."""
        number = isinstance(entry, (int, float)) and not isinstance(entry, bool)
        return str(entry).replace(".", self.decimal) if number else str(entry)

    def plain(self, cell: Any) -> Any:
        """Return a cell with a decimal point and without marks between thousands."""
        if not isinstance(cell, str) or (self.decimal == "." and not self.thousands):
            return cell
        if self.decimal != "." and "." in cell and self.thousands != ".":
            return ""
        return cell.replace(self.thousands or "\0", "").replace(self.decimal, ".")


def spread_out(size: int) -> list[int]:
    """Return up to `LOOKED_AT` row numbers, evenly spaced from the first to the last row."""
    return [] if size == 0 else np.linspace(0, size - 1, min(size, LOOKED_AT)).astype(int).tolist()


class HeldColumn:
    """A column without a dtype, such as a list; base class of the other column types.

    Args:
        native: the given column.
    """

    def __init__(self, native: Any) -> None:
        self.native = native

    @property
    def kind(self) -> ColumnKind:
        """The kind of entries that the column can contain."""
        return ColumnKind("objects", nullable=True)

    @property
    def labels(self) -> Any:
        """The labels of the rows; None if there are none."""
        return None

    def __len__(self) -> int:
        return len(self.native)

    def entry(self, at: int) -> Any:
        """Return one entry, as a Python object."""
        return self.native[at]

    def places(self, entry: Any) -> np.ndarray[Any, Any]:
        """Return the positions of this entry."""
        return np.array([i for i, own in enumerate(self.native) if _equal(own, entry)], dtype=int)

    def joined(self, pieces: Pieces) -> Any:
        """Join pieces into a column of the original type."""
        made: list[Any] = []
        for piece in pieces:
            if isinstance(piece, New):
                made += piece.entries
            elif isinstance(piece, slice):
                made += self.native[piece]
            else:
                made += [self.native[i] for i in piece.tolist()]
        return made if isinstance(self.native, list) else type(self.native)(made)


class Array(HeldColumn):
    """A NumPy array."""

    @property
    def kind(self) -> ColumnKind:
        """The kind of entries that the array can contain."""
        dtype = self.native.dtype
        if dtype.kind in "iu":
            span = np.iinfo(dtype)
            return ColumnKind("integer", nullable=False, least=int(span.min), most=int(span.max))
        family = {"f": "float", "b": "boolean", "U": "text", "T": "text", "O": "objects"}
        return ColumnKind(family.get(dtype.kind, "other"), nullable=dtype.kind == "O")

    def entry(self, at: int) -> Any:
        """Return one entry, as a Python object."""
        own = self.native[at]
        return own.item() if isinstance(own, np.generic) and own.dtype.kind in "iufbU" else own

    def places(self, entry: Any) -> np.ndarray[Any, Any]:
        """Return the positions of this entry."""
        if self.native.dtype.kind == "O":
            return super().places(entry)
        if self.native.dtype.kind == "U":  # drop trailing NULs, as NumPy does
            return np.flatnonzero(self.native == np.array([str(entry)])[0])
        try:
            wanted = np.array([entry]).astype(self.native.dtype)
        except (TypeError, ValueError, OverflowError):
            return np.zeros(0, dtype=int)
        if wanted[0] != entry:
            return np.zeros(0, dtype=int)
        return np.flatnonzero(self.native == wanted[0])

    def joined(self, pieces: Pieces) -> Any:
        """Join pieces into an array."""
        parts = [self._made(p.entries) if isinstance(p, New) else self.native[p] for p in pieces]
        join = np.ma.concatenate if isinstance(self.native, np.ma.MaskedArray) else np.concatenate
        return join(parts)

    def _made(self, entries: list[Any]) -> Any:
        if self.native.dtype.kind == "U" and entries:
            return np.array(entries, dtype=np.str_)  # wide enough for the longest entry
        made = np.empty(len(entries), dtype=self.native.dtype)
        made[:] = entries
        return made


class HeldSeries(HeldColumn):
    """A pandas, Polars or PyArrow column."""

    def __init__(self, native: Any) -> None:
        import narwhals as nw

        super().__init__(native)
        self._series = nw.from_native(native, series_only=True)
        self.space: Any = self._series.__native_namespace__()
        self._objects = str(getattr(native, "dtype", "")) == "object"

    @property
    def kind(self) -> ColumnKind:
        """The kind of entries that the column can contain."""
        if self._objects:
            return ColumnKind("objects", nullable=True)
        numpy = self._is("pandas") and isinstance(self.native.dtype, np.dtype)
        return kind_of(self._series.dtype, nullable=not numpy)

    def _is(self, name: str) -> bool:
        return bool(self.space.__name__ == name)

    @property
    def labels(self) -> Any:
        """The pandas index; None for other libraries."""
        index = getattr(self.native, "index", None)
        return index if hasattr(index, "equals") else None

    def entry(self, at: int) -> Any:
        """Return one entry, as a Python object."""
        if self._objects:
            return self.native.iloc[at]
        return plain(self._series[at])

    def places(self, entry: Any) -> np.ndarray[Any, Any]:
        """Return the positions of this entry."""
        if self._objects:
            own = self.native.tolist()
            return np.array([i for i, each in enumerate(own) if _equal(each, entry)], dtype=int)
        found = (self._series == entry).fill_null(False)
        return np.flatnonzero(found.to_numpy().astype(bool))

    def joined(self, pieces: Pieces) -> Any:
        """Join pieces into a column of the same library and type."""
        parts = [self._part(piece) for piece in pieces]
        if self._is("pyarrow"):
            chunks = [chunk for part in parts for chunk in part.chunks]
            return self.space.chunked_array(chunks, type=self.native.type)
        return self.space.concat(parts)

    def _part(self, piece: Any) -> Any:
        native = self.native
        if isinstance(piece, New):
            if self._is("pyarrow"):
                made = self.space.array(piece.entries, type=native.type)
                return self.space.chunked_array([made])
            if self._is("polars"):
                return type(native)(native.name, piece.entries, dtype=native.dtype, strict=False)
            if not piece.entries:
                return native.iloc[:0]
            return type(native)(
                piece.entries, index=piece.labels, dtype=native.dtype, name=native.name
            )
        if self._is("pyarrow"):
            if isinstance(piece, slice):
                start, end, _ = piece.indices(len(native))
                return native.slice(start, max(end - start, 0))
            return native.take(self.space.array(piece))
        return native.iloc[piece] if self._is("pandas") else native[piece]


def column_of(given: Any, name: str) -> HeldColumn:
    """Return a wrapper for a column that is not part of a frame.

    Raises:
        ArgumentError: a column of this type cannot be rebuilt.
    """
    if isinstance(given, np.ndarray):
        return Array(given)
    if isinstance(given, (list, tuple)):
        return HeldColumn(given)
    try:
        return HeldSeries(given)
    except TypeError:
        if isinstance(given, Sequence):
            return HeldColumn(list(given))
        raise ArgumentError(
            f"{name} is of type {type(given).__name__}, which replay cannot change: give a list, "
            "an array of NumPy, or a series of pandas, Polars or PyArrow (a ChunkedArray)."
        ) from None


def kind_of(dtype: Any, *, nullable: bool) -> ColumnKind:
    """Return the kind of entries that a column of a Narwhals type can contain."""
    if dtype.is_integer():
        bits = int("".join(filter(str.isdigit, str(dtype))) or 64)
        if dtype.is_signed_integer():
            return ColumnKind("integer", nullable, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return ColumnKind("integer", nullable, 0, 2**bits - 1)
    if dtype.is_float():
        return ColumnKind("float", nullable)
    names = {"String": "text", "Categorical": "text", "Boolean": "boolean"}
    return ColumnKind(names.get(str(dtype).split("(")[0], "other"), nullable)


def plain(entry: Any) -> Any:
    """Return an entry as a Python object."""
    if hasattr(entry, "as_py"):
        return entry.as_py()
    if isinstance(entry, np.generic) and entry.dtype.kind in "iufbU":
        return entry.item()
    return None if type(entry).__name__ in ("NAType", "NaTType") else entry


def _equal(own: Any, entry: Any) -> bool:
    """Whether two ids are the same: equal in Python; text or bytes must also have the same type."""
    own, entry = plain(own), plain(entry)
    if isinstance(own, (str, bytes)) or isinstance(entry, (str, bytes)):
        return type(own) is type(entry) and own == entry
    try:
        return bool(own == entry)
    except (TypeError, ValueError, ArithmeticError):
        return False
