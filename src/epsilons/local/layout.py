"""How reports are laid out: what every kind says of itself, its bits and bytes, its columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Bytes, Content
from epsilons.errors import ColumnError, DataError
from epsilons.types import Floats

# Numbers and bits as bytes: little-endian, the first bit lowest, and zeros after the last.


class Unpacker:
    """Takes bytes from the front, and refuses when there are too few, or some are left."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    def take(self, size: int) -> memoryview:
        """The next `size` bytes."""
        if size > len(self._data) - self._at:
            raise DataError("A report is cut short: bytes are missing at its end.")
        self._at += size
        return self._data[self._at - size : self._at]

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        """The next `count` numbers, without a copy."""
        each = np.dtype(dtype)
        return np.frombuffer(self.take(each.itemsize * count), dtype=each)

    def bits(self, count: int) -> NDArray[np.bool_]:
        """The next `count` bits."""
        return unpacked(self.array("u1", (count + 7) // 8), count)

    def end(self) -> None:
        """Refuse what is left."""
        if self._at != len(self._data):
            raise DataError("A report is too long: there are bytes after its end.")


def packed(bits: NDArray[np.bool_]) -> bytes:
    """Bits as bytes, the first one lowest; every row of a matrix begins with a new byte."""
    return np.packbits(bits, axis=-1, bitorder="little").tobytes()


def unpacked(packed: NDArray[np.uint8], count: int) -> NDArray[np.bool_]:
    """`count` bits, or rows of as many; what fills the last byte must be zero.

    Raises:
        DataError: it is not.
    """
    if count % 8 and (packed[..., -1] >> (count % 8)).any():
        raise DataError("A report is malformed: bits that must be zero are not.")
    return np.unpackbits(packed, axis=-1, count=count, bitorder="little").view(np.bool_)


# What every kind of report must say of itself: how its answers stand in bytes and in a table.

Answers = tuple[NDArray[Any], ...]
"""The answers of a batch of reports, in arrays: docs/local-reports.md says what each kind has."""


class Layout(ABC):
    """How the answers of one kind of report are written and read. Public parameters fix it.

    Headers, parameters and budgets, which all kinds have, are no part of it.
    """

    @property
    @abstractmethod
    def columns(self) -> dict[str, Content]:
        """The columns that answers have in a table, and what each holds."""

    @abstractmethod
    def to_bytes(self, answers: Answers) -> bytes:
        """Answers as they are sent."""

    @abstractmethod
    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read the answers of so many people.

        Raises:
            DataError: these are no such answers.
        """

    @abstractmethod
    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:
        """Answers as columns of a table, one row for each person."""

    @abstractmethod
    def from_table(self, table: Batch) -> Answers:
        """Read the answers of a table, in the order that reports have.

        Raises:
            DataError: an answer cannot be.
        """

    @abstractmethod
    def fields(self, size: int) -> list[Any] | None:
        """The fields of one person's answer that takes `size` bytes, as NumPy describes them.

        Returns:
            Fields with the names of columns; None if no answer takes so many bytes.
        """

    def alone(self, table: Batch) -> Batch | None:
        """Make a table of the fields of people who each sent a report of their own.

        Returns:
            All columns; None if these are not the reports that their size says.
        """
        return table

    def order(self, table: Batch) -> NDArray[np.int64] | None:  # noqa: ARG002
        """In which order the rows of a table come in reports; None for their own.

        Raises:
            DataError: an answer cannot be.
        """
        return None

    def front(self, answers: Answers, people: int) -> int:  # noqa: ARG002
        """How many people stand in front: batches are joined front to front, and back to back."""
        return people


# Reports as a table, one row for each person: docs/local-reports.md says what columns it has.

COMMON: Final[dict[str, Content]] = {
    "mechanism": "integers",
    "private": "bits",
    "epsilon": "numbers",
}
"""The columns that reports of all mechanisms have."""


def columns_of(layout: Layout) -> dict[str, Content]:
    """The columns of a table, and what each holds."""
    return COMMON | layout.columns


def checked(layout: Layout, columns: Mapping[str, Any]) -> Batch:
    """Return the columns that count, as arrays of one length.

    Raises:
        ColumnError: one is not there, or is not of its type or length.
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
    """One column, and how many rows it has."""
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
    """Budgets and answers, in the order that reports have.

    Raises:
        DataError: an answer cannot be.
    """
    given: Any = table["epsilon"]
    epsilon: Floats = np.ascontiguousarray(given, dtype=np.float64)
    order = layout.order(table)
    if order is not None:
        epsilon = epsilon[order]
    return epsilon, layout.from_table(table)


def bits(column: Any) -> NDArray[np.bool_]:
    """Booleans, or 0 and 1.

    Raises:
        DataError: there is something else.
    """
    given: NDArray[Any] = column
    if given.dtype == np.bool_:
        return given
    if not ((given == 0) | (given == 1)).all():
        raise DataError("A report is malformed: a bit is neither 0 nor 1.")
    return np.asarray(given == 1)


def whole(column: Any, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Integers of another type, if it has them all.

    Raises:
        DataError: it has not.
    """
    given: NDArray[Any] = column
    if len(given) and (given.min() < 0 or int(given.max()) > np.iinfo(dtype).max):
        raise DataError("A report is malformed: an integer of it is out of range.")
    return given.astype(dtype)


def word(column: Any) -> NDArray[np.uint64]:
    """The 64 bits of integers, whether or not they were taken for signed ones."""
    given: NDArray[Any] = column
    return given.astype(np.uint64)


def by_length(column: Any) -> tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]:
    """A column of bytes: for each length, the rows that have it, and their bytes."""
    found: Bytes = column
    return found.groups
