"""What a reader must not overlook: large budgets, and numbers that are noisy."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest

import epsilons as ep
from epsilons import report
from epsilons.report.phrases import people_words
from tests.report.forms import forms, weak
from tests.report.page_samples import data


@pytest.mark.parametrize("epsilon", [[1000.0, 1000.0], [0.1, 20.5, math.inf], [50, 10, 10]])
def test_an_epsilon_above_20_is_warned_of_everywhere(epsilon: list[float]) -> None:
    largest = max(each for each in epsilon if math.isfinite(each))
    words = f"ε above 20 protects almost nothing, and budgets here go up to {largest:,g}."
    for shown in [*weak(epsilon), ep.plan(epsilon), ep.plan(epsilon, neighbours="add-remove")]:
        for name, text in forms(shown).items():
            assert words in text, name
        assert len(shown.to_dict()["warnings"]) == 1


@pytest.mark.parametrize("epsilon", [[20.0, 0.1], [math.inf, 1.0, 0.0], [math.inf, math.inf]])
def test_public_records_and_ordinary_budgets_are_not_warned_of(epsilon: list[float]) -> None:
    for shown in [*weak(epsilon), ep.plan(epsilon)]:
        assert shown.to_dict()["warnings"] == []
        for name, text in forms(shown).items():
            assert "almost nothing" not in text, name


def test_where_budgets_are_private_only_declared_ones_are_warned_of() -> None:
    private = functools.partial(weak, neighbours="add-remove", related=False)
    large, small = [0.1, 1000.0, 1000.0], [0.1, 0.1, 0.1]
    declared: list[dict[str, Any]] = [{}, {"levels": [0.1, 1.0]}]
    for given in declared:
        for shown in [*private(large, **given), *private(small, **given)]:
            assert shown.warnings == []
    for given in ({"levels": {0.1: 5, 1000.0: 2}}, {"cap": 1000.0}):
        for shown in [*private(large, **given), *private(small, **given)]:
            [warning] = shown.warnings
            assert "up to 1,000." in warning
    assert ep.mean([0, 1], epsilon=40.0, bounds=(0, 1), neighbours="add-remove").warnings


@pytest.mark.parametrize("n", [1234, 1234.0, 1233.7])
def test_whether_a_number_of_people_is_noisy_is_said_by_the_data_and_not_by_its_type(
    n: float,
) -> None:
    each = data()["mean"] | {"n": n, "n_is_noisy": True}
    words = "About 1,234 people (a noisy count)"
    assert people_words(each) == words
    assert words in report.text(each)
    assert words in report.html(data()["frequencies"] | {"n": n, "n_is_noisy": True})


def test_a_number_of_people_that_is_public_is_exact() -> None:
    each = data()["mean"] | {"n": 1234, "n_is_noisy": False}
    assert people_words(each) == "1,234 people"
    assert people_words(each | {"n": None}) == "An undisclosed number of people"
