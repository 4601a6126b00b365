"""Who has which budget: the profiles on which ours and theirs are compared, and exact errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks import combining
from benchmarks.combining import Combination
from epsilons import risk
from epsilons.papers.sampling import best_coins
from epsilons.risk import Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import UNRELATED
from epsilons.types import Floats

PEOPLE = 10_000
SEED = 8

NAMED = ("uniform", "threshold", "groups", "groups by noise")
"""What is usually done: all alike, drop the strict, one release for each group."""

CLEVER = ("composition", "sampling")
"""What comes nearer: people in several releases, and a coin for each person."""

GUESS = 0.15
"""A guess of the standard deviation, as somebody makes it who knows such data."""

OURS = ("ours", f"ours, spread={GUESS}")
"""Ours, and ours with that guess."""

Draw = Callable[[np.random.Generator, int], Floats]


def _levels(people: Mapping[float, float]) -> Draw:
    """Budgets with the shares of people who have them; at least one person has each."""

    def draw(rng: np.random.Generator, n: int) -> Floats:  # noqa: ARG001
        counts = np.maximum(np.floor(np.array(list(people.values())) * n), 1).astype(np.int64)
        counts[np.argmax(counts)] += n - counts.sum()
        return np.repeat(np.array(list(people)), counts)

    return draw


WIDE, NARROW, TWO = "log ε ~ U[−3, 1]", "ε log-uniform on [0.1, 1]", "half 0.1, half 1"
EQUAL = "everyone 0.5"

PROFILES: dict[str, Draw] = {
    WIDE: lambda rng, n: np.exp(rng.uniform(-3.0, 1.0, n)),
    NARROW: lambda rng, n: np.exp(rng.uniform(math.log(0.1), 0.0, n)),
    "lognormal, median 0.3, σ = 1": lambda rng, n: 0.3 * np.exp(rng.normal(0.0, 1.0, n)),
    "Pareto from 0.05, index 1": lambda rng, n: 0.05 * (1.0 + rng.pareto(1.0, n)),
    "menu 0.05, 0.1, 0.5, 1, 2": _levels({0.05: 0.2, 0.1: 0.2, 0.5: 0.2, 1.0: 0.2, 2.0: 0.2}),
    TWO: _levels({0.1: 0.5, 1.0: 0.5}),
    "half 0.01, half 1": _levels({0.01: 0.5, 1.0: 0.5}),
    "90 % 0.1, 10 % 1": _levels({0.1: 0.9, 1.0: 0.1}),
    "10 % 0.1, 90 % 1": _levels({0.1: 0.1, 1.0: 0.9}),
    "one at 0.01, all others 1": _levels({0.01: 0.0, 1.0: 1.0}),
    "20 % 0, 60 % 0.1, 19.5 % 0.5, 0.5 % public": _levels(
        {0.0: 0.2, 0.1: 0.6, 0.5: 0.195, math.inf: 0.005}
    ),
    EQUAL: _levels({0.5: 1.0}),
}
"""Who has which budget."""


@dataclass(frozen=True, eq=False)
class Compared:
    """One profile: ours as it is really released, and the best of every kind of theirs.

    Attributes:
        name: of the profile.
        epsilon: everyone's budget, the strictest first.
    """

    name: str
    epsilon: Floats

    @cached_property
    def budgets(self) -> ep.Budgets:
        """As levels."""
        return ep.Budgets(self.epsilon)

    @cached_property
    def ours(self) -> Any:
        """What `ep.mean` really draws from: budgets to nine bits, whole weights."""
        return mean_of(np.zeros(len(self.epsilon)), self.epsilon, 0).mechanism

    @cached_property
    def own(self) -> dict[str, Any]:
        """Ours without a guess of the spread, and with one."""
        guessed = mean_of(np.zeros(len(self.epsilon)), self.epsilon, 0, GUESS).mechanism
        return dict(zip(OURS, (self.ours, guessed), strict=True))

    @cached_property
    def theirs(self) -> dict[str, Combination]:
        """The best of every kind, for the exact budgets."""
        noise = risk.noise_per_square(UNRELATED, self.budgets.n)
        return combining.best_of_each(self.budgets, noise)

    @cached_property
    def worst(self) -> dict[str, float]:
        """The exact worst-case mean squared errors."""
        sampled = best_coins(self.budgets, MeanGoal(UNRELATED, "mse", 0.95)).weighing
        return {
            "ours": float(risk.mse(self.ours.weighing, UNRELATED)),
            **{name: one.mse() for name, one in self.theirs.items()},
            "sampling": float(risk.mse(sampled, UNRELATED)),
        }

    def gain(self, names: tuple[str, ...]) -> float:
        """The least of their worst-case errors over ours."""
        return min(self.worst[name] for name in names) / self.worst["ours"]

    def estimators(self) -> dict[str, Weighing]:
        """All that are measured, as risk reads them."""
        return {name: each.weighing for name, each in (self.own | self.theirs).items()}


def mean_of(values: Floats, epsilon: Floats, seed: int, spread: float | None = None) -> Any:
    """Ours, as users call it; Laplace noise, as theirs has."""
    return ep.mean(
        values,
        epsilon=epsilon,
        bounds=(0.0, 1.0),
        about="people",
        related=False,
        spread=spread,
        method="optimal",
        source=ep.Seeded(seed),
    )


def compared(n: int, names: tuple[str, ...] = tuple(PROFILES)) -> list[Compared]:
    """The profiles with n people."""
    rng = np.random.default_rng(SEED)
    return [Compared(name, np.sort(PROFILES[name](rng, n))) for name in names]
