"""Who a row belongs to: ids compared exactly as they were given or stored.

An id never passes through a float, a NumPy text (which drops a NUL at its end) or a Python time
(which has no nanoseconds): each of these makes one person of two.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.errors import ColumnError
from epsilons.tally.engines import engine_of
from epsilons.tally.given import is_null, opened
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["numbered", "people", "whole_in"]

NOBODY: Final = -1

_WHOLE: Final = re.compile("0|-?[1-9][0-9]{0,99}")
"""Whole numbers as Python writes them."""

_SECONDS: Final = {
    "W": Fraction(604800),
    "D": Fraction(86400),
    "h": Fraction(3600),
    "m": Fraction(60),
    **{f"{prefix}s": Fraction(1, 1000**k) for k, prefix in enumerate(["", *"munpfa"])},
}
"""The units of NumPy's dates and times that have a length."""


def people(
    given: object, name: str, *, lenient: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return people as numbers, the same number for the same person, and which rows have none.

    Two ids of a list or a column of objects are one person if they are equal in Python, as 1, 1.0
    and True are; or if one is the text of the other, as "1" is of 1: a reader of cells may have
    made text of some, because of what stands elsewhere. "01" is another person. Numbers of NumPy
    are compared as the numbers that they are, which NumPy itself does not do (it takes 2**53 + 1
    for the float 2.0**53).

    Args:
        given: a list, an array or a series.
        name: what messages call it.
        lenient: whether an id that cannot be compared belongs to no one; it is refused otherwise.

    Raises:
        ArgumentError: it is not one column.
        ColumnError: some ids cannot be compared.
    """
    entries = opened(given, name).entries
    if isinstance(entries, np.ndarray):
        kind = entries.dtype.kind
        if kind in "iub":
            return np.ascontiguousarray(entries), np.zeros(len(entries), dtype=bool)
        if kind == "f" and entries.dtype.itemsize <= 8:
            return _of_floats(entries)
        if kind in "mM":
            return np.ascontiguousarray(entries).view(np.int64), np.isnat(entries)
        entries = list(entries)
    types = set(map(type, entries))
    if types == {float}:
        return _of_floats(np.array(entries))
    if types == {int}:
        try:
            return np.array(entries, dtype=np.int64), np.zeros(len(entries), dtype=bool)
        except OverflowError:
            pass  # beyond 64 bits: numbered, below
    if any(issubclass(each, str) for each in types) and not all(
        issubclass(each, (str, type(None))) for each in types
    ):
        entries = [whole_in(item) if isinstance(item, str) else item for item in entries]
    if not types <= {str, bytes, int, bool, type(None)}:
        entries = [None if is_null(item) else _plain(item) for item in entries]
        unfit = [row for row, item in enumerate(entries) if not _can_be_compared(item)]
        if unfit and not lenient:
            raise ColumnError(f"{name} must be text or numbers: some entries cannot be compared.")
        for row in unfit:
            entries[row] = None
    codes: dict[object, int] = {None: -1}
    numbered = (codes.setdefault(item, len(codes)) for item in entries)
    found: Integers = np.fromiter(numbered, np.int64, len(entries))
    return found, found < 0


def whole_in(text: str) -> int | str:
    """The whole number of which this is the text, as Python writes it; or else the text."""
    return int(text) if _WHOLE.fullmatch(text) else text


def numbered(series: nw.Series[Any]) -> Integers | Floats | np.ma.MaskedArray[Any, Any]:
    """Return a number for each entry: equal numbers for equal ids, and a mask where there is none.

    What are floats already stay floats, and are NaN where there is none.

    Args:
        series: ids of any type, of an engine that holds them in memory.
    """
    native: Any = series.to_native()
    if series.dtype.is_float():
        return series.fill_null(float("nan")).to_numpy()
    number = {"polars": _in_polars, "pyarrow": _in_pyarrow}.get(engine_of(series).kind, _in_pandas)
    found = number(native)
    gone = found == NOBODY
    return np.ma.MaskedArray(found, mask=gone) if gone.any() else found


def _in_polars(series: pl.Series) -> Integers:
    """Number the groups that Polars makes of equal entries, in the order in which they come."""
    import polars as pl

    who = series.alias("who").to_frame()
    groups = (
        who.with_row_index("row")
        .group_by("who", maintain_order=True)
        .agg("row")
        .with_row_index("number")
    )
    number = (
        pl.when(pl.col("who").is_null()).then(NOBODY).otherwise(pl.col("number").cast(pl.Int64))
    )
    rows = groups.select(number.alias("number"), "row").explode("row")
    found = np.empty(len(series), dtype=np.int64)
    found[rows["row"].to_numpy()] = rows["number"].to_numpy()
    return found


def _in_pyarrow(series: Any) -> Integers:
    import pyarrow as pa

    plain = series.cast(series.type.value_type) if pa.types.is_dictionary(series.type) else series
    codes = plain.combine_chunks().dictionary_encode().indices
    return np.asarray(codes.fill_null(NOBODY).to_numpy(zero_copy_only=False), dtype=np.int64)


def _in_pandas(series: Any) -> Integers:
    return np.asarray(series.factorize()[0], dtype=np.int64)


def _of_floats(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """People that floats of at most 64 bits stand for."""
    array = array.astype(np.float64) + 0.0  # one zero
    return array, np.isnan(array)


def _can_be_compared(item: object) -> bool:
    try:
        hash(item)
    except Exception:  # a list, a dictionary
        return False
    return True


def _plain(item: Any) -> object:
    """Return a Python object that equals others exactly if the items are the same."""
    if isinstance(item, tuple):
        return tuple(map(_plain, item))
    if not isinstance(item, np.generic):
        return item
    if isinstance(item, (np.datetime64, np.timedelta64)):
        return _instant(item)
    if isinstance(item, np.longdouble):
        return Fraction(*item.as_integer_ratio()) if np.isfinite(item) else float(item)
    return item.item()


def _instant(item: Any) -> object:
    """A date or time of NumPy: equal ones in different units are one."""
    unit, steps = np.datetime_data(item.dtype)
    count = int(item.astype(np.int64)) * steps
    if unit in _SECONDS:
        return type(item), count * _SECONDS[unit]
    if isinstance(item, np.timedelta64):  # months and years have no length
        return type(item), unit == "generic", count * (12 if unit == "Y" else 1)
    year, month = divmod(count, 12) if unit == "M" else (count, 0)
    days = int(np.datetime64(f"{1970 + year % 400:04d}-{month + 1:02d}", "D").astype(np.int64))
    return type(item), (days + (year - year % 400) // 400 * 146097) * _SECONDS["D"]
