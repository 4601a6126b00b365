"""Budget profiles for comparing our method with others, and exact worst-case errors."""

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
"""The usual methods: one budget for everyone, drop people with a small ε, one release per group."""

CLEVER = ("composition", "sampling")
"""Methods with errors closer to ours: people in several releases, and random sampling of people."""

GUESS = 0.15
"""A realistic guess of the standard deviation, as a fraction of the range."""

OURS = ("ours", f"ours, spread={GUESS}")
"""Our method, without and with that guess."""

Draw = Callable[[np.random.Generator, int], Floats]


def _levels(people: Mapping[float, float]) -> Draw:
    """Return a function that draws budgets, given the share of people at each level.

    Each level has at least one person.
    """

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
"""Functions that draw the budgets, by name of the profile."""


@dataclass(frozen=True, eq=False)
class Compared:
    """One profile: our method as it is released, and the best method of every other kind.

    Attributes:
        name: name of the profile.
        epsilon: everyone's budget, ascending.
    """

    name: str
    epsilon: Floats

    @cached_property
    def budgets(self) -> ep.Budgets:
        """The budgets as levels with counts."""
        return ep.Budgets(self.epsilon)

    @cached_property
    def ours(self) -> Any:
        """The mechanism of `ep.mean`: budgets rounded to nine bits, integer weights."""
        return mean_of(np.zeros(len(self.epsilon)), self.epsilon, 0).mechanism

    @cached_property
    def own(self) -> dict[str, Any]:
        """Our mechanism, without and with a guess of the spread."""
        guessed = mean_of(np.zeros(len(self.epsilon)), self.epsilon, 0, GUESS).mechanism
        return dict(zip(OURS, (self.ours, guessed), strict=True))

    @cached_property
    def theirs(self) -> dict[str, Combination]:
        """The best combination of every other kind, for the exact budgets."""
        noise = risk.noise_per_square(UNRELATED, self.budgets.n)
        return combining.best_of_each(self.budgets, noise)

    @cached_property
    def worst(self) -> dict[str, float]:
        """The exact worst-case mean squared error of every method."""
        sampled = best_coins(self.budgets, MeanGoal(UNRELATED, "mse", 0.95)).weighing
        return {
            "ours": float(risk.mse(self.ours.weighing, UNRELATED)),
            **{name: one.mse() for name, one in self.theirs.items()},
            "sampling": float(risk.mse(sampled, UNRELATED)),
        }

    def gain(self, names: tuple[str, ...]) -> float:
        """Return the smallest worst-case error of these methods, divided by ours."""
        return min(self.worst[name] for name in names) / self.worst["ours"]

    def estimators(self) -> dict[str, Weighing]:
        """All measured estimators, as input for `risk`."""
        return {name: each.weighing for name, each in (self.own | self.theirs).items()}


def mean_of(values: Floats, epsilon: Floats, seed: int, spread: float | None = None) -> Any:
    """Release our mean as users would, with Laplace noise like the other methods."""
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
    """Return the named profiles with n people."""
    rng = np.random.default_rng(SEED)
    return [Compared(name, np.sort(PROFILES[name](rng, n))) for name in names]
