"""Spending: the amount spent by a person with a given budget, as a function and as a table."""

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
"""The number of rows that are shown for a ladder with many rungs (budget levels)."""

_FINE = 256
"""A ladder with more rungs than this is shown only in part."""

_PUBLIC = 2.0**20
"""The highest possible rung. Larger budgets, and public records (ε = ∞), are at this rung."""

_NEARLY = 1.0 - 2.0**-30
"""If at least this fraction of a budget is spent, the remainder is due to rounding: show 0."""


class Spent(NamedTuple):
    """The amounts that each person at one level spent and kept. `people` is None if private."""

    epsilon: float
    people: int | None
    spent: float
    kept: float


@storable("release.Expected")
@dataclass(frozen=True, eq=False)
class Expected:
    """The expected number of people at each budget, if participation is private.

    Attributes:
        levels: the budgets, ascending.
        people: the number of people at each budget: a declared guess, or a noisy count.
    """

    levels: Floats
    people: Integers


def left(level: float, spent: float) -> float:
    """The unspent part of a budget; 0 if the remainder is due to rounding."""
    return level - spent if spent < level * _NEARLY else 0.0


def shown_levels(rungs: Floats) -> Floats:
    """The rungs, with the highest possible rung (for public records) replaced by ∞."""
    return np.where(rungs >= _PUBLIC, math.inf, rungs)


class Spending(Sequence[Spent]):
    """The amount that a person spends, as a function of ε and as a sequence of rows.

    Attributes:
        ADDS_UP: the sentence that spending adds up over releases.
    """

    ADDS_UP: ClassVar[str] = words.ADDS_UP

    @abstractmethod
    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """Return how much each person spent.

        Args:
            epsilon: the budget of each person, in any order.

        Returns:
            The amount that each person spent, in the same order.

        Raises:
            BudgetError: a budget is not a number; or, if budgets are public, it is NaN or below
                the lowest level.
            ArgumentError: the budgets are not a single column.
        """

    @property
    @abstractmethod
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level, strictest first; only some levels if there are very many."""

    def __call__(self, epsilon: float) -> float:
        """Return how much a person with this budget spent."""
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
    """Spending by level: a person is at the highest level that is not above their ε.

    Attributes:
        levels: the levels, ascending: people's budgets, or the rungs of a public ladder.
        spent: the amount that a person at each level spends.
        people: the number of people at each level; None if counts are private.
    """

    levels: Floats
    spent: Floats
    people: Integers | None

    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """Return how much each person spent. Under add/remove, it is 0 below the lowest rung."""
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
        """A row for each level, or for some of them if the ladder has very many rungs."""
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
    """Everyone spent all of their ε, as in the local model.

    Attributes:
        levels: the budgets, ascending; approximate if there are many different budgets.
        people: the number of people with each budget.
    """

    ADDS_UP: ClassVar[str] = words.ADDS_UP_LOCALLY
    levels: Floats
    people: Integers

    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """Return how much each person spent: their ε."""
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
