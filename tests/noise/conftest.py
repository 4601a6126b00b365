"""Goodness-of-fit tests for every sampler, with one false-alarm probability for all tests.

Each test rejects a correct sampler with probability `ALPHA`. For the binomial test this is an upper
bound. For the chi-square test it is asymptotic. With 100 expected counts per cell, the minimum
here, the true probability is larger by a factor of up to 30: that is how much larger the tail of a
Poisson count of mean 100 is than that of its normal approximation. There are fewer than 300 such
tests in tests/noise. So their total false-alarm probability was below 1e-6 when their seeds were
first chosen. With these seeds they are deterministic, except for a few tests of the system's
entropy and of OpenDP, which document this.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from scipy import special

from epsilons.draws.noise import Source

ALPHA = 1e-10
LEAST = 100.0


class Tape(Source):
    """A source of randomness that returns the given words, and then raises an error."""

    def __init__(self, words: Iterable[int]) -> None:
        self.tape = list(words)

    def bytes(self, count: int) -> builtins.bytes:
        taken = [self.tape.pop(0).to_bytes(8, "little") for _ in range((count + 7) // 8)]
        return b"".join(taken)[:count]


def chi_square(observed: Sequence[float], probabilities: Sequence[float]) -> float:
    """Return the p-value of counts for given cell probabilities; small cells are pooled."""
    total = sum(observed)
    assert abs(sum(probabilities) - 1.0) < 1e-9
    pooled: list[list[float]] = [[0.0, 0.0]]
    for seen, probability in zip(observed, probabilities, strict=True):
        if pooled[-1][1] >= LEAST:
            pooled.append([0.0, 0.0])
        pooled[-1][0] += seen
        pooled[-1][1] += total * probability
    if len(pooled) > 1 and pooled[-1][1] < LEAST:
        seen, expected = pooled.pop()
        pooled[-1][0] += seen
        pooled[-1][1] += expected
    assert len(pooled) >= 2, "too few draws to test anything"
    statistic = sum((seen - expected) ** 2 / expected for seen, expected in pooled)
    return float(special.chdtrc(len(pooled) - 1, statistic))


def two_samples(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the p-value of a test that two samples of counts have the same distribution."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    share = min(a.sum(), b.sum()) / (a.sum() + b.sum())
    cells: list[list[float]] = [[0.0, 0.0]]
    for x, y in zip(a, b, strict=True):
        if sum(cells[-1]) * share >= LEAST:
            cells.append([0.0, 0.0])
        cells[-1][0] += x
        cells[-1][1] += y
    if len(cells) > 1 and sum(cells[-1]) * share < LEAST:
        x, y = cells.pop()
        cells[-1][0] += x
        cells[-1][1] += y
    table = np.array(cells)
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return float(special.chdtrc(len(cells) - 1, statistic))


def binomial(heads: int, tosses: int, probability: float) -> float:
    """Return the exact two-sided p-value of a number of heads."""
    fewer = float(special.bdtr(heads, tosses, probability))
    more = float(special.bdtrc(heads - 1, tosses, probability)) if heads else 1.0
    return min(1.0, 2.0 * min(fewer, more))


@pytest.fixture(scope="session")
def alpha() -> float:
    return ALPHA


@pytest.fixture(scope="session")
def fit() -> Callable[[Sequence[float], Sequence[float]], float]:
    return chi_square


@pytest.fixture(scope="session")
def same() -> Callable[[Sequence[int], Sequence[int]], float]:
    return two_samples


@pytest.fixture(scope="session")
def coin() -> Callable[[int, int, float], float]:
    return binomial


@pytest.fixture(scope="session")
def tape() -> Callable[[Iterable[int]], Source]:
    return Tape
