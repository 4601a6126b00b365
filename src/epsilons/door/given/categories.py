"""Categories and groups, as the user declares them. They are never inferred from the data."""

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
    "ANSWERS",
    "MISSING",
    "MOST_GROUPS",
    "OF",
    "UNDECLARED",
    "Categories",
    "Grouping",
    "LabelKind",
    "declare",
    "declare_groups",
    "declare_label",
    "refuse_midpoint",
    "wrong_entry",
    "wrong_type",
]

LabelKind = Literal["numbers", "bins", "text", "integers", "booleans"]
"""The required kind of a column's entries: "numbers" for a mean, the others for categories."""

UNDECLARED: Final = -1
"""The cell of a value that is in no category."""

MISSING: Final = -2
"""The cell of a missing value."""

MOST_GROUPS: Final = 10**5
"""The largest number of groups, counting all pairs if there are two columns."""

AS_TEXT: Final = "Convert it first: text is never read as numbers here."
ANSWERS: Final = (
    'For the share of each answer, such as yes and no, ask ep.frequencies(…, categories=["yes", '
    '"no"]).'
)
MENU: Final = (
    'That includes "inf". If its words stand for budgets, give menu={"strict": 0.1, "open": 2}.'
)
GAPS: Final = "pandas turns integers into floats if some are missing: astype('Int64') keeps them."
NOTHING: Final[Floats] = np.empty(0)

OF: Final = {
    "values": "categories",
    "where": "true and false",
    "y": "numbers",
    "weights": "numbers",
    "epsilon": "the words of menu",
}
"""The contents of columns by parameter, for messages. All other parameters are groups."""

_BINS: Final = ", or declare edges to make bins of numbers"

NEEDED: Final[dict[LabelKind, str]] = {
    "numbers": "numbers",
    "bins": "numbers, since edges are declared",
    "text": "text, since categories are strings",
    "integers": f"integers, since categories are integers: cast it first{_BINS}",
    "booleans": "booleans, since categories are booleans",
}


@dataclass(frozen=True, eq=False)
class Categories:
    """Declared categories: the cells of a table, and the cell of each value.

    Attributes:
        kind: the required kind of values.
        labels: the label of each cell. The label of `other` is last, unless it is also a category.
        declared: the value of each cell, in the order of cells; empty for bins. Booleans are
            represented by 0 and 1.
        other: the cell of missing and undeclared values, or None.
        breaks: for bins, ascending breaks. A value has index j if j breaks are at or below it.
        cells: for bins, the cell of each index.
    """

    kind: LabelKind
    labels: tuple[Any, ...]
    declared: tuple[Any, ...]
    other: int | None
    breaks: Floats
    cells: Integers

    @property
    def recast(self) -> Categories:
        """The same categories for a column of numbers or booleans, if text was declared."""
        if self.kind != "text":
            return self
        from epsilons.door.given.spellings import canonical

        return replace(self, declared=tuple(canonical(self.declared)))

    def of_floats(self, values: Floats) -> Integers:
        """Return the bin of each value: its cell, `UNDECLARED` or `MISSING`."""
        found = self.cells[np.searchsorted(self.breaks, values, side="right")]
        return np.where(np.isnan(values), MISSING, found)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Declared groups of rows. They are never inferred from the data.

    Attributes:
        by: one or two columns, each an array or the name of a column of the data.
        declared: one `Categories` for each column, without `other`: rows in no group are excluded
            or refused.

    Raises:
        ArgumentError: the numbers of columns and of `Categories` differ, or there are too many
            groups.
    """

    by: tuple[Any, ...]
    declared: tuple[Categories, ...]

    def __post_init__(self) -> None:
        if len(self.by) not in (1, 2) or len(self.by) != len(self.declared):
            raise ArgumentError("by must be one column or two, with groups declared for each.")
        for each in self.declared:
            if each.other is not None:
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
        """The number of groups."""
        first, *second = self.declared
        return len(first.labels) * (len(second[0].labels) if second else 1)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The label of each group.

        For two columns it is a pair; the second entry varies fastest.
        """
        if len(self.declared) == 1:
            return self.declared[0].labels
        return tuple(product(*(each.labels for each in self.declared)))

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by their names in messages."""
        if len(self.by) == 1:
            return {"by": self.by[0]}
        return {f"by[{place}]": column for place, column in enumerate(self.by)}


def declare(categories: object, edges: object, other: object) -> Categories:
    """Return the declared categories, after checking them.

    Args:
        categories: distinct strings, integers or booleans; or None, if `edges` is given.
        edges: ascending numbers; or ascending pairs (lo, hi) that do not overlap. A bin contains
            lo <= v < hi, and the last bin also contains its upper end.
        other: the label for missing and undeclared values: one of the categories, or an additional
            label; None if such values are not expected.

    Raises:
        ArgumentError: the categories are invalid. The message contains none of them.
    """
    one_of(categories, edges)
    declared: tuple[Any, ...] = ()
    breaks, cells = NOTHING, np.empty(0, dtype=np.int64)
    found: tuple[Any, ...]
    kind: LabelKind
    if edges is not None:
        kind, found = "bins", bins(edges)
        # + 0.0 turns -0.0 into 0.0.
        lo, hi = np.array(found, dtype=np.float64).T + 0.0
        breaks, cells = _bins(lo, hi)
    else:
        found = tuple(labels(categories))
        kind, declared = _written(found, "categories")
    found, catches = (found, None) if other is None else _with_other(found, other)
    if len(found) < 2:
        name = "categories" if edges is None else "edges"
        raise ArgumentError(f"{name} must define at least two categories, including other.")
    return Categories(kind, found, declared, catches, breaks, cells)


def declare_groups(groups: object, name: str = "groups") -> Categories:
    """Return the groups of one column, after checking their labels. A single group is allowed.

    Args:
        groups: distinct strings, integers or booleans.
        name: the parameter, as the user types it.

    Raises:
        ArgumentError: the groups are invalid. The message contains none of them.
    """
    found = tuple(labels(groups, name))
    kind, declared = _written(found, name)
    return Categories(kind, found, declared, None, NOTHING, np.empty(0, dtype=np.int64))


def declare_label(label: object, name: str) -> Categories:
    """Return one label and everything else, including missing values, as two categories.

    Args:
        label: a string, an integer or a boolean.
        name: the parameter, as the user types it.

    Raises:
        ArgumentError: it is something else.
    """
    label = label.item() if isinstance(label, np.generic) else label
    if not isinstance(label, (str, int)):
        raise ArgumentError(
            f"{name}: the second of the pair must be a label: a string, an integer or a boolean."
        )
    kind, declared = _written((label,), name)
    return Categories(kind, (label, None), declared, 1, NOTHING, np.empty(0, dtype=np.int64))


def refuse_midpoint(missing: str) -> None:
    """Refuse options for missing values that apply only to numbers.

    `open` also refuses them. Because this runs before `declare`, it reports them before any error
    in the categories.

    Raises:
        ArgumentError: `missing` is "midpoint" or "exclude".
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
    """Return the kind of categories or groups, and the value of each."""
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
    """Return the error for a column whose type does not match `kind`.

    Args:
        kind: the declared kind.
        must: the beginning of the message.
        dtype: the type of the column.
        of: the word for the declared labels: "categories", "groups", …; or "budgets".
    """
    held = family(dtype)
    what = TIMES if held == "time" else _as_text(kind, of)
    if kind == "integers" and held in ("float", "decimal"):
        what = GAPS
    if kind == "text" and of == OF["values"] and held in ("integer", "float", "decimal"):
        what = "It holds numbers: declare categories that are integers, or edges; or convert it."
    return ColumnError(f"{must} {_needed(kind, of)}; its type is {dtype}. {what}")


def wrong_entry(kind: LabelKind, must: str, type_: type, of: str = "categories") -> ColumnError:
    """Return the error for a column with an entry whose type does not match `kind`.

    The message shows only the type of the entry.
    """
    what = TIMES if is_time(type_) else _as_text(kind, of)
    if issubclass(type_, (list, tuple, np.ndarray)):
        what = "One column is meant, with one entry for each row."
    return ColumnError(
        f"{must} {_needed(kind, of)}; it holds something of type {type_.__name__}. {what}"
    )


def _as_text(kind: LabelKind, of: str) -> str:
    """Return advice for a column that is not of numbers, or not of the declared kind."""
    if of == "budgets":
        return f"{AS_TEXT} {MENU}"
    if of == OF["where"]:
        return 'Name the label that counts, such as where=("answer", "yes"); or convert it first.'
    return f"{AS_TEXT} {ANSWERS}" if kind == "numbers" else AS_TEXT


def _needed(kind: LabelKind, of: str) -> str:
    needed = NEEDED[kind].replace("categories", of)
    return needed.removesuffix(_BINS) if "menu" in of else needed


def _is_unicode(texts: tuple[str, ...]) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _bins(lo: Floats, hi: Floats) -> tuple[Floats, Integers]:
    """Return the breaks of bins, and the cell of each index: see `Categories`."""
    breaks, cells = np.repeat(lo, 2), np.repeat(np.arange(lo.size), 2)
    breaks[1::2] = hi
    cells[1::2] = UNDECLARED
    # The last bin contains its upper end, so its break is the next float. An infinite end has no
    # break.
    breaks[-1] = math.nextafter(hi[-1], math.inf)
    keep = np.ones(breaks.size, dtype=bool)
    keep[1:-1:2] = hi[:-1] < lo[1:]
    keep[-1] = hi[-1] < math.inf
    return breaks[keep], np.concatenate([[UNDECLARED], cells[keep]])


def _with_other(found: tuple[Any, ...], other: object) -> tuple[tuple[Any, ...], int]:
    """Return all labels, and the index of `other` among them."""
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
