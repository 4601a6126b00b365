"""What the corridor asks of an account, so that it knows no database.

An account is handed to `corridor.through` for one release. These calls are made of it, in this
order, and nothing else:

    open(question)        what was settled for this very question, or None
    sheet(data, person)   who may spend how much: the table with its column of budgets
    settle(charge, draw)  charges, draws and keeps what was drawn, all of it or nothing
    let_go()              after an error in the two above

`open` and `sheet` are called before anything of the data was seen; `settle` after every check, and
before anything is drawn.
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
    """What people lose, by their budget: whoever offers ε pays for the highest level up to it.

    Attributes:
        levels: budgets, ascending.
        losses: exact fractions, ∞ for people who are used without protection.
    """

    levels: Floats
    losses: tuple[Fraction | float, ...]

    def on(self, levels: Floats) -> tuple[Fraction | float, ...]:
        """The same, for other budgets; nothing for those below all levels."""
        every = (Fraction(0), *self.losses)
        at = np.searchsorted(self.levels, levels, side="right")
        return tuple(every[place] for place in at.tolist())

    def __add__(self, other: Charge) -> Charge:
        levels = np.union1d(self.levels, other.levels)
        pairs = zip(self.on(levels), other.on(levels), strict=True)
        return Charge(levels, tuple(first + second for first, second in pairs))


def sum_of(charges: Iterable[Charge]) -> Charge:
    """What several draws take together."""
    return reduce(operator.add, charges)


@dataclass(frozen=True, eq=False)
class AccountSheet:
    """The budgets of a release.

    Attributes:
        data: the table; None if there are arrays.
        epsilon: budgets by person, the name of a column of the table, or an array.
    """

    data: Any
    epsilon: Any


@dataclass(frozen=True, eq=False)
class Settled:
    """What was drawn.

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
        """What counts as a change of one person, in all releases of the ledger."""

    def open(self, question: str, *former: str) -> Releases | None:
        """Begin a release.

        Args:
            question: a hash of all arguments, and of no data.
            former: hashes that earlier versions made of the same arguments.

        Returns:
            What was released before, if the same question was settled under this name.
        """

    def sheet(self, data: Any, person: Any) -> AccountSheet:
        """Who may spend how much.

        Args:
            data: the table that the user gave, or None.
            person: whose row it is.
        """

    def settle(self, charge: Charge | None, draw: Callable[[], Settled], /) -> Settled:
        """Charge and draw in one transaction.

        Args:
            charge: what people lose; None where it depends on what is drawn: then it is at most all
                that they offer, and what was drawn says how much.
            draw: draws; to be called once, and only if everyone can pay.

        Returns:
            What was drawn, once it is kept.
        """

    def let_go(self) -> None:
        """End a release that met an error. If nothing was drawn, it holds nothing back any more."""
