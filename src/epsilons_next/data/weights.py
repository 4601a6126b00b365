"""Survey weights as units: somebody of weight w counts as so many people who share the limit."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNITS", "one_unit", "rounding", "units_of"]

UNITS: Final = 1 << 32
"""The most units that a table may have: so many times the grid fit in 64 bits."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def one_unit(weights: Floats, people: Integers) -> float:
    """Return the weight of one unit: 1 if all are whole and few enough, otherwise a power of two.

    It is a fact of persons, never of rows: how many rows somebody has is an answer.
    """
    total, n = math.fsum(weights * people), int(people.sum())
    # So fine that rounding is a hundredth of the noise, and so coarse that ε per unit has a weight.
    most = min(UNITS / 2, 64.0 * n * n)
    if total <= most and bool((weights == np.floor(weights)).all()):
        return 1.0
    return math.ldexp(1.0, math.frexp(total / most)[1])


def units_of(weights: Floats, one: float) -> Integers:
    """Return everybody's units, at least one."""
    return np.maximum(np.rint(weights / one), 1.0).astype(np.int64)


def rounding(weights: Floats, units: Integers, people: Integers) -> float:
    """Return how far a mean moves because weights were rounded, at most, of the range.

    Proof: docs/proofs/next/weights.md (2).
    """
    if not weights.any():
        return 0.0
    wanted, had = weights / float(weights @ people), units / float(units @ people)
    return 0.5 * float(people @ np.abs(wanted - had)) * (1.0 + 1e-9)
