"""A plan of several questions about the same people: what each gives with its share of budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from epsilons import report, words
from epsilons.allocation.declared import declared_of
from epsilons.budgets import Budgets
from epsilons.errors import ArgumentError
from epsilons.loading import later
from epsilons.planning.asked import Forecasts
from epsilons.planning.central import Plan, central_plan
from epsilons.planning.found import RangePlan, range_plan
from epsilons.release import ByLevel
from epsilons.risk.goals import CellsGoal
from epsilons.statistics import Mean, Question
from epsilons.statistics.call import Call
from epsilons.statistics.division import division_of
from epsilons.types import Floats

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["Planned", "SeveralPlans", "several_plans"]

OnePlan: TypeAlias = Plan | RangePlan


@dataclass(frozen=True, eq=False)
class Planned:
    """What one question would give.

    Attributes:
        name: its title, or what is asked of which column.
        share: of everyone's budget.
        method: that would be taken.
        rmse: the typical error, in data units; where a range has to be found, in parts of it, or
            for Gaussian data in standard deviations. None where it depends on the data.
        half_width: how far its interval would reach to either side at its confidence, for any data;
            None where that cannot be foretold.
        target: the half-width that was asked for, if one was.
        plan: the whole plan of this question, for what people offer to it.
    """

    name: str
    share: Fraction
    method: str
    rmse: float | None
    half_width: float | None
    target: float | None
    plan: OnePlan

    @property
    def found(self) -> bool:
        """Whether a range has to be found."""
        return isinstance(self.plan, RangePlan)

    def spent_at(self, offered: Floats) -> Floats:
        """What a person spends on it who offers so much."""
        if isinstance(self.plan, RangePlan):
            rows = [
                (row.epsilon, row.on_range + row.on_mean) for row in self.plan.forecasts[0].spent
            ]
        else:
            method = self.method if self.rmse is not None else self.plan.best
            rows = [(row.epsilon, row.spent) for row in self.plan[method].spent]
        levels, spent = (np.array(column) for column in zip(*rows, strict=True))
        at = np.searchsorted(levels, offered, side="right")
        return np.asarray(np.minimum(np.concatenate([[0.0], spent])[at], offered))


@dataclass(frozen=True, eq=False, repr=False)
class SeveralPlans(Forecasts):
    """Forecasts of several questions, each with its share of everyone's budget.

    Attributes:
        each: what each question would give.
        budgets: the people, or for add/remove a guess.
        questions: that were asked; their columns are not read.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends on all of them, if the caller said so.
    """

    each: tuple[Planned, ...]
    budgets: Budgets
    questions: tuple[Question, ...]
    neighbours: str
    cap: float | None

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Of everyone's budget, in the order of the questions: for `epsilons.publish`."""
        return tuple(one.share for one in self.each)

    @cached_property
    def spent(self) -> ByLevel:
        """Who would pay what for all of them together."""
        levels = self.budgets.levels
        call = Call(None, None, None, self.neighbours)
        total = np.sum(
            [one.spent_at(replace(call, share=one.share).offered(levels)) for one in self.each],
            axis=0,
        )
        return ByLevel(levels, np.minimum(total, levels), self.budgets.counts)

    def __len__(self) -> int:
        return len(self.each)

    def __getitem__(self, index: int) -> Planned:
        return self.each[index]

    def _rows(self) -> list[dict[str, Any]]:
        asked = zip(self.each, self.questions, strict=True)
        return [_row(one, question) for one, question in asked]

    def _in_a_line(self) -> str:
        names = "; ".join(one.name for one in self.each)
        return f"{len(self.each)} questions about {self.budgets.n:,} people, {names}"

    @property
    def warnings(self) -> list[str]:
        """What a reader must not overlook."""
        return report.weak_budgets(self.budgets.levels.tolist())

    def sheet(self) -> report.Sheet:
        """What all of them say, in no form."""
        return said.several_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "kind": "plans",
            "n": self.budgets.n,
            "neighbours": self.neighbours,
            "protects": words.will_protect(self.neighbours),
            "rows": self._rows(),
            "spent": [row._asdict() for row in self.spent],
            "warnings": self.warnings,
        }


def several_plans(
    questions: Sequence[Question],
    budgets: Budgets,
    neighbours: str,
    cap: float | None,
    shares: Any,
    targets: Any,
) -> SeveralPlans:
    """Forecast several questions, each with its share.

    Args:
        questions: of whose columns nothing is read.
        budgets: the people, or for add/remove a guess.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends on all of them.
        shares: as for `epsilons.publish`.
        targets: as for `epsilons.publish`.

    Raises:
        ArgumentError: an argument is invalid, a question cannot be forecast, or targets cannot all
            be met.
    """
    for question in questions:
        question.check(neighbours)
    private = neighbours == "add-remove"
    declared = declared_of(None, budgets, cap) if private else None
    call = Call(None, None, None, neighbours, declared)
    people = None if private else budgets
    parts = division_of(len(questions), shares, targets).among(questions, call, lambda: budgets)
    wanted = [None] * len(questions) if targets is None else list(targets)
    facts = [
        (asked.title, asked.statistic, asked.subject if isinstance(asked.subject, str) else None)
        for asked in questions
    ]
    each = []
    for name, question, part, target in zip(
        report.names_of(facts), questions, parts, wanted, strict=True
    ):
        own = replace(call, share=part)
        found = _plan(question, budgets, own)
        method, rmse = _best(found, question)
        reach = None if isinstance(found, RangePlan) else _reach(question, own, people)
        each.append(Planned(name, part, method, rmse, reach, target, found))
    return SeveralPlans(tuple(each), budgets, tuple(questions), neighbours, cap)


def _plan(question: Question, budgets: Budgets, call: Call) -> OnePlan:
    """The plan of one question, for what people offer to it."""
    offered = Budgets.of_levels(call.offered(budgets.levels), budgets.counts)
    cap = None if call.declared is None else call.terms.cap
    bounds = getattr(question, "bounds", (0.0, 1.0))
    if bounds is None and isinstance(question, Mean):
        return range_plan(offered, question, call.neighbours, cap)
    goal = getattr(question, "planned", None)
    if goal is None:
        raise ArgumentError(f"questions: there is no forecast of {question.statistic} yet.")
    if isinstance(goal, CellsGoal):  # a table, whatever is made of it
        return central_plan("frequencies", offered, goal, (0.0, 1.0), call.neighbours, cap)
    limits = question.range_for(bounds)
    return central_plan("mean", offered, goal, limits, call.neighbours, cap)


def _best(found: OnePlan, question: Question) -> tuple[str, float | None]:
    """The method that would be taken, and its typical error, if budgets alone say that."""
    if isinstance(found, RangePlan):
        method = "weighted" if question.method == "auto" else question.method
        return method, found.forecasts[0].rmse
    if not question.plain:
        return question.method, None
    forecast = found[found.best if question.method == "auto" else question.method]
    return forecast.method, forecast.rmse


def _reach(question: Question, call: Call, people: Budgets | None) -> float | None:
    """The half-width that is forecast; None if it cannot be."""
    try:
        return question.half_width(call, people)
    except ArgumentError:
        return None


def _row(one: Planned, question: Question) -> dict[str, Any]:
    shares = question.statistic == "frequencies"
    return {
        "name": one.name,
        "statistic": question.statistic,
        "share": str(one.share),
        "part": float(one.share),
        "method": one.method,
        "rmse": one.rmse,
        "half_width": one.half_width,
        "target": one.target,
        "confidence": question.confidence,
        "unit": None if shares else question.unit,
        "shares": shares,
        "found": one.found,
    }
