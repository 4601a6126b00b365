"""A rehearsal: a question led to its answer without data, so that a plan says what a release does.

Who is there has budgets, and no values. Where a range would be drawn, something is answered that
it might be; where sums would be drawn, they come without noise. All that is read of it is what
budgets and people decide: who pays what, weights, noise, and how far intervals reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from epsilons.budgets.allocation.declared import declared_of
from epsilons.budgets.levels import Budgets
from epsilons.door import Absent
from epsilons.door.count import line
from epsilons.draws.mechanisms import LevelCounts, Selection, TheLine
from epsilons.questions.locate import DEVIATION, ROUNDS
from epsilons.questions.outer import HIGH
from epsilons.questions.question import Answer, Call, Draw, Question
from epsilons.questions.ranked import SOUGHT
from epsilons.results.release import ByLevel, shown_levels
from epsilons.risk import Weighing

__all__ = ["Rehearsal", "rehearse", "terms_for"]

_ONE: Final = int(line.index_of(line.rounded(np.array([1.0])))[0])
"""The bucket of 1, where the middle of the data is said to be."""

_OCTAVE: Final = line.CELLS
_RINGS: Final = 24
"""So many radii above the smallest the deviation is said to be: a hundred buckets, and one of
fourteen deviations is the distance of the mean from 0."""


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """How the answer to a question would come about.

    Attributes:
        question: that was led to its answer.
        people: who would be there.
        answer: what would be returned, whatever its value.
        draws: what it would be drawn from, in their order.
    """

    question: Question
    people: Absent
    answer: Answer
    draws: tuple[Draw, ...]

    @property
    def estimate(self) -> Any:
        """The estimate, whatever its value."""
        return self.answer.estimate

    @property
    def looks(self) -> int:
        """How often the data would be looked at to find a range."""
        return _looks(self.draws)

    @property
    def weighing(self) -> Weighing:
        """The estimator on a unit range.

        Raises:
            TypeError: the answer is neither a weighted mean nor weighted shares.
        """
        if self.answer.weighing is None:
            raise TypeError("only means and shares are weighted")
        return self.answer.weighing

    @property
    def spending(self) -> ByLevel:
        """Who pays what, with the people of each level where their number is private."""
        spent = self.answer.spent
        if not isinstance(spent, ByLevel):
            raise TypeError("nobody said what each level spends")
        if spent.people is not None:
            return spent
        place = np.searchsorted(spent.levels, self.people.levels, side="right")
        people = np.zeros(len(spent.levels) + 1, dtype=np.int64)
        np.add.at(people, place, self.people.counts)
        return ByLevel(shown_levels(spent.levels), spent.spent, people[1:])

    @property
    def reach(self) -> float:
        """How far the interval reaches to either side of the value, in data units.

        Of several numbers it is the farthest. Where an interval is the whole range, a value may be
        at one end of it, and the truth at the other.
        """
        question, estimate = self.question, self.estimate
        low, high = estimate.interval(question.assumption, question.confidence)
        lowest, highest = getattr(estimate, "bounds", (0.0, 1.0))
        if np.all((low <= lowest) & (high >= highest)):
            return float(highest - lowest)
        return float(np.max(np.maximum(estimate.value - low, high - estimate.value)))


def terms_for(budgets: Budgets, neighbours: str, cap: float | None = None) -> Call:
    """The call of a rehearsal.

    Args:
        budgets: the people, or for add/remove a guess.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """
    declared = declared_of(None, budgets, cap) if neighbours == "add-remove" else None
    return Call(None, None, None, neighbours, declared)


def rehearse(question: Question, people: Absent, call: Call, *, close: bool = False) -> Rehearsal:
    """Lead a question to its answer, whoever is there.

    Args:
        question: of whose columns nothing is read.
        people: who would be there.
        call: on which terms, and with which share of everyone's budget; its data are not read.
        close: whether values lie so close together that one look does not find their range.

    Raises:
        BudgetError: there are too few people for these budgets, or a budget is so small that no
            part of it is left.
    """
    if people.spread is None:
        people = replace(people, spread=question.supposed)
    call = replace(call, epsilon=people, data=None)
    steps = question.steps(question.open(call), call)
    draws: list[Draw] = []
    sent: Any = None
    while True:
        try:
            step = steps.send(sent)
        except StopIteration as end:
            return Rehearsal(question, people, end.value, tuple(draws))
        draws.append(step)
        # The finest picture is fine enough for anything.
        sent = _said(step, close=close and _looks(draws) < ROUNDS)


def _said(draw: Draw, *, close: bool) -> Any:
    """What might have been drawn."""
    mechanism, total = draw.mechanism, draw.total
    if isinstance(mechanism, LevelCounts):
        return tuple(total.tolist())
    if not isinstance(mechanism, Selection):
        return total
    candidates = mechanism.candidates
    if mechanism.seeks in SOUGHT:
        there, masses = total
        low, high = mechanism.odds
        upto = np.cumsum(masses.astype(object)) * (low + high)
        return int(there[np.searchsorted(upto, int(masses.astype(object).sum()) * low)])
    if mechanism.seeks == DEVIATION:
        return candidates.first if close else candidates.first + _RINGS
    middle = _ONE if isinstance(candidates, TheLine) else candidates.last // 2
    return middle + _OCTAVE if mechanism.seeks == HIGH and not close else middle


def _looks(draws: list[Draw] | tuple[Draw, ...]) -> int:
    """How often the data were looked at to find a range: two selections each."""
    return sum(isinstance(draw.mechanism, Selection) for draw in draws) // 2
