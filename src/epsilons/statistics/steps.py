"""What a statistic yields, and what it returns.

A statistic is a generator. It yields a mechanism with the total of the data, is sent what was
drawn, may yield again, and returns an answer. It never draws: whoever drives it sees every
mechanism, and so everyone's loss, before anything is drawn from it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np

from epsilons.noise import Source
from epsilons.release import AnyEstimate, Expected, Spending
from epsilons.risk import Weighing
from epsilons.types import Floats, Integers

__all__ = ["Answer", "Draw", "Losses", "Mechanism", "Steps"]

Losses: TypeAlias = tuple[Fraction | float, ...]
"""What a person of each level loses at most: exact fractions, ∞ for those without protection."""


class Mechanism(Protocol):
    """What is drawn from: all that the way through the house needs to know of it."""

    @property
    def kind(self) -> str:
        """What it is: a checker knows from it what one person can move."""

    @property
    def levels(self) -> Floats:
        """The budgets ε, ascending."""

    @property
    def losses(self) -> Losses:
        """What a person of each level loses at most."""

    def draw(self, source: Source, *, total: Any) -> Any:
        """Draw around the total of the data."""


@dataclass(frozen=True, eq=False)
class Draw:
    """A mechanism, and the total of the data: what is drawn is published, and charged.

    Attributes:
        mechanism: frozen, without data.
        total: of the data.
        more: whether another draw follows.
        levels: the budgets of the people who are charged; None for those of the mechanism.
        place: for each of these levels its place among those of the mechanism, −1 for people who
            are not touched.
    """

    mechanism: Mechanism
    total: Any
    more: bool = False
    levels: Floats | None = None
    place: Integers | None = None

    @property
    def charged(self) -> tuple[Floats, Losses]:
        """The budgets of the people who are charged, and what each of them loses."""
        losses = self.mechanism.losses
        if self.levels is None or self.place is None:
            return self.mechanism.levels, losses
        every = (*losses, Fraction(0))  # the place −1 is the last
        return self.levels, tuple(every[at] for at in self.place.tolist())

    def on(self, levels: Floats) -> Any:
        """The mechanism, said of the budgets of all stages of a release.

        Args:
            levels: of which each lies in one of its own.
        """
        if self.place is not None:
            place = self.place
        elif np.array_equal(self.mechanism.levels, levels):
            return self.mechanism
        else:
            place = np.searchsorted(self.mechanism.levels, levels, side="right") - 1
        placed: Any = self.mechanism
        return placed.placed(levels, place)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What a statistic returns, once all is drawn.

    Attributes:
        estimate: the result, with its margin.
        method: the rule that was taken, by name.
        n: the number of people, or None if that is not said.
        n_is_noisy: whether it is a noisy count.
        risk: of the estimate, in data units, for the loss of the question.
        exact: whether the risk is an exact worst case.
        spent: what a person with any budget spends.
        weighing: the estimator on a unit range, for the people who are there, or who are expected;
            None if it is not a weighted mean, nor weighted shares.
        expected: how many people are expected at which budgets, where that is private.
        mechanism: the whole of what was drawn from; None if it is the one that was drawn, or a
            composition of the draws in their order.
        beside: what is to be said of other answers that were drawn with it, in words.
    """

    estimate: AnyEstimate
    method: str
    n: int | None
    n_is_noisy: bool = False
    risk: float
    exact: bool
    spent: Spending
    weighing: Weighing | None = None
    expected: Expected | None = None
    mechanism: Any = None
    beside: str = ""


Steps: TypeAlias = Generator[Draw, Any, Answer]
