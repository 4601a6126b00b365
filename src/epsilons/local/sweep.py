"""Going over many people in parts that stay in the cache: no large array is made on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from epsilons.risk.weights import response
from epsilons.types import Floats

SIZE = 9984
"""How many people a part holds: few enough that no linear algebra library starts threads."""


def parts(people: int, size: int = SIZE) -> Iterator[slice]:
    """Slices that cover everyone."""
    for start in range(0, people, size):
        yield slice(start, start + size)


def responses(epsilon: Floats, weights: str) -> Iterator[tuple[slice, Floats, Floats]]:
    """Part by part, the weight w of a randomized response, and w·c, with c = 1/tanh(ε/2).

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
        response(weights, budgets, square, slope)
        yield part, square, slope


def dot(left: Floats, right: Floats) -> float:
    """Σ l·r of one part."""
    return float(np.dot(left, right))
