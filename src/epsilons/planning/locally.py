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
from epsilons.local.piecewise import MORE
from epsilons.local.randomizer import ASSUMED_LOCALLY, PROTECTED_LOCALLY
from epsilons.planning.asked import Forecasts
from epsilons.planning.trial import Errors, error_of, gain_over
from epsilons.planning.what_if import (
    QUESTIONED,
    Need,
    Option,
    hint_of,
    need,
    needed,
    option,
    put_best_first,
    strictest_give_more,
    wanted_error,
)
from epsilons.results import report
from epsilons.results.release.verdict import (
    Gain,
    ReleaseVerdict,
    gain_words,
    helps_most,
    in_points,
    precision_at,
    precision_words,
    to_two_digits,
)
from epsilons.risk.goals import Goal
from epsilons.risk.local import LEAST
from epsilons.risk.weighing import SAMPLE
from epsilons.theory import local_error, local_vector_error

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["LocalForecast", "LocalPlan", "local_plan"]

_THRESHOLDS: Final = 16
"""The number of thresholds to try; people with an ε below the threshold are left out."""

_SENDS: Final = {
    "bit": "one bit",
    "laplace": "a number",
    "piecewise": "one of a few steps",
    "hadamard": "a row and one bit",
    "projection": "a seed and one bit",
    "rappor": "a bit for each category",
    "auto": "a seed and a few signs",
    "duchi": "a seed and one sign",
}
"""The contents of a person's report, for each method of the randomizers."""


class LocalForecast(NamedTuple):
    """The forecast of one kind of report.

    Attributes:
        method: the name of the randomizer's method.
        sends: the contents of a person's report, in words.
        rmse: the worst-case root mean square error, in data units; for frequencies, the error of
            one share; for vectors, a fraction of the radius of the ball.
        pac: the PAC error: the error exceeds it with probability at most 1 minus the plan's
            confidence. For frequencies, this holds for all shares simultaneously.
        gain: the typical error if everyone reports at the smallest ε, divided by `rmse`.
    """

    method: str
    sends: str
    rmse: float
    pac: float
    gain: float


@dataclass(frozen=True, eq=False, repr=False)
class LocalPlan(Forecasts):
    """Forecasts of every kind of local report for given budgets.

    Attributes:
        forecasts: one for each kind, the best first.
        budgets: the budgets, and the number of people with each.
        bounds: the range of the values; (0, 1) for shares, and for vectors.
        goal: the goal of a curator with the same assumptions: people are an independent sample, and
            budgets are independent of values.
        dimension: the dimension of vectors; None for numbers and categories.
        curator: the errors if a trusted curator collected the values and used the best method; None
            for vectors.
        wanted: the half-width that the user wants; None if they did not set a goal.

    Examples:
        >>> import epsilons as ep
        >>> sample = {"model": "local", "about": "population", "related": False}
        >>> plan = ep.plan({0.1: 500, 1.0: 9500}, bounds=(0, 24), **sample)
        >>> plan.best, round(plan.times, 1)
        ('bit', 2.2)
        >>> print(plan.verdict.words[0])
        Precise to ±0.72 (3 % of the range).
    """

    forecasts: tuple[LocalForecast, ...]
    budgets: Budgets
    bounds: tuple[float, float]
    goal: Goal
    dimension: int | None
    curator: Errors | None
    wanted: float | None = None

    @property
    def loss(self) -> str:
        """The error that is minimized: "mse", "pac" or "largest"."""
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
    def cells(self) -> int:
        """For frequencies the number of categories; otherwise 0."""
        return self.goal.categories or 0

    @property
    def statistic(self) -> str:
        """The name of the statistic, as in releases."""
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
        """The error of local reports divided by that of a trusted curator; None for vectors."""
        if self.curator is None:
            return None
        return gain_over(error_of(self.forecasts[0], self.loss), error_of(self.curator, self.loss))

    @cached_property
    def lower_bound(self) -> float:
        """A lower bound on the worst-case error of every method without a trusted curator.

        Proof: docs/proofs/limits-local.md (1), (2), (3), (4), (5), (6).
        """
        asked: dict[str, Any] = {"loss": self.loss, "confidence": self.confidence}
        if self.dimension is not None:
            return local_vector_error(self.budgets, dimension=self.dimension, **asked)
        return local_error(self.budgets, bounds=self.bounds, **asked)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Changes to the budgets or the model, the most helpful first."""
        now = error_of(self.forecasts[0], self.loss)

        def error(budgets: Budgets) -> float:
            return error_of(self._best_for(budgets), self.loss)

        found = strictest_give_more(self.budgets, error)
        if self.curator is not None:
            trusted = "if a curator is trusted with the values"
            found.append(
                option(trusted, f"ep.{self.statistic}", now, error_of(self.curator, self.loss))
            )
        return put_best_first(found)

    @property
    def hint(self) -> str:
        """One sentence on what would help most."""
        return hint_of(self.options, self.loss, self.confidence)

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """The verdict on the planned result: precision, gain from personal budgets, and advice.

        The wording is that of `release.verdict`.
        """
        lo, hi = self.bounds
        width, whole, told = hi - lo, "the range", to_two_digits()
        if self.cells:
            whole, told = "all people", in_points
        elif self.dimension is not None:  # errors are fractions of the radius; the width is 2 radii
            width, whole, told = 2.0, "", to_two_digits("% of the radius", 100.0)
        each = (precision_at(self._half_width(self.budgets), width),) * (self.cells or 1)
        said = [precision_words(each, told, ("category", "categories"), whole)]
        said += [] if self._gain is None else [gain_words(self._gain)]
        helps = helps_most(each.help for each in self.options)
        return ReleaseVerdict(each, self._gain, helps, (*said, self.hint))

    @cached_property
    def _gain(self) -> Gain | None:
        """The gain from personal budgets; None if all budgets are equal."""
        levels, counts = self.budgets.levels, self.budgets.counts
        usable, best = levels[levels > 0.0], self.forecasts[0]
        if len(usable) < 2 or not 0.0 < best.rmse < math.inf:
            return None
        asked = self.goal, self.bounds, self.dimension
        randomizer = _randomizers(*asked, self.budgets)[best.method]
        tried = [
            (_alone(randomizer, level, int(counts[levels >= level].sum()), *asked), level)
            for level in merged(self.budgets, _THRESHOLDS).levels.tolist()
        ]
        error, single = min(tried)
        left_out = int(counts[(levels > 0.0) & (levels < single)].sum())
        return Gain(best.gain, gain_over(error, best.rmse), float(usable[0]), single, left_out)

    def need(self, goal: float) -> tuple[Need, ...]:
        """Return how many more people are needed for a wanted half-width.

        Args:
            goal: half the width of the interval, in data units; for frequencies, the half-width of
                one share; for vectors, a fraction of the radius.

        Returns:
            The first entry, with `epsilon` None, is the number of additional people in the same mix
            of budgets; it is negative if fewer people are enough. Each further entry is for one
            level ε: the number of additional people if all of them have that budget. `people` is
            None if no number of people is enough.

        Raises:
            ArgumentError: the goal is not a number above 0; or for frequencies, it is not below 1.
        """
        wanted = wanted_error(goal, share=self.cells > 0)
        return need(self.budgets, self._half_width, wanted)

    @cached_property
    def needed(self) -> tuple[Need, ...]:
        """The result of `need` for `wanted`, for at most four levels; empty without a goal."""
        return needed(self.budgets, self._half_width, self.wanted)

    def _half_width(self, budgets: Budgets) -> float:
        """Half the width of the interval of a number, with these budgets."""
        best = self._best_for(budgets)
        if not self.cells:
            return best.pac
        few = merged(budgets, QUESTIONED)
        kinds = _randomizers(self.goal, self.bounds, self.dimension, few)
        one: float = kinds[best.method].forecast(few).reach(1.0 - self.confidence)
        return min(one, 1.0)

    def _best_for(self, budgets: Budgets) -> LocalForecast:
        """The forecast of the best kind of report, with these budgets."""
        return _forecasts(budgets, self.goal, self.bounds, self.dimension)[0]

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
            "cells": self.cells,
            "dimension": self.dimension,
            "n": self.budgets.n,
            "bounds": list(self.bounds),
            "assumption": ASSUMED_LOCALLY[self.statistic],
            "protects": PROTECTED_LOCALLY,
            "loss": self.loss,
            "confidence": self.confidence,
            "verdict": self.verdict.to_dict(),
            "wanted": self.wanted,
            "needed": [each._asdict() for each in self.needed],
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


def local_plan(
    budgets: Budgets, goal: Goal, bounds: tuple[float, float], dimension: int | None
) -> LocalPlan:
    """Forecast every kind of local report.

    Args:
        budgets: the budgets, and the number of people with each.
        goal: the goal of a mean or of frequencies.
        bounds: the range of the values.
        dimension: the dimension of vectors; None for numbers and categories.

    Raises:
        ArgumentError: the assumption is not that of the local model.
        BudgetError: a budget is not possible for reports, or all reports would be pure noise.
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
        curator = Errors(width * typical, width * replace(goal, loss="pac").risk(best))
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
    """The forecast of each kind of report: the advised kind first, the others by error.

    Piecewise reports are advised if they hold more than one bit, as in `local.Mean`. In the worst
    case they add less noise than other reports. But forecast errors also contain the sampling
    error, and can be smaller for other reports. If there are no piecewise reports, the kind with
    the smallest error is advised. Kinds with equal errors keep the order of randomizers.
    """
    few = merged(budgets, QUESTIONED)
    found = []
    for method, randomizer in _randomizers(goal, bounds, dimension, few).items():
        rmse, pac = _errors(randomizer.forecast(few), goal, bounds, dimension)
        lowest = float(budgets.levels[0])
        strict = _alone(randomizer, lowest, budgets.n, goal, bounds, dimension)
        found.append(LocalForecast(method, _SENDS[method], rmse, pac, gain_over(strict, rmse)))

    def order(each: LocalForecast) -> tuple[bool, float]:
        return each.method != "piecewise", error_of(each, goal.loss)

    return tuple(sorted(found, key=order))


def _alone(
    randomizer: Any,
    level: float,
    people: int,
    goal: Goal,
    bounds: tuple[float, float],
    dimension: int | None,
) -> float:
    """The typical error if all people report at one ε; ∞ if that ε is too small for reports."""
    if level < LEAST or people < 2:
        return math.inf
    alike = Budgets.of_levels(np.array([level]), np.array([people]))
    return _errors(randomizer.forecast(alike), goal, bounds, dimension)[0]


def _randomizers(
    goal: Goal, bounds: tuple[float, float], dimension: int | None, budgets: Budgets
) -> dict[str, Any]:
    """The randomizers to compare, by method; piecewise reports only if they hold more than a bit.

    If somebody's ε is ∞, the budgets are a menu, because only menus allow ∞.
    """
    largest = float(budgets.levels[-1])
    levels: Any = budgets.levels.tolist() if math.isinf(largest) else None
    if dimension is not None:
        return {
            name: local.Vector(dimension, 1.0, name, levels=levels) for name in ("auto", "duchi")
        }
    if goal.categories is None:
        more = ("piecewise",) if MORE <= largest < math.inf else ()
        methods: Any = (*more, "bit", "laplace")
        return {name: local.Mean(bounds, name, levels=levels) for name in methods}
    return {
        name: local.Frequencies(goal.categories, name, levels=levels)
        for name in ("hadamard", "projection", "rappor")
    }


def _errors(
    margin: Any, goal: Goal, bounds: tuple[float, float], dimension: int | None
) -> tuple[float, float]:
    """The typical error, and the PAC error at the goal's confidence, computed from a margin."""
    if dimension is not None:
        return math.sqrt(margin.mse()), margin.radius(SAMPLE, goal.confidence)
    if goal.categories is None:
        return math.sqrt(margin.mse(bounds)), margin.reach(bounds, goal.confidence)
    return math.sqrt(margin.mse()), min(margin.worst(SAMPLE, goal.confidence), 1.0)
