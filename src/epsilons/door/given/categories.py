"""Categories and groups that the caller declares: never taken from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Final, Literal

import numpy as np

from epsilons.door.given.column import TIMES, family, is_time
from epsilons.errors import ArgumentError, ColumnError
from epsilons.listed import bins, labels
from epsilons.parameters import one_of
from epsilons.types import Floats, Integers

__all__ = [
    "MISSING",
    "MOST_GROUPS",
    "UNDECLARED",
    "Categories",
    "Grouping",
    "LabelKind",
    "declare",
    "declare_groups",
    "refuse_midpoint",
    "wrong_entry",
    "wrong_type",
]

LabelKind = Literal["numbers", "bins", "text", "integers", "booleans"]
"""What a column of values must be: "numbers" for a mean, the others for categories."""

UNDECLARED: Final = -1
"""The cell of a value that is in no category."""

MISSING: Final = -2
"""The cell of a value that is not there."""

MOST_GROUPS: Final = 10**5
"""The most groups, over both columns."""

AS_TEXT: Final = "Convert it first: text is never read as numbers here."
GAPS: Final = "pandas turns integers into floats if some are missing: astype('Int64') keeps them."
NOTHING: Final[Floats] = np.empty(0)

NEEDED: Final[dict[LabelKind, str]] = {
    "numbers": "numbers",
    "bins": "numbers, since edges are declared",
    "text": "text, since categories are strings",
    "integers": "integers, since categories are integers: cast it first, or declare edges to "
    "make bins of numbers",
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

    kind: LabelKind
    labels: tuple[Any, ...]
    declared: tuple[Any, ...]
    other: int | None
    breaks: Floats
    cells: Integers

    @property
    def recast(self) -> Categories:
        """The same for a column of numbers or truth values, where text was declared."""
        if self.kind != "text":
            return self
        from epsilons.door.given.spellings import canonical

        return replace(self, declared=tuple(canonical(self.declared)))

    def of_floats(self, values: Floats) -> Integers:
        """Return the cell of each value, for bins: cells, `UNDECLARED` or `MISSING`."""
        found = self.cells[np.searchsorted(self.breaks, values, side="right")]
        return np.where(np.isnan(values), MISSING, found)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group a row is of: one of those that were declared, never of what the data hold.

    Attributes:
        by: one or two columns, each an array or the name of a column of the data.
        declared: as many `Categories`, without `other`: rows that are in none are excluded, or
            refused.

    Raises:
        ArgumentError: there are not as many of the one as of the other, or too many groups.
    """

    by: tuple[Any, ...]
    declared: tuple[Categories, ...]

    def __post_init__(self) -> None:
        if len(self.by) not in (1, 2) or len(self.by) != len(self.declared):
            raise ArgumentError("by must be one column or two, with groups declared for each.")
        if any(each.other is not None for each in self.declared):
            raise ArgumentError(
                'groups have no other: missing="exclude" leaves out rows in none of them.'
            )
        if self.size > MOST_GROUPS:
            raise ArgumentError(
                f"groups: {self.size:,} are too many: at most {MOST_GROUPS:,} are supported. "
                "Declare fewer."
            )

    @property
    def size(self) -> int:
        """How many groups there are."""
        sizes = [len(each.labels) for each in self.declared]
        return sizes[0] * (sizes[1] if len(sizes) > 1 else 1)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The label of each group; of two columns a pair, of which the second runs fastest."""
        if len(self.declared) == 1:
            return self.declared[0].labels
        return tuple(product(*(each.labels for each in self.declared)))

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by what messages call them."""
        if len(self.by) == 1:
            return {"by": self.by[0]}
        return {f"by[{place}]": column for place, column in enumerate(self.by)}


def declare(categories: object, edges: object, other: object) -> Categories:
    """Check categories.

    Args:
        categories: distinct strings, integers or booleans; or None, and
        edges: numbers that ascend, or pairs (lo, hi) that ascend and do not overlap. Bins hold
            lo <= v < hi, and the last one its upper end too.
        other: the label of what is missing or in no category: one of the categories, or a further
            one; or None, if there must be no such values.

    Raises:
        ArgumentError: they cannot be categories. The message shows none of them.
    """
    one_of(categories, edges)
    declared: tuple[Any, ...] = ()
    breaks, cells = NOTHING, np.empty(0, dtype=np.int64)
    found: tuple[Any, ...]
    kind: LabelKind
    if edges is not None:
        kind, found = "bins", bins(edges)
        # + 0.0 makes an ordinary zero of -0.0.
        lo, hi = np.array(found, dtype=np.float64).T + 0.0
        breaks, cells = _bins(lo, hi)
    else:
        found = tuple(labels(categories))
        kind, declared = _written(found, "categories")
    found, catches = _with_other(found, other)
    if len(found) < 2:
        name = "categories" if edges is None else "edges"
        raise ArgumentError(f"{name} must define at least two categories, including other.")
    return Categories(kind, found, declared, catches, breaks, cells)


def declare_groups(groups: object) -> Categories:
    """Check the labels of the groups of one column: there may be one alone.

    Args:
        groups: distinct strings, integers or booleans.

    Raises:
        ArgumentError: they cannot be groups. The message shows none of them.
    """
    found = tuple(labels(groups, "groups"))
    kind, declared = _written(found, "groups")
    return Categories(kind, found, declared, None, NOTHING, np.empty(0, dtype=np.int64))


def refuse_midpoint(missing: str) -> None:
    """Refuse what is done with missing values of a mean.

    `open` does so, too; asked before `declare`, it is told before what is wrong with categories.

    Raises:
        ArgumentError: it is "midpoint" or "exclude".
    """
    if missing == "exclude":
        raise ArgumentError(
            'missing="exclude" is for numbers: declare other="…", a category for those who did not '
            "answer."
        )
    if missing == "midpoint":
        raise ArgumentError(
            'missing="midpoint" is for means: categories have no middle. '
            'Declare other="…", a category that catches missing values.'
        )


def _written(items: tuple[Any, ...], name: str) -> tuple[LabelKind, tuple[Any, ...]]:
    """Return the kind of categories or groups, and what a value must equal for each."""
    if isinstance(items[0], str):
        declared = tuple(map(str.__str__, items))
        if not _is_unicode(declared):
            raise ArgumentError(f"{name} has a string that is not valid Unicode (a surrogate).")
        return "text", declared
    if isinstance(items[0], bool):
        return "booleans", tuple(map(int, items))
    if not (min(items) >= -(2**63) and max(items) < 2**63):
        raise ArgumentError(f"{name} has integers that do not fit into 64 bits.")
    return "integers", items


def wrong_type(kind: LabelKind, must: str, dtype: object, of: str = "categories") -> ColumnError:
    """Say that something, which `must` be of the type that `kind` needs, is not.

    Args:
        kind: what was declared.
        must: how the message begins.
        dtype: the type that it has.
        of: what the kind is one of.
    """
    held = family(dtype)
    what = TIMES if held == "time" else AS_TEXT
    if kind == "integers" and held in ("float", "decimal"):
        what = GAPS
    return ColumnError(f"{must} {_needed(kind, of)}; its type is {dtype}. {what}")


def wrong_entry(kind: LabelKind, must: str, type_: type, of: str = "categories") -> ColumnError:
    """Say that something, which `must` be of the type that `kind` needs, has an entry that is not.

    Of the entry nothing is shown but its type.
    """
    what = TIMES if is_time(type_) else AS_TEXT
    if issubclass(type_, (list, tuple, np.ndarray)):
        what = "One column is meant, with one entry for each row."
    return ColumnError(
        f"{must} {_needed(kind, of)}; it holds something of type {type_.__name__}. {what}"
    )


def _needed(kind: LabelKind, of: str) -> str:
    return NEEDED[kind].replace("categories", of)


def _is_unicode(texts: tuple[str, ...]) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


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


def _with_other(found: tuple[Any, ...], other: object) -> tuple[tuple[Any, ...], int | None]:
    """Return all labels, and the place of `other` among them."""
    if other is None:
        return found, None
    other = other.item() if isinstance(other, np.generic) else other
    if not isinstance(other, (str, int, float, tuple)) or other != other:
        raise ArgumentError("other must be a label: a string or a number.")
    try:
        place = found.index(other)
    except ValueError:
        if isinstance(other, tuple):
            raise ArgumentError("other is a pair that is not among the bins.") from None
        return (*found, other), len(found)
    if isinstance(found[place], bool) != isinstance(other, bool):
        raise ArgumentError("other has another type than the categories, but equals one of them.")
    return found, place
