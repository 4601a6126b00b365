"""Layouts of the answers of `local.Mean`: bits and numbers, or piecewise answers from 0 to 255."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Content
from epsilons.errors import DataError
from epsilons.local.layout import Answers, ColumnLayout, Layout, Unpacker, bits, packed

PARAMETERS: Final = struct.Struct("<dd")
"""The format of the parameters: the two bounds."""

PIECEWISE: Final = b"\x01"
"""The byte after the bounds in the parameters of piecewise reports."""


@dataclass(frozen=True)
class MeanLayout(Layout):
    """The layout of two arrays: the bits of people who send one bit, and the others' numbers."""

    @property
    def columns(self) -> dict[str, Content]:
        """Two columns: whether the answer is a number, and the answer."""
        return {"number": "bits", "answer": "integers"}

    def to_bytes(self, answers: Answers) -> bytes:
        """Return the number of bits, the packed bits and the numbers."""
        ones, numbers = answers
        count = len(ones).to_bytes(4, "little")
        return count + packed(ones) + numbers.astype("<i8", copy=False).tobytes()

    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read bits, then numbers: one answer for each person."""
        count = int(source.array("<u4", 1)[0])
        if count > people:
            raise DataError("A report is malformed: it has more bits than people.")
        return source.bits(count), source.array("<i8", people - count).astype(np.int64)

    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:
        """Return the bits as integers, in one column with the numbers."""
        ones, numbers = answers
        return {
            "number": np.arange(people) >= len(ones),
            "answer": np.concatenate([ones.astype(np.int64), numbers]),
        }

    def from_table(self, table: Batch) -> Answers:
        """Separate bits and numbers, which can be in any order in the table."""
        answer: Any = table["answer"]
        number = bits(table["number"])
        if not number.any():
            return bits(answer), np.empty(0, dtype=np.int64)
        numbers = answer[number]
        if numbers.dtype == np.uint64 and int(numbers.max()) >= 2**63:
            raise DataError("A report is malformed: an integer of it is out of range.")
        return bits(answer[~number]), numbers.astype(np.int64)

    def fields(self, size: int) -> list[Any] | None:
        """Return two fields: the number of bits (0 or 1), and the bit or the number."""
        answer = {5: "u1", 12: "<i8"}.get(size)
        return [("bits", "<u4"), ("answer", answer)] if answer else None

    def alone(self, table: Batch) -> Batch | None:
        """Add the column `number`: whether answers are numbers, according to their type.

        Return None if a report's count of bits contradicts that type.
        """
        answer: Any = table["answer"]
        number = answer.dtype == np.int64
        count: Any = table["bits"]
        if not (count == (0 if number else 1)).all():
            return None
        return table | {"number": np.full(len(answer), number)}

    def order(self, table: Batch) -> NDArray[np.int64] | None:
        """Return the order that puts people who send one bit first; None if everyone does."""
        return bits_first(bits(table["number"]))

    def front(self, answers: Answers, people: int) -> int:  # noqa: ARG002
        """Return the number of people who send one bit."""
        return len(answers[0])


_PIECES: Final = ColumnLayout((("answer", "u1"),))
"""The layout of piecewise answers, integers from 0 to 255."""


def layout(parameters: bytes) -> Layout:
    """Return the layout of means. It depends on the byte after the bounds, if there is one.

    Raises:
        DataError: the parameters are not those of a mean.
    """
    found = {b"": MeanLayout(), PIECEWISE: _PIECES}.get(parameters[PARAMETERS.size :])
    if len(parameters) < PARAMETERS.size or found is None:
        raise DataError(
            "A report is malformed: the parameters of a mean have 16 bytes, or 17 that end in 1."
        )
    return found


def bits_first(number: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Return the order that puts people who send one bit first; None if everyone sends one bit.

    Args:
        number: whether each person sends a number.
    """
    if not number.any():
        return None
    return np.concatenate([np.flatnonzero(~number), np.flatnonzero(number)])
