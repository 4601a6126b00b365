"""Plan: every method forecast side by side, before any data is read."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from epsilons import parameters, report, words
from epsilons.allocation import allocate_for, rules_for
from epsilons.allocation.best import merged
from epsilons.allocation.declared import declared_of
from epsilons.allocation.rule import weighing_of
from epsilons.budgets import Budgets, as_budgets
from epsilons.errors import ArgumentError
from epsilons.planning.forecast import (
    Forecast,
    advice_on,
    as_plain,
    curve_of,
    forecast_of_allocation,
    gain_over,
    put_in_order,
    rmse_of,
)
from epsilons.planning.guess import Guess, guess_of
from epsilons.planning.private import forecasts_of_a_guess
from epsilons.planning.questions import Need, WhatIf, need, sensitivity
from epsilons.planning.sides import Outcome, as_rows, outcomes
from epsilons.report.data import ChangeRow, GainsData, PlanData
from epsilons.risk import OPEN
from epsilons.risk.assumptions import RELATED, Assumption
from epsilons.risk.goals import Goal, MeanGoal, checked
from epsilons.statistics import STATISTICS
from epsilons.statistics.people import forecast_designs
from epsilons.theory import least_error

if TYPE_CHECKING:
    import altair

_QUESTIONED = 256
"""Levels that are asked about; more of them are merged first."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Forecasts of every method for given budgets.

    Attributes:
        forecasts: one for each method, the best first.
        best: the method that `auto` takes.
        advice: one sentence on what to do.
        budgets: the people.
        bounds: the range of the values.
        goal: what is assumed of the data, and which error is to be small.
        statistic: what is estimated.
        neighbours: "replace", or "add-remove": then the people are a guess, and errors are leading
            terms for as many people as were guessed.
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """

    forecasts: tuple[Forecast, ...]
    best: str
    advice: str
    budgets: Budgets
    bounds: tuple[float, float]
    goal: Goal
    statistic: str
    neighbours: str = "replace"
    cap: float | None = None

    @property
    def assumption(self) -> Assumption:
        """What is taken to be true of the data."""
        return self.goal.assumption

    @property
    def loss(self) -> str:
        """Which error is to be small."""
        return self.goal.loss

    @property
    def confidence(self) -> float:
        """Of the PAC error."""
        return self.goal.confidence

    @property
    def cells(self) -> int:
        """0 for a mean; for frequencies the number of categories."""
        return self.goal.categories or 0

    def need(self, *, rmse: float | None = None, pac: float | None = None) -> tuple[Need, ...]:
        """How many more people at each level would reach a wanted error.

        Args:
            rmse: the typical error that is wanted, in data units; or
            pac: the error not exceeded with the plan's confidence.

        Returns:
            For each level: ε, and how many more people with that budget would be enough if nobody
            else came; None if no number would.

        Raises:
            ArgumentError: not exactly one of the two is given, as a number above 0.
        """
        given = {name: value for name, value in (("mse", rmse), ("pac", pac)) if value is not None}
        wanted = next(iter(given.values()), None)
        number = isinstance(wanted, (int, float)) and not isinstance(wanted, bool)
        if len(given) != 1 or not number or not 0.0 < float(wanted or 0.0) < math.inf:
            raise ArgumentError(
                "need takes one wanted error, a number above 0 in data units: need(rmse=0.5), or "
                "need(pac=1.0)."
            )
        loss = "pac" if "pac" in given else self.goal.squared.loss
        return need(self.budgets, self._error(loss), float(wanted or 0.0))

    @cached_property
    def sensitivity(self) -> tuple[WhatIf, ...]:
        """What the error would be with other people, or other budgets."""
        return sensitivity(merged(self.budgets, _QUESTIONED), self._error(self.loss))

    @cached_property
    def gains(self) -> GainsData:
        """How many times smaller the typical error is than with one ε for all.

        "threshold": everyone below the best threshold is left out, and the others are treated
        alike. "uniform": everyone is treated like the strictest.
        """
        goal = self.goal.squared
        noise = goal.noise if self.neighbours == "replace" else OPEN
        best = self[self.best].rmse
        width = self.bounds[1] - self.bounds[0]

        def gain(name: str) -> float:
            answer = rules_for(goal)[name](self.budgets, goal)
            return gain_over(width * goal.rmse(weighing_of(self.budgets, answer, noise)), best)

        return {"threshold": gain("threshold"), "uniform": gain("uniform")}

    @cached_property
    def sides(self) -> tuple[Outcome, ...]:
        """What is best if budgets are related to values in any way, by 0.05 of the range, or not.

        For each answer the cap, and the errors of the best method with it, in data units.
        """
        return outcomes(self.budgets, self.goal, self.bounds, self.neighbours, self.cap)

    @property
    def spread(self) -> float | None:
        """A guess of the standard deviation in parts of the range; None if there is none."""
        return self.goal.spread if isinstance(self.goal, MeanGoal) and self.goal.guessed else None

    @cached_property
    def guess(self) -> Guess | None:
        """What the guess of the spread buys, and what it costs if it is wrong."""
        return guess_of(self.budgets, self.goal, self.bounds, self.neighbours, self.cap)

    @cached_property
    def lower_bound(self) -> float:
        """An error that no method can stay below in the worst case, in data units.

        It speaks of the loss that the plan makes small: docs/limits.md.
        """
        return least_error(
            self.budgets,
            bounds=self.bounds,
            statistic=self.goal.statistic,
            categories=self.goal.categories,
            neighbours=self.neighbours,
            about=self.assumption.about,
            related=self.assumption.related,
            loss=self.loss,
            confidence=self.confidence,
        )

    def _error(self, loss: str) -> Callable[[Budgets], float]:
        """The error of the best method for any people, in data units."""
        goal, width = replace(self.goal, loss=loss), self.bounds[1] - self.bounds[0]

        def error(budgets: Budgets) -> float:
            if self.neighbours == "replace":
                unit = allocate_for(budgets, goal, "auto").aimed
            else:
                terms = declared_of(None, budgets, self.cap)
                best = forecast_designs(terms, goal, ("auto",))["auto"]
                unit = goal.risk(best.weighing)
            return width * goal.typical(unit)

        return error

    def __getitem__(self, method: str) -> Forecast:
        for forecast in self.forecasts:
            if forecast.method == method:
                return forecast
        known = [forecast.method for forecast in self.forecasts]
        parameters.choice("method", method, known)
        raise KeyError(method)

    def to_dict(self) -> PlanData:
        """The whole plan, with the curve of risk over the cap, as plain data."""
        return {
            "kind": "plan",
            "statistic": self.statistic,
            "cells": self.cells,
            "n": self.budgets.n,
            "bounds": list(self.bounds),
            "about": self.assumption.about,
            "related": self.assumption.related,
            "neighbours": self.neighbours,
            "assumption": words.planned(self.neighbours, self.assumption),
            "protects": words.will_protect(self.neighbours),
            "loss": self.loss,
            "confidence": self.confidence,
            "best": self.best,
            "advice": self.advice,
            "warnings": [
                *report.weak_budgets(self.budgets.levels.tolist()),
                *report.few_at_each(self.assumption.related, self.budgets.counts.tolist()),
            ],
            "forecasts": [as_plain(forecast) for forecast in self.forecasts],
            "levels": [
                {"epsilon": level, "people": people}
                for level, people in zip(
                    self.budgets.levels.tolist(), self.budgets.counts.tolist(), strict=True
                )
            ],
            "gains": self.gains,
            "sides": as_rows(self.sides),
            "spread": self.spread,
            "guess": None if self.guess is None else self.guess.as_row(),
            "before": words.BEFORE if self.assumption == RELATED else "",
            "lower_bound": self.lower_bound,
            "sensitivity": [
                ChangeRow(change=each.change, error=each.error, ratio=each.ratio)
                for each in self.sensitivity
            ],
            "curve": curve_of(
                self.budgets, self.goal, self.bounds, self.neighbours, self.forecasts
            ),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON, in which ∞ is written as "inf"."""
        return report.to_json(self.to_dict())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the plan as an HTML page that stands alone.

        Args:
            path: of the file; one that is there is replaced.

        Returns:
            The path.

        Raises:
            MissingExtraError: the extra `report` is not installed.
            FileError: the file cannot be written.
        """
        return report.write_page(path, report.page(self.to_dict()))

    def plot(self) -> altair.LayerChart:
        """Risk over the cap τ, with the rules marked on it.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return report.plot(self.to_dict())

    def __str__(self) -> str:
        return report.text(self.to_dict())

    def _repr_html_(self) -> str:
        return report.html(self.to_dict())


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
        loss: "mse", "pac", or for frequencies "largest": what `auto` makes small.
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
