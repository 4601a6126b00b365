"""How text that is not a number is written, for the curator alone: 13,170, 1,5, 45 kg, 2026-01-31.

Text is never read as a number that it might be, because one cell must not change how others are
read. A whole column of such text would count as missing, so the curator is warned.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.errors import ColumnError
from epsilons.tally import columns
from epsilons.tally.categories import Kind
from epsilons.tally.failures import guarded
from epsilons.tally.spellings import dtype_of, parsed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMS", "forms_of"]

LOOKED_AT: Final = 2**14
"""Cells that are looked at."""

FORMS: Final[dict[str, str]] = {
    "text that is a number": r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?",
    "thousands separators, such as 1,234": r"[+-]?\d{1,3}([,.'’ \u00a0\u202f]\d{3})+([.,]\d+)?",
    "decimal commas, such as 1,5": r"[+-]?\d*,\d+",
    "dates, such as 2026-01-31": r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?",
    "units, such as 45 kg, 12 % or $ 9": (
        r"[^\d\s+-]{1,8}\s?[+-]?\d[\d.,'’ \u00a0\u202f]*|"
        r"[+-]?\d[\d.,'’ \u00a0\u202f]*\s?[^\d\s]{1,8}"
    ),
    "truth values, such as yes and no": r"(?i)yes|no|y|n|true|false|t|f",
}
"""What text may be in place of a number, and how it is recognized: the first that fits."""


def forms_of(column: Any, data: Any, kind: Kind) -> tuple[str, ...]:
    """Return the forms of text in place of numbers in a column, the most frequent first.

    Args:
        column: an array; or the name of a column, if there is data.
        data: a frame or the path of a file; or None.
        kind: what the column is read as.
    """
    text = _text(column) if data is None else _cells(column, data, kind)
    left, found = text.str.strip_chars(), {}
    for form, pattern in FORMS.items():
        fits = left.str.contains(f"^(?:{pattern})$")
        found[form] = int(fits.sum())
        left = left.filter(~fits)
    return tuple(sorted((form for form in found if found[form]), key=lambda form: -found[form]))


def _text(values: Any) -> pl.Series:
    """The text among the entries of an array or a list: there it is never read as a number."""
    import polars as pl

    numbers = isinstance(values, np.ndarray) and values.dtype.kind not in "OUT"
    entries: Iterable[Any] = values if isinstance(values, Iterable) and not numbers else ()
    found = islice((str(each) for each in entries if isinstance(each, str)), LOOKED_AT)
    return pl.Series(list(found), dtype=pl.String)


def _cells(column: str, data: Any, kind: Kind) -> pl.Series:
    """The cells of a column that are not read as numbers: none if its type is not that of text."""
    import polars as pl

    nothing = pl.Series(dtype=pl.String)
    try:
        table = columns.read(column, 1.0, data, None, "text")
    except ColumnError:
        return nothing

    def run() -> pl.Series:
        frame = table.frame.to_native()
        if not isinstance(frame, pl.LazyFrame):
            return nothing
        cell = pl.col(table.values)
        number = cell.map_batches(lambda cells: parsed(cells, kind), return_dtype=dtype_of(kind))
        unread = frame.select(cell).filter(cell.is_not_null() & number.is_null())
        return unread.head(LOOKED_AT).collect(engine="streaming").to_series()

    return guarded(run, *table.failure)
