"""The interface between the corridor and a ledger; the corridor knows no database.

`corridor.through` takes an account for one release. It makes only these calls, in this order:

    open(question)        the releases already settled for the same question, or None
    sheet(data, person)   who may spend how much: the table with its column of budgets
    settle(charge, draw)  charges, draws and stores the result, all of it or nothing
    let_go()              after an error once `open` has returned

`open` and `sheet` are called before the corridor looks at any data. `settle` is called after every
check and before anything is drawn.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

import numpy as np

from epsilons.results.release import Releases
from epsilons.types import Floats

__all__ = ["Account", "AccountSheet", "Charge", "Settled", "sum_of"]


@dataclass(frozen=True, eq=False)
class Charge:
    """Privacy loss by budget: a person with ε pays for the highest level that is at most ε.

    Attributes:
        levels: budgets ε, ascending.
        losses: the loss at each level, an exact fraction; ∞ for people used without protection.
    """

    levels: Floats
    losses: tuple[Fraction | float, ...]

    def on(self, levels: Floats) -> tuple[Fraction | float, ...]:
        """Return the losses at other budgets; 0 for those below all levels."""
        every = (Fraction(0), *self.losses)
        at = np.searchsorted(self.levels, levels, side="right")
        return tuple(every[place] for place in at.tolist())

    def __add__(self, other: Charge) -> Charge:
        levels = np.union1d(self.levels, other.levels)
        pairs = zip(self.on(levels), other.on(levels), strict=True)
        return Charge(levels, tuple(first + second for first, second in pairs))


def sum_of(charges: Iterable[Charge]) -> Charge:
    """Return the total charge of several draws."""
    return reduce(operator.add, charges)


@dataclass(frozen=True, eq=False)
class AccountSheet:
    """The budgets of a release.

    Attributes:
        data: the table; None if the columns are arrays.
        epsilon: budgets by person, the name of a column of the table, or an array.
    """

    data: Any
    epsilon: Any


@dataclass(frozen=True, eq=False)
class Settled:
    """What was drawn, and what it cost.

    Attributes:
        releases: one for each question.
        charge: what people lost, exactly.
    """

    releases: Releases
    charge: Charge


class Account(Protocol):
    """One release of a ledger."""

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of all releases of the ledger."""

    def open(self, question: str, *former: str) -> Releases | None:
        """Begin a release.

        Args:
            question: a hash of all arguments, which contains no data.
            former: hashes of the same arguments as earlier versions computed them.

        Returns:
            The earlier releases, if the same question was settled under this name; otherwise None.
        """

    def sheet(self, data: Any, person: Any) -> AccountSheet:
        """Return who may spend how much.

        Args:
            data: the table that the user gave, or None.
            person: the column that identifies people.
        """

    def settle(self, charge: Charge | None, draw: Callable[[], Settled], /) -> Settled:
        """Charge and draw in one transaction.

        Args:
            charge: what people lose. None if that depends on what is drawn: then it is at most
                everything they offer, and the result says how much it was.
            draw: draws; to be called once, and only if everyone can pay.

        Returns:
            What was drawn, once it is stored.
        """

    def let_go(self) -> None:
        """End a release after an error; if nothing was drawn, give back all that it reserved."""
