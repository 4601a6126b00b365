"""Going over many people in parts that stay in the cache: no large array is made on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from epsilons.budgets import Floats
from epsilons.local.menu import LEAST

SIZE = 9984
"""How many people a part holds: few enough that no linear algebra library starts threads."""


def parts(people: int, size: int = SIZE) -> Iterator[slice]:
    """Slices that cover everyone."""
    for start in range(0, people, size):
        yield slice(start, start + size)


def responses(epsilon: Floats, weights: str) -> Iterator[tuple[slice, Floats, Floats]]:
    """Part by part, the weight w of a randomized response, and w·c, with c = 1/tanh(ε/2).

    By variance and in paper *local* (Algorithms 2 and 5) w is 1/c²; a report that is pure noise,
    or nearly so, gets no weight, whatever was asked for.

    Args:
        epsilon: budgets.
        weights: "variance", "paper" or "uniform".

    Yields:
        (part, w, w·c). The arrays are used again for the next part.
    """
    size = min(SIZE, len(epsilon))
    slopes, squares = np.empty(size), np.empty(size)
    for part in parts(len(epsilon)):
        budgets = epsilon[part]
        slope, square = slopes[: len(budgets)], squares[: len(budgets)]
        np.multiply(budgets, 0.5, out=slope)
        np.tanh(slope, out=slope)
        if budgets.min() < LEAST:
            slope[budgets < LEAST] = 0.0
        if weights == "uniform":
            useful = slope > 0.0
            np.divide(1.0, slope, out=slope, where=useful)
            square[:] = useful
        else:
            np.multiply(slope, slope, out=square)
        yield part, square, slope


def dot(left: Floats, right: Floats) -> float:
    """Σ l·r of one part."""
    return float(np.dot(left, right))
