"""Check declared labels and bin edges, and convert them to plain Python objects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from itertools import pairwise
from numbers import Number
from typing import Any, Final

from epsilons.errors import ArgumentError

__all__ = ["MOST_CATEGORIES", "bins", "labels", "several", "shown"]

MOST_CATEGORIES: Final = 10**6
"""The largest number of categories."""

_LONGEST: Final = 100
"""The length of an argument that messages show in full."""

_LABELS: Final = {
    "categories": "Give distinct strings, integers or booleans; for bins of numbers give edges.",
    "groups": "Give distinct strings, integers or booleans; for two columns, a list of each.",
    "menu": 'Give words of one kind, such as menu={"strict": 0.1, "open": 2}.',
}
_EDGES: Final = "Give ascending numbers, such as [0, 18, 65], or pairs [(0, 18), (30, 65)]."


def shown(given: object) -> str:
    """Return an argument as messages show it: a short text or a number, or else its type.

    An array, a column or a mapping may hold values of people, and so may what prints itself.
    """
    plain = given is None or type(given) is str or isinstance(given, Number)
    text = repr(given) if plain else ""
    return text if 0 < len(text) <= _LONGEST else f"<{type(given).__name__}>"


def several(declared: object) -> bool:
    """Whether labels are declared for several columns: lists of labels, not pairs of numbers."""
    if isinstance(declared, (str, bytes)) or not isinstance(declared, Sequence) or not declared:
        return False
    if any(isinstance(each, (str, bytes)) or not hasattr(each, "__len__") for each in declared):
        return False
    return not all(isinstance(each, tuple) for each in declared) or any(
        isinstance(label, (str, bool)) for each in declared for label in each
    )


def labels(declared: object, name: str = "categories") -> list[Any]:
    """Return declared categories or groups: distinct strings, or integers, or booleans.

    Args:
        declared: the user's argument.
        name: the parameter, as the user types it.

    Raises:
        ArgumentError: they are not distinct labels of one type. The message shows none of them.
    """
    how = _LABELS[name]
    items = _listed(name, declared, how)
    types = set(map(type, items))
    if types not in ({str}, {bool}, {int}) and not all(issubclass(each, str) for each in types):
        if not any(issubclass(each, (float, tuple, list)) for each in types):
            raise ArgumentError(f"{name} are not all of one type. {how}")
        what = "floats" if any(issubclass(each, float) for each in types) else "pairs"
        if name != "categories":
            raise ArgumentError(f"{name} has {what}, which are not labels. {how}")
        raise ArgumentError(
            f"categories has {what}, which are bins of numbers, not categories: write edges=[…] "
            "instead of categories=[…]. If they are codes, such as 1.0 for yes, convert the column "
            "to integers and declare categories=[0, 1]."
        )
    if len(set(items)) < len(items):
        one = "category" if name == "categories" else "group"
        raise ArgumentError(f"{name} has duplicates: declare each {one} once.")
    return items


def bins(edges: object) -> tuple[tuple[Any, Any], ...]:
    """Return the bins (lo, hi) that edges define, ascending and without overlap.

    Args:
        edges: ascending numbers, each the end of one bin and the start of the next; or pairs
            (lo, hi), which may leave gaps.

    Raises:
        ArgumentError: `edges` has neither form. The message shows none of the edges.
    """
    items = _listed("edges", edges, _EDGES)
    types = set(map(type, items))
    if types <= {tuple, list} and set(map(len, items)) == {2}:
        pairs = tuple((_plain(lo), _plain(hi)) for lo, hi in items)
        ends = [_floats([end[side] for end in pairs]) for side in (0, 1)]
        apart = all(hi <= lo for hi, lo in zip(ends[1][:-1], ends[0][1:], strict=True))
        if not (apart and all(lo < hi for lo, hi in zip(*ends, strict=True))):
            raise ArgumentError(
                "edges has pairs, which are bins (lo, hi): lo must be below hi, and bins must "
                "ascend and not overlap."
            )
        return pairs
    ascending = _floats(items)
    if len(items) < 2 or not all(a < b for a, b in pairwise(ascending)):
        raise ArgumentError("edges must be at least two numbers in ascending order.")
    return tuple(pairwise(items))


def _floats(items: list[Any]) -> list[float]:
    """Return bin edges as float64.

    Raises:
        ArgumentError: they are not all numbers, do not fit float64, or are NaN.
    """
    problem = "not all numbers"
    if set(map(type, items)) <= {int, float}:
        try:
            ends = [float(item) for item in items]
        except OverflowError:
            problem = "too large for float64"
        else:
            if not any(map(math.isnan, ends)):
                return ends
            problem = "NaN"
    raise ArgumentError(f"edges has ends of bins that are {problem}. {_EDGES}")


def _plain(item: Any) -> Any:
    """Convert a NumPy scalar to a Python object; return anything else as it is."""
    return item.item() if hasattr(item, "dtype") and hasattr(item, "item") else item


def _listed(name: str, given: object, how: str) -> list[Any]:
    """Return declared labels or edges as a list of Python objects.

    Raises:
        ArgumentError: they are not a list, or the list is empty or too long.
    """
    if (
        isinstance(given, (str, bytes, Mapping, Set))
        or not (isinstance(given, Sized) and isinstance(given, Iterable))
        or getattr(given, "ndim", 1) not in (1, 2)
    ):
        raise ArgumentError(
            f"{name} must be a list, in the order of the result; it is of type "
            f"{type(given).__name__}. {how}"
        )
    most = MOST_CATEGORIES + (name == "edges")
    if not 1 <= len(given) <= most:
        what = "none" if len(given) == 0 else f"more than {most:,}"
        raise ArgumentError(f"{name} are {what}. {how}")
    for method in ("tolist", "to_list", "to_pylist"):  # NumPy; pandas and Polars; PyArrow
        if hasattr(given, method):
            items: list[Any] = getattr(given, method)()
            return items
    return list(map(_plain, given))
