"""Many categories: looked up by the engine itself, in a small table that is sent to it.

A few categories are written into a query. Very many would make it too long, and without them every
value that occurs would come back, which may be as many as there are rows. So a table of them is
handed to the engine, and joined there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.tally.engines import Kind, engine_of
from epsilons.types import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

__all__ = ["BRANCHES", "added", "index_among", "sent_along", "with_places"]

Lookup: TypeAlias = dict[str, list[Any]]
"""A small table that is sent along: its columns by name."""

BRANCHES: Final = 64
"""Breaks between which a value is compared at a time: a tree of so many branches finds its place
in few steps."""


def added(terms: Sequence[nw.Expr]) -> nw.Expr:
    """Return the sum of expressions, in a shallow tree: engines limit how deep a query may be."""
    while len(terms) > 1:
        pairs = [terms[i] + terms[i + 1] for i in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[len(pairs) * 2 :]]
    return terms[0]


def with_places(
    rows: nw.LazyFrame[Any], column: str, labels: Sequence[str | bytes | int], place: str
) -> nw.LazyFrame[Any]:
    """Add the index of each row's value among `labels`, -1 if it is not among them.

    Args:
        rows: a frame of any engine.
        column: the column of values, of the type of the labels.
        labels: distinct.
        place: the name of the new column.
    """
    import narwhals as nw

    table = sent_along(rows, {column: list(labels), place: list(range(len(labels)))})
    joined = rows.join(table, on=column, how="left")
    # In pandas a column with gaps is one of floats.
    return joined.with_columns(nw.col(place).fill_null(-1).cast(nw.Int64))


def index_among(rows: nw.LazyFrame[Any], column: str, breaks: Floats) -> nw.LazyFrame[Any]:
    """Replace numbers by how many breaks, which ascend, they are at or above, in 64-bit integers.

    What is NaN or null gets any index: look for it before.

    Args:
        rows: a frame of any engine.
        column: the column of floats.
        breaks: any number of them. Each row is compared with `BRANCHES` at a time.
    """
    import narwhals as nw

    value, place = nw.col(column), "place of " + column
    block = BRANCHES
    while block < len(breaks):
        block *= BRANCHES
    first = np.arange(block // BRANCHES, len(breaks), block // BRANCHES)
    rows = rows.with_columns(_at_or_above(value, breaks[first].tolist()).alias(place))
    while block > BRANCHES:
        block //= BRANCHES
        step = block // BRANCHES
        # The first break of a block was compared with when the block was found.
        starts = np.arange(0, len(breaks), block)
        within = np.arange(step, block, step)
        columns: dict[str, list[Any]] = {place: list(range(len(starts)))}
        for branch, offset in enumerate(within.tolist()):
            at = starts + offset
            columns[f"break {branch}"] = [
                float(breaks[i]) if i < len(breaks) else None for i in at.tolist()
            ]
        rows = rows.join(sent_along(rows, columns), on=place, how="left")
        passed = [
            (value >= nw.col(f"break {branch}")).fill_null(False).cast(nw.Int64)
            for branch in range(len(within))
        ]
        rows = rows.with_columns((nw.col(place) * BRANCHES + added(passed)).alias(place))
        rows = rows.drop(*[f"break {branch}" for branch in range(len(within))])
    # So far the first break of all has been taken for passed.
    below = (value < float(breaks[0])).fill_null(False).cast(nw.Int64)
    return rows.with_columns((nw.col(place) + 1 - below).alias(column)).drop(place)


def _at_or_above(value: nw.Expr, breaks: list[float]) -> nw.Expr:
    """Return how many of some breaks a value is at or above."""
    import narwhals as nw

    if not breaks:
        return nw.lit(0, dtype=nw.Int64)
    return added([(value >= point).fill_null(False).cast(nw.Int64) for point in breaks])


def sent_along(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    """Return a small table on the engine of a frame.

    Raises:
        ArgumentError: the engine is not known to take one.
    """
    makers: dict[Kind, Callable[[nw.LazyFrame[Any], Lookup], nw.LazyFrame[Any]]] = {
        "polars": _in_memory,
        "pandas": _in_memory,
        "pyarrow": _on_pyarrow,
        "duckdb": _on_duckdb,
        "spark": _on_spark,
        "ibis": _on_ibis,
        "dask": _on_dask,
    }
    engine = engine_of(frame)
    if engine.kind not in makers:
        raise ArgumentError(
            f"categories: there are too many for a query on {engine.name}. "
            "Declare fewer of them, or give data on another engine."
        )
    return makers[engine.kind](frame, columns)


def _in_memory(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import narwhals as nw

    return nw.from_dict(columns, backend=frame.implementation).lazy()


def _on_pyarrow(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    """PyArrow joins nothing but equal types, and has two of text."""
    import pyarrow as pa

    native: Any = frame.to_native()
    types = {field.name: field.type for field in native.schema}
    made = {name: pa.array(items, types.get(name)) for name, items in columns.items()}
    return _lazy(pa.table(made))


def _on_duckdb(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    """A relation does not tell its connection, but a query on it is one on its connection."""
    native: Any = frame.to_native()
    lists = ", ".join(f'unnest({_sql(items)}) AS "{name}"' for name, items in columns.items())
    return _lazy(native.query("ours", f"SELECT {lists}"))


def _on_spark(frame: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import pyarrow as pa

    native: Any = frame.to_native()
    return _lazy(native.sparkSession.createDataFrame(pa.table(columns)))


def _on_ibis(_: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import ibis
    import pyarrow as pa

    return _lazy(ibis.memtable(pa.table(columns)))


def _on_dask(_: nw.LazyFrame[Any], columns: Lookup) -> nw.LazyFrame[Any]:
    import dask.dataframe as dd
    import pandas as pd

    return _lazy(dd.from_pandas(pd.DataFrame(columns), npartitions=1))


def _lazy(native: Any) -> nw.LazyFrame[Any]:
    import narwhals as nw

    frame: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    return frame


def _sql(items: list[Any]) -> str:
    """Return a list in DuckDB's SQL: floats to their last digit, as text that is read as such."""

    def literal(item: Any) -> str:
        if item is None:
            return "NULL"
        if isinstance(item, bytes):
            return f"from_hex('{item.hex()}')"
        return f"'{item!r}'::DOUBLE" if isinstance(item, float) else str(int(item))

    return "[" + ", ".join(map(literal, items)) + "]"
