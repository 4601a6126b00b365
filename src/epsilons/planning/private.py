"""What methods would give people whose number and budgets are private, from a guess of both."""

from __future__ import annotations

import numpy as np

from epsilons.allocation.declared import declared_of
from epsilons.budgets import Budgets
from epsilons.planning.forecast import Forecast, forecast_of, put_in_order, why
from epsilons.planning.sides import strictest_of
from epsilons.release import ByLevel, shown_levels
from epsilons.report import number
from epsilons.risk.goals import Goal
from epsilons.statistics.designs import OPEN_METHODS
from epsilons.statistics.ways import forecast_designs

__all__ = ["forecasts_of_a_guess"]


def forecasts_of_a_guess(
    budgets: Budgets, goal: Goal, bounds: tuple[float, float], cap: float | None
) -> tuple[tuple[Forecast, ...], str, str]:
    """The forecasts, the best first, its name, and one sentence on what to do."""
    terms = declared_of(None, budgets, cap)
    rungs = terms.ladder.levels
    people = np.zeros(len(rungs), np.int64) if terms.guess is None else terms.guess
    designs = forecast_designs(terms, goal, ("auto", *OPEN_METHODS[goal.statistic]))
    best = designs.pop("auto").method
    alike = strictest_of(budgets, goal, "add-remove")
    typical = (bounds[1] - bounds[0]) * goal.rmse(alike)
    forecasts = []
    for name, each in designs.items():
        spent = np.array([float(loss) for loss in each.spent])
        spending = ByLevel(shown_levels(rungs), spent, people)
        forecasts.append(forecast_of(name, goal, each.weighing, spending, bounds, typical))
    put_in_order(forecasts, goal, best)
    most = designs[best].cap
    what = f"let nobody spend more than ε = {number(most)}, and everyone keeps the rest"
    if most >= float(rungs[-1]) * (1.0 - 1e-9):
        what = "let everyone spend all of their budget"
    return tuple(forecasts), best, f"Use method {best!r}: {what}; {why(forecasts[0])}."
