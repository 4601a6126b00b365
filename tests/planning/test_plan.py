"""`ep.plan` has the same figures as `ep.allocate`, in a table with advice."""

from __future__ import annotations

import html
import math
from dataclasses import asdict

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import RULES
from epsilons.errors import BudgetError
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED
from tests.profiles import ADVERSARIAL, ORDINARY
from tests.report.forms import undrawn_page

BUDGETS = ep.Budgets({0.1: 500, 1.0: 200})


def test_every_method_is_forecast_with_the_risk_of_its_allocation() -> None:
    plan = ep.plan(BUDGETS, bounds=(0, 50))
    assert {forecast.method for forecast in plan.forecasts} == set(RULES)
    for forecast in plan.forecasts:
        unit = ep.allocate(BUDGETS, method=forecast.method)
        assert forecast.rmse == pytest.approx(50 * math.sqrt(unit.risk))
        pac = ep.allocate(BUDGETS, method=forecast.method, loss="pac")
        # The spending of these four methods depends on the loss.
        if forecast.method not in ("optimal", "minimax", "threshold", "staircase"):
            assert forecast.pac == pytest.approx(50 * pac.risk)
        assert [row.spent for row in forecast.spent] == unit.spent.tolist()


def test_the_gain_is_over_everyone_at_the_strictest() -> None:
    plan = ep.plan(BUDGETS)
    assert plan["uniform"].gain == 1.0
    assert plan["optimal"].gain == pytest.approx(plan["uniform"].rmse / plan["optimal"].rmse)
    with pytest.raises(ep.errors.ArgumentError, match="optimal"):
        plan["optimum"]


def test_the_advice_is_one_sentence_that_names_the_method_and_the_cap() -> None:
    plan = ep.plan(BUDGETS, about="population", related=False)
    assert plan.advice.startswith("Use method 'optimal'")
    assert plan.advice.endswith(".")
    assert "ε = 0.26" in plan.advice
    assert "all of their budget" in ep.plan(ep.Budgets({1.0: 50})).advice
    assert "public records alone" in ep.plan(ADVERSARIAL["zero and public"]).advice


def test_a_method_that_looks_better_and_is_not_advised_is_explained() -> None:
    plan = ep.plan(ep.Budgets({0.1: 500, 1.0: 200}))
    assert plan.best == "optimal"
    assert plan["minimax"].rmse < plan["optimal"].rmse
    why = "it is biased for data far from the middle"
    said = "The error of 'minimax' is smaller, but it is not advised: "
    assert plan.aside.count(said) == plan.aside.count(why) == 1
    for form in (plan.details(), plan._repr_html_(), undrawn_page(plan)):
        assert plan.aside in " ".join(html.unescape(form).split())
    many = ep.plan(ep.Budgets({0.1: 500_000, 1.0: 200_000}))
    assert many["minimax"].rmse == pytest.approx(many["optimal"].rmse, rel=1e-5)
    shares = ep.plan(ep.Budgets({0.1: 500}), statistic="frequencies", categories=3)
    for each in (many, shares):
        assert each.aside == ""


def test_it_is_explained_for_the_error_that_is_made_small() -> None:
    budgets = ep.Budgets({0.1: 500, 1.0: 200})
    plan = ep.plan(budgets, about="population", related=False, loss="pac")
    better = plan["minimax"].pac < plan["optimal"].pac
    assert ("'minimax'" in plan.aside) is better
    assert (plan["minimax"].rmse < plan["optimal"].rmse) is not better


def test_budgets_that_count_as_nothing_are_refused_as_in_a_release() -> None:
    with pytest.raises(BudgetError, match="epsilon is 0 for everyone"):
        ep.plan(ADVERSARIAL["subnormal"])


def test_the_curve_is_lowest_at_the_optimal_cap() -> None:
    for assumption in (SAMPLE, UNRELATED, RELATED):
        data = ep.plan(ORDINARY["log-uniform"], **asdict(assumption)).to_dict()
        cap = np.array(data["curve"]["cap"])
        error = np.array(data["curve"]["error"])
        best = ep.allocate(ORDINARY["log-uniform"], **asdict(assumption))
        assert best.cap is not None
        assert error.min() >= math.sqrt(best.risk) * (1 - 1e-12)
        nearest = cap[np.argmin(error)]
        assert min(best.cap, cap[-1]) == pytest.approx(nearest, rel=0.15)


@pytest.mark.parametrize(
    "changes",
    [
        {"about": "x"},
        {"related": "x"},
        {"related": 1.5},
        {"loss": "x"},
        {"confidence": 2.0},
        {"bounds": (1, 0)},
        {"neighbours": "x"},
        {"statistic": "x"},
        {"categories": ["a"]},
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ep.errors.ArgumentError):
        ep.plan(BUDGETS, **changes)  # type: ignore[call-overload]
