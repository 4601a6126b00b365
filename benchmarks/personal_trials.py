"""Measured errors of our method and of others, with values given to people in random order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks import combining
from benchmarks.personal_cases import SEED, Compared, mean_of
from epsilons.risk import cells
from epsilons.types import Floats

CATEGORIES = 20


@dataclass(frozen=True)
class Measured:
    """Squared errors of trials, and their expected value according to a formula."""

    squares: Floats
    expected: float

    @property
    def mean(self) -> float:
        return float(self.squares.mean())

    @property
    def error(self) -> float:
        return float(self.squares.std(ddof=1) / math.sqrt(len(self.squares)))

    @property
    def z(self) -> float:
        return abs(self.mean - self.expected) / self.error if self.error else 0.0

    def over(self, other: Measured) -> tuple[float, float]:
        """Return this mean squared error divided by another method's, and its standard error."""
        return ratio_of(self.squares, other.squares)


def ratio_of(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the ratio of the means of paired numbers, and its standard error."""
    ratio = float(first.mean() / second.mean())
    relative = first / first.mean() - second / second.mean()
    return ratio, ratio * float(relative.std(ddof=1)) / math.sqrt(len(relative))


def skewed(n: int) -> Floats:
    """Return realistic skewed values in [0, 1], many small and few large (mean 0.15)."""
    return np.random.default_rng(SEED).lognormal(-2.3, 0.9, n).clip(0.0, 1.0)


def extreme(n: int) -> Floats:
    """Return the worst-case values for unrelated budgets: half of the people at each end."""
    return (np.arange(n) % 2).astype(np.float64)


def measure(
    cases: list[Compared], population: Floats, trials: int, seed: int
) -> dict[tuple[str, str], Measured]:
    """Measure squared errors of all cases and estimators, on the same random orders of values."""
    n, rng = len(population), np.random.default_rng(seed)
    keys, columns, noises, expected = [], [], [], []
    factor = population.var() * n / (n - 1)
    for place, case in enumerate(cases):
        for name, one in case.estimators().items():
            keys.append((case.name, name))
            columns.append(np.repeat(one.weights, one.counts))
            expected.append(factor * one.spread + 2.0 * one.scale**2)
            if name in case.own:
                drawn = case.own[name].draw(ep.Seeded(seed + place), trials)[:, 0]
                noises.append(drawn.astype(np.float64) / float(case.own[name].divisor))
            else:
                scales = case.theirs[name].scales
                noises.append(rng.laplace(size=(trials, len(scales))) @ scales)
    weights, errors = np.column_stack(columns), np.column_stack(noises)
    for start in range(0, trials, 250):
        stop = min(start + 250, trials)
        shuffled = rng.permuted(np.tile(population, (stop - start, 1)), axis=1)
        errors[start:stop] += shuffled @ weights - population.mean()
    return {key: Measured(errors[:, j] ** 2, expected[j]) for j, key in enumerate(keys)}


def called(case: Compared, population: Floats, trials: int) -> Measured:
    """Measure squared errors of our method, by calling `ep.mean` on values in random order."""
    rng = np.random.default_rng(SEED + 2)
    truth, errors = population.mean(), np.empty(trials)
    for trial in range(trials):
        errors[trial] = mean_of(rng.permutation(population), case.epsilon, trial).raw - truth
    one = case.ours.weighing
    spread = population.var() * one.n / (one.n - 1) * one.spread
    return Measured(errors**2, spread + 2.0 * one.scale**2)


def with_opendp(case: Compared, population: Floats, trials: int) -> Measured:
    """Measure squared errors of the best division of people into groups by budget.

    OpenDP releases the mean of each group, with Laplace noise.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    one = case.theirs["groups"]
    below = np.concatenate([[0], np.cumsum(case.budgets.counts)])
    parts = []
    for first, last, epsilon, share in zip(
        one.first, one.last, one.epsilon, one.shares, strict=True
    ):
        size = int(below[last] - below[first])
        domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=size)
        # The scale is slightly more than 1/(m·ε), because OpenDP charges for rounding floats in
        # sums.
        release = (
            (domain, dp.symmetric_distance())
            >> dp.t.then_mean()
            >> dp.m.then_laplace(scale=(1.0 + 1e-9) / (size * float(epsilon)))
        )
        if not release.map(2) <= epsilon:  # replacing one person is a symmetric distance of 2
            raise RuntimeError("OpenDP charges more than the budget of the group.")
        parts.append((int(below[first]), int(below[last]), release, float(share)))
    rng, truth = np.random.default_rng(SEED + 3), population.mean()
    errors = np.empty(trials)
    for trial in range(trials):
        x = rng.permutation(population)
        errors[trial] = sum(u * release(x[i:j]) for i, j, release, u in parts) - truth
    spread = population.var() * one.budgets.n / (one.budgets.n - 1) * one.weighing.spread
    return Measured(errors**2, spread + 2.0 * one.weighing.scale**2)


def frequency_errors(case: Compared, trials: int) -> dict[str, tuple[Measured, Floats]]:
    """Measure the squared errors of 20 shares, for every method: their sum and the largest.

    Other methods release one table for each set of people in their `Combination`. All methods
    minimize the expected sum of the squared errors, which has a formula.
    """
    n, k = len(case.epsilon), CATEGORIES
    rng = np.random.default_rng(SEED + 4)
    shares = 1.0 / np.arange(1, k + 1)
    people = rng.choice(k, n, p=shares / shares.sum())
    truth = np.bincount(people, minlength=k) / n
    # Replacing a person changes two cells, so the noise in each of k cells has twice the scale.
    noise = 8.0 * k / ((1.0 - 1.0 / k) * n / (n - 1))
    theirs = combining.best_of_each(case.budgets, noise)
    mechanism: Any = ep.frequencies(
        people,
        epsilon=case.epsilon,
        categories=list(range(k)),
        about="people",
        related=False,
        method="optimal",
        source=ep.Seeded(SEED),
    ).mechanism
    drawn = mechanism.draw(ep.Seeded(SEED + 5), trials).astype(np.float64)
    every = {"ours": (mechanism.weighing, drawn / float(mechanism.divisor))}
    for name, one in theirs.items():
        scales = 2.0 * one.scales
        every[name] = (one.weighing, rng.laplace(size=(trials, k, len(scales))) @ scales)
    weights = {name: np.repeat(one.weights, one.counts) for name, (one, _) in every.items()}
    for trial in range(trials):
        x = rng.permutation(people)
        for name, (_, errors) in every.items():
            errors[trial] += np.bincount(x, weights=weights[name], minlength=k) - truth
    within = float(truth @ (1.0 - truth)) * n / (n - 1)
    noises = {name: cells.noise_square(k, one.closed) for name, (one, _) in every.items()}
    twice = {name: 1.0 if name == "ours" else 4.0 for name in every}
    return {
        name: (
            Measured(
                np.square(errors).sum(axis=1),
                within * one.spread + noises[name] * twice[name] * one.scale**2,
            ),
            np.square(errors).max(axis=1),
        )
        for name, (one, errors) in every.items()
    }
