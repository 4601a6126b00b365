"""Side by side: what is best if budgets are related to values in any way, a little, or not."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from epsilons.allocation import allocate_for
from epsilons.allocation.baselines import uniform
from epsilons.allocation.declared import declared_of
from epsilons.allocation.rule import weighing_of
from epsilons.budgets import Budgets
from epsilons.planning.forecast import gain_over
from epsilons.release.sides import answers
from epsilons.risk import Weighing
from epsilons.risk.goals import Goal
from epsilons.statistics.ways import forecast_designs

__all__ = ["Outcome", "best_of", "outcomes", "strictest_of"]


class Outcome(NamedTuple):
    """What is best if budgets are related to values in this way.

    Attributes:
        related: in which way.
        cap: the most that anyone spends.
        rmse: the typical error of the best method, in data units.
        pac: the error that it does not exceed with the plan's confidence.
        gain: how many times smaller the typical error is than with everyone at the strictest ε.
    """

    related: bool | float
    cap: float
    rmse: float
    pac: float
    gain: float


def outcomes(
    budgets: Budgets,
    goal: Goal,
    bounds: tuple[float, float],
    neighbours: str,
    cap: float | None,
) -> tuple[Outcome, ...]:
    """What is best with each answer to whether budgets are related to values.

    Args:
        budgets: the people, or for add/remove a guess.
        goal: which error is to be small; its assumption is one of those that are shown.
        bounds: the range of the values.
        neighbours: what counts as a change of one person.
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """
    width = bounds[1] - bounds[0]
    found = []
    for assumption in answers(goal.assumption):
        asked = replace(goal, assumption=assumption)
        weighing, most = best_of(budgets, asked, neighbours, cap)
        rmse = width * asked.rmse(weighing)
        alike = width * asked.rmse(strictest_of(budgets, asked, neighbours))
        pac = width * replace(asked, loss="pac").risk(weighing)
        found.append(Outcome(assumption.related, most, rmse, pac, gain_over(alike, rmse)))
    return tuple(found)


def strictest_of(budgets: Budgets, goal: Goal, neighbours: str) -> Weighing:
    """The estimator in which everyone is treated like the strictest."""
    if neighbours == "replace":
        return weighing_of(budgets, uniform(budgets, goal), goal.noise)
    lowest = float(declared_of(None, budgets, None).ladder.levels[0])
    terms = declared_of(None, budgets, lowest)
    return forecast_designs(terms, goal, ("transformed",))["transformed"].weighing


def best_of(
    budgets: Budgets, goal: Goal, neighbours: str, cap: float | None
) -> tuple[Weighing, float]:
    """The estimator of the best method, and the most that anyone spends."""
    if neighbours == "replace":
        best = allocate_for(budgets, goal, "auto")
        return best.weighing, float(best.spent.max())
    chosen = forecast_designs(declared_of(None, budgets, cap), goal, ("auto",))["auto"]
    return chosen.weighing, chosen.cap
