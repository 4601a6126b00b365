"""The plan of several questions about the same people, each with its share of budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from epsilons import words
from epsilons.budgets.levels import Budgets
from epsilons.door import Absent
from epsilons.loading import later
from epsilons.planning.asked import Forecasts
from epsilons.planning.central import Plan, plan_of
from epsilons.planning.found import RangePlan, range_plan
from epsilons.planning.trial import Trial
from epsilons.questions.division import division_of
from epsilons.questions.mean import Bounds, Mean
from epsilons.questions.question import Call, Question
from epsilons.questions.rehearsal import Rehearsal, rehearse, terms_for
from epsilons.questions.steps import several
from epsilons.results import report
from epsilons.results.release import ByLevel, Scalar
from epsilons.results.release.verdict import (
    Precision,
    ReleaseVerdict,
    precision_at,
    precision_words,
    to_two_digits,
)
from epsilons.types import Floats

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["Planned", "SeveralPlans", "several_plans"]

OnePlan: TypeAlias = Plan | RangePlan


@dataclass(frozen=True, eq=False)
class Planned:
    """The forecast of one question.

    Attributes:
        name: its title, or the statistic and its column.
        share: its share of everyone's budget.
        method: the method that the release will use.
        rmse: the typical error, in data units. If a range has to be found, it is a fraction of that
            range, or for Gaussian data in standard deviations. None if it depends on the data.
        half_width: half the width of the question's interval, at its confidence. It holds for any
            data, unless it depends on them: then it is a forecast for the values that the plan
            assumes. None if it cannot be forecast.
        target: the half-width that the user wants; None if the question has no target.
        plan: the complete plan of this question, for the share of everyone's budget that it gets.
            If the release draws it together with other means, this is the plan of drawing it alone.
        spending: the amount that a person spends on this question, as a function of the part
            of their budget that is offered to it. If a range has to be found, it is the amount for
            values that are spread out or close together, whichever is larger.
        together: the number of means that are drawn together with it, including itself.
    """

    name: str
    share: Fraction
    method: str
    rmse: float | None
    half_width: float | None
    target: float | None
    plan: OnePlan
    spending: ByLevel
    together: int = 1

    @property
    def precision(self) -> tuple[tuple[Precision, ...], str]:
        """The forecast precision of each number, as data and in words."""
        if self.together == 1 or self.half_width is None:
            return self.plan.precision
        asked: Any = self.plan.question
        low, high = asked.bounds
        one = precision_at(self.half_width, high - low)
        return (one,), precision_words((one,), to_two_digits(asked.unit), Scalar.each, Scalar.whole)

    @property
    def found(self) -> bool:
        """Whether the range of the values has to be found in the data."""
        return isinstance(self.plan, RangePlan)

    def spent_at(self, offered: Floats) -> Floats:
        """The amounts that people spend on this question, given the amounts they offer to it."""
        at = np.searchsorted(self.spending.levels, offered, side="right")
        spent = np.concatenate([[0.0], self.spending.spent])
        return np.asarray(np.minimum(spent[at], offered))


@dataclass(frozen=True, eq=False, repr=False)
class SeveralPlans(Forecasts):
    """Forecasts of several questions, each with its share of everyone's budget.

    Attributes:
        each: the forecast of each question.
        budgets: the budgets, and the number of people with each; for add/remove a guess.
        questions: the questions; their columns are not read.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends on all questions together; None if the
            caller did not set it.

    Examples:
        >>> import epsilons as ep
        >>> bounds = {"bounds": (0, 24)}
        >>> questions = [ep.Mean("hours", **bounds), ep.Variance("hours", **bounds)]
        >>> plans = ep.plan(questions, epsilon={0.1: 500, 1.0: 9500})
        >>> [str(share) for share in plans.shares]
        ['1/2', '1/2']
        >>> print(plans.verdict.words[0])
        Mean of hours: Precise to ±0.14 (0.6 % of the range).
    """

    each: tuple[Planned, ...]
    budgets: Budgets
    questions: tuple[Question, ...]
    neighbours: str
    cap: float | None

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The share of each question, in the order of the questions, for `epsilons.publish`."""
        return tuple(one.share for one in self.each)

    @cached_property
    def spent(self) -> ByLevel:
        """The largest amount that a person at each level spends on all questions together."""
        levels = self.budgets.levels
        call = Call(None, None, None, self.neighbours)
        total = np.sum(
            [one.spent_at(replace(call, share=one.share).offered(levels)) for one in self.each],
            axis=0,
        )
        return ByLevel(levels, np.minimum(total, levels), self.budgets.counts)

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """The verdict: the forecast precision of each question, worded as in `release.verdict`.

        The plan of each question has its own verdict, with the gain from personal budgets and
        advice.
        """
        found = [(one.name, *one.precision) for one in self.each]
        each = tuple(precision for _, some, _ in found for precision in some)
        return ReleaseVerdict(each, None, (), tuple(f"{name}: {said}" for name, _, said in found))

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
        """Warnings that a reader must not overlook."""
        return report.weak_budgets(self.budgets.levels.tolist())

    def sheet(self) -> report.Sheet:
        """The contents of all plans as a sheet, which every output format shows."""
        return said.several_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """The plans as plain data."""
        return {
            "kind": "plans",
            "n": self.budgets.n,
            "neighbours": self.neighbours,
            "protects": words.WILL_PROTECT[self.neighbours],
            "verdict": self.verdict.to_dict(),
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
        questions: the questions; their columns are not read.
        budgets: the budgets, and the number of people with each; for add/remove a guess.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends on all questions together.
        shares: as in `epsilons.publish`.
        targets: as in `epsilons.publish`.

    Raises:
        ArgumentError: an argument is invalid, a question cannot be forecast, or not all targets can
            be met.
    """
    for question in questions:
        question.check(neighbours)
    call = terms_for(budgets, neighbours, cap)
    parts = (Fraction(1, len(questions)),) * len(questions)
    division = division_of(len(questions), shares, targets)
    if division is not None:
        parts = division.among(questions, call, lambda: budgets)
    wanted = [None] * len(questions) if targets is None else list(targets)
    facts = [
        (asked.title, asked.statistic, asked.subject if isinstance(asked.subject, str) else None)
        for asked in questions
    ]
    calls = [replace(call, share=part) for part in parts]
    asked = zip(report.names_of(facts), questions, calls, wanted, strict=True)
    each = [_planned(name, question, budgets, own, target) for name, question, own, target in asked]
    for places in several.gathered(questions, calls):
        if len(places) > 1:
            means = [cast(Mean, questions[place]) for place in places]
            one = [each[place] for place in places]
            drawn = _drawn_together(one, means, [calls[place] for place in places], budgets)
            for place, planned in zip(places, drawn, strict=True):
                each[place] = planned
    return SeveralPlans(tuple(each), budgets, tuple(questions), neighbours, cap)


def _drawn_together(
    alone: Sequence[Planned], means: Sequence[Mean], calls: Sequence[Call], budgets: Budgets
) -> Sequence[Planned]:
    """Return the forecasts of means in one draw; those of separate draws if these are better."""
    people, shared = Absent(budgets.levels, budgets.counts), several.shared(calls)
    rows = [
        mean.open(replace(call, epsilon=people)) for mean, call in zip(means, calls, strict=True)
    ]
    found = several.together(means, rows, shared)
    if found is None:
        return alone
    answers = found.answers(found.mechanism.total(found.counted))  # without noise
    spent = found.allocation.spent[
        np.searchsorted(found.counted.levels, shared.offered(budgets.levels))
    ]
    planned = []
    for one, mean, call, answer in zip(alone, means, calls, answers, strict=True):
        low, high = cast(Bounds, mean.bounds)
        planned.append(
            replace(
                one,
                method=answer.method,
                rmse=(high - low) * mean.goal.rmse(found.mechanism.weighing),
                half_width=Rehearsal(mean, people, answer, ()).reach,
                spending=ByLevel(call.offered(budgets.levels), spent / len(means), budgets.counts),
                together=len(means),
            )
        )
    return planned


def _planned(
    name: str, question: Question, budgets: Budgets, call: Call, target: float | None
) -> Planned:
    """Forecast one question, with its share of everyone's budget."""
    offered = Budgets.of_levels(call.offered(budgets.levels), budgets.counts)
    cap = None if call.declared is None else call.terms.cap
    trial = Trial(question, offered, call.neighbours, cap)
    if getattr(question, "bounds", ()) is None:
        found = range_plan(trial)
        first, method = found.forecasts[0], question.method.replace("auto", "weighted")
        most = np.max([each.spending.spent for each in found.forecasts], axis=0)
        spending = replace(first.spending, spent=most)
        return Planned(name, call.share, method, first.rmse, None, target, found, spending)
    rmse = reach = None
    if not question.varies:
        rmse = trial.rmse
        reach = rehearse(question, Absent(budgets.levels, budgets.counts), call).reach
    own = trial.found
    return Planned(
        name, call.share, own.answer.method, rmse, reach, target, plan_of(trial), own.spending
    )


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
