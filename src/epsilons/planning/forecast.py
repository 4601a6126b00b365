"""What one method would give, and how forecasts compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from epsilons.allocation import Allocation
from epsilons.budgets import Budgets, dot
from epsilons.release import ByLevel, Spent
from epsilons.report import number
from epsilons.risk import OPEN, Weighing
from epsilons.risk.goals import Goal


@dataclass(frozen=True, eq=False)
class Forecast:
    """What one method would give.

    Attributes:
        method: the rule, by name.
        rmse: the worst-case root mean squared error, in data units; for values of the spread that
            was guessed, if one was. Of frequencies the root of the mean over all categories, or
            with loss="largest" that of the largest error.
        pac: the error not exceeded with the plan's confidence, in data units, of the same data.
        worst: the root mean squared error in the worst case over all data.
        gain: how many times smaller the typical error is than with everyone at the strictest ε.
        used: the share of the people who have a say.
        spending: who pays what, as a rule.
    """

    method: str
    rmse: float
    pac: float
    worst: float
    gain: float
    used: float
    spending: ByLevel

    @property
    def spent(self) -> tuple[Spent, ...]:
        """Who pays what: for each level ε, people, spent and kept."""
        return self.spending.rows


def forecast_of(
    method: str,
    goal: Goal,
    weighing: Weighing,
    spending: ByLevel,
    bounds: tuple[float, float],
    strictest: float,
) -> Forecast:
    """The forecast of an estimator, and who pays what for it."""
    width = bounds[1] - bounds[0]
    rmse = width * goal.rmse(weighing)
    used = int(weighing.counts[weighing.weights > 0.0].sum())
    return Forecast(
        method=method,
        rmse=rmse,
        pac=width * replace(goal, loss="pac").risk(weighing),
        worst=width * goal.worst.rmse(weighing),
        gain=gain_over(strictest, rmse),
        used=used / weighing.n,
        spending=spending,
    )


def gain_over(strictest: float, rmse: float) -> float:
    """How many times smaller an error is than with everyone at the strictest ε."""
    if math.isinf(rmse) or strictest == rmse:
        return 1.0
    return strictest / rmse if rmse > 0.0 else math.inf


def put_in_order(forecasts: list[Forecast], goal: Goal, best: str) -> None:
    """Put the best first, and the others by their error."""

    def rank(forecast: Forecast) -> tuple[bool, float]:
        return (forecast.method != best, _error(forecast, goal))

    forecasts.sort(key=rank)


def why(best: Forecast) -> str:
    """What personal budgets buy."""
    if best.gain < 1.05:
        return "personal budgets gain little here"
    if math.isinf(best.gain):
        return "the result is exact, and would be noisy with everyone at the strictest ε"
    return (
        f"the typical error is {best.gain:,.3g} times smaller than with everyone at the strictest ε"
    )


def as_plain(forecast: Forecast) -> dict[str, Any]:
    """A forecast as plain data."""
    return {
        "method": forecast.method,
        "rmse": forecast.rmse,
        "pac": forecast.pac,
        "worst": forecast.worst,
        "gain": forecast.gain,
        "used": forecast.used,
        "largest_spent": float(forecast.spending.spent.max()),
        "spent": [row._asdict() for row in forecast.spent],
    }


def rmse_of(allocation: Allocation, bounds: tuple[float, float]) -> float:
    """The typical error of an allocation, in data units."""
    return (bounds[1] - bounds[0]) * allocation.goal.rmse(allocation.weighing)


def forecast_of_allocation(
    allocation: Allocation, bounds: tuple[float, float], strictest: float
) -> Forecast:
    """The forecast of an allocation, beside the error of everyone at the strictest ε."""
    spending = ByLevel(allocation.levels, allocation.spent, allocation.counts)
    weighing = allocation.weighing
    return forecast_of(allocation.method, allocation.goal, weighing, spending, bounds, strictest)


def _error(forecast: Forecast, goal: Goal) -> float:
    """The error that a goal makes small."""
    return forecast.pac if goal.loss == "pac" else forecast.rmse


_PULLS: Final = (
    "The error of 'minimax' is smaller, but it is not advised: it pulls the answer toward the "
    "middle of the range, so it is biased for data far from the middle, and is used only if you "
    "choose it by name."
)


def aside_on(forecasts: Sequence[Forecast], goal: Goal) -> str:
    """Why a method that looks better is not advised, in a sentence; "" if none does.

    Args:
        forecasts: of all methods, the best first.
        goal: which error is to be small.
    """
    error = _error(forecasts[0], goal)
    pulled = any(
        each.method == "minimax"
        and _error(each, goal) < error
        and number(_error(each, goal)) != number(error)
        for each in forecasts
    )
    return _PULLS if pulled else ""


def advice_on(best: Forecast, allocation: Allocation) -> str:
    """One sentence on what to do."""
    cap = allocation.cap
    levels = allocation.levels
    if allocation.scale == 0.0:
        what = "use the public records alone: adding the others would add more noise than they help"
    elif np.array_equal(allocation.spent, levels):
        what = "let everyone spend all of their budget"
    else:
        most = float(allocation.spent.max()) if cap is None else cap
        what = f"let nobody spend more than ε = {number(most)}, and everyone keeps the rest"
    return f"Use method {best.method!r}: {what}; {why(best)}."


def curve_of(
    budgets: Budgets,
    goal: Goal,
    bounds: tuple[float, float],
    neighbours: str,
    forecasts: Iterable[Forecast],
) -> dict[str, list[float]]:
    """Risk over the cap, from a little below the strictest budget to above all that matter."""
    levels, counts = budgets.levels, budgets.counts
    finite = levels[(levels > 0.0) & np.isfinite(levels)]
    if len(finite) == 0:
        return {"cap": [], "error": []}
    most = [spent[np.isfinite(spent)] for spent in (each.spending.spent for each in forecasts)]
    top = max([float(finite[-1]), *(float(spent.max()) for spent in most if len(spent))])
    caps = np.geomspace(max(float(finite[0]) / 2.0, 1e-300), max(2.0 * top, 1e-299), 120)
    lo, hi = bounds
    noise = goal.noise if neighbours == "replace" else OPEN
    errors = []
    for cap in caps.tolist():
        spent = np.minimum(levels, cap)
        total = dot(counts, spent)
        scale = noise.moves / total
        weighing = Weighing(spent / total, counts, scale, closed=noise.closed, cube=noise.cube)
        errors.append((hi - lo) * goal.typical(goal.risk(weighing)))
    return {"cap": caps.tolist(), "error": errors}
