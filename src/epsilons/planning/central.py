"""The plan of one question: forecasts of all its methods, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from epsilons import parameters, words
from epsilons.budgets.allocation import NARROWEST, rules_for
from epsilons.budgets.allocation.rules import merged, weighing_of
from epsilons.budgets.levels import Budgets, dot
from epsilons.errors import ArgumentError
from epsilons.loading import later
from epsilons.planning.asked import QuestionPlan
from epsilons.planning.trial import Forecast, Trial, as_plain, error_of, gain_over
from epsilons.planning.what_if import (
    Guess,
    Need,
    Option,
    SideOutcome,
    WhatIf,
    by_about,
    by_guess,
    by_sides,
    guess_of,
    hint_of,
    need,
    needed,
    outcomes,
    put_best_first,
    sensitivity,
    strictest_give_more,
    wanted_error,
)
from epsilons.questions.mean import ADAPTIVE
from epsilons.questions.question import Question
from epsilons.questions.steps.locate import budgets_of
from epsilons.results import report
from epsilons.results.release.verdict import (
    Gain,
    Precision,
    ReleaseVerdict,
    gain_words,
    helps_most,
    in_points,
    precision_at,
    precision_if,
    precision_words,
    to_two_digits,
)
from epsilons.results.report import number
from epsilons.results.report.numbers import percent
from epsilons.risk import INDEPENDENT, Weighing
from epsilons.risk.goals import Goal
from epsilons.theory import least_error

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["Plan", "plan_of"]

_THRESHOLDS = 16
"""The number of thresholds to try, if the question has no method "threshold"."""

_PULLS: Final = (
    "The error of 'minimax' is smaller, but it is not advised: it pulls the answer toward the "
    "middle of the range, so it is biased for data far from the middle, and is used only if you "
    "choose it by name."
)


@dataclass(frozen=True, eq=False, repr=False)
class Plan(QuestionPlan):
    """Forecasts of every method for given budgets.

    Attributes:
        forecasts: one for each method, the best first.
        best: the method that `auto` uses.
        advice: one sentence on what to do.
        question: the question; its columns are not read.
        budgets: the budgets, and the number of people with each.
        neighbours: "replace" or "add-remove". For add/remove, the numbers of people are a guess,
            and errors are leading terms for that guess.
        cap: for add/remove, the most that anyone spends; None if the caller did not set it.
        wanted: the half-width that the user wants; None if they did not set a goal.

    Examples:
        >>> import epsilons as ep
        >>> plan = ep.plan({0.05: 4, 1.0: 3996}, bounds=(0, 24))
        >>> plan.best, round(plan.forecasts[0].rmse, 3)
        ('optimal', 0.024)
        >>> {name: round(gain, 1) for name, gain in plan.gains.items()}
        {'threshold': 1.0, 'uniform': 7.0}
    """

    forecasts: tuple[Forecast, ...]
    best: str
    advice: str
    question: Question
    budgets: Budgets
    neighbours: str
    cap: float | None
    wanted: float | None = None

    @property
    def statistic(self) -> str:
        """The name of the statistic."""
        return self.question.statistic

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the values; of two columns, that of the first."""
        low, high = getattr(self.question, "bounds", getattr(self.question, "x_bounds", (0, 1)))
        return float(low), float(high)

    @property
    def goal(self) -> Goal:
        """The assumption about the data, and the error that is minimized."""
        return self.trial.goal

    @property
    def cells(self) -> int:
        """For frequencies the number of categories; otherwise 0."""
        return (self.goal.categories or 0) if self.weighs else 0

    def need(
        self, goal: float | None = None, *, rmse: float | None = None, pac: float | None = None
    ) -> tuple[Need, ...]:
        """Return how many more people are needed for a wanted error.

        Args:
            goal: the wanted half-width of the interval that a release will have, for any data; in
                data units, or as a share for frequencies.
            rmse: instead of goal, the wanted typical error, in the same units.
            pac: instead of goal, the wanted PAC error: errors exceed it with probability at most 1
                minus the plan's confidence. The method is that of loss="pac".

        Returns:
            The first entry, with `epsilon` None, is the number of additional people in the same mix
            of budgets; it is negative if fewer people are enough. Each further entry is for one
            level ε: the number of additional people if all of them have that budget. `people` is
            None if no number of people is enough.

        Raises:
            ArgumentError: not exactly one of the three is given, or it is not a number above 0; or
                for frequencies, goal is not below 1.
        """
        given = {"goal": goal, "rmse": rmse, "pac": pac}
        named = [name for name, value in given.items() if value is not None]
        wanted = given[named[0]] if len(named) == 1 else None
        number = isinstance(wanted, (int, float)) and not isinstance(wanted, bool)
        if not number or not 0.0 < float(wanted or 0.0) < math.inf:
            raise ArgumentError(
                "need takes one wanted error, a number above 0 in data units: need(2.0) for an "
                "interval of ±2.0, need(rmse=0.5) or need(pac=1.0)."
            )
        if goal is not None:
            reached = wanted_error(goal, share=self.cells > 0)
            return need(self.budgets, self._half_width, reached)
        loss = "pac" if pac is not None else self._squared
        return need(self.budgets, self._error(loss), float(wanted or 0.0))

    @cached_property
    def needed(self) -> tuple[Need, ...]:
        """The result of `need` for `wanted`, for at most four levels; empty without a goal."""
        return needed(self.budgets, self._half_width, self.wanted)

    def _half_width(self, budgets: Budgets) -> float:
        """Half the width of the interval that a release would have with these budgets."""
        return self.trial.of(budgets).found.reach

    @cached_property
    def sensitivity(self) -> tuple[WhatIf, ...]:
        """Forecasts of the error for other people and other budgets."""
        return sensitivity(self.budgets, self._error(self.loss))

    @cached_property
    def gains(self) -> dict[str, float]:
        """The typical error with a single ε for everyone, divided by that of the best method.

        "threshold": everyone with a budget below the best threshold is left out, and everyone else
        spends that threshold. "uniform": everyone spends the smallest budget.
        """
        best = self[self.best].rmse
        threshold, uniform = (gain_over(each.error, best) for each in self._single)
        return {"threshold": threshold, "uniform": uniform}

    @cached_property
    def _single(self) -> tuple[_Single, _Single]:
        """The results of a single ε for everyone: the best ε, and the smallest one."""
        trial = self.trial.asking(loss=self._squared)
        names = ("threshold", "uniform")
        lowest = float(self.budgets.levels[self.budgets.levels > 0.0][0])
        alike = _Single(trial.strictest, lowest)
        if set(names) <= set(self.question.methods(self.neighbours)):
            tried = [trial.asking(method=name) for name in names]
            best, alike = (_Single(each.rmse, each.most) for each in tried)
        elif self.weighs:  # the question lacks these methods, but their weights can be computed
            goal = trial.goal
            rules = [rules_for(goal)[name](self.budgets, goal) for name in names]
            weighed = [goal.rmse(weighing_of(self.budgets, rule, INDEPENDENT)) for rule in rules]
            best, alike = (
                _Single(self._unit * error, float(rule.spent.max()))
                for error, rule in zip(weighed, rules, strict=True)
            )
        elif self.neighbours == "replace":
            best = _best_threshold(trial)
        else:  # a threshold would leave people out of the count: use the smallest ε
            best = alike
        return best, alike

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """The verdict on the planned result: precision, gain from personal budgets, and advice.

        The wording is that of `release.verdict`.
        """
        each, precise = self.precision
        said = [precise] if self._gain is None else [precise, gain_words(self._gain, self.best)]
        helps = helps_most(one.help for one in self.options)
        return ReleaseVerdict(each, self._gain, helps, (*said, self.hint))

    @property
    def precision(self) -> tuple[tuple[Precision, ...], str]:
        """The forecast precision of each number, as data and in words."""
        estimate = self.trial.found.estimate
        each: tuple[Precision, ...] = tuple(estimate.precisions(self.assumption, self.confidence))
        if self.weighs:  # the half-width holds for any data
            low, high = estimate.limits
            each = (precision_at(self.trial.found.reach, high - low),) * len(each)
        told = in_points if estimate.in_percent else to_two_digits(self.question.unit)
        if estimate.adds:  # the number is not known yet
            largest = max(map(abs, estimate.limits))
            one, words = precision_if(self.trial.found.reach, largest, told)
            return (one,), words
        return each, precision_words(each, told, estimate.each, estimate.whole)

    @property
    def _gain(self) -> Gain | None:
        """The gain from personal budgets; None if all are equal, or the error is 0 or infinite."""
        levels, counts = self.budgets.levels, self.budgets.counts
        usable = levels[(levels > 0.0) & (counts > 0)]
        if len(usable) < 2 or not 0.0 < self[self.best].rmse < math.inf:
            return None
        single = self._single[0].epsilon
        left_out = counts[(levels > 0.0) & (levels < single)]
        over = self.gains["uniform"], self.gains["threshold"]
        return Gain(*over, float(usable[0]), single, int(left_out.sum()))

    @cached_property
    def sides(self) -> tuple[SideOutcome, ...]:
        """The best cap and its errors, for `related` True, 0.05, False and the value in the plan.

        Errors are those of the best method under each assumption, in data units.
        """
        return outcomes(self.trial)

    @property
    def spread(self) -> float | None:
        """The guessed standard deviation, as a fraction of the range; None without a guess."""
        return self.trial.guess

    @cached_property
    def guess(self) -> Guess | None:
        """Errors with and without the guess of the spread, if it is right and in the worst case.

        None without a guess.
        """
        return guess_of(self.trial)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Changes to the assumptions, the guess or the budgets, the most helpful first."""
        return put_best_first(
            [
                *by_sides(self.sides, self.question),
                *by_about(self.trial, lambda asked: asked.error),
                *by_guess(self.trial),
                *strictest_give_more(self.budgets, self._error(self.loss)),
            ]
        )

    @property
    def aside(self) -> str:
        """A sentence that explains why no method with a smaller error is advised; may be empty."""
        error = error_of(self.forecasts[0], self.loss)
        pulled = any(
            each.method == "minimax"
            and error_of(each, self.loss) < error
            and number(error_of(each, self.loss)) != number(error)
            for each in self.forecasts
        )
        return _PULLS if pulled else ""

    @property
    def hint(self) -> str:
        """One sentence on what would help most."""
        return hint_of(self.options, self.loss, self.confidence)

    @cached_property
    def caps(self) -> tuple[CapOutcome, ...]:
        """The method that `auto` uses, and then the one that suits the other of two aims.

        The aims are a short interval and a small PAC error. Empty if no cap is chosen for
        intervals, as for other losses.
        """
        if self.neighbours != "replace" or not (self.weighs and self.goal.by_interval):
            return ()
        other = "optimal" if self.best == NARROWEST else NARROWEST
        tried = {each: self.trial.asking(method=each) for each in (self.best, other)}
        return tuple(
            CapOutcome(name, each.most, each.found.reach, each.pac) for name, each in tried.items()
        )

    @property
    def compared(self) -> str:
        """Two sentences on the interval and the error with both caps.

        Empty if no cap is chosen for intervals, or if two digits of both numbers are the same.
        """
        rounded = {(number(each.half_width, 2), number(each.error, 2)) for each in self.caps}
        if len(rounded) < 2:
            return ""
        taken, other = self.caps
        aims = {NARROWEST: "a short interval"}
        aim, aside = (aims.get(each.method, "the smallest error") for each in self.caps)
        return (
            f"This cap is chosen for {aim}: ±{number(taken.half_width)}, and an error of at most "
            f"{number(taken.error)} at {percent(self.confidence)}. With the cap for {aside}, ε = "
            f'{number(other.cap)} (method="{other.method}"), these would be '
            f"±{number(other.half_width)} and {number(other.error)}."
        )

    @cached_property
    def lower_bound(self) -> float:
        """A lower bound on the worst-case error of every method, in data units.

        It is a bound for the loss that the plan minimizes: docs/limits.md. It is known for means
        and frequencies; for other statistics it is 0.
        Proof: docs/proofs/limits.md (1), (4), (7), (9), (10), (11), (12), (17), (18), (19).
        """
        if not self.weighs:
            return 0.0
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
        low, high = self.bounds
        return least_error(self.budgets, **asked) * (self._unit / (high - low))

    def _error(self, loss: str) -> Callable[[Budgets], float]:
        """A function from budgets to the error of the best method, in data units."""
        trial = self.trial.asking(loss=loss)
        return lambda budgets: trial.of(budgets).error

    @property
    def _squared(self) -> str:
        """The loss that defines the typical error: "largest" for that loss, otherwise "mse"."""
        return "largest" if self.loss == "largest" else "mse"

    @property
    def weighs(self) -> bool:
        """Whether errors are worst cases, as for weighted means and weighted shares.

        Otherwise they are forecasts for values that are spread evenly over the range.
        """
        return self.trial.found.answer.weighing is not None

    @property
    def _unit(self) -> float:
        """The factor that converts errors on a unit range to data units."""
        unit: float = self.trial.found.estimate.unit
        return unit

    def __getitem__(self, method: str) -> Forecast:
        names = [forecast.method for forecast in self.forecasts]
        adaptive = method in ADAPTIVE and method in self.question.methods(self.neighbours)
        if adaptive and method not in names:
            raise ArgumentError(
                f"method={method!r} finds the spread in the data: plan with a guess, such as "
                "spread=0.1, to forecast its error for data with that spread."
            )
        return self.forecasts[names.index(parameters.choice("method", method, names))]

    @cached_property
    def curve(self) -> dict[str, list[float]]:
        """The error at 120 caps, from half the smallest ε to twice the largest finite one.

        Both lists are empty if errors are not worst cases, or if no ε is finite.
        """
        levels, counts = self.budgets.levels, self.budgets.counts
        finite = levels[(levels > 0.0) & np.isfinite(levels)]
        if len(finite) == 0 or not self.weighs:
            return {"cap": [], "error": []}
        goal = self.goal
        most = [each.spending.spent for each in self.forecasts]
        tops = [float(spent[np.isfinite(spent)].max(initial=0.0)) for spent in most]
        top = max(float(finite[-1]), *tops)
        caps = np.geomspace(max(float(finite[0]) / 2.0, 1e-300), max(2.0 * top, 1e-299), 120)
        noise = goal.noise if self.neighbours == "replace" else INDEPENDENT
        errors = []
        for cap in caps.tolist():
            spent = np.minimum(levels, cap)
            total = dot(counts, spent)
            scale = noise.moves / total
            weighing = Weighing(spent / total, counts, scale, closed=noise.closed, cube=noise.cube)
            errors.append(self._unit * goal.typical(goal.risk(weighing)))
        return {"cap": caps.tolist(), "error": errors}

    def _rows(self) -> list[dict[str, Any]]:
        return [as_plain(forecast) for forecast in self.forecasts]

    def _in_a_line(self) -> str:
        error = number(self[self.best].rmse)
        people = f"{self.budgets.n:,} people"
        return f"{self.statistic} of {people}, method {self.best}, typical error {error}"

    def sheet(self) -> report.Sheet:
        """The contents of the plan as a sheet, which every output format shows."""
        return said.central_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole plan as plain data, with the curve of the error as a function of the cap."""
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
            "protects": words.WILL_PROTECT[self.neighbours],
            "loss": self.loss,
            "confidence": self.confidence,
            "verdict": self.verdict.to_dict(),
            "wanted": self.wanted,
            "needed": [each._asdict() for each in self.needed],
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
            **({"caps": [each._asdict() for each in self.caps]} if self.caps else {}),
        }


def plan_of(trial: Trial) -> Plan:
    """Forecast every method of a question.

    Args:
        trial: the question, the budgets, the neighbouring relation and the cap.
    """
    trial = trial.asking(method="auto")
    forecasts = [trial.forecast(name) for name in _names(trial)]
    forecasts += trial.forecast_in_stages()
    best = trial.found.answer.method
    forecasts.sort(key=lambda each: (each.method != best, error_of(each, trial.question.loss)))
    return Plan(
        forecasts=tuple(forecasts),
        best=best,
        advice=_advice(forecasts[0], trial),
        question=trial.question,
        budgets=trial.budgets,
        neighbours=trial.neighbours,
        cap=trial.cap,
    )


class CapOutcome(NamedTuple):
    """The forecast of a method that chooses a cap for a short interval or for a small error.

    Attributes:
        method: the name of the method.
        cap: the most that anyone spends.
        half_width: half of the length of the interval, in data units.
        error: the PAC error of the estimate, in data units.
    """

    method: str
    cap: float
    half_width: float
    error: float


class _Single(NamedTuple):
    """The result of using a single ε, for everyone with a budget of at least that ε.

    Attributes:
        error: the typical error.
        epsilon: the single ε; people with a smaller budget are left out.
    """

    error: float
    epsilon: float


def _best_threshold(trial: Trial) -> _Single:
    """The best single ε. People with smaller budgets are left out, and all others spend this ε."""
    levels, counts = trial.budgets.levels, trial.budgets.counts
    some = merged(trial.budgets, _THRESHOLDS).levels
    return min(
        _Single(trial.of(budgets_of(np.where(levels >= at, at, 0.0), counts)).rmse, at)
        for at in some[some > 0.0].tolist()
    )


def _names(trial: Trial) -> list[str]:
    """The methods to forecast, without adaptive ones: their errors depend on a guessed spread."""
    every = trial.question.methods(trial.neighbours)
    return [name for name in every if name not in ADAPTIVE]


def _advice(best: Forecast, trial: Trial) -> str:
    """One sentence on what to do."""
    levels, spent = best.spending.levels, best.spending.spent
    weighing = trial.found.answer.weighing
    if weighing is not None and weighing.scale == 0.0:
        what = "use the public records alone: adding the others would add more noise than they help"
    elif (spent >= levels * (1.0 - 1e-9)).all():
        what = "let everyone spend all of their budget"
    else:
        most = number(float(spent.max()))
        what = f"let nobody spend more than ε = {most}, and everyone keeps the rest"
    return f"Use method {best.method!r}: {what}."
