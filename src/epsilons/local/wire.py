"""Reports as bytes: docs/local-reports.md is the specification, this is the code.

A batch is a header, the public parameters of the mechanism, the budgets, and the columns of the
mechanism, which are its layout's. A report is a batch of one. Everything is little-endian.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Final, NamedTuple

from epsilons.errors import DataError
from epsilons.local.layouts import KINDS
from epsilons.local.packing import Unpacker

MAGIC: Final = b"EPSR"
VERSION: Final = 1
SIMULATED: Final = 1
"""The flag of reports that were drawn from a seed: they are not private."""

HEADER: Final = struct.Struct("<4sBBBxII")
LONGEST: Final = 64
"""Bytes that the parameters of a mechanism take at most."""

NAMES: Final = {kind.code: name for name, kind in KINDS.items()}


class Header(NamedTuple):
    """What stands before the columns."""

    kind: str
    private: bool
    parameters: bytes
    people: int


def pack(head: Header) -> bytes:
    """Write a header with its parameters."""
    flags = 0 if head.private else SIMULATED
    code, length = KINDS[head.kind].code, len(head.parameters)
    return HEADER.pack(MAGIC, VERSION, code, flags, length, head.people) + head.parameters


def unpack(data: bytes) -> tuple[Header, Unpacker]:
    """Read a header; what follows it is left in the bytes that are returned.

    Raises:
        DataError: this is not the beginning of a batch of reports of this version.
    """
    source = Unpacker(data)
    magic, version, kind, flags, longest, count = HEADER.unpack(source.take(HEADER.size))
    if magic != MAGIC:
        raise DataError("This is not a report: it does not begin with EPSR.")
    if version != VERSION:
        raise DataError(f"This report has version {version}, and only {VERSION} is understood.")
    if kind not in NAMES or flags > SIMULATED or data[7] or longest > LONGEST:
        raise DataError("This report is from an unknown mechanism, or its header is broken.")
    return Header(NAMES[kind], flags != SIMULATED, bytes(source.take(longest)), count), source


def fingerprint(kind: str, parameters: bytes) -> int:
    """A number that tells mechanisms and public parameters apart.

    The first eight bytes of SHA-256 of the mechanism's code and its parameters, read as a signed
    integer, which every engine has.
    """
    digest = hashlib.sha256(bytes([KINDS[kind].code]) + parameters).digest()
    return int.from_bytes(digest[:8], "little", signed=True)
