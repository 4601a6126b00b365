"""Survey weights as units: somebody of weight w counts as so many people who share the limit."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons_next.errors import DataError

__all__ = ["UNITS", "one_unit", "rounding", "units_of"]

UNITS: Final = 1 << 32
"""The most units that a table may have: so many times the grid fit in 64 bits."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def one_unit(weights: Floats, people: Integers) -> float:
    """Return the weight of one unit: 1 if all are whole and few enough, otherwise a power of two.

    It is a fact of persons, never of rows: how many rows somebody has is an answer.

    Raises:
        DataError: weights add up to more than a number can be.
    """
    total = float(weights @ people)
    if not math.isfinite(total):
        raise DataError("weights: they add up to more than a number can be.")
    if total <= UNITS and bool((weights == np.floor(weights)).all()):
        return 1.0
    return math.ldexp(1.0, math.frexp(total)[1] - 31)


def units_of(weights: Floats, one: float) -> Integers:
    """Return everybody's units, at least one."""
    return np.maximum(np.rint(weights / one), 1.0).astype(np.int64)


def rounding(weights: Floats, units: Integers, people: Integers) -> float:
    """Return how far a mean moves because weights were rounded, at most, of the range.

    Proof: docs/proofs/next/weights.md (2).
    """
    if not people.any():
        return 0.0
    wanted, had = weights / float(weights @ people), units / float(units @ people)
    return 0.5 * float(people @ np.abs(wanted - had)) * (1.0 + 1e-9)
