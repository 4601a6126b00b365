"""Rehearsal: running a question without data, to make a plan that matches the release.

The people of a rehearsal have budgets but no values. If a release would draw a range, the rehearsal
uses a plausible range; if it would draw sums, the rehearsal adds no noise. A plan uses only results
that depend on budgets and numbers of people: spending, weights, noise, and half-widths of
intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from epsilons.budgets.allocation.declared import declared_of
from epsilons.budgets.levels import Budgets
from epsilons.door import Absent
from epsilons.door.count import line
from epsilons.draws.mechanisms import Octaves, Selection, TheLine
from epsilons.draws.mechanisms.octaves import ZERO, octaves_of
from epsilons.questions.question import Answer, Call, Draw, Question
from epsilons.questions.steps.locate import DEVIATION, ROUNDS
from epsilons.questions.steps.outer import HIGH
from epsilons.results.release import ByLevel, shown_levels
from epsilons.risk import Weighing
from epsilons.risk.margins import RatioCells

__all__ = ["Rehearsal", "rehearse", "terms_for"]

_ONE: Final = int(line.index_of(line.rounded(np.array([1.0])))[0])
"""The bucket of the number 1, which serves as the middle of the data."""

_OCTAVE: Final = line.CELLS
_MANY: Final = 1000.0
"""The weight of people in an octave [2^k, 2^(k+1)) of values, in multiples of the noise scale."""

_RINGS: Final = 24
"""The deviation of the hypothetical data, as the index of a radius; index 0 is the smallest radius.
It is the width of about 90 buckets near 1, so the centre, 1, is about 11 deviations from 0."""


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """The draws and the answer of a question that was run without data.

    Attributes:
        question: the question that was run.
        people: the hypothetical people.
        answer: the answer that would be returned; its value is meaningless.
        draws: the draws, in order.
    """

    question: Question
    people: Absent
    answer: Answer
    draws: tuple[Draw, ...]

    @property
    def estimate(self) -> Any:
        """The estimate; its value is meaningless."""
        return self.answer.estimate

    @property
    def looks(self) -> int:
        """The number of passes over the data that the estimate of the range takes."""
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
        """The amount that a person at each level spends, and the number of such people."""
        spent = self.answer.spent
        if not isinstance(spent, ByLevel):
            raise TypeError("spending is not by level")
        if spent.people is not None:
            return spent
        place = np.searchsorted(spent.levels, self.people.levels, side="right")
        people = np.zeros(len(spent.levels) + 1, dtype=np.int64)
        np.add.at(people, place, self.people.counts)
        return ByLevel(shown_levels(spent.levels), spent.spent, people[1:])

    @property
    def reach(self) -> float:
        """The half-width of the interval, in data units: the longer of its two sides.

        For several numbers it is the maximum. If an interval is the whole range, the result is the
        length of the range, because the value can be at one end and the true value at the other.
        For shares of an unknown number of people it is that of a category with everyone, which has
        the most noise.
        """
        question, estimate = self.question, self.estimate
        margin = getattr(estimate, "margin", None)
        if isinstance(margin, RatioCells) and margin.total > 0.0:
            margin = margin.crowded
            shares = margin.drawn / margin.total
            estimate = replace(estimate, margin=margin, value=shares, raw=shares)
        low, high = estimate.interval(question.assumption, question.confidence)
        lowest, highest = getattr(estimate, "bounds", (0.0, 1.0))
        if np.all((low <= lowest) & (high >= highest)):
            return float(highest - lowest)
        return float(np.max(np.maximum(estimate.value - low, high - estimate.value)))


def terms_for(budgets: Budgets, neighbours: str, cap: float | None = None) -> Call:
    """Return the call of a rehearsal.

    Args:
        budgets: the people, or for add/remove a guess of the people.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends, if the caller gave it.
    """
    declared = declared_of(None, budgets, cap) if neighbours == "add-remove" else None
    return Call(None, None, None, neighbours, declared)


def rehearse(question: Question, people: Absent, call: Call, *, close: bool = False) -> Rehearsal:
    """Run a question to its answer with hypothetical people.

    Args:
        question: the question; its columns are not read.
        people: the hypothetical people.
        call: the neighbouring relation, and this question's share of everyone's budget. Its data
            are not read.
        close: whether values are so close together that one pass is not enough to find their range.

    Raises:
        BudgetError: there are too few people for these budgets, or a budget is so small that its
            part rounds to 0.
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
        # The last round has the finest grid, which is fine enough for any data.
        sent = _said(step, close=close and _looks(draws) < ROUNDS)


def _said(draw: Draw, *, close: bool) -> Any:
    """Return a plausible output of a draw, without noise."""
    mechanism, total = draw.mechanism, draw.total
    typical = getattr(mechanism, "typical", None)
    if typical is not None:
        return typical(total)
    if isinstance(mechanism, Octaves):
        # Values that are close together are all in one octave. Other values reach from 0 to 1.
        drawn = np.zeros(mechanism.cells)
        drawn[octaves_of(np.array([_ONE]))] = _MANY
        drawn[ZERO] = 0.0 if close else _MANY
        return drawn * float(mechanism.law.scale)
    if not isinstance(mechanism, Selection):
        return total
    candidates = mechanism.candidates
    if mechanism.seeks == DEVIATION:
        return candidates.first if close else candidates.first + _RINGS
    middle = _ONE if isinstance(candidates, TheLine) else candidates.last // 2
    return middle + _OCTAVE if mechanism.seeks == HIGH and not close else middle


def _looks(draws: list[Draw] | tuple[Draw, ...]) -> int:
    """Return the number of passes over the data that estimate the range.

    Each pass serves two selections. The octaves and the first two selections share a pass.
    """
    octaves = any(isinstance(draw.mechanism, Octaves) for draw in draws)
    return max(sum(isinstance(draw.mechanism, Selection) for draw in draws) // 2, int(octaves))
