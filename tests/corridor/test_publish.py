"""Several questions about the same people: each gets an equal part of everyone's ε."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, BudgetError
from tests.plain import plain

PEOPLE = 1000
RNG = np.random.default_rng(9)
VALUES = RNG.normal(50.0, 5.0, PEOPLE)
COLOURS = [("red", "green", "blue")[k % 3] for k in range(PEOPLE)]
EPSILON = RNG.choice([0.0, 0.3, 1.0, 2.5, np.inf], PEOPLE)

MEAN = ep.Mean(VALUES, bounds=(0, 100))
APART = [ep.Mean(VALUES, bounds=(0, 100), confidence=0.9 + 0.01 * k) for k in range(7)]
"""Means that are not drawn together, because their confidence levels differ."""
FOUND = ep.Mean(VALUES, bounds=None)
SHARES = ep.Frequencies(COLOURS, categories=["red", "green", "blue"])

TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "levels": {"neighbours": "add-remove", "levels": [0.3, 1.0, 2.5]},
    "guess": {"neighbours": "add-remove", "levels": {0.3: 200, 1.0: 200, 2.5: 200}, "cap": 1.5},
    "fine": {"neighbours": "add-remove"},
}


def test_public_people_stay_public_and_those_at_zero_out() -> None:
    releases = ep.publish([MEAN, SHARES], epsilon=EPSILON, source=ep.Seeded(4))
    assert releases.for_each([0.0])[0] == 0.0
    assert ep.verify.exact(releases.mechanism).holds


def test_one_question_is_what_the_function_publishes() -> None:
    alone = ep.mean(VALUES, bounds=(0, 100), epsilon=EPSILON, source=ep.Seeded(2))
    (asked,) = ep.publish([MEAN], epsilon=EPSILON, source=ep.Seeded(2))
    assert plain(alone) == plain(asked)
    shares = ep.frequencies(
        COLOURS, categories=["red", "green", "blue"], epsilon=EPSILON, source=ep.Seeded(2)
    )
    (asked,) = ep.publish(SHARES, epsilon=EPSILON, source=ep.Seeded(2))  # type: ignore[arg-type]
    assert plain(shares) == plain(asked)


def test_a_part_is_rounded_down() -> None:
    epsilon = np.full(PEOPLE, 0.1 + 0.2)
    releases = ep.publish(APART, epsilon=epsilon, source=ep.Seeded(2))
    assert Fraction(releases[0].mechanism.levels[0]) * 7 <= Fraction(0.1 + 0.2)


def test_each_part_gives_the_error_of_that_part() -> None:
    third = ep.mean(VALUES, bounds=(0, 100), epsilon=0.3, source=ep.Seeded(2))
    releases = ep.publish(APART[:3], epsilon=0.9000000000000001, source=ep.Seeded(2))
    assert releases[0].risk == pytest.approx(third.risk, rel=1e-9)
    assert releases[0].value == pytest.approx(third.value, rel=1e-9)


@pytest.mark.parametrize("questions", [[], [MEAN, "shares"], "mean", None, [None]])
def test_what_is_no_list_of_questions_is_refused(questions: Any) -> None:
    with pytest.raises(ArgumentError, match="questions"):
        ep.publish(questions, epsilon=1.0)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_arrays_that_are_not_of_the_same_people_are_refused(neighbours: str) -> None:
    """Arrays of different lengths are refused, also if everyone has a single ε."""
    fewer = ep.Mean(VALUES[1:], bounds=(0, 100))
    with pytest.raises(ArgumentError, match="have different lengths"):
        ep.publish([MEAN, fewer], epsilon=1.0, neighbours=neighbours)


def test_a_budget_that_cannot_be_divided_is_refused() -> None:
    epsilon = np.full(PEOPLE, 1.0)
    epsilon[0] = 2.0**-60
    with pytest.raises(BudgetError, match="divided among several"):
        ep.publish([MEAN, SHARES], epsilon=epsilon, shares=[1.0, 1e-310])
    epsilon[0] = 5e-324  # below the public range, so it becomes 0
    assert ep.publish([MEAN, SHARES], epsilon=epsilon).spent(5e-324) == 0.0
