"""Reports: the only data that leave people's devices, in columns or as bytes."""

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


# Reports as bytes. docs/local-reports.md is the specification.
#
# A batch is a header, the public parameters of the mechanism, the budgets, and the answers in the
# mechanism's layout. A report is a batch of one person. Everything is little-endian.

MAGIC: Final = b"EPSR"
VERSION: Final = 1
SIMULATED: Final = 1
"""The flag of reports drawn from a seed, which are not private."""

HEADER: Final = struct.Struct("<4sBBBxII")
LONGEST: Final = 64
"""The largest size of a mechanism's parameters, in bytes."""

NAMES: Final = {kind.code: name for name, kind in KINDS.items()}


class Header(NamedTuple):
    """The header of a batch: everything before budgets and answers."""

    kind: str
    private: bool
    parameters: bytes
    people: int


def pack(head: Header) -> bytes:
    """Serialize a header with its parameters."""
    flags = 0 if head.private else SIMULATED
    code, length = KINDS[head.kind].code, len(head.parameters)
    return HEADER.pack(MAGIC, VERSION, code, flags, length, head.people) + head.parameters


def unpack(data: bytes) -> tuple[Header, Unpacker]:
    """Parse a header; return it with a reader of the bytes that follow.

    Raises:
        DataError: the bytes do not begin a batch of reports of this version.
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
    """Return a hash of a mechanism and its public parameters.

    It is the first eight bytes of SHA-256 of the mechanism's code and its parameters, read as a
    signed integer, a type that every engine supports.
    """
    digest = hashlib.sha256(bytes([KINDS[kind].code]) + parameters).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


@dataclass(frozen=True, eq=False)
class Reports:
    """Reports of one or more people: their budgets and their randomized answers.

    Attributes:
        kind: "bit", "mean", "vector" or "frequencies".
        parameters: the public parameters of the mechanism, as stored in a report.
        private: False if any report was drawn from a seed.
        epsilon: the budget of each person.
        columns: the answers: docs/local-reports.md describes the arrays of each kind.
        extent: the smallest and the largest budget, (0, 0) if there are no reports.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.local.Bit(levels=[0.5, 1.0])
        >>> report = question.randomize(True, epsilon=1.0)
        >>> report.kind, report.epsilon.tolist(), len(report.to_bytes())
        ('bit', [1.0], 25)
        >>> ep.local.Reports.from_bytes(report.to_bytes()).private
        True
    """

    kind: str
    parameters: bytes
    private: bool
    epsilon: Floats
    columns: Answers
    extent: tuple[float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        extent = extent_of(self.epsilon)
        if not extent[0] >= 0.0:  # the minimum is NaN if any budget is NaN
            raise DataError("A report is malformed: its budget is negative or NaN.")
        object.__setattr__(self, "extent", extent)
        # Budgets must stay within `extent`. Freeze only a view: the caller can own the array.
        object.__setattr__(self, "epsilon", self.epsilon.view())
        freeze(self.epsilon)

    def __len__(self) -> int:
        return len(self.epsilon)

    def __repr__(self) -> str:
        size = len(self)
        return f"Reports({self.kind!r}, {size:,} {'person' if size == 1 else 'people'})"

    def to_bytes(self) -> bytes:
        """Serialize the reports in the format in which they are sent.

        Returns:
            Bytes in the format of docs/local-reports.md.
        """
        head = Header(self.kind, self.private, self.parameters, len(self))
        budgets = self.epsilon.astype("<f8", copy=False).tobytes()
        layout = layout_of(self.kind, self.parameters)
        return pack(head) + budgets + layout.to_bytes(self.columns)

    @classmethod
    def from_bytes(cls, data: bytes) -> Reports:
        """Parse reports.

        Args:
            data: exactly one batch.

        Returns:
            The reports. `Randomizer.estimate` checks whether they are from its mechanism.

        Raises:
            DataError: the bytes are malformed, of another version, or too few or too many.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise DataError(f"Reports are bytes, not {type(data).__name__}.")
        head, source = unpack(bytes(data))
        epsilon = np.asarray(source.array("<f8", head.people), dtype=np.float64)
        columns = layout_of(head.kind, head.parameters).from_bytes(source, head.people)
        source.end()
        return cls(head.kind, head.parameters, head.private, epsilon, columns)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return the reports as a table: one row for each person.

        Returns:
            Columns by name, without nulls: `mechanism`, `private`, `epsilon`, and the answers that
            docs/local-reports.md describes. They can be stored in a frame of any engine.
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
            columns: arrays by name, as `to_columns` returns them; other columns are ignored.
            mechanism: the mechanism of the reports. A table contains only a fingerprint of its
                mechanism and public parameters.

        Returns:
            The reports.

        Raises:
            ColumnError: a column is missing, has the wrong type, or differs in length.
            DataError: a report is malformed, or from another mechanism or with other parameters.
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
    """Return the error for reports from another mechanism or with other parameters."""
    forms = " method='bit' reads reports of one bit, and method='piecewise' the others."
    return DataError(
        "These reports were not made by this mechanism, or have other public parameters than "
        f"{mechanism!r}. They are not used.{forms if mechanism.kind == 'mean' else ''}"
    )
