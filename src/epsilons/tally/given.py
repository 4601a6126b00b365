"""One column that the user hands in: what type it declares, and its entries, none of them rounded.

A typed array (of NumPy, Arrow, Polars, or a typed Series of pandas) declares what it holds: that is
a schema, which may be refused. In a list or a column of Python objects the type of an entry is
data. There nothing is inferred from the entries together: NumPy would make floats of integers, and
text of everything, because of one entry among them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from epsilons.errors import ArgumentError

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
    "same_labels",
]

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
