"""The categories that the caller declares: never taken from the data."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Set, Sized
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from epsilons.errors import ArgumentError, ColumnError
from epsilons.tally.given import TIMES, family, is_time
from epsilons.tally.grid import Floats, Integers

__all__ = [
    "MISSING",
    "UNDECLARED",
    "Categories",
    "Kind",
    "declare",
    "wrong_entry",
    "wrong_type",
]

Kind = Literal["numbers", "bins", "text", "integers", "booleans"]
"""What a column of values must be: "numbers" for a mean, the others for categories."""

UNDECLARED: Final = -1
"""The cell of a value that is in no category."""

MISSING: Final = -2
"""The cell of a value that is not there."""

MOST: Final = 10**6
"""The most categories."""

HOW = (
    "Give distinct strings, integers or booleans; or bins for numbers: pairs (lo, hi), or edges, "
    "at least one of them a float. (Integers are categories, floats are edges.)"
)
AS_TEXT: Final = "Convert it before: text is never read as numbers here."
NOTHING: Final[Floats] = np.empty(0)

NEEDED: Final[dict[Kind, str]] = {
    "numbers": "numbers",
    "bins": "numbers, since categories are bins",
    "text": "text, since categories are strings",
    "integers": "integers, since categories are integers: cast it before, or give bins (edges with "
    "at least one float are bins)",
    "booleans": "booleans, since categories are booleans",
}


@dataclass(frozen=True, eq=False)
class Categories:
    """Cells, and how a value finds its own.

    Attributes:
        kind: what values must be.
        labels: the label of each cell; that of `other` is the last if it is no category itself.
        declared: what a value must equal, in the order of cells; nothing for bins. Booleans are
            written as 0 and 1.
        other: the cell that catches what is missing or undeclared, or None.
        breaks: for bins: a value that is at or above j of these, which ascend, has the index j.
        cells: for bins: the cell of each index.
    """

    kind: Kind
    labels: tuple[Any, ...]
    declared: tuple[Any, ...]
    other: int | None
    breaks: Floats
    cells: Integers

    def of_floats(self, values: Floats) -> Integers:
        """Return the cell of each value, for bins: cells, `UNDECLARED` or `MISSING`."""
        found = self.cells[np.searchsorted(self.breaks, values, side="right")]
        return np.where(np.isnan(values), MISSING, found)


def declare(categories: object, other: object) -> Categories:
    """Check categories.

    Args:
        categories: distinct strings, integers or booleans; or bins: pairs (lo, hi) that ascend and
            do not overlap, or edges that ascend, at least one of them a float. Bins hold
            lo <= v < hi, and the last one its upper end too.
        other: the label of what is missing or in no category: one of the categories, or a further
            one; or None, if there must be no such values.

    Raises:
        ArgumentError: they cannot be categories. The message shows none of them.
    """
    items = _items(categories)
    declared: tuple[Any, ...] = ()
    breaks, cells = NOTHING, np.empty(0, dtype=np.int64)
    labels: tuple[Any, ...]
    kind: Kind
    types = set(map(type, items))
    if all(issubclass(type_, str) for type_ in types):
        kind, labels = "text", tuple(items)
        declared = labels if types == {str} else tuple(map(str.__str__, items))
        if not _is_unicode(declared):
            raise ArgumentError("categories has a string that is not valid Unicode (a surrogate).")
    elif types == {bool}:
        kind, labels = "booleans", tuple(items)
        declared = tuple(map(int, items))
    elif types == {int}:
        kind, labels, declared = "integers", tuple(items), tuple(items)
        if not (min(items) >= -(2**63) and max(items) < 2**63):
            raise ArgumentError("categories has integers that do not fit into 64 bits.")
    elif types <= {int, float}:
        kind = "bins"
        edges = _ends(items)
        if len(items) < 2 or not (edges[:-1] < edges[1:]).all():
            raise ArgumentError(
                "categories has floats, which are the edges of bins: give at least two, ascending."
            )
        labels = tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        breaks, cells = _bins(edges[:-1], edges[1:])
    elif types <= {tuple, list} and set(map(len, items)) == {2}:
        kind = "bins"
        labels = tuple((_plain(lo), _plain(hi)) for lo, hi in items)
        lo, hi = _ends([lo for lo, _ in labels]), _ends([hi for _, hi in labels])
        if not ((lo < hi).all() and (hi[:-1] <= lo[1:]).all()):
            raise ArgumentError(
                "categories has pairs, which are bins (lo, hi): lo must be below hi, and bins must "
                "ascend and not overlap."
            )
        breaks, cells = _bins(lo, hi)
    else:
        raise ArgumentError(f"categories are not all of one type. {HOW}")
    if len(labels) > MOST:
        raise ArgumentError(f"categories are more than {MOST:,}. {HOW}")
    labels, catches = _with_other(labels, other)
    if len(labels) < 2:
        raise ArgumentError("categories must be at least two, counting other.")
    return Categories(kind, labels, declared, catches, breaks, cells)


def wrong_type(kind: Kind, must: str, dtype: object) -> ColumnError:
    """Say that something, which `must` be of the type that `kind` needs, is not."""
    what = TIMES if family(dtype) == "time" else AS_TEXT
    return ColumnError(f"{must} {NEEDED[kind]}; its type is {dtype}. {what}")


def wrong_entry(kind: Kind, must: str, type_: type) -> ColumnError:
    """Say that something, which `must` be of the type that `kind` needs, has an entry that is not.

    Of the entry nothing is shown but its type.
    """
    what = TIMES if is_time(type_) else AS_TEXT
    if issubclass(type_, (list, tuple, np.ndarray)):
        what = "One column is meant, with one entry for each row."
    return ColumnError(
        f"{must} {NEEDED[kind]}; it holds something of type {type_.__name__}. {what}"
    )


def _plain(item: Any) -> Any:
    return item.item() if isinstance(item, np.generic) else item


def _items(categories: object) -> list[Any]:
    """Return what is declared as a list of Python objects."""
    if (
        isinstance(categories, (str, bytes, Mapping, Set))
        or not (isinstance(categories, Sized) and isinstance(categories, Iterable))
        or getattr(categories, "ndim", 1) not in (1, 2)
    ):
        raise ArgumentError(
            f"categories must be a list, in the order of the result; it is of type "
            f"{type(categories).__name__}. {HOW}"
        )
    if not 1 <= len(categories) <= MOST + 1:  # so many edges
        what = "none" if len(categories) == 0 else f"more than {MOST:,}"
        raise ArgumentError(f"categories are {what}. {HOW}")
    for method in ("tolist", "to_list", "to_pylist"):  # NumPy; pandas and Polars; PyArrow
        if hasattr(categories, method):
            items: list[Any] = getattr(categories, method)()
            return items
    return [_plain(item) for item in categories]


def _is_unicode(texts: tuple[str, ...]) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _ends(items: list[Any]) -> Floats:
    """Return ends of bins in float64."""
    problem = "not all numbers"
    if set(map(type, items)) <= {int, float}:
        try:
            ends: Floats = np.array(items, dtype=np.float64) + 0.0
        except OverflowError:
            problem = "too large for float64"
        else:
            if not np.isnan(ends).any():
                return ends
            problem = "NaN"
    raise ArgumentError(f"categories has ends of bins that are {problem}. {HOW}")


def _bins(lo: Floats, hi: Floats) -> tuple[Floats, Integers]:
    """Return the breaks of bins and the cell of each index: see `Categories`."""
    breaks, cells = np.repeat(lo, 2), np.repeat(np.arange(lo.size), 2)
    breaks[1::2] = hi
    cells[1::2] = UNDECLARED
    # The last bin holds its upper end: it breaks off at the next float, and not before infinity.
    breaks[-1] = math.nextafter(hi[-1], math.inf)
    keep = np.ones(breaks.size, dtype=bool)
    keep[1:-1:2] = hi[:-1] < lo[1:]
    keep[-1] = hi[-1] < math.inf
    return breaks[keep], np.concatenate([[UNDECLARED], cells[keep]])


def _with_other(labels: tuple[Any, ...], other: object) -> tuple[tuple[Any, ...], int | None]:
    """Return all labels, and the place of `other` among them."""
    if not isinstance(labels[0], tuple) and len(set(labels)) < len(labels):
        raise ArgumentError("categories has duplicates: declare each category once.")
    if other is None:
        return labels, None
    other = _plain(other)
    if not isinstance(other, Hashable) or other != other:
        raise ArgumentError("other must be a label: a string or a number.")
    try:
        place = labels.index(other)
    except ValueError:
        if isinstance(other, tuple):
            raise ArgumentError("other is a pair that is not among the categories.") from None
        return (*labels, other), len(labels)
    if isinstance(labels[place], bool) != isinstance(other, bool):
        raise ArgumentError("other is not of the type of categories, and equals one of them.")
    return labels, place
