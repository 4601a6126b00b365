"""Sums by chance: who was drawn into a sample, or which limit was dealt to whom.

Where enough people carry such a sum, by public weights alone, it is normal (the central limit
theorem; Hoeffding 1951 for what was dealt). Below that, Hoeffding's inequality.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENOUGH", "carried", "hoeffding", "normal_tail"]

Floats = NDArray[np.float64]

ENOUGH: Final = 25.0
"""The least number of people of equal weight whose sum is normal; noise counts as people."""

NOISE: Final = 8.0
"""Noise of variance 2 hides the shape of a sum as people with so many squared weights would."""

TERMS: Final = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
    1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip


def normal_tail(x: Floats) -> Floats:
    """Return P(N > x) for a standard normal N, with a relative error below 1.2·10⁻⁷."""
    z = np.abs(x) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.5 * z)
    series = np.zeros_like(t)
    for term in reversed(TERMS):
        series = series * t + term
    half: Floats = 0.5 * t * np.exp(-z * z + series)
    tail: Floats = np.where(x >= 0.0, half, 1.0 - half)
    return tail


def carried(weights: Floats, people: Floats) -> float:
    """Return how many people of equal weight have a sum of the same kurtosis, noise included."""
    square, fourth = float(people @ weights**2), float(people @ weights**4)
    return (square + NOISE) ** 2 / fourth if fourth > 0.0 else np.inf


def hoeffding(x: Floats, square: Floats) -> Floats:
    """Bound P(S > x) for a sum of terms whose ranges have this sum of squares."""
    return np.exp(-2.0 * np.maximum(x, 0.0) ** 2 / np.maximum(square, 1e-300))
