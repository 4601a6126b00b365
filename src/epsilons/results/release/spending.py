"""Spending: the amount spent by a person with a given budget, as a function and as a table."""

from __future__ import annotations

import contextlib
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from epsilons import words
from epsilons.budgets.levels import budgets_of_people, budgets_of_units
from epsilons.errors import ArgumentError, BudgetError
from epsilons.frozen import storable
from epsilons.risk.weighing import Assumption
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
        ADDS_UP: a note for readers: what one person spends in several releases adds up.
        EACH: a phrase to append to the amounts in the rows, which says whose they are, such as
            " at the average weight". It is empty if no phrase is needed.
        weighted: whether people have weights. Then levels and amounts are those of one unit, and
            the mechanism counts units instead of people.
    """

    ADDS_UP: ClassVar[str] = words.ADDS_UP
    EACH: ClassVar[str] = ""
    weighted: ClassVar[bool] = False

    def for_each(self, epsilon: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
        """Return how much each person spent.

        Args:
            epsilon: the budget of each person, in any order.
            weights: the weight of each person, if people have weights.

        Returns:
            The amount that each person spent, in the same order.

        Raises:
            BudgetError: a budget is not a number; or, if budgets are public, it is NaN or below
                the lowest level.
            ArgumentError: the budgets are not a single column; or weights are given, but people
                have none, or the other way round.
        """
        if weights is not None:
            raise ArgumentError("weights: nobody has a weight in this release. Leave weights out.")
        return self.at(budgets_of_people(epsilon))

    @abstractmethod
    def at(self, levels: Floats) -> Floats:
        """Return what a person spends (with weights: one unit) at each of these budgets."""

    @property
    @abstractmethod
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level, strictest first; only some levels if there are very many."""

    @property
    def budgets(self) -> list[float]:
        """The largest budget of a person in each row."""
        return [row.epsilon for row in self.rows]

    @property
    def amounts(self) -> list[float]:
        """The amount in each row, except for rows with ε = 0 and for public records (ε = ∞)."""
        return [row.spent for row in self.rows if 0.0 < row.epsilon < math.inf]

    def on(self, levels: Floats, spent: Floats) -> Spending:
        """Return the spending of the same people, with other levels and amounts.

        Args:
            levels: the new levels, one for each current level.
            spent: the amount spent at each new level.
        """
        return ByLevel(levels, spent, None)

    def __call__(self, epsilon: float, weight: float | None = None) -> float:
        """Return how much a person with this budget, and this weight if they have one, spent."""
        return float(self.for_each([epsilon], None if weight is None else [weight])[0])

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

    def at(self, levels: Floats) -> Floats:
        """Return what is spent at each budget. Under add/remove, it is 0 below the lowest rung."""
        if self.people is None:
            at = np.searchsorted(self.levels, np.where(levels >= 0.0, levels, 0.0), side="right")
            return np.concatenate([[0.0], self.spent])[at]
        if np.isnan(levels).any() or (levels < self.levels[0]).any():
            raise BudgetError(
                "epsilon: somebody's budget is NaN or below every level of this release. Ask about "
                "people who took part."
            )
        return np.asarray(self.spent[np.searchsorted(self.levels, levels, side="right") - 1])

    def on(self, levels: Floats, spent: Floats) -> Spending:
        """Return the spending of the same people, with other levels and amounts."""
        return replace(self, levels=levels, spent=spent)

    @cached_property
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level, or for some of them if the ladder has very many rungs."""
        levels, spent = self.levels, self.spent
        if self.people is not None:
            people: list[Any] = self.people.tolist()
        else:
            if len(levels) > _FINE:
                caps = levels[-1] * 2.0 ** np.arange(1 - _ROWS, 1)
                shown = np.searchsorted(levels, caps)
                levels, spent = levels[shown], spent[shown]
            levels, people = shown_levels(levels), [None] * len(levels)
        columns = zip(levels.tolist(), people, spent.tolist(), strict=True)
        return tuple(Spent(at, n, gave, left(at, gave)) for at, n, gave in columns)

    def __repr__(self) -> str:
        return repr(self.rows)


@storable("release.PerWeight")
@dataclass(frozen=True, eq=False, repr=False)
class PerWeight(ByLevel):
    """Spending of people who have weights: rows are for someone of average weight.

    A person of weight w is d = w / `unit` units, rounded, and spends d times what a unit with the
    budget ε/d spends. Proof: docs/proofs/weights.md (1).

    Attributes:
        levels: the budgets of units, ascending.
        spent: the amount that a unit at each level spends.
        people: the number of people at each level.
        unit: the weight of one unit.
        total: the sum of everyone's weight.
        fewest: the smallest number of units of a person at each level.
        most: the largest number of units of a person at each level.
    """

    EACH: ClassVar[str] = " at the average weight"
    weighted: ClassVar[bool] = True
    unit: float
    total: float
    fewest: Integers
    most: Integers

    @property
    def budgets(self) -> list[float]:
        """The largest budget of a person at each level, up to rounding."""
        found: list[float] = (self.levels * self.most).tolist()
        return found

    @property
    def amounts(self) -> list[float]:
        """The least that a person spent at each level, then the most that a person spent there.

        Levels with ε = 0 and public records (ε = ∞) are left out.
        """
        finite = (self.levels > 0.0) & np.isfinite(self.levels)
        ends = [(self.spent * units)[finite] for units in (self.fewest, self.most)]
        found: list[float] = np.concatenate(ends).tolist()
        return found

    def for_each(self, epsilon: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
        """Return how much each person spent, given their budgets and weights.

        Raises:
            ArgumentError: weights are not given, or not one for each budget.
        """
        budgets = budgets_of_people(epsilon)
        given = None
        if weights is not None:
            with contextlib.suppress(TypeError, ValueError):  # the message could show a value
                given = np.asarray(weights, dtype=np.float64)
        if given is None or given.shape != budgets.shape:
            raise ArgumentError(
                "weights: people have weights in this release, so what they spent depends on them. "
                "Give one weight for each budget."
            )
        units = np.maximum(np.floor(given / self.unit + 0.5), 1.0)
        spent = self.at(budgets_of_units(budgets, units))
        # Round the product up, so what a person spent is never understated.
        several = np.minimum(np.nextafter(spent * units, math.inf), budgets)
        return np.where(units == 1.0, spent, several)

    def of_weights(self, name: str | None, assumption: Assumption) -> tuple[str, str]:
        """Return two sentences about weights: on what is protected, and on what is assumed."""
        return words.weighed(name, self.unit, max(self.amounts, default=0.0), assumption)

    @cached_property
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level, for someone of average weight."""
        people = 0 if self.people is None else int(self.people.sum())
        units = self.total / self.unit / people
        return ByLevel(units * self.levels, units * self.spent, self.people).rows


def weights_of(spending: Spending) -> dict[str, Any]:
    """Return public facts about weights as plain data; empty if people have none."""
    if not isinstance(spending, PerWeight):
        return {}
    return {"weights": {"unit": spending.unit, "total": spending.total}}


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

    def at(self, levels: Floats) -> Floats:
        """Return what a person spends at each budget: all of it."""
        if not (levels >= 0.0).all():
            raise BudgetError("epsilon: somebody's budget is negative or NaN.")
        return levels.copy()

    @cached_property
    def rows(self) -> tuple[Spent, ...]:
        """A row for each level."""
        return ByLevel(self.levels, self.levels, self.people).rows

    def __repr__(self) -> str:
        return repr(self.rows)
