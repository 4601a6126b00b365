"""Trials: run a question on budgets without values, and forecast the error of its methods."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from epsilons.budgets.levels import Budgets
from epsilons.door import Absent
from epsilons.errors import BudgetError
from epsilons.questions.mean import ADAPTIVE
from epsilons.questions.question import Question
from epsilons.questions.rehearsal import Rehearsal, rehearse, terms_for
from epsilons.questions.steps.locate import budgets_of
from epsilons.results.release import ByLevel, Spent
from epsilons.risk.goals import Goal, MeanGoal

__all__ = ["Errors", "Forecast", "Trial", "as_plain", "error_of", "gain_over"]


@dataclass(frozen=True, eq=False)
class Forecast:
    """The forecast of one method.

    Attributes:
        method: the name of the method.
        rmse: the worst-case root mean square error, in data units; with a guess of the spread, the
            error for values of that spread. For frequencies, the root mean square over categories,
            or with loss="largest" the root mean square of the largest error.
        pac: the PAC error, in data units, for the same data: the error exceeds it with probability
            at most 1 minus the plan's confidence.
        worst: the root mean square error in the worst case over all data.
        gain: the typical error if everyone had the smallest ε, divided by `rmse`.
        used: the share of people with a weight above 0.
        spending: the amount that a person spends, as a function of ε.
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
        """For each level, ε, the number of people, and the amounts that each spends and keeps."""
        return self.spending.rows


class Errors(NamedTuple):
    """The errors of an answer, in data units.

    Attributes:
        rmse: the typical error.
        pac: the PAC error: the error is at most this, with the confidence of the question.
    """

    rmse: float
    pac: float


class _Both(Protocol):
    """Anything with both errors."""

    @property
    def rmse(self) -> float:
        """The typical error."""

    @property
    def pac(self) -> float:
        """The PAC error."""


def error_of(forecast: _Both, loss: str) -> float:
    """The error that corresponds to a loss: `pac` for "pac", otherwise `rmse`."""
    return forecast.pac if loss == "pac" else forecast.rmse


@dataclass(frozen=True, eq=False)
class Trial:
    """A question, the budgets of the people, the neighbouring relation, and the cap.

    Attributes:
        question: the question; its columns are not read.
        budgets: the budgets, and the number of people with each; for add/remove a guess.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends; None if the caller did not set it.
    """

    question: Question
    budgets: Budgets
    neighbours: str
    cap: float | None

    def asking(self, **changes: Any) -> Trial:
        """The same trial with other arguments of the question."""
        asked = self.question
        # Ignore arguments that the question does not take: a count, for example, has one method.
        taken = {each.name for each in fields(asked) if each.init}
        given = {name: each for name, each in changes.items() if name in taken}
        others = {name: each for name, each in given.items() if getattr(asked, name) != each}
        return replace(self, question=replace(asked, **others)) if others else self

    def of(self, budgets: Budgets) -> Trial:
        """The same trial with other people."""
        return replace(self, budgets=budgets)

    def rehearsed(self, *, close: bool = False, **people: Any) -> Rehearsal:
        """Run the question without data, and return its draws and its answer (a rehearsal).

        Args:
            close: whether values are so close together that one pass over the data does not find
                their range.
            people: assumptions about people's values, as in `door.Absent`.
        """
        there = Absent(self.budgets.levels, self.budgets.counts, **people)
        call = terms_for(self.budgets, self.neighbours, self.cap)
        return rehearse(self.question, there, call, close=close)

    @cached_property
    def found(self) -> Rehearsal:
        """The run of the question without data, for values with the spread that it assumes."""
        return self.rehearsed()

    @property
    def most(self) -> float:
        """The largest amount that anyone spends in a release."""
        return float(self.found.spending.spent.max())

    @cached_property
    def rmse(self) -> float:
        """The forecast of the typical error."""
        answer = self.found.answer
        if answer.weighing is not None:
            return self.error_for(self.found, self.goal, "mse")
        squared = self if self.question.loss == "mse" else self.asking(loss="mse")
        numbers = getattr(getattr(answer.estimate, "margin", None), "numbers", 1)
        return math.sqrt(squared.found.answer.risk / numbers)

    @cached_property
    def pac(self) -> float:
        """The forecast of the PAC error."""
        if self.found.answer.weighing is not None:
            return self.error_for(self.found, self.goal, "pac")
        return self.found.reach

    @property
    def error(self) -> float:
        """The forecast of the error that the question minimizes."""
        return error_of(self, self.question.loss)

    @property
    def goal(self) -> Goal:
        """The assumption about the data, and the error that is minimized."""
        asked: Any = self.question
        goal: Goal = asked.goal
        return goal

    @property
    def guess(self) -> float | None:
        """The guessed standard deviation, as a fraction of the range; None without a guess."""
        goal = self.goal
        return goal.spread if isinstance(goal, MeanGoal) and goal.guessed else None

    @staticmethod
    def error_for(found: Rehearsal, goal: Goal, loss: str = "mse") -> float:
        """The error for a goal, with the weights of a run that may have had another goal.

        It is the PAC error if `loss` is "pac", otherwise the typical error.
        """
        unit: float = found.estimate.unit
        if loss == "pac":
            return unit * replace(goal, loss="pac").risk(found.weighing)
        return unit * goal.rmse(found.weighing)

    @cached_property
    def strictest(self) -> float:
        """The typical error if everyone spent only the smallest of all budgets."""
        if self.neighbours == "replace" and "uniform" in self.question.methods("replace"):
            return self.asking(method="uniform").rmse
        lowest = self.budgets.levels[self.budgets.levels > 0.0][0]
        if self.neighbours == "add-remove":
            first = next(iter(self.question.methods(self.neighbours)))
            return replace(self.asking(method=first), cap=float(lowest)).rmse
        alike = np.where(self.budgets.levels > 0.0, lowest, 0.0)
        return self.of(budgets_of(alike, self.budgets.counts)).rmse

    def forecast(self, method: str) -> Forecast:
        """Forecast a method."""
        trial = self.asking(method=method)
        worst = trial.rmse
        if trial.found.answer.weighing is not None:
            worst = self.error_for(trial.found, self.goal.worst)
        return self._forecast(trial.found, trial.rmse, trial.pac, worst)

    def forecast_in_stages(self) -> list[Forecast]:
        """Forecast the adaptive method, assuming that its first stage finds the guessed spread.

        Returns:
            A list with one forecast. It is empty if there is no guess of the spread, or if the
            method is refused.
        """
        [method] = ADAPTIVE
        if self.guess is None or method not in self.question.methods(self.neighbours):
            return []
        trial = self.asking(method=method, spread=None)
        try:
            found = trial.rehearsed(spread=self.guess)
        except BudgetError:
            return []
        rmse, pac = (self.error_for(found, self.goal, loss) for loss in ("mse", "pac"))
        # In the worst case over all data, the first stage finds the largest possible spread.
        worst = self.error_for(trial.found, self.goal.worst)
        return [self._forecast(found, rmse, pac, worst)]

    def _forecast(self, found: Rehearsal, rmse: float, pac: float, worst: float) -> Forecast:
        spending, weighing = found.spending, found.answer.weighing
        has_a_say = spending.spent > 0.0 if weighing is None else weighing.weights > 0.0
        counts = np.asarray(spending.people) if weighing is None else weighing.counts
        return Forecast(
            method=found.answer.method,
            rmse=rmse,
            pac=pac,
            worst=worst,
            gain=gain_over(self.strictest, rmse),
            used=int(counts[has_a_say].sum()) / int(counts.sum()),
            spending=spending,
        )


def gain_over(strictest: float, rmse: float) -> float:
    """The error if everyone had the smallest ε, divided by `rmse`."""
    if math.isinf(rmse) or strictest == rmse:
        return 1.0
    return strictest / rmse if rmse > 0.0 else math.inf


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
