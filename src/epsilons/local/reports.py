"""Reports: all that leaves people, in columns or as bytes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import DataError
from epsilons.local import layout as table
from epsilons.local.layout import Answers, Unpacker
from epsilons.local.layouts import KINDS, layout_of
from epsilons.local.state import extent_of
from epsilons.types import Column, Floats, freeze

if TYPE_CHECKING:
    from epsilons.local.randomizer import Randomizer


# Reports as bytes: docs/local-reports.md is the specification, this is the code.
#
# A batch is a header, the public parameters of the mechanism, the budgets, and the columns of the
# mechanism, which are its layout's. A report is a batch of one. Everything is little-endian.

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


@dataclass(frozen=True, eq=False)
class Reports:
    """What one or many people sent: their budgets, and answers that are private at these.

    Attributes:
        kind: "bit", "mean", "vector" or "frequencies".
        parameters: the public parameters of the mechanism, as stored in a report.
        private: False if any was drawn from a seed.
        epsilon: the budget of each person.
        columns: the answers: docs/local-reports.md says what each kind has.
        extent: the least and the largest budget, (0, 0) if nobody reports.
    """

    kind: str
    parameters: bytes
    private: bool
    epsilon: Floats
    columns: Answers
    extent: tuple[float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        extent = extent_of(self.epsilon)
        if not extent[0] >= 0.0:  # NaN is the minimum wherever there is one
            raise DataError("A report is malformed: its budget is negative or NaN.")
        object.__setattr__(self, "extent", extent)
        # They stay within it: a view, since the array may be one of the caller's.
        object.__setattr__(self, "epsilon", self.epsilon.view())
        freeze(self.epsilon)

    def __len__(self) -> int:
        return len(self.epsilon)

    def __repr__(self) -> str:
        size = len(self)
        return f"Reports({self.kind!r}, {size:,} {'person' if size == 1 else 'people'})"

    def to_bytes(self) -> bytes:
        """The reports as they are sent.

        Returns:
            The bytes that docs/local-reports.md describes.
        """
        head = Header(self.kind, self.private, self.parameters, len(self))
        budgets = self.epsilon.astype("<f8", copy=False).tobytes()
        layout = layout_of(self.kind, self.parameters)
        return pack(head) + budgets + layout.to_bytes(self.columns)

    @classmethod
    def from_bytes(cls, data: bytes) -> Reports:
        """Read reports.

        Args:
            data: exactly one batch.

        Returns:
            The reports. Whether they fit a mechanism is checked when they are used for an estimate.

        Raises:
            DataError: the bytes are malformed, cut short, too long or of another version.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise DataError(f"Reports are bytes, not {type(data).__name__}.")
        head, source = unpack(bytes(data))
        epsilon = np.asarray(source.array("<f8", head.people), dtype=np.float64)
        columns = layout_of(head.kind, head.parameters).from_bytes(source, head.people)
        source.end()
        return cls(head.kind, head.parameters, head.private, epsilon, columns)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """The reports as a table: one row for each person.

        Returns:
            Columns by name, without missing entries: `mechanism`, `private`, `epsilon`, and the
            answers that docs/local-reports.md describes. A frame of any engine takes them.
        """
        code = fingerprint(self.kind, self.parameters)
        return {
            "mechanism": np.full(len(self), code, dtype=np.int64),
            "private": np.full(len(self), self.private),
            "epsilon": self.epsilon,
            **layout_of(self.kind, self.parameters).to_table(self.columns, len(self)),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, Column], *, mechanism: Randomizer) -> Reports:
        """Read a table of reports.

        Args:
            columns: arrays by name, as `to_columns` makes them; others are ignored.
            mechanism: the one that reports must belong to. A table names its mechanism and public
                parameters by a fingerprint, and does not hold them.

        Returns:
            The reports.

        Raises:
            ColumnError: a column is missing, has the wrong type, or another length than the others.
            DataError: a report is malformed, or of another mechanism or other parameters.
        """
        kind, parameters = mechanism.kind, mechanism.parameters
        layout = layout_of(kind, parameters)
        arrays = table.checked(layout, columns)
        code: Any = arrays["mechanism"]
        if not (code == fingerprint(kind, parameters)).all():
            raise foreign(mechanism)
        private = bool(table.bits(arrays["private"]).all())
        epsilon, answers = table.read(layout, arrays)
        return cls(kind, parameters, private, epsilon, answers)


def foreign(mechanism: Randomizer) -> DataError:
    """What to raise when reports are of another mechanism, or have other parameters."""
    return DataError(
        "These reports were not made by this mechanism, or have other public parameters than "
        f"{mechanism!r}. They are not used."
    )
