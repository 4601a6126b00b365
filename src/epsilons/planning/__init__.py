"""Plans: what will be known, before any data is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, overload

import numpy.typing as npt

from epsilons import parameters
from epsilons.budgets import Budgets, as_budgets
from epsilons.errors import ArgumentError
from epsilons.local.people import count_of
from epsilons.planning.central import Plan, central_plan
from epsilons.planning.found import RangePlan, range_plan
from epsilons.planning.grouped import GroupsPlan, groups_plan
from epsilons.planning.locally import LocalPlan, local_plan
from epsilons.risk.goals import Goal, checked
from epsilons.statistics import STATISTICS, Mean

__all__ = ["GroupsPlan", "LocalPlan", "Plan", "RangePlan", "plan"]

_MOST_NUMBERS: Final = 10**6
"""The longest vectors."""


@overload
def plan(
    epsilon: Budgets | Mapping[float, int] | npt.ArrayLike,
    *,
    model: Literal["local"],
    bounds: Any = ...,
    statistic: str = ...,
    categories: Any = ...,
    edges: Any = ...,
    dimension: int | None = ...,
    neighbours: str = ...,
    about: str = ...,
    related: bool | float = ...,
    loss: str = ...,
    confidence: float = ...,
) -> LocalPlan: ...
@overload
def plan(
    epsilon: Budgets | Mapping[float, int] | npt.ArrayLike,
    *,
    groups: Any,
    groups_are: str = ...,
    bounds: Any = ...,
    about: str = ...,
    related: bool | float = ...,
    confidence: float = ...,
) -> GroupsPlan: ...
@overload
def plan(
    epsilon: Budgets | Mapping[float, int] | npt.ArrayLike,
    *,
    bounds: None,
    shape: str = ...,
    statistic: str = ...,
    neighbours: str = ...,
    about: str = ...,
    related: bool | float = ...,
    loss: str = ...,
    confidence: float = ...,
    cap: float | None = ...,
) -> RangePlan: ...
@overload
def plan(
    epsilon: Budgets | Mapping[float, int] | npt.ArrayLike,
    *,
    bounds: Any = ...,
    statistic: str = ...,
    categories: Any = ...,
    edges: Any = ...,
    neighbours: str = ...,
    about: str = ...,
    related: bool | float = ...,
    spread: float | None = ...,
    loss: str = ...,
    confidence: float = ...,
    cap: float | None = ...,
) -> Plan: ...
@parameters.speaks_plainly
def plan(
    epsilon: Budgets | Mapping[float, int] | npt.ArrayLike,
    *,
    bounds: Any = (0, 1),
    shape: str = "any",
    statistic: str = "mean",
    categories: Any = None,
    edges: Any = None,
    dimension: int | None = None,
    model: str = "central",
    neighbours: str = "replace",
    about: str = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: str = "mse",
    confidence: float = 0.95,
    cap: float | None = None,
    groups: Any = None,
    groups_are: str = "private",
) -> Plan | RangePlan | LocalPlan | GroupsPlan:
    """Forecast every method without data.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`. For add/remove the levels that
            people are offered, with a guess of how many choose each.
        bounds: the range (lo, hi) of the values of a mean; None if nobody knows it: then the plan
            says which range will be found, and what that costs.
        shape: where nobody knows the range, what is claimed: see `epsilons.mean`.
        statistic: "mean" or "frequencies".
        categories: for frequencies, the categories or how many there are; None for a mean.
        edges: for frequencies of bins, their edges, in place of categories.
        dimension: in the local model, of how many numbers a person's vector is; None for a number.
        model: "central": a curator is trusted with values; "local": everyone randomizes their own.
        neighbours: "replace" or "add-remove".
        about: "people" or "population": see `epsilons.mean`.
        related: whether budgets may go with values: True, False, or by how much.
        spread: for a mean, a guess of the standard deviation in parts of the range. Errors are then
            those of such data, and the plan says what they are in the worst case.
        loss: "mse", "pac", or for frequencies "largest": what `auto` makes small.
        confidence: of the PAC error.
        cap: for add/remove, the most that anyone spends; chosen for the guess if None.
        groups: for means by group, how many there are, or their labels: under replace.
        groups_are: "private", or "public" if it is no secret who is in which.

    Returns:
        The plan; print it for a table, `.plot()` it for a picture. A `RangePlan` if bounds are
        None, a `LocalPlan` of the local model, a `GroupsPlan` of means by group.

    Raises:
        ArgumentError: an argument cannot mean anything (also BoundsError, BudgetError).
        DataError: there are fewer than two people.
    """
    parameters.choice("neighbours", neighbours)
    question = STATISTICS[parameters.choice("statistic", statistic, STATISTICS)]
    words_of_it = checked(about, related, loss, confidence)
    goal = question.goal_for(words_of_it, categories, edges, spread)
    budgets = as_budgets(epsilon)
    if cap is not None and neighbours == "replace":
        raise ArgumentError('cap is for neighbours="add-remove": under replace every cap is tried.')
    if groups is not None:
        others = (model != "central", loss != "mse", spread is not None, dimension is not None)
        if question is not Mean or neighbours != "replace" or shape != "any" or any(others):
            raise ArgumentError(
                'groups is for means under neighbours="replace" in the central model: leave out '
                "statistic, neighbours, model, shape, dimension, loss and spread."
            )
        return groups_plan(budgets, goal, question.range_for(bounds), groups, groups_are)
    if parameters.choice("groups_are", groups_are) != "private":
        raise ArgumentError('groups_are="public" is for groups=…, which is not given.')
    if parameters.choice("model", model) == "local":
        _refuse_for_reports(neighbours, spread, shape)
        limits = question.range_for(bounds)
        return local_plan(budgets, goal, limits, _vectors(statistic, limits, dimension))
    if dimension is not None:
        raise ArgumentError('dimension is for model="local": leave it out.')
    if bounds is None and question.range_may_be_found:
        asked = Mean([], **_of_mean(goal), bounds=None, shape=shape, spread=spread)
        return range_plan(budgets, asked, neighbours, cap)
    limits = question.range_for(bounds)
    if parameters.choice("shape", shape) != "any":
        raise ArgumentError(f"shape={shape!r} is for bounds=None. Leave it out.")
    return central_plan(question.statistic, budgets, goal, limits, neighbours, cap)


def _of_mean(goal: Goal) -> dict[str, Any]:
    """What a question is asked with, of its goal."""
    said = goal.assumption
    return {
        "about": said.about,
        "related": said.related,
        "loss": goal.loss,
        "confidence": goal.confidence,
    }


def _refuse_for_reports(neighbours: str, spread: object, shape: object) -> None:
    """Refuse what means nothing where everyone randomizes their own value.

    Raises:
        ArgumentError: it is asked for.
    """
    if neighbours != "replace":
        raise ArgumentError(
            'model="local" needs neighbours="replace": that a person took part is public there.'
        )
    for name, given in (("spread", spread is not None), ("shape", shape != "any")):
        if given:
            raise ArgumentError(f'{name} is for model="central": leave it out.')


def _vectors(statistic: str, bounds: tuple[float, float], dimension: object) -> int | None:
    """The dimension of vectors, checked; None if values are numbers or categories.

    Raises:
        ArgumentError: it is no whole number from 1, or does not fit the others.
    """
    if dimension is None:
        return None
    size = count_of("dimension", dimension, 1, _MOST_NUMBERS)
    if statistic != "mean" or bounds != (0.0, 1.0):
        raise ArgumentError(
            "dimension is for the mean of vectors in a ball: leave out bounds, categories and "
            "statistic. Errors are in parts of the radius."
        )
    return size
