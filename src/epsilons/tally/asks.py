"""What is asked of rows, as data: so several questions of one table can be counted at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from epsilons.ladder import Ladder
from epsilons.tally.categories import Categories, Grouping, Kind
from epsilons.tally.counted import Names
from epsilons.tally.grid import GRID, Rule
from epsilons.tally.tallies import NINE, THREE, TWO

__all__ = ["EVERYBODY", "Ask", "Bounds", "Rules", "What"]

EVERYBODY: Final = (None,)
"""The labels where there is one group, which holds everybody."""

Bounds: TypeAlias = tuple[float, float]

What = Literal["numbers", "squares", "pairs", "cells"]
"""How everyone divides their unit: among x and 1 − x, in the cells of their groups, if there are
such; among x², 2x(1 − x) and (1 − x)²; among nine cells, those of the squares of two columns; or
among the declared categories."""


@dataclass(frozen=True)
class Ask:
    """One question to rows.

    Attributes:
        what: what everyone's unit is divided among.
        bounds: the known range, of numbers: checked by `parameters.bounds`.
        rule: what is added up in place of u, a value as its share of the range: see `grid.Rule`.
        beside: the known range of the second column, of pairs.
        apart: whether groups are public: people are also counted by level and group, whatever they
            answer, and whoever is in two groups is refused.
    """

    what: What
    bounds: Bounds | None = None
    rule: Rule | None = None
    beside: Bounds | None = None
    apart: bool = False

    @property
    def ends(self) -> Bounds:
        """The range of numbers.

        Raises:
            TypeError: the question is one of categories.
        """
        if self.bounds is None:
            raise TypeError("numbers are put on a grid between bounds")
        return self.bounds


@dataclass(frozen=True, eq=False)
class Rules:
    """How rows are counted, whoever holds them and whatever is asked of them.

    Attributes:
        names: what messages call the parameters.
        missing: what is done with missing values: "error", "midpoint" or "exclude".
        unit: what one person divides among categories.
        categories: what was declared; None for numbers.
        ladder: the public ladder, if budgets are private.
        groups: what was declared; None for one group that holds everybody.
        some: whether not everyone need be in the one group.
        source: the table as it was given; None for arrays.
        values: the column of values in it, as it was given.
        epsilon: the budgets, as they were given.
        where: which rows are asked, as it was given.
        beside: the second column of numbers, as it was given.
    """

    names: Names
    missing: str
    unit: int
    categories: Categories | None
    ladder: Ladder | None
    groups: Grouping | None = None
    some: bool = False
    source: Any = None
    values: Any = None
    epsilon: Any = None
    where: Any = None
    beside: Any = None

    @property
    def private(self) -> bool:
        """Whether budgets and the number of people are."""
        return self.ladder is not None

    @property
    def groups_of(self) -> tuple[Any, ...]:
        """The labels of the groups."""
        return EVERYBODY if self.groups is None else self.groups.labels

    @property
    def outside(self) -> bool:
        """Whether somebody may be outside of all groups, or without a value: a last cell.

        On a ladder those without any of the numbers of three cells or of nine are in none.
        """
        asked = "where" in self.names.marks
        return asked or self.missing == "exclude" or (self.private and self.groups is not None)

    @property
    def in_the_middle(self) -> bool:
        """Whether someone without any value stands in the middle."""
        return self.missing == "midpoint" or (self.private and self.missing != "exclude")

    def labels(self, ask: Ask) -> tuple[Any, ...]:
        """What the cells of a tally stand for."""
        if self.categories is not None:
            return self.categories.labels
        if self.some and ask.what == "numbers":
            return self.groups_of
        return {"numbers": TWO, "squares": THREE}.get(ask.what, NINE)

    def unit_of(self, ask: Ask) -> int:
        """What one person divides."""
        return self.unit if ask.what == "cells" else GRID

    @property
    def labelled(self) -> list[tuple[Any, Categories]]:
        """The columns of labels, and what was declared of them."""
        if self.categories is not None:
            return [(self.values, self.categories)]
        groups = self.groups
        return [] if groups is None else list(zip(groups.by, groups.declared, strict=True))

    @property
    def columns(self) -> list[tuple[Any, Kind]]:
        """All columns, and what their entries must be."""
        found: list[tuple[Any, Kind]] = [(column, each.kind) for column, each in self.labelled]
        if self.categories is None:
            found.append((self.values, "numbers"))
        if self.beside is not None:
            found.append((self.beside, "numbers"))
        return found if self.where is None else [*found, (self.where, "booleans")]
