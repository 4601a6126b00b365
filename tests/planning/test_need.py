"""The number of people that is needed for a wanted half-width."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.planning.what_if import Need, in_proportion

PEOPLE = {0.01: 10, 0.1: 500, 1.0: 490}
LOCAL: dict[str, Any] = {"model": "local", "about": "population", "related": False}
ASKED: dict[str, dict[str, Any]] = {
    "mean": {"bounds": (0, 24)},
    "private": {"bounds": (0, 24), "neighbours": "add-remove", "related": 0.05},
    "population": {"bounds": (0, 24), "about": "population", "related": False},
    "shares": {"statistic": "frequencies", "categories": 5},
    "reports": {"bounds": (0, 24), **LOCAL},
    "reported shares": {"statistic": "frequencies", "categories": 5, **LOCAL},
    "vectors": {"dimension": 4, **LOCAL},
}


def half(people: dict[float, int], asked: dict[str, Any]) -> float:
    return float(ep.plan(people, **asked).verdict.each[0].half)


def test_people_are_scaled_in_proportion() -> None:
    counts = np.array([10, 500, 490])
    assert in_proportion(counts, 2000).tolist() == [20, 1000, 980]
    assert in_proportion(counts, 1000).tolist() == [10, 500, 490]
    assert in_proportion(counts, 30).tolist() == [1, 15, 14]
    ones = np.ones(300, dtype=np.int64)
    assert in_proportion(ones, 450).sum() == 450
    assert set(in_proportion(ones, 450).tolist()) == {1, 2}
    assert in_proportion(np.array([2**32, 2**32]), 2**33).tolist() == [2**32, 2**32]


def test_a_plan_with_a_goal_shows_how_many_people_it_takes() -> None:
    plan = ep.plan(PEOPLE, bounds=(0, 24), goal=0.5)
    assert plan.wanted == 0.5
    assert plan.needed == plan.need(0.5)
    text = str(plan)
    assert "people for ±0.5 at 95 %" in text
    mix = plan.needed[0].people
    assert mix is not None
    assert f"  like these, in this mix    {1000 + mix:,}" in text
    assert "optimal *" in plan.details()
    assert f"{mix:,} more" in text
    data = json.loads(plan.to_json())
    assert data["wanted"] == 0.5
    assert data["needed"] == [each._asdict() for each in plan.needed]
    assert "in this mix" not in ep.plan(PEOPLE).details()
    assert ep.plan(PEOPLE).needed == ()


def test_a_goal_that_is_reached_says_how_few_are_enough() -> None:
    plan = ep.plan(PEOPLE, bounds=(0, 24), goal=2)
    mix = plan.needed[0].people
    assert mix is not None
    assert f"{-mix:,} fewer" in str(plan)
    assert "alone" not in str(plan)


def test_what_no_number_of_people_reaches_is_said() -> None:
    """If no number of people reaches the wanted half-width, the plan says so.

    The noise of a count depends on the lowest level, and not on the number of people.
    """
    plan = ep.plan({0.1: 500, 1.0: 9}, statistic="count", neighbours="add-remove", goal=10)
    assert plan.needed == (Need(None, None), Need(0.1, None), Need(1.0, None))
    rows = [line.split("  ") for line in str(plan).splitlines() if "no number is enough" in line]
    assert [row[1] for row in rows] == [
        "like these, in this mix", "more at ε = 0.1 alone", "more at ε = 1 alone",
    ]  # fmt: skip


def test_a_few_of_many_levels_are_shown() -> None:
    many = np.exp(np.random.default_rng(6).uniform(-3.0, 1.0, 600))
    plan = ep.plan(many, goal=0.01)
    assert len(plan.needed) == 5


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"goal": 0}, "goal must be a half-width, a number above 0 in data units"),
        ({"goal": True}, "goal must be"),
        ({"goal": "2"}, "goal must be"),
        ({"goal": 2, "statistic": "frequencies", "categories": 3}, "as a share: 0.02"),
        ({"goal": 2, "bounds": None}, "goal needs bounds"),
        ({"goal": 2, "groups": 3}, "goal is not for groups"),
    ],
)
def test_goals_that_are_refused(asked: Any, why: str) -> None:
    with pytest.raises(ep.errors.ArgumentError, match=why):
        ep.plan(PEOPLE, **asked)


def test_several_questions_have_targets() -> None:
    asked: dict[str, Any] = {"goal": 2}
    with pytest.raises(ep.errors.ArgumentError, match="targets="):
        ep.plan([ep.Mean("x", bounds=(0, 1))], epsilon=PEOPLE, **asked)


def shell(*words: str) -> Any:
    return CliRunner().invoke(cli, ["plan", *words])
