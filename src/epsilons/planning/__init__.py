"""Plans: forecasts of errors and spending from budgets alone, before any data is read."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, Literal, overload

from epsilons import parameters
from epsilons.asking.table import STATISTICS, Statistic
from epsilons.budgets.levels import People, as_budgets
from epsilons.errors import ArgumentError
from epsilons.local.people import count_of
from epsilons.planning.central import Plan, plan_of
from epsilons.planning.found import RangePlan, range_plan
from epsilons.planning.grouped import GroupsPlan, groups_plan
from epsilons.planning.locally import LocalPlan, local_plan
from epsilons.planning.menus import Menus, MenusPlan, menus_plan
from epsilons.planning.several import Planned, SeveralPlans, several_plans
from epsilons.planning.trial import Trial
from epsilons.planning.what_if import wanted_error
from epsilons.questions.frequencies import Frequencies
from epsilons.questions.mean import Mean
from epsilons.questions.question import Question
from epsilons.types import (
    About,
    Edges,
    GroupsAre,
    Labels,
    Loss,
    Model,
    Neighbours,
    Part,
    Shape,
)

__all__ = [
    "GroupsPlan",
    "LocalPlan",
    "MenusPlan",
    "Plan",
    "Planned",
    "RangePlan",
    "SeveralPlans",
    "compare_menus",
    "plan",
]

_MOST_NUMBERS: Final = 10**6
"""The largest dimension of vectors."""

_NO_DATA: Final = (
    " is for functions that read data, and a plan reads none: give epsilon, one budget for each "
    "person, or how many people have each budget, ep.Budgets({{0.1: 300, 1: 700}})."
)
_NOT_PLANNED: Final = {
    "menu": "menu"
    + _NO_DATA
    + " To compare menus that people might be offered, ask ep.compare_menus.",
    **{name: name + _NO_DATA for name in ("data", "person", "values", "weights")},
}
"""Arguments of `epsilons.mean` that a plan does not take, each with advice."""


@overload
def plan(
    questions: Sequence[Question],
    /,
    *,
    epsilon: People,
    shares: Sequence[Part] | None = ...,
    targets: Sequence[float | None] | None = ...,
    neighbours: Neighbours = ...,
    cap: float | None = ...,
) -> SeveralPlans: ...
@overload
def plan(
    epsilon: People,
    *,
    model: Literal["local"],
    bounds: tuple[float, float] | None = ...,
    statistic: Statistic = ...,
    categories: int | Labels | None = ...,
    edges: Edges | None = ...,
    dimension: int | None = ...,
    neighbours: Neighbours = ...,
    about: About = ...,
    related: bool | float = ...,
    loss: Loss = ...,
    confidence: float = ...,
    goal: float | None = ...,
) -> LocalPlan: ...
@overload
def plan(
    epsilon: People,
    *,
    groups: int | Labels | Sequence[Labels],
    groups_are: GroupsAre = ...,
    bounds: tuple[float, float] | None = ...,
    about: About = ...,
    related: bool | float = ...,
    confidence: float = ...,
) -> GroupsPlan: ...
@overload
def plan(
    epsilon: People,
    *,
    bounds: None,
    shape: Shape = ...,
    statistic: Statistic = ...,
    neighbours: Neighbours = ...,
    about: About = ...,
    related: bool | float = ...,
    loss: Loss = ...,
    confidence: float = ...,
    cap: float | None = ...,
) -> RangePlan: ...
@overload
def plan(
    epsilon: People,
    *,
    bounds: tuple[float, float] = ...,
    statistic: Statistic = ...,
    categories: int | Labels | None = ...,
    edges: Edges | None = ...,
    neighbours: Neighbours = ...,
    about: About = ...,
    related: bool | float = ...,
    spread: float | None = ...,
    loss: Loss = ...,
    confidence: float = ...,
    cap: float | None = ...,
    goal: float | None = ...,
) -> Plan: ...
@parameters.speaks_plainly(_NOT_PLANNED)
def plan(
    people_or_questions: People | Sequence[Question] | None = None,
    /,
    *,
    epsilon: People | None = None,
    shares: Sequence[Part] | None = None,
    targets: Sequence[float | None] | None = None,
    bounds: tuple[float, float] | None = (0, 1),
    shape: Shape = "any",
    statistic: Statistic = "mean",
    categories: int | Labels | None = None,
    edges: Edges | None = None,
    dimension: int | None = None,
    model: Model = "central",
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: Loss = "mse",
    confidence: float = 0.95,
    cap: float | None = None,
    groups: int | Labels | Sequence[Labels] | None = None,
    groups_are: GroupsAre = "private",
    goal: float | None = None,
) -> Plan | RangePlan | LocalPlan | GroupsPlan | SeveralPlans:
    """Forecast errors without data, for every method or for questions that share the budgets.

    Args:
        people_or_questions: either `epsilon` as below, given by position; or a list of questions,
            such as [ep.Mean("minutes", bounds=(0, 120)), …], together with epsilon=. The columns of
            questions are not read. Arguments such as bounds are then given in each question.
        epsilon: one ε for each person, or `Budgets({ε: people})`. For add/remove, the levels that
            people are offered, with a guess of how many choose each.
        shares: for several questions, as in `epsilons.publish`.
        targets: for several questions, as in `epsilons.publish`.
        bounds: the range (lo, hi) of the values of a mean. None if you do not know it; the plan
            then describes the range that will be found in the data, and its cost.
        shape: with bounds=None, the assumed shape of the data: see `epsilons.mean`.
        statistic: the name of its function, such as "mean", "frequencies" or "variance"; "count" is
            for add/remove. A covariance is of two columns with these bounds. An argument of its own
            that a statistic requires has the value that plans suppose, such as q=0.5. To plan with
            other arguments, pass a question: plan([ep.Variance(…)], epsilon=…).
        categories: for frequencies, the categories or their number; for a table of several columns,
            a tuple with a list for each. None for a mean.
        edges: for frequencies of bins, their edges, instead of categories.
        dimension: in the local model, the dimension of people's vectors; None for a number.
        model: "central" if a curator is trusted with the values; "local" if each person randomizes
            their own value.
        neighbours: "replace" or "add-remove".
        about: "people" or "population": see `epsilons.mean`.
        related: whether budgets may be related to values: True, False, or a bound δ on how much.
        spread: for a mean, a guess of the standard deviation, as a fraction of the range. Errors
            are then forecast for such data, and the plan also shows the worst case.
        loss: the error that `auto` minimizes: "mse", "pac", or for frequencies "largest". For "pac"
            of people with `related` True it weighs the error against the interval: see `Plan.caps`.
        confidence: the confidence of the PAC error.
        cap: for add/remove, the most that anyone spends. If None, the cap is chosen for the guess
            in `epsilon`.
        groups: for means by group under replace, the number of groups, or their labels.
        groups_are: "private", or "public" if group membership is no secret.
        goal: the half-width that you want; the plan then computes how many people are needed. It is
            in data units; for frequencies it is a share (0.02 for 2 percentage points), and for
            vectors a fraction of the radius. For several questions, use `targets` instead.

    Returns:
        The plan; print it for a table, `.plot()` it for a picture. It is a `RangePlan` if bounds
        are None, a `LocalPlan` for the local model, a `GroupsPlan` for means by group,
        `SeveralPlans` for several questions, and otherwise a `Plan`.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError), or not all targets
            can be met.
        DataError: there are fewer than two people.

    Examples:
        >>> import epsilons as ep
        >>> plan = ep.plan({0.1: 500, 1.0: 490}, bounds=(0, 24))
        >>> print(plan.verdict.words[0])
        Precise to ±0.73 (3 % of the range).
        >>> plan.best
        'optimal'
    """
    given = locals()
    parameters.choice("neighbours", neighbours)
    questions, people = _asked(people_or_questions, epsilon)
    if cap is not None and neighbours == "replace":
        raise ArgumentError('cap is for neighbours="add-remove": under replace every cap is tried.')
    if questions is not None:
        _refuse_beside_questions(given)
        if goal is not None:
            raise ArgumentError("goal is for one question: write targets=[…] for several.")
        return several_plans(questions, as_budgets(people), neighbours, cap, shares, targets)
    if shares is not None or targets is not None:
        raise ArgumentError("shares and targets are for several questions: give a list of them.")
    kind = STATISTICS[parameters.choice("statistic", statistic, STATISTICS)]
    cells = parameters.cells("frequencies" if kind is Frequencies else "mean", categories, edges)
    parameters.choice("groups_are", groups_are)
    if parameters.choice("model", model) == "local":
        given = {"spread": spread is not None, "shape": shape != "any"}
        _refuse_for_reports(kind, neighbours, given | {'loss="largest"': loss == "largest"})
        parameters.bounds(bounds)
    elif dimension is not None:
        raise ArgumentError('dimension is for model="local": leave it out.')
    if groups is not None:
        others = (model != "central", loss != "mse", spread is not None, dimension is not None)
        if kind is not Mean or neighbours != "replace" or shape != "any" or any(others):
            raise ArgumentError(
                'groups is for means under neighbours="replace" in the central model: leave out '
                "statistic, neighbours, model, shape, dimension, loss and spread."
            )
        bounds = parameters.bounds(bounds)
    elif groups_are != "private":
        raise ArgumentError('groups_are="public" is for groups=…, which is not given.')
    found = bounds is None and kind.range_may_be_found
    wanted = _wanted(goal, found=found, grouped=groups is not None, share=kind is Frequencies)
    said = {"about": about, "related": related, "loss": loss, "confidence": confidence}
    of_values = {"bounds": bounds, "shape": shape, "spread": spread}
    question = _question(kind, cells, {**said, **of_values})
    trial = Trial(question, as_budgets(people), neighbours, cap)
    if groups is not None:
        return groups_plan(trial, groups, groups_are)
    if model == "local":
        limits = parameters.bounds(bounds)
        size = _vectors(statistic, limits, dimension)
        return replace(local_plan(trial.budgets, trial.goal, limits, size), wanted=wanted)
    question.check(neighbours)
    return range_plan(trial) if found else replace(plan_of(trial), wanted=wanted)


@parameters.speaks_plainly()
def compare_menus(
    menus: Menus,
    *,
    people: int,
    bounds: tuple[float, float] = (0, 1),
    statistic: Statistic = "mean",
    categories: int | Labels | None = None,
    edges: Edges | None = None,
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: Loss = "mse",
    confidence: float = 0.95,
) -> MenusPlan:
    """Compare menus of budgets that might be offered, before anyone has chosen.

    Args:
        menus: for each menu, the share of people who are expected to choose each ε:
            {"A": {0.1: 0.1, 1: 0.9}, "B": {0.5: 1.0}}, or a list of menus without names.
        people: the number of people.
        bounds: the range (lo, hi) of the values of a mean.
        statistic: what is estimated: see `epsilons.plan`.
        categories: for frequencies, the categories or their number.
        edges: for frequencies of bins, their edges, instead of categories.
        neighbours: "replace" or "add-remove".
        about: "people" or "population": see `epsilons.mean`.
        related: whether budgets may be related to values: True, False, or a bound δ on how much.
        spread: for a mean, a guess of the standard deviation, as a fraction of the range.
        loss: the error that is minimized: "mse", "pac", or for frequencies "largest".
        confidence: the confidence of the intervals.

    Returns:
        The comparison. For each menu it has the typical error, half the width of the interval, and
        the gain from personal budgets. For menus of two budgets it also has the error as a function
        of the share of people who choose the smaller ε. Print it for a table, `.plot()` it for a
        picture.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError), or the shares of a
            menu do not add up to 1.

    Examples:
        >>> import epsilons as ep
        >>> menus = {"choice": {0.1: 0.5, 1.0: 0.5}, "single": {0.5: 1.0}}
        >>> ep.compare_menus(menus, people=990).best
        'single'
    """
    kind = STATISTICS[parameters.choice("statistic", statistic, STATISTICS)]
    cells = parameters.cells("frequencies" if kind is Frequencies else "mean", categories, edges)
    asked = {"about": about, "related": related, "loss": loss, "confidence": confidence}
    limits = parameters.bounds(bounds)
    question = _question(kind, cells, {**asked, "bounds": limits, "shape": "any", "spread": spread})
    question.check(parameters.choice("neighbours", neighbours))
    return menus_plan(question, neighbours, menus, people)


def _question(kind: type[Question], cells: int | None, said: dict[str, Any]) -> Question:
    """Make the question that the arguments of `plan` describe. It has no column of data.

    Args:
        kind: the class of the question.
        cells: for frequencies, the number of categories.
        said: arguments of questions, by name. If a question has a field that is not an argument of
            `plan`, the field's metadata contain the value to use, as "planned". Both columns of a
            covariance have the same bounds.

    Raises:
        ArgumentError: an argument is invalid, or is for another statistic.
    """
    has = {each.name for each in fields(kind) if each.init}
    for name, given in said.items():
        if name in kind.NOT_TAKEN and given != _OWN[name]:
            raise ArgumentError(kind.NOT_TAKEN[name].format(repr(given)))
    for name in ("bounds", "shape", "spread"):
        if name in has or f"x_{name}" in has:
            continue
        given = parameters.bounds(said[name]) if name == "bounds" else said[name]
        if given != _OWN[name]:
            what = f"{kind.statistic}, which are shares" if cells else kind.statistic
            raise ArgumentError(f"{name} is for a mean: leave it out for {what}.")
    own = {each.name: each.metadata for each in fields(kind) if "planned" in each.metadata}
    said |= {"categories": range(cells or 0)} | {name: own[name]["planned"] for name in own}
    said |= {"values": [], "x": [], "y": [], "x_bounds": said["bounds"], "y_bounds": said["bounds"]}
    return kind(**{name: each for name, each in said.items() if name in has})


_SHARED: Final = {"epsilon", "shares", "targets", "neighbours", "cap", "goal"}
"""Arguments of `plan` that several questions share, or that have a message of their own."""

_OWN: Final[dict[str, Any]] = {
    name: argument.default
    for name, argument in inspect.signature(plan).parameters.items()
    if argument.kind is argument.KEYWORD_ONLY and name not in _SHARED
}
"""Arguments of `plan` that belong to a question, with their defaults."""


def _refuse_beside_questions(given: Mapping[str, Any]) -> None:
    """Check that a list of questions comes without arguments that belong in the questions.

    Args:
        given: all arguments of `plan`, by name.

    Raises:
        ArgumentError: one of these arguments differs from its default.
    """
    for name, default in _OWN.items():
        each = given[name]
        if each is not default and each != default:
            raise ArgumentError(f"{name} belongs to a question: give it in each question.")


def _asked(first: Any, epsilon: Any) -> tuple[tuple[Question, ...] | None, Any]:
    """Return the list of questions (None if there is none) and the budgets.

    Raises:
        ArgumentError: budgets are not given, or given twice.
    """
    listed = first if isinstance(first, (list, tuple)) else [first]
    if listed and all(isinstance(each, Question) for each in listed):
        if epsilon is None:
            raise ArgumentError(
                "epsilon is not given: write plan([ep.Mean(…), …], epsilon=…), one ε for each "
                "person or Budgets({ε: people})."
            )
        return tuple(listed), epsilon
    if (first is None) == (epsilon is None):
        raise ArgumentError(
            "epsilon must be given once: one ε for each person, or Budgets({ε: people}). A list "
            "before it must be of questions, such as [ep.Mean(…), ep.Frequencies(…)]."
        )
    return None, epsilon if first is None else first


def _wanted(goal: object, *, found: bool, grouped: bool, share: bool) -> float | None:
    """Check the wanted half-width and return it; None if none was given.

    Args:
        goal: the user's argument.
        found: whether the range of the values has to be found in the data.
        grouped: whether means are by group.
        share: whether the half-width is that of a share of people.

    Raises:
        ArgumentError: it is invalid, or this kind of plan does not compute the number of people.
    """
    if goal is None:
        return None
    if found:
        raise ArgumentError("goal needs bounds=(lo, hi): it is in units of a known range.")
    if grouped:
        raise ArgumentError("goal is not for groups, which may be of any size: leave goal out.")
    return wanted_error(goal, share=share)


def _refuse_for_reports(kind: type[Question], neighbours: str, given: dict[str, bool]) -> None:
    """Check that no argument is given that the local model does not have.

    Args:
        kind: the class of the question.
        neighbours: "replace" or "add-remove".
        given: whether each argument of the central model alone is given.

    Raises:
        ArgumentError: such an argument is given.
    """
    if kind not in (Mean, Frequencies):
        raise ArgumentError('model="local" is for statistic="mean" and statistic="frequencies".')
    if neighbours != "replace":
        raise ArgumentError(
            'model="local" needs neighbours="replace": there it is public that a person took part.'
        )
    for name, is_given in given.items():
        if is_given:
            raise ArgumentError(f'{name} is for model="central": leave it out.')


def _vectors(statistic: str, bounds: tuple[float, float], dimension: object) -> int | None:
    """Check the dimension of vectors and return it; None if values are numbers or categories.

    Raises:
        ArgumentError: it is not a positive integer, is too large, or contradicts other arguments.
    """
    if dimension is None:
        return None
    size = count_of("dimension", dimension, 1, _MOST_NUMBERS)
    if statistic != "mean" or bounds != (0.0, 1.0):
        raise ArgumentError(
            "dimension is for the mean of vectors in a ball: leave out bounds, categories and "
            "statistic. Errors are fractions of the radius."
        )
    return size
