"""Aggregate the reports in a table of any engine, batch by batch."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epsilons.door.batches import Batch, Bytes, Content, fold
from epsilons.errors import DataError
from epsilons.local import layout as table, reports
from epsilons.local.layouts import layout_of
from epsilons.local.reports import Reports, foreign
from epsilons.local.state import State
from epsilons.types import Weights

if TYPE_CHECKING:
    from epsilons.local.randomizer import Randomizer


# A column of bytes: each entry is a batch of reports. Batches of one person are read vectorized.

_FLAGS = 6
"""The offset of the flags in a header. In the headers of single reports of a mechanism, only this
byte can differ."""


def reports_in(column: Bytes, mechanism: Randomizer) -> Iterator[Reports]:
    """Read all reports of a column.

    Args:
        column: entries, each a batch of reports.
        mechanism: the mechanism that must have made the reports.

    Yields:
        Reports of many people at a time, in no particular order.

    Raises:
        DataError: an entry is malformed, from another mechanism, or empty.
    """
    many: list[Reports] = []
    for _, matrix in column.groups:
        alone, read = _alone(matrix, mechanism)
        if read is not None:
            yield read
        for entry in matrix[~alone]:
            batch = Reports.from_bytes(entry.tobytes())
            if batch.kind != mechanism.kind or batch.parameters != mechanism.parameters:
                raise foreign(mechanism)
            if len(batch) == 0:
                raise DataError("An entry is a batch that holds no report.")
            many.append(batch)
    if many:
        yield _joined(many)


def _alone(
    matrix: NDArray[np.uint8], mechanism: Randomizer
) -> tuple[NDArray[np.bool_], Reports | None]:
    """Return which entries are well-formed reports of one person, and these reports.

    Other entries can be batches of several people; the caller parses these.
    """
    kind, parameters = mechanism.kind, mechanism.parameters
    head = reports.pack(reports.Header(kind, True, parameters, 1))
    layout = layout_of(kind, parameters)
    fields = layout.fields(matrix.shape[1] - len(head) - 8)
    alone = np.zeros(len(matrix), dtype=np.bool_)
    if fields is None:
        return alone, None
    alone = _begin_with(head, matrix)
    report = np.dtype([("head", "V", len(head)), ("epsilon", "<f8"), *fields])
    some = matrix if alone.all() else matrix[alone]
    rows = np.ascontiguousarray(some).view(report).reshape(len(some))
    found: Batch = {}
    for name in report.names or ():
        column = rows[name]
        whole = column.ndim > 1
        found[name] = Bytes(((np.arange(len(rows)), column),)) if whole else column
    answers = layout.alone(found)
    if answers is None:
        return np.zeros(len(matrix), dtype=np.bool_), None
    if len(rows) == 0:
        return alone, None
    private = not some[:, _FLAGS].any()
    epsilon, columns = table.read(layout, answers)
    return alone, Reports(kind, parameters, private, epsilon, columns)


def _begin_with(head: bytes, matrix: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which entries begin with this header, ignoring the flags, eight bytes at a time."""
    found = matrix[:, _FLAGS] <= reports.SIMULATED
    for start in [*range(0, len(head) - 7, 8), len(head) - 8]:
        word = matrix[:, start : start + 8].view("<u8")[:, 0]
        wanted = int.from_bytes(head[start : start + 8], "little")
        if start <= _FLAGS:
            wanted &= ~(0xFF << 8 * (_FLAGS - start))
            word = word & np.uint64(2**64 - 1 - (0xFF << 8 * (_FLAGS - start)))
        found &= word == np.uint64(wanted)
    return found


def _joined(batches: list[Reports]) -> Reports:
    """Concatenate batches of the same mechanism."""
    first = batches[0]
    layout = layout_of(first.kind, first.parameters)
    cuts = [layout.front(b.columns, len(b)) for b in batches]
    ends = list(zip(batches, cuts, strict=True))
    epsilon = [b.epsilon[:cut] for b, cut in ends] + [b.epsilon[cut:] for b, cut in ends]
    columns = zip(*(b.columns for b in batches), strict=True)
    return Reports(
        first.kind,
        first.parameters,
        all(b.private for b in batches),
        np.concatenate(epsilon),
        tuple(np.concatenate(column) for column in columns),
    )


def _state_of_batches(
    mechanism: Randomizer, column: str | None, weights: Weights, batches: Iterator[Batch]
) -> State | None:
    """Return the state of all rows of some batches; None if there are no rows."""
    found: State | None = None
    for batch in batches:
        if column is None:
            parts = iter([Reports.from_columns(batch, mechanism=mechanism)])
        else:
            entries: Any = batch[column]
            parts = reports_in(entries, mechanism)
        for part in parts:
            state = mechanism.state(part, weights=weights)
            found = state if found is None else found + state
    return found


def state_of(
    mechanism: Randomizer, column: str | None, data: object, weights: Weights
) -> State | None:
    """Return the state of all reports in a table; None if it has no rows.

    Args:
        mechanism: the mechanism that made the reports.
        column: the column of bytes, or None for the columns of a table of reports.
        data: a frame, an Arrow reader of record batches, or the path of a Parquet file.
        weights: as in `Randomizer.state`.

    Raises:
        EpsilonsError: as in `Randomizer.state`.
    """
    columns: dict[str, Content] = (
        table.columns_of(layout_of(mechanism.kind, mechanism.parameters))
        if column is None
        else {column: "bytes"}
    )
    work = partial(_state_of_batches, mechanism, column, weights)  # engines may pickle it
    return fold(data, columns, work, operator.add)
