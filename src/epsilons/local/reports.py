"""Reports: all that leaves people, in columns or as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import DataError
from epsilons.local import table, wire
from epsilons.local.layout import Answers
from epsilons.local.layouts import layout_of
from epsilons.local.sweep import extent_of
from epsilons.types import Column, Floats, freeze

if TYPE_CHECKING:
    from epsilons.local.randomizer import Randomizer


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
        head = wire.Header(self.kind, self.private, self.parameters, len(self))
        budgets = self.epsilon.astype("<f8", copy=False).tobytes()
        layout = layout_of(self.kind, self.parameters)
        return wire.pack(head) + budgets + layout.to_bytes(self.columns)

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
        head, source = wire.unpack(bytes(data))
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
        code = wire.fingerprint(self.kind, self.parameters)
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
        if not (code == wire.fingerprint(kind, parameters)).all():
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
