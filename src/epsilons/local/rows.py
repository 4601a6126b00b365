"""A column of bytes, each entry a batch of one or more people: reports of one are read together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import DataError
from epsilons.local import table, wire
from epsilons.local.layouts import layout_of
from epsilons.local.reports import Reports, foreign
from epsilons.tally.batches import Batch, Bytes

if TYPE_CHECKING:
    from epsilons.local.randomizer import Randomizer

_FLAGS = 6
"""Where in a header the flags are: the one byte that may differ between reports of a mechanism."""


def reports_in(column: Bytes, mechanism: Randomizer) -> Iterator[Reports]:
    """Read all reports of a column.

    Args:
        column: the entries.
        mechanism: that which they must be of.

    Yields:
        Reports, of many people at a time, in no particular order.

    Raises:
        DataError: an entry is malformed, of another mechanism, or holds no report.
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
    """Which entries are well-formed reports of one person, and these. The others are not judged."""
    kind, parameters = mechanism.kind, mechanism.parameters
    head = wire.pack(wire.Header(kind, True, parameters, 1))
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
        whole = column.ndim > 1  # a matrix of bytes
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
    """Which entries begin with a header, whatever their flag: compared by eight bytes at a time."""
    found = matrix[:, _FLAGS] <= wire.SIMULATED
    for start in [*range(0, len(head) - 7, 8), len(head) - 8]:
        word = matrix[:, start : start + 8].view("<u8")[:, 0]
        wanted = int.from_bytes(head[start : start + 8], "little")
        if start <= _FLAGS:
            wanted &= ~(0xFF << 8 * (_FLAGS - start))
            word = word & np.uint64(2**64 - 1 - (0xFF << 8 * (_FLAGS - start)))
        found &= word == np.uint64(wanted)
    return found


def _joined(batches: list[Reports]) -> Reports:
    """One batch of several of the same mechanism."""
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
