"""Budgets as people chose them: words in a column, and the ε that a declared menu gives each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from epsilons.budgets.levels import float_down, is_number
from epsilons.door.given.categories import Categories, declare_groups
from epsilons.errors import ArgumentError, BudgetError
from epsilons.types import Floats, Integers

__all__ = ["UNKNOWN", "Chosen", "Menu", "chosen"]

MOST_WORDS: Final = 64
"""The largest number of words of a menu. A query compares each row with all of them."""

UNKNOWN: Final = -1.0
"""The budget of a word that is missing or not in the menu. Like any negative budget, it is refused
if budgets are public, and on no rung of a ladder if they are private."""


@dataclass(frozen=True, eq=False)
class Menu:
    """The words that people could choose, each with its budget.

    Attributes:
        words: the declared words. They are compared like categories.
        budgets: the budget of each word.
    """

    words: Categories
    budgets: Floats

    def of(self, cells: Integers) -> Floats:
        """Return the budget of each word, given its index; `UNKNOWN` for a negative index."""
        return np.append(self.budgets, UNKNOWN)[np.maximum(cells, -1)]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A column of words that stand for budgets, in place of a column of numbers.

    Attributes:
        column: an array, or the name of a column of the data.
        menu: the budget of each word.
    """

    column: Any
    menu: Menu


def chosen(epsilon: Any, menu: object) -> Any:
    """Return `epsilon`; if there is a menu, as words together with the budgets they stand for.

    Args:
        epsilon: anything; with a menu, an array of words or the name of a column of words.
        menu: None, or a mapping from words (strings, integers or booleans) to budgets from 0 to ∞.

    Raises:
        ArgumentError: the words are invalid, or `epsilon` is one number.
        BudgetError: a budget is not a number from 0 to ∞, or all of them are 0.
    """
    if menu is None:
        return epsilon
    if not isinstance(menu, Mapping) or not 1 <= len(menu) <= MOST_WORDS:
        raise ArgumentError(
            f"menu must say what 1 to {MOST_WORDS} words stand for, such as "
            'menu={"strict": 0.1, "open": 2}.'
        )
    if epsilon is None or is_number(epsilon):
        raise ArgumentError(
            "menu says which budgets the words of a column stand for: give that column as epsilon, "
            "or leave menu out."
        )
    words = declare_groups(list(menu), "menu")
    budgets = [float_down(each) if is_number(each) else -1.0 for each in menu.values()]
    if not all(each >= 0.0 for each in budgets):
        raise BudgetError(
            "menu: every word stands for a budget, a number from 0 to infinity: 0 leaves a person "
            "out, inf makes their value public."
        )
    if not any(budgets):
        raise BudgetError("menu: every word stands for 0, so nobody's value may be used at all.")
    return Chosen(epsilon, Menu(words, np.array(budgets) + 0.0))
