"""Parse cells one by one, with the same grammar for files, lists and frames. No cell is refused.

In a CSV file the type of a column is data, because it depends on every person's cells. So all cells
are read as text and parsed separately. A cell that is not of the declared kind is null, like an
empty cell.

A frame can come from a reader that inferred the type of a column from all of its cells. If refusals
must not depend on the data, its entries are treated like cells again. If the declared kind is
numbers, text that spells a number is parsed. If the declared kind is text, a number is converted to
the text that spells it.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.door.count.tallies import LARGEST
from epsilons.door.given.categories import LabelKind
from epsilons.door.given.column import is_time
from epsilons.errors import ArgumentError
from epsilons.parameters import choice

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = [
    "NOTES",
    "PLAIN",
    "NumberMarks",
    "as_cells",
    "as_text",
    "canonical",
    "dtype_of",
    "in_query",
    "parsed",
    "whole_of",
]

BLANKS: Final = " \t"
"""Characters that are stripped around numbers and booleans, but not around text."""

MOST_EXACT: Final = 2.0**53
"""All integers below this magnitude are exact as floats."""

NOT_UTF8: Final = "\ufffd"
"""The replacement character for bytes that are not UTF-8. Text with this character is treated as
missing, so two names with different invalid bytes are not merged."""

DECIMALS: Final = (".", ",")
"""Decimal marks."""

THOUSANDS: Final = {" ": "[ \u00a0\u202f]", "'": "['’]", ",": ",", ".": "[.]", "_": "_"}
"""Marks between thousands, each with a pattern of the characters that it stands for."""


@dataclass(frozen=True)
class NumberMarks:
    """The marks in the numbers of a text file, as the user declares them.

    Attributes:
        decimal: the decimal mark.
        thousands: the mark between thousands; None if there is none.

    Raises:
        ArgumentError: a mark is unknown, or both are the same.
    """

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        choice("decimal", self.decimal, DECIMALS)
        if self.thousands is not None:
            choice("thousands", self.thousands, THOUSANDS)
        if self.thousands == self.decimal:
            raise ArgumentError(
                f"thousands={self.thousands!r} is also the decimal mark: give decimal= too, such "
                'as decimal="," with thousands=".".'
            )

    def plain(self, cells: pl.Series) -> pl.Series:
        """Return cells with numbers spelled as `parsed` reads them, such as 1234.5 for 1.234,5.

        Cells without any mark are unchanged. A cell with a mark is null unless it is a number in
        which the marks are placed correctly. Thousands are separated everywhere or nowhere in a
        number: if the mark is a point, 1.234.567 and 1234567 are numbers, and 1234.567 is not.
        """
        point = re.escape(self.decimal)
        whole, some = "[0-9]*", f"[.{self.decimal}]"
        if self.thousands is not None:
            mark = THOUSANDS[self.thousands]
            whole, some = f"(?:[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|{whole})", f"{some}|{mark}"
        number = f"^[ \t]*[+-]?{whole}(?:{point}[0-9]*)?(?:[eE][+-]?[0-9]+)?[ \t]*$"
        bare = cells if self.thousands is None else cells.str.replace_all(mark, "")
        found = bare.str.replace(self.decimal, ".", literal=True)
        fits = cells.str.contains(number).fill_null(False)
        marked = cells.str.contains(some).fill_null(False)
        return found.set(~fits, None).zip_with(marked, cells)


PLAIN: Final = NumberMarks()
"""The marks of numbers if none are declared: a decimal point."""


NOTES: Final[dict[LabelKind, str]] = {
    "numbers": "not a number (text, a date, a decimal comma)",
    "bins": "not a number (text, a date, a decimal comma)",
    "integers": "not a whole number (text, a date, 2.5)",
    "booleans": "neither true nor false",
    "text": "not UTF-8",
}
"""Phrases for messages: which cells count as missing, in addition to empty cells."""


def dtype_of(kind: LabelKind) -> type[pl.DataType]:
    """Return the Polars type for a kind of column. It does not depend on the cells."""
    import polars as pl

    types: dict[LabelKind, type[pl.DataType]] = {
        "numbers": pl.Float64,
        "bins": pl.Float64,
        "integers": pl.Int64,
        "booleans": pl.Boolean,
        "text": pl.String,
    }
    return types[kind]


def parsed(cells: pl.Series, kind: LabelKind, marks: NumberMarks = PLAIN) -> pl.Series:
    """Return the values of cells. No cell affects the value of another.

    Args:
        cells: text, with null for empty cells.
        kind: the kind to parse them as. "numbers" parses true and false as 1 and 0; "bins" does
            not.
        marks: the marks in numbers.
    """
    if kind == "text":
        return _text(cells)
    if kind == "booleans":
        return _booleans(cells)
    if marks != PLAIN:
        cells = marks.plain(cells)
    if kind == "integers":
        return _integers(cells)
    found = _floats(cells)
    if kind == "numbers" and found.null_count() > cells.null_count():
        import polars as pl

        found = found.zip_with(found.is_not_null(), _booleans(cells).cast(pl.Float64))
    return found


def _text(cells: pl.Series) -> pl.Series:
    """Return text unchanged, including blanks; null if it is not valid UTF-8."""
    damaged = cells.str.contains(NOT_UTF8, literal=True)
    return cells.set(damaged, None) if damaged.any() else cells


def _booleans(cells: pl.Series) -> pl.Series:
    """Parse `true` and `false`, in upper or lower case."""
    words = cells.str.strip_chars(BLANKS).str.to_lowercase()
    yes = words == "true"
    return yes.set(~(yes | (words == "false")), None)


def _integers(cells: pl.Series) -> pl.Series:
    """Parse 64-bit integers: `7`, `+7`, `007`; also `7.0` and `7e0` below 2**53 in magnitude."""
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
    """Parse floats such as `7`, `-7.5`, `.5`, `7e-3`, `inf`, `nan`, rounded to nearest float64."""
    import polars as pl

    found = cells.cast(pl.Float64, strict=False)
    if found.null_count() > cells.null_count():
        found = cells.str.strip_chars(BLANKS).cast(pl.Float64, strict=False)
    infinite = found.is_infinite()
    if infinite.any():
        # 1e999 is parsed as the largest float: infinity would make a record public.
        large = infinite.fill_null(False) & ~cells.str.contains("(?i)inf").fill_null(True)
        found = found.zip_with(~large, found.clip(-LARGEST, LARGEST))
    return found


def as_cells(entries: Sequence[Any], kind: LabelKind) -> list[Any]:
    """Return entries of any types, with text parsed like the cells of a file.

    Args:
        entries: the entries of a list, or of a column of objects.
        kind: the kind to parse them as. For "integers", floats that are integers are converted to
            integers. For "text", text is unchanged, and numbers are spelled as in `canonical`.
    """
    import polars as pl

    found = list(entries)
    if kind == "text":
        return [each if isinstance(each, str) else _spelt(each) for each in found]
    places = [place for place, each in enumerate(found) if isinstance(each, str)]
    if places:
        texts = pl.Series([_unicode(found[place]) for place in places], dtype=pl.String)
        for place, each in zip(places, parsed(texts, kind).to_list(), strict=True):
            found[place] = each
    return [whole_of(each) for each in found] if kind == "integers" else found


def as_text(entries: Sequence[Any], marks: NumberMarks = PLAIN) -> pl.Series:
    """Return entries of any types as the cells of a text file, with null for empty ones.

    Numbers and booleans are spelled as in `canonical`, dates and times in the form of ISO 8601.
    Anything else, such as a list, is null.

    Args:
        entries: the entries of a column, each with its own type.
        marks: the marks in numbers that are written as text. Such text is returned in plain form.
    """
    import polars as pl

    cells = [_unicode(each) if isinstance(each, str) else _written(each) for each in entries]
    found = pl.Series(cells, dtype=pl.String)
    if marks == PLAIN:
        return found
    text = pl.Series([isinstance(each, str) for each in entries], dtype=pl.Boolean)
    return marks.plain(found).zip_with(text, found)


def _written(item: Any) -> str | None:
    if is_time(type(item)) and not isinstance(item, np.generic):
        return str(item.isoformat() if hasattr(item, "isoformat") else item)
    return _spelt(item)


def canonical(texts: Sequence[str]) -> list[str]:
    """Return texts in which numbers and booleans are spelled as by `as_cells`.

    All other texts are unchanged. If several texts spell the same value, only the first is
    respelled.
    """
    import polars as pl

    cells = pl.Series([_unicode(text) for text in texts], dtype=pl.String)
    kinds: tuple[LabelKind, ...] = ("integers", "bins", "booleans")
    read = [parsed(cells, kind).to_list() for kind in kinds]
    written: dict[str, str] = {}
    for text, *every in zip(texts, *read, strict=True):
        spelt = next((_spelt(each) for each in every if each is not None), None)
        written.setdefault(text if spelt is None else spelt, text)
    spelt_as = {text: spelt for spelt, text in written.items()}
    return [spelt_as.get(text, text) for text in texts]


def _spelt(item: Any) -> str | None:
    """Return a number or a boolean as text; None for anything else."""
    if isinstance(item, (bool, np.bool_)):
        return "true" if item else "false"
    whole = whole_of(item)
    if isinstance(whole, numbers.Integral):
        return str(int(whole))
    near = _near(item)
    return None if near is None else repr(near)


def whole_of(item: Any) -> Any:
    """Return a number as an `int` if its nearest float is an integer below 2**53 in magnitude.

    Any other item is returned unchanged.
    """
    near = None if isinstance(item, numbers.Integral) else _near(item)
    if near is None or not abs(near) < MOST_EXACT:
        return item
    return int(near) if near == int(near) else item


def _near(item: Any) -> float | None:
    """Return the float nearest to a number; None for anything else."""
    if not isinstance(item, (numbers.Real, Decimal)):
        return None
    try:
        return float(item)
    except (ValueError, OverflowError):  # a signaling NaN, a fraction larger than any float
        return None


def _unicode(text: str) -> str | None:
    """Return text, or None if it cannot be encoded in UTF-8 (a lone surrogate)."""
    try:
        return text.encode().decode()
    except UnicodeEncodeError:
        return None


_NUMBER: Final = r"^[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$"
_INFINITE: Final = r"^[ \t]*[+]?[iI][nN][fF]([iI][nN][iI][tT][yY])?[ \t]*$"
_LOWEST: Final = r"^[ \t]*-[iI][nN][fF]([iI][nN][iI][tT][yY])?[ \t]*$"
_INTEGER: Final = r"^[ \t]*[+-]?0*[0-9]{1,18}[ \t]*$"
_TRUE: Final = r"^[ \t]*[tT][rR][uU][eE][ \t]*$"
_FALSE: Final = r"^[ \t]*[fF][aA][lL][sS][eE][ \t]*$"


def in_query(column: str, dtype: nw.dtypes.DType, kind: LabelKind) -> nw.Expr:
    """Return an expression that converts a column to a kind that differs from its type.

    It runs on any engine, and text has the same grammar as in `parsed`, except that integers have
    at most 18 digits, not counting leading zeros. Entries that cannot be cast are set to null
    before the cast, so no row can make it fail.

    Args:
        column: the name of the column.
        dtype: the type of the column: numbers, text, booleans, dates, times or unknown.
        kind: the kind to convert it to.
    """
    import narwhals as nw

    cell = nw.col(column)
    text = dtype in (nw.String, nw.Categorical, nw.Enum)
    if dtype in (nw.Categorical, nw.Enum):
        cell = cell.cast(nw.String)
    if dtype.is_decimal():
        cell = cell.cast(nw.Float64)
    if kind == "text":
        return _text_of(cell, dtype)
    true, false = cell.str.contains(_TRUE), cell.str.contains(_FALSE)
    never = nw.col(column).is_null() & ~nw.col(column).is_null()
    if kind == "booleans":
        yes, no = nw.lit(value=True), nw.lit(value=False)
        return _chosen((true, yes), (false, no)) if text else nw.when(never).then(yes)
    found: nw.Expr = nw.when(never).then(nw.lit(0.0))
    if text or dtype.is_numeric():
        found = _number_in(cell) if text else cell.cast(nw.Float64)
    if kind == "integers":
        near = nw.when(_iswhole_of(found)).then(found).cast(nw.Int64)
        short = cell.str.contains(_INTEGER)
        whole = nw.when(short).then(_bare(cell)).cast(nw.Int64)
        return _chosen((short, whole), (~short, near)) if text else near
    if kind == "numbers" and text:
        words = [(true, nw.lit(1.0)), (false, nw.lit(0.0))]
        return _chosen(*words, (~true & ~false, found))
    return found


def _text_of(cell: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """Return a column that is not text as text, spelled as in `canonical`."""
    import narwhals as nw

    if dtype == nw.Boolean:
        return _chosen((cell, nw.lit("true")), (~cell, nw.lit("false")))
    if not (dtype.is_float() or dtype.is_decimal()):
        return cell.cast(nw.String)
    whole = nw.when(_iswhole_of(cell)).then(cell).cast(nw.Int64).cast(nw.String)
    return _chosen((_iswhole_of(cell), whole), (~_iswhole_of(cell), cell.cast(nw.String)))


def _number_in(cell: nw.Expr) -> nw.Expr:
    """Return the number that text spells, clipped to finite floats; ±∞ for `inf`; or null."""
    import narwhals as nw

    number = nw.when(cell.str.contains(_NUMBER)).then(_bare(cell)).cast(nw.Float64)
    return _chosen(
        (cell.str.contains(_INFINITE), nw.lit(float("inf"))),
        (cell.str.contains(_LOWEST), nw.lit(float("-inf"))),
        (number > LARGEST, nw.lit(LARGEST)),
        (number < -LARGEST, nw.lit(-LARGEST)),
        (number <= LARGEST, number),
    )


def _bare(cell: nw.Expr) -> nw.Expr:
    """Return text without surrounding blanks and without a leading plus sign."""
    return cell.str.replace_all(r"^[ \t]*[+]?|[ \t]+$", "")


def _iswhole_of(number: nw.Expr) -> nw.Expr:
    return (number.floor() == number) & (number < MOST_EXACT) & (number > -MOST_EXACT)


def _chosen(*pairs: tuple[nw.Expr, nw.Expr]) -> nw.Expr:
    """Return the value of the first pair whose condition is true; null if there is none."""
    import narwhals as nw

    (condition, value), *others = pairs
    chosen = nw.when(condition).then(value)
    return chosen.otherwise(_chosen(*others)) if others else chosen
