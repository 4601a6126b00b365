"""Frequencies under add/remove with `method="total"`, which also draws a noisy total."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import binom, chi2

import epsilons as ep
from epsilons.door import Tally
from epsilons.questions.steps.designs import parts_of
from epsilons.risk.shares import TotalledCells

CATEGORIES = 300
PEOPLE = 4000


def asked(values: np.ndarray, seed: int, **given: Any) -> ep.Release:
    kind: dict[str, Any] = {"method": "total", "related": False, **given}
    return ep.frequencies(
        values,
        epsilon=np.where(np.arange(len(values)) % 2 == 0, 0.5, 1.0),
        categories=list(range(CATEGORIES)),
        neighbours="add-remove",
        levels=[0.5, 1.0],
        project=False,
        source=ep.Seeded(seed),
        **kind,
    )


def mostly_one(seed: int) -> np.ndarray:
    """Return values: nine of ten people are in the first category."""
    rng = np.random.default_rng(seed)
    rare = rng.random(PEOPLE) < 0.1
    return np.where(rare, rng.integers(1, CATEGORIES, PEOPLE), 0)


def test_everyone_gives_a_part_of_their_unit_to_the_count_of_all() -> None:
    cells = np.array([[3, 0, 1], [0, 5, 2]])
    counted = Tally(np.array([0.1, 1.0]), np.array([4, 7]), cells, 1, ("a", "b", "c"))
    divided = counted.with_total(5, 2)
    assert divided.cells.tolist() == [[15, 0, 5, 8], [0, 25, 10, 14]]
    assert divided.unit == 7
    assert divided.counts.tolist() == [4, 7]


def test_its_losses_are_within_budgets() -> None:
    release = asked(mostly_one(1), 1)
    assert release.method == "total"
    verdict = ep.verify.exact(release.mechanism)
    assert verdict.holds
    assert max(verdict.losses) > 0.9


def test_one_large_share_has_less_noise_by_as_much_as_is_forecast() -> None:
    """Dividing by a sum of k noisy counts adds p²·k to the variance.

    A noisy total avoids this, and the gain is as forecast.
    """
    values = mostly_one(2)
    truth = np.bincount(values, minlength=CATEGORIES) / PEOPLE
    runs = 120
    errors: dict[str, list[float]] = {"total": [], "transformed": []}
    promised = {}
    for method, found in errors.items():
        for seed in range(runs):
            # Everyone is on the lowest rung (budget level), so only the noise is random.
            release = asked(values, seed, method=method, cap=0.5)
            found.append(float(np.asarray(release.estimate.raw)[0] - truth[0]))
        margin: Any = release.estimate.margin
        spread = float(margin._spread(truth)[0])
        weight = PEOPLE * margin.largest
        promised[method] = 2.0 * spread * (margin.scale / weight) ** 2
    for method, found in errors.items():
        ratio = float(np.square(found).sum()) / promised[method]
        # False alarms: 2·10⁻⁸ each. The ratio of two noisy numbers is nearly Gaussian here.
        assert chi2.ppf(1e-8, runs / 2.0) / (runs / 2.0) < ratio / runs
        assert ratio / runs < chi2.isf(1e-8, runs / 2.0) / (runs / 2.0)
    assert promised["total"] < 0.3 * promised["transformed"]


def test_intervals_and_bands_hold_all_shares() -> None:
    """Intervals and bands pass binomial tests. Each test has false-alarm probability 10⁻⁹."""
    values = mostly_one(3)
    truth = np.bincount(values, minlength=CATEGORIES) / PEOPLE
    runs, missed, outside = 20, 0, 0
    for seed in range(runs):
        release = asked(values, seed, cap=0.5)
        assert isinstance(release.estimate.margin, TotalledCells)
        low, high = release.interval(0.9)
        missed += not low[0] <= truth[0] <= high[0]
        low, high = release.band(0.9)
        outside += bool(((truth < low) | (truth > high)).any())
    assert binom.sf(missed - 1, runs, 0.1) > 1e-9
    assert binom.sf(outside - 1, runs, 0.1) > 1e-9


def test_parts_are_the_best_for_one_share_that_is_nearly_all() -> None:
    for cells in (2, 10, 100, 10_000):
        own, shared = parts_of(cells)

        def risk(part: float, cells: int = cells) -> float:
            return cells / part**2 + 1.0 / (1.0 - part) ** 2

        least = min(risk(part) for part in np.linspace(0.01, 0.99, 981).tolist())
        assert risk(own / (own + shared)) <= 1.001 * least


def test_a_plan_lists_it_and_auto_does_not_take_it() -> None:
    plan = ep.plan(
        {0.5: 2000, 1.0: 2000},
        statistic="frequencies",
        categories=CATEGORIES,
        neighbours="add-remove",
        related=False,
    )
    assert {forecast.method for forecast in plan.forecasts} >= {"transformed", "total"}
    assert plan.best == "transformed"
    assert asked(mostly_one(1), 1, method="auto").method == "transformed"


def test_neighbours_cannot_be_told_apart() -> None:
    values = [str(i % 4) for i in range(60)]
    question = ep.Frequencies("v", categories=["0", "1", "2", "3"], method="total", related=False)
    found = ep.verify.replay(
        question,
        data=pl.DataFrame({"v": values, "e": [0.5, 1.0] * 30, "who": list(range(60))}),
        epsilon="e",
        person="who",
        neighbours="add-remove",
        levels=[0.5, 1.0],
    )
    assert found.holds


def test_its_release_can_be_read_back() -> None:
    release = asked(mostly_one(4), 4)
    again = ep.Release.from_json(release.to_json())
    assert np.array_equal(np.asarray(again.interval()), np.asarray(release.interval()))
    assert math.isfinite(release.risk)
