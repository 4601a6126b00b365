"""Signatures are typed, with literal words, and the same for a function and its question."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final, get_args

import pytest

import epsilons as ep
from epsilons import types
from epsilons.asking.table import STATISTICS
from epsilons.budgets import allocation
from epsilons.questions.question import TERMS, WORDS, Question
from tests.needed import needed

PAIRS: Final = {name: (getattr(ep, name), question) for name, question in STATISTICS.items()}

READ: Final = (
    *(ep.Allocation, ep.Check, ep.Release, ep.Releases),
    *(ep.GroupsPlan, ep.LocalPlan, ep.MenusPlan, ep.Plan, ep.RangePlan, ep.SeveralPlans),
    *(ep.local.Reports, ep.local.State),
    *(ep.verify.Audit, ep.verify.Draws, ep.verify.Published, ep.verify.Replay, ep.verify.Verdict),
)
"""Classes that users read but do not create. Their fields are not arguments."""

WORD_OF: Final = {
    "about": types.About,
    "groups_are": types.GroupsAre,
    "length": types.Length,
    "loss": types.Loss,
    "method": types.MeanMethod,
    "missing": types.Missing,
    "model": types.Model,
    "neighbours": types.Neighbours,
    "place": types.Place,
    "shape": types.Shape,
    "statistic": types.Allocated,
    "weights": types.Weights,
}
"""Parameters that take one of several words, and the literal type that lists the words."""


def walked(name: str, what: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield all public callables: functions, classes, and their methods."""
    if isinstance(what, ModuleType):
        for each in getattr(what, "__all__", ()):
            yield from walked(f"{name}.{each}", getattr(what, each))
    elif inspect.isfunction(what):
        yield name, what
    elif inspect.isclass(what) and not issubclass(what, Exception):
        if what not in READ and "__init__" in vars(what):
            yield name, what
        offered = (
            ["call"] if issubclass(what, Question) else dir(what)
        )  # users only call `call` of a question; the corridor calls its other methods
        for each in offered:
            found = inspect.getattr_static(what, each)
            inner = getattr(found, "__func__", found)
            ours = str(getattr(inner, "__module__", "")).startswith("epsilons")
            if not each.startswith("_") and inspect.isfunction(inner) and ours:
                yield f"{name}.{each}", inner


PUBLIC: Final = [name for name in dir(ep) if not name.startswith("_")]
CALLED: Final = dict(item for each in PUBLIC for item in walked(each, getattr(ep, each)))


def test_what_is_public_is_walked() -> None:
    assert {"mean", "Mean", "Ledger.claim", "local.Mean", "verify.replay", "plan"} <= set(CALLED)


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_says_what_may_be_typed(name: str) -> None:
    for each in inspect.signature(CALLED[name]).parameters.values():
        said = str(each.annotation)
        if each.name in ("self", "cls"):
            continue
        assert each.annotation is not each.empty, each.name
        assert not re.search(r"\bAny\b", said), each
        assert isinstance(each.default, (str, int, float, tuple, type(None), type)), each
        if each.name in WORD_OF:
            assert not re.search(r"\bstr\b", said), f"{each}: there is a Literal"


@pytest.mark.parametrize("name", PAIRS)
def test_a_function_and_its_question_take_the_same_in_the_same_order(name: str) -> None:
    """A function and its question have the same arguments in the same order."""
    function, question = (inspect.signature(each).parameters for each in PAIRS[name])
    weighable = PAIRS[name][1].weighable
    call = (*(each for each in TERMS if weighable or each != "weights"), "ledger", "source")
    own = [each for each in function.values() if each.name not in call]
    assert [each.name for each in own] == list(question)
    for each in own:
        other = question[each.name]
        assert (each.kind, each.annotation) == (other.kind, other.annotation), each.name
        assert each.default == other.default
    assert [each for each in function if each in call] == list(call)


@pytest.mark.parametrize("function", [ep.publish, ep.check, ep.verify.replay, ep.Mean.call])
def test_terms_are_the_same_wherever_they_are_typed(function: Any) -> None:
    terms = inspect.signature(ep.mean).parameters
    given = inspect.signature(function).parameters
    for name in TERMS:
        both = {str(given[name].annotation), f"{given[name].annotation} | None"}
        assert str(terms[name].annotation) in both
        assert given[name].default in (terms[name].default, inspect.Parameter.empty)


def test_methods_are_those_of_the_tables() -> None:
    rules = {"auto", *allocation.TESTED_RULES, *allocation.FREQUENCY_RULES}
    assert set(get_args(types.RuleName)) == rules
    gaussian = {"bounds": None, "shape": "gaussian", "about": "population", "related": False}
    for name, question in STATISTICS.items():
        given: list[dict[str, Any]] = [{"edges": [0, 1, 2]} if name == "frequencies" else {}]
        if question.range_may_be_found:
            given += [{"bounds": None}, gaussian]
        if "loss" in inspect.signature(question).parameters:
            given += [given[0] | {"loss": "pac"}]  # it has a method for short intervals
        questions = [question(**needed(question) | each) for each in given]
        taken = {m for q in questions for n in get_args(types.Neighbours) for m in q.methods(n)}
        assert set(question.every_method) == taken, name


@pytest.mark.parametrize("name", STATISTICS)
def test_what_a_question_does_not_take_is_none_of_its_arguments(name: str) -> None:
    question = STATISTICS[name]
    taken = set(inspect.signature(question).parameters)
    assert not taken & set(question.NOT_TAKEN)
    assert {*WORDS, "title", "unit"} <= taken | set(question.NOT_TAKEN)
