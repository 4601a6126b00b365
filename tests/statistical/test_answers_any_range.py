"""Intervals with an unknown range cover the mean of values clipped to the range that was found.

The real columns are mostly zero (affairs, visits), skewed (wages) or nearly Gaussian (IQ). A
simulated column has no mean (Cauchy). If budgets are slightly related to values, δ is the largest
distance between the distribution functions of two levels. So the means of clipped values differ by
at most δ, as a fraction of any range.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁷: fewer than 1,000 exact binomial tests at 10⁻¹⁰ each.
"""

from __future__ import annotations

import zlib
from functools import cache
from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import binom, ks_2samp

import epsilons as ep
from epsilons.types import Floats
from tests.statistical.people import MENU, PEOPLE, budgets, column

TAIL: Final = 1e-10
CONFIDENCES: Final = (0.5, 0.95)
RUNS: Final = 60
MANY: Final = 1_000

TIMES: Final = 4.0
"""A factor on budgets. If there are few people, a range can be found only with larger budgets."""

NAMES: Final = ("affairs", "visits", "wages", "scores", "heavy tails")
ASKED: Final = (
    ("replace", "people", True, "strict if high"),
    ("replace", "people", True, "strict if low"),
    ("replace", "people", "own", "not at all"),
    ("replace", "population", True, "strict if high"),
    ("add-remove", "people", True, "strict if high"),
    ("add-remove", "people", "own", "not at all"),
)


def values_of(name: str) -> Floats:
    if name == "heavy tails":
        return np.random.default_rng(4).standard_cauchy(PEOPLE)
    return column(name).values


def apart_on_any_range(values: Floats, epsilon: Floats) -> float:
    groups = [values[epsilon == level] for level in np.unique(epsilon)]
    return max(float(ks_2samp(one, other).statistic) for one, other in product(groups, groups))


@cache
def misses(name: str, asked: tuple[str, str, Any, str], runs: int) -> np.ndarray:
    """Count the runs in which the interval missed, by confidence."""
    neighbours, about, related, way = asked
    seed = zlib.crc32(f"{name} {asked}".encode())
    rng, source = np.random.default_rng(seed), ep.Seeded(seed)
    everyone = values_of(name)
    ranks = np.argsort(np.argsort(everyone)) / len(everyone)
    epsilon = TIMES * budgets(ranks, way, rng)
    if related == "own":
        related = apart_on_any_range(everyone, epsilon)
    counted = []
    for _ in range(runs):
        drawn = np.arange(len(everyone))
        if about == "population":
            drawn = rng.integers(0, len(everyone), len(everyone))
        release = ep.mean(
            everyone[drawn],
            epsilon=epsilon[drawn],
            bounds=None,
            neighbours=neighbours,
            levels=[TIMES * each for each in MENU] if neighbours == "add-remove" else None,
            about=about,
            related=related,
            source=source,
        )
        lo, hi = release.bounds
        truth, room = float(np.clip(everyone, lo, hi).mean()), 1e-12 * (hi - lo)
        held = [release.interval(confidence) for confidence in CONFIDENCES]
        counted.append([not low - room <= truth <= high + room for low, high in held])
    return np.array(counted).sum(axis=0)


def allowed(runs: int) -> Floats:
    return np.array([float(binom.isf(TAIL, runs, 1.0 - confidence)) for confidence in CONFIDENCES])


@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_few_people_get_a_release_whatever_range_was_found(loss: str) -> None:
    """Three people get a release even if the estimated range is extremely wide.

    The range can include nearly all floats, so its square overflows. Under add/remove there must
    still be a release, because an error would leak information.
    """
    widest = 0.0
    for seed in range(560, 600):  # one of these seeds finds such a range
        release = ep.mean(
            [1.0, 2.0, 3.0],
            epsilon=[1.0, 1.0, 1.0],
            bounds=None,
            neighbours="add-remove",
            levels=[1.0],
            loss=loss,
            source=ep.Seeded(seed),
        )
        lo, hi = release.bounds
        low, high = release.interval()
        assert lo <= low <= high <= hi
        assert release.risk >= 0.0
        widest = max(widest, hi - lo)
    assert widest > 1e160
