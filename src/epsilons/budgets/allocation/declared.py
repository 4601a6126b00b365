"""Public facts under add/remove: a ladder of budgets, and optionally expected counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from epsilons.budgets.levels import LARGEST, SMALLEST, Budgets, Ladder, float_down, is_number, typed
from epsilons.errors import ArgumentError, BudgetError
from epsilons.listed import shown
from epsilons.types import Integers

HIGHEST: Final = 16.0
"""The highest rung if no levels are declared. Larger budgets are lowered to this value."""


@dataclass(frozen=True, eq=False)
class Declared:
    """The facts that are public before any data are read.

    Attributes:
        ladder: the public budget levels, called rungs. A person's rung is the highest one that is
            at most their ε.
        cap: the maximum that anyone spends, if the caller gives one.
        guess: the expected number of people on each rung, if the caller gives it.
    """

    ladder: Ladder
    cap: float | None = None
    guess: Integers | None = None

    @property
    def equal(self) -> bool:
        """Whether everyone is known to have the same rung."""
        return len(self.ladder.levels) == 1


def declared_of(epsilon: Any, levels: Any, cap: Any) -> Declared:
    """Return the public facts that a caller declares.

    Args:
        epsilon: used only if it is a single number for everyone.
        levels: None, the budgets that people were offered, or a mapping from these budgets to a
            guess of how many people chose each.
        cap: None, or the maximum that anyone spends.

    Raises:
        BudgetError: a level or the cap is not a number above 0, there are too many levels, or two
            levels are too close together.
        ArgumentError: a guess is not an integer, or levels are declared together with a single
            budget for everyone.
    """
    limit = None if cap is None else _cap(cap)
    one = _one(epsilon)
    if one is not None:
        if levels is not None:
            raise ArgumentError(
                "levels: epsilon is one number, so everyone's budget is known. Leave levels "
                "out, or give one epsilon for each person."
            )
        if one < SMALLEST:
            raise BudgetError(
                f"epsilon={one!r} is too small for any result: at least {SMALLEST:.2g} is needed."
            )
        # One number for everyone is an argument of the call, not data. Arguments are public, so
        # everyone's rung is public.
        return Declared(Ladder.declare(np.array([one])), min(one, limit or math.inf))
    if levels is None:
        ladder = Ladder.up_to(HIGHEST if limit is None else limit)
        return Declared(ladder, None if limit is None else min(limit, ladder.top))
    guessed = isinstance(levels, (Mapping, Budgets))
    if not guessed and (isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable)):
        raise BudgetError(
            f"levels={shown(levels)} must be the budgets that people were offered, such as "
            "[0.1, 1.0], or a mapping from these to how many people you expect at each."
        )
    listed = isinstance(levels, (list, tuple))  # the entries of a column are not shown
    people = _guess(levels) if guessed else {_level(each, listed): 0 for each in levels}
    offered = np.array(list(people), dtype=np.float64)
    offered = offered[offered != 0.0]
    ladder = Ladder.declare(offered)
    if not guessed:
        return Declared(ladder, limit)
    counts = np.zeros(len(ladder.levels), dtype=np.int64)
    rungs = np.searchsorted(ladder.levels, ladder.of(offered))
    np.add.at(counts, rungs, [people[level] for level in offered.tolist()])
    return Declared(ladder, limit, counts)


def _one(epsilon: Any) -> float | None:
    if isinstance(epsilon, np.ndarray) and epsilon.ndim == 0:
        epsilon = epsilon[()]
    if not is_number(epsilon):
        return None
    one = float_down(epsilon)
    # Invalid values are rejected later, where all numbers are checked.
    return min(one, LARGEST) if one > 0.0 else None


def _cap(cap: Any) -> float:
    limit = float_down(cap) if is_number(cap) else math.nan
    if not limit >= SMALLEST:
        raise BudgetError(
            f"cap={shown(cap)} must be a number above 0 (at least {SMALLEST:.2g}): the most that "
            "anyone spends."
        )
    return min(limit, LARGEST)


def _guess(levels: Mapping[Any, Any] | Budgets) -> dict[float, int]:
    if isinstance(levels, Budgets):
        return dict(zip(levels.levels.tolist(), levels.counts.tolist(), strict=True))
    guess: dict[float, int] = {}
    for level, people in levels.items():
        whole = isinstance(people, (int, np.integer)) and not isinstance(people, bool)
        if not whole or not 0 <= people <= 2**53:
            raise ArgumentError(
                f"levels: the number of people expected at {typed(level)} must be a whole number "
                f"from 0, but is {typed(people)}."
            )
        budget = _level(level)
        guess[budget] = guess.get(budget, 0) + int(people)  # two keys can round to the same float
    return guess


def _level(level: Any, listed: bool = True) -> float:
    budget = float_down(level) if is_number(level) else math.nan
    if not budget >= 0.0:
        told = typed(level) if listed else "an entry"
        raise BudgetError(f"levels: {told} is not a budget: budgets are numbers from 0.")
    return budget
