"""Plan: every method forecast side by side, before any data is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from epsilons import parameters, report
from epsilons.allocation import Allocation, Goal, allocate_for, rules_for
from epsilons.budgets import Budgets, as_budgets
from epsilons.errors import ArgumentError
from epsilons.release import Spent
from epsilons.risk import Weighing

if TYPE_CHECKING:
    import altair

_ASSUMPTIONS = {
    "iid": "The people are a sample; the truth of their population is wanted.",
    "shuffled": "The truth of these very people is wanted; budgets say nothing of values.",
    "correlated": "The truth of these very people is wanted; budgets may say anything.",
}


@dataclass(frozen=True, eq=False)
class Forecast:
    """What one method would give.

    Attributes:
        method: the rule, by name.
        rmse: the worst-case root mean squared error, in data units.
        pac: the error not exceeded with the plan's confidence, in data units.
        gain: how many times smaller the typical error is than with everyone at the strictest ε.
        used: the share of the people who have a say.
        spent: who pays what: for each level ε, people, spent and kept.
    """

    method: str
    rmse: float
    pac: float
    gain: float
    used: float
    spent: tuple[Spent, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """Forecasts of every method for given budgets.

    Attributes:
        forecasts: one for each method, the best first.
        best: the method that `auto` takes.
        advice: one sentence on what to do.
        budgets: the people.
        bounds: the range of the values.
        assume: what is assumed of the data.
        loss: which error is to be small.
        confidence: of the PAC error.
        cells: 0 for a mean; for frequencies the number of categories.
    """

    forecasts: tuple[Forecast, ...]
    best: str
    advice: str
    budgets: Budgets
    bounds: tuple[float, float]
    assume: str
    loss: str
    confidence: float
    cells: int = 0

    def __getitem__(self, method: str) -> Forecast:
        for forecast in self.forecasts:
            if forecast.method == method:
                return forecast
        known = [forecast.method for forecast in self.forecasts]
        parameters.choice("method", method, known)
        raise KeyError(method)

    def to_dict(self) -> dict[str, Any]:
        """The whole plan, with the curve of risk over the cap, as plain data."""
        return {
            "statistic": "frequencies" if self.cells else "mean",
            "cells": self.cells,
            "n": self.budgets.n,
            "bounds": list(self.bounds),
            "assume": self.assume,
            "assumption": _ASSUMPTIONS[self.assume],
            "loss": self.loss,
            "confidence": self.confidence,
            "best": self.best,
            "advice": self.advice,
            "forecasts": [_forecast_dict(forecast) for forecast in self.forecasts],
            "curve": self._curve(),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON, in which ∞ is written as "inf"."""
        return report.to_json(self.to_dict())

    def plot(self) -> altair.LayerChart:
        """Risk over the cap τ, with the rules marked on it.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return report.plan_plot(self.to_dict())

    def __str__(self) -> str:
        return report.plan_text(self.to_dict())

    def _repr_html_(self) -> str:
        return report.plan_html(self.to_dict())

    def _curve(self) -> dict[str, list[float]]:
        """Risk over the cap, from a little below the strictest budget to above all that matter."""
        levels = self.budgets.levels
        finite = levels[(levels > 0.0) & np.isfinite(levels)]
        if len(finite) == 0:
            return {"cap": [], "error": []}
        spenders = [row.spent for forecast in self.forecasts for row in forecast.spent]
        top = max([float(finite[-1]), *(spent for spent in spenders if math.isfinite(spent))])
        caps = np.geomspace(max(float(finite[0]) / 2.0, 1e-300), max(2.0 * top, 1e-299), 120)
        lo, hi = self.bounds
        goal = Goal(self.assume, self.loss, self.confidence, self.cells)
        errors = []
        for cap in caps.tolist():
            spent = np.minimum(levels, cap)
            total = float(self.budgets.counts @ spent)
            unit = goal.risk(Weighing(spent / total, self.budgets.counts, goal.moves / total))
            errors.append((hi - lo) * (math.sqrt(unit) if self.loss == "mse" else unit))
        return {"cap": caps.tolist(), "error": errors}


def plan(
    epsilon: Budgets | Mapping[float, int] | npt.ArrayLike,
    *,
    bounds: Any = (0, 1),
    statistic: str = "mean",
    categories: Any = None,
    neighbours: str = "replace",
    assume: str = "iid",
    loss: str = "mse",
    confidence: float = 0.95,
) -> Plan:
    """Forecast every method without data.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`.
        bounds: the range (lo, hi) of the values of a mean.
        statistic: "mean" or "frequencies".
        categories: for frequencies, the categories or how many there are; None for a mean.
        neighbours: "replace".
        assume: "iid", "shuffled" or "correlated": see `epsilons.mean`.
        loss: "mse" or "pac": what `auto` makes small.
        confidence: of the PAC error.

    Returns:
        The plan; print it for a table, `.plot()` it for the risk over the cap.

    Raises:
        ArgumentError: an argument cannot mean anything (also BoundsError, BudgetError).
        DataError: there are fewer than two people.
    """
    parameters.choice("neighbours", neighbours)
    cells = parameters.cells(statistic, categories)
    goal = Goal.of_words(assume, loss, confidence, cells)
    limits = parameters.bounds(bounds)
    if goal.cells and limits != (0.0, 1.0):
        raise ArgumentError("bounds is for a mean: leave it out for frequencies, which are shares.")
    budgets = as_budgets(epsilon)
    allocations = {name: allocate_for(budgets, goal, name) for name in rules_for(goal)}
    best = allocate_for(budgets, goal, "auto").method
    strictest = _rmse(allocations["uniform"], limits)
    forecasts = [_forecast(allocation, limits, strictest) for allocation in allocations.values()]

    def rank(forecast: Forecast) -> tuple[bool, float]:
        error = forecast.rmse if goal.loss == "mse" else forecast.pac
        return (forecast.method != best, error)

    forecasts.sort(key=rank)
    return Plan(
        forecasts=tuple(forecasts),
        best=best,
        advice=_advice(forecasts[0], allocations[best]),
        budgets=budgets,
        bounds=limits,
        assume=goal.assume,
        loss=goal.loss,
        confidence=goal.confidence,
        cells=goal.cells,
    )


def _rmse(allocation: Allocation, bounds: tuple[float, float]) -> float:
    unit = replace(allocation.goal, loss="mse").risk(allocation.weighing)
    return (bounds[1] - bounds[0]) * math.sqrt(unit)


def _forecast(allocation: Allocation, bounds: tuple[float, float], strictest: float) -> Forecast:
    goal, rmse = allocation.goal, _rmse(allocation, bounds)
    pac = replace(goal, loss="pac").risk(allocation.weighing)
    used = allocation.counts[allocation.weights > 0.0].sum()
    return Forecast(
        method=allocation.method,
        rmse=rmse,
        pac=(bounds[1] - bounds[0]) * pac,
        gain=_gain(strictest, rmse),
        used=int(used) / allocation.n,
        spent=Spent.rows(allocation.levels, allocation.counts, allocation.spent),
    )


def _gain(strictest: float, rmse: float) -> float:
    if math.isinf(rmse) or strictest == rmse:
        return 1.0
    return strictest / rmse if rmse > 0.0 else math.inf


def _advice(best: Forecast, allocation: Allocation) -> str:
    cap = allocation.cap
    levels = allocation.levels
    finite_top = float(levels[np.isfinite(levels)].max()) if np.isfinite(levels).any() else 0.0
    if allocation.scale == 0.0:
        what = "use the public records alone: adding the others would add more noise than they help"
    elif cap is None or (cap >= finite_top and not math.isinf(levels[-1])):
        what = "let everyone spend all of their budget"
    else:
        what = f"let nobody spend more than ε = {report.number(cap)}; what is left stays theirs"
    if best.gain < 1.05:
        why = "personal budgets buy little here"
    else:
        times = (
            "exact instead of noisy" if math.isinf(best.gain) else f"{best.gain:,.3g} times smaller"
        )
        why = f"the typical error is {times} than with everyone at the strictest ε"
    return f"Take method {best.method!r}: {what}; {why}."


def _forecast_dict(forecast: Forecast) -> dict[str, Any]:
    return {
        "method": forecast.method,
        "rmse": forecast.rmse,
        "pac": forecast.pac,
        "gain": forecast.gain,
        "used": forecast.used,
        "largest_spent": max(row.spent for row in forecast.spent),
        "spent": [row._asdict() for row in forecast.spent],
    }
