"""Means of groups whose people are public: everyone stays in theirs, and each is a mean alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from epsilons import tally
from epsilons.allocation import Allocation, allocate_for
from epsilons.budgets import Budgets
from epsilons.errors import BudgetError, DataError
from epsilons.mechanisms import Parallel, build
from epsilons.release import ByLevel
from epsilons.risk.parallel import PublicGroups
from epsilons.statistics.call import Call
from epsilons.statistics.grouping import estimate_of
from epsilons.statistics.steps import Answer, Draw, Steps
from epsilons.types import Floats, Integers

__all__ = ["apart"]


def apart(counted: tally.Tally, call: Call, question: Any) -> Steps:
    """Nobody moves between groups: each has the mechanism of a mean of its own.

    Args:
        counted: the cells of all groups, and how many people are in each; of one group, those of
            everybody.
        call: of whom.
        question: an `epsilons.Mean`.

    Raises:
        DataError: no group can be estimated: who is in which is public.
    """
    people = counted.counts[:, None] if counted.people is None else counted.people
    allocations = [_of_group(counted.levels, own, question) for own in people.T]
    bounds = question.bounds
    parts = tuple(
        each if each is None else build(each, grid=tally.GRID, bounds=bounds)
        for each in allocations
    )
    if not any(part is not None for part in parts):
        raise DataError(
            "by: no group has two people and a budget above 0 among them. Declare other groups."
        )
    mechanism = Parallel(counted.levels, parts)
    drawn = yield Draw(mechanism, mechanism.total(counted))
    margin = PublicGroups(
        tuple(None if part is None else part.weighing for part in parts),
        tuple(0.0 if part is None else part.slack for part in parts),
        mechanism.estimates(drawn),
        people.sum(axis=0),
    )
    goal = question.goal
    squares = goal.loss == "mse"
    nothing = 0.25 if squares else 0.5  # the middle of a unit range is no farther from any mean
    risks = [nothing if part is None else goal.worst.risk(part.weighing) for part in parts]
    methods = dict.fromkeys(each.method for each in allocations if each is not None)
    spent = np.zeros(len(counted.levels))
    for each in filter(None, allocations):
        np.maximum.at(spent, np.searchsorted(counted.levels, each.levels), each.spent)
    return Answer(
        estimate=estimate_of(counted, call, question, margin),
        method=" or ".join(methods),
        n=counted.n,
        risk=goal.in_units(sum(risks) if squares else max(risks), bounds),
        exact=all(each is None or each.exact for each in allocations),
        spent=ByLevel(counted.levels, spent, counted.counts),
    )


def _of_group(levels: Floats, counts: Integers, question: Any) -> Allocation | None:
    """The allocation of one group; None if there are not two people, or nobody gives anything."""
    there = counts > 0
    try:
        budgets = Budgets.of_levels(levels[there], counts[there])
        return allocate_for(budgets, question.goal, question.method)
    except (BudgetError, DataError):
        return None
