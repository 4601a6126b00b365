"""Reports as a table, one row for each person: docs/local-reports.md says what columns it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.budgets import Floats
from epsilons.errors import ColumnError, DataError
from epsilons.local.wire import PROJECTION, RAPPOR
from epsilons.tally.batches import Batch, Bytes, Need

Columns = tuple[NDArray[Any], ...]
Table = dict[str, NDArray[Any]]

COMMON: Final[dict[str, Need]] = {"mechanism": "integers", "private": "bits", "epsilon": "numbers"}
"""The columns that reports of all mechanisms have."""


def columns_of(kind: str, parameters: bytes) -> dict[str, Need]:
    """The columns of a table, and what each holds."""
    more: dict[str, Need]
    if kind == "bit":
        more = {"answer": "bits"}
    elif kind == "mean":
        more = {"number": "bits", "answer": "integers"}
    elif kind == "vector":
        more = dict.fromkeys(("signs", "distance", "seed", "answer"), "integers")
        more["vector"] = "bytes"
    elif parameters[4] == RAPPOR:
        more = {"answer": "bytes"}
    else:
        more = {"row": "integers", "answer": "bits"}
    return COMMON | more


def checked(kind: str, parameters: bytes, columns: Mapping[str, Any]) -> Batch:
    """Return the columns that count, as arrays of one length.

    Raises:
        ColumnError: one is not there, or is not of its type or length.
    """
    found: Batch = {}
    rows: int | None = None
    for name, need in columns_of(kind, parameters).items():
        if name not in columns:
            raise ColumnError(f"columns has no {name!r}: reports of this mechanism need it.")
        given = columns[name]
        if isinstance(given, Bytes):
            size = sum(len(rows) for rows, _ in given.groups)
        else:
            given = np.asarray(given, dtype=object if need == "bytes" else None)
            kinds = {"numbers": "fiu", "integers": "iu", "bits": "biu", "bytes": "O"}[need]
            if given.ndim != 1 or (given.dtype.kind not in kinds and len(given)):
                raise ColumnError(
                    f"{name!r} must be one column of {need}, but is of type {given.dtype} and "
                    f"shape {given.shape}."
                )
            size = len(given)
            if need == "bytes":
                if not all(isinstance(entry, bytes) for entry in given.tolist()):
                    raise ColumnError(f"{name!r} must be a column of bytes: an entry is not.")
                given = Bytes.of(given.tolist())
        rows = size if rows is None else rows
        if size != rows:
            raise ColumnError(f"{name!r} has {size:,} rows, and another column {rows:,}.")
        found[name] = given
    return found


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


def _whole(column: Any, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Integers of another type, if it has them all."""
    given: NDArray[Any] = column
    if len(given) and (given.min() < 0 or int(given.max()) > np.iinfo(dtype).max):
        raise DataError("A report is malformed: an integer of it is out of range.")
    return given.astype(dtype)


def _word(column: Any) -> NDArray[np.uint64]:
    """The 64 bits of integers, whether or not they were taken for signed ones."""
    given: NDArray[Any] = column
    return given.astype(np.uint64)


def write(kind: str, columns: Columns, people: int) -> Table:
    """The answers as columns of a table."""
    return LAYOUTS[kind][0](columns, people)


def read(kind: str, parameters: bytes, table: Batch) -> tuple[Floats, Columns]:
    """Budgets and answers, in the order that reports have.

    Raises:
        DataError: an answer cannot be.
    """
    given: Any = table["epsilon"]
    epsilon: Floats = np.ascontiguousarray(given, dtype=np.float64)
    if kind == "mean":  # those who send one bit come first in reports, wherever they are in a table
        number = bits(table["number"])
        if number.any():
            epsilon = np.concatenate([epsilon[~number], epsilon[number]])
    return epsilon, LAYOUTS[kind][1](parameters, table)


def _write_bit(columns: Columns, _: int) -> Table:
    return {"answer": columns[0]}


def _read_bit(_: bytes, table: Batch) -> Columns:
    return (bits(table["answer"]),)


def _write_mean(columns: Columns, people: int) -> Table:
    answers, numbers = columns
    return {
        "number": np.arange(people) >= len(answers),
        "answer": np.concatenate([answers.astype(np.int64), numbers]),
    }


def _read_mean(_: bytes, table: Batch) -> Columns:
    answer: Any = table["answer"]
    number = bits(table["number"])
    if not number.any():
        return bits(answer), np.empty(0, dtype=np.int64)
    numbers = answer[number]
    if numbers.dtype == np.uint64 and int(numbers.max()) >= 2**63:
        raise DataError("A report is malformed: an integer of it is out of range.")
    return bits(answer[~number]), numbers.astype(np.int64)


def _write_vector(columns: Columns, people: int) -> Table:
    signs, distance, seeds, answers, given = columns
    vector = np.full(people, b"", dtype=object)
    vector[signs == 0] = [row.tobytes() for row in given.astype("<f8", copy=False)]
    return {
        "signs": signs.astype(np.int64),
        "distance": distance.astype(np.int64),
        "seed": seeds.astype(np.int64),
        "answer": answers.astype(np.int64),
        "vector": vector,
    }


def _read_vector(parameters: bytes, table: Batch) -> Columns:
    dimension = int.from_bytes(parameters[:4], "little")
    signs = _whole(table["signs"], np.uint8)
    given = np.empty((0, dimension))
    public: NDArray[Any] = np.empty(0, dtype=np.int64)
    for rows, matrix in _groups(table["vector"]):
        if matrix.shape[1] == 8 * dimension:
            public, given = rows, np.ascontiguousarray(matrix).view("<f8").astype(np.float64)
        elif matrix.shape[1]:
            raise DataError("A report is malformed: a vector is not of its dimension.")
    if not np.array_equal(public, np.flatnonzero(signs == 0)):
        raise DataError("A report is malformed: a vector is there with signs, or without.")
    return (
        signs,
        _whole(table["distance"], np.uint8),
        _word(table["seed"]),
        _whole(table["answer"], np.uint32),
        given,
    )


def _write_frequencies(columns: Columns, people: int) -> Table:
    if len(columns) == 1:
        packed = np.packbits(columns[0], axis=1, bitorder="little")
        answers = np.full(people, b"", dtype=object)
        answers[:] = [row.tobytes() for row in packed]
        return {"answer": answers}
    return {"row": columns[0].astype(np.int64), "answer": columns[1]}


def _read_frequencies(parameters: bytes, table: Batch) -> Columns:
    cells, method = int.from_bytes(parameters[:4], "little"), parameters[4]
    if method != RAPPOR:
        row: NDArray[Any] = (
            _word(table["row"]) if method == PROJECTION else _whole(table["row"], np.uint32)
        )
        return row, bits(table["answer"])
    groups = _groups(table["answer"])
    if not groups:
        return (np.empty((0, cells), dtype=np.bool_),)
    (_, packed), width = groups[0], (cells + 7) // 8
    if len(groups) > 1 or packed.shape[1] != width:
        raise DataError("A report is malformed: it has not a bit for each category.")
    return (unpacked(packed, cells),)


def unpacked(packed: NDArray[np.uint8], count: int) -> NDArray[np.bool_]:
    """Rows of bits; what fills the last byte must be zero.

    Raises:
        DataError: it is not.
    """
    if count % 8 and (packed[:, -1] >> (count % 8)).any():
        raise DataError("A report is malformed: bits that must be zero are not.")
    return np.unpackbits(packed, axis=1, count=count, bitorder="little").view(np.bool_)


def _groups(column: Any) -> tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]:
    found: Bytes = column
    return found.groups


LAYOUTS: Final[
    dict[str, tuple[Callable[[Columns, int], Table], Callable[[bytes, Batch], Columns]]]
] = {
    "bit": (_write_bit, _read_bit),
    "mean": (_write_mean, _read_mean),
    "vector": (_write_vector, _read_vector),
    "frequencies": (_write_frequencies, _read_frequencies),
}
