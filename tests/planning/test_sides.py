"""Plans compare three cases: budgets related to values in any way, a little, or not at all."""

from __future__ import annotations

import math
from typing import Any

import pytest

import epsilons as ep

DEMO = {0.05: 568, 0.2: 1012, 0.5: 1185, 1.0: 772, 2.0: 420, math.inf: 43}
LITTLE = 0.05


def rmse(people: dict[float, int], cap: float, related: float) -> float:
    """Return the typical error on the unit range for exactly these people, with capped budgets."""
    n = sum(people.values())
    total = sum(count * min(level, cap) for level, count in people.items())
    off = sum(count * abs(min(level, cap) / total - 1.0 / n) for level, count in people.items())
    return math.sqrt((related * off / 2.0) ** 2 + 2.0 / total**2)


def test_three_answers_stand_beside_one_another() -> None:
    plan = ep.plan(DEMO, bounds=(0, 120))
    assert [side.related for side in plan.sides] == [True, LITTLE, False]
    own = plan.sides[0]
    assert own.rmse == pytest.approx(plan[plan.best].rmse)
    assert own.pac == pytest.approx(plan[plan.best].pac)
    assert own.gain == pytest.approx(plan[plan.best].gain)
    # The weaker the relation, the higher the best cap, and the smaller the error.
    assert own.cap < plan.sides[1].cap < plan.sides[2].cap
    assert own.rmse > plan.sides[1].rmse > plan.sides[2].rmse
    assert own.pac > plan.sides[1].pac > plan.sides[2].pac


def test_a_little_related_is_worth_personal_budgets_for_the_demo() -> None:
    """If budgets may be related in any way, personal budgets gain nothing.

    With δ = 0.05 the gain is 1.41, as computed by hand.
    """
    anyway, little, _ = ep.plan(DEMO, bounds=(0, 120)).sides
    assert anyway.gain == pytest.approx(1.0, abs=0.01)
    assert little.gain >= 1.35
    strictest = rmse(DEMO, 0.05, LITTLE)
    best = min(rmse(DEMO, 0.05 * 1.001**step, LITTLE) for step in range(6000))
    assert little.rmse == pytest.approx(120.0 * best, rel=1e-4)
    assert little.gain == pytest.approx(strictest / best, rel=1e-4)
    assert little.rmse == pytest.approx(120.0 * rmse(DEMO, little.cap, LITTLE), rel=1e-9)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("about", ["people", "population"])
@pytest.mark.parametrize("related", [True, False, LITTLE, 0.3])
def test_each_side_is_the_plan_with_that_answer(
    related: bool | float, about: str, neighbours: str
) -> None:
    people = {0.1: 300, 0.5: 400, 2.0: 200}
    words: dict[str, Any] = {"about": about, "neighbours": neighbours, "bounds": (0, 10)}
    plan = ep.plan(people, related=related, **words)
    answers = [side.related for side in plan.sides]
    assert len(answers) == (4 if related == 0.3 else 3)
    assert answers.count(related) == 1
    assert set(answers) == {True, LITTLE, False, related}
    for side in plan.sides:
        other = ep.plan(people, related=side.related, **words)
        best = other[other.best]
        assert side.rmse == pytest.approx(best.rmse)
        assert side.pac == pytest.approx(best.pac)
        assert side.gain == pytest.approx(best.gain)
        assert side.cap == pytest.approx(max(row.spent for row in best.spent), rel=1e-9)


def test_frequencies_have_sides_too() -> None:
    asked: dict[str, Any] = {"statistic": "frequencies", "categories": 3, "loss": "pac"}
    plan = ep.plan({0.1: 300, 2.0: 200}, **asked)
    assert [side.related for side in plan.sides] == [True, LITTLE, False]
    for side in plan.sides:
        other = ep.plan({0.1: 300, 2.0: 200}, related=side.related, **asked)
        assert side.pac == pytest.approx(other[other.best].pac)
        assert side.pac == other.sides[answer_of(other, side.related)].pac


def answer_of(plan: ep.Plan, related: bool | float) -> int:
    return [side.related for side in plan.sides].index(related)


def test_sides_are_in_the_data_as_they_are() -> None:
    plan = ep.plan({0.1: 300, 2.0: 200}, related=0.3)
    data = plan.to_dict()
    assert data["sides"] == [side._asdict() for side in plan.sides]
    assert (data["about"], data["related"]) == ("people", 0.3)
