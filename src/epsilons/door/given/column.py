"""One column that the user hands in: its type, its entries, and whose row each is."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from epsilons.errors import ArgumentError, ColumnError
from epsilons.types import Integers

__all__ = [
    "INFERRED",
    "TIMES",
    "Column",
    "Family",
    "declared",
    "family",
    "is_null",
    "is_time",
    "opened",
    "people",
    "same_labels",
    "whole_in",
]


# One column that the user hands in: what type it declares, and its entries, none of them rounded.
#
# A typed array (of NumPy, Arrow, Polars, or a typed Series of pandas) declares what it holds: that
# is a schema, which may be refused. In a list or a column of Python objects the type of an entry is
# data. There nothing is inferred from the entries together: NumPy would make floats of integers,
# and text of everything, because of one entry among them.

Family = Literal["integer", "float", "decimal", "boolean", "text", "time", "nested"]
"""What a declared type holds."""

_OF_KIND: Final[dict[str, Family]] = {
    **dict.fromkeys("iu", "integer"),
    **dict.fromkeys("mM", "time"),
    **dict.fromkeys("UT", "text"),
    **dict.fromkeys("cSV", "nested"),
    "f": "float",
    "b": "boolean",
}
_OF_NAME: Final[dict[str, Family]] = {
    r"u?int\d+": "integer",
    r"half_?float|float|double": "float",
    r"decimal": "decimal",
    r"bool": "boolean",
    r"(large_)?(string|utf8)|str\b|categorical|enum": "text",
    r"date|time|duration|period|(year|month|day)\w*interval": "time",
    r"(large_)?(list|binary)|array|struct|fixed_size|map|interval": "nested",
}
"""How names of types begin, in Arrow, Polars, pandas and Narwhals. All others, objects, columns of
null, and pandas' categories among them, declare nothing: their entries are looked at one by one."""

INFERRED: Final = "str"
"""What pandas calls the type of columns in which it found text. It is no schema: before pandas 3
such columns were objects."""

_OF_THE_DAY: Final = r"time(64\[ns\])?($|\[pyarrow\])"
"""Types of times of the day in nanoseconds, as Polars, Arrow and pandas call them."""

TIMES: Final = (
    "These are dates or times, which have no mean and no categories here: convert them to "
    "numbers or text first, such as days since a fixed day, or the year."
)


@dataclass(frozen=True, eq=False)
class Column:
    """One column.

    Attributes:
        entries: an array of NumPy in which nothing is missing but NaN and NaT, or else a list of
            Python objects.
        family: what its type declares; None if it declares nothing.
        dtype: the name of the type, for messages.
    """

    entries: npt.NDArray[Any] | list[Any]
    family: Family | None
    dtype: str

    @property
    def inferred(self) -> bool:
        """Whether its type is one that pandas takes for any text, as it took objects before."""
        return self.dtype == INFERRED

    def __len__(self) -> int:
        return len(self.entries)


def family(dtype: object) -> Family | None:
    """What a type declares to hold, by its name; None if it declares nothing."""
    name = str(dtype).lower()
    found = (held for begins, held in _OF_NAME.items() if re.match(begins, name))
    return next(found, None)


def declared(given: Any) -> tuple[Family | None, str]:
    """What the type of a column declares to hold, and its name, without a look at the entries."""
    if isinstance(given, np.ndarray):
        return _OF_KIND.get(given.dtype.kind), str(given.dtype)
    dtype = getattr(given, "dtype", getattr(given, "type", None))  # `type` in PyArrow
    return (None, type(given).__name__) if dtype is None else (family(dtype), str(dtype))


def opened(given: object, name: str) -> Column:
    """Return what the user gave as one column.

    Args:
        given: a list, an array or a series.
        name: what messages call it.

    Raises:
        ArgumentError: it is not one column.
    """
    column: Column | None
    try:
        column = _array(given) if isinstance(given, np.ndarray) else _other(given)
    except Exception:
        column = None  # the message of NumPy or of a library might show a value: it is not kept
    if column is None:
        raise ArgumentError(
            f"{name} must be a list, an array or a series, one entry for each row; "
            f"it is of type {type(given).__name__}."
        )
    if isinstance(column.entries, np.ndarray) and column.entries.ndim != 1:
        # Its shape would tell how many rows there are.
        raise ArgumentError(f"{name} has {column.entries.ndim} dimensions: give one column.")
    return column


def _array(given: npt.NDArray[Any]) -> Column | None:
    """A column of an array of NumPy; None if it has no rows."""
    if given.ndim == 0:
        return None
    held, dtype = declared(given)
    if given.ndim == 1 and (given.dtype.kind in "OT" or _is_masked(given)):
        # What is behind a mask is not a value: a list says None there.
        return Column(_listed(given), held, dtype)
    return Column(np.asarray(given), held, dtype)


def _is_masked(given: npt.NDArray[Any]) -> bool:
    """Whether an array has a mask. NumPy loads what it has of masks where somebody asks for it."""
    return type(given) is not np.ndarray and isinstance(given, np.ma.MaskedArray)


def _listed(given: npt.NDArray[Any]) -> list[Any]:
    """The entries of an array, as they are: `tolist` would make integers of some dates."""
    if given.dtype.kind in "mMf" and _is_masked(given):
        gone = np.ma.getmaskarray(given)
        return [None if no else item for no, item in zip(gone, given.data, strict=True)]
    return list(given.tolist())


def _other(given: Any) -> Column | None:
    """A column of anything else; None if it is not one."""
    if isinstance(given, (str, bytes, Mapping, Set)):
        return None
    lister = getattr(given, "to_pylist", getattr(given, "to_list", None))  # PyArrow; other series
    if not callable(lister) and _is_extension(given):
        lister = partial(list, given)
    if callable(lister):
        held, dtype = declared(given)
        if re.match(_OF_THE_DAY, dtype.lower()):
            return Column(_ticks(given), held, dtype)
        # With gaps, NumPy would make floats of integers; it has none beyond 64 bits.
        whole = held in ("integer", "boolean") and "128" not in dtype and not _gaps(given)
        if whole or held in ("float", "time"):
            array = np.asarray(given)
            if array.dtype.kind in "iufbmM":
                return Column(array, held, dtype)
        return Column(list(lister()), held, dtype)
    if hasattr(given, "__array__"):
        return _array(np.asarray(given))
    if isinstance(given, Sequence) or (
        hasattr(given, "__len__") and hasattr(given, "__getitem__") and not isinstance(given, type)
    ):
        return Column(list(given), None, type(given).__name__)
    return None


def _is_extension(given: Any) -> bool:
    """Whether this is an array of pandas, whose type NumPy does not have.

    NumPy is not asked for it: it would make floats of integers with gaps.
    """
    dtype = getattr(given, "dtype", None)
    return dtype is not None and not isinstance(dtype, np.dtype) and hasattr(given, "__len__")


def _ticks(given: Any) -> list[Any]:
    """Times of the day as whole numbers: those of Python have no nanoseconds."""
    if hasattr(given, "to_physical"):  # Polars
        return list(given.to_physical().to_list())
    if hasattr(given, "to_pylist"):
        return list(given.cast("int64").to_pylist())
    return list(given.astype("int64[pyarrow]"))


def _gaps(given: Any) -> bool:
    """Whether a series may have entries that are null."""
    count = getattr(given, "null_count", None)  # PyArrow says it; Polars and Narwhals are asked
    if count is not None:
        return bool(count() if callable(count) else count)
    return bool(getattr(given, "hasnans", True))  # pandas


def is_null(item: object) -> bool:
    """Whether a Python object stands for no value."""
    if isinstance(item, (float, np.floating)):
        return bool(item != item)
    if isinstance(item, Decimal):
        return item.is_nan()
    if isinstance(item, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(item))
    # pandas is not imported here, so its NA and NaT are known by name; so is a masked entry.
    return item is None or type(item).__name__ in ("NAType", "NaTType", "MaskedConstant")


def is_time(item: type) -> bool:
    """Whether objects of a type are dates or times."""
    times = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return issubclass(item, times)


def same_labels(**given: object) -> None:
    """Refuse labelled columns (Series of pandas) whose labels differ.

    Columns are paired by their order, and whoever gives labels means them: paired by order, one
    person's value would be used with the budget of another.

    Args:
        given: columns by the names of their parameters. What has no labels fits everything.

    Raises:
        ArgumentError: labels differ.
    """
    indexes: dict[str, Any] = {name: getattr(one, "index", None) for name, one in given.items()}
    # A list has an `index`, too.
    labelled = [(name, index) for name, index in indexes.items() if hasattr(index, "equals")]
    for name, index in labelled[1:]:
        first, labels = labelled[0]
        if len(index) == len(labels) and not labels.equals(index):
            raise ArgumentError(
                f"{first} and {name} have different labels (their .index): paired by position, a "
                "value would get the budget of another person. Bring them into the same order, "
                f"for example {name}.reindex({first}.index); or, if you mean to pair by position, "
                f"give {name}.to_numpy()."
            )


# Who a row belongs to: ids compared exactly as they were given or stored.
#
# An id never passes through a float, a NumPy text (which drops a NUL at its end) or a Python time
# (which has no nanoseconds): each of these makes one person of two.

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
