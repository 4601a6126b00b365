"""Who spent what: a rule from a budget to what was spent of it, with a row for each level."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from epsilons import words
from epsilons.budgets.levels import budgets_of_people
from epsilons.errors import BudgetError
from epsilons.frozen import storable
from epsilons.types import Floats, Integers

_ROWS = 8
"""Rungs of a fine ladder that are shown."""

_FINE = 256
"""Rungs beyond which a ladder is fine."""

_PUBLIC = 2.0**20
"""The highest rung that can be. Public records stand on it, and budgets above it."""

_NEARLY = 1.0 - 2.0**-30


class Spent(NamedTuple):
    """What the people of one level gave, and what they kept; how many, if that is public."""

    epsilon: float
    people: int | None
    spent: float
    kept: float


@storable("release.Expected")
@dataclass(frozen=True, eq=False)
class Expected:
    """How many people are expected at which budgets, where who is there is private.

    Attributes:
        levels: what people have to spend, ascending.
        people: how many: a guess that was declared, or a noisy count.
    """

    levels: Floats
    people: Integers


def left(level: float, spent: float) -> float:
    """What is left of a budget; what rounding down to integers leaves is nothing to speak of."""
    return level - spent if spent < level * _NEARLY else 0.0


def shown_levels(rungs: Floats) -> Floats:
    """The rungs as people know them: the highest one that can be is that of public records."""
    return np.where(rungs >= _PUBLIC, math.inf, rungs)


class Spending(Sequence[Spent]):
    """What a person with a budget ε spends: call it with an ε, or look at its rows.

    Attributes:
        ADDS_UP: that it adds up with what people spend elsewhere, in words.
    """

    ADDS_UP: ClassVar[str] = words.ADDS_UP

    @abstractmethod
    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """What each person spent.

        Args:
            epsilon: the budget of each person, in any order.

        Returns:
            What each of them spent, in the same order.

        Raises:
            BudgetError: a budget is no number, or, where all budgets are public, NaN or below all
                of them.
            ArgumentError: they are not one column.
        """

    @property
    @abstractmethod
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level, strictest first; for some of them if there are very many."""

    def __call__(self, epsilon: float) -> float:
        """What a person with this budget spent."""
        return float(self.for_each([epsilon])[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Spent]:
        return iter(self.rows)

    @overload
    def __getitem__(self, index: int) -> Spent: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Spent, ...]: ...
    def __getitem__(self, index: int | slice) -> Spent | tuple[Spent, ...]:
        return self.rows[index]


@storable("release.ByLevel")
@dataclass(frozen=True, eq=False, repr=False)
class ByLevel(Spending):
    """What a person spends is that of the highest level that is not above their ε.

    Attributes:
        levels: the budgets, ascending: of the people there, or the rungs of a public ladder.
        spent: what a person of each level spends.
        people: how many people are at each level; None where that is private.
    """

    levels: Floats
    spent: Floats
    people: Integers | None

    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """What each person spent; under add/remove nothing, if they stand below all rungs."""
        budgets = budgets_of_people(epsilon)
        if self.people is None:
            at = np.searchsorted(self.levels, np.where(budgets >= 0.0, budgets, 0.0), side="right")
            return np.concatenate([[0.0], self.spent])[at]
        if np.isnan(budgets).any() or (budgets < self.levels[0]).any():
            raise BudgetError(
                "epsilon: somebody's budget is NaN or below every level of this release. Ask about "
                "people who took part."
            )
        return np.asarray(self.spent[np.searchsorted(self.levels, budgets, side="right") - 1])

    @cached_property
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level, or for some of a ladder that has very many."""
        if self.people is not None:
            columns = zip(
                self.levels.tolist(), self.people.tolist(), self.spent.tolist(), strict=True
            )
            return tuple(Spent(at, n, gave, left(at, gave)) for at, n, gave in columns)
        shown: Any = slice(None)
        if len(self.levels) > _FINE:
            caps = self.levels[-1] * 2.0 ** np.arange(1 - _ROWS, 1)
            shown = np.searchsorted(self.levels, caps)
        pairs = zip(
            shown_levels(self.levels)[shown].tolist(), self.spent[shown].tolist(), strict=True
        )
        return tuple(Spent(at, None, gave, left(at, gave)) for at, gave in pairs)

    def __repr__(self) -> str:
        return repr(self.rows)


@storable("release.AllOfIt")
@dataclass(frozen=True, eq=False, repr=False)
class AllOfIt(Spending):
    """Everyone spent all that they offered: so it is in the local model.

    Attributes:
        levels: about which budgets there were, ascending.
        people: how many people had each.
    """

    ADDS_UP: ClassVar[str] = words.ADDS_UP_LOCALLY
    levels: Floats
    people: Integers

    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """What each person spent: their ε."""
        budgets = budgets_of_people(epsilon).copy()
        if not (budgets >= 0.0).all():
            raise BudgetError("epsilon: somebody's budget is negative or NaN.")
        return budgets

    @cached_property
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level."""
        pairs = zip(self.levels.tolist(), self.people.tolist(), strict=True)
        return tuple(Spent(level, people, level, left(level, level)) for level, people in pairs)

    def __repr__(self) -> str:
        return repr(self.rows)
