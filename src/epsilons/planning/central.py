"""The plan of a mean on a known range, or of frequencies: every method side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from epsilons import parameters, report, words
from epsilons.allocation import allocate_for, rules_for
from epsilons.allocation.best import merged
from epsilons.allocation.declared import declared_of
from epsilons.allocation.rule import weighing_of
from epsilons.budgets import Budgets
from epsilons.errors import ArgumentError
from epsilons.loading import later
from epsilons.planning.asked import Asked
from epsilons.planning.forecast import (
    Forecast,
    advice_on,
    as_plain,
    aside_on,
    curve_of,
    forecast_of_allocation,
    gain_over,
    put_in_order,
    rmse_of,
)
from epsilons.planning.guess import Guess, forecasts_without_it, guess_of
from epsilons.planning.options import (
    Option,
    by_about,
    by_guess,
    by_sides,
    error_words,
    hint_of,
    in_units,
    put_best_first,
    strictest_give_more,
)
from epsilons.planning.private import forecasts_of_a_guess
from epsilons.planning.questions import Need, WhatIf, need, sensitivity
from epsilons.planning.sides import Outcome, best_of, outcomes
from epsilons.report import number
from epsilons.risk import OPEN
from epsilons.risk.assumptions import Assumption
from epsilons.risk.goals import Goal, MeanGoal
from epsilons.statistics.mean import ADAPTIVE
from epsilons.statistics.ways import forecast_designs
from epsilons.theory import least_error

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

_QUESTIONED = 256
"""Levels that are asked about; more of them are merged first."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Asked):
    """Forecasts of every method for given budgets.

    Attributes:
        forecasts: one for each method, the best first.
        best: the method that `auto` takes.
        advice: one sentence on what to do.
        budgets: the people.
        bounds: the range of the values.
        goal: what is assumed about the data, and which error is minimized.
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
        """What is assumed about the data."""
        return self.goal.assumption

    @property
    def cells(self) -> int:
        """0 for a mean; for frequencies the number of categories."""
        return self.goal.categories or 0

    def need(self, *, rmse: float | None = None, pac: float | None = None) -> tuple[Need, ...]:
        """How many more people at each level it would take to reach an error.

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
    def gains(self) -> dict[str, float]:
        """How many times smaller the typical error is than with a single ε for everyone.

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
        """A guess of the standard deviation as a fraction of the range; None if there is none."""
        return self.goal.spread if isinstance(self.goal, MeanGoal) and self.goal.guessed else None

    @cached_property
    def guess(self) -> Guess | None:
        """What the guess of the spread gains, and what it costs if it is wrong."""
        return guess_of(self.budgets, self.goal, self.bounds, self.neighbours, self.cap)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What could be assumed, guessed or asked for, and is not: what helps most comes first."""
        width = self.bounds[1] - self.bounds[0]

        def error(goal: Goal) -> float:
            return in_units(goal, best_of(self.budgets, goal, self.neighbours, self.cap)[0], width)

        few = merged(self.budgets, _QUESTIONED)
        of_people = self._error(self.loss)
        return put_best_first(
            [
                *by_sides(self.sides, self.goal),
                *by_about(self.goal, error),
                *by_guess(self.budgets, self.goal, width, self.neighbours, self.cap),
                *strictest_give_more(few, of_people, of_people(few)),
            ]
        )

    @property
    def aside(self) -> str:
        """Why a method whose error looks smaller is not advised, in a sentence; or ""."""
        return aside_on(self.forecasts, self.goal)

    @property
    def hint(self) -> str:
        """One sentence on what would help most."""
        return hint_of(self.options, error_words(self.loss, self.confidence))

    @cached_property
    def lower_bound(self) -> float:
        """An error that no method can stay below in the worst case, in data units.

        It refers to the loss that the plan minimizes: docs/limits.md.
        """
        asked: dict[str, Any] = {
            "bounds": self.bounds,
            "statistic": self.goal.statistic,
            "categories": self.goal.categories,
            "neighbours": self.neighbours,
            "about": self.assumption.about,
            "related": self.assumption.related,
            "loss": self.loss,
            "confidence": self.confidence,
        }
        return least_error(self.budgets, **asked)

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
        if method in ADAPTIVE and self.neighbours == "replace" and not self.cells:
            raise ArgumentError(
                f"method={method!r} finds the spread in the data: plan with a guess, such as "
                "spread=0.1, and see what it would give for such data."
            )
        parameters.method(method, known)
        raise KeyError(method)

    @property
    def warnings(self) -> list[str]:
        """What a reader must not overlook."""
        return [
            *report.weak_budgets(self.budgets.levels.tolist()),
            *report.few_at_each(self.assumption.related, self.budgets.counts.tolist()),
        ]

    @cached_property
    def curve(self) -> dict[str, list[float]]:
        """The error over the cap."""
        return curve_of(self.budgets, self.goal, self.bounds, self.neighbours, self.forecasts)

    def _rows(self) -> list[dict[str, Any]]:
        return [as_plain(forecast) for forecast in self.forecasts]

    def _in_a_line(self) -> str:
        error = number(self[self.best].rmse)
        people = f"{self.budgets.n:,} people"
        return f"{self.statistic} of {people}, method {self.best}, typical error {error}"

    def sheet(self) -> report.Sheet:
        """What it says, in no form."""
        return said.central_sheet(self)

    def to_dict(self) -> dict[str, Any]:
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
            "aside": self.aside,
            "warnings": self.warnings,
            "forecasts": self._rows(),
            "levels": [
                {"epsilon": level, "people": people}
                for level, people in zip(
                    self.budgets.levels.tolist(), self.budgets.counts.tolist(), strict=True
                )
            ],
            "gains": self.gains,
            "sides": [side._asdict() for side in self.sides],
            "spread": self.spread,
            "guess": None if self.guess is None else self.guess._asdict(),
            "options": [option._asdict() for option in self.options],
            "hint": self.hint,
            "lower_bound": self.lower_bound,
            "sensitivity": [each._asdict() for each in self.sensitivity],
            "curve": self.curve,
        }


def central_plan(
    statistic: str,
    budgets: Budgets,
    goal: Goal,
    limits: tuple[float, float],
    neighbours: str,
    cap: float | None,
) -> Plan:
    """Forecast every method on a known range.

    Args:
        statistic: what is estimated, by name.
        budgets: the people, or for add/remove a guess.
        goal: what is assumed about the data, and which error is minimized.
        limits: the range.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """
    if neighbours == "add-remove":
        found = forecasts_of_a_guess(budgets, goal, limits, cap)
        return Plan(
            *found,
            budgets=budgets,
            bounds=limits,
            goal=goal,
            statistic=statistic,
            neighbours="add-remove",
            cap=cap,
        )
    allocations = {name: allocate_for(budgets, goal, name) for name in rules_for(goal)}
    best = allocate_for(budgets, goal, "auto").method
    strictest = rmse_of(allocations["uniform"], limits)
    forecasts = [
        forecast_of_allocation(allocation, limits, strictest) for allocation in allocations.values()
    ]
    forecasts += forecasts_without_it(budgets, goal, limits, strictest)
    put_in_order(forecasts, goal, best)
    return Plan(
        forecasts=tuple(forecasts),
        best=best,
        advice=advice_on(forecasts[0], allocations[best]),
        budgets=budgets,
        bounds=limits,
        goal=goal,
        statistic=statistic,
    )
