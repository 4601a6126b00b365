"""One column from the user: its declared type and its entries, and ids of people."""

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


# A typed array (NumPy, Arrow, Polars, or a typed pandas Series) declares its type. The type is part
# of the schema, so it can be refused. In a list, or in a column of Python objects, the type of an
# entry is data. So no type is inferred from all entries together: a single entry could make NumPy
# convert integers to floats, or everything to text. Entries are never rounded.

Family = Literal["integer", "float", "decimal", "boolean", "text", "time", "nested"]
"""Kinds of declared types."""

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
"""Prefixes of type names in Arrow, Polars, pandas and Narwhals. Other types, such as objects,
columns of null, and pandas' categories, do not declare the type of their entries. These entries are
read one by one."""

INFERRED: Final = "str"
"""The type that pandas infers for columns that contain text. It is not a schema. Before pandas 3,
such columns had the type object."""

_OF_THE_DAY: Final = r"time(64\[ns\])?($|\[pyarrow\])"
"""A pattern for the types of times of day in nanoseconds, in Polars, Arrow and pandas."""

TIMES: Final = (
    "These are dates or times, which have no mean and no categories here: convert them to "
    "numbers or text first, such as days since a fixed day, or the year."
)


@dataclass(frozen=True, eq=False)
class Column:
    """One column from the user.

    Attributes:
        entries: a NumPy array, in which only NaN and NaT are missing; otherwise a list of Python
            objects.
        family: the kind of the declared type; None if the type declares nothing.
        dtype: the name of the type, for messages.
    """

    entries: npt.NDArray[Any] | list[Any]
    family: Family | None
    dtype: str

    @property
    def inferred(self) -> bool:
        """Whether pandas inferred the type from text entries: see `INFERRED`."""
        return self.dtype == INFERRED


def family(dtype: object) -> Family | None:
    """Return the kind of a type, given its name; None if the type declares nothing."""
    name = str(dtype).lower()
    found = (held for begins, held in _OF_NAME.items() if re.match(begins, name))
    return next(found, None)


def declared(given: Any) -> tuple[Family | None, str]:
    """Return the kind and the name of a column's type, without reading its entries."""
    if isinstance(given, np.ndarray):
        return _OF_KIND.get(given.dtype.kind), str(given.dtype)
    dtype = getattr(given, "dtype", getattr(given, "type", None))  # `type` in PyArrow
    return (None, type(given).__name__) if dtype is None else (family(dtype), str(dtype))


def opened(given: object, name: str) -> Column:
    """Return a list, an array or a series as a `Column`.

    Args:
        given: a list, an array or a series.
        name: its name in messages.

    Raises:
        ArgumentError: it is not a single column.
    """
    column: Column | None
    if hasattr(type(given), "columns"):
        raise ArgumentError(
            f'{name} is a table: give it as data=…, and name the column here, {name}="…".'
        )
    try:
        column = _array(given) if isinstance(given, np.ndarray) else _other(given)
    except Exception:
        column = None  # drop the library's message: it could show a value
    if column is None:
        raise ArgumentError(
            f"{name} must be a list, an array or a series, one entry for each row; "
            f"it is of type {type(given).__name__}."
        )
    if isinstance(column.entries, np.ndarray) and column.entries.ndim != 1:
        # The message omits the shape, which would reveal the number of rows.
        raise ArgumentError(f"{name} has {column.entries.ndim} dimensions: give one column.")
    return column


def _array(given: npt.NDArray[Any]) -> Column | None:
    """Return a NumPy array as a column; None if it has no dimensions."""
    if given.ndim == 0:
        return None
    held, dtype = _OF_KIND.get(given.dtype.kind), str(given.dtype)
    if given.ndim == 1 and (given.dtype.kind in "OT" or _is_masked(given)):
        # Masked entries are not values. In the list they are None.
        return Column(_listed(given), held, dtype)
    return Column(np.asarray(given), held, dtype)


def _is_masked(given: npt.NDArray[Any]) -> bool:
    """Whether an array has a mask. The first test avoids an unnecessary import of `np.ma`."""
    return type(given) is not np.ndarray and isinstance(given, np.ma.MaskedArray)


def _listed(given: npt.NDArray[Any]) -> list[Any]:
    """Return the entries of an array, unchanged. `tolist` would convert some dates to integers."""
    if given.dtype.kind in "mMf" and _is_masked(given):
        gone = np.ma.getmaskarray(given)
        return [None if no else item for no, item in zip(gone, given.data, strict=True)]
    return list(given.tolist())


def _other(given: Any) -> Column | None:
    """Return any other object as a column; None if it is not a column."""
    if isinstance(given, (str, bytes, Mapping, Set)):
        return None
    lister = getattr(given, "to_pylist", getattr(given, "to_list", None))  # PyArrow; other series
    if not callable(lister) and _is_extension(given):
        lister = partial(list, given)
    if callable(lister):
        held, dtype = declared(given)
        if re.match(_OF_THE_DAY, dtype.lower()):
            return Column(_ticks(given), held, dtype)
        # NumPy converts integers with nulls to floats, and has no integers beyond 64 bits.
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
    """Whether this is a pandas extension array, which has no NumPy type.

    NumPy must not convert it, because that would change integers with nulls to floats.
    """
    dtype = getattr(given, "dtype", None)
    return dtype is not None and not isinstance(dtype, np.dtype) and hasattr(given, "__len__")


def _ticks(given: Any) -> list[Any]:
    """Return times of day as integers, because Python's times have no nanoseconds."""
    if hasattr(given, "to_physical"):  # Polars
        return list(given.to_physical().to_list())
    if hasattr(given, "to_pylist"):
        return list(given.cast("int64").to_pylist())
    return list(given.astype("int64[pyarrow]"))


def _gaps(given: Any) -> bool:
    """Whether a series can have null entries."""
    count = getattr(given, "null_count", None)  # property in PyArrow, method in Polars, Narwhals
    if count is not None:
        return bool(count() if callable(count) else count)
    return bool(getattr(given, "hasnans", True))  # pandas


def is_null(item: object) -> bool:
    """Whether a Python object is null: None, NaN, NaT, NA or masked."""
    if isinstance(item, (float, np.floating)):
        return bool(item != item)
    if isinstance(item, Decimal):
        return item.is_nan()
    if isinstance(item, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(item))
    # Types are compared by name, because pandas is not imported here. These are pandas' NA and NaT,
    # and NumPy's masked entry.
    return item is None or type(item).__name__ in ("NAType", "NaTType", "MaskedConstant")


def is_time(item: type) -> bool:
    """Whether a Python type is a type of dates or times."""
    times = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return issubclass(item, times)


def same_labels(**given: object) -> None:
    """Refuse pandas Series with different index labels.

    Columns are combined by position. If labels differ, that would combine one person's value with
    another person's budget.

    Args:
        given: columns by parameter. A column without labels matches any other.

    Raises:
        ArgumentError: labels differ.
    """
    first, labels = "", None
    for name, one in given.items():
        index: Any = getattr(one, "index", None)
        if not hasattr(index, "equals"):  # a list also has an `index`, but that is a method
            continue
        if labels is None:
            first, labels = name, index
        if len(index) == len(labels) and not labels.equals(index):
            raise ArgumentError(
                f"{first} and {name} have different labels (their .index): paired by position, a "
                "value would get the budget of another person. Bring them into the same order, "
                f"for example {name}.reindex({first}.index); or, if you mean to pair by position, "
                f"give {name}.to_numpy()."
            )


# Ids of people are compared exactly as given or stored. They are never converted to floats, to
# NumPy text (which drops a trailing NUL) or to Python times (which have no nanoseconds). Each of
# these conversions could merge two people.

_WHOLE: Final = re.compile("0|-?[1-9][0-9]{0,99}")
"""A pattern for integers as Python formats them."""

_SECONDS: Final = {
    "W": Fraction(604800),
    "D": Fraction(86400),
    "h": Fraction(3600),
    "m": Fraction(60),
    **{f"{prefix}s": Fraction(1, 1000**k) for k, prefix in enumerate(["", *"munpfa"])},
}
"""The length in seconds of each unit of NumPy's dates and times, if it is fixed."""


def people(
    given: object, name: str, *, lenient: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return a number that identifies the person of each row, and a mask of rows without a person.

    In a list or a column of objects, two ids belong to one person if they are equal in Python, such
    as 1, 1.0 and True. The same holds if one is the text of the other, such as "1" and 1, because a
    file reader converts ids to text if other cells are text. "01" is another person.
    NumPy numbers are compared by their exact values; NumPy itself treats 2**53 + 1 and 2.0**53 as
    equal.

    Args:
        given: a list, an array or a series.
        name: its name in messages.
        lenient: whether rows with ids that cannot be compared have no person; otherwise such ids
            are refused.

    Raises:
        ArgumentError: it is not a single column.
        ColumnError: some ids cannot be compared, because they cannot be hashed.
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
            pass  # beyond 64 bits: these ids are numbered below
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
    """Return the integer that a text represents, if Python would format it as this text.

    Otherwise return the text.
    """
    return int(text) if _WHOLE.fullmatch(text) else text


def _of_floats(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return numbers for ids that are floats of at most 64 bits, and a mask of NaN."""
    array = array.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    return array, np.isnan(array)


def _can_be_compared(item: object) -> bool:
    try:
        hash(item)
    except Exception:  # such as a list or a dictionary
        return False
    return True


def _plain(item: Any) -> object:
    """Return a Python object for an id. Two such objects are equal only if the ids are the same."""
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
    """Return a key for a NumPy date or time. Equal instants in different units have equal keys."""
    unit, steps = np.datetime_data(item.dtype)
    count = int(item.astype(np.int64)) * steps
    if unit in _SECONDS:
        return type(item), count * _SECONDS[unit]
    if isinstance(item, np.timedelta64):  # months and years have no fixed length
        return type(item), unit == "generic", count * (12 if unit == "Y" else 1)
    year, month = divmod(count, 12) if unit == "M" else (count, 0)
    # 400 Gregorian years have 146,097 days. So years are first mapped to 1970 to 2369, which NumPy
    # can convert.
    days = int(np.datetime64(f"{1970 + year % 400:04d}-{month + 1:02d}", "D").astype(np.int64))
    return type(item), (days + (year - year % 400) // 400 * 146097) * _SECONDS["D"]
