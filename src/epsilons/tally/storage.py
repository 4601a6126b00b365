"""SQLite lets an entry be of another type than its column: such an entry is null here.

There the type of an entry is data, as in a CSV file. A text in a column of numbers is above all
numbers, and so would be the largest of budgets; an empty one, which is what SQLite's own reader of
CSV files leaves of an empty cell, would be the value 0; and an id that is a blob would have the
same hexadecimal form as another person's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from epsilons.tally.categories import Kind
from epsilons.tally.engines import engine_of

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["as_declared"]

_NUMBERS: Final = ("integer", "real")
_WHOLE: Final = ("integers", "booleans")


def as_declared(frame: nw.LazyFrame[Any], columns: Mapping[str, Kind | None]) -> nw.LazyFrame[Any]:
    """Make null of entries that are not of the type of their column, where an engine has such.

    Args:
        frame: of any engine, with checked columns.
        columns: those that count, and what their entries are; None where the type alone says it.
    """
    import narwhals as nw

    if not engine_of(frame).loose:
        return frame
    import ibis

    native: Any = frame.to_native()
    if native.get_backend().name != "sqlite":
        return frame
    held = {
        column: ("integer",) if kind in _WHOLE else _storage(native.schema()[column])
        for column, kind in columns.items()
    }
    written = [
        native[column].typeof().isin(types).ifelse(native[column], ibis.null()).name(column)
        for column, types in held.items()
    ]
    declared: nw.LazyFrame[Any] = nw.from_native(native.mutate(*written))
    return declared


def _storage(dtype: Any) -> tuple[str, ...]:
    """What SQLite calls the entries that a column of a type declares to have."""
    if dtype.is_numeric() or dtype.is_boolean():
        return _NUMBERS
    if dtype.is_string():
        return ("text",)
    return ("blob",) if dtype.is_binary() else (*_NUMBERS, "text")
