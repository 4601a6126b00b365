"""Reports: all that leaves people, in columns or as bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from epsilons.budgets import Floats
from epsilons.errors import DataError
from epsilons.local import table, wire
from epsilons.local.table import Columns as Columns
from epsilons.local.wire import HADAMARD, PROJECTION, RAPPOR


class Public(Protocol):
    """What is public of a mechanism."""

    @property
    def kind(self) -> str:
        """Its name."""

    @property
    def parameters(self) -> bytes:
        """Its public parameters."""


@dataclass(frozen=True, eq=False)
class Reports:
    """What one or many people sent: their budgets, and answers that are private at these.

    Attributes:
        kind: "bit", "mean", "vector" or "frequencies".
        parameters: the public parameters of the mechanism, as they stand in a report.
        private: False if any was drawn from a seed.
        epsilon: the budget of each person.
        columns: the answers: docs/local-reports.md says what each kind has.
    """

    kind: str
    parameters: bytes
    private: bool
    epsilon: Floats
    columns: Columns

    def __post_init__(self) -> None:
        # NaN is the minimum wherever there is one.
        if len(self.epsilon) and not self.epsilon.min() >= 0.0:
            raise DataError("A report is malformed: its budget is negative or NaN.")

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
        head = wire.Header(self.kind, self.private, self.parameters, len(self))
        write, _ = LAYOUTS[self.kind]
        budgets = self.epsilon.astype("<f8", copy=False).tobytes()
        return wire.pack(head) + budgets + write(self.columns)

    @classmethod
    def from_bytes(cls, data: bytes) -> Reports:
        """Read reports.

        Args:
            data: exactly one batch.

        Returns:
            The reports. Whether they fit a mechanism is asked when they are estimated from.

        Raises:
            DataError: the bytes are malformed, cut short, too long or of another version.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise DataError(f"Reports are bytes, not {type(data).__name__}.")
        head, reader = wire.unpack(bytes(data))
        _, read = LAYOUTS[head.kind]
        epsilon = np.asarray(reader.array("<f8", head.people), dtype=np.float64)
        columns = read(reader, head)
        reader.end()
        return cls(head.kind, head.parameters, head.private, epsilon, columns)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """The reports as a table: one row for each person.

        Returns:
            Columns by name, without missing entries: `mechanism`, `private`, `epsilon`, and the
            answers that docs/local-reports.md describes. A frame of any engine takes them.
        """
        code = wire.fingerprint(self.kind, self.parameters)
        return {
            "mechanism": np.full(len(self), code, dtype=np.int64),
            "private": np.full(len(self), self.private),
            "epsilon": self.epsilon,
            **table.write(self.kind, self.columns, len(self)),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], *, mechanism: Public) -> Reports:
        """Read a table of reports.

        Args:
            columns: arrays by name, as `to_columns` makes them; others are passed over.
            mechanism: that which reports are to be of. A table names its mechanism and public
                parameters by a fingerprint, and does not hold them.

        Returns:
            The reports.

        Raises:
            ColumnError: a column is not there, not of its type, or not of the length of the others.
            DataError: a report is malformed, or of another mechanism or other parameters.
        """
        kind, parameters = mechanism.kind, mechanism.parameters
        arrays = table.checked(kind, parameters, columns)
        code: Any = arrays["mechanism"]
        if not (code == wire.fingerprint(kind, parameters)).all():
            raise foreign(mechanism)
        private = bool(table.bits(arrays["private"]).all())
        epsilon, answers = table.read(kind, parameters, arrays)
        return cls(kind, parameters, private, epsilon, answers)


def foreign(mechanism: Public) -> DataError:
    """What to raise when reports are of another mechanism, or have other parameters."""
    return DataError(
        "These reports were not made by this mechanism, or with other public parameters than those "
        f"of {mechanism!r}. They are not used."
    )


def _write_bit(columns: Columns) -> bytes:
    return wire.packed(columns[0])


def _read_bit(reader: wire.Reader, head: wire.Header) -> Columns:
    return (reader.bits(head.people),)


def _write_mean(columns: Columns) -> bytes:
    bits, numbers = columns
    count = len(bits).to_bytes(4, "little")
    return count + wire.packed(bits) + numbers.astype("<i8", copy=False).tobytes()


def _read_mean(reader: wire.Reader, head: wire.Header) -> Columns:
    bits = int(reader.array("<u4", 1)[0])
    if bits > head.people:
        raise DataError("A report is malformed: it has more bits than people.")
    return reader.bits(bits), reader.array("<i8", head.people - bits).astype(np.int64)


def _write_vector(columns: Columns) -> bytes:
    signs, radius, seeds, answers, values = columns
    kinds = ("u1", "u1", "<u8", "<u4", "<f8")
    parts = zip((signs, radius, seeds, answers, values), kinds, strict=True)
    return b"".join(part.astype(kind, copy=False).tobytes() for part, kind in parts)


def _read_vector(reader: wire.Reader, head: wire.Header) -> Columns:
    if len(head.parameters) != 12:
        raise DataError("A report is malformed: the parameters of a vector have 12 bytes.")
    dimension = int.from_bytes(head.parameters[:4], "little")
    signs = reader.array("u1", head.people)
    radius = reader.array("u1", head.people)
    seeds = reader.array("<u8", head.people).astype(np.uint64)
    answers = reader.array("<u4", head.people).astype(np.uint32)
    public = int(np.count_nonzero(signs == 0))
    values = reader.array("<f8", public * dimension).astype(np.float64)
    return signs, radius, seeds, answers, values.reshape(public, dimension)


def _write_frequencies(columns: Columns) -> bytes:
    if len(columns) == 1:
        rows = np.packbits(columns[0], axis=1, bitorder="little")
        return rows.tobytes()
    index, bits = columns
    kind = "<u8" if index.dtype == np.uint64 else "<u4"
    return index.astype(kind, copy=False).tobytes() + wire.packed(bits)


def _read_frequencies(reader: wire.Reader, head: wire.Header) -> Columns:
    if len(head.parameters) != 21:
        raise DataError("A report is malformed: the parameters of frequencies have 21 bytes.")
    cells, method = int.from_bytes(head.parameters[:4], "little"), head.parameters[4]
    if method == RAPPOR:
        width = (cells + 7) // 8
        rows = reader.array("u1", head.people * width).reshape(head.people, width)
        return (table.unpacked(rows, cells),)
    if method not in (HADAMARD, PROJECTION):
        raise DataError("A report is of a method for frequencies that is not known.")
    wide = method == PROJECTION
    index = reader.array("<u8" if wide else "<u4", head.people)
    return index.astype(np.uint64 if wide else np.uint32), reader.bits(head.people)


LAYOUTS: Final[
    dict[str, tuple[Callable[[Columns], bytes], Callable[[wire.Reader, wire.Header], Columns]]]
] = {
    "bit": (_write_bit, _read_bit),
    "mean": (_write_mean, _read_mean),
    "vector": (_write_vector, _read_vector),
    "frequencies": (_write_frequencies, _read_frequencies),
}
