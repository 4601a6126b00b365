"""Inspect rows before any question: count missing, clipped and undeclared values, and people.

No data is refused here. The results are exact and unprotected, so they are for the curator only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.door.count.asks import valid_or_bad
from epsilons.door.engines import labels_engine
from epsilons.door.engines.expressions import (
    budget_and_person,
    by_person,
    floats,
    is_nobody,
)
from epsilons.door.engines.floats import a_number, exactly, finite
from epsilons.door.engines.running import collected, guarded
from epsilons.door.given import arrays, columns
from epsilons.door.given.arrays import cells_of
from epsilons.door.given.categories import MISSING, UNDECLARED, Categories, LabelKind
from epsilons.door.given.columns import Columns
from epsilons.door.given.files import Told
from epsilons.door.given.frames import AskedRows, asked
from epsilons.door.given.menus import Chosen
from epsilons.door.given.spellings import PLAIN, dtype_of, parsed
from epsilons.errors import ColumnError
from epsilons.types import Booleans, Integers

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["COMMAS", "FORMS", "THOUSANDS", "TRUTH", "Look", "forms_of", "look"]


# Formats of text in place of numbers, such as "13,170", "1,5", "45 kg" and "2026-01-31". They are
# reported to the curator only.
#
# Such text is never parsed as a number, because one cell must not change how other cells are
# parsed. All such cells count as missing, so the curator is warned.

LOOKED_AT: Final = 2**14
"""The largest number of cells that are inspected."""

THOUSANDS: Final = "thousands separators, such as 1,234"
TRUTH: Final = "truth values, such as yes and no"
COMMAS: Final = "decimal commas, such as 1,5"

FORMS: Final[dict[str, str]] = {
    "text that is a number": r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?",
    THOUSANDS: r"[+-]?\d{1,3}([,.'’ \u00a0\u202f]\d{3})+([.,]\d+)?",
    COMMAS: r"[+-]?\d*,\d+",
    "dates, such as 2026-01-31": r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?",
    "units, such as 45 kg, 12 % or $ 9": (
        r"[^\d\s+-]{1,8}\s?[+-]?\d[\d.,'’ \u00a0\u202f]*|"
        r"[+-]?\d[\d.,'’ \u00a0\u202f]*\s?[^\d\s]{1,8}"
    ),
    TRUTH: r"(?i)yes|no|y|n|true|false|t|f",
}
"""Formats of text in place of a number, each with its pattern. The first match counts."""


def forms_of(column: Any, data: Any, kind: LabelKind) -> tuple[str, ...]:
    """Return the formats of text in place of numbers in a column, the most frequent first.

    Args:
        column: an array; or the name of a column, if `data` is given.
        data: a frame or the path of a file; or None.
        kind: the required kind of the column's entries.
    """
    text = _text(column) if data is None else _cells(column, data, kind)
    left, found = text.str.strip_chars(), {}
    for form, pattern in FORMS.items():
        fits = left.str.contains(f"^(?:{pattern})$")
        found[form] = int(fits.sum())
        left = left.filter(~fits)
    return tuple(sorted((form for form in found if found[form]), key=lambda form: -found[form]))


def _text(values: Any) -> pl.Series:
    """Return the text entries of an array or a list. These are never parsed as numbers."""
    import polars as pl

    numbers = isinstance(values, np.ndarray) and values.dtype.kind not in "OUT"
    entries: Iterable[Any] = values if isinstance(values, Iterable) and not numbers else ()
    found = islice((str(each) for each in entries if isinstance(each, str)), LOOKED_AT)
    return pl.Series(list(found), dtype=pl.String)


def _cells(column: str, data: Any, kind: LabelKind) -> pl.Series:
    """Return the text cells of a column that do not parse as numbers; no cells for other types."""
    import polars as pl

    nothing = pl.Series(dtype=pl.String)
    marks = data.marks if isinstance(data, Told) else PLAIN
    try:
        table = columns.read(column, 1.0, data, None, "text")
    except ColumnError:
        return nothing

    def run() -> pl.Series:
        frame = table.frame.to_native()
        if not isinstance(frame, pl.LazyFrame):
            return nothing
        cell = pl.col(table.values)
        number = cell.map_batches(
            lambda cells: parsed(cells, kind, marks), return_dtype=dtype_of(kind)
        )
        unread = frame.select(cell).filter(cell.is_not_null() & number.is_null())
        return unread.head(LOOKED_AT).collect(engine="streaming").to_series()

    return guarded(table.failure, run)


MARKS: Final = ("missing", "infinite", "below", "above", "undeclared")
"""Columns that mark rows by 1 or 0. A mark that does not apply to a question is absent."""


@dataclass(frozen=True)
class Look:
    """Counts of rows and people, without any checks. Counts that do not apply are None.

    Attributes:
        rows: the number of rows.
        people: the number of people. Rows without a person are not counted.
        nobody: rows without a person.
        missing: rows whose value is null or NaN, or an entry of another type in a list.
        infinite: rows of numbers whose value is infinite. A mean also treats these as missing.
        below: rows whose value is finite and below the lower bound.
        above: rows whose value is finite and above the upper bound.
        undeclared: rows whose value is present but in no declared category.
        silent: people without any value.
        conflicts: people whose rows have two budgets. The attributes below use the smallest of a
            person's budgets.
        unusable: people whose budget is negative, NaN or missing.
        zero: people whose budget is 0.
        public: people whose budget is infinite.
        short: people whose budget is above 0 and below the lowest level.
        least: the smallest budget that is above 0 and finite; None if there is none.
        largest: the largest budget that is above 0 and finite; None if there is none.
        median_rows: the median number of rows of a person.
        most_rows: the largest number of rows of a person.
        unread: formats of text in place of numbers, the most frequent first.
        unread_budgets: formats of text in place of budgets.
    """

    rows: int
    people: int
    nobody: int
    missing: int
    infinite: int | None
    below: int | None
    above: int | None
    undeclared: int | None
    silent: int
    conflicts: int
    unusable: int
    zero: int
    public: int
    short: int
    least: float | None
    largest: float | None
    median_rows: float
    most_rows: int
    unread: tuple[str, ...] = ()
    unread_budgets: tuple[str, ...] = ()


def look(
    values: Any,
    *,
    epsilon: Any,
    data: Any = None,
    person: Any = None,
    bounds: tuple[float, float] | None = None,
    categories: Categories | None = None,
    lowest: float = 0.0,
) -> Look:
    """Count rows and people in one pass. A second pass finds formats of text, if needed.

    Args:
        values: one value for each row, or the name of a column of `data`.
        epsilon: one budget for each row, one number for everyone, or the name of a column.
        data: a frame that Narwhals reads, or the path of a file.
        person: an id for each row, or the name of a column; None if every row is its own person.
        bounds: the bounds of numbers, if known.
        categories: the declared categories; None for numbers.
        lowest: the lowest level of budgets, if budgets are private.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column does not exist or
            has the wrong type; `BudgetError`: one number cannot be the budget of everyone).
        DataError: the engine failed.
        FileError: `data` is a path, and the file cannot be read to its end.
    """
    kind: LabelKind = "numbers" if categories is None else categories.kind
    private = lowest > 0.0
    kinds: dict[str, LabelKind] = {"values": kind, "epsilon": "bins"}
    given = asked(values, epsilon, data, person, kinds=kinds, private=private)
    if given.data is None:
        table = _marked_arrays(given, bounds, categories)
    else:
        named = given.values, given.epsilon, given.data, given.person
        table = columns.read(*named, kind, lenient=private)
        if categories is not None and "values" in table.recast:
            categories = categories.recast

    def run() -> dict[str, list[Any]]:
        frame = table.frame
        if given.data is not None:
            frame = _marked(table, bounds, categories)
        result = collected(_query(frame, lowest), table.passed)
        return {name: result[name].to_list() for name in result.columns}

    found = guarded(table.failure, run)
    shared = None if isinstance(table.epsilon, str) else float(table.epsilon)
    seen = _summed(found, shared, lowest)
    text: tuple[str, ...] = ()
    budgets: tuple[str, ...] = ()
    of_text = kind in ("numbers", "bins", "integers") and not isinstance(values, Chosen)
    if seen.missing and of_text:
        text = forms_of(given.values, given.data, kind)
    if seen.unusable and shared is None and not isinstance(given.epsilon, Chosen):
        budgets = forms_of(given.epsilon, given.data, "numbers")
    return replace(seen, unread=text, unread_budgets=budgets)


def _summed(found: Mapping[str, list[Any]], shared: float | None, lowest: float) -> Look:
    """Add up the result of the query.

    Args:
        found: the columns of the result, with one entry for each possible number of rows of a
            person.
        shared: the budget of everyone, if it is one number.
        lowest: the lowest level of budgets.
    """

    def total(name: str) -> int:
        return sum(int(each or 0) for each in found[name])  # in SQL the sum of no rows is null

    def applies(name: str) -> int | None:
        return total(name) if name in found else None

    size, groups, people = (
        np.array([int(each or 0) for each in found[name]], dtype=np.int64)
        for name in ("rows", "groups", "people")
    )
    n = int(people.sum())
    if shared is None:
        budgets = {name: total(name) for name in ("conflicts", "unusable", "zero", "public")}
        budgets["short"] = total("short")
        usable = n - budgets["unusable"] - budgets["zero"] - budgets["public"]
        least = min((each for each in found["least"] if each is not None), default=0.0)
        largest = max((each for each in found["largest"] if each is not None), default=0.0)
    else:
        public = n if shared == np.inf else 0
        budgets = dict.fromkeys(("conflicts", "unusable", "zero"), 0)
        budgets |= {"public": public, "short": n if shared < lowest else 0}
        usable, least, largest = n - public, shared, shared
    return Look(
        rows=int((size * groups).sum()),
        people=n,
        nobody=int((size * (groups - people)).sum()),
        missing=total("missing"),
        infinite=applies("infinite"),
        below=applies("below"),
        above=applies("above"),
        undeclared=applies("undeclared"),
        silent=total("silent"),
        conflicts=budgets["conflicts"],
        unusable=budgets["unusable"],
        zero=budgets["zero"],
        public=budgets["public"],
        short=budgets["short"],
        least=float(least) if usable > 0 else None,
        largest=float(largest) if usable > 0 else None,
        median_rows=_median(size, people),
        most_rows=int(size[people > 0].max(initial=0)),
    )


def _median(size: Integers, people: Integers) -> float:
    """Return the median of sizes, weighted by their numbers of people; 0 if nobody is counted."""
    order = np.argsort(size)
    ends = np.cumsum(people[order])
    if ends.size == 0 or ends[-1] == 0:
        return 0.0
    middle = [(int(ends[-1]) - 1) // 2, int(ends[-1]) // 2]
    return float(size[order][np.searchsorted(ends, middle, side="right")].mean())


def _marked_arrays(
    given: AskedRows, bounds: tuple[float, float] | None, categories: Categories | None
) -> Columns:
    """Return a table of the marks of every row of arrays, with `e` and `who` as in `_marked`.

    No entry is refused.

    Args:
        given: the user's arrays.
        bounds: the bounds of numbers, if known.
        categories: the declared categories; None for numbers.

    Raises:
        ArgumentError: an argument is not a single column, or the lengths differ.
        ColumnError: a column has the wrong type.
        BudgetError: `epsilon` is one number that cannot be a budget.
    """
    import narwhals as nw
    import polars as pl

    names = given.names
    if categories is None:
        marks = _marks_of(arrays.floats(given.values, names.values, lenient=True), bounds)
    else:
        cell = cells_of(given.values, categories, names.values, lenient=True)
        marks = {"missing": cell == MISSING, "undeclared": cell == UNDECLARED}
    size = marks["missing"].size
    budgets, who, nobody = arrays.unchecked(given.epsilon, given.person, names, size, lenient=True)
    table: dict[str, Any] = {name: mark.astype(np.int64) for name, mark in marks.items()}
    if not isinstance(budgets, float):
        table["e"] = valid_or_bad(budgets)
    frame = pl.DataFrame(table)
    if who is not None:
        code = pl.Series("who", np.unique(who, return_inverse=True)[1].astype(np.int64))
        none = pl.Series("nobody", nobody)
        frame = frame.with_columns(pl.when(~none).then(code).alias("who"))
    epsilon = budgets if isinstance(budgets, float) else "e"
    return Columns(nw.from_native(frame.lazy()), "values", epsilon, None)


def _marks_of(values: Any, bounds: tuple[float, float] | None) -> dict[str, Booleans]:
    valid = np.isfinite(values)
    marks: dict[str, Booleans] = {"missing": np.isnan(values), "infinite": np.isinf(values)}
    if bounds is not None:
        lo, hi = bounds
        marks["below"], marks["above"] = valid & (values < lo), valid & (values > hi)
    return marks


def _marked(
    table: Columns, bounds: tuple[float, float] | None, categories: Categories | None
) -> nw.LazyFrame[Any]:
    """Return the marks of every row, with `e` if there is a column of budgets, and `who` of ids.

    Args:
        table: a frame with checked columns.
        bounds: the bounds of numbers, if known.
        categories: the declared categories; None for numbers.
    """
    import narwhals as nw

    if categories is not None:
        return labels_engine.marked(table, categories)
    value = floats(table, table.values)
    there, valid = a_number(value), finite(value)
    marks = {"missing": ~there, "infinite": there & ~valid}
    if bounds is not None:
        lo, hi = (exactly(end, table.frame) for end in bounds)
        marks["below"] = valid & (value < lo).fill_null(False)
        marks["above"] = valid & (value > hi).fill_null(False)
    own = [mark.cast(nw.Int64).alias(name) for name, mark in marks.items()]
    return table.frame.select(*own, *budget_and_person(table))


def _query(rows: nw.LazyFrame[Any], lowest: float) -> nw.LazyFrame[Any]:
    """Return a query that adds up marks and flags of budgets, grouped by a person's number of rows.

    Args:
        rows: rows with marks, with `e` if there is a column of budgets, and `who` if there is a
            column of ids. Rows without a person form a group, but do not count as a person.
        lowest: the lowest level of budgets.
    """
    import narwhals as nw

    there = rows.collect_schema()
    marks = [name for name in MARKS if name in there]
    folded, budgets = "who" in there, "e" in there
    person, size, conflict = nw.lit(1), nw.lit(1), nw.lit(0)
    people = rows
    if folded:
        people, size = by_person(rows, {name: (name, "sum") for name in marks}), nw.col("size")
        person = 1 - is_nobody("who", there["who"]).cast(nw.Int64)
        if budgets:
            conflict = (nw.col("e") != nw.col("e_max")).cast(nw.Int64)
    # Cast after the aggregation, because DuckDB adds up 64-bit integers in 128 bits.
    people = people.with_columns(
        *[nw.col(name).cast(nw.Int64) for name in marks],
        size.cast(nw.Int64).alias("rows"),
        person.cast(nw.Int64).alias("people"),
    )
    gone = nw.col("missing") + (nw.col("infinite") if "infinite" in marks else 0)
    flags = {"silent": (nw.col("rows") == gone).cast(nw.Int64) * nw.col("people")}
    extremes = []
    if budgets:
        flags["conflicts"] = conflict * nw.col("people")
        flags |= _budgets(nw.col("e"), nw.col("people"), exactly(lowest, rows))
        extremes = [nw.col("least").min(), nw.col("largest").max()]
    people = people.with_columns(*[flag.alias(name) for name, flag in flags.items()])
    summed = [*marks, "people", *[name for name in flags if name not in ("least", "largest")]]
    by_size = people.group_by("rows").agg(
        nw.len().alias("groups"), *[nw.col(name).sum() for name in summed], *extremes
    )
    return by_size.select(
        *[nw.col(name).cast(nw.Int64) for name in ("rows", "groups", *summed)],
        *(["least", "largest"] if budgets else []),
    )


def _budgets(e: nw.Expr, person: nw.Expr, lowest: nw.Expr) -> dict[str, nw.Expr]:
    """Return the columns of a row that depend on its budget `e`: flags, `least` and `largest`.

    All flags are 0 if `person` is 0. The query takes the minimum of `least` and the maximum of
    `largest`. Both are `e` if it is a positive, finite budget of a person. Otherwise they are ∞ and
    0, which change neither result.
    """
    import narwhals as nw

    usable = (e >= 0.0).fill_null(False) & a_number(e)
    positive = usable & (e > 0.0).fill_null(False)
    public = (e == math.inf).fill_null(False)
    between = positive & ~public & (person == 1)
    flags = {
        "unusable": ~usable,
        "zero": usable & ~positive,
        "public": public,
        "short": positive & (e < lowest).fill_null(False),
    }
    counted = {name: flag.cast(nw.Int64) * person for name, flag in flags.items()}
    return counted | {
        "least": nw.when(between).then(e).otherwise(nw.lit(math.inf)),
        "largest": nw.when(between).then(e).otherwise(nw.lit(0.0)),
    }
