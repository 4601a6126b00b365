"""The advice of a plan on what would help most: its numbers equal a search by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.planning.what_if import Option, hint_of
from epsilons.results.release.verdict import WORTH
from tests.planning.test_sides import DEMO, rmse

FINITE = {0.05: 568, 0.2: 1012, 0.5: 1185, 1.0: 772, 2.0: 420}


def searched(people: dict[float, int], error: Callable[[dict[float, int], float], float]) -> float:
    """Return the least error over a fine grid of caps."""
    caps = np.geomspace(min(people), max(people), 4000).tolist()
    return min(error(people, cap) for cap in caps)


def sampled(people: dict[float, int], cap: float, spread: float) -> float:
    """Return the typical error of a population's mean for independent values of this deviation."""
    total = sum(count * min(level, cap) for level, count in people.items())
    square = sum(count * min(level, cap) ** 2 for level, count in people.items())
    return math.sqrt(spread**2 * square + 2.0) / total


def named(plan: ep.Plan, write: str) -> Any:
    [found] = [each for each in plan.options if each.write == write]
    return found


def test_a_weaker_relation_is_bought_by_a_search_over_caps() -> None:
    plan = ep.plan(FINITE, bounds=(0, 120))
    now = searched(FINITE, lambda people, cap: rmse(people, cap, 1.0))
    then = searched(FINITE, lambda people, cap: rmse(people, cap, 0.05))
    little = named(plan, "related=0.05")
    assert little.error == pytest.approx(120.0 * then, rel=1e-4)
    assert little.times == pytest.approx(now / then, rel=1e-4)
    assert named(plan, "related=False").error == pytest.approx(
        ep.plan(FINITE, bounds=(0, 120), related=False).forecasts[0].rmse
    )


def test_a_guess_is_compared_on_the_data_that_it_is_right_of() -> None:
    plan = ep.plan(FINITE, bounds=(0, 120), about="population", related=False)
    caps = np.geomspace(0.05, 2.0, 4000).tolist()
    blind = min(caps, key=lambda cap: sampled(FINITE, cap, 0.5))
    then = min(sampled(FINITE, cap, 0.1) for cap in caps)
    guess = named(plan, "spread=0.1")
    assert guess.error == pytest.approx(120.0 * then, rel=1e-4)
    assert guess.times == pytest.approx(sampled(FINITE, blind, 0.1) / then, rel=1e-3)
    assert guess.times > 1.2


def test_the_strictest_are_asked_for_half_as_much_again() -> None:
    plan = ep.plan(FINITE)
    [more] = [each for each in plan.options if not each.write]
    now = searched(FINITE, lambda people, cap: rmse(people, cap, 1.0))
    other = {0.075: 568, 0.2: 1012, 0.5: 1185, 1.0: 772, 2.0: 420}
    then = searched(other, lambda people, cap: rmse(people, cap, 1.0))
    assert more.error == pytest.approx(then, rel=1e-3)
    assert more.times == pytest.approx(now / then, rel=1e-3)
    assert more.change == "ε = 0.075 in place of 0.05 for the 568 strictest people"


def test_the_strictest_are_a_hundredth_of_the_people_at_least() -> None:
    few = {0.01: 3, 0.02: 4, 0.05: 5, 0.5: 988}
    [more] = [each for each in ep.plan(few, related=False).options if not each.write]
    assert more.change == "budgets half as large again for the 12 strictest people (ε up to 0.05)"
    raised = ep.plan({0.015: 3, 0.03: 4, 0.075: 5, 0.5: 988}, related=False)
    assert more.error == pytest.approx(raised.forecasts[0].rmse)
    [all_] = [each for each in ep.plan({0.0: 5, 0.5: 20, math.inf: 1}).options if not each.write]
    assert all_.change == "ε = 0.75 in place of 0.5 for the 20 strictest people"
    [one] = [each for each in ep.plan({0.5: 20}).options if not each.write]
    assert one.change == "ε = 0.75 in place of 0.5 for everyone"
    [first] = [each for each in ep.plan({0.1: 1, 0.5: 20}).options if not each.write]
    assert first.change.endswith(" for the strictest person")


def test_these_people_in_place_of_a_population() -> None:
    plan = ep.plan(FINITE, about="population", related=0.2)
    found = named(plan, 'about="people"')
    assert found.error == pytest.approx(ep.plan(FINITE, related=0.2).forecasts[0].rmse)
    assert found.times == pytest.approx(plan.forecasts[0].rmse / found.error)


def writes(plan: ep.Plan) -> set[str]:
    return {each.write for each in plan.options}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ({}, {"related=0.05", "related=False", "spread=0.1", ""}),
        ({"related": 0.3}, {"related=0.05", "related=False", "spread=0.1", ""}),
        ({"related": 0.05}, {"related=False", "spread=0.1", ""}),
        ({"related": 0.01}, {"related=False", "spread=0.1", ""}),
        ({"related": False}, {"spread=0.1", ""}),
        ({"related": False, "spread": 0.2}, {""}),
        ({"related": False, "about": "population"}, {'about="people"', "spread=0.1", ""}),
        ({"statistic": "frequencies", "categories": 3}, {"related=0.05", "related=False", ""}),
    ],
)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_only_what_was_not_said_yet(said: Any, left: set[str], neighbours: str) -> None:
    assert writes(ep.plan({0.1: 300, 1.0: 200}, neighbours=neighbours, **said)) == left


@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_the_first_buys_most_and_the_sentence_says_so(loss: str) -> None:
    plan = ep.plan(DEMO, bounds=(0, 120), loss=loss)
    times = [each.times for each in plan.options]
    assert times == sorted(times, reverse=True)
    first = named(plan, "related=False")
    assert plan.options[0] == first
    error = "typical error" if loss == "mse" else "error at 95 %"
    assert plan.hint == (
        f"What would help most: related=False would make the {error} {first.times:.1f} × smaller, "
        "if you can defend that budgets are unrelated to values."
    )
    now = plan.sides[0].rmse if loss == "mse" else plan.sides[0].pac
    then = plan.sides[2].rmse if loss == "mse" else plan.sides[2].pac
    assert first.times == pytest.approx(now / then)


def test_frequencies_speak_of_people_and_not_of_a_range() -> None:
    plan = ep.plan({0.1: 300, 1.0: 200}, statistic="frequencies", categories=3)
    assert named(plan, "related=0.05").change == (
        "if you can defend that shares at different budgets differ by at most 5 % of all people"
    )
    quantile = ep.plan({0.1: 300, 1.0: 200}, statistic="quantile")
    assert named(quantile, "related=0.05").change == named(plan, "related=0.05").change


@pytest.mark.parametrize(
    "people",
    [
        {math.inf: 100},  # there is no error
        {0.01: 12, 1.0: 1000},  # more people with small budgets would gain 1 %
    ],
)
def test_where_nothing_buys_anything_it_says_so(people: dict[float, int]) -> None:
    plan = ep.plan(people, related=False, spread=0.02)
    assert plan.options == () or plan.options[0].times < WORTH
    assert plan.hint.startswith("What would help most: nothing much.")
    assert plan.hint.endswith("makes the typical error 1.1 × smaller.")
    assert plan.verdict.helps == ()


def test_what_buys_a_tenth_is_worth_a_sentence_and_what_buys_less_is_not() -> None:
    small, large = (Option("if so", "related=False", 1.0, times) for times in (1.09, 1.11))
    assert "nothing much" in hint_of([small], "mse", 0.95)
    assert hint_of([large], "pac", 0.95) == (
        "What would help most: related=False would make the error at 95 % 1.1 × smaller, if so."
    )


def test_an_error_that_would_vanish_is_zero_and_one_that_is_known_is_finite() -> None:
    for error, said in ((0.0, "zero"), (0.5, "finite")):
        hint = hint_of([Option("if so", "related=False", error, math.inf)], "mse", 0.95)
        assert f"would make the typical error {said}, if so." in hint


def test_the_sentence_stands_wherever_a_plan_is_shown() -> None:
    plan = ep.plan(DEMO, bounds=(0, 120))
    assert plan.hint in " ".join(str(plan).split())
    assert plan.hint in plan._repr_html_()
    data = plan.to_dict()
    assert data["hint"] == plan.hint
    assert data["options"] == [each._asdict() for each in plan.options]
