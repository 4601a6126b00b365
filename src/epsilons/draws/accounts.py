"""The interface between the corridor and a ledger.

The corridor (`corridor.py`) is the only path from a question to a release. It does not depend on
any database. `corridor.through` takes an account for one release and makes only these calls, in
this order:

    open(question)        return the releases already settled for the same question, or None
    sheet(data, person, weights)
                          return the data with everyone's remaining budget
    settle(charge, draw)  charge, draw and store the result in one transaction
    let_go()              clean up after an error, if `open` has returned

The corridor calls `open` and `sheet` before it reads any data. It calls `settle` after all checks
and before any draw.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

import numpy as np

from epsilons import door
from epsilons.results.release import Releases
from epsilons.types import Floats

__all__ = ["Account", "AccountSheet", "Charge", "Settled", "sum_of"]


@dataclass(frozen=True, eq=False)
class Charge:
    """Privacy loss as a function of ε: a person is charged at the highest level that is at most ε.

    If people have weights, levels and losses are those of one unit. A person of d units is charged
    d times the loss at the highest level that is at most ε/d.
    Proof: docs/proofs/weights.md (1).

    Attributes:
        levels: budgets ε, ascending.
        losses: the loss at each level, an exact fraction; ∞ for people who are used without noise.
    """

    levels: Floats
    losses: tuple[Fraction | float, ...]

    def on(self, levels: Floats) -> tuple[Fraction | float, ...]:
        """Return the losses at other budgets; 0 for budgets below all levels."""
        every = (Fraction(0), *self.losses)
        at = np.searchsorted(self.levels, levels, side="right")
        return tuple(map(every.__getitem__, at.tolist()))

    def __add__(self, other: Charge) -> Charge:
        levels = np.union1d(self.levels, other.levels)
        pairs = zip(self.on(levels), other.on(levels), strict=True)
        return Charge(levels, tuple(first + second for first, second in pairs))


def sum_of(charges: Iterable[Charge]) -> Charge:
    """Return the total charge of several draws."""
    return reduce(operator.add, charges)


@dataclass(frozen=True, eq=False)
class AccountSheet:
    """The data and the budgets for one release.

    Attributes:
        data: the table; None if the columns are arrays.
        epsilon: everyone's budget, and weight if people have weights (`Offers`); or the name of a
            column of budgets in the table; or an array of budgets.
    """

    data: Any
    epsilon: Any


@dataclass(frozen=True, eq=False)
class Settled:
    """The releases of a call, and their cost.

    Attributes:
        releases: one for each question.
        charge: the exact privacy loss of everyone.
    """

    releases: Releases
    charge: Charge


class Account(Protocol):
    """One release in a ledger."""

    @property
    def neighbours(self) -> str:
        """The neighbouring relation, the same for all releases of the ledger."""

    @property
    def most(self) -> float:
        """The most that anyone can offer to this release, whatever they have left."""

    def open(self, question: str) -> Releases | None:
        """Begin a release, or return it if it was already settled.

        Args:
            question: a hash of all arguments; it does not depend on data.

        Returns:
            The earlier releases, if the same question was settled under this name; otherwise None.
        """

    def sheet(self, data: Any, person: Any, weights: door.Weights | None) -> AccountSheet:
        """Return the data with everyone's remaining budget.

        Args:
            data: the given table, or None.
            person: the column that identifies people.
            weights: the weights of people; None if everyone counts equally.
        """

    def settle(self, charge: Charge | None, draw: Callable[[], Settled], /) -> Settled:
        """Charge and draw in one transaction.

        Args:
            charge: the loss of everyone. None if it depends on the draws; then it is at most the
                offered budget, and the returned `Settled` states it.
            draw: the function that draws. It is called once, and only if everyone can pay.

        Returns:
            The result of `draw`, after it is stored.
        """

    def let_go(self) -> None:
        """End a release after an error; if nothing was drawn, free the reserved budgets."""
