"""Bands of a sample cover all shares simultaneously as often as stated, and are nearly tight.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁷: about 60 comparisons at 10⁻⁹ each, by the exact binomial
tail.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.budgets.allocation import Allocation
from tests.statistical.test_frequencies import closed_noise

RUNS = 10_000
TAIL = 1e-9


PEOPLE = {
    "a thousand": ep.Budgets({0.1: 500, 1.0: 500}),
    "ten thousand": ep.Budgets({0.1: 5000, 1.0: 5000}),
    "three hundred, large budgets": ep.Budgets({1.0: 100, 3.0: 200}),
}


def planned(people: str, k: int, confidence: float) -> Allocation:
    return ep.allocate(
        PEOPLE[people],
        statistic="frequencies",
        categories=k,
        about="population",
        related=False,
        loss="pac",
        confidence=confidence,
        method="optimal",
    )


def errors_of(allocation: Allocation, k: int, even: int, seed: int) -> np.ndarray:
    """Return the largest error in each run.

    `even` cells are equally likely, and the others are empty.
    """
    shares = np.zeros(k)
    shares[:even] = 1.0 / even
    weighing = allocation.weighing
    errors = weighing.scale * closed_noise(k, seed)[:RUNS]
    assert len(errors) == RUNS
    rng = np.random.default_rng(seed)
    for weight, count in zip(weighing.weights.tolist(), weighing.counts.tolist(), strict=True):
        errors += weight * (rng.multinomial(count, shares, RUNS) - count * shares)
    return np.abs(errors).max(axis=1)


@pytest.mark.parametrize("people", ["a thousand", "ten thousand"])
def test_bands_that_are_a_tenth_narrower_do_not(people: str) -> None:
    """Power: bands that are 10 % narrower miss too often if there are three equal shares."""
    allocation = planned(people, 4, 0.95)
    missed = int((errors_of(allocation, 4, 3, seed=22) > 0.9 * allocation.risk).sum())
    assert missed > binom.isf(TAIL, RUNS, 0.05)
