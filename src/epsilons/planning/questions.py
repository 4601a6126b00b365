"""What if: other people, other budgets, and how many more people would do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from epsilons.budgets import Budgets
from epsilons.report import number
from epsilons.statistics.locate import budgets_of
from epsilons.types import Floats

Error: TypeAlias = Callable[[Budgets], float]
"""The error of the best method, for any people."""

SHARE: Final = 0.1
"""The part of the people who change their mind."""

_LEVELS: Final = 4
"""The levels that are asked about, if there are more."""

_RAISE: Final = 1.5
_MOST: Final = 2**33
"""People beyond whom no data set can be tallied."""


class WhatIf(NamedTuple):
    """What would happen if something changed.

    Attributes:
        change: in words.
        error: the error of the best method then.
        ratio: how many times the error of now that is.
    """

    change: str
    error: float
    ratio: float


class Need(NamedTuple):
    """How many more people at one level would reach a wanted error.

    Attributes:
        epsilon: the level.
        people: how many more; None if no number would.
    """

    epsilon: float
    people: int | None


def sensitivity(budgets: Budgets, error: Error) -> tuple[WhatIf, ...]:
    """How the error would change with the people and with their budgets.

    Args:
        budgets: the people.
        error: of the best method.
    """
    now = error(budgets)
    strict, generous = float(budgets.levels[0]), float(budgets.levels[-1])
    percent = f"{100 * SHARE:g} %"
    asked = [
        (f"{percent} more people, with budgets like these", _more(budgets, 1.0 + SHARE)),
        (f"{percent} fewer people", _more(budgets, 1.0 - SHARE)),
    ]
    if strict < generous:
        asked += [
            (f"{percent} of the people go to {_name(strict)}", _moved(budgets, 0)),
            (f"{percent} of the people go to {_name(generous)}", _moved(budgets, -1)),
        ]
    finite = budgets.levels[(budgets.levels > 0.0) & np.isfinite(budgets.levels)]
    for level in _few(finite):
        higher = level * _RAISE
        words = f"{_name(level)} were {number(higher)} instead"
        asked.append((words, _instead(budgets, level, higher)))
    errors = [error(people) for _, people in asked]
    rows = zip(asked, errors, strict=True)
    return tuple(WhatIf(words, then, _ratio(then, now)) for (words, _), then in rows)


def need(budgets: Budgets, error: Error, wanted: float) -> tuple[Need, ...]:
    """How many more people at each level would reach an error.

    Args:
        budgets: the people.
        error: of the best method.
        wanted: the error that is to be reached.
    """
    return tuple(
        Need(level, _more_of(budgets, level, error, wanted))
        for level in budgets.levels.tolist()
        if level > 0.0
    )


def _more_of(budgets: Budgets, level: float, error: Error, wanted: float) -> int | None:
    """The smallest number of people to add to a level, to a part in a thousand."""

    def enough(people: int) -> bool:
        counts = budgets.counts + np.where(budgets.levels == level, people, 0)
        return error(Budgets.of_levels(budgets.levels, counts)) <= wanted

    if enough(0):
        return 0
    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST:
            return None
    low = high // 2
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _more(budgets: Budgets, factor: float) -> Budgets:
    counts = np.maximum(np.round(budgets.counts * factor), 1).astype(np.int64)
    return Budgets.of_levels(budgets.levels, np.maximum(counts, 2 if len(counts) == 1 else 1))


def _moved(budgets: Budgets, place: int) -> Budgets:
    """Some of the people of every level go to one of them."""
    leaving = np.floor(budgets.counts * SHARE).astype(np.int64)
    leaving[place] = 0
    counts = budgets.counts - leaving
    counts[place] += leaving.sum()
    return Budgets.of_levels(budgets.levels, counts)


def _instead(budgets: Budgets, level: float, other: float) -> Budgets:
    levels = np.where(budgets.levels == level, other, budgets.levels)
    return budgets_of(levels, budgets.counts)


def _few(levels: Floats) -> list[float]:
    if len(levels) <= _LEVELS:
        return [float(level) for level in levels]
    chosen = np.linspace(0, len(levels) - 1, _LEVELS).round().astype(int)
    return [float(level) for level in levels[chosen]]


def _name(level: float) -> str:
    return "public records" if math.isinf(level) else f"ε = {number(level)}"


def _ratio(then: float, now: float) -> float:
    if then == now:
        return 1.0
    return then / now if now > 0.0 else math.inf
