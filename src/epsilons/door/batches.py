"""Process rows in batches where they are stored, and return only the results.

Other modules ask an engine for sums. This module is for arithmetic that no engine supports. Rows
are passed as arrays, batch by batch: each row is read once, and memory never holds all rows.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from epsilons import parameters
from epsilons.door.engines.running import guarded
from epsilons.door.engines.table import EngineKind, engine_of, kind_of_data
from epsilons.door.given.files import ParquetFile, open_file
from epsilons.door.given.frames import columns_of, picked, refuse_doubles
from epsilons.errors import ArgumentError, ColumnError, DataError, EpsilonsError, FileError

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = [
    "Batch",
    "Bytes",
    "Content",
    "Failure",
    "arrays",
    "fold",
    "from_arrow",
    "gathered",
    "into_polars",
    "wrong",
]


# Frames as arrays, in batches of about a million rows.

ROWS: Final = 1 << 20
"""The number of rows in a batch."""

SIZE: Final = 1 << 24
"""The largest number of bytes in the byte columns of a batch. A batch ends at this size or at
`ROWS` rows, whichever comes first."""

SMALL: Final = 1 << 12
"""The number of rows to request from an engine at a time if there are columns of bytes, because
their entries can have any length."""

FEW: Final = 16
"""The largest number of distinct byte lengths for which Polars separates a column by length."""

Content = Literal["numbers", "integers", "bits", "bytes"]
"""The required content of a column. "integers" have up to 64 bits; "bits" are booleans or
integers."""

CONTENTS: Final[dict[Content, str]] = {
    "numbers": "numbers",
    "integers": "integers",
    "bits": "booleans, or of the integers 0 and 1",
    "bytes": "bytes",
}


class Bytes(NamedTuple):
    """A column of bytes, separated by length.

    Attributes:
        groups: for each length, the ascending indices of the rows of that length, and their bytes
            as a matrix.
    """

    groups: tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]

    @classmethod
    def of(cls, entries: Sequence[bytes]) -> Bytes:
        """Separate a sequence of bytes by length.

        Raises:
            TypeError: an entry is not bytes.
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
"""Columns by name. Numbers are float64. No entry is missing."""

Failure = tuple[type[EpsilonsError], str]


def from_arrow(batches: Iterable[Any], names: list[str]) -> Iterator[pl.DataFrame]:
    """Yield the named columns of record batches as Polars frames."""
    for batch in batches:
        yield into_polars(batch.select(names))


def into_polars(table: Any) -> pl.DataFrame:
    """Return an Arrow table or record batch as a Polars frame, without a copy where possible."""
    import polars as pl

    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found


def gathered(
    frames: Iterable[pl.DataFrame], columns: Mapping[str, Content]
) -> Iterator[pl.DataFrame]:
    """Concatenate small frames, up to the size of a batch."""
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
    """Yield the columns of frames as arrays. Exceptions of the engine are hidden: see `guarded`."""
    import narwhals as nw

    def all_of_them() -> Iterator[Batch]:
        for frame in frames:
            here = nw.from_native(frame, eager_only=True, pass_through=False)
            if len(here):
                yield {name: _array(here[name], content) for name, content in columns.items()}

    ahead = all_of_them()
    while (batch := guarded(failure, next, ahead, None)) is not None:
        yield batch


def _array(series: nw.Series[Any], content: Content) -> NDArray[Any] | Bytes:
    import narwhals as nw

    if series.null_count():
        raise DataError(
            f"An entry of {series.name!r} is missing. A report must have an entry in each of its "
            "columns: no entry is filled in, and no report is ignored."
        )
    if content == "bytes":
        if engine_of(series).kind == "polars":
            return _lengths_apart(series.to_native())
        entries = series.to_list()
        if not all(isinstance(entry, bytes) for entry in entries):
            raise ColumnError(wrong(series.name, content, "a column that also holds other things"))
        return Bytes.of(entries)
    if series.dtype == nw.Boolean:  # if all entries are equal, bits need not be unpacked
        same = series.all()
        if same or not series.any():
            return np.full(len(series), same)
    if series.dtype.is_decimal():
        series = series.cast(nw.Float64)
    found: NDArray[Any] = np.asarray(series.to_numpy())
    return found.astype(np.float64, copy=False) if content == "numbers" else found


def _lengths_apart(series: pl.Series) -> Bytes:
    """Separate a column of bytes by length, without a Python object for each row."""
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
    """The message for a column of the wrong type."""
    return f"{name!r} must be a column of {CONTENTS[content]}, but is {dtype}."


MERGERS: Final = 4
"""The number of Spark tasks that merge the results of all partitions."""

T = TypeVar("T")

WITHHELD = "The engine's own message is withheld, because it may show a report."
UNUSABLE = "data could not be read by its engine ({kind}). " + WITHHELD
ON_SPARK = (
    "data could not be read by Spark ({kind}). Is epsilons installed, with pyarrow, where its "
    "executors run? PYSPARK_PYTHON names the Python that they take. " + WITHHELD
)


def fold(
    data: object,
    columns: Mapping[str, Content],
    work: Callable[[Iterator[Batch]], T | None],
    merge: Callable[[T, T], T],
) -> T | None:
    """Apply `work` to batches of columns, and merge its results.

    Polars streams; Arrow, DuckDB and Ibis supply record batches. Memory holds a few batches of
    about a million rows. On Spark and Dask, `work` runs where the partitions are stored, and only
    its results are sent back. Spark also merges results there, and pickles `work` and `merge`.

    Args:
        data: a frame of any engine, a `RecordBatchReader`, or the path of a Parquet file.
        columns: the columns to read, each with its required content.
        work: a function of the batches of one part of the rows. It returns a result, or None if
            there are no rows. If it raises, processing stops.
        merge: a function that merges two results into one. The order of results is arbitrary.

    Returns:
        The result for all rows, or None if there are no rows.

    Raises:
        ArgumentError: `data` is not a table, or its engine cannot supply batches.
        ColumnError: a column does not exist, or has the wrong type.
        DataError: an entry is missing, or the engine fails.
        FileError: `data` is a path, and the file cannot be read.
    """
    frame, failure = _open(data, columns)
    _check(frame, columns, failure)
    results = guarded(failure, _results, frame, columns, work, merge, failure)
    found = [result for result in results if result is not None]
    return reduce(merge, found) if found else None


def _open(data: object, columns: Iterable[str]) -> tuple[Any, Failure]:
    """Return the columns of `data` as a Narwhals frame, or a record batch reader unchanged."""
    import narwhals as nw

    if isinstance(data, (str, os.PathLike)):
        if os.fspath(data).lower().endswith(".parquet"):
            file = open_file(data)
            if isinstance(file, ParquetFile):
                return nw.from_native(file.scan()), file.failure
        raise FileError(
            f"data={os.fspath(data)!r} must be a Parquet file, with a name that ends in .parquet. "
            "Read any other file yourself, and give the frame."
        )
    if hasattr(data, "read_next_batch"):
        return data, (DataError, UNUSABLE)

    data = nw.to_native(data, pass_through=True)
    wrapped = guarded((DataError, UNUSABLE), _picked, data, columns)
    if not isinstance(wrapped, (nw.DataFrame, nw.LazyFrame)):
        raise ArgumentError(
            f"data is of type {type(data).__name__}, which is not a table: give a frame of pandas, "
            "Polars, PyArrow, DuckDB or PySpark, or the path of a .parquet file."
        )
    return wrapped, (DataError, ON_SPARK if _kind(wrapped) == "spark" else UNUSABLE)


def _picked(data: Any, columns: Iterable[str]) -> Any:
    """Return the requested columns, selected by position, or all columns if some do not exist.

    Raises:
        ColumnError: several columns have the same requested name.
    """
    import narwhals as nw

    kind = kind_of_data(data)
    names = columns_of(data, kind)
    if names is None or not set(columns) <= set(names):
        return nw.from_native(data, pass_through=True)
    for name in columns:
        refuse_doubles("data", name, names)
    return picked(data, kind, names, {name: name for name in columns}, new=str)


def _check(frame: Any, columns: Mapping[str, Content], failure: Failure) -> None:
    """Refuse columns that do not exist or have the wrong type. No row is read."""
    import narwhals as nw

    def types() -> Mapping[str, Any]:
        kind = _kind(frame)
        if kind not in (None, "pyarrow"):
            found: Mapping[str, Any] = frame.collect_schema()
            return found
        # Polars supports all of Arrow's types of bytes; Narwhals does not.
        schema = (frame if kind is None else frame.to_native()).schema
        wanted = [name for name in schema.names if name in columns]
        known = nw.from_native(into_polars(schema.empty_table().select(wanted))).schema
        return {**dict.fromkeys(schema.names), **known}

    schema = guarded(failure, types)
    for name, content in columns.items():
        if name not in schema:
            raise ColumnError(_unknown(name, list(schema)))
        dtype = schema[name]
        whole = dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)
        fits = {
            "numbers": dtype.is_numeric(),
            "integers": whole,
            "bits": whole or dtype == nw.Boolean,
            "bytes": dtype == nw.Binary or _may_be_bytes(frame, name, dtype),
        }
        if not fits[content]:
            raise ColumnError(wrong(name, content, dtype))


def _unknown(name: str, columns: list[str]) -> str:
    """The message for a column that does not exist. It lists the columns that do."""
    more = ", …" if len(columns) > 20 else ""
    return (
        f"{name!r} is not a column of data.{parameters.did_you_mean(name, columns)} "
        f"The columns are {', '.join(map(repr, columns[:20])) or 'none'}{more}."
    )


def _may_be_bytes(frame: Any, name: str, dtype: object) -> bool:
    """Whether a pandas column can hold bytes. pandas has no such type, so rows are checked."""
    import narwhals as nw

    if not isinstance(frame, nw.DataFrame) or _kind(frame) != "pandas":
        return False
    return dtype == nw.Object or "binary" in str(frame.to_native()[name].dtype)


def _results(
    frame: Any,
    columns: Mapping[str, Content],
    work: Callable[[Iterator[Batch]], T | None],
    merge: Callable[[T, T], T],
    failure: Failure,
) -> Iterable[T | None]:
    """Apply `work` on the engine's own machines if it has any, otherwise in this process."""
    import narwhals as nw

    if isinstance(frame, nw.LazyFrame):
        native: Any = frame.select(*columns).to_native()
        if _kind(frame) == "spark":
            return _on_spark(native, columns, work, merge)
        if _kind(frame) == "dask":
            return _on_dask(native, columns, work)
    elif _kind(frame) == "pandas":
        return [_in_memory(frame, columns, work)]
    rows = SMALL if "bytes" in columns.values() else ROWS
    frames = gathered(_stream(frame, list(columns), rows), columns)
    return [work(arrays(frames, columns, failure))]


def _kind(frame: Any) -> EngineKind | None:
    """Return the kind of a frame's engine, or None for a reader of record batches."""
    return engine_of(frame).kind if hasattr(frame, "implementation") else None


def _stream(frame: Any, names: list[str], rows: int) -> Iterable[pl.DataFrame]:
    """Return the rows of an engine on this machine, in order and a few at a time."""
    import narwhals as nw

    kind = _kind(frame)
    if kind is None:
        return from_arrow(frame, names)
    native = frame.select(*names).to_native()
    if kind == "pyarrow":
        return from_arrow(native.to_batches(max_chunksize=rows), names)
    if kind == "polars" and isinstance(frame, nw.DataFrame):
        slices: Iterable[pl.DataFrame] = native.iter_slices(rows)
        return slices
    if kind == "polars":
        batches: Iterable[pl.DataFrame] = native.collect_batches(
            chunk_size=rows, maintain_order=True, engine="streaming"
        )
        return batches
    if kind == "duckdb":
        return from_arrow(_reader(native, rows), names)
    if kind == "ibis":
        return from_arrow(native.to_pyarrow_batches(chunk_size=rows), names)
    raise ArgumentError(
        f"data is a frame of {engine_of(frame).name.lower()}, which cannot be read in batches: "
        "write it to a Parquet file, and give its path."
    )


def _reader(relation: Any, rows: int) -> Any:
    """Stream a DuckDB relation. Older versions name the method differently."""
    import pyarrow  # noqa: F401  (named in the error if it is not there)

    modern = getattr(relation, "to_arrow_reader", None)
    return modern(rows) if modern else relation.fetch_record_batch(rows)


def _in_memory(
    frame: nw.DataFrame[Any],
    columns: Mapping[str, Content],
    work: Callable[[Iterator[Batch]], T | None],
) -> T | None:
    """Apply `work` to a frame in this process's memory."""
    frame = frame.select(*columns)
    rows = SMALL * FEW if "bytes" in columns.values() else ROWS
    slices = (frame[start : start + rows] for start in range(0, len(frame), rows))
    return work(arrays(slices, columns, (DataError, UNUSABLE)))


def _on_dask(
    native: Any, columns: Mapping[str, Content], work: Callable[[Iterator[Batch]], T | None]
) -> Iterable[T | None]:
    """Apply `work` to each partition, on the Dask worker that holds it."""
    import dask  # type: ignore[import-untyped,unused-ignore]

    def run(part: Any) -> T | None:
        import narwhals as nw

        return _in_memory(nw.from_native(part, eager_only=True), columns, work)

    found: Iterable[T | None] = dask.compute(*map(dask.delayed(run), native.to_delayed()))
    return found


def _on_spark(
    native: Any,
    columns: Mapping[str, Content],
    work: Callable[[Iterator[Batch]], T | None],
    merge: Callable[[T, T], T],
) -> Iterable[T | None]:
    """Apply `work` and merge its results on Spark's executors, then collect the merged results."""
    import pyarrow  # noqa: F401  (named in the error if it is not there)

    schema = "result binary"
    results = (
        native.mapInArrow(partial(_worked, columns=dict(columns), work=work), schema)
        .repartition(MERGERS)
        .mapInArrow(partial(_merged, merge=merge), schema)
        .collect()
    )
    return [_opened(row.result) for row in results]


def _worked(
    batches: Iterable[Any],
    *,
    columns: Mapping[str, Content],
    work: Callable[[Iterator[Batch]], T | None],
) -> Iterator[Any]:
    """Yield the pickled result or exception of `work`, on an executor.

    Exceptions are not raised, because Spark would log them.
    """
    frames = gathered(from_arrow(batches, list(columns)), columns)
    yield from _sealed(lambda: work(arrays(frames, columns, (DataError, ON_SPARK))))


def _merged(batches: Iterable[Any], *, merge: Callable[[T, T], T]) -> Iterator[Any]:
    """Merge pickled results into one, on an executor."""

    def run() -> T | None:
        entries = chain.from_iterable(batch.column("result") for batch in batches)
        found: list[T] = []
        for entry in entries:
            mine: T = _opened(entry.as_py())
            found = [merge(found[0], mine)] if found else [mine]
        return found[0] if found else None

    yield from _sealed(run)


def _sealed(run: Callable[[], object]) -> Iterator[Any]:
    """Yield a pickled result or exception as a record batch, or nothing if the result is None."""
    import pyarrow as pa

    try:
        found = guarded((DataError, ON_SPARK), run)
    except EpsilonsError as refusal:
        found = refusal
    if found is not None:
        yield pa.RecordBatch.from_pydict({"result": [pickle.dumps(found)]})


def _opened(sealed: bytes) -> Any:
    """Unpickle a result of the user's own executor: return it, or raise it if it is an error."""
    found = pickle.loads(sealed)  # noqa: S301
    if isinstance(found, EpsilonsError):
        raise found
    return found
