"""A plan runs the same generator of a question as a release, so plan and release agree."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.asking.table import STATISTICS
from epsilons.door import GRID, Absent, Ask
from epsilons.errors import ArgumentError, BudgetError
from epsilons.planning.trial import Trial
from epsilons.questions.rehearsal import rehearse, terms_for
from tests.report.forms import forms

PEOPLE = {0.1: 1300, 0.5: 900, 2.0: 400}
EPSILON = np.repeat(list(PEOPLE), list(PEOPLE.values()))
RNG = np.random.default_rng(8)
DATA: dict[str, Any] = {
    "x": RNG.permutation((np.arange(EPSILON.size) + 0.5) / EPSILON.size),
    "y": RNG.uniform(0.0, 1.0, EPSILON.size),
    "g": RNG.permutation(np.arange(EPSILON.size) % 4),
}
UNIT = (0.0, 1.0)
CELLS = [0.0, 0.25, 0.5, 0.75, 1.0]


def questions(values: Any, beside: Any, group: Any, **more: Any) -> dict[str, ep.Mean]:
    found: dict[str, Any] = {
        "mean": ep.Mean(values, bounds=UNIT, **more),
        "adaptive": ep.Mean(values, bounds=UNIT, method="adaptive", **more),
        "frequencies": ep.Frequencies(values, edges=CELLS, **more),
        "quantile": ep.Quantile(values, q=[0.25, 0.5], bounds=UNIT, **more),
        "selection": ep.Quantile(values, q=0.5, bounds=UNIT, method="selection", **more),
        "variance": ep.Variance(values, bounds=UNIT, **more),
        "covariance": ep.Covariance(values, beside, x_bounds=UNIT, y_bounds=UNIT, **more),
        "groups": ep.Mean(values, bounds=UNIT, by=group, groups=[0, 1, 2, 3], **more),
        "answered": ep.Variance(values, bounds=UNIT, missing="exclude", **more),
        "count": ep.Count(values),
    }
    return found


ONLY = {"adaptive": "replace", "selection": "replace", "count": "add-remove"}
CASES = [
    (name, neighbours)
    for name in questions("x", "y", "g")
    for neighbours in ("replace", "add-remove")
    if ONLY.get(name, neighbours) == neighbours
]
DRAWN = {"adaptive"}
"""Statistics in which the first draw determines the spending of the last stage."""


@pytest.mark.parametrize(("name", "neighbours"), CASES)
@pytest.mark.parametrize("related", [False, 0.1])
def test_a_release_spends_what_was_planned(
    name: str, neighbours: str, related: bool | float
) -> None:
    planned = questions("x", "y", "g", related=related)[name]
    asked = questions(DATA["x"], DATA["y"], DATA["g"], related=related)[name]
    found = ep.plan([planned], epsilon=PEOPLE, neighbours=neighbours)[0]
    levels: dict[str, Any] = {"levels": PEOPLE} if neighbours == "add-remove" else {}
    [release] = ep.publish(
        [asked], epsilon=EPSILON, neighbours=neighbours, source=ep.Seeded(1), **levels
    )
    assert found.method == release.method
    if name in DRAWN:
        return
    levels_of = np.array(list(PEOPLE))
    assert found.spent_at(levels_of).tolist() == pytest.approx(
        [release.spent(level) for level in PEOPLE], rel=1e-6
    )
    assert (found.rmse is None) == (name == "groups")
    if name in ("mean", "frequencies", "count"):
        return
    low, high = (np.asarray(end) for end in release.interval())
    if found.half_width is not None and name != "covariance":
        assert 0.5 < float(np.max(high - low)) / 2.0 / found.half_width < 1.5


@pytest.mark.parametrize("statistic", sorted(STATISTICS))
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_every_statistic_has_a_plan_in_every_form(statistic: str, neighbours: str) -> None:
    more: dict[str, Any] = {"categories": 3} if statistic == "frequencies" else {}
    if (statistic, neighbours) == ("count", "replace"):
        with pytest.raises(ArgumentError, match="makes the number of people public"):
            ep.plan(PEOPLE, statistic=statistic)
        return
    more |= {} if statistic == "count" else {"related": False}
    plan = ep.plan(PEOPLE, statistic=statistic, neighbours=neighbours, **more)
    assert plan.statistic == statistic
    assert plan.best == plan.forecasts[0].method
    for form in forms(plan).values():
        assert plan.best in form
    data = json.loads(plan.to_json())
    assert data["lower_bound"] >= 0.0
    assert data["gains"]["uniform"] > 0.0
    if STATISTICS[statistic].supposed:
        assert not plan.weighs
    if not plan.weighs:  # then it is no worst case
        assert "spread evenly" in " ".join(plan.details().split())
        assert "No method can have" not in plan.details()


@pytest.mark.long
def test_more_people_are_needed_for_a_smaller_error_of_any_statistic() -> None:
    for statistic in ("quantile", "variance"):
        plan = ep.plan(PEOPLE, statistic=statistic, related=False)
        [_, first, *_] = plan.need(rmse=0.7 * plan.forecasts[0].rmse)
        assert first.people is not None
        more = ep.plan(PEOPLE | {0.1: 1300 + first.people}, statistic=statistic, related=False)
        assert more.forecasts[0].rmse <= 0.7 * plan.forecasts[0].rmse * (1 + 1e-9)


@pytest.mark.long
def test_targets_are_met_for_any_statistic() -> None:
    median = ep.Quantile("x", q=0.5, bounds=UNIT, related=False)
    mean = ep.Mean("x", bounds=UNIT, related=False)
    found = ep.plan([median, mean], epsilon=PEOPLE, targets=[0.1, None])
    assert found[0].half_width is not None
    assert found[0].half_width <= 0.1
    table = pl.DataFrame(DATA | {"e": EPSILON})
    releases = ep.publish([median, mean], data=table, epsilon="e", targets=[0.1, None])
    low, high = releases[0].interval()
    assert high - low < 0.3


def test_budgets_that_agree_in_nine_bits_are_one_level_as_in_a_release() -> None:
    near = {0.5: 100, 0.5001: 100, 2.0: 50}
    plan = ep.plan(near)
    assert [(row.epsilon, row.people) for row in plan.forecasts[0].spent] == [(0.5, 200), (2.0, 50)]
    epsilon = np.repeat(list(near), list(near.values()))
    release = ep.mean(np.zeros(250), epsilon=epsilon, bounds=UNIT, source=ep.Seeded(0))
    assert [row.people for row in release.spent] == [200, 50]


def test_people_who_are_not_there_are_counted_in_whole_numbers() -> None:
    people = Absent(np.array([0.1, 1.0]), np.array([7, 5]))
    call = terms_for(ep.Budgets({0.1: 7, 1.0: 5}), "replace")
    asked = ep.Covariance("x", "y", x_bounds=UNIT, y_bounds=UNIT)
    found = rehearse(asked, people, call)
    assert found.draws[0].mechanism.counts.tolist() == [7, 5]  # type: ignore[attr-defined]
    table = asked.open(replace(call, epsilon=people)).count(Ask("pairs", UNIT, beside=UNIT))
    assert table.cells.sum(axis=1).tolist() == [7 * GRID, 5 * GRID]
    assert (table.cells >= 0).all()
    shares = (
        ep.Frequencies("x", categories=range(5))
        .open(replace(call, epsilon=people))
        .count(Ask("cells"))
    )
    assert shares.cells.sum(axis=1).tolist() == [7, 5]
    assert np.ptp(shares.cells, axis=1).max() <= 1


def test_what_a_release_refuses_a_plan_refuses() -> None:
    with pytest.raises(ArgumentError, match="cells for each of"):
        ep.plan(np.geomspace(0.01, 10.0, 2000), statistic="frequencies", categories=10**6)
    few = Trial(ep.Mean("x", bounds=None), ep.Budgets({0.01: 5}), "replace", None)
    with pytest.raises(BudgetError, match="too small for 5 people"):
        _ = few.found


@pytest.mark.parametrize(
    "statistic",
    [
        name
        for name, kind in STATISTICS.items()
        if {"bounds", "x_bounds"} & {*kind.__dataclass_fields__}
    ],
)
def test_a_plan_is_for_the_bounds_that_are_given(statistic: str) -> None:
    """Errors are in the units of the data: a range twice as wide, errors twice or four times."""
    narrow, wide = (ep.plan(PEOPLE, statistic=statistic, bounds=(0, hi)) for hi in (10, 20))
    assert (narrow.bounds, wide.bounds) == ((0.0, 10.0), (0.0, 20.0))
    power = 4 if statistic in ("variance", "covariance") else 2
    assert wide.forecasts[0].rmse == pytest.approx(power * narrow.forecasts[0].rmse)
    assert "values from 0 to 20\n" in str(wide)


def test_a_plan_of_two_columns_names_both_ranges() -> None:
    asked = ep.Covariance("x", "y", x_bounds=(0, 5), y_bounds=(-1, 1))
    plan = ep.plan([asked], epsilon=PEOPLE).each[0].plan
    assert "values from 0 to 5 and from -1 to 1\n" in str(plan)


def test_an_argument_that_a_statistic_does_not_have_is_refused_as_such() -> None:
    with pytest.raises(ArgumentError, match="loss='pac' is not for a covariance"):
        ep.plan(PEOPLE, statistic="covariance", loss="pac", bounds=(0, 50))
