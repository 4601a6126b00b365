"""Frames as arrays, about a million rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ColumnError, DataError, EpsilonsError
from epsilons.tally.engines import engine_of
from epsilons.tally.failures import guarded

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = [
    "Batch",
    "Bytes",
    "Content",
    "Failure",
    "arrays",
    "from_arrow",
    "gathered",
    "into_polars",
    "wrong",
]

ROWS: Final = 1 << 20
"""Rows of a batch."""

SIZE: Final = 1 << 24
"""Bytes of a batch in columns of bytes; it ends when it has so many, or so many rows."""

SMALL: Final = 1 << 12
"""Rows that an engine is asked for at a time where there are columns of bytes, however long."""

FEW: Final = 16
"""Up to so many different lengths of bytes are taken apart by Polars."""

Content = Literal["numbers", "integers", "bits", "bytes"]
"""What a column must be: numbers; integers of up to 64 bits; booleans or integers; bytes."""

CONTENTS: Final[dict[Content, str]] = {
    "numbers": "numbers",
    "integers": "integers",
    "bits": "booleans, or of the integers 0 and 1",
    "bytes": "bytes",
}


class Bytes(NamedTuple):
    """A column of bytes, taken apart by length.

    Attributes:
        groups: for each length, the rows that have it, ascending, and their bytes as a matrix.
    """

    groups: tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]

    @classmethod
    def of(cls, entries: Sequence[bytes]) -> Bytes:
        """Take a sequence of bytes apart.

        Raises:
            TypeError: one is not bytes.
        """
        lengths = np.fromiter(map(len, entries), dtype=np.int64, count=len(entries))
        order = np.argsort(lengths, kind="stable")
        cuts = np.flatnonzero(np.diff(lengths[order])) + 1
        groups = []
        for rows in np.split(order, cuts) if len(order) else []:
            width = int(lengths[rows[0]])
            joined = b"".join([entries[row] for row in rows.tolist()])
            groups.append((rows, np.frombuffer(joined, np.uint8).reshape(len(rows), width)))
        return cls(tuple(groups))


Batch = dict[str, NDArray[Any] | Bytes]
"""Columns by name. Numbers are float64; none has a missing entry."""

Failure = tuple[type[EpsilonsError], str]


def from_arrow(batches: Iterable[Any], names: list[str]) -> Iterator[pl.DataFrame]:
    """Columns of record batches, as frames of Polars."""
    for batch in batches:
        yield into_polars(batch.select(names))


def into_polars(table: Any) -> pl.DataFrame:
    """A table or record batch of Arrow, without a copy where that can be."""
    import polars as pl

    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found


def gathered(
    frames: Iterable[pl.DataFrame], columns: Mapping[str, Content]
) -> Iterator[pl.DataFrame]:
    """Put small frames together, up to the size of a batch."""
    import polars as pl

    long = [name for name, content in columns.items() if content == "bytes"]
    held: list[pl.DataFrame] = []
    rows = size = 0
    for frame in frames:
        held.append(frame)
        rows += frame.height
        size += sum(int(frame[name].bin.size().sum()) for name in long)
        if rows >= ROWS or size >= SIZE:
            yield pl.concat(held) if len(held) > 1 else held[0]
            held, rows, size = [], 0, 0
    if rows:
        yield pl.concat(held)


def arrays(
    frames: Iterable[Any], columns: Mapping[str, Content], failure: Failure
) -> Iterator[Batch]:
    """Columns of frames as arrays. What the engine raises on the way is not passed on."""
    import narwhals as nw

    def all_of_them() -> Iterator[Batch]:
        for frame in frames:
            here = nw.from_native(frame, eager_only=True, pass_through=False)
            if len(here):
                yield {name: _array(here[name], content) for name, content in columns.items()}

    ahead = all_of_them()
    while (batch := guarded(lambda: next(ahead, None), *failure)) is not None:
        yield batch


def _array(series: nw.Series[Any], content: Content) -> NDArray[Any] | Bytes:
    import narwhals as nw

    if series.null_count():
        raise DataError(
            f"An entry of {series.name!r} is missing. A report has all its columns: nobody's is "
            "filled in or ignored."
        )
    if content == "bytes":
        if engine_of(series).kind == "polars":
            return _lengths_apart(series.to_native())
        entries = series.to_list()
        if not all(isinstance(entry, bytes) for entry in entries):
            raise ColumnError(wrong(series.name, content, "a column of other things, too"))
        return Bytes.of(entries)
    if series.dtype == nw.Boolean:  # whether all are alike is seen without unpacking the bits
        same = series.all()
        if same or not series.any():
            return np.full(len(series), same)
    if series.dtype.is_decimal():
        series = series.cast(nw.Float64)
    found: NDArray[Any] = np.asarray(series.to_numpy())
    return found.astype(np.float64, copy=False) if content == "numbers" else found


def _lengths_apart(series: pl.Series) -> Bytes:
    """Take a column of bytes apart, without an object for each row."""
    import polars as pl

    sizes = series.bin.size()
    widths = sizes.unique().sort().to_list()
    if len(widths) > FEW:
        return Bytes.of(series.to_list())
    lengths = sizes.to_numpy()
    groups = []
    for width in widths:
        rows = np.flatnonzero(lengths == width)
        some = series if len(rows) == len(series) else series.gather(rows)
        matrix = np.empty((len(rows), 0), dtype=np.uint8)
        if width:
            matrix = some.bin.reinterpret(dtype=pl.Array(pl.UInt8, width)).to_numpy()
        groups.append((rows, matrix))
    return Bytes(tuple(groups))


def wrong(name: str, content: Content, dtype: object) -> str:
    """Say that a column is not of its type."""
    return f"{name!r} must be a column of {CONTENTS[content]}, but is {dtype}."
