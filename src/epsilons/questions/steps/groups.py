"""Means of groups, of people who answered, or of a private subset, from shares of cells.

Each group has two cells. A person with value x in [0, 1] adds x to the first cell of their group
and 1 − x to the second; people who are in no group are in one more cell. A mean is a ratio of
cells. If group membership is public, nobody moves between groups, and each mean is drawn
separately.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from epsilons import door
from epsilons.budgets.allocation import Allocation, allocate_for
from epsilons.budgets.levels import Budgets
from epsilons.draws.mechanisms import CellSums, CellTable, Parallel, build, build_histogram
from epsilons.errors import BudgetError, DataError
from epsilons.questions.question import Call, Steps
from epsilons.questions.steps import ways
from epsilons.questions.steps.designs import Design, cell_design, cells_of
from epsilons.questions.steps.grouping import estimate_of, table_goal
from epsilons.questions.steps.ways import Read
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import claimed
from epsilons.risk.groups.margins import GroupedMeans, RatioGroups
from epsilons.risk.groups.public import PublicGroupsEvenly
from epsilons.types import Floats, Integers

__all__ = ["under_add_remove", "under_replace"]


def under_replace(counted: door.Tally, call: Call, question: Any) -> Steps:
    """Answer under replace: draw one weighted table, or a sum for each public group."""
    cells = counted.cells.shape[1]
    # If everyone is in the same group, group membership is public.
    if question.groups_are == "public" or cells == 2:
        return _apart(counted, call, question)

    def read(mechanism: CellTable, drawn: Any) -> Read:
        margin = GroupedMeans(
            mechanism.weighing,
            mechanism.slack,
            mechanism.estimates(drawn),
            outside=cells % 2 == 1,
            rounding=_rounding(counted, call) + counted.rounding * mechanism.weighing.heaviest,
        )
        return _read(margin, counted, call, question)

    goal = table_goal(question, private=False)
    build_table = partial(build_histogram, unit=counted.unit)
    return ways.replace(counted, goal, question.method, build_table, read)


def under_add_remove(counted: door.Tally, call: Call, question: Any) -> Steps:
    """Answer under add/remove: count people if needed, then draw a weighted table."""

    def read(chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> Read:
        mechanism, known = chosen.mechanism, cells_of(chosen, drawn, counts)
        shares = known["drawn"]
        margin = RatioGroups(
            **known,
            weights_of=mechanism.weights,
            slack=1.0 / mechanism.reach,
            outside=len(shares) % 2 == 1,
            rounding=_rounding(counted, call),
        )
        return _read(margin, counted, call, question, float(shares.sum()))

    goal = table_goal(question, private=True)
    choose = partial(cell_design, goal=goal, unit=counted.unit)
    return ways.add_remove(counted, call.terms, goal, choose, read)


def _read(margin: Any, counted: door.Tally, call: Call, question: Any, total: float = 0.0) -> Read:
    """Return the means, and the leading term of their total squared error."""
    leading = float(margin.leading(question.assumption).sum())
    risk = float(question.goal.in_units(leading, question.bounds))
    return Read(estimate_of(counted, call, question, margin), risk, total=total)


def _rounding(counted: door.Tally, call: Call) -> float:
    """Return the largest rounding error of a share: one grid step for each group of a person.

    Without `person=`, everyone has one row, so they are in one group.
    """
    return (1 if call.person is None else len(counted.categories)) / counted.unit


def _apart(counted: door.Tally, call: Call, question: Any) -> Steps:
    """Answer for public groups: the mean of each group is drawn separately.

    Args:
        counted: the sums of cells and the number of people of each group. If there is one group, it
            has everyone.
        call: the data, the budgets and the neighbouring relation.
        question: an `epsilons.Mean`.

    Raises:
        DataError: no group can be estimated. This reveals nothing: group membership is public.
    """
    people = counted.counts[:, None] if counted.people is None else counted.people
    heads = people if counted.heads is None else counted.heads.number.reshape(people.shape)
    own, every = people.sum(axis=0), heads.sum(axis=0)
    off = [0.0] * len(own) if counted.rounded is None else counted.rounded.of_groups(own, every)
    allocations = [
        _of_group(counted.levels, own, question) if each.sum() > 1 else None
        for own, each in zip(people.T, heads.T, strict=True)
    ]
    bounds = question.bounds
    parts = tuple(
        each if each is None else build(each, grid=door.GRID, bounds=bounds) for each in allocations
    )
    if not any(part is not None for part in parts):
        raise DataError(
            "by: no group has two people and a budget above 0 among them. Declare other groups."
        )
    goal = question.goal
    squares = goal.loss == "mse"
    nothing = 0.25 if squares else 0.5  # the risk of guessing the middle of a unit range

    def read(mechanism: Parallel, drawn: Any) -> Read:
        margin = PublicGroupsEvenly(
            tuple(None if part is None else part.weighing for part in parts),
            tuple(
                0.0 if part is None else part.slack + far
                for part, far in zip(parts, off, strict=True)
            ),
            mechanism.estimates(drawn),
            own,
            counted.rounding,
        )
        risks = [nothing if part is None else claimed(part.weighing, goal) for part in parts]
        risk = goal.in_units(sum(risks) if squares else max(risks), bounds)
        exact = all(each is None or each.exact for each in allocations)
        return Read(estimate_of(counted, call, question, margin), risk, exact=exact)

    methods = dict.fromkeys(each.method for each in allocations if each is not None)
    spent = np.zeros(len(counted.levels))
    for each in filter(None, allocations):
        np.maximum.at(spent, np.searchsorted(counted.levels, each.levels), each.spent)
    mechanism = Parallel(counted.levels, parts)
    method = " or ".join(methods)
    return ways.replace_end(counted, mechanism, read, method=method, spent=spent)


def _of_group(levels: Floats, counts: Integers, question: Any) -> Allocation | None:
    """Return the allocation of a group of two or more people; None if all their budgets are 0."""
    there = counts > 0
    try:
        budgets = Budgets.of_levels(levels[there], counts[there])
        return allocate_for(budgets, question.goal, question.method)
    except BudgetError:
        return None
