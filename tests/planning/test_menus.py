"""Plans for several menus of budgets that people could be offered, side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.results.report.sheet import Curve, Figure, SheetTable

MENUS = {"A": {0.1: 0.1, 1.0: 0.9}, "B": {0.5: 1.0}, "C": {0.1: 0.2, 0.5: 0.3, 1.0: 0.5}}


def compared(**more: Any) -> ep.MenusPlan:
    return ep.compare_menus(MENUS, people=4_000, **{"bounds": (0, 24)} | more)


def test_what_strict_people_cost_is_a_plan_for_each_share() -> None:
    found = compared(related=False)
    assert list(found.costs) == ["A"]
    cost = found.costs["A"]
    assert (cost.strict, cost.generous) == (0.1, 1.0)
    assert (cost.shares[0], cost.shares[-1]) == (0.0, 0.5)
    assert list(cost.errors) == sorted(cost.errors)
    for share, people in (
        (0.0, {1.0: 4000}),
        (0.05, {0.1: 200, 1.0: 3800}),
        (0.5, {0.1: 2000, 1.0: 2000}),
    ):
        plan = ep.plan(people, bounds=(0, 24), related=False)
        error = cost.errors[cost.shares.index(share)]
        assert error == pytest.approx(plan[plan.best].rmse)
    tenth = cost.errors[cost.shares.index(0.1)]
    assert tenth == pytest.approx(found.forecasts[0].rmse)


def test_it_says_which_is_best_and_draws_what_strict_people_cost() -> None:
    found = compared()
    first, precise = found.verdict.words
    assert first.startswith(f'The error is smallest with "{found.best}": ')
    assert precise == found.plans[found.best].verdict.words[0]
    sheet = found.sheet()
    menus, costs = sheet.all(SheetTable)
    assert [row[0] for row in menus.rows] == ["A", "B", "C"]
    assert menus.marked == ["A", "B", "C"].index(found.best)
    assert menus.rows[0][3] == found.plans["A"].verdict.worth
    assert costs.heads == ("error if so many are strict", "A")
    assert [row[0] for row in costs.rows] == ["0 %", "1 %", "5 %", "10 %", "25 %", "50 %"]
    [curve] = [each.drawing for each in sheet.all(Figure) if isinstance(each.drawing, Curve)]
    assert curve.points[0] == (0.0, found.costs["A"].errors[0])
    assert found.plot().to_dict()["vconcat"]
    data = json.loads(found.to_json())
    assert data["kind"] == "menus plan"
    assert data["best"] == found.best
    assert data["menus"]["A"] == [
        {"epsilon": 0.1, "people": 400}, {"epsilon": 1.0, "people": 3600},
    ]  # fmt: skip
    assert found.to_frame()["menu"].to_list() == ["A", "B", "C"]
    assert repr(found) == "<MenusPlan: 3 menus for 4,000 people, A; B; C>"


def test_menus_without_names_are_named_as_on_the_command_line() -> None:
    found = ep.compare_menus([{0.1: 0.1, 1.0: 0.9}, {0.5: 1}, {0.5: 1}], people=100)
    assert list(found.plans) == ["0.1:10%,1:90%", "0.5:100%", "0.5:100% (2)"]


def test_of_many_menus_some_are_printed() -> None:
    many = {f"M{k}": {0.1: k / 10, 1.0: 1 - k / 10} for k in range(1, 9)}
    found = ep.compare_menus(many, people=4_000)
    lines = str(found).splitlines()
    assert sum(line.startswith("  M") for line in lines) == 6
    assert "  … 2 more" in lines
    assert sum(line.startswith("  M") for line in found.details().splitlines()) == 8


def test_one_menu_is_compared_with_no_other() -> None:
    found = ep.compare_menus([{0.5: 1.0}], people=100)
    assert len(found.verdict.words) == 1
    assert found.costs == {}


def test_nobody_is_lost_or_counted_twice() -> None:
    for people in (7, 99, 1001):
        found = ep.compare_menus({"thirds": {0.1: 1 / 3, 0.5: 1 / 3, 1.0: 1 / 3}}, people=people)
        assert found.n == people


@pytest.mark.parametrize(
    ("menus", "people", "why"),
    [
        ({}, 100, "menus: give at least one"),
        ([], 100, "menus: give at least one"),
        ({"A": {0.1: 0.5}}, 100, "menus: each must be a mapping from ε to shares"),
        ({"A": [0.1]}, 100, "menus: each must be"),
        ([0.1], 100, "menus: each must be"),
        ({"A": {0.1: 1.5, 1.0: -0.5}}, 100, "menus: each must be"),
        ({"A": {-0.1: 1.0}}, 100, "epsilon is negative"),
        ({"A": {0.1: 1.0}}, 1, "people=1 must be"),
    ],
)
def test_menus_that_are_refused(menus: Any, people: int, why: str) -> None:
    with pytest.raises(ep.errors.EpsilonsError, match=why):
        ep.compare_menus(menus, people=people)


def shell(*words: str) -> Any:
    return CliRunner().invoke(cli, ["plan", *words])


def test_the_command_compares_menus() -> None:
    words = ("--compare-menus", "0.1:10%,1:0.9", "0.5:100%", "--people", "4000")
    found = ep.compare_menus([{0.1: 0.1, 1.0: 0.9}, {0.5: 1.0}], people=4000, related=False)
    for order in (words, words[1:] + words[:1]):
        assert shell(*order, "--related", "no", "--json").stdout.strip() == found.to_json()
    for given, why in (
        (words[:3], "--compare-menus needs --people"),
        ((*words, "--unknown-range"), "--unknown-range is not for --compare-menus"),
        ((*words, "--goal", "1"), "--goal is not for --compare-menus"),
        (("--compare-menus", "0.1", "--people", "9"), "is not EPSILON:SHARE,EPSILON:SHARE"),
        (("0.1:500", "1:9", "--people", "9"), "--people is for --compare-menus"),
    ):
        refused = shell(*given)
        assert refused.exit_code != 0
        assert why in refused.output
