"""The public integer grid and the keys of budget levels, in NumPy.

`engine.py` writes the same two rules as expressions; one property test holds them together.
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["GRID", "HALF", "HUGE", "LARGEST", "SPLITTER", "Floats", "Integers", "keys", "to_grid"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

GRID: Final = 2**30
"""The steps between the lower and the upper bound: a value is an integer in [0, GRID]."""

HALF: Final = GRID // 2
"""The middle of the grid: what a missing value becomes under missing="midpoint"."""

LARGEST: Final = sys.float_info.max
"""The largest finite float."""

SPLITTER: Final = 2.0**44 + 1.0
"""Veltkamp's constant that leaves 53 - 44 = 9 significant bits."""

HUGE: Final = 2.0**900
"""Budgets above it, infinity among them, are their own keys: times SPLITTER they may overflow."""


def to_grid(values: Floats, bounds: tuple[float, float]) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return every value on the grid (0 where it is missing), and where it is not missing."""
    lo, hi = bounds
    valid = np.isfinite(values)
    steps = np.where(valid, values, lo)
    with np.errstate(over="ignore"):
        steps -= lo
        steps *= GRID / (hi - lo)
    steps += 0.5
    # The floor of any float from 0 to GRID + ½ is a whole number from 0 to GRID: no theory of
    # rounding is needed for privacy.
    np.clip(steps, 0.0, GRID + 0.5, out=steps)
    grid = np.floor(steps, out=steps).astype(np.int64)
    grid[~valid] = 0
    return grid, valid


def keys(epsilon: Floats) -> Floats:
    """Return `epsilon`, which must not be negative, rounded to 9 significant bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = epsilon * SPLITTER
        rounded: Floats = product - (product - epsilon)
    return np.where(epsilon <= HUGE, rounded, epsilon)
