"""The public integer grid, in NumPy.

`grid_engine.py` writes the same rule as an expression; one property test holds them together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from epsilons.types import Booleans, Floats, Integers

__all__ = ["GRID", "HALF", "LARGEST", "Rule", "over_grid", "squares", "to_grid"]

GRID: Final = 2**30
"""The steps between the lower and the upper bound: a value is an integer in [0, GRID]."""

HALF: Final = GRID // 2
"""The middle of the grid: what a missing value becomes under missing="midpoint"."""

_SHIFT: Final = GRID.bit_length() - 1

LARGEST: Final = sys.float_info.max
"""The largest finite float."""


Rule: TypeAlias = Callable[[Any], Any]
"""A public function from [0, 1] to [0, 1], of a value as its share of the range. Nothing is done in
it but +, - and *, so that an array of NumPy and an expression of an engine have the same floats."""


def to_grid(
    values: Floats, bounds: tuple[float, float], rule: Rule | None = None
) -> tuple[Integers, Booleans]:
    """Return every value on the grid (0 where it is missing), and where it is not missing.

    Args:
        values: numbers, NaN or infinite where they are missing.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
    """
    lo, hi = bounds
    valid = np.isfinite(values)
    whole = bool(valid.all())
    with np.errstate(over="ignore"):
        steps = values - lo if whole else np.where(valid, values, lo) - lo
        steps *= (GRID if rule is None else 1.0) / (hi - lo)
    if rule is not None:
        steps = rule(np.clip(steps, 0.0, 1.0, out=steps)) * GRID
    steps += 0.5
    # The floor of any float from 0 to GRID + ½ is a whole number from 0 to GRID: no theory of
    # rounding is needed for privacy.
    np.clip(steps, 0.0, GRID + 0.5, out=steps)
    grid = steps.astype(np.int64)  # which leaves out what is after the point
    if not whole:
        grid[~valid] = 0
    return grid, valid


def squares(grid: Integers) -> Integers:
    """Return floor((g − GRID/2)² / GRID) of integers g from 0 to GRID: the squares, on the grid.

    They are from 0 to GRID/4, and two of them and their g differ by GRID at most, taken together:
    docs/proofs/moment.md. `grid_engine.py` writes the same without a quotient of integers.
    """
    off = grid - HALF
    off *= off
    off >>= _SHIFT  # the floor of a quotient by a power of two
    return off


def over_grid(p: Integers, q: Integers) -> Integers:
    """Return floor(p·q / GRID) of whole numbers from 0 to GRID: the products are below 2⁶¹."""
    return p * q // GRID
