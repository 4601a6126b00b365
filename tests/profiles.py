"""Ordinary and extreme budgets, shared by tests."""

from __future__ import annotations

import math

import numpy as np

from epsilons import Budgets


def _levels(seed: int, low: float, high: float, people: int) -> Budgets:
    rng = np.random.default_rng(seed)
    return Budgets(np.exp(rng.uniform(low, high, people)))


def _past_the_door(levels: list[float], counts: list[int]) -> Budgets:
    """Return budgets outside of the public range of ε, without clipping them to it."""
    made = Budgets.of_levels(np.array(levels), np.array(counts, dtype=np.int64))
    assert made.levels.tolist() == levels
    return made


ADVERSARIAL: dict[str, Budgets] = {
    "tiny": Budgets({1e-12: 5, 3e-10: 7}),
    "smallest": Budgets({2.0**-60: 3, 1e-18: 2}),
    "subnormal": _past_the_door([5e-324, 1e-310], [3, 2]),
    "huge": Budgets({50.0: 4, 1e6: 3, 2.0**20: 2}),
    "huger": _past_the_door([50.0, 1e6, 1e300], [4, 3, 2]),
    "equal": Budgets({0.7: 12}),
    "dyadic": Budgets({0.25: 6, 1.0: 3, 4.0: 2}),
    "one public": Budgets({0.1: 20, 1.0: 9, math.inf: 1}),
    "all public": Budgets({math.inf: 6}),
    "one zero": Budgets({0.0: 1, 0.3: 10, 2.0: 4}),
    "zero and public": Budgets({0.0: 5, math.inf: 4}),
    "tiny next to huge": Budgets({1e-9: 50, 1e3: 2, math.inf: 1}),
    "thousands of levels": _levels(1, -6.0, 3.0, 2500),
}
"""Extreme budgets: tiny, huge, equal, one public, one zero, thousands of levels, and mixtures."""

ORDINARY: dict[str, Budgets] = {
    "half strict": Budgets({0.05: 200, 1.0: 200}),
    "log-uniform": _levels(2, math.log(0.1), 0.0, 400),
    "wide": _levels(3, -5.0, 5.0, 300),
    "menu with public and zero": Budgets({0.0: 40, 0.05: 150, 0.5: 300, 2.0: 100, math.inf: 10}),
    "odd and few": Budgets({0.5: 6, 2.0: 5}),
}
"""Realistic budgets."""
