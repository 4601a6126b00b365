"""A plan runs the same generator of a question as a release, so plan and release agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.door import GRID, Absent, Ask
from epsilons.errors import ArgumentError, BudgetError
from epsilons.planning.trial import Trial
from epsilons.questions.rehearsal import rehearse, terms_for

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


def test_an_argument_that_a_statistic_does_not_have_is_refused_as_such() -> None:
    with pytest.raises(ArgumentError, match="loss='pac' is not for a covariance"):
        ep.plan(PEOPLE, statistic="covariance", loss="pac", bounds=(0, 50))
