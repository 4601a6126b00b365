"""Layout of the answers of `local.Vector`: a seed and some signs, or the vector itself."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Content
from epsilons.errors import DataError
from epsilons.local.layout import Answers, Layout, Unpacker, by_length, whole, word

PARAMETERS: Final = struct.Struct("<Id")
"""The format of the parameters: dimension and radius."""

_SIGNS: Final = 14
"""Size of an answer in bytes, without a vector."""


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
        return {
            "signs": "integers",
            "distance": "integers",
            "seed": "integers",
            "answer": "integers",
            "vector": "bytes",
        }

    def to_bytes(self, answers: Answers) -> bytes:
        """Return the arrays, concatenated."""
        parts = zip(answers, ("u1", "u1", "<u8", "<u4", "<f8"), strict=True)
        return b"".join(part.astype(dtype, copy=False).tobytes() for part, dtype in parts)

    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read the arrays. Only people without signs have a vector."""
        signs = source.array("u1", people)
        distance = source.array("u1", people)
        seeds = source.array("<u8", people).astype(np.uint64)
        answers = source.array("<u4", people).astype(np.uint32)
        public = int(np.count_nonzero(signs == 0))
        given = source.array("<f8", public * self.dimension).astype(np.float64)
        return signs, distance, seeds, answers, given.reshape(public, self.dimension)

    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:
        """Return signed integers, which every engine supports; empty bytes if no vector is sent."""
        signs, distance, seeds, turned, given = answers
        vector = np.full(people, b"", dtype=object)
        vector[signs == 0] = [row.tobytes() for row in given.astype("<f8", copy=False)]
        return {
            "signs": signs.astype(np.int64),
            "distance": distance.astype(np.int64),
            "seed": seeds.astype(np.int64),
            "answer": turned.astype(np.int64),
            "vector": vector,
        }

    def from_table(self, table: Batch) -> Answers:
        """Read columns. A row has a vector if and only if it has no signs."""
        signs = whole(table["signs"], np.uint8)
        given = np.empty((0, self.dimension))
        public: NDArray[Any] = np.empty(0, dtype=np.int64)
        for rows, matrix in by_length(table["vector"]):
            if matrix.shape[1] == 8 * self.dimension:
                public, given = rows, np.ascontiguousarray(matrix).view("<f8").astype(np.float64)
            elif matrix.shape[1]:
                raise DataError("A report is malformed: a vector has the wrong dimension.")
        if not np.array_equal(public, np.flatnonzero(signs == 0)):
            raise DataError("A report is malformed: it must have either signs or a vector.")
        return (
            signs,
            whole(table["distance"], np.uint8),
            word(table["seed"]),
            whole(table["answer"], np.uint32),
            given,
        )

    def fields(self, size: int) -> list[Any] | None:
        """Return fields of integers, and of the bytes of a vector if the size includes one."""
        if size not in (_SIGNS, _SIGNS + 8 * self.dimension):
            return None
        signs = [("signs", "u1"), ("distance", "u1"), ("seed", "<u8"), ("answer", "<u4")]
        return [*signs, ("vector", "u1", (size - _SIGNS,))]


def layout(parameters: bytes) -> Layout:
    """Return the layout for vectors of the dimension in the parameters.

    Raises:
        DataError: the parameters are not for vectors.
    """
    if len(parameters) != PARAMETERS.size:
        raise DataError("A report is malformed: the parameters of a vector have 12 bytes.")
    dimension, _ = PARAMETERS.unpack(parameters)
    return VectorLayout(dimension)
