"""Tasks 14 and 15: how many people it takes, and which menu of ε to offer, before any data."""

from __future__ import annotations

import epsilons as ep
from tests.tasks.people import shell

PEOPLE = ep.Budgets({0.1: 100, 1.0: 400})
MENUS = {"gentle": {0.1: 0.5, 1.0: 0.5}, "single": {0.5: 1.0}}


def test_14_how_many_people_for_two_points() -> None:
    plan = ep.plan(PEOPLE, statistic="frequencies", categories=4, goal=0.02)
    [more, *_] = plan.need(0.02)
    assert more.epsilon is None
    assert more.people is not None
    times = 1 + more.people / PEOPLE.n
    larger = ep.Budgets({0.1: round(100 * times), 1.0: round(400 * times)})
    again = ep.plan(larger, statistic="frequencies", categories=4)
    assert again.verdict.words[0].startswith("Precise to ±2 percentage points")
    assert again.need(0.02)[0].people == 0
    told = shell("plan", "0.1:100", "1:400", "--categories", "4", "--goal", "2%")
    assert "people" in told
    assert "2 " in told


def test_15_which_menu_to_offer() -> None:
    compared = ep.compare_menus(MENUS, people=2000, bounds=(0, 100))
    assert set(compared.to_frame()["name"]) == set(MENUS)
    assert compared.best in MENUS
    told = shell(
        "plan", "--compare-menus", "0.1:50%,1:50%", "0.5:100%", "--people", "2000", "--bounds",
        "0", "100",
    )  # fmt: skip
    assert "menu" in told
