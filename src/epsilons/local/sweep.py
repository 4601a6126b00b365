"""Going over many people in parts that stay in the cache: no large array is made on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from epsilons.risk.weights import MANY, response
from epsilons.types import Floats

ALONE = 9984
"""Of so many numbers no linear algebra library starts threads."""

_HALF = np.full((), 0.5)

_LINE = 64
"""Bytes of a line of the cache."""

SIZE = 3 * ALONE
"""How many people a part holds: few enough for a few arrays of them to stay in the cache."""


def extent_of(epsilon: Floats) -> tuple[float, float]:
    """The least and the largest budget; (0, 0) if there is none."""
    if len(epsilon) == 0:
        return 0.0, 0.0
    return float(np.minimum.reduce(epsilon)), float(np.maximum.reduce(epsilon))


def parts(people: int, size: int = SIZE) -> Iterator[slice]:
    """Slices that cover everyone."""
    for start in range(0, people, size):
        yield slice(start, start + size)


def room(size: int) -> Floats:
    """Numbers to be filled in, from where a line of the cache begins: a tenth quicker to go over.

    NumPy's own arrays begin at a quarter of one, and each wide load takes two lines.
    """
    found = np.empty(size + _LINE // 8)
    skip = -found.ctypes.data % _LINE // 8
    return found[skip : skip + size]


def responses(epsilon: Floats, weights: str) -> Iterator[tuple[slice, Floats, Floats]]:
    """Part by part, the weight w of a randomized response, and w·c, with c = 1/tanh(ε/2).

    Args:
        epsilon: budgets.
        weights: "variance", "paper" or "uniform".

    Yields:
        (part, w, w·c). The arrays are used again for the next part.
    """
    size = min(SIZE, len(epsilon))
    slopes, squares = room(size), room(size)
    for part in parts(len(epsilon)):
        budgets = epsilon[part]
        slope, square = slopes[: len(budgets)], squares[: len(budgets)]
        response(weights, budgets, square, slope)
        yield part, square, slope


def dot(left: Floats, right: Floats) -> float:
    """Σ l·r of one part."""
    found = 0.0
    for start in range(0, len(left), ALONE):
        found += float(np.dot(left[start : start + ALONE], right[start : start + ALONE]))
    return found


def centred(arm: Floats, bits: NDArray[np.bool_], side: Floats) -> float:
    """Σ a·(bit − ½) of one part.

    Args:
        arm: the a of each person.
        bits: what each of them says.
        side: to be written over.
    """
    np.copyto(side, bits.view(np.int8))  # bytes become numbers sooner than booleans do
    if len(arm) < MANY:  # in two sums, as it is on record to the last digit
        return dot(arm, side) - 0.5 * dot(arm, np.ones(len(arm)))
    np.subtract(side, _HALF, side)
    return dot(arm, side)
