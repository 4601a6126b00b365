"""How everyone divides one unit among public cells. It counts nothing itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, Literal

from epsilons_next.checks import one_of
from epsilons_next.data.labels import LabelSet
from epsilons_next.errors import BoundsError
from epsilons_next.grid import GRID

__all__ = ["Number", "Split"]

NEAR: Final = 2.0**-32
"""Bounds that are nearer to each other, seen from 0, have no floats between them to speak of."""


@dataclass(frozen=True)
class Number:
    """A column of numbers, and the range that becomes 0 … 1.

    Raises:
        BoundsError: the bounds are no range, or one whose width no float can hold.
    """

    column: str
    low: float
    high: float

    def __post_init__(self) -> None:
        width, largest = self.high - self.low, max(abs(self.low), abs(self.high))
        if not (NEAR * largest <= width < math.inf and width > 0.0 and GRID / width < math.inf):
            raise BoundsError("bounds: the smaller number first, and neither too near nor too far.")


@dataclass(frozen=True)
class Split:
    """The public cells: for every group the same parts, and at the end the cell of who is in none.

    Args:
        numbers: each divides every part in two, as x to 1 − x: none gives the whole, (x,) gives x
            and 1 − x, (x, x) also the square.
        groups: columns of labels; each combination is a group. A person's rows divide them.
        where: columns of labels that all must hold; other rows do not count.
        missing: whether a row without an entry is a fault, or does not count.
        at_least: only people with so much ε are counted.
    """

    numbers: tuple[Number, ...] = ()
    groups: tuple[LabelSet, ...] = ()
    where: tuple[LabelSet, ...] = ()
    missing: Literal["error", "exclude"] = "error"
    at_least: float = 0.0

    def __post_init__(self) -> None:
        one_of("missing", self.missing, ("error", "exclude"))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, each once."""
        read: list[Number | LabelSet] = [*self.numbers, *self.groups, *self.where]
        return tuple(dict.fromkeys(each.column for each in read))

    @property
    def size(self) -> int:
        """How many groups there are."""
        return prod(len(labels.all_names) for labels in self.groups)

    @property
    def parts(self) -> int:
        """How many cells each group has."""
        return 1 << len(self.numbers)

    @property
    def outside(self) -> bool:
        """Whether somebody may be in no group: the last cell is theirs."""
        return bool(self.where) or self.missing == "exclude"

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.size * self.parts + self.outside

    @property
    def names(self) -> list[tuple[str, ...]]:
        """What the groups are called, by column."""
        return list(product(*(labels.all_names for labels in self.groups)))
