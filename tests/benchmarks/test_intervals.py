"""The table of intervals states the widths and coverage of the releases that it simulates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from benchmarks import intervals
from benchmarks.intervals import MENUS, ROWS, Measured, People, budgets, measure

RNG = np.random.default_rng(5)
VALUES = RNG.gamma(2.0, 8.0, 800)
SOME = People(
    VALUES,
    (0.0, 100.0),
    RNG.choice(["a", "b", "c"], len(VALUES)),
    VALUES + RNG.gamma(2.0, 8.0, len(VALUES)),
    (0.0, 200.0),
    np.ones(len(VALUES)),
)


@pytest.mark.parametrize("menu", MENUS)
def test_budgets_are_related_to_values_where_the_menu_says_so(menu: str) -> None:
    found = budgets(np.tile(VALUES, 10), menu, np.random.default_rng(1))
    assert set(found) <= set(intervals.LEVELS[menu])
    means = [np.tile(VALUES, 10)[found == level].mean() for level in np.unique(found)]
    assert (max(means) - min(means) > 10.0) == ("related" in menu.split())


def test_the_stated_distance_of_levels_is_true_of_values_and_groups() -> None:
    ranks = VALUES.argsort().argsort()
    people = replace(SOME, budgets=np.where(ranks < 400, 0.1, 1.0))
    exact = (VALUES[ranks >= 400].mean() - VALUES[ranks < 400].mean()) / 100.0
    assert exact <= people.apart <= exact + 0.01
    flat = replace(SOME, budgets=np.ones(len(VALUES)))
    assert flat.apart == 0.01


def test_widths_are_in_units_of_the_interval_of_a_gaussian_error() -> None:
    found = measure("mean", ("people", True), "gamma", SOME, "unrelated", 12)
    people = replace(SOME, budgets=budgets(VALUES, "unrelated", np.random.default_rng([13, 0])))
    given: dict[str, Any] = {"epsilon": people.budgets, "bounds": SOME.bounds}
    releases = [ep.mean(VALUES, **given, source=ep.Seeded(seed)) for seed in range(12)]
    errors = np.array([float(each.value) for each in releases]) - VALUES.mean()
    widths = [high - low for low, high in (each.interval() for each in releases)]
    assert found.wide[0] == pytest.approx(
        np.mean(widths) / (2 * 1.959964 * np.sqrt(np.mean(errors**2)))
    )


def test_too_low_a_coverage_is_noticed() -> None:
    def cell(held: float) -> Measured:
        return Measured("mean", ("people", True), "", "", np.ones(1), np.array([held]), 400)

    assert cell(0.91).holds
    assert not cell(0.90).holds
    assert "0.900" in intervals.table([cell(0.95), cell(0.90)])


@pytest.mark.parametrize("row", ROWS)
def test_every_row_can_be_measured(row: str) -> None:
    way = ROWS[row][1][0]
    found = measure(row, way, "gamma", SOME, "unrelated", 2)
    assert (found.wide > 0.0).all()
    assert found.held.shape == found.wide.shape
