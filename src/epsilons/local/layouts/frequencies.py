"""Layouts of the answers of `local.Frequencies`, by method."""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Content
from epsilons.errors import DataError
from epsilons.local.layout import (
    Answers,
    Layout,
    Unpacker,
    bits,
    by_length,
    packed,
    unpacked,
    whole,
    word,
)

PARAMETERS: Final = struct.Struct("<IBQ8s")
"""The format of the parameters: number of categories, method, public seed, digest of the labels."""

CODES: Final = {"hadamard": 1, "projection": 2, "rappor": 3}
"""The byte that identifies a method."""


class RowLayout(Layout):
    """The layout of two arrays: for each person, the index of a public row of signs, and a bit."""

    row: ClassVar[np.dtype[Any]]

    @staticmethod
    @abstractmethod
    def _rows(column: Any) -> NDArray[Any]:
        """Cast integers of any type to row indices."""

    @property
    def columns(self) -> dict[str, Content]:
        """The columns of rows and bits."""
        return {"row": "integers", "answer": "bits"}

    def to_bytes(self, answers: Answers) -> bytes:
        """Return the rows, then the packed bits."""
        rows, ones = answers
        return rows.astype(self.row, copy=False).tobytes() + packed(ones)

    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read one row and one bit for each person."""
        rows = source.array(self.row.str, people)
        return rows.astype(self.row.newbyteorder("=")), source.bits(people)

    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return rows as signed integers, which every engine supports, and bits as Booleans."""
        return {"row": answers[0].astype(np.int64), "answer": answers[1]}

    def from_table(self, table: Batch) -> Answers:
        """Read rows as integers, and bits as Booleans or integers 0 and 1."""
        return self._rows(table["row"]), bits(table["answer"])

    def fields(self, size: int) -> list[Any] | None:
        """Return two fields: a row, and a byte that contains the bit."""
        return [("row", self.row), ("answer", "u1")] if size == self.row.itemsize + 1 else None


@dataclass(frozen=True)
class HadamardLayout(RowLayout):
    """The layout of the method "hadamard": row indices have 32 bits."""

    row: ClassVar[np.dtype[Any]] = np.dtype("<u4")

    @staticmethod
    def _rows(column: Any) -> NDArray[Any]:
        return whole(column, np.uint32)


@dataclass(frozen=True)
class ProjectionLayout(RowLayout):
    """The layout of the method "projection": row indices have 64 bits."""

    row: ClassVar[np.dtype[Any]] = np.dtype("<u8")

    @staticmethod
    def _rows(column: Any) -> NDArray[Any]:
        return word(column)


@dataclass(frozen=True)
class RapporLayout(Layout):
    """The layout of one matrix, with a row for each person and a bit for each category.

    Attributes:
        cells: the number of categories.
    """

    cells: int

    @property
    def width(self) -> int:
        """Number of bytes per person."""
        return (self.cells + 7) // 8

    @property
    def columns(self) -> dict[str, Content]:
        """The column of packed bits."""
        return {"answer": "bytes"}

    def to_bytes(self, answers: Answers) -> bytes:
        """Return the packed bits, padded to full bytes for each person."""
        return packed(answers[0])

    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read a row of bytes for each person."""
        rows = source.array("u1", people * self.width).reshape(people, self.width)
        return (unpacked(rows, self.cells),)

    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:
        """Return the packed bits of each person."""
        found = np.full(people, b"", dtype=object)
        rows = np.packbits(answers[0], axis=1, bitorder="little")
        found[:] = [row.tobytes() for row in rows]
        return {"answer": found}

    def from_table(self, table: Batch) -> Answers:
        """Unpack the bytes of each person, which must all have the same length."""
        groups = by_length(table["answer"])
        if not groups:
            return (np.empty((0, self.cells), dtype=np.bool_),)
        _, rows = groups[0]
        if len(groups) > 1 or rows.shape[1] != self.width:
            raise DataError("A report is malformed: it does not have one bit for each category.")
        return (unpacked(rows, self.cells),)

    def fields(self, size: int) -> list[Any] | None:
        """Return one field of bytes."""
        return [("answer", "u1", (self.width,))] if size == self.width else None


_METHODS: Final[dict[int, Callable[[int], Layout]]] = {
    CODES["hadamard"]: lambda _: HadamardLayout(),
    CODES["projection"]: lambda _: ProjectionLayout(),
    CODES["rappor"]: RapporLayout,
}


def layout(parameters: bytes) -> Layout:
    """Return the layout for the method in the parameters.

    Raises:
        DataError: the parameters are not for frequencies, or the method is unknown.
    """
    if len(parameters) != PARAMETERS.size:
        raise DataError("A report is malformed: the parameters of frequencies have 21 bytes.")
    cells, code, _, _ = PARAMETERS.unpack(parameters)
    if code not in _METHODS:
        raise DataError("A report is malformed: its method for frequencies is unknown.")
    return _METHODS[code](cells)
