"""How far noise goes: the least distance that it exceeds seldom enough."""

from __future__ import annotations

from collections.abc import Callable

from epsilons.errors import ArgumentError


def least_beyond(beyond: Callable[[int], float], beta: float) -> int:
    """Return the least distance of at least 0 that is exceeded with probability beta at most.

    Args:
        beyond: the probability of more than a distance, which falls to 0.
        beta: above 0 and below 1.

    Raises:
        ArgumentError: `beta` is not such a number.
    """
    if not 0.0 < beta < 1.0:
        raise ArgumentError("beta must be strictly between 0 and 1.")
    if beyond(0) <= beta:
        return 0
    low, high = 0, 1
    while beyond(high) > beta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if beyond(middle) > beta else (low, middle)
    return high
