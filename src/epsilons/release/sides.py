"""Side by side: what a release says if budgets are related to values in any way, a little, or not.

The interval is that of what was drawn. The cap, and the typical error with it, are what the same
people could have had if that had been assumed from the start: what an assumption would buy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from epsilons.allocation import best_cap
from epsilons.allocation.caps import capped
from epsilons.allocation.rule import Effective, weighing_of
from epsilons.budgets import Budgets
from epsilons.loading import later
from epsilons.release.estimate import Cells, Scalar
from epsilons.risk import OPEN, SumNoise
from epsilons.risk.assumptions import Assumption
from epsilons.risk.goals import Goal, Words, goal_of
from epsilons.risk.several import WeighedTogether

if TYPE_CHECKING:
    from epsilons.release import kinds, moments
else:
    kinds = later("epsilons.release.kinds")
    moments = later("epsilons.release.moments")

__all__ = ["SHOWN", "Side", "Stakes", "answers", "side_by_side", "stakes"]

SHOWN: Final[tuple[bool | float, ...]] = (True, 0.05, False)
"""The answers that are shown beside one another."""


class Stakes(NamedTuple):
    """What people could have with an assumption.

    Attributes:
        cap: the most that anyone would spend.
        typical: the typical error then, on a unit range.
    """

    cap: float
    typical: float


class Side(NamedTuple):
    """What is known if budgets are related to values in this way.

    Attributes:
        related: in which way.
        low: the lower end of the interval of this release; None of several numbers.
        high: its upper end.
        error: the error of this release that is not exceeded with its confidence; of the worst
            category, or in ℓ2; of groups half the width of the interval of one in the middle.
        cap: the most that anyone would spend, had it been assumed; None if that is not known.
        typical: the typical error then.
    """

    related: bool | float
    low: float | None
    high: float | None
    error: float
    cap: float | None
    typical: float | None


def side_by_side(
    estimate: kinds.AnyEstimate, words: Words, budgets: Budgets | None, neighbours: str
) -> tuple[Side, ...]:
    """What a release says with each answer.

    Args:
        estimate: what was drawn.
        words: what was assumed, the loss and the confidence.
        budgets: of the people, or of those who are expected; None if that is private.
        neighbours: what counts as a change of one person.

    Returns:
        A side for each answer that intervals are proven for.
    """
    assumption, loss, confidence = words
    cells = len(estimate.categories) if isinstance(estimate, Cells) else None
    sides = []
    for each in filter(estimate.margin.allows, answers(assumption)):
        low = high = cap = typical = None
        if isinstance(estimate, (Scalar, moments.Pair)):
            low, high = estimate.interval(each, confidence)
        if budgets is not None and estimate.margin.staked:
            asked = (each, loss, confidence)
            goal = goal_of(asked, cells)
            if isinstance(estimate.margin, WeighedTogether):
                goal = estimate.margin.goal(asked)
            found = stakes(budgets, goal, goal.noise if neighbours == "replace" else OPEN)
            cap, typical = found.cap, estimate.unit * found.typical
        error = estimate.error(each, confidence)
        sides.append(Side(each.related, low, high, error, cap, typical))
    return tuple(sides)


def answers(assumption: Assumption) -> tuple[Assumption, ...]:
    """The assumption, and those that are shown beside it, what is true of all data first."""
    shown = {*SHOWN, assumption.related}
    ordered = sorted(shown, key=lambda related: (related is not True, -float(related)))
    return tuple(replace(assumption, related=related) for related in ordered)


def stakes(budgets: Budgets, goal: Goal, noise: SumNoise) -> Stakes:
    """What people could have, for what the goal takes to be true."""
    cap = best_cap(budgets, goal, noise)
    answer = Effective(capped(budgets, cap), cap=cap)
    typical = goal.rmse(weighing_of(budgets, answer, noise))
    highest = float(budgets.levels[-1])
    return Stakes(min(cap, highest) if np.isfinite(highest) else cap, typical)
