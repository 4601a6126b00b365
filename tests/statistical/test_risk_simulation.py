"""PAC bounds hold on simulated worst-case two-point data, and are nearly tight.

Each of the 60 checks is a one-sided binomial test at 10⁻⁸. Every bound must hold, and errors must
exceed the bound divided by 1.45 with probability at least 5 %. Seeds are fixed. With random seeds,
correct code would fail at least one check with probability below 10⁻⁶.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Final

import numpy as np
import pytest
from scipy import stats

import epsilons as ep
from epsilons.risk.weighing import SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats

Generator = np.random.Generator

ALARM: Final = 1e-8
DRAWS: Final = {50: 60_000, 1000: 12_000}
LARGEST_RATIO: Final = 1.45

PROFILES: dict[str, Callable[[int, Generator], Floats]] = {
    "uniform": lambda n, _: np.full(n, 0.5),
    "half .05 and half 1": lambda n, _: np.repeat([0.05, 1.0], n // 2),
    "log-uniform on [.1, 1]": lambda n, rng: np.exp(rng.uniform(math.log(0.1), 0.0, n)),
    "log-uniform on [-5, 5]": lambda n, rng: np.exp(rng.uniform(-5.0, 5.0, n)),
    "a tenth public": lambda n, rng: np.where(
        np.arange(n) < n // 10, math.inf, np.exp(rng.uniform(math.log(0.1), 0.0, n))
    ),
}


def simulated(
    assumption: Assumption, share: float, weights: Floats, scale: float, rng: Generator
) -> Floats:
    """Simulate absolute errors of the release on data of zeros and ones."""
    n = len(weights)
    ones = round(share * n)
    sums = []
    for _ in range(DRAWS[n] // 2000):
        if assumption == SAMPLE:
            data = (rng.random((2000, n), dtype=np.float32) < share).astype(np.float64)
            sums.append(data @ weights - share)
        else:
            data = rng.permuted(np.tile(np.repeat([1.0, 0.0], [ones, n - ones]), (2000, 1)), axis=1)
            sums.append(data @ weights - ones / n)
    error = np.concatenate(sums)
    return np.abs(error + (rng.laplace(scale=scale, size=len(error)) if scale else 0.0))


@pytest.mark.statistical
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("n", DRAWS)
@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED])
@pytest.mark.parametrize("share", [0.5, 0.1], ids=["half ones", "a tenth ones"])
def test_the_95_percent_bound_holds_and_is_within_a_factor_of_the_truth(
    share: float, assumption: Assumption, n: int, profile: str
) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{share} {assumption.about} {n} {profile}".encode()))
    epsilon = PROFILES[profile](n, rng)
    found = ep.allocate(
        epsilon, **asdict(assumption), loss="pac", confidence=0.95, method="optimal"
    )
    weights = np.repeat(found.weights, found.counts)
    assert float(weights.sum()) == pytest.approx(1.0, rel=1e-12)
    error = simulated(assumption, share, weights, found.scale, rng)
    exceeded = int(np.sum(error > found.risk))
    assert exceeded <= stats.binom.isf(ALARM, len(error), 0.05)
    if share == 0.5:
        near = int(np.sum(error > found.risk / LARGEST_RATIO))
        assert near >= stats.binom.ppf(ALARM, len(error), 0.05)
