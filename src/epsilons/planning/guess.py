"""A guess of the spread: what it buys if it is right, and what it costs if it is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from epsilons.budgets import Budgets
from epsilons.errors import BudgetError
from epsilons.planning.forecast import Forecast, forecast_of
from epsilons.planning.sides import best_of
from epsilons.release import ByLevel
from epsilons.risk.goals import Goal, MeanGoal
from epsilons.statistics.adaptive import Stages
from epsilons.statistics.ways import after

__all__ = ["Guess", "forecasts_without_it", "guess_of"]


class Guess(NamedTuple):
    """What a guess of the spread does to the best method, in data units.

    Attributes:
        cap: the most that anyone spends with it.
        rmse: the typical error with it, if it is right.
        worst: the typical error with it, in the worst case over all data.
        plain_cap: the most that anyone spends without it.
        plain_rmse: the typical error without it, for the same data.
        plain_worst: the typical error without it, in the worst case.
    """

    cap: float
    rmse: float
    worst: float
    plain_cap: float
    plain_rmse: float
    plain_worst: float


def guess_of(
    budgets: Budgets,
    goal: Goal,
    bounds: tuple[float, float],
    neighbours: str,
    cap: float | None,
) -> Guess | None:
    """What the guess of a goal buys and costs; None if there is none.

    Args:
        budgets: the people, or for add/remove a guess.
        goal: with a guess of the spread.
        bounds: the range of the values.
        neighbours: what counts as a change of one person.
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """
    if not goal.guessed:
        return None
    width, found = bounds[1] - bounds[0], []
    for asked in (goal, goal.worst):
        weighing, most = best_of(budgets, asked, neighbours, cap)
        found += [most, *(width * each.rmse(weighing) for each in (goal, goal.worst))]
    return Guess(*found)


def forecasts_without_it(
    budgets: Budgets, goal: Goal, bounds: tuple[float, float], strictest: float
) -> list[Forecast]:
    """What two stages would give, which find the spread that is guessed here.

    Args:
        budgets: the people.
        goal: with a guess of the spread: without one nobody knows what will be found.
        bounds: the range of the values.
        strictest: the error of everyone at the strictest ε.

    Returns:
        One forecast; none without a guess, and none where two stages are refused.
    """
    if not (isinstance(goal, MeanGoal) and goal.guessed):
        return []
    try:
        stages = Stages.of(budgets.levels, budgets.counts, goal, (0.0, 1.0))
    except BudgetError:
        return []
    at = stages.foretold(goal.spread)
    spending = ByLevel(
        budgets.levels, after(stages.first.losses, stages.seconds[at]), budgets.counts
    )
    weighing = stages.seconds[at].weighing
    found = forecast_of("adaptive", goal, weighing, spending, bounds, strictest)
    # Data that differ as much as they can are found to do so.
    widest = (bounds[1] - bounds[0]) * goal.worst.rmse(stages.seconds[0].weighing)
    return [replace(found, worst=widest)]
