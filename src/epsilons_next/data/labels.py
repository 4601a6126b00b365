"""Declared labels of a column: categories, groups, bins, or what a filter keeps.

A label is compared in the declared type of the column, exactly, and whole floats equal integers. In
text files a label is text, and "1" is the only 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias

from epsilons_next.checks import finite, kind_of
from epsilons_next.errors import ArgumentError

__all__ = ["Bins", "Entry", "LabelSet", "Labels", "declare"]

Entry: TypeAlias = str | int | float | bool
"""What may stand in a column of labels."""

MOST: Final = 10**6
"""So many labels may be declared."""


@dataclass(frozen=True, init=False)
class Bins:
    """Bins of numbers: from each edge to under the next, a finite last edge included.

    Args:
        edges: ascending numbers; the first may be −inf, the last inf.

    Raises:
        ArgumentError: they are not at least two ascending numbers.

    Examples:
        >>> Bins(-math.inf, 30, 60, math.inf).names
        ('under 30', '30 to under 60', '60 and over')
    """

    edges: tuple[float, ...]

    def __init__(self, *edges: float) -> None:
        plain = all(type(edge) in (int, float) for edge in edges)
        if not plain or len(edges) < 2 or not all(a < b for a, b in pairwise(edges)):
            raise ArgumentError("Bins: at least two ascending numbers, such as ep.Bins(0, 18, 65).")
        for edge in edges[edges[0] == -math.inf : len(edges) - (edges[-1] == math.inf)]:
            finite("Bins", edge)
        object.__setattr__(self, "edges", tuple(map(float, edges)))

    @property
    def names(self) -> tuple[str, ...]:
        """What the bins are called."""
        return tuple(map(self._name, self.edges[:-1], self.edges[1:]))

    def _name(self, low: float, high: float) -> str:
        start, end = _called(low), _called(high)
        if high == math.inf:
            return "any number" if low == -math.inf else f"{start} and over"
        last = high == self.edges[-1]
        if low == -math.inf:
            return f"{end} or less" if last else f"under {end}"
        return f"{start} to {end}" if last else f"{start} to under {end}"


Labels: TypeAlias = Sequence[Entry] | Mapping[str, Entry | Sequence[Entry]] | Bins | Entry
"""Entries in the order of the result; a mapping from names to one or several entries; or bins.

One entry may stand alone in `where`.
"""


@dataclass(frozen=True)
class LabelSet:
    """The declared labels of one column, in the order of the result.

    Args:
        column: its name.
        names: what the labels are called.
        entries: which entries each of them has; none, if they are bins.
        edges: those of bins.
        other: the name of everything else, or None.
    """

    column: str
    names: tuple[str, ...]
    entries: tuple[tuple[Entry, ...], ...] = ()
    edges: tuple[float, ...] = ()
    other: str | None = None

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names, that of everything else included."""
        return self.names if self.other is None else (*self.names, self.other)


def declare(
    parameter: str, column: str, labels: Labels, other: str | None = None, *, alone: bool = False
) -> LabelSet:
    """Check declared labels of one column.

    Args:
        parameter: where they were typed, for errors.
        column: the column that they are of.
        labels: a list, a mapping, or bins.
        other: the name of everything that is not declared.
        alone: whether one entry may stand alone.

    Raises:
        ArgumentError: they are not labels of one type, or a label stands there twice.
    """
    edges: tuple[float, ...] = ()
    named: dict[str, tuple[Entry, ...]]
    if isinstance(labels, Bins):
        named, edges = dict.fromkeys(labels.names, ()), labels.edges
    elif isinstance(labels, Mapping):
        named = {name: _several(parameter, entries) for name, entries in labels.items()}
    elif isinstance(labels, (list, tuple, range)) or (
        alone and isinstance(labels, (str, int, float))
    ):
        named = {_called(entry): (entry,) for entry in _several(parameter, labels)}
    else:
        raise ArgumentError(
            f'{parameter}: a list such as ["yes", "no"], a mapping such as {{"agree": [4, 5]}}, or '
            f"ep.Bins(0, 18, 65), known without looking at the data; this is {kind_of(labels)}."
        )
    names = (*named, *([other] if other is not None else []))
    named_well = all(isinstance(each, str) and each and each.isprintable() for each in names)
    if not 1 <= len(named) <= MOST or not named_well or not (edges or all(named.values())):
        raise ArgumentError(
            f"{parameter}: between one and a million labels, each with entries, and a name of one "
            "line of text."
        )
    entries = list(chain(*named.values()))
    if len({float if type(each) is int else type(each) for each in entries}) > 1:
        raise ArgumentError(f"{parameter}: labels are all text, all numbers, or True and False.")
    number = len(labels) if isinstance(labels, (list, tuple, range)) else len(named)
    if len({*names}) < len(names) or len({*entries}) < len(entries) or len(named) < number:
        raise ArgumentError(f"{parameter}: two labels are the same, or are called the same.")
    return LabelSet(column, tuple(named), tuple(named.values()), edges, other)


def _called(entry: Entry) -> str:
    whole = isinstance(entry, float) and entry.is_integer() and abs(entry) < 1e15
    return str(int(entry)) if whole else str(entry)


def _several(parameter: str, entries: Any) -> tuple[Entry, ...]:
    """Return one or several entries; whole floats are integers."""
    result = []
    for entry in entries if isinstance(entries, (list, tuple, range)) else [entries]:
        if type(entry) not in (str, int, float, bool) or entry != entry:
            raise ArgumentError(
                f"{parameter}: a label is text, a number, True or False; one is {kind_of(entry)}. "
                'Who has no entry is left out by missing="exclude", or is in other="…".'
            )
        result.append(int(entry) if isinstance(entry, float) and entry.is_integer() else entry)
    return tuple(result)
