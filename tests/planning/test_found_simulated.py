"""Means on a range that was found have errors within the forecasts of plans.

With `shape="any"`, the error is Laplace noise of the forecast scale, because weights are equal for
these people. So the sum of absolute errors, in units of that scale, has a Gamma distribution. For
Gaussian data the error is a mixture of normal distributions. So the mean of its absolute value is
at most √(2/π) times its root mean square, and the standard deviation of its absolute value is at
most the root mean square. Each of the eight cases raises a false alarm with probability at most
10⁻¹⁰; in the two Gaussian cases, this is by the central limit theorem. So about one run in 10⁹
raises one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import gamma, norm

from epsilons.results.release import Scalar
from tests.assumed import GAUSSIAN
from tests.planning.test_found import PEOPLE, planned, published

pytestmark = pytest.mark.statistical

TAIL = 1e-10
RUNS = 600
N = sum(PEOPLE.values())

Column = Callable[[np.random.Generator], NDArray[np.float64]]
COLUMNS: dict[str, Column] = {
    "normal": lambda rng: rng.normal(0.0, 10.0, N),
    "skewed": lambda rng: rng.lognormal(3.0, 1.0, N),
    "mostly zeros": lambda rng: np.where(rng.random(N) < 0.68, 0.0, rng.poisson(4.0, N)),
}


def absolute_errors(name: str, neighbours: str) -> NDArray[np.float64]:
    """Return the errors of the mean of the clipped values, as fractions of the range found."""
    rng = np.random.default_rng(sum(map(ord, name)))
    found = []
    for seed in range(RUNS):
        values = COLUMNS[name](rng)
        release = published(values, PEOPLE, seed, neighbours=neighbours)
        lo, hi = cast(Scalar, release.estimate).bounds
        found.append(abs(release.raw - np.clip(values, lo, hi).mean()) / (hi - lo))
    return np.array(found)


def fits(errors: NDArray[np.float64], rmse: float) -> bool:
    """Return whether the errors are plausible if the true root mean square is at most `rmse`."""
    scale = rmse / math.sqrt(2.0)
    return bool(gamma.sf(errors.sum() / scale, len(errors)) > TAIL)


@pytest.mark.rotates(3)
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_errors_of_any_data_are_within_the_forecast(name: str, neighbours: str) -> None:
    plan = planned(PEOPLE, neighbours=neighbours)
    forecast = plan.forecasts[0]
    errors = absolute_errors(name, neighbours)
    assert fits(errors, forecast.rmse)
    if neighbours == "replace":  # the forecast is exact, so 0.7 times the forecast is rejected
        assert not fits(errors, 0.7 * forecast.rmse)
    assert np.count_nonzero(errors > forecast.pac) <= 0.05 * RUNS + 6.4 * math.sqrt(0.05 * RUNS)


@pytest.mark.rotates(3)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_errors_of_gaussian_data_are_within_the_forecast(neighbours: str) -> None:
    plan = planned(PEOPLE, neighbours=neighbours, **GAUSSIAN)
    rng = np.random.default_rng(12)
    errors = np.array(
        [
            abs(
                published(
                    rng.normal(50.0, 10.0, N), PEOPLE, seed, neighbours=neighbours, **GAUSSIAN
                ).raw
                - 50.0
            )
            / 10.0
            for seed in range(RUNS)
        ]
    )
    mean = math.sqrt(2.0 / math.pi)
    most = mean + float(norm.isf(TAIL)) / math.sqrt(RUNS)
    assert errors.mean() < most * plan.forecasts[0].rmse
    assert errors.mean() > most * 0.6 * plan.forecasts[0].rmse  # 0.6 times the forecast is rejected
    assert np.count_nonzero(errors > plan.forecasts[0].pac) <= 0.05 * RUNS
