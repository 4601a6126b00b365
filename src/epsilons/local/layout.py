"""Layout of reports as bytes and as tables: the interface for all kinds of reports, and helpers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Bytes, Content
from epsilons.errors import ColumnError, DataError
from epsilons.types import Floats

# Numbers and bits as bytes: little-endian, the first bit is the lowest, padding bits are zero.


class Unpacker:
    """Reader of bytes from front to back; it refuses missing and surplus bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    def take(self, size: int) -> memoryview:
        """Return the next `size` bytes."""
        if size > len(self._data) - self._at:
            raise DataError("A report is cut short: bytes are missing at its end.")
        self._at += size
        return self._data[self._at - size : self._at]

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        """Return the next `count` numbers, without a copy."""
        each = np.dtype(dtype)
        return np.frombuffer(self.take(each.itemsize * count), dtype=each)

    def bits(self, count: int) -> NDArray[np.bool_]:
        """Return the next `count` bits."""
        return unpacked(self.array("u1", (count + 7) // 8), count)

    def end(self) -> None:
        """Raise an error if there are bytes left."""
        if self._at != len(self._data):
            raise DataError("A report is too long: there are bytes after its end.")


def packed(bits: NDArray[np.bool_]) -> bytes:
    """Pack bits into bytes, from the lowest bit up. Every row of a matrix begins a new byte."""
    return np.packbits(bits, axis=-1, bitorder="little").tobytes()


def unpacked(packed: NDArray[np.uint8], count: int) -> NDArray[np.bool_]:
    """Unpack `count` bits, or rows of `count` bits; padding bits must be zero.

    Raises:
        DataError: a padding bit is not zero.
    """
    if count % 8 and (packed[..., -1] >> (count % 8)).any():
        raise DataError("A report is malformed: bits that must be zero are not.")
    return np.unpackbits(packed, axis=-1, count=count, bitorder="little").view(np.bool_)


# The interface for all kinds of reports: how answers are stored as bytes and in a table.

Answers = tuple[NDArray[Any], ...]
"""The answers of a batch, as arrays: docs/local-reports.md lists the arrays of each kind."""


class Layout(ABC):
    """Reads and writes the answers of one kind of report, for given public parameters.

    Headers, parameters and budgets are not part of it, because all kinds share them.
    """

    @property
    @abstractmethod
    def columns(self) -> dict[str, Content]:
        """The columns of answers in a table, by name, with the type of each."""

    @abstractmethod
    def to_bytes(self, answers: Answers) -> bytes:
        """Serialize answers in the format in which they are sent."""

    @abstractmethod
    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read the answers of `people` people.

        Raises:
            DataError: the bytes are not valid answers.
        """

    @abstractmethod
    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:
        """Return answers as columns of a table, one row for each person."""

    @abstractmethod
    def from_table(self, table: Batch) -> Answers:
        """Read the answers of a table, in the order of people in reports.

        Raises:
            DataError: an answer is invalid.
        """

    @abstractmethod
    def fields(self, size: int) -> list[Any] | None:
        """Return the NumPy fields of one person's answer of `size` bytes.

        Returns:
            Fields named after columns; None if no answer has this size.
        """

    def alone(self, table: Batch) -> Batch | None:
        """Add the columns that are missing from a table read with `fields`.

        Each row of such a table is a separate report of one person.

        Returns:
            All columns; None if an answer is inconsistent with its size.
        """
        return table

    def order(self, table: Batch) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Return the order in which the rows of a table appear in reports; None if it is unchanged.

        Raises:
            DataError: an answer is invalid.
        """
        return None

    def front(self, answers: Answers, people: int) -> int:  # noqa: ARG002
        """Return the number of people in the front part of a batch.

        When batches are joined, all front parts come before all other parts.
        """
        return people


@dataclass(frozen=True)
class ColumnLayout(Layout):
    """The layout of arrays with one entry for each person: each is a column of the table.

    Attributes:
        stored: the name and the NumPy type of each array. The type "?" stands for bits, which are
            packed; others are unsigned integers, little-endian.
    """

    stored: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> dict[str, Content]:
        """A column of bits or of integers for each array."""
        return {name: "bits" if dtype == "?" else "integers" for name, dtype in self.stored}

    def to_bytes(self, answers: Answers) -> bytes:
        """Return the arrays, concatenated."""
        return b"".join(
            packed(array) if dtype == "?" else array.astype(dtype, copy=False).tobytes()
            for array, (_, dtype) in zip(answers, self.stored, strict=True)
        )

    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read one array after another."""
        return tuple(
            source.bits(people)
            if dtype == "?"
            else source.array(dtype, people).astype(np.dtype(dtype).newbyteorder("="))
            for _, dtype in self.stored
        )

    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return bits as Booleans, and integers as signed, which every engine supports."""
        return {
            name: array if dtype == "?" else array.astype(np.int64)
            for array, (name, dtype) in zip(answers, self.stored, strict=True)
        }

    def from_table(self, table: Batch) -> Answers:
        """Read Booleans, or integers 0 and 1, as bits; and integers in the range of their type."""
        return tuple(_read_column(table[name], dtype) for name, dtype in self.stored)

    def fields(self, size: int) -> list[Any] | None:
        """Return one field for each array; the field of a bit is a byte that contains it."""
        found = [(name, dtype.replace("?", "u1")) for name, dtype in self.stored]
        return found if np.dtype(found).itemsize == size else None


def _read_column(column: Any, dtype: str) -> NDArray[Any]:
    if dtype == "?":
        return bits(column)
    # Some engines store unsigned integers of 64 bits as signed.
    given: NDArray[Any] = column
    return given.astype(np.uint64) if dtype == "<u8" else whole(given, dtype)


# Reports as a table, one row for each person: docs/local-reports.md lists its columns.

COMMON: Final[dict[str, Content]] = {
    "mechanism": "integers",
    "private": "bits",
    "epsilon": "numbers",
}
"""The columns that reports of all mechanisms share."""


def columns_of(layout: Layout) -> dict[str, Content]:
    """Return all columns of a table of reports, by name, with the type of each."""
    return COMMON | layout.columns


def checked(layout: Layout, columns: Mapping[str, Any]) -> Batch:
    """Return the columns that a layout needs, as arrays of one length.

    Raises:
        ColumnError: a column is missing, or has the wrong type or length.
    """
    found: Batch = {}
    rows: int | None = None
    for name, content in columns_of(layout).items():
        if name not in columns:
            raise ColumnError(f"columns has no {name!r}: reports of this mechanism need it.")
        column, size = _column(name, content, columns[name])
        rows = size if rows is None else rows
        if size != rows:
            raise ColumnError(f"{name!r} has {size:,} rows, and another column {rows:,}.")
        found[name] = column
    return found


def _column(name: str, content: Content, given: Any) -> tuple[NDArray[Any] | Bytes, int]:
    """Check one column, and return it with its number of rows."""
    if isinstance(given, Bytes):
        return given, sum(len(rows) for rows, _ in given.groups)
    array = np.asarray(given, dtype=object if content == "bytes" else None)
    kinds = {"numbers": "fiu", "integers": "iu", "bits": "biu", "bytes": "O"}[content]
    if array.ndim != 1 or (array.dtype.kind not in kinds and len(array)):
        raise ColumnError(
            f"{name!r} must be one column of {content}, but is of type {array.dtype} and "
            f"shape {array.shape}."
        )
    if content != "bytes":
        return array, len(array)
    if not all(isinstance(entry, bytes) for entry in array.tolist()):
        raise ColumnError(f"{name!r} must be a column of bytes: an entry is not.")
    return Bytes.of(array.tolist()), len(array)


def read(layout: Layout, table: Batch) -> tuple[Floats, Answers]:
    """Return budgets and answers, in the order of people in reports.

    Raises:
        DataError: an answer is invalid.
    """
    given: Any = table["epsilon"]
    epsilon: Floats = np.ascontiguousarray(given, dtype=np.float64)
    order = layout.order(table)
    if order is not None:
        epsilon = epsilon[order]
    return epsilon, layout.from_table(table)


def bits(column: Any) -> NDArray[np.bool_]:
    """Return Booleans, or integers 0 and 1, as Booleans.

    Raises:
        DataError: there are other values.
    """
    given: NDArray[Any] = column
    if given.dtype == np.bool_:
        return given
    if not ((given == 0) | (given == 1)).all():
        raise DataError("A report is malformed: a bit is neither 0 nor 1.")
    return np.asarray(given == 1)


def whole(given: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Cast integers to another type.

    Raises:
        DataError: an integer is out of the range of that type.
    """
    if len(given) and (given.min() < 0 or int(given.max()) > np.iinfo(dtype).max):
        raise DataError("A report is malformed: an integer of it is out of range.")
    return given.astype(np.dtype(dtype).newbyteorder("="))


def by_length(column: Any) -> tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]:
    """Return the rows of a column of bytes and their bytes, grouped by length."""
    found: Bytes = column
    return found.groups
