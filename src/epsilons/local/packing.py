"""Numbers and bits as bytes: little-endian, the first bit lowest, and zeros after the last."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import DataError


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
