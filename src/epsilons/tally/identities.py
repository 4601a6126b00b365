"""People of a frame in memory as numbers: equal where ids are the same, and nowhere else.

An id never passes through a float, a NumPy text (which drops a NUL at its end) or a Python time
(which has no nanoseconds): each of these makes one person of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.tally.arrays import is_null
from epsilons.tally.grid import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["numbers_of_objects", "people"]

NOBODY = -1

OF_ONE_KIND = ("string", "integer", "bytes")
"""What pandas calls columns of objects that Arrow takes over as they are, or not at all."""


def people(series: nw.Series[Any]) -> Integers | Floats | np.ma.MaskedArray[Any, Any]:
    """Return a number for each entry: equal numbers for equal ids, and a mask where there is none.

    What are floats already stay floats, and are NaN where there is none.

    Args:
        series: ids of any type, of an engine that holds them in memory.
    """
    import narwhals as nw

    native: Any = series.to_native()
    if series.dtype.is_float():
        return series.fill_null(float("nan")).to_numpy()
    if series.dtype == nw.Object:
        found = _numbers(native.to_list())
    elif series.implementation is nw.Implementation.POLARS:
        found = _in_polars(native)
    elif series.implementation is nw.Implementation.PYARROW:
        import pyarrow as pa

        plain = (
            native.cast(native.type.value_type) if pa.types.is_dictionary(native.type) else native
        )
        codes = plain.combine_chunks().dictionary_encode().indices
        found = np.asarray(codes.fill_null(NOBODY).to_numpy(zero_copy_only=False), dtype=np.int64)
    else:
        found = np.asarray(native.factorize()[0], dtype=np.int64)
    gone = found == NOBODY
    return np.ma.MaskedArray(found, mask=gone) if gone.any() else found


def _in_polars(series: pl.Series) -> Integers:
    """Number the groups that Polars makes of equal entries."""
    import polars as pl

    who = series.alias("who").to_frame()
    groups = who.with_row_index("row").group_by("who").agg("row").with_row_index("number")
    number = (
        pl.when(pl.col("who").is_null()).then(NOBODY).otherwise(pl.col("number").cast(pl.Int64))
    )
    rows = groups.select(number.alias("number"), "row").explode("row")
    found = np.empty(len(series), dtype=np.int64)
    found[rows["row"].to_numpy()] = rows["number"].to_numpy()
    return found


def numbers_of_objects(frame: nw.LazyFrame[Any], column: str) -> nw.LazyFrame[Any]:
    """Replace ids that are Python objects of several types, in pandas, by numbers.

    Arrow would look for one type that fits them all, and make one date of two times of a day, and
    one id of a text and its bytes.
    """
    import narwhals as nw
    import pandas as pd

    if frame.implementation is not nw.Implementation.PANDAS:
        return frame
    native: pd.DataFrame = frame.to_native()
    ids = native[column]
    if ids.dtype != object or pd.api.types.infer_dtype(ids, skipna=True) in OF_ONE_KIND:
        return frame
    found = pd.array(_numbers(ids.to_list()), dtype="Int64")
    found[found == NOBODY] = pd.NA
    native = native.copy(deep=False)
    native[column] = found
    numbered: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    return numbered


def _numbers(ids: Iterable[Any]) -> Integers:
    """Number Python objects by equality. What is null, or cannot be compared, is nobody."""
    codes: dict[Any, int] = {}

    def number(item: Any) -> int:
        try:
            if is_null(item) or bool(item != item):
                return NOBODY
            return codes.setdefault(item, len(codes))
        except (TypeError, ValueError, ArithmeticError):
            return NOBODY

    return np.fromiter(map(number, ids), dtype=np.int64)
