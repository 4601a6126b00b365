"""Intervals of differences of releases, of pairs of groups and of weighted sums cover as stated.

The people are readers of a magazine in 1978 (`fair`) and voters in 1996 (`anes96`), 400 of each
table. The second release has the same people, half of them, or others. Budgets are unrelated to
values, larger for larger values, or the same except for one person.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail each
comparison with probability below 10⁻⁹, by exact binomial tails for the misses of 80 % intervals.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final

import numpy as np
from scipy.stats import binom

import epsilons as ep
from epsilons.types import Floats

TAIL: Final = 1e-9
CONFIDENCE: Final = 0.8
RUNS: Final = 100
FEW: Final = 40
PEOPLE: Final = 400
COLUMNS: Final = {
    "affairs": ("fair", "affairs", (0.0, 20.0)),
    "age": ("fair", "age", (15.0, 45.0)),
    "income": ("anes96", "income", (1.0, 24.0)),
}


@cache
def table(name: str) -> Any:
    """Return a table of real people, always in the same order."""
    found = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
    return found.sample(frac=1.0, random_state=1).reset_index(drop=True)


def values(name: str, start: int = 0) -> tuple[Floats, tuple[float, float]]:
    """Return the values of some hundred people in a column, and the column's bounds."""
    source, column, bounds = COLUMNS[name]
    found = np.asarray(table(source)[column], dtype=np.float64)[start : start + PEOPLE]
    return np.clip(found, *bounds), bounds


def budgets(x: Floats, way: str, rng: np.random.Generator) -> Floats:
    """Return a budget for everyone, related to values in this way."""
    if way == "alike":
        return np.full(len(x), 0.5)
    if way == "one strict person":
        found = np.full(len(x), 1.0)
        found[int(np.argmax(x))] = 0.01
        return found
    found = np.sort(np.resize([0.1, 0.5, 1.0], len(x)))
    if way == "not related":
        return rng.permutation(found)
    own = np.empty(len(x))
    own[np.argsort(x, kind="stable")] = found
    return own


def holds(covered: list[bool], confidence: float = CONFIDENCE) -> int:
    """Fail if more intervals miss than their confidence allows. Return how many miss."""
    missed = len(covered) - sum(covered)
    assert missed <= binom.isf(TAIL, len(covered), 1.0 - confidence)
    return missed


def test_an_interval_of_half_the_width_would_be_noticed() -> None:
    x, bounds = values("age")
    covered = []
    for seed in range(RUNS):
        releases = [
            ep.mean(x, epsilon=np.full(PEOPLE, 0.5), bounds=bounds, source=ep.Seeded(2 * seed + at))
            for at in (0, 1)
        ]
        change = ep.compare(*releases, CONFIDENCE)[0]
        covered.append(abs(change.value) <= (change.high - change.low) / 4.0)
    assert sum(covered) < RUNS - binom.isf(TAIL, RUNS, 1.0 - CONFIDENCE)
