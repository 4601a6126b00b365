"""What an entry of a column means: a number, an id, or the place of a declared label.

What a column holds is decided by its declared type, never by its entries. Where it has no type of
its own (Python objects), each entry is read by itself, as text with a mark in front.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from epsilons_next.data.labels import LabelSet
from epsilons_next.errors import ColumnError

__all__ = ["Column", "Kind", "marked"]

Kind = Literal["number", "truth", "text", "file text", "objects"]
"""What a column holds. "file text" may spell numbers, "objects" are entries with marks."""

HOLDS: Final[Mapping[str, str]] = {"number": "numbers", "truth": "True and False"}

MISSING: Final = ("", "NA", "N/A", "NaN", "nan", "null", ".")
"""What counts as no entry in a column of text."""

EXACT: Final = 2**53
"""From here on floats are not all whole numbers, so that two ids could be one."""

LARGEST: Final = 1.7976931348623157e308
"""Finite numbers that are larger count as this."""

HUGE: Final = Decimal(LARGEST)


@dataclass(frozen=True)
class Column:
    """One column of a table: its name there, its name in our frame, and what it holds."""

    name: str
    inner: str
    kind: Kind
    dtype: pl.DataType

    @property
    def entry(self) -> pl.Expr:
        """The entries as they are, null if there is none."""
        entry = pl.col(self.inner)
        if self.kind in ("number", "truth"):
            return entry.fill_nan(None) if self.dtype.is_float() else entry
        blank = ["t" + each if self.kind == "objects" else each for each in MISSING]
        return pl.when(~entry.is_in(blank)).then(entry)

    @property
    def number(self) -> pl.Expr:
        """The entries as numbers, which may be infinite; null if there is none.

        Raises:
            ColumnError: the column is declared to hold text.
        """
        if self.kind == "text":
            raise ColumnError(
                f'"{self.name}" holds text, and numbers are needed. For the share of each answer: '
                f'people.shares("{self.name}", ["yes", "no"]).'
            )
        if self.kind in ("number", "truth"):
            return pl.col(self.inner).cast(pl.Float64).fill_nan(None)
        return self._spelled_number.cast(pl.Float64, strict=False).fill_nan(None)

    @property
    def no_number(self) -> pl.Expr:
        """Whether there is an entry that is no number."""
        if self.kind in ("number", "truth"):
            return pl.lit(False)
        return self.entry.is_not_null() & self.number.is_null()

    @property
    def _spelled_number(self) -> pl.Expr:
        if self.kind != "objects":
            return self.entry
        return pl.when(self.entry.str.head(1).is_in(["n", "f", "b"])).then(self.entry.str.slice(1))

    @property
    def id(self) -> pl.Expr:
        """The entries as ids, integers or text; null if they are neither.

        Raises:
            ColumnError: the column holds something else.
        """
        if self.kind == "truth" or self.dtype.is_decimal():
            raise ColumnError(f'"{self.name}" holds no ids, which are integers or text.')
        if self.kind == "objects":
            return pl.when(self.entry.str.contains("^t|^n-?[0-9]+$")).then(self.entry)
        if not self.dtype.is_float():
            return self.entry
        whole = (self.entry.floor() == self.entry) & (self.entry.abs() < EXACT)
        return pl.when(whole).then(self.entry).cast(pl.Int64, strict=False)

    def place(self, labels: LabelSet) -> pl.Expr:
        """Return the place of each entry among declared labels; null if it is not declared.

        Raises:
            ColumnError: the labels are of another type than the column.
        """
        if labels.edges:
            number = self.number.clip(-LARGEST, LARGEST)  # bins without an end hold infinite ones
            passed = pl.sum_horizontal((number >= edge).cast(pl.Int64) for edge in labels.edges)
            passed -= (number == labels.edges[-1]).cast(pl.Int64)
            inside = number.is_not_null() & (passed > 0) & (passed < len(labels.edges))
            return pl.when(inside).then(passed - 1)
        places = self._places(labels)
        entry = pl.col(self.inner)
        if not places:
            return pl.lit(None, pl.Int64)
        to = list(places.values())
        return entry.replace_strict(list(places), to, default=None, return_dtype=pl.Int64)

    def is_missing(self, labels: LabelSet) -> pl.Expr:
        """Say in which rows there is no entry. What is declared is an entry, even an empty text."""
        return self.entry.is_null() & self.place(labels).is_null()

    def _places(self, labels: LabelSet) -> dict[Any, int]:
        """The place of each declared entry, as this column writes it, if it can hold it."""
        kinds = {type(entry) for entry in chain(*labels.entries)}
        what = "text" if str in kinds else "truth" if bool in kinds else "number"
        spelled = self.kind == "file text" and what != "truth"
        if self.kind not in ("objects", what) and not spelled:
            raise ColumnError(
                f'"{self.name}" holds {HOLDS.get(self.kind, "text")}, and its labels are '
                f"{HOLDS.get(what, 'text')}: a label is written as the column has it."
            )
        result: dict[Any, int] = {}
        for place, entries in enumerate(labels.entries):
            for entry in entries:
                if self.kind == "objects":
                    result.setdefault(marked(entry), place)
                elif spelled:
                    result.setdefault(str(entry), place)
                elif self.kind != "number" or self._holds(entry):
                    result.setdefault(entry, place)
        return result

    def _holds(self, entry: Any) -> bool:
        """Whether a column of numbers can hold this one exactly."""
        if self.dtype.is_integer():
            bits, signed = int(str(self.dtype).strip("UInt")), self.dtype.is_signed_integer()
            low, end = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
            return type(entry) is int and low <= entry < end
        return bool(abs(entry) < HUGE and float(entry) == entry)


def marked(entry: Any) -> str | None:
    """Return a Python object as text with a mark: n numbers, f inexact ones, b truth, t text.

    Equal numbers have equal texts, whatever their types: 1 and 1.0 are n1.
    """
    if isinstance(entry, str):
        text = str.__str__(entry)
        return "?" if any("\ud800" <= letter <= "\udfff" for letter in text) else "t" + text
    if isinstance(entry, (bool, np.bool_)):
        return f"b{int(entry)}"
    inexact = isinstance(entry, (float, np.floating))
    if isinstance(entry, (int, np.integer)):
        entry = Decimal(int(entry))
    elif inexact:
        entry = Decimal(repr(float(entry)))
    if not isinstance(entry, Decimal):
        return None if entry is None or type(entry).__name__ in ("NAType", "NaTType") else "?"
    if not entry.is_finite():
        return None if entry.is_nan() else f"f{float(entry)}"
    text = f"{min(max(entry, -HUGE), HUGE):f}" if entry else "0"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return ("f" if inexact and abs(entry) >= EXACT else "n") + text
