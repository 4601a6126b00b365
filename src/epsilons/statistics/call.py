"""What belongs to a call and not to a question: the people, their budgets, and what is private."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeVar

import numpy as np

from epsilons import parameters, tally
from epsilons.allocation.declared import Declared, declared_of
from epsilons.budgets import Levels, float_down
from epsilons.errors import ArgumentError, BudgetError
from epsilons.ladder import Ladder
from epsilons.tally import Tally
from epsilons.tally.line import Lined
from epsilons.types import Column, Data, Floats, Neighbours

__all__ = ["TERMS", "Call", "terms_of"]

Counts = TypeVar("Counts", Tally, Lined)


@dataclass(frozen=True, eq=False)
class Call:
    """Whom is asked, and on which terms.

    Attributes:
        epsilon: each person's budget, as the user gave it.
        data: a frame or a file; None if the others are arrays.
        person: whose row it is, or None.
        neighbours: "replace" or "add-remove".
        declared: what is public of people whose budgets are private; None under replace.
        share: the part of everyone's budget that this question may use: of those that are asked of
            the same people, all shares together are at most 1.
    """

    epsilon: Any
    data: Any
    person: Any
    neighbours: str
    declared: Declared | None = None
    share: Fraction = Fraction(1)

    @classmethod
    def of(
        cls,
        *,
        epsilon: Column | None,
        data: Data | None = None,
        separator: str | None = None,
        person: Column | None = None,
        neighbours: Neighbours = "replace",
        levels: Levels | None = None,
        cap: float | None = None,
    ) -> Call:
        """The call that arguments of users stand for: see `epsilons.publish`.

        Raises:
            ArgumentError: an argument is invalid, or means nothing where budgets are public.
        """
        parameters.choice("neighbours", neighbours)
        private = neighbours == "add-remove"
        if not private:
            _refuse_public_facts(levels, cap)
        return cls(
            epsilon=epsilon,
            data=tally.source(data, separator),
            person=person,
            neighbours=neighbours,
            declared=declared_of(epsilon, levels, cap) if private else None,
        )

    @property
    def divided(self) -> bool:
        """Whether other questions share everyone's budget."""
        return self.share != 1

    @property
    def given(self) -> dict[str, Any]:
        """What rows are opened with, beside their values."""
        return {"epsilon": self.epsilon, "data": self.data, "person": self.person}

    def offered(self, levels: Floats) -> Floats:
        """What people of these budgets offer to one question: their part of it, rounded down.

        Raises:
            BudgetError: a budget is so small that no part of it is left.
        """
        if not self.divided:
            return levels
        parts = np.array([_part(level, self.share) for level in levels.tolist()])
        if (np.diff(parts) <= 0.0).any() or ((parts == 0.0) & (levels > 0.0)).any():
            raise BudgetError(
                "epsilon: a budget is too small to be divided among several questions."
            )
        return parts

    def part(self, counted: Counts) -> Counts:
        """What was counted, by what people offer to one question."""
        if not self.divided:
            return counted
        return replace(counted, levels=self.offered(counted.levels))

    def budgets(self, offered: Floats) -> Floats:
        """The smallest budgets of which one question is offered so much."""
        if not self.divided:
            return offered
        return np.array([_whole(part, self.share) for part in offered.tolist()])

    def name_of(self, values: Any) -> str | None:
        """The name of the column that values are, in one line; None if there is none."""
        if self.data is None or values is None:
            return None
        return " ".join(str(values).split())

    @property
    def ladder(self) -> Ladder | None:
        """The rungs on which people stand; None where budgets are public."""
        return None if self.declared is None else self.declared.ladder

    @property
    def lowest(self) -> float:
        """The budget below which nobody is counted where budgets are private; 0 elsewhere."""
        return 0.0 if self.ladder is None else float(self.ladder.levels[0])

    @property
    def terms(self) -> Declared:
        """What is declared, as far as one question goes: each rung offers its part.

        Raises:
            ValueError: budgets are public.
        """
        if self.declared is None:
            raise ValueError("nothing is declared where budgets are public")
        if not self.divided:
            return self.declared
        ladder, cap = self.declared.ladder, self.declared.cap
        return replace(
            self.declared,
            ladder=replace(ladder, levels=self.offered(ladder.levels)),
            cap=None if cap is None else _part(cap, self.share),
        )


TERMS: Final = tuple(inspect.signature(Call.of).parameters)
"""The arguments of users that belong to the call: those of `Call.of`."""


def terms_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the arguments of a user, by name, those that belong to the call."""
    return {name: given[name] for name in TERMS}


def _refuse_public_facts(levels: object, cap: object) -> None:
    """Refuse what means nothing where budgets are public."""
    for name, given in (("levels", levels), ("cap", cap)):
        if given is not None:
            raise ArgumentError(
                f'{name} is for neighbours="add-remove": under replace all budgets are public, so '
                "levels and caps follow from them."
            )


def _part(level: float, share: Fraction) -> float:
    return level if math.isinf(level) else float_down(Fraction(level) * share)


def _whole(part: float, share: Fraction) -> float:
    """The smallest float of which a part is at least this much."""
    return part if math.isinf(part) else -float_down(-Fraction(part) / share)
