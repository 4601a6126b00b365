"""Public candidates in a public order, with a public prior: integers that no data have touched.

A prior costs nobody any privacy. On the whole line it says that numbers near 1 are likelier than
numbers near 10³⁰⁰: an octave 2^e has a share proportional to 1/(|e| + 8)², so that everyday numbers
are found with few people and no number is out of reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from epsilons.frozen import storable
from epsilons.tally import line
from epsilons.types import Floats, Integers

__all__ = ["Candidates", "CellsOf", "Listed", "TheLine", "radii"]

_UNIT = 2**30
_NEAR = 8


class Candidates(Protocol):
    """Candidates first, ..., last, each with a whole number as its prior weight."""

    @property
    def first(self) -> int:
        """The first candidate."""

    @property
    def last(self) -> int:
        """The last candidate."""

    def before(self, index: Integers) -> Integers:
        """The prior weight of all candidates before each index, which may also be last + 1."""

    def at(self, weight: int) -> int:
        """The candidate that owns this unit of prior weight, counted from 0."""


def octave_prior(exponents: Integers) -> Integers:
    """The prior weight of a cell in the octave of each exponent: at least 1."""
    return np.asarray(_UNIT // (np.abs(exponents) + _NEAR) ** 2, dtype=np.int64)


def _octaves() -> Integers:
    """The prior weight of the first o octaves of one sign."""
    exponents = np.arange(line.LOWEST, 1025, dtype=np.int64)
    return np.concatenate([[0], np.cumsum(octave_prior(exponents) * line.CELLS)])


_OCTAVES = _octaves()
_CELL = np.diff(_OCTAVES) // line.CELLS
_HALF = int(_OCTAVES[-1])
_ZERO = _UNIT // _NEAR**2 * line.CELLS
"""The bucket of 0 weighs as much as the octave of 1."""


@storable("mechanisms.TheLine")
@dataclass(frozen=True)
class TheLine:
    """Every bucket of the float64 line, by its index in `tally.line`."""

    @property
    def first(self) -> int:
        """The bucket of the most negative floats."""
        return -line.TOP

    @property
    def last(self) -> int:
        """The bucket of the largest floats."""
        return line.TOP

    def before(self, index: Integers) -> Integers:
        """The prior weight of all buckets before each."""
        positive = _HALF + _ZERO + _up_to(index - 1)
        return np.where(index > 0, positive, _HALF - _up_to(-index))

    def at(self, weight: int) -> int:
        """The bucket that owns this unit of prior weight."""
        if weight < _HALF:
            return -_find(_HALF - 1 - weight)
        if weight < _HALF + _ZERO:
            return 0
        return _find(weight - _HALF - _ZERO)


def _up_to(size: Integers) -> Integers:
    """The prior weight of the buckets 1, ..., size of one sign."""
    octave, cells = np.divmod(np.maximum(size, 0), line.CELLS)
    inner = np.minimum(octave, len(_CELL) - 1)
    return np.asarray(_OCTAVES[octave] + np.where(cells > 0, _CELL[inner] * cells, 0))


def _find(weight: int) -> int:
    octave = int(np.searchsorted(_OCTAVES, weight, side="right")) - 1
    return octave * line.CELLS + (weight - int(_OCTAVES[octave])) // int(_CELL[octave]) + 1


@storable("mechanisms.CellsOf")
@dataclass(frozen=True)
class CellsOf:
    """The cells of a window, all alike."""

    count: int

    @property
    def first(self) -> int:
        """The first cell."""
        return 0

    @property
    def last(self) -> int:
        """The last cell."""
        return self.count - 1

    def before(self, index: Integers) -> Integers:
        """How many cells are before each."""
        return np.asarray(index, dtype=np.int64)

    def at(self, weight: int) -> int:
        """The cell of this number."""
        return weight


@storable("mechanisms.Listed")
@dataclass(frozen=True, eq=False)
class Listed:
    """A short list of candidates.

    Attributes:
        weights: the prior weight of each, at least 1.
    """

    weights: Integers

    @property
    def first(self) -> int:
        """The first candidate."""
        return 0

    @property
    def last(self) -> int:
        """The last candidate."""
        return len(self.weights) - 1

    def before(self, index: Integers) -> Integers:
        """The prior weight of all candidates before each."""
        return np.asarray(self._ends[index])

    def at(self, weight: int) -> int:
        """The candidate that owns this unit of prior weight."""
        return int(np.searchsorted(self._ends, weight, side="right")) - 1

    @cached_property
    def _ends(self) -> Integers:
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.weights)])


_STEPS = np.array([1.0, 19 / 16, 45 / 32, 27 / 16])
"""About 2^{0, ¼, ½, ¾}: four radii from a power of two to the next."""


def radii(least: float, most: float) -> tuple[Floats, Listed]:
    """The radii from `least` to `most`, ascending, with the prior of their octaves.

    Args:
        least: the smallest that tells anything, itself the first of the radii.
        most: the largest.
    """
    exponents = np.arange(line.LOWEST - 64, 1023, dtype=np.int64)
    sizes = np.ldexp(_STEPS[None, :], exponents[:, None]).ravel()
    weights = np.repeat(octave_prior(exponents), len(_STEPS))
    chosen = (sizes > least) & (sizes <= most)
    first = int(octave_prior(np.array([np.frexp(least)[1]]))[0])
    return (
        np.concatenate([[least], sizes[chosen]]),
        Listed(np.concatenate([[first], weights[chosen]])),
    )
