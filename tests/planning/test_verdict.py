"""The verdict of a plan comes first, and has the same words as the verdict of a release."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.planning.central import Plan
from epsilons.results.report.sheet import Note
from tests.report.page_samples import NAMES, shown

PLANS = [name for name in NAMES if "plan" in name]
HEADS = (
    "method", "values", "share of the people", "question", "menu", "error if so many are strict",
)  # fmt: skip
"""The first cells of the header rows of tables."""

N = 4_000
VALUES = np.random.default_rng(1).gamma(3.0, 12.0, N).clip(0.0, 120.0)
FARTHEST = np.where(np.arange(N) % 2 == 0, 0.0, 120.0)
"""Values with the largest standard deviation that the range allows."""


def budgets(strict: int) -> Any:
    place = np.arange(N)
    return np.where(place < strict, 0.05, np.where(place < 3_000, 0.5, 2.0))


@pytest.mark.parametrize("strict", [1, 13, 90, 2_000])
@pytest.mark.parametrize("related", [True, 0.05])
@pytest.mark.parametrize("about", ["people", "population"])
def test_a_plan_and_its_release_say_the_same(
    strict: int, related: bool | float, about: Any
) -> None:
    """Plan and release agree if the interval is exact and its length does not depend on the data.

    The interval for a population uses the spread that was released. The plan holds for any data, so
    it agrees with a release of values with the largest spread.
    """
    asked: dict[str, Any] = {"bounds": (0, 120), "related": related, "about": about}
    values = VALUES if about == "people" else FARTHEST
    release = ep.mean(values, epsilon=budgets(strict), source=ep.Seeded(7), **asked)
    plan = ep.plan(budgets(strict), **asked)
    assert plan.verdict.words[:2] == release.verdict.words[:2]
    assert plan.verdict.worth == release.verdict.worth
    gain, same = plan.verdict.gain, release.verdict.gain
    assert gain is not None
    assert same is not None
    assert gain == pytest.approx(same, rel=1e-6)


@pytest.mark.parametrize("related", [True, 0.05])
def test_a_plan_for_a_population_is_kept_by_values_that_differ_less(related: bool | float) -> None:
    asked: dict[str, Any] = {"bounds": (0, 120), "related": related, "about": "population"}
    low, high = ep.mean(VALUES, epsilon=budgets(13), source=ep.Seeded(7), **asked).interval()
    planned = ep.plan(budgets(13), **asked).trial.found.reach
    assert (high - low) / 2.0 < 0.8 * planned


def test_public_and_silent_people_are_not_left_out_by_mistake() -> None:
    there = np.where(np.arange(N) < 90, 0.05, np.where(np.arange(N) < 3_000, 0.5, 2.0))
    there[:10], there[-3:] = 0.0, math.inf
    release = ep.mean(VALUES, epsilon=there, bounds=(0, 120), source=ep.Seeded(7))
    plan = ep.plan(there, bounds=(0, 120))
    assert plan.verdict.words[:2] == release.verdict.words[:2]


@pytest.mark.parametrize("statistic", ["variance", "quantile"])
def test_the_best_single_budget_of_any_statistic_leaves_stricter_people_out(statistic: Any) -> None:
    plan = ep.plan({0.01: 10, 0.1: 500, 1.0: 490}, statistic=statistic)
    gain = plan.verdict.gain
    assert gain is not None
    assert (gain.strictest, gain.left_out) == (0.01, 10)
    assert gain.single == pytest.approx(0.1, rel=0.01)
    assert gain.over_single == plan.gains["threshold"]


def test_reports_are_compared_with_a_single_budget() -> None:
    people = {0.1: 300, 0.5: 2_000, 1.0: 1_000}
    asked: dict[str, Any] = {"model": "local", "about": "population", "related": False}
    plan = ep.plan(people, **asked)
    gain = plan.verdict.gain
    assert gain is not None
    assert gain.over_strictest == plan.forecasts[0].gain
    alone = {0.1: 3_300, 0.5: 3_000, 1.0: 1_000}
    errors = [ep.plan({level: n}, **asked)[plan.best].rmse for level, n in alone.items()]
    assert gain.single == list(alone)[int(np.argmin(errors))]
    assert gain.over_single == pytest.approx(min(errors) / plan.forecasts[0].rmse)
    assert gain.left_out == people[0.1] * (gain.single > 0.1) + people[0.5] * (gain.single > 0.5)


def test_nothing_is_gained_where_all_budgets_are_alike() -> None:
    assert ep.plan({1.0: 100}).verdict.gain is None
    asked: dict[str, Any] = {"model": "local", "about": "population", "related": False}
    assert ep.plan({1.0: 100}, **asked).verdict.gain is None
    assert ep.plan({1.0: 100, math.inf: 50}, about="people").verdict.gain is not None
    assert ep.plan({math.inf: 50}).verdict.gain is None


def test_an_interval_of_private_people_is_no_leading_term() -> None:
    """The verdict of a release depends on its actual interval, not on the leading term."""
    # Equal weights would not help: with either design, the interval is the whole range.
    people = {0.001: 10, 0.1: 500, 1.0: 490}
    plan = ep.plan(people, bounds=(0, 24), neighbours="add-remove")
    assert plan[plan.best].pac < 1.0
    assert plan.verdict.worth == "useless"
    release = ep.mean(
        np.full(1000, 12.0),
        epsilon=np.repeat(list(people), list(people.values())),
        bounds=(0, 24),
        neighbours="add-remove",
        levels=ep.Budgets(people),
        source=ep.Seeded(1),
    )
    assert release.verdict.worth == "useless"


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_has_one_and_says_it_once(name: str) -> None:
    plan = shown()[name]
    said = [part.words for part in plan.sheet().blocks[0] if isinstance(part, Note)]
    assert said == list(plan.verdict.words)
    assert [part.words for part in plan.sheet().of("verdict")] == said
    assert plan.verdict.each
    data = json.loads(plan.to_json())["verdict"]
    assert data["words"] == said
    assert data["worth"] in ("precise", "rough", "useless")
    text = " ".join(str(plan).split())
    for each in plan.verdict.words:
        assert text.count(each) == 1, each
    for former in ("gain little", "Compared with", "times smaller than with everyone at"):
        assert former not in text.replace("is how many times smaller the typical error is", "")


@pytest.mark.parametrize("name", PLANS)
def test_what_is_printed_of_a_plan_is_short(name: str) -> None:
    """A plan prints at most twelve rows of tables and fourteen other lines, including headers."""
    plan = shown()[name]
    lines = str(plan).splitlines()
    tabled = [line for line in lines if "   " in line.strip()]
    heads = [line for line in tabled if line.split("   ")[0].strip() in HEADS]
    assert 1 <= len(heads) <= 2
    assert len(tabled) - len(heads) <= 12
    assert len(lines) - len(tabled) + len(heads) <= 14
    assumed = {part.words for part in plan.sheet().of("assumed")}
    assert all(f"Assumed: {each}" in " ".join(" ".join(lines).split()) for each in assumed)
    assert assumed
    assert lines[-1] == "More: details(), report(path), to_frame(), to_json()."
    assert len(plan.details()) > len(str(plan))


def test_the_help_of_a_plan_is_what_its_options_say() -> None:
    plan = ep.plan({0.1: 300, 1.0: 200}, bounds=(0, 24))
    [first, *_] = plan.verdict.helps
    assert first == plan.options[0].help
    assert plan.verdict.words[-1] == plan.hint


def test_too_few_people_are_the_verdict_on_a_range() -> None:
    plan = ep.plan({0.1: 75, 0.5: 50, 1.0: 25}, bounds=None)
    assert plan.verdict.words == (plan.advice, plan.hint)
    assert plan.verdict.worth == "useless"
    assert "What would help: bounds=(lo, hi)" in plan.hint
    assert str(plan).count("Do not ask yet") == 1


def test_what_would_be_refused_is_no_option_on_a_range() -> None:
    """These people are enough, but too few if budgets are assumed to be less related to values."""
    people = {0.1: 150, 0.5: 100, 1.0: 50}
    assert not ep.plan(people, bounds=None, related=0.05).enough
    plan = ep.plan(people, bounds=None)
    assert plan.enough
    assert {option.write for option in plan.options} == {"bounds=(lo, hi)", ""}
    assert plan.verdict.words[-1] == plan.hint


def test_groups_are_judged_as_if_they_were_equally_large() -> None:
    plan = ep.plan({0.5: 4_000, 1.0: 4_000}, bounds=(0, 24), groups=4)
    assert len(plan.verdict.each) == 4
    assert {each.half for each in plan.verdict.each} == {plan.forecasts[0].half_width}
    assert plan.verdict.words[0].endswith("in all 4 groups, if they are equally large.")


def test_a_count_has_a_plan() -> None:
    plan = ep.plan({0.1: 500, 1.0: 200}, statistic="count", neighbours="add-remove")
    assert isinstance(plan, Plan)
    assert plan.forecasts[0].rmse == pytest.approx(math.sqrt(2.0) / 0.1, rel=0.01)
    assert plan.verdict.words[0].startswith("Precise to ±30 (4.3 % of the number)")
    assert plan.verdict.helps[0].words.startswith("ε = 0.15 in place of 0.1")


def test_units_of_questions_are_in_the_verdict() -> None:
    mean = ep.Mean("x", bounds=(0, 24), unit="hours")
    shares = ep.Frequencies("y", categories=["a", "b"])
    plans = ep.plan([mean, shares], epsilon={0.1: 500, 1.0: 490})
    first, second = plans.verdict.words
    assert first.startswith(("Mean of x: Rough, ±", "Mean of x: Precise to ±"))
    assert " hours (" in first
    assert second.startswith("Frequencies of y: ")
    halves = [each.half for each in plans.verdict.each]
    assert halves == pytest.approx([plans[0].half_width, *2 * [plans[1].half_width]])
