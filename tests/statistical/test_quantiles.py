"""Intervals of quantiles cover the true value as often as stated, on difficult data.

Each case is a binomial test of the misses, with false-alarm probability 10⁻⁹. The tests have power:
a margin without the bias fails, and so do one with the noise of only one bin, and selections of
intervals without a gap between ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.risk import quantiles

pytestmark = pytest.mark.statistical

LEVELS = np.array([0.1, 0.5, 2.0])
TAIL = 1e-9
BOUNDS = (0.0, 100.0)


def two_points(n: int, chance: np.random.Generator) -> np.ndarray:
    return np.where(chance.random(n) < 0.5, 10.0, 90.0)


def mostly_zero(n: int, chance: np.random.Generator) -> np.ndarray:
    return np.where(chance.random(n) < 0.7, 0.0, 100.0 * chance.random(n))


def skewed(n: int, chance: np.random.Generator) -> np.ndarray:
    return np.minimum(chance.lognormal(1.0, 1.2, n), 100.0)


def even(n: int, chance: np.random.Generator) -> np.ndarray:
    return 100.0 * chance.random(n)


def ages(n: int, chance: np.random.Generator) -> np.ndarray:
    return chance.choice([17.5, 22.0, 27.0, 32.0, 37.0, 42.0], n)


def near_a_step(n: int, chance: np.random.Generator) -> np.ndarray:
    """Return two points, with one person fewer than half of all people in the lower one."""
    return chance.permutation(np.where(np.arange(n) < (n + 1) // 2 - 1, 10.0, 90.0))


SHAPES = {
    each.__name__: each for each in (two_points, mostly_zero, skewed, even, ages, near_a_step)
}


def smallest_with(values: np.ndarray, q: float) -> float:
    """Return the smallest value with at least a fraction q of all values at or below it."""
    return next(v for v in np.unique(values) if (values <= v).mean() >= q - 1e-12)


def misses(
    shape: Callable[..., np.ndarray],
    n: int,
    q: float,
    confidence: float,
    runs: int,
    *,
    truth: float | None = None,
    **asked: Any,
) -> int:
    """Count the intervals that miss. If budgets are related, they are in the worst order."""
    chance = np.random.default_rng(17)
    missed = 0
    for run in range(runs):
        values = shape(n, chance)
        budgets = chance.choice(LEVELS, n)
        if asked["related"] is True:  # the largest values have the largest or the smallest budgets
            order = np.argsort(values, kind="stable")
            values, budgets = values[order], np.sort(budgets)[:: 1 if run % 2 else -1]
        release = ep.quantile(
            values, q, epsilon=budgets, bounds=BOUNDS, source=ep.Seeded(1000 + run), **asked
        )
        low, high = release.interval(confidence)
        wanted = smallest_with(values, q) if truth is None else truth
        missed += not low <= wanted <= high
    return missed


def too_many(runs: int, beta: float) -> int:
    """Return the number of misses that correct intervals reach with probability at most 10⁻⁹."""
    logs = [
        math.lgamma(runs + 1) - math.lgamma(k + 1) - math.lgamma(runs - k + 1)
        + k * math.log(beta) + (runs - k) * math.log1p(-beta)
        for k in range(runs + 1)
    ]  # fmt: skip
    tails = np.cumsum(np.exp(logs)[::-1])[::-1]
    return int(np.flatnonzero(tails <= TAIL)[0])


QUICK = [
    ("two_points", 20, "table", True),
    ("mostly_zero", 300, "table", True),
    ("skewed", 300, "table", False),
    ("even", 300, "selection", True),
    ("near_a_step", 300, "selection", False),
    ("ages", 300, "selection", True),
]
CASES = [
    (shape, n, method, related)
    for shape in SHAPES
    for n in (20, 300, 10_000)
    for method in ("table", "selection")
    for related in (True, False)
]
SLOW = [pytest.param(*case, marks=pytest.mark.slow) for case in CASES if case not in QUICK]


@pytest.mark.parametrize(("shape", "n", "method", "related"), [*QUICK, *SLOW])
def test_of_these_people(shape: str, n: int, method: str, related: bool) -> None:
    runs, q = 40, 0.75 if shape == "mostly_zero" else 0.5
    found = misses(SHAPES[shape], n, q, 0.95, runs, method=method, related=related)
    assert found < too_many(runs, 0.05)


@pytest.mark.parametrize("q", [0.5, pytest.param(0.1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("related", [True, False])
@pytest.mark.parametrize("method", ["table", "selection"])
def test_of_a_population(q: float, related: bool, method: str) -> None:
    given: dict[str, Any] = {"method": method, "related": related, "about": "population"}
    found = misses(even, 300, q, 0.95, 40, truth=100.0 * q, **given)
    assert found < too_many(40, 0.05)


@pytest.mark.parametrize(
    "shape", ["even", *(pytest.param(s, marks=pytest.mark.slow) for s in SHAPES if s != "even")]
)
def test_of_people_who_are_private(shape: str) -> None:
    given: dict[str, Any] = {"neighbours": "add-remove", "levels": LEVELS, "related": True}
    assert misses(SHAPES[shape], 300, 0.5, 0.95, 40, **given) < too_many(40, 0.05)


def test_of_a_population_of_people_who_are_private() -> None:
    given: dict[str, Any] = {"neighbours": "add-remove", "levels": LEVELS, "related": False}
    found = misses(even, 300, 0.5, 0.95, 40, truth=50.0, about="population", **given)
    assert found < too_many(40, 0.05)


def test_the_count_of_misses_notices_a_forgotten_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: without the bias of related budgets, intervals miss too often.

    The weights are proportional to budgets.
    """
    real = quantiles.ways

    def forgetful(*args: Any) -> tuple[quantiles.Way, ...]:
        return tuple(quantiles.Way(0.0, way.chances, way.side) for way in real(*args))

    monkeypatch.setattr(quantiles, "ways", forgetful)
    monkeypatch.setattr("epsilons.questions.quantile.best_cap", lambda *_: 2.0)
    found = misses(even, 2000, 0.5, 0.95, 40, method="table", related=True)
    assert found >= too_many(40, 0.05)


def test_the_count_of_misses_notices_the_noise_of_one_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: if a sum of many cells gets the noise of one cell, intervals miss too often."""
    real = quantiles.closed_tail
    monkeypatch.setattr(quantiles, "closed_tail", lambda cells, _: real(cells, 1))
    monkeypatch.setattr("epsilons.questions.quantile.BINS", (64,))
    monkeypatch.setitem(globals(), "LEVELS", np.array([0.2]))  # only the noise is random
    found = misses(even, 400, 0.5, 0.99, 60, method="table", related=True)
    assert found >= too_many(60, 0.01)


def selected_misses(values: np.ndarray, budgets: np.ndarray, confidence: float, runs: int) -> int:
    """Count the selected intervals of the median that miss, for fixed people."""
    truth, missed = smallest_with(values, 0.5), 0
    for run in range(runs):
        low, high = ep.quantile(
            values,
            0.5,
            epsilon=budgets,
            bounds=BOUNDS,
            method="selection",
            confidence=confidence,
            source=ep.Seeded(run),
        ).interval()
        missed += not low <= truth <= high
    return missed


def test_selected_intervals_with_one_strict_person() -> None:
    budgets = np.full(400, 1.0)
    budgets[0] = 0.001
    values = skewed(400, np.random.default_rng(2))
    values[0] = 100.0
    assert selected_misses(values, budgets, 0.8, 60) < too_many(60, 0.2)


def test_selected_intervals_notice_a_missing_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: without a gap between ranks, selected intervals miss too often."""
    values, budgets = near_a_step(301, np.random.default_rng(3)), np.full(301, 0.2)
    assert selected_misses(values, budgets, 0.8, 60) < too_many(60, 0.2)
    monkeypatch.setattr("epsilons.questions.quantile.nested_shift", lambda *_: 1e-4)
    monkeypatch.setattr(quantiles, "nested_shift", lambda *_: 0.0)
    assert selected_misses(values, budgets, 0.8, 60) >= too_many(60, 0.2)


def test_a_count_of_people_is_within_its_interval() -> None:
    runs, missed = 200, 0
    budgets = np.repeat(LEVELS, 100)
    for run in range(runs):
        release = ep.count(epsilon=budgets, levels=LEVELS, source=ep.Seeded(run))
        low, high = release.interval(0.8)
        missed += not low <= 300 <= high
    assert missed < too_many(runs, 0.2)
    assert missed >= runs - too_many(runs, 0.82)  # the interval is not too wide
