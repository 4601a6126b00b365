"""Piecewise reports of real columns and of the worst ones: bias, forecasts, coverage, and gain.

People are drawn from the column, with replacement. Seeds are fixed. With random seeds, correct code
would fail at least one test here with probability below 10⁻⁶.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2

import epsilons as ep
from epsilons import local
from epsilons.local.piecewise import window_of
from epsilons.local.reports import Reports
from epsilons.risk.piecewise import noise
from epsilons.types import Floats
from tests.statistical.people import column

pytestmark = pytest.mark.statistical

TAIL = 1e-9
RUNS, PEOPLE = 1000, 300
MENUS = {"2": [2.0], "4": [4.0], "8": [8.0], "mixed": [0.5, 2.0, 4.0, 8.0]}
WORST = {"both ends": np.array([0.0, 1.0]), "one end": np.zeros(1), "middle": np.full(1, 0.5)}
REAL = ("wages", "scores", "visits", "affairs")


def population(name: str) -> Floats:
    """Return the values of a column on a unit range."""
    return WORST[name] if name in WORST else np.clip(column(name).unit, 0.0, 1.0)


@cache
def releases(
    name: str, menu: str, method: str = "piecewise", weights: Any = "variance"
) -> list[ep.Release]:
    """Return releases from samples of a column, everyone at a budget of the menu."""
    seed = sum(map(ord, name + menu))
    rng = np.random.default_rng(seed)
    levels = np.array(MENUS[menu])
    values = rng.choice(population(name), RUNS * PEOPLE)
    budgets = np.resize(levels, PEOPLE)
    question = local.Mean((0, 1), method, levels=MENUS[menu])  # type: ignore[arg-type]
    made = question.randomize_many(values, np.tile(budgets, RUNS), ep.Seeded(seed))
    found = []
    for start in range(0, RUNS * PEOPLE, PEOPLE):
        part = slice(start, start + PEOPLE)
        columns = tuple(each[part] for each in made.columns)
        reports = Reports(made.kind, made.parameters, False, made.epsilon[part], columns)
        found.append(question.estimate(reports, weights=weights))
    return found


def errors(found: list[ep.Release], name: str) -> Floats:
    return np.array([each.raw for each in found]) - float(population(name).mean())


CASES = [
    *((name, menu) for name in (*REAL, *WORST) for menu in ("2", "mixed")),
    ("wages", "4"),
    ("both ends", "8"),
    ("visits", "8"),
]


@pytest.mark.rotates(6)
@pytest.mark.parametrize(("name", "menu"), CASES)
def test_estimates_are_unbiased_and_covered(name: str, menu: str) -> None:
    found = releases(name, menu)
    off = errors(found, name)
    assert abs(off.mean()) < 6.0 * off.std() / math.sqrt(RUNS)
    truth = float(population(name).mean())
    for confidence in (0.8, 0.95):
        ends = [each.interval(confidence) for each in found]
        missed = sum(not low <= truth <= high for low, high in ends)
        assert missed <= binom.isf(TAIL, RUNS, 1.0 - confidence)


def test_narrower_intervals_would_be_noticed() -> None:
    """Intervals of 40 % of the width miss too often: the test of coverage has power."""
    found = releases("both ends", "2")
    reach = [0.4 * each.estimate.margin.reach((0, 1), 0.95) for each in found]  # type: ignore[union-attr]
    missed = int((np.abs(errors(found, "both ends")) > np.array(reach)).sum())
    assert missed > binom.isf(TAIL, RUNS, 0.05)


@pytest.mark.rotates(2)
@pytest.mark.parametrize("menu", MENUS)
def test_the_forecast_is_the_error_of_the_worst_column(menu: str) -> None:
    """Forecasts that are off by 10 % in either direction would be noticed."""
    risk = releases("both ends", menu)[0].risk
    squares = float(np.square(errors(releases("both ends", menu), "both ends")).sum())
    assert chi2.sf(squares / risk, RUNS) > 1e-4
    assert chi2.cdf(squares / risk, RUNS) > 1e-4
    assert chi2.sf(squares / risk / 0.81, RUNS) < 1e-2
    assert chi2.cdf(squares / risk / 1.21, RUNS) < 1e-2


@pytest.mark.rotates(3)
@pytest.mark.parametrize("name", ["wages", "visits", "one end"])
@pytest.mark.parametrize("menu", ["2", "8"])
def test_the_noise_is_as_stated_on_real_columns(name: str, menu: str) -> None:
    """The variances of sample and reports add up to the squared error, within 3 standard errors."""
    (epsilon,), values = MENUS[menu], population(name)
    added = float(noise(window_of(epsilon), np.array(epsilon), values).mean())
    stated = (added + float(values.var())) / PEOPLE
    squares = np.square(errors(releases(name, menu), name))
    assert abs(squares.mean() - stated) < 3.0 * squares.std() / math.sqrt(RUNS)


def half_width(method: Any, values: Floats, epsilon: float) -> float:
    question = local.Mean((0, 1), method, levels=[epsilon])
    release = question.estimate(question.randomize_many(values, epsilon, ep.Seeded(1)))
    return float(release.estimate.margin.reach((0.0, 1.0), 0.95))  # type: ignore[union-attr]


@pytest.mark.parametrize(("epsilon", "narrower"), [(2.0, 1.1), (4.0, 1.8), (8.0, 2.4)])
def test_intervals_are_narrower_than_those_of_one_bit(epsilon: float, narrower: float) -> None:
    """On real columns, intervals of piecewise reports are narrower than those of one bit.

    If all values are at the ends of the range, they are up to 15 % wider.
    """
    rng = np.random.default_rng(5)
    ratios = {}
    for name in (*REAL, "both ends"):
        values = rng.choice(population(name), 3000)
        bit, more = (half_width(method, values, epsilon) for method in ("bit", "piecewise"))
        ratios[name] = bit / more
    assert min(ratios["wages"], ratios["scores"], ratios["visits"]) > narrower
    assert ratios["affairs"] > 1.0
    assert 1.0 / 1.15 < ratios["both ends"] < 1.0


def test_intervals_cover_with_equal_weights_and_related_budgets() -> None:
    """Intervals cover with equal weights, even if budgets depend on values."""
    rng, missed = np.random.default_rng(3), 0
    question = local.Mean((0, 1), levels=[0.5, 2.0, 4.0])
    values = np.sort(population("wages"))
    truth = float(values.mean())
    for run in range(300):
        chosen = rng.choice(values, PEOPLE)
        budgets = np.where(chosen < truth, 0.5, rng.choice([2.0, 4.0], PEOPLE))
        reports = question.randomize_many(chosen, budgets, ep.Seeded(run))
        release = question.estimate(reports, weights="uniform")
        low, high = release.interval()
        missed += not low <= truth <= high
    assert missed <= binom.isf(TAIL, 300, 0.05)
