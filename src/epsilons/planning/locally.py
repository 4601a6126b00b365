"""The plan of the local model: forecasts of each kind of report, and of a trusted curator."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from epsilons import local, parameters
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.allocation.rules import merged
from epsilons.budgets.levels import Budgets
from epsilons.errors import ArgumentError
from epsilons.loading import later
from epsilons.local.randomizer import ASSUMED_LOCALLY, PROTECTED_LOCALLY
from epsilons.planning.asked import Forecasts
from epsilons.planning.trial import gain_over
from epsilons.planning.what_if import (
    Option,
    error_words,
    hint_of,
    option,
    put_best_first,
    strictest_give_more,
)
from epsilons.results import report
from epsilons.risk.goals import Goal
from epsilons.risk.local import LEAST
from epsilons.risk.weighing import SAMPLE
from epsilons.theory import local_error, local_vector_error

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["LocalForecast", "LocalPlan", "local_plan"]

_QUESTIONED: Final = 256

_SENDS: Final = {
    "bit": "one bit",
    "laplace": "a number",
    "hadamard": "a row and one bit",
    "projection": "a seed and one bit",
    "rappor": "a bit for each category",
    "auto": "a seed and a few signs",
    "duchi": "a seed and one sign",
}
"""What a person sends, by the randomizer's method."""


class LocalForecast(NamedTuple):
    """The forecast of one kind of report.

    Attributes:
        method: the name of the randomizer's method.
        sends: what a person sends, in words.
        rmse: the worst-case root mean square error, in data units; for frequencies that of one
            share, for vectors as a fraction of the radius of the ball.
        pac: the error not exceeded with the plan's confidence; for frequencies, by all shares at
            once.
        gain: how many times smaller the typical error is than with everyone at the strictest ε.
    """

    method: str
    sends: str
    rmse: float
    pac: float
    gain: float


class Curator(NamedTuple):
    """The errors of the best method of a trusted curator.

    Attributes:
        rmse: the typical error.
        pac: the error not exceeded with the plan's confidence.
    """

    rmse: float
    pac: float


@dataclass(frozen=True, eq=False, repr=False)
class LocalPlan(Forecasts):
    """Forecasts of every kind of local report for given budgets.

    Attributes:
        forecasts: one for each kind, the best first.
        budgets: the budgets, and how many people have each.
        bounds: the range of the values; (0, 1) for shares, and for vectors.
        goal: the goal of a curator with the same assumptions: people are an independent sample, and
            budgets say nothing about values.
        dimension: the dimension of vectors; None for numbers and categories.
        curator: the errors of a trusted curator; None for vectors.
    """

    forecasts: tuple[LocalForecast, ...]
    budgets: Budgets
    bounds: tuple[float, float]
    goal: Goal
    dimension: int | None
    curator: Curator | None

    @property
    def loss(self) -> str:
        """Which error is minimized."""
        return self.goal.loss

    @property
    def confidence(self) -> float:
        """The confidence of the PAC error."""
        return self.goal.confidence

    @property
    def best(self) -> str:
        """The kind of report with the smallest error."""
        return self.forecasts[0].method

    @property
    def statistic(self) -> str:
        """What is estimated, by the name that releases use."""
        return self.goal.statistic if self.dimension is None else "mean vector"

    @property
    def advice(self) -> str:
        """One sentence on what to do."""
        made = {"mean": "Mean", "frequencies": "Frequencies", "mean vector": "Vector"}
        sends = self.forecasts[0].sends
        return (
            f"Use ep.local.{made[self.statistic]} with method={self.best!r}: each person sends "
            f"{sends}, and spends all of their ε."
        )

    @property
    def times(self) -> float | None:
        """How many times smaller a trusted curator's error is; None for vectors."""
        if self.curator is None:
            return None
        return gain_over(self._error(self.forecasts[0]), self._error(self.curator))

    @cached_property
    def lower_bound(self) -> float:
        """A lower bound on the worst-case error of every method without a trusted curator."""
        asked: dict[str, Any] = {"loss": self.loss, "confidence": self.confidence}
        if self.dimension is not None:
            return local_vector_error(self.budgets, dimension=self.dimension, **asked)
        return local_error(self.budgets, bounds=self.bounds, **asked)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Changes to the budgets or the model, the most helpful first."""
        now = self._error(self.forecasts[0])
        few = merged(self.budgets, _QUESTIONED)

        def error(budgets: Budgets) -> float:
            found = _forecasts(budgets, self.goal, self.bounds, self.dimension)
            return self._error(found[0])

        found = strictest_give_more(few, error, error(few))
        if self.curator is not None:
            trusted = "if a curator were trusted with the values"
            found.append(option(trusted, f"ep.{self.statistic}", now, self._error(self.curator)))
        return put_best_first(found)

    @property
    def hint(self) -> str:
        """One sentence on what would help most."""
        return hint_of(self.options, error_words(self.loss, self.confidence))

    def __getitem__(self, method: str) -> LocalForecast:
        names = [forecast.method for forecast in self.forecasts]
        return self.forecasts[names.index(parameters.choice("method", method, names))]

    @property
    def warnings(self) -> list[str]:
        """Warnings that a reader must not overlook."""
        return report.weak_budgets(self.budgets.levels.tolist())

    def _rows(self) -> list[dict[str, Any]]:
        return [each._asdict() for each in self.forecasts]

    def _in_a_line(self) -> str:
        error = report.number(self[self.best].rmse)
        people = f"{self.budgets.n:,} people"
        return f"{self.statistic} of {people}, method {self.best}, typical error {error}"

    def sheet(self) -> report.Sheet:
        """The contents of the plan as a sheet, which every output format shows."""
        return said.local_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole plan as plain data."""
        levels = zip(self.budgets.levels.tolist(), self.budgets.counts.tolist(), strict=True)
        return {
            "kind": "local plan",
            "statistic": self.statistic,
            "cells": self.goal.categories or 0,
            "dimension": self.dimension,
            "n": self.budgets.n,
            "bounds": list(self.bounds),
            "assumption": ASSUMED_LOCALLY[self.statistic],
            "protects": PROTECTED_LOCALLY,
            "loss": self.loss,
            "confidence": self.confidence,
            "best": self.best,
            "advice": self.advice,
            "options": [option._asdict() for option in self.options],
            "hint": self.hint,
            "warnings": self.warnings,
            "forecasts": self._rows(),
            "curator": None if self.curator is None else self.curator._asdict(),
            "times": self.times,
            "levels": [{"epsilon": level, "people": people} for level, people in levels],
            "lower_bound": self.lower_bound,
        }

    def _error(self, errors: LocalForecast | Curator) -> float:
        return errors.pac if self.loss == "pac" else errors.rmse


def local_plan(
    budgets: Budgets, goal: Goal, bounds: tuple[float, float], dimension: int | None
) -> LocalPlan:
    """Forecast every kind of local report.

    Args:
        budgets: the budgets, and how many people have each.
        goal: the goal of a mean or of frequencies.
        bounds: the range of the values.
        dimension: the dimension of vectors; None for numbers and categories.

    Raises:
        ArgumentError: the assumption is not that of the local model.
        BudgetError: reports cannot have such a budget, or all of them would be pure noise.
    """
    if goal.assumption != SAMPLE:
        raise ArgumentError(
            'model="local" is about a population that people are a sample of, and budgets say '
            'nothing about values: write about="population", related=False with it.'
        )
    curator = None
    if dimension is None:
        best = allocate_for(budgets, goal, "auto").weighing
        width = bounds[1] - bounds[0]
        # The error of one share, to be comparable with the typical error of reports.
        typical = replace(goal, loss="mse").rmse(best)
        curator = Curator(width * typical, width * replace(goal, loss="pac").risk(best))
    return LocalPlan(
        forecasts=_forecasts(budgets, goal, bounds, dimension),
        budgets=budgets,
        bounds=bounds,
        goal=goal,
        dimension=dimension,
        curator=curator,
    )


def _forecasts(
    budgets: Budgets, goal: Goal, bounds: tuple[float, float], dimension: int | None
) -> tuple[LocalForecast, ...]:
    """The forecast of each kind of report, the best first; ties keep the order of randomizers."""
    few = merged(budgets, _QUESTIONED)
    found = []
    for method, randomizer in _randomizers(goal, bounds, dimension, _menu(few)).items():
        rmse, pac = _errors(randomizer.forecast(few), goal, bounds, dimension)
        strict, lowest = math.inf, budgets.levels[:1]
        if lowest[0] >= LEAST:
            alike = Budgets.of_levels(lowest, np.array([budgets.n]))
            strict = _errors(randomizer.forecast(alike), goal, bounds, dimension)[0]
        found.append(LocalForecast(method, _SENDS[method], rmse, pac, gain_over(strict, rmse)))
    return tuple(sorted(found, key=lambda each: each.pac if goal.loss == "pac" else each.rmse))


def _menu(budgets: Budgets) -> list[float] | None:
    """A menu of budgets, if somebody's ε is ∞: without a menu, reports at ∞ are refused."""
    return budgets.levels.tolist() if np.isinf(budgets.levels[-1]) else None


def _randomizers(
    goal: Goal, bounds: tuple[float, float], dimension: int | None, levels: Any
) -> dict[str, Any]:
    """The randomizers to compare, by method."""
    if dimension is not None:
        return {
            name: local.Vector(dimension, 1.0, name, levels=levels) for name in ("auto", "duchi")
        }
    if goal.categories is None:
        return {name: local.Mean(bounds, name, levels=levels) for name in ("bit", "laplace")}
    return {
        name: local.Frequencies(goal.categories, name, levels=levels)
        for name in ("hadamard", "projection", "rappor")
    }


def _errors(
    margin: Any, goal: Goal, bounds: tuple[float, float], dimension: int | None
) -> tuple[float, float]:
    """The typical error, and the error not exceeded with the goal's confidence, from a margin."""
    if dimension is not None:
        return math.sqrt(margin.mse()), margin.radius(SAMPLE, goal.confidence)
    if goal.categories is None:
        return math.sqrt(margin.mse(bounds)), margin.reach(bounds, goal.confidence)
    return math.sqrt(margin.mse()), min(margin.worst(SAMPLE, goal.confidence), 1.0)
