"""Which budgets reports may have: a menu that was declared, or a range that no report can abuse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from epsilons.errors import BudgetError
from epsilons.risk.weights import LEAST, MOST
from epsilons.types import Floats

_SHOWN = 8
"""Levels that a message names."""

Menu = Sequence[float] | None
"""The declared levels, ascending; None if there are none."""


def menu_of(levels: Any) -> Menu:
    """Check the argument `levels`.

    Args:
        levels: None, or the budgets that people were offered.

    Returns:
        The distinct levels, ascending, or None.

    Raises:
        BudgetError: it is not a collection of budgets, or all of them are 0.
    """
    if levels is None:
        return None
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable):
        raise BudgetError(
            f"levels={levels!r} must be the budgets that people are offered, such as [0.1, 1.0]."
        )
    found = sorted({_level(level) for level in levels})
    if not found or found[-1] == 0.0:
        raise BudgetError("levels must hold a budget above 0: reports at ε = 0 are pure noise.")
    return tuple(found)


def _level(level: Any) -> float:
    number = isinstance(level, (int, float, np.integer, np.floating))
    if number and not isinstance(level, bool):
        size = float(level)
        if size == level and (size == 0.0 or LEAST <= size <= MOST or size == math.inf):
            return size + 0.0
    raise BudgetError(
        f"levels: {level!r} must be 0, a float64 from 2⁻²⁰ to 2²⁰, or math.inf for people who send "
        "their value itself."
    )


def refusal(epsilon: Floats, most: float, levels: Menu) -> str | None:
    """Why budgets are not taken: half a sentence; None if all are.

    Args:
        epsilon: budgets in [0, ∞].
        most: the largest of them.
        levels: the menu.
    """
    if len(epsilon) == 0:
        return None
    if levels is None:
        if most <= MOST:
            return None
        if most < math.inf:
            return "is above 2²⁰, which no level can be"
        return (
            "is ∞, the value itself in the open, which is taken only where it is declared: give "
            "levels= with math.inf among them"
        )
    menu = np.array(levels)
    place = np.minimum(np.searchsorted(menu, epsilon), len(menu) - 1)
    if bool((menu[place] == epsilon).all()):
        return None
    names = ["∞" if level == math.inf else f"{level:.12g}" for level in levels[:_SHOWN]]
    more = f" and {len(levels) - _SHOWN:,} more" if len(levels) > _SHOWN else ""
    return f"is not one of the declared levels ({', '.join(names)}{more})"
