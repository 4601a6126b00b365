"""Questions are frozen, and are validated when they are created."""

from __future__ import annotations

import dataclasses
import inspect
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import door
from epsilons.asking.table import STATISTICS
from epsilons.errors import ArgumentError, BoundsError
from epsilons.questions.question import Call, Question
from tests.corridor.test_corridor import Counting
from tests.needed import needed
from tests.plain import plain

VALUES = [0.2, 0.4, 0.9]
MADE: dict[str, Any] = {
    **{name: partial(kind, **needed(kind, values=VALUES)) for name, kind in STATISTICS.items()},
    "found": partial(ep.Mean, VALUES, bounds=None),
    "frequencies": partial(ep.Frequencies, VALUES, edges=[0, 0.5, 1]),
    "count": partial(ep.Count, VALUES),
    "covariance": partial(ep.Covariance, VALUES, VALUES, x_bounds=(0, 1), y_bounds=(0, 1)),
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"about": "peple"}, "about='peple' is not known. It can be 'people', 'population'. "
         "Did you mean 'people'?"),
        ({"about": None}, "about=None is not known."),
        ({"related": None}, "related=None is invalid. Give True (budgets may be related to values"),
        ({"related": math.nan}, "related=nan is invalid."),
        ({"related": 1.5}, "related=1.5 is invalid."),
        ({"loss": "mae"}, "loss='mae' is not known. It can be 'mse', 'pac', 'largest'. Did"),
        ({"confidence": 1.0}, "confidence=1.0 must be a number strictly between 0 and 1, such as"),
        ({"confidence": 0}, "confidence=0 must be a number strictly between 0 and 1"),
        ({"confidence": True}, "confidence=True must be"),
        ({"confidence": math.nan}, "confidence=nan must be"),
        ({"confidence": "0.9"}, "confidence='0.9' must be"),
        ({"missing": "drop"}, "missing='drop' is not known. It can be 'error', 'midpoint', 'exc"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_refused_when_a_question_is_made(
    kind: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError) as refused:
        MADE[kind](**given)
    (name,) = given
    if name in type(MADE[kind]()).NOT_TAKEN:
        assert str(refused.value).startswith((f"{name}={given[name]!r}", f"{name}: "))
    else:
        assert str(refused.value).startswith(words)


@pytest.mark.parametrize(
    "bounds", [(1, 0), (0, 0), (0, math.inf), (math.nan, 1), "ab", 3, (0, 1, 2), ()]
)
def test_bounds_that_are_none_are_refused_when_a_question_is_made(bounds: Any) -> None:
    with pytest.raises(BoundsError, match="bounds"):
        ep.Mean(VALUES, bounds=bounds)


def test_bounds_must_be_said_and_none_must_be_meant() -> None:
    with pytest.raises(BoundsError, match=r"bounds is not given: write bounds=\(lo, hi\)"):
        ep.Mean(VALUES)
    assert ep.Mean(VALUES, bounds=None).shape == "any"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Give either categories or edges: neither is given"),
        ({"categories": [1, 2], "edges": [1, 2, 3]}, "edges: both are given"),
        ({"categories": ["a", "a"]}, "duplicates"),
        ({"categories": "ab"}, "must be a list"),
        ({"categories": [0.5, 1.5]}, "which are bins of numbers, not categories"),
        ({"categories": ["a"]}, "at least two categories, including other"),
        ({"edges": [3, 2, 1]}, "ascending"),
        ({"categories": ["a", "b"], "other": [1]}, "other must be a label"),
        ({"categories": ["a", "b"], "project": 1}, "project=1 must be True or False"),
        ({"categories": ["a", "b"], "missing": "midpoint"}, "categories have no middle"),
        ({"categories": "no list", "missing": "midpoint"}, "categories have no middle"),
    ],
)
def test_categories_that_are_none_are_refused_when_a_question_is_made(
    given: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words):
        ep.Frequencies(VALUES, **given)


@pytest.mark.parametrize("kind", [kind for kind in MADE if kind != "count"])
def test_a_method_is_refused_before_a_row_is_read(kind: str) -> None:
    """An invalid method is rejected before any row is read.

    Valid methods depend on `neighbours`.
    """

    class Unread:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} of the data was looked at")

    question = MADE[kind](method="sampled")
    for neighbours in ("replace", "add-remove"):
        known = ", ".join(map(repr, ("auto", *question.methods(neighbours))))
        with pytest.raises(ArgumentError) as refused:
            question.check(neighbours)
        assert str(refused.value).startswith(f"method='sampled' is not known. It can be {known}.")
        with pytest.raises(ArgumentError, match="method='sampled'"):
            ep.publish([question], epsilon=1.0, data=Unread(), neighbours=neighbours)
    with pytest.raises(ArgumentError, match="a refusal would reveal"):
        MADE[kind](missing="error").check("add-remove")


@pytest.mark.parametrize("kind", MADE)
def test_a_question_is_frozen(kind: str) -> None:
    question = MADE[kind]()
    for field in dataclasses.fields(question):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(question, field.name, None)
    again = dataclasses.replace(question, confidence=0.5)
    assert (again.confidence, question.confidence) == (0.5, 0.95)
    with pytest.raises(ArgumentError, match="confidence"):
        dataclasses.replace(question, confidence=2)


def test_a_question_holds_what_was_checked() -> None:
    mean = ep.Mean("x", bounds=[np.float32(0), Fraction(3)], confidence=np.float64(0.9))
    assert mean.bounds == (0.0, 3.0)
    assert list(map(type, mean.bounds)) == [float, float]
    assert type(mean.confidence) is float
    labels = ["a", "b"]
    shares = ep.Frequencies("x", categories=labels, other="c")
    labels.append("d")  # changing this list must not change the question
    assert shares.categories == ("a", "b")
    assert shares.declared.labels == ("a", "b", "c")
    assert shares.goal.cells == 3
    assert ep.Frequencies("x", edges=[0, 1, 2]).edges == ((0, 1), (1, 2))
    assert ep.Frequencies("x", categories=np.arange(3)).categories == (0, 1, 2)


def test_a_question_can_be_asked_again() -> None:
    """A question has no state: the same people and the same source give the same answer."""
    for make in MADE.values():
        question = make()
        values = np.random.default_rng(2).normal(0.5, 0.1, 3000)
        asked = question.of_columns(dict.fromkeys(question.columns, values))
        terms = "add-remove" if isinstance(question, ep.Count) else "replace"
        first, second = (
            ep.publish([asked], epsilon=1.0, neighbours=terms, source=ep.Seeded(4))
            for _ in range(2)
        )
        assert plain(first[0]) == plain(second[0])


def test_every_statistic_is_found_by_its_name() -> None:
    public = [getattr(ep, name) for name in dir(ep)]
    asked = {each for each in public if isinstance(each, type) and issubclass(each, Question)}
    assert set(STATISTICS.values()) == asked
    for name, kind in STATISTICS.items():
        assert inspect.isfunction(getattr(ep, name))
        assert kind.statistic == name
        methods = [each for n in ("replace", "add-remove") for each in MADE[name]().methods(n)]
        assert set(methods) <= set(kind.every_method)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_nothing_is_drawn_before_a_mean_is_said_to_be_of_an_unknown_kind(neighbours: str) -> None:
    source = Counting()
    with pytest.raises(ArgumentError, match="bounds"):
        ep.mean(VALUES, epsilon=1.0, neighbours=neighbours, source=source)
    assert source.handed == 0


def test_a_statistic_yields_what_is_drawn_and_never_draws() -> None:
    """A statistic yields mechanisms and totals. It never gets a source, so it cannot draw."""
    call = Call(np.repeat([0.5, 1.0], 50), None, None, "replace")
    question = ep.Mean(np.linspace(0.0, 1.0, 100), bounds=(0, 1))
    steps = question.steps(question.open(call), call)
    draw = next(steps)
    counted = question.open(call).count(door.Ask("squares", (0.0, 1.0)))
    assert draw.total == draw.mechanism.total(counted)  # type: ignore
    with pytest.raises(StopIteration) as end:
        steps.send(draw.total)
    assert end.value.value.estimate.raw == pytest.approx(draw.mechanism.estimate(draw.total))  # type: ignore
    assert end.value.value.n == 100


def test_a_question_is_shown_without_what_people_said() -> None:
    assert "0.123456" not in repr(ep.Mean([0.123456, 0.5], bounds=(0, 1)))
    assert "secret" not in repr(ep.Frequencies(["secret", "a"], categories=["a", "b"]))
