"""What a question would be answered with, before any data: the estimator, from budgets alone."""

from __future__ import annotations

from typing import NamedTuple

from epsilons.allocation import allocate_for
from epsilons.budgets import Budgets
from epsilons.mechanisms import SumAndSquares
from epsilons.risk import Weighing
from epsilons.risk.goals import Goal
from epsilons.statistics.call import Call
from epsilons.statistics.question import Question
from epsilons.statistics.ways import forecast_designs

__all__ = ["Foreseen", "foreseen"]


class Foreseen(NamedTuple):
    """The estimator of a question.

    Attributes:
        weighing: on a unit range.
        slack: what integers may add to its errors.
        squares: whether the sum of squares is released with it.
    """

    weighing: Weighing
    slack: float
    squares: bool


def foreseen(question: Question, goal: Goal, call: Call, people: Budgets | None) -> Foreseen:
    """The estimator of a question, from budgets alone.

    Args:
        question: on a known range, or of cells.
        goal: of the question.
        call: on which terms; of its data nothing is looked at.
        people: who has which budget, of which the question may use its share; None where that is
            private, and declared in the call. Then it is the leading term of what is expected.

    Raises:
        BudgetError: a budget is so small that no part of it is left.
    """
    if people is None:
        outlook = forecast_designs(call.terms, goal, (question.method,))[question.method]
        return Foreseen(outlook.weighing, 0.0, squares=False)
    budgets = Budgets.of_levels(call.offered(people.levels), people.counts)
    mechanism = question.mechanism_for(allocate_for(budgets, goal, question.method))
    squares = isinstance(mechanism, SumAndSquares)
    return Foreseen(mechanism.weighing, mechanism.slack, squares)
