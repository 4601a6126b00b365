"""The risk that a release states is the noise plus the error of people, for every assumption.

Both are written out here: the noise from what everyone spends, and the largest error that people's
values can cause, as docs/proofs/risk.md (4) has it. Moments take the published means as true.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import epsilons as ep
from epsilons.draws.noise import Laplaces
from epsilons.risk import cells
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import MeanGoal
from epsilons.risk.local import bounded_norm
from epsilons.risk.margins import RatioCells
from epsilons.risk.means import ratio
from epsilons.risk.ranges import Picture
from epsilons.risk.weighing import SAMPLE, Assumption

N = 400
EPSILON = np.repeat([0.5, 2.0], [300, 100])
X = np.random.default_rng(3).beta(2.0, 4.0, N)
Y = np.clip(X + np.random.default_rng(4).normal(0.0, 0.1, N), 0.0, 1.0)
ASSUMED = list(itertools.product(["people", "population"], [True, 0.1, False]))

CASES: dict[str, Any] = {
    "mean": lambda **on: ep.mean(40.0 * X - 10.0, bounds=(-10, 30), method="optimal", **on),
    "variance": lambda **on: ep.variance(40.0 * X - 10.0, bounds=(-10, 30), **on),
    "covariance": lambda **on: ep.covariance(
        40.0 * X - 10.0, 5.0 * Y, x_bounds=(-10, 30), y_bounds=(0, 5), **on
    ),
    "public groups": lambda **on: ep.mean(
        40.0 * X - 10.0,
        bounds=(-10, 30),
        by=np.arange(N) % 2,
        groups=[0, 1],
        groups_are="public",
        method="optimal",
        **on,
    ),
}


BETA = 0.05


@pytest.mark.parametrize(
    ("about", "related", "apart", "sampled"),
    [
        ("population", False, 0.0, True),
        ("people", False, 0.0, True),
        ("population", 0.1, 0.1, True),
        ("people", 0.1, 0.1, False),
    ],
)
def test_unequal_weights_of_an_unknown_number_of_people(
    about: str, related: Any, apart: float, sampled: bool
) -> None:
    """Without noise, the error of a share has two parts, each of which depends on the assumption.

    One is the sampling error if everyone has the largest weight. The other is δ. A twentieth of β
    is for the total.
    """
    margin = RatioCells(largest=3.0, equal=False, drawn=np.array([300.0, 600.0]), scale=1e-9)
    low, high = margin.intervals(np.empty(0), Assumption(about, related), 1.0 - BETA)
    far = apart
    if sampled:
        far += math.sqrt(3.0 * 900.0 * math.log(2.0 / (0.95 * BETA)) / 2.0) / 900.0
    assert low.tolist() == pytest.approx([1.0 / 3.0 - far, 2.0 / 3.0 - far], rel=0.01)
    assert high.tolist() == pytest.approx([1.0 / 3.0 + far, 2.0 / 3.0 + far], rel=0.01)


def test_ends_of_counts_are_quantiles_of_their_noise() -> None:
    counted = LevelCount((60, 45, 1), (0.8, 1.0, 2.0), np.array([1, 2, 3]))
    far = [math.log(3.0 / BETA) / rate + 1.0 for rate in (0.8, 1.0, 2.0)]
    low, high = counted.ends(BETA)
    assert low.tolist() == pytest.approx([60.0 - far[0], 45.0 - far[1], 0.0])
    assert high.tolist() == pytest.approx([60.0 + far[0], 45.0 + far[1], 1.0 + far[2]])


def test_what_is_known_without_any_noise() -> None:
    assert cells.largest_quantile(0.2, 0.0, 5, BETA) == pytest.approx(0.2)
    assert cells.largest_quantile(0.2, 0.0, 5, BETA, apart=0.5) == pytest.approx(0.1)
    assert cells.mean_square(0.2, 0.0, 5, apart=0.5) == pytest.approx(0.01)
    assert MeanGoal(SAMPLE, "pac", 0.95).typical(0.3) == 0.3
    assert bounded_norm(4.0, BETA) == pytest.approx(2.0 * (1.0 + math.sqrt(-2.0 * math.log(BETA))))
    release = ep.frequencies([0, 1, 1, 0], epsilon=1.0, categories=[0, 1], source=ep.Seeded(1))
    assert release.combine({0: 2.0, 1: 2.0}).low == 2.0
    assert release.combine({0: 2.0, 1: 2.0}).high == 2.0


def test_what_nothing_is_known_about() -> None:
    """A noisy number of people that is not positive leaves the whole range."""
    given = {"largest": 1.0, "confidence": 0.5}
    assert ratio.interval(Laplaces(3), ratio.TWO_SUMS, (1.0, 0.0), **given) == (0.0, 1.0)
    noises = ratio.OwnTotal(1.0, 2)
    low, high = ratio.share_intervals(np.array([-1.0, 0.5]), -0.5, noises, **given)
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize("sharp", [80.0, 2000.0])
def test_how_far_a_found_centre_and_deviation_may_be_off(sharp: float) -> None:
    """Bounds on ranks by a search for the best rate, as docs/proofs/gaussian.md (9) has them."""
    picture = Picture(50.0, 5.6, 0.03, 1e-5, 0.0145, (sharp, 3.0 * sharp), (3000.0, 2000.0))
    sigma = 8.0

    def rank(odds: float, sharp: float, alike: float) -> float:
        rates = np.linspace(0.0, sharp, 100_001)[1:]
        return float((odds / rates + rates / (8.0 * alike)).min())

    best = []
    for inner in (0.005, 0.01, 0.02, 0.05, 0.1):
        fit = max(2.0 * stats.norm.ppf(0.5 + inner) * sigma / 0.03, 1.0)
        odds = math.log(6.0 / BETA / min(1e-5 * fit / 2.0, 0.125))
        best.append(inner + rank(odds, sharp, 750.0))
    far = sigma * stats.norm.ppf(0.5 + min(best)) + 0.03
    assert picture.off(sigma, BETA) == pytest.approx(far, rel=1e-3)
    share = 0.5 - rank(math.log(64.0 / (0.0145 / 2.0) / BETA), 3.0 * sharp, 2000.0)
    most = 1.0625 * 5.6 / stats.norm.ppf((1.0 + share) / 2.0)
    assert picture.sigma(BETA) == pytest.approx(most, rel=1e-3)


PEOPLE = {0.2: 300, 1.0: 100}
