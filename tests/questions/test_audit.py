"""Audits by sampling: of entire releases, and of the algorithms as printed in the papers.

The audits are seeded. Each audit rejects a correct mechanism with probability at most 10⁻³.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import epsilons as ep
from epsilons.draws.mechanisms.sums import stays
from epsilons.papers.diffusion import rate
from tests import compared
from tests.assumed import GAUSSIAN

STEPS = 8

PAIRS = {
    "the middle to the end of floats": (0.0, 1.7976931348623157e308),
    "one of two clusters to the other": (-1e6, 1e6),
    "a constant to a subnormal": (0.0, 5e-324),
}


def released(
    first: float, others: np.ndarray, epsilon: np.ndarray, method: str
) -> Callable[[int], np.ndarray]:
    """Return a sampler of entire releases: the value, the range, the centre and the deviation."""
    values = np.append(others, first)
    seeds = iter(range(10**6))

    def sample(size: int) -> np.ndarray:
        rows = []
        for _ in range(size):
            release: Any = compared.mean(
                values,
                bounds=None,
                epsilon=epsilon,
                method=method,
                source=ep.Seeded(next(seeds)),
                **GAUSSIAN,
            )
            picture = release.estimate.margin.picture
            rows.append([release.value, *release.bounds, picture.centre, picture.deviation])
        return np.arcsinh(np.array(rows) * 1e3)

    return sample


def noise(epsilon: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return discrete Laplace noise on a lattice of `STEPS` per unit.

    Noise in floats would leak through the low bits of a sum.
    """
    fail = 1.0 - np.exp(-epsilon / STEPS)
    return np.asarray(rng.geometric(fail, size) - rng.geometric(fail, size))


def diffused(value: int, keep: Fraction, base: float, seed: int) -> Callable[[int], np.ndarray]:
    """Return a sampler of one person's noisy count.

    A coin decides whether the person is kept. The noise has privacy loss `base`.
    """
    rng = np.random.default_rng(seed)

    def sample(size: int) -> np.ndarray:
        kept = stays(ep.Seeded(seed), (keep,), np.zeros(size, dtype=np.int64)) & (value > 0)
        return np.asarray(kept * STEPS + noise(base, rng, size))

    return sample


def test_printed_algorithm_6_is_caught_and_ours_is_not() -> None:
    epsilon, base = 0.4, 4.0
    exact = rate(Fraction(epsilon), Fraction(base))
    for keep, passes in ((Fraction(epsilon / base), False), (exact, True)):
        found = ep.verify.audit(
            diffused(1, keep, base, 1), diffused(0, keep, base, 2), epsilon=epsilon, samples=200_000
        )
        assert found.passes is passes


def reduced(present: int, count: float, rest: float, seed: int) -> Callable[[int], np.ndarray]:
    """Return a sampler of the noisy count of an octave, with the noisy sum of one slot."""
    rng = np.random.default_rng(seed)

    def sample(size: int) -> np.ndarray:
        counted = present * STEPS + noise(count, rng, size)
        slot = present * STEPS + noise(rest, rng, size)
        return np.column_stack([counted, slot])

    return sample
