"""Layout of the answers of `local.Vector`: a seed and some signs, or the vector itself."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Content
from epsilons.errors import DataError
from epsilons.local.layout import Answers, ColumnLayout, Layout, Unpacker, by_length

PARAMETERS: Final = struct.Struct("<Id")
"""The format of the parameters: dimension and radius."""

_SIGNS: Final = ColumnLayout(
    (("signs", "u1"), ("distance", "u1"), ("seed", "<u8"), ("answer", "<u4"))
)
"""The layout of an answer without a vector."""

_SIZE: Final = 14
"""Size of such an answer in bytes."""


@dataclass(frozen=True)
class VectorLayout(Layout):
    """The layout of five arrays: numbers of signs, distances of caps, seeds, signs, and vectors.

    A vector is sent only at ε = ∞.

    Attributes:
        dimension: the dimension of vectors.
    """

    dimension: int

    @property
    def columns(self) -> dict[str, Content]:
        """Four columns of integers, and the bytes of the vector."""
        return {**_SIGNS.columns, "vector": "bytes"}

    def to_bytes(self, answers: Answers) -> bytes:
        """Return the arrays, concatenated."""
        *others, given = answers
        return _SIGNS.to_bytes(tuple(others)) + given.astype("<f8", copy=False).tobytes()

    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read the arrays. Only people without signs have a vector."""
        others = _SIGNS.from_bytes(source, people)
        public = int(np.count_nonzero(others[0] == 0))
        given = source.array("<f8", public * self.dimension).astype(np.float64)
        return *others, given.reshape(public, self.dimension)

    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:
        """Return signed integers, which every engine supports; empty bytes if no vector is sent."""
        *others, given = answers
        vector = np.full(people, b"", dtype=object)
        vector[others[0] == 0] = [row.tobytes() for row in given.astype("<f8", copy=False)]
        return {**_SIGNS.to_table(tuple(others), people), "vector": vector}

    def from_table(self, table: Batch) -> Answers:
        """Read columns. A row has a vector if and only if it has no signs."""
        signs, *others = _SIGNS.from_table(table)
        given = np.empty((0, self.dimension))
        public: NDArray[Any] = np.empty(0, dtype=np.int64)
        for rows, matrix in by_length(table["vector"]):
            if matrix.shape[1] == 8 * self.dimension:
                public, given = rows, np.ascontiguousarray(matrix).view("<f8").astype(np.float64)
            elif matrix.shape[1]:
                raise DataError("A report is malformed: a vector has the wrong dimension.")
        if not np.array_equal(public, np.flatnonzero(signs == 0)):
            raise DataError("A report is malformed: it must have either signs or a vector.")
        return signs, *others, given

    def fields(self, size: int) -> list[Any] | None:
        """Return fields of integers, and of the bytes of a vector if the size includes one."""
        if size not in (_SIZE, _SIZE + 8 * self.dimension):
            return None
        return [*(_SIGNS.fields(_SIZE) or ()), ("vector", "u1", (size - _SIZE,))]


def layout(parameters: bytes) -> Layout:
    """Return the layout for vectors of the dimension in the parameters.

    Raises:
        DataError: the parameters are not for vectors.
    """
    if len(parameters) != PARAMETERS.size:
        raise DataError("A report is malformed: the parameters of a vector have 12 bytes.")
    dimension, _ = PARAMETERS.unpack(parameters)
    return VectorLayout(dimension)
