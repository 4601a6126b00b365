"""Plans for a mean on an unknown range agree with releases, and with formulas by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import epsilons as ep
from epsilons.errors import ArgumentError, BudgetError
from tests.assumed import GAUSSIAN, SAMPLE
from tests.planning.test_sides import rmse

PEOPLE = {0.1: 1500, 0.5: 1000, 1.0: 500}
MANY = {0.1: 15000, 0.5: 10000, 1.0: 5000}


def everyone(people: dict[float, int]) -> NDArray[np.float64]:
    return np.repeat(np.array(list(people)), list(people.values()))


def published(
    values: NDArray[np.float64], people: dict[float, int], seed: int = 0, **said: Any
) -> ep.Release:
    if said.get("neighbours") == "add-remove":
        said["levels"] = people
    return ep.mean(values, epsilon=everyone(people), bounds=None, source=ep.Seeded(seed), **said)


def planned(people: dict[float, int], **said: Any) -> ep.RangePlan:
    return ep.plan(people, bounds=None, **said)


@pytest.mark.parametrize("people", [PEOPLE, MANY], ids=["thousands", "ten thousands"])
@pytest.mark.parametrize("close", [False, True])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("said", [{}, {"related": 0.2}, GAUSSIAN], ids=["any", "little", "normal"])
def test_people_spend_what_a_release_takes(
    said: dict[str, Any], neighbours: str, close: bool, people: dict[float, int]
) -> None:
    """Everyone's spending depends on budgets, and on how many rounds read the data."""
    plan = planned(people, neighbours=neighbours, **said)
    draws = np.random.default_rng(3).normal(size=sum(people.values()))
    values = 1e9 + draws if close else draws
    release = published(values, people, neighbours=neighbours, **said)
    foretold = plan.forecasts[close].spent
    # For Gaussian data the cap depends on the width of a bucket as well as on the deviation.
    near = 1e-3 if said == GAUSSIAN else 1e-12
    for row, level in zip(foretold, people, strict=True):
        assert row.on_range + row.on_mean == pytest.approx(release.spent(level), rel=near)
        assert row.on_range + row.on_mean + row.kept == pytest.approx(level, rel=1e-12)
        assert (row.epsilon, row.people) == (level, people[level])
    looks = len([part for part in release.mechanism.stages if part.kind == "selection"]) // 2
    # Octaves and the first two quantiles share a pass over the data. Octaves alone also need one.
    assert plan.forecasts[close].looks == max(looks, 1)


def test_an_octave_is_found_with_the_odds_that_are_said() -> None:
    """With a fraction q of all weight, an octave up to 10¹² has odds of e^(7 − q·Σr/2) against it.

    Here r is what each person spends on octaves. With the q that a plan states, this is e^−8.
    """
    for people in (PEOPLE, MANY, {0.02: 4000, 0.3: 900}):
        plan = planned(people)
        spent = sum(row.people * row.on_range for row in plan.forecasts[0].spent)
        assert plan.quantile == pytest.approx(2.0 * (7.0 + 8.0) / spent, rel=1e-3)
    assert planned(MANY).quantile < planned(PEOPLE).quantile  # type: ignore[operator]


@pytest.mark.parametrize("related", [True, 0.2])
def test_the_error_in_parts_of_the_range_is_that_of_its_weights(related: bool | float) -> None:
    for people in (PEOPLE, MANY, {0.02: 4000, 0.3: 900}):
        for forecast in planned(people, related=related).forecasts:
            weights = [(row.on_mean, row.people) for row in forecast.spent]
            n, total = sum(k for _, k in weights), sum(e * k for e, k in weights)
            off = sum(k * abs(e / total - 1.0 / n) for e, k in weights) / 2.0
            expected = math.hypot(float(related) * off, math.sqrt(2.0) / total)
            assert forecast.rmse == pytest.approx(expected, rel=1e-6)
            assert forecast.rmse < forecast.pac < 4.0 * forecast.rmse
            share = sum(row.people * row.on_range for row in forecast.spent)
            assert forecast.share == pytest.approx(share / (share + total))


def test_the_error_of_gaussian_data_is_that_of_sample_and_noise() -> None:
    for people in (PEOPLE, MANY):
        plan = planned(people, **GAUSSIAN)
        [first, _] = plan.forecasts
        total = sum(row.people * row.on_mean for row in first.spent)
        square = sum(row.people * row.on_mean**2 for row in first.spent)
        assert plan.width is not None
        expected = math.sqrt(square + 2.0 * plan.width**2) / total
        assert first.rmse == pytest.approx(expected, rel=1e-3)
        # The width is from 6 σ to 12 σ. Radii are rounded up by at most a quarter of an octave.
        assert 6.0 < plan.width < 12.0 * 2.0**0.25
        assert plan.failure is not None
        assert plan.failure < 0.01


def test_half_of_an_interval_is_foretold() -> None:
    plan = planned(MANY, **GAUSSIAN)
    values = np.random.default_rng(8).normal(40.0, 3.0, sum(MANY.values()))
    halves = []
    for seed in range(20):
        low, high = published(values, MANY, seed, **GAUSSIAN).interval()
        halves.append((high - low) / 2.0 / 3.0)
    assert 0.7 * plan.forecasts[0].pac < np.median(halves) < plan.forecasts[0].pac


@pytest.mark.parametrize("said", [{}, GAUSSIAN], ids=["any", "normal"])
def test_too_few_people_are_refused_and_the_plan_says_how_many_would_do(said: Any) -> None:
    few = {0.1: 60, 0.5: 40, 1.0: 20} if not said else {0.1: 30, 0.5: 20, 1.0: 10}
    plan = planned(few, **said)
    assert not plan.enough
    assert plan.people_needed is not None
    values = np.random.default_rng(1).normal(size=sum(few.values()))
    with pytest.raises(BudgetError, match=f"About {plan.people_needed} people"):
        published(values, few, **said)
    times = plan.people_needed / sum(few.values())
    enough = {level: math.ceil(times * count) for level, count in few.items()}
    assert planned(enough, **said).enough
    less = {level: math.floor(0.85 * times * count) for level, count in few.items()}
    assert not planned(less, **said).enough
    assert sum(row.people for row in plan.forecasts[0].spent) == sum(enough.values())
    assert "would be refused" in plan.advice
    assert "bounds=(lo, hi)" in plan.hint
    assert plan.options == ()
    private = planned(few, neighbours="add-remove", **said)
    assert private.people_needed is not None
    assert "would be a guess" in private.advice


def test_budgets_that_no_number_of_people_makes_up_for() -> None:
    for said in ({}, GAUSSIAN):
        with pytest.raises(BudgetError, match="too small for any number of people"):
            planned({1e-18: 200}, **said)


def test_what_would_buy_most_beside_other_plans() -> None:
    plan = planned(PEOPLE)
    options = {each.write: each for each in plan.options}
    assert set(options) == {"bounds=(lo, hi)", "related=0.05", ""}
    now = plan.forecasts[0].rmse
    caps = np.geomspace(0.1, 1.0, 4000).tolist()
    known = min(rmse(PEOPLE, cap, 1.0) for cap in caps)
    assert options["bounds=(lo, hi)"].times == pytest.approx(now / known, rel=1e-4)
    little = planned(PEOPLE, related=0.05).forecasts[0].rmse
    assert options["related=0.05"].times == pytest.approx(now / little)
    more = planned({0.15: 1500, 0.5: 1000, 1.0: 500}).forecasts[0].rmse
    assert options[""].times == pytest.approx(now / more)
    population = planned(PEOPLE, about="population")
    assert {each.write for each in population.options} == {
        "bounds=(lo, hi)",
        'about="people"',
        "",
    }
    [known_range] = [each for each in planned(MANY, **GAUSSIAN).options if each.write]
    assert known_range.write == "bounds=(lo, hi)"
    assert known_range.times > 1.0


def test_public_people_and_people_at_zero() -> None:
    plan = planned({0.0: 10, 0.1: 1500, 0.5: 1000, math.inf: 5})
    zero, *_, public = plan.forecasts[0].spent
    assert (zero.on_range, zero.on_mean, zero.kept) == (0.0, 0.0, 0.0)
    assert public.kept == math.inf
    assert 0.0 < plan.forecasts[0].share < 1.0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"spread": 0.1}, "spread is a fraction of the range"),
        ({"related": False}, "needs bounds"),
        ({"shape": "gaussian"}, "Gaussian population"),
        ({"shape": "gaussian", "loss": "pac"} | SAMPLE, "loss"),
        ({"about": "population", "neighbours": "add-remove"}, "under add-remove"),
        ({"cap": 0.3}, "cap is for"),
        ({"dimension": 3}, 'dimension is for model="local"'),
        ({"shape": "round"}, "shape"),
    ],
)
def test_what_is_not_proven_is_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        planned(PEOPLE, **said)


def test_a_shape_needs_an_unknown_range() -> None:
    with pytest.raises(ArgumentError, match="shape='gaussian' is for bounds=None"):
        ep.plan(PEOPLE, **{"shape": "gaussian"} | SAMPLE)


def test_it_is_shown_in_every_form() -> None:
    for said in ({}, GAUSSIAN, {"neighbours": "add-remove"}):
        plan = planned(PEOPLE, **said)
        shown = " ".join(plan.details().split())
        for words in (plan.advice, plan.hint, "on the range", "close together, far from 0"):
            assert words in shown
            assert words in plan._repr_html_().replace("&#x27;", "'")
        data = plan.to_dict()
        assert data["kind"] == "range plan"
        assert data["hint"] == plan.hint
        assert data["forecasts"][0]["rmse"] == plan.forecasts[0].rmse
    few = planned({0.1: 60, 0.5: 40, 1.0: 20})
    assert f"for {few.people_needed:,} people, the number that is needed" in " ".join(
        few.details().split()
    )
