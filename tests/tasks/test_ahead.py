"""Tasks 14 and 15: how many people it takes, and which menu of ε to offer, before any data."""

from __future__ import annotations

import epsilons as ep
from tests.tasks.people import shell

PEOPLE = ep.Budgets({0.1: 100, 1.0: 400})
MENUS = {"gentle": {0.1: 0.5, 1.0: 0.5}, "single": {0.5: 1.0}}


def test_15_which_menu_to_offer() -> None:
    compared = ep.compare_menus(MENUS, people=2000, bounds=(0, 100))
    assert set(compared.to_frame()["name"]) == set(MENUS)
    assert compared.best in MENUS
    told = shell(
        "plan", "--compare-menus", "0.1:50%,1:50%", "0.5:100%", "--people", "2000", "--bounds",
        "0", "100",
    )  # fmt: skip
    assert "menu" in told
