"""Plans: what will be known, before any data is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from epsilons import parameters
from epsilons.allocation import allocate_for, rules_for
from epsilons.budgets import Budgets, as_budgets
from epsilons.errors import ArgumentError
from epsilons.planning.central import Plan
from epsilons.planning.forecast import (
    advice_on,
    forecast_of_allocation,
    put_in_order,
    rmse_of,
)
from epsilons.planning.private import forecasts_of_a_guess
from epsilons.risk.goals import checked
from epsilons.statistics import STATISTICS

__all__ = ["Plan", "plan"]


@parameters.speaks_plainly
def plan(
    epsilon: Budgets | Mapping[float, int] | npt.ArrayLike,
    *,
    bounds: Any = (0, 1),
    statistic: str = "mean",
    categories: Any = None,
    edges: Any = None,
    neighbours: str = "replace",
    about: str = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: str = "mse",
    confidence: float = 0.95,
    cap: float | None = None,
) -> Plan:
    """Forecast every method without data.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`. For add/remove the levels that
            people are offered, with a guess of how many choose each.
        bounds: the range (lo, hi) of the values of a mean.
        statistic: "mean" or "frequencies".
        categories: for frequencies, the categories or how many there are; None for a mean.
        edges: for frequencies of bins, their edges, in place of categories.
        neighbours: "replace" or "add-remove".
        about: "people" or "population": see `epsilons.mean`.
        related: whether budgets may go with values: True, False, or by how much.
        spread: for a mean, a guess of the standard deviation in parts of the range. Errors are then
            those of such data, and the plan says what they are in the worst case.
        loss: "mse" or "pac": what `auto` makes small.
        confidence: of the PAC error.
        cap: for add/remove, the most that anyone spends; chosen for the guess if None.

    Returns:
        The plan; print it for a table, `.plot()` it for the risk over the cap.

    Raises:
        ArgumentError: an argument cannot mean anything (also BoundsError, BudgetError).
        DataError: there are fewer than two people.
    """
    parameters.choice("neighbours", neighbours)
    question = STATISTICS[parameters.choice("statistic", statistic, STATISTICS)]
    words_of_it = checked(about, related, loss, confidence)
    goal = question.goal_for(words_of_it, categories, edges, spread)
    limits = question.range_for(bounds)
    budgets = as_budgets(epsilon)
    if neighbours == "add-remove":
        found = forecasts_of_a_guess(budgets, goal, limits, cap)
        return Plan(
            *found,
            budgets=budgets,
            bounds=limits,
            goal=goal,
            statistic=question.statistic,
            neighbours="add-remove",
            cap=cap,
        )
    if cap is not None:
        raise ArgumentError('cap is for neighbours="add-remove": under replace every cap is tried.')
    allocations = {name: allocate_for(budgets, goal, name) for name in rules_for(goal)}
    best = allocate_for(budgets, goal, "auto").method
    strictest = rmse_of(allocations["uniform"], limits)
    forecasts = [
        forecast_of_allocation(allocation, limits, strictest) for allocation in allocations.values()
    ]

    put_in_order(forecasts, goal, best)
    return Plan(
        forecasts=tuple(forecasts),
        best=best,
        advice=advice_on(forecasts[0], allocations[best]),
        budgets=budgets,
        bounds=limits,
        goal=goal,
        statistic=question.statistic,
    )
