"""The errors that a release from local reports states follow from the budgets of its reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import epsilons as ep
from epsilons.risk.local import spread
from epsilons.types import Floats

BETA = 0.05
EPSILON = np.repeat([0.5, 2.0], [300, 200])
PLACES = np.random.default_rng(1).random(500)


def coth(x: Floats) -> Floats:
    return 1.0 / np.tanh(x)


CASES: dict[str, tuple[Any, Any, float, Floats, Floats]] = {
    # The question, the values, the length of the range, and two numbers for each person, on a unit
    # range: the largest variance of the bounded part of a report, and that of its Laplace noise.
    "bit": (ep.local.Bit(), PLACES < 0.4, 1.0, coth(EPSILON / 2.0) ** 2 / 4.0, 0.0 * EPSILON),
    "mean": (
        ep.local.Mean(bounds=(-10.0, 30.0), method="bit"),
        40.0 * PLACES - 10.0,
        40.0,
        coth(EPSILON / 2.0) ** 2 / 4.0,
        0.0 * EPSILON,
    ),
    "laplace": (
        ep.local.Mean(bounds=(-10.0, 30.0), method="laplace"),
        40.0 * PLACES - 10.0,
        40.0,
        0.25 + 0.0 * EPSILON,
        2.0 / EPSILON**2,
    ),
    "frequencies": (
        ep.local.Frequencies([0, 1, 2], method="rappor"),
        np.floor(3.0 * PLACES).astype(np.int64),
        1.0,
        coth(EPSILON / 4.0) ** 2 / 4.0,
        0.0 * EPSILON,
    ),
}


def reach(weights: Floats, bounded: Floats, laplace: Floats, beta: float) -> float:
    """Return Chernoff's bound on a weighted sum, by a search for the best rate."""
    proxy = float(weights**2 @ bounded)
    scales = weights * np.sqrt(laplace / 2.0)

    def bound(rate: float) -> float:
        log = rate**2 * proxy / 2.0 - float(np.log1p(-((rate * scales) ** 2)).sum())
        return (log + math.log(2.0 / beta)) / rate

    top = 0.999 / float(scales.max()) if scales.any() else 1e4
    return float(optimize.minimize_scalar(bound, bounds=(1e-6, top), method="bounded").fun)


@pytest.mark.parametrize("weights", ["variance", "uniform"])
@pytest.mark.parametrize("case", CASES)
def test_errors_follow_from_budgets(case: str, weights: Any) -> None:
    question, values, width, bounded, laplace = CASES[case]
    each = bounded + laplace
    own = np.ones(len(each)) if weights == "uniform" else 1.0 / each
    mse = width**2 * float(own**2 @ each) / float(own.sum()) ** 2
    reports = question.randomize_many(values, EPSILON, ep.Seeded(1))
    release = question.estimate(reports, weights=weights)
    assert release.risk == pytest.approx(mse, rel=1e-6)
    ends = [(release.interval(1.0 - BETA), 0.0, BETA)]
    if case == "frequencies":
        ends.append((release.band(1.0 - BETA), 0.0, BETA / 3.0))
    else:
        # Half of β is for the people who report. Weights move their mean by at most this much.
        bias = 0.5 * math.sqrt(len(own) * float(own @ own) / float(own.sum()) ** 2 - 1.0)
        sample = math.sqrt(math.log(4.0 / BETA) / (2.0 * len(own)))
        side = release.sides[1]
        assert side.related == 0.05
        ends.append(((side.low, side.high), 0.05 * width * (bias + sample), BETA / 2.0))
    raw = np.atleast_1d(release.raw)
    for (low, high), aside, beta in ends:
        far = aside + width * reach(own / own.sum(), bounded, laplace, beta)
        inside = np.atleast_1d(low) > release.estimate.limits[0]
        assert (raw - low)[inside] == pytest.approx(far, rel=2e-3)
        assert high - raw == pytest.approx(far, rel=2e-3)


def test_a_coordinate_is_as_far_off_as_its_variance_allows() -> None:
    """With small budgets, the error of a coordinate is nearly Gaussian.

    Each of the five coordinates has a fifth of the squared error.
    """
    question = ep.local.Vector(dimension=5, radius=2.0)
    values = np.random.default_rng(1).normal(size=(500, 5))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    release = question.estimate(question.randomize_many(values, np.full(500, 0.5), ep.Seeded(1)))
    low, high = release.interval(1.0 - BETA)
    far = math.sqrt(2.0 * release.risk / 5.0 * math.log(2.0 / BETA))
    inside = (low > -2.0) & (high < 2.0)
    assert inside.sum() > 2
    assert ((high - low) / 2.0)[inside] == pytest.approx(far, rel=0.05)
    # A report is the sign of the product of the vector and a random direction. The product has mean
    # absolute value 3/8.
    each = (2.0 / (0.375 * math.tanh(0.25))) ** 2
    assert release.risk == pytest.approx(each / 500.0, rel=0.01)
    # Three of 500 reports are lies, which point away from the others as far as any report can.
    lies = 3.0 * (math.sqrt(each) + float(np.linalg.norm(release.raw))) / 497.0
    assert release.influence(3) == pytest.approx(lies, rel=0.01)
    squared = (
        release.risk / 5.0 * (5.0 + 2.0 * math.sqrt(-5.0 * math.log(BETA)) - 2.0 * math.log(BETA))
    )
    assert release.radius(1.0 - BETA) == pytest.approx(math.sqrt(squared), rel=0.05)


@pytest.mark.parametrize("dimension", [2, 10, 100])
def test_a_direction_that_says_nothing_is_as_spread_as_a_sign(dimension: int) -> None:
    assert float(spread(np.zeros(1), dimension)[0]) == pytest.approx(1.0, abs=0.02)
