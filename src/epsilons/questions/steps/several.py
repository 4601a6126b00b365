"""Several means of the same people in one draw, with joint noise, instead of splitting budgets.

Which means can be drawn together depends only on their questions. Whether they are drawn together
depends on budgets, which are public. Proof: docs/proofs/cube.md.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np

from epsilons import door, words
from epsilons.budgets.allocation import SEVERAL_RULES, Allocation, allocate_for
from epsilons.budgets.levels import Budgets
from epsilons.door import Tally
from epsilons.draws.mechanisms import SeveralSums, build_several
from epsilons.errors import PrivacyError
from epsilons.questions.mean import Bounds, Mean
from epsilons.questions.question import Answer, Call, Draw, Question
from epsilons.questions.steps.ways import spending
from epsilons.results.release import Scalar
from epsilons.risk.means.together import SeveralMeans, WeighedTogether

__all__ = ["Together", "asks", "gathered", "shared", "together"]

_TOGETHER: Final = (
    *("values", "bounds", "missing", "title", "unit"),  # can differ between the means
    *("about", "related", "loss", "confidence", "method"),  # must be the same for all means
)
"""The arguments of means that can be drawn together; a mean with any other argument is drawn
separately."""


def gathered(questions: Sequence[Question], calls: Sequence[Call]) -> list[tuple[int, ...]]:
    """Return lists of indices of questions that can be drawn together, in the order of the first.

    Means with different shares are drawn separately. Different shares request different precision,
    but means that are drawn together are all equally precise.

    Args:
        questions: the questions, already checked.
        calls: the call of each question. Under add/remove no means are drawn together: each mean
            has two sums, and one person changes both.
    """
    groups: dict[Any, list[int]] = {}
    for place, (question, call) in enumerate(zip(questions, calls, strict=True)):
        alike: Any = place
        if call.neighbours == "replace" and isinstance(question, Mean) and _may_join(question):
            asked = (question.assumption, question.loss, question.confidence, question.method)
            alone = call.weights is not None and question.assumption.sampled
            alike = place if alone else (*asked, call.share)
        groups.setdefault(alike, []).append(place)
    return list(map(tuple, groups.values()))


def shared(calls: Sequence[Call]) -> Call:
    """Return the call of questions that share one draw, with the sum of their shares."""
    return replace(calls[0], share=sum((call.share for call in calls), Fraction(0)))


def _may_join(question: Mean) -> bool:
    """Whether all options of the question allow joint noise for several means."""
    plain = all(
        _is(getattr(question, each.name), each.default)
        for each in fields(question)
        if each.init and each.name not in _TOGETHER
    )
    known = question.bounds is not None and question.missing in (None, "error", "midpoint")
    return plain and known and question.method in ("auto", *SEVERAL_RULES)


def _is(given: object, default: object) -> bool:
    return given is default or (isinstance(given, str) and given == default)


@dataclass(frozen=True, eq=False)
class Together:
    """Means in one draw, after counting and allocation.

    Attributes:
        questions: the means, in the order of the sums.
        counted: the cells x and 1 − x of each mean, by the budgets that people offer to all means.
        allocation: everyone's spending on all means.
        mechanism: the mechanism to draw from.
    """

    questions: tuple[Mean, ...]
    counted: Tally
    allocation: Allocation
    mechanism: SeveralSums

    def steps(self) -> Generator[Draw, Any, tuple[Answer, ...]]:
        """Yield one draw, and return an answer for each mean."""
        drawn = yield Draw(self.mechanism, self.mechanism.total(self.counted))
        return self.answers(drawn)

    def answers(self, drawn: Any) -> tuple[Answer, ...]:
        """Return an answer for each mean, given what was drawn."""
        raws = self.mechanism.estimate(drawn)
        return tuple(self._answer(place, raw) for place, raw in enumerate(raws))

    def _answer(self, place: int, raw: float) -> Answer:
        question, allocation, mechanism = self.questions[place], self.allocation, self.mechanism
        bounds, goal = mechanism.bounds[place], question.goal
        lo, hi = bounds
        margin = WeighedTogether(mechanism.weighing, mechanism.slack, place)
        return Answer(
            estimate=Scalar(
                value=min(max(raw, lo), hi),
                raw=raw,
                bounds=bounds,
                margin=margin,
                rounding=self.counted.rounding,
            ),
            method=allocation.method,
            n=self.counted.n,
            risk=goal.in_units(goal.risk(mechanism.weighing), bounds),
            exact=allocation.exact,
            spent=spending(self.counted, allocation.spent),
            beside=words.drawn_together(mechanism.means),
        )


def asks(question: Mean) -> door.Ask:
    """Return the sums to compute for one of several means."""
    return door.Ask("numbers", question.bounds)


def together(questions: Sequence[Mean], rows: Sequence[door.Rows], call: Call) -> Together | None:
    """Prepare means of the same people for one draw, if the predicted error is smaller.

    Args:
        questions: two or more means that can be drawn together.
        rows: the opened rows of each question.
        call: the call of all questions, with the budgets offered to all of them together.

    Returns:
        None if separate draws, each with a part of everyone's budget, have no larger error (as
        measured by the loss of the questions). This depends on budgets alone.

    Raises:
        PrivacyError: the questions are about different people.
    """
    first = call.part(rows[0].count(asks(questions[0])))
    bounds = tuple(cast(Bounds, question.bounds) for question in questions)
    one, method, means = questions[0].goal, questions[0].method, len(questions)
    goal = SeveralMeans(one.assumption, one.loss, one.confidence, one.spread, means)
    budgets = Budgets.of_levels(first.levels, first.counts)
    allocation = allocate_for(budgets, goal, method)
    mechanism = build_several(allocation, grid=door.GRID, bounds=bounds)
    if mechanism is None:
        return None
    parts = first.levels / means
    if (np.diff(parts) > 0.0).all() and (parts[first.levels > 0.0] > 0.0).all():
        apart = allocate_for(Budgets.of_levels(parts, first.counts), one, method)
        if apart.aimed <= allocation.aimed:
            return None
    pairs = zip(questions[1:], rows[1:], strict=True)
    others = [call.part(each.count(asks(asked))) for asked, each in pairs]
    for each in others:
        same = np.array_equal(each.levels, first.levels)
        if not same or not np.array_equal(each.counts, first.counts):
            raise PrivacyError("Means that are drawn together are not of the same people.")
    cells = np.concatenate([first.cells, *(each.cells for each in others)], axis=1)
    unit, labels = means * first.unit, means * first.categories
    every = replace(first, cells=cells, unit=unit, categories=labels)
    return Together(tuple(questions), every, allocation, mechanism)
