"""Plans also forecast errors for other budgets, and say how many more people are needed."""

from __future__ import annotations

import math
from typing import Any

import pytest

import epsilons as ep
from epsilons.budgets.levels import Budgets
from epsilons.planning.what_if import need, sensitivity

PEOPLE = {0.01: 10, 0.1: 500, 1.0: 490}


def test_gains_compare_with_the_rules_of_that_name() -> None:
    plan = ep.plan(PEOPLE, bounds=(0, 24))
    best = plan[plan.best].rmse
    assert plan.gains["threshold"] == pytest.approx(plan["threshold"].rmse / best)
    assert plan.gains["uniform"] == pytest.approx(plan["uniform"].rmse / best)
    assert plan.gains["threshold"] >= 1.0
    assert plan.gains["uniform"] == pytest.approx(plan[plan.best].gain)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("statistic", ["mean", "frequencies"])
def test_sensitivity_is_what_a_plan_for_those_people_says(neighbours: str, statistic: str) -> None:
    kind: dict[str, Any] = {
        "statistic": statistic,
        "categories": None if statistic == "mean" else 4,
    }
    plan = ep.plan({0.1: 500, 1.0: 500}, neighbours=neighbours, **kind)
    by_words = {change.change: change for change in plan.sensitivity}
    other = ep.plan({0.1: 550, 1.0: 450}, neighbours=neighbours, **kind)
    found = by_words["10 % of the people go to ε = 0.1"]
    assert found.error == pytest.approx(other[other.best].rmse)
    assert found.ratio == pytest.approx(other[other.best].rmse / plan[plan.best].rmse)
    raised = ep.plan({0.15: 500, 1.0: 500}, neighbours=neighbours, **kind)
    found = by_words["ε = 0.1 were 0.15 instead"]
    assert found.error == pytest.approx(raised[raised.best].rmse)


def test_more_people_help_and_fewer_do_not() -> None:
    changes = ep.plan(PEOPLE).sensitivity
    assert changes[0].ratio < 1.0 < changes[1].ratio


def test_levels_that_meet_are_merged() -> None:
    """If a raised budget is already a level, the two are merged: ε = 2 raised by a half is 3."""
    changes = sensitivity(Budgets({2.0: 5, 3.0: 5}), lambda people: float(len(people)))
    assert {change.change: change.error for change in changes}["ε = 2 were 3 instead"] == 1.0


@pytest.mark.parametrize("loss", ["rmse", "pac"])
def test_need_is_the_first_number_that_reaches_the_error(loss: str) -> None:
    plan = ep.plan({0.1: 50, 1.0: 40}, loss="mse" if loss == "rmse" else "pac")
    now = plan[plan.best].rmse if loss == "rmse" else plan[plan.best].pac
    wanted = 0.6 * now
    asked: dict[str, Any] = {loss: wanted}
    _, *alone = plan.need(**asked)
    for level, people in alone:
        assert people is not None
        assert level is not None
        for more, reached in ((people, True), (people * 99 // 100 - 1, False)):
            counts = {0.1: 50, 1.0: 40}
            counts[level] += more
            then = ep.plan(counts, loss="mse" if loss == "rmse" else "pac")
            error = then[then.best].rmse if loss == "rmse" else then[then.best].pac
            assert (error <= wanted) == reached


def test_nobody_is_needed_where_the_error_is_reached() -> None:
    mix, *alone = ep.plan(PEOPLE).need(rmse=0.1)
    assert all(people == 0 for _, people in alone)
    assert mix.people is not None
    assert mix.people < 0


def test_what_no_number_reaches() -> None:
    """If no number of people reaches the wanted error, such as 10⁻¹², the number is None."""
    assert need(Budgets({1.0: 5}), lambda people: 1.0, 0.5) == ((None, None), (1.0, None))
    public = ep.plan({1.0: 5, math.inf: 2}, about="people", related=True).need(rmse=1e-12)
    assert all(people is None for _, people in public)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"rmse": 1.0, "pac": 1.0},
        {"goal": 1.0, "pac": 1.0},
        {"rmse": 0.0},
        {"rmse": -1.0},
        {"pac": math.nan},
        {"rmse": math.inf},
        {"rmse": True},
    ],
)
def test_a_wanted_error_is_one_number_above_0(given: dict[str, Any]) -> None:
    with pytest.raises(ep.errors.ArgumentError, match="need takes one wanted error"):
        ep.plan(PEOPLE).need(**given)


def test_the_plan_as_data_has_it_all() -> None:
    data = ep.plan(PEOPLE).to_dict()
    assert data["levels"] == [{"epsilon": k, "people": v} for k, v in PEOPLE.items()]
    assert set(data["gains"]) == {"threshold", "uniform"}
    assert all(set(row) == {"change", "error", "ratio"} for row in data["sensitivity"])
