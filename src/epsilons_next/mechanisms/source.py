"""Where randomness comes from: the system, or a seed for simulation."""

from __future__ import annotations

import os
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Seeded", "Source", "System"]

Words = NDArray[np.uint64]


class System:
    """The entropy of the operating system, read for each draw: a fork shares nothing."""

    private = True

    def words(self, number: int) -> Words:
        """Return so many fresh words."""
        return np.frombuffer(os.urandom(8 * number), np.uint64)


class Seeded:
    """The same words each time, for simulation. A release that was drawn from it says so."""

    private = False

    def __init__(self, seed: int) -> None:
        self._bits = np.random.Philox(seed)

    def words(self, number: int) -> Words:
        """Return the next words of the stream."""
        return np.atleast_1d(self._bits.random_raw(number))


Source: TypeAlias = System | Seeded
"""Uniform words of 64 bits; `private` says whether nobody else can have them."""
