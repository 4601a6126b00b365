"""Layout of the answers of `local.Bit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from epsilons.door.batches import Batch, Content
from epsilons.local.layout import Answers, Layout, Unpacker, bits, packed


@dataclass(frozen=True)
class BitLayout(Layout):
    """The layout of one array, with a bit for each person."""

    @property
    def columns(self) -> dict[str, Content]:
        """The column of answers."""
        return {"answer": "bits"}

    def to_bytes(self, answers: Answers) -> bytes:
        """Return the packed bits."""
        return packed(answers[0])

    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read one bit for each person."""
        return (source.bits(people),)

    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return the bits as Booleans."""
        return {"answer": answers[0]}

    def from_table(self, table: Batch) -> Answers:
        """Read Booleans, or integers 0 and 1."""
        return (bits(table["answer"]),)

    def fields(self, size: int) -> list[Any] | None:
        """Return one field: a byte that contains the bit."""
        return [("answer", "u1")] if size == 1 else None


def layout(_: bytes) -> Layout:
    """Return the layout of bits, which has no parameters."""
    return BitLayout()
