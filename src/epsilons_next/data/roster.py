"""Whose rows these are, and what everyone agreed to: menus, weights and offers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal

from epsilons_next.checks import Worded, column, one_of
from epsilons_next.data.labels import Entry, declare
from epsilons_next.errors import ArgumentError, BudgetError

__all__ = ["LEAST", "MOST", "Roster"]

LEAST: Final = 2.0**-20
"""The least ε that noise can be drawn for. Who allows less has no weight, and counts as unknown."""

MOST: Final = 2.0**20
"""The largest ε that is used of anybody; more, even ∞, is the same."""


@dataclass(frozen=True, repr=False, eq=False)
class Roster(metaclass=Worded):
    """Rows, whose they are, and everyone's limit.

    Args:
        data: a frame of Polars or pandas, the path of Parquet or CSV files, or a mapping of arrays.
        epsilon: the column of limits, or of the words of `menu`; or one limit for everyone.
        person: the column that says whose row each row is; None if each row is one person.
        menu: the limit that each word stands for; None for who said nothing.
        rows: whether numbers of several rows of a person are averaged, or added up.
        weights: the column of public survey weights.
        secret: everybody's answers, or also who takes part.
        offered: where participation is secret, the limits that were offered: those of `menu`.

    Raises:
        ArgumentError: this is no column, no word that is known, or does not go together.
        BudgetError: something is no limit.
    """

    data: Any
    epsilon: str | float
    person: str | None
    _: KW_ONLY
    menu: Mapping[Entry | None, float] | None = None
    rows: Literal["mean", "sum"] = "mean"
    weights: str | None = None
    secret: Literal["answers", "participation"] = "answers"
    offered: Sequence[float] = ()

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, (int, float)):
            _limit("epsilon", self.epsilon)
        else:
            column("epsilon", self.epsilon)
        for parameter, value in (("person", self.person), ("weights", self.weights)):
            if value is not None:
                column(parameter, value)
        one_of("rows", self.rows, ("mean", "sum"))
        one_of("secret", self.secret, ("answers", "participation"))
        if self.menu is not None:
            self._check_menu(self.menu)
        if not isinstance(self.offered, (list, tuple)):
            raise BudgetError("offered: a list of limits, such as [0.1, 0.5, 2].")
        for each in self.offered:
            _limit("offered", each)
        if not self.public:
            self._check_offered()
        elif self.offered:
            raise ArgumentError('offered: only with secret="participation".')

    def _check_menu(self, menu: object) -> None:
        if not isinstance(menu, Mapping) or not menu or not isinstance(self.epsilon, str):
            raise BudgetError(
                'menu: words and their limits, such as {"strict": 0.1, "open": 2}; epsilon is the '
                "column that has the words."
            )
        words = [word for word in menu if word is not None]
        if words:
            declare("menu", self.epsilon, words)
        for limit in menu.values():
            _limit("menu", limit)

    def _check_offered(self) -> None:
        if self.weights is not None:
            raise ArgumentError('weights: they are public, so not with secret="participation".')
        if not self.levels:
            raise ArgumentError(
                'offered: with secret="participation" say which limits people were offered, such '
                "as offered=[0.1, 0.5, 2]: those of the data are secret."
            )
        if self.levels[0] < LEAST:
            raise BudgetError("offered: every limit is 0, or at least 0.000001.")

    @property
    def public(self) -> bool:
        """Whether it is public who takes part, and with which limit."""
        return self.secret == "answers"

    @property
    def levels(self) -> list[float]:
        """The limits that were offered, where it is secret who took part."""
        if self.public:
            return []
        one = [] if isinstance(self.epsilon, str) else [self.epsilon]
        offered = self.offered or (self.menu or {}).values() or one
        return sorted({float(each) for each in offered if each > 0})

    @property
    def named(self) -> str:
        """What errors call the limits."""
        return self.epsilon if isinstance(self.epsilon, str) else "epsilon"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say whose rows these are."""
        held = (self.epsilon, self.person, self.weights)
        return tuple(each for each in held if isinstance(each, str))


def _limit(parameter: str, value: Any) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not (0.0 <= value < 1e300 or value == math.inf):
        raise BudgetError(f"{parameter}: a limit is a number from 0 (leave out) to ∞ (public).")
