"""Means with an unknown range: errors (compared with a known range), wrong ranges, and coverage.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail each
comparison with probability at most 10⁻⁸. Mean squares are compared with a quantile of χ², and
counts with the exact binomial tail. There are fewer than fifty comparisons.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, chi2

import epsilons as ep
from epsilons.budgets.allocation.rules import square_cap
from epsilons.risk.weighing import SAMPLE
from tests import compared

TAIL = 1e-8
PROFILES = ("half and half", "log-uniform")


def budgets(profile: str, n: int, seed: int) -> np.ndarray:
    if profile == "half and half":
        return np.where(np.arange(n) % 2 == 0, 0.05, 1.0)
    return np.asarray(10.0 ** np.random.default_rng([9, seed]).uniform(-1.0, 0.0, n))


def oracle(epsilon: np.ndarray) -> float:
    """Return the standard error, in σ, of the capped mean if the range μ ± 4σ is known."""
    spent = np.minimum(epsilon, square_cap(ep.Budgets(epsilon), 2.0 * 8.0**2))
    return math.sqrt(float(spent @ spent) + 2.0 * 8.0**2) / float(spent.sum())


@cache
def simulate(
    profile: str, n: int, runs: int, neighbours: str = "replace", method: str = "auto"
) -> tuple[np.ndarray, int, float]:
    """Simulate releases.

    Return errors in σ, the number of intervals that cover, and the median half-width in σ.
    """
    errors, held, widths = [], 0, []
    for seed in range(runs):
        mu, sigma = ((1000.0, 2.0), (-3.0, 1.0))[seed % 2]
        values = np.random.default_rng([n, seed]).normal(mu, sigma, n)
        release = compared.mean(
            values,
            bounds=None,
            epsilon=budgets(profile, n, seed),
            neighbours=neighbours,
            levels=[0.05, 1.0] if neighbours == "add-remove" else None,
            method=method,
            shape="gaussian",
            **asdict(SAMPLE),
            source=ep.Seeded(seed),
        )
        low, high = release.interval(0.9)
        held += low <= mu <= high
        widths.append((high - low) / 2.0 / sigma)
        errors.append((release.value - mu) / sigma)
    return np.array(errors), held, float(np.median(widths))


def within(errors: np.ndarray, limit: float) -> bool:
    """Return whether the mean square is plausible for normal errors of this standard deviation."""
    return float(errors @ errors) <= limit**2 * float(chi2.isf(TAIL, errors.size))


def test_close_to_the_oracle_under_add_remove() -> None:
    errors, held, width = simulate("half and half", 10_000, 60, "add-remove")
    best = oracle(budgets("half and half", 10_000, 0))
    assert within(errors, 1.4 * best)
    assert held >= binom.ppf(TAIL, 60, 0.9)
    assert width < 8.0 * best


@pytest.mark.parametrize(
    ("law", "mean", "sigma", "limit"),
    [
        ("laplace", 0.0, math.sqrt(2.0), 0.1),
        ("student", 0.0, math.sqrt(3.0), 0.1),
        ("wait", 1, 1, 0.1),
    ],
)
def test_heavy_tails_degrade_gently(law: str, mean: float, sigma: float, limit: float) -> None:
    rng = np.random.default_rng(11)
    n = 20_000
    values = {
        "laplace": rng.laplace(0.0, 1.0, n),
        "student": rng.standard_t(3, n),
        "wait": rng.exponential(1.0, n),
    }[law]
    release = ep.mean(
        values,
        bounds=None,
        shape="gaussian",
        **asdict(SAMPLE),
        epsilon=1.0,
        source=ep.Seeded(1),
    )
    assert abs(release.value - mean) < limit * sigma


def private(chance: np.random.Generator, seed: int) -> ep.Release:
    """Release a mean under add/remove. The data are 6,600 standard deviations from 0."""
    return ep.mean(
        6600.0 + chance.standard_normal(3000),
        bounds=None,
        epsilon=np.exp(chance.uniform(math.log(0.1), 0.0, 3000)),
        neighbours="add-remove",
        shape="gaussian",
        **asdict(SAMPLE),
        source=ep.Seeded(seed),
    )


def test_noisy_counts_of_nobody_do_not_pay_for_the_range() -> None:
    # Noisy counts are positive at some large budgets that nobody has. The range must not depend on
    # these counts.
    release = private(np.random.default_rng(1), 1_000_000)
    assert abs(release.value - 6600.0) < 1.0
