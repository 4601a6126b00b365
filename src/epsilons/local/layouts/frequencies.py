"""Layouts of the answers of `local.Frequencies`, by method."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Content
from epsilons.errors import DataError
from epsilons.local.layout import (
    Answers,
    ColumnLayout,
    Layout,
    Unpacker,
    by_length,
    packed,
    unpacked,
)

PARAMETERS: Final = struct.Struct("<IBQ8s")
"""The format of the parameters: number of categories, method, public seed, digest of the labels."""

CODES: Final = {"hadamard": 1, "projection": 2, "rappor": 3}
"""The byte that identifies a method."""


_ROWS: Final = {
    CODES["hadamard"]: ColumnLayout((("row", "<u4"), ("answer", "?"))),
    CODES["projection"]: ColumnLayout((("row", "<u8"), ("answer", "?"))),
}
"""The layouts of the index of a public row of signs, and a bit, by method."""


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


def layout(parameters: bytes) -> Layout:
    """Return the layout for the method in the parameters.

    Raises:
        DataError: the parameters are not for frequencies, or the method is unknown.
    """
    if len(parameters) != PARAMETERS.size:
        raise DataError("A report is malformed: the parameters of frequencies have 21 bytes.")
    cells, code, _, _ = PARAMETERS.unpack(parameters)
    if code == CODES["rappor"]:
        return RapporLayout(cells)
    if code not in _ROWS:
        raise DataError("A report is malformed: its method for frequencies is unknown.")
    return _ROWS[code]
