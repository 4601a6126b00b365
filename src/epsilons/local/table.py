"""Reports as a table, one row for each person: docs/local-reports.md says what columns it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ColumnError, DataError
from epsilons.local.layout import Answers, Layout
from epsilons.tally.batches import Batch, Bytes, Content
from epsilons.types import Floats

COMMON: Final[dict[str, Content]] = {
    "mechanism": "integers",
    "private": "bits",
    "epsilon": "numbers",
}
"""The columns that reports of all mechanisms have."""


def columns_of(layout: Layout) -> dict[str, Content]:
    """The columns of a table, and what each holds."""
    return COMMON | layout.columns


def checked(layout: Layout, columns: Mapping[str, Any]) -> Batch:
    """Return the columns that count, as arrays of one length.

    Raises:
        ColumnError: one is not there, or is not of its type or length.
    """
    found: Batch = {}
    rows: int | None = None
    for name, content in columns_of(layout).items():
        if name not in columns:
            raise ColumnError(f"columns has no {name!r}: reports of this mechanism need it.")
        column, size = _column(name, content, columns[name])
        rows = size if rows is None else rows
        if size != rows:
            raise ColumnError(f"{name!r} has {size:,} rows, and another column {rows:,}.")
        found[name] = column
    return found


def _column(name: str, content: Content, given: Any) -> tuple[NDArray[Any] | Bytes, int]:
    """One column, and how many rows it has."""
    if isinstance(given, Bytes):
        return given, sum(len(rows) for rows, _ in given.groups)
    array = np.asarray(given, dtype=object if content == "bytes" else None)
    kinds = {"numbers": "fiu", "integers": "iu", "bits": "biu", "bytes": "O"}[content]
    if array.ndim != 1 or (array.dtype.kind not in kinds and len(array)):
        raise ColumnError(
            f"{name!r} must be one column of {content}, but is of type {array.dtype} and "
            f"shape {array.shape}."
        )
    if content != "bytes":
        return array, len(array)
    if not all(isinstance(entry, bytes) for entry in array.tolist()):
        raise ColumnError(f"{name!r} must be a column of bytes: an entry is not.")
    return Bytes.of(array.tolist()), len(array)


def read(layout: Layout, table: Batch) -> tuple[Floats, Answers]:
    """Budgets and answers, in the order that reports have.

    Raises:
        DataError: an answer cannot be.
    """
    given: Any = table["epsilon"]
    epsilon: Floats = np.ascontiguousarray(given, dtype=np.float64)
    order = layout.order(table)
    if order is not None:
        epsilon = epsilon[order]
    return epsilon, layout.from_table(table)


def bits(column: Any) -> NDArray[np.bool_]:
    """Booleans, or 0 and 1.

    Raises:
        DataError: there is something else.
    """
    given: NDArray[Any] = column
    if given.dtype == np.bool_:
        return given
    if not ((given == 0) | (given == 1)).all():
        raise DataError("A report is malformed: a bit is neither 0 nor 1.")
    return np.asarray(given == 1)


def whole(column: Any, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Integers of another type, if it has them all.

    Raises:
        DataError: it has not.
    """
    given: NDArray[Any] = column
    if len(given) and (given.min() < 0 or int(given.max()) > np.iinfo(dtype).max):
        raise DataError("A report is malformed: an integer of it is out of range.")
    return given.astype(dtype)


def word(column: Any) -> NDArray[np.uint64]:
    """The 64 bits of integers, whether or not they were taken for signed ones."""
    given: NDArray[Any] = column
    return given.astype(np.uint64)


def by_length(column: Any) -> tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]:
    """A column of bytes: for each length, the rows that have it, and their bytes."""
    found: Bytes = column
    return found.groups
