"""What the cells of a CSV file say, cell by cell: one grammar for all files, and no refusal.

In a CSV file the type of a column is data: it follows from the cells, and so from each person's.
So all cells are read as text, and each is parsed on its own. What is not of the type that is asked
for is null, as an empty cell is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from epsilons.tally.categories import Kind
from epsilons.tally.grid import LARGEST

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NOTES", "dtype_of", "parsed"]

BLANKS: Final = " \t"
"""What may stand around a number, a truth value, but not around text."""

MOST_EXACT: Final = 2.0**53
"""Floats below this are all the whole numbers that there are."""

NOT_UTF8: Final = "\ufffd"
"""What stands for bytes that are not UTF-8, and is read as missing: two names that were damaged in
different ways must not become one."""

NOTES: Final[dict[Kind, str]] = {
    "numbers": "not a number (text, a date, a decimal comma)",
    "bins": "not a number (text, a date, a decimal comma)",
    "integers": "not a whole number (text, a date, 2.5)",
    "booleans": "neither true nor false",
    "text": "not UTF-8",
}
"""What counts as missing besides an empty cell, for messages."""


def dtype_of(kind: Kind) -> type[pl.DataType]:
    """Return the type of a column, whatever its cells are."""
    import polars as pl

    types: dict[Kind, type[pl.DataType]] = {
        "numbers": pl.Float64,
        "bins": pl.Float64,
        "integers": pl.Int64,
        "booleans": pl.Boolean,
        "text": pl.String,
    }
    return types[kind]


def parsed(cells: pl.Series, kind: Kind) -> pl.Series:
    """Return what cells say. No cell changes what another one says.

    Args:
        cells: text, null where a cell is empty.
        kind: "numbers" takes true and false for 1 and 0, "bins" does not.
    """
    if kind == "text":
        return _text(cells)
    if kind == "booleans":
        return _booleans(cells)
    if kind == "integers":
        return _integers(cells)
    found = _floats(cells)
    if kind == "numbers" and found.null_count() > cells.null_count():
        import polars as pl

        found = found.zip_with(found.is_not_null(), _booleans(cells).cast(pl.Float64))
    return found


def _text(cells: pl.Series) -> pl.Series:
    """Text as it is, blanks and all."""
    damaged = cells.str.contains(NOT_UTF8, literal=True)
    return cells.set(damaged, None) if damaged.any() else cells


def _booleans(cells: pl.Series) -> pl.Series:
    """`true` and `false`, in large or small letters."""
    words = cells.str.strip_chars(BLANKS).str.to_lowercase()
    yes = words == "true"
    return yes.set(~(yes | (words == "false")), None)


def _integers(cells: pl.Series) -> pl.Series:
    """Whole numbers of 64 bits: `7`, `+7`, `007`; and `7.0` and `7e0` below 2**53."""
    import polars as pl

    found = cells.cast(pl.Int64, strict=False)
    if found.null_count() == cells.null_count():
        return found
    trimmed = cells.str.strip_chars(BLANKS)
    found = trimmed.cast(pl.Int64, strict=False)
    floats = trimmed.cast(pl.Float64, strict=False)
    whole = (floats.floor() == floats) & (floats.abs() < MOST_EXACT)
    others = floats.set(~whole.fill_null(False), None).cast(pl.Int64)
    return found.zip_with(found.is_not_null(), others)


def _floats(cells: pl.Series) -> pl.Series:
    """Numbers in float64: `7`, `-7.5`, `.5`, `7e-3`, `inf`, `nan`, each the nearest float."""
    import polars as pl

    found = cells.cast(pl.Float64, strict=False)
    if found.null_count() > cells.null_count():
        found = cells.str.strip_chars(BLANKS).cast(pl.Float64, strict=False)
    infinite = found.is_infinite()
    if infinite.any():
        # 1e999 is not infinite, which would make a record public, but the largest float.
        large = infinite.fill_null(False) & ~cells.str.contains("(?i)inf").fill_null(True)
        found = found.zip_with(~large, found.clip(-LARGEST, LARGEST))
    return found
