"""Reports as bytes: docs/local-reports.md is the specification, this is the code.

A batch is a header, the public parameters of the mechanism, the budgets, and the columns of the
mechanism. A report is a batch of one. Everything is little-endian; bits are packed with the first
one lowest, and what fills the last byte is zero.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import DataError

MAGIC: Final = b"EPSR"
VERSION: Final = 1
SIMULATED: Final = 1
"""The flag of reports that were drawn from a seed: they are not private."""

HEADER: Final = struct.Struct("<4sBBBxII")
LONGEST: Final = 64
"""Bytes that the parameters of a mechanism take at most."""

KINDS: Final = {"bit": 1, "mean": 2, "vector": 3, "frequencies": 4}
NAMES: Final = {code: name for name, code in KINDS.items()}

HADAMARD: Final = 1
PROJECTION: Final = 2
RAPPOR: Final = 3
"""Methods for frequencies."""


class Header(NamedTuple):
    """What stands before the columns."""

    kind: str
    private: bool
    parameters: bytes
    people: int


def pack(head: Header) -> bytes:
    """Write a header with its parameters."""
    flags = 0 if head.private else SIMULATED
    fixed = HEADER.pack(MAGIC, VERSION, KINDS[head.kind], flags, len(head.parameters), head.people)
    return fixed + head.parameters


def unpack(data: bytes) -> tuple[Header, Reader]:
    """Read a header; what follows it is left to the reader.

    Raises:
        DataError: this is not the beginning of a batch of reports of this version.
    """
    reader = Reader(data)
    magic, version, kind, flags, longest, count = HEADER.unpack(reader.take(HEADER.size))
    if magic != MAGIC:
        raise DataError("This is not a report: it does not begin with EPSR.")
    if version != VERSION:
        raise DataError(f"This report has version {version}, and only {VERSION} is understood.")
    if kind not in NAMES or flags > SIMULATED or data[7] or longest > LONGEST:
        raise DataError("This report is of a mechanism that is not known, or its header is broken.")
    return Header(NAMES[kind], flags != SIMULATED, bytes(reader.take(longest)), count), reader


def fingerprint(kind: str, parameters: bytes) -> int:
    """A number that tells mechanisms and public parameters apart.

    The first eight bytes of SHA-256 of the mechanism's code and its parameters, read as a signed
    integer, which every engine has.
    """
    digest = hashlib.sha256(bytes([KINDS[kind]]) + parameters).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


class Reader:
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

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """The next `count` numbers, without a copy."""
        dtype = np.dtype(kind)
        return np.frombuffer(self.take(dtype.itemsize * count), dtype=dtype)

    def bits(self, count: int) -> NDArray[np.bool_]:
        """The next `count` bits."""
        packed = np.frombuffer(self.take((count + 7) // 8), dtype=np.uint8)
        if count % 8 and packed[-1] >> (count % 8):
            raise DataError("A report is malformed: bits that must be zero are not.")
        return np.unpackbits(packed, count=count, bitorder="little").view(np.bool_)

    def end(self) -> None:
        """Refuse what is left."""
        if self._at != len(self._data):
            raise DataError("A report is too long: there are bytes after its end.")


def packed(bits: NDArray[np.bool_]) -> bytes:
    """Bits as bytes, the first one lowest."""
    return np.packbits(bits, bitorder="little").tobytes()
